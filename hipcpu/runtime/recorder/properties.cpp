// What a GPU says of itself, in a recording for one: WAVEPOOL_PROPERTIES has each name with the bytes of its value, as
// `;name=0123abcd`. On other devices there is no such variable, and the recorder answers as the device itself does.
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <string>

#include "record.h"
#include "wavepool/host/api.h"

namespace wavepool {
namespace {
const char* told_properties() { return std::getenv("WAVEPOOL_PROPERTIES"); }
}  // namespace

bool told_by_gpu(const char* name, void* value, size_t bytes) {
    const char* told = told_properties();
    if (!told) return false;
    const std::string wanted = std::string(";") + name + "=";
    const char* found = std::strstr(told, wanted.c_str());
    const char* hex = found ? found + wanted.size() : "";
    const size_t digits = std::strspn(hex, "0123456789abcdef");
    if (!found || (digits > 0 && digits != 2 * bytes))
        recorder::refuse("host code asks for %s of the GPU, which we do not know; write it as a constant", name);
    for (size_t at = 0; at < digits / 2; ++at) std::sscanf(hex + 2 * at, "%2hhx", static_cast<unsigned char*>(value) + at);
    return true;
}
}  // namespace wavepool

extern "C" void wavepool_only_a_gpu_knows(const char* question, const char* instead) {
    if (wavepool::told_properties())
        wavepool::recorder::refuse("%s has an answer on the GPU alone, and the recorder has none; %s", question, instead);
}
