#include "kernel_name.h"

#include <cxxabi.h>

#include <cstdlib>
#include <string>

namespace wavepool {
const char* name_in_source(const KernelEntry& kernel) {
    static thread_local std::string name;
    int status = 0;
    char* whole = abi::__cxa_demangle(kernel.name, nullptr, nullptr, &status);
    name = status == 0 ? whole : kernel.name;
    std::free(whole);
    // Templates begin with what they return, `void`.
    if (name.rfind("void ", 0) == 0) name.erase(0, 5);
    if (size_t parameters = name.find('('); parameters != std::string::npos && parameters > 0) name.erase(parameters);
    return name.c_str();
}
}  // namespace wavepool
