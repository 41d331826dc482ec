
// The program around a solution under a sanitizer: it makes the case's arguments from the judge's file, whose path is
// its only argument (`sanitize_case.py`), calls `solution` once, and waits for the device.
#include <hip/hip_runtime.h>
#include <stdio.h>
#include <stdlib.h>

#include <vector>

#include "wavepool/check_api.h"

extern "C" const char* __wp_last_refusal();

namespace {
constexpr int kHipError = 87;
constexpr int kNoCase = 88;

struct Argument {
    uint32_t kind;  // 0 scalar, 1 device array, 2 array that the host may read
    uint32_t is_filled;
    uint64_t bytes;
    char name[48];
};

std::vector<char> contents(const char* path) {
    std::vector<char> bytes;
    FILE* file = fopen(path, "rb");
    if (!file) exit(kNoCase);
    fseek(file, 0, SEEK_END);
    bytes.resize(size_t(ftell(file)));
    rewind(file);
    if (fread(bytes.data(), 1, bytes.size(), file) != bytes.size()) exit(kNoCase);
    fclose(file);
    return bytes;
}

void* array_of(const Argument& argument, const char* data) {
    void* array = nullptr;
    hipError_t error = argument.kind == 2 ? hipHostMalloc(&array, argument.bytes, 0) : hipMalloc(&array, argument.bytes);
    if (error != hipSuccess) exit(kNoCase);
    wavepool_name_memory(array, argument.name);
    if (argument.is_filled) (void)hipMemcpy(array, data, argument.bytes, hipMemcpyHostToDevice);
    return array;
}
}  // namespace

int main(int count, char** words) {
    std::vector<char> arguments = contents(count > 1 ? words[1] : "");
    std::vector<void*> values;
    for (size_t at = 0; at + sizeof(Argument) <= arguments.size();) {
        const Argument& argument = *reinterpret_cast<const Argument*>(arguments.data() + at);
        char* data = arguments.data() + at + sizeof(Argument);
        values.push_back(argument.kind == 0 ? data : array_of(argument, data));
        at += sizeof(Argument) + (argument.kind == 0 || argument.is_filled ? (argument.bytes + 7) / 8 * 8 : 0);
    }
    wavepool_call(values.data());
    (void)hipDeviceSynchronize();
    hipError_t error = hipGetLastError();
    if (error == hipSuccess) return 0;
    fprintf(stderr, "wavepool: a HIP call failed: %s\n", __wp_last_refusal());
    return kHipError;
}
