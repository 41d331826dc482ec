// Device memory is host memory: allocation with a limit, copies, fills and symbols.
#include <sys/resource.h>
#include <unistd.h>

#include <algorithm>
#include <cstdlib>
#include <cstring>
#include <mutex>
#include <unordered_map>

#include "errors.h"
#include "registry.h"
#include "../sanitizer/sanitizer.h"
#include "../graphs/direct.h"

namespace wavepool {
namespace {
constexpr size_t kAlignment = 256;

size_t memory_limit() {
    size_t limit = size_t(sysconf(_SC_PHYS_PAGES)) * size_t(sysconf(_SC_PAGESIZE));
    rlimit address_space;
    if (getrlimit(RLIMIT_AS, &address_space) == 0 && address_space.rlim_cur != RLIM_INFINITY)
        limit = std::min(limit, size_t(address_space.rlim_cur));
    if (const char* mib = std::getenv("WAVEPOOL_DEVICE_MEMORY_MIB"))
        if (size_t wanted = std::strtoull(mib, nullptr, 10)) limit = std::min(limit, wanted << 20);
    return limit;
}

// What others hold of a device that is shared in a test.
size_t held_by_others() {
    const char* mib = std::getenv("WAVEPOOL_DEVICE_MEMORY_HELD_MIB");
    return mib ? size_t(std::strtoull(mib, nullptr, 10)) << 20 : 0;
}

// The host may write what is its memory too, which the sanitizers do not see.
void* fresh(size_t bytes, hipMemoryType type) {
    if (sanitizing()) return sanitizer::allocate(bytes, type != hipMemoryTypeDevice);
    return std::aligned_alloc(kAlignment, (bytes + kAlignment - 1) / kAlignment * kAlignment);
}

class Memory {
public:
    void* allocate(size_t bytes, hipMemoryType type) {
        std::lock_guard<std::mutex> lock(mutex_);
        if (bytes > limit_ || used_ > limit_ - bytes) return nullptr;
        void* pointer = fresh(bytes, type);
        if (!pointer) return nullptr;
        blocks_[pointer] = {bytes, type};
        used_ += bytes;
        return pointer;
    }
    bool release(void* pointer) {
        std::lock_guard<std::mutex> lock(mutex_);
        auto found = blocks_.find(pointer);
        if (found == blocks_.end()) return false;
        used_ -= found->second.bytes;
        blocks_.erase(found);
        if (sanitizing()) sanitizer::release(pointer);
        else std::free(pointer);
        return true;
    }
    hipMemoryType type_of(const void* pointer) {
        std::lock_guard<std::mutex> lock(mutex_);
        auto found = blocks_.find(const_cast<void*>(pointer));
        return found == blocks_.end() ? hipMemoryTypeUnregistered : found->second.type;
    }
    size_t limit() const { return limit_; }
    size_t used() {
        std::lock_guard<std::mutex> lock(mutex_);
        return used_;
    }

private:
    struct Block {
        size_t bytes;
        hipMemoryType type;
    };
    std::mutex mutex_;
    std::unordered_map<void*, Block> blocks_;
    const size_t limit_ = memory_limit();
    size_t used_ = std::min(held_by_others(), limit_);
};

Memory& memory() {
    static Memory& instance = *new Memory;
    return instance;
}

hipError_t allocate(void** pointer, size_t bytes, hipMemoryType type) {
    if (!pointer) return remember(hipErrorInvalidValue);
    *pointer = nullptr;
    if (bytes == 0) return hipSuccess;
    *pointer = memory().allocate(bytes, type);
    if (!*pointer) explain("%zu bytes are not to be had", bytes);
    return remember(*pointer ? hipSuccess : hipErrorOutOfMemory, "hipMalloc");
}

hipError_t release(void* pointer) {
    if (!pointer || memory().release(pointer)) return hipSuccess;
    explain("%p is not what hipMalloc gave, or was freed before", pointer);
    return remember(hipErrorInvalidValue, "hipFree");
}

hipError_t copy(void* target, const void* source, size_t bytes) {
    if (bytes == 0) return hipSuccess;
    if (!target || !source) {
        explain("the %s is a null pointer", target ? "source" : "target");
        return remember(hipErrorInvalidValue, "hipMemcpy");
    }
    std::memmove(target, source, bytes);
    if (sanitizing()) sanitizer::host_copied(target, source, bytes);
    return hipSuccess;
}

// The address of `bytes` bytes from `offset` in the device variable, null where they are not all inside it.
char* inside(const void* symbol, size_t bytes, size_t offset, hipError_t* error) {
    const VariableEntry* variable = variable_with(symbol, bytes, offset, error);
    return variable ? static_cast<char*>(variable->address) + offset : nullptr;
}

template <class T> hipError_t fill(void* target, T value, size_t count) {
    if (!target && count) return remember(hipErrorInvalidValue, "hipMemset");
    std::fill_n(static_cast<T*>(target), count, value);
    if (sanitizing()) sanitizer::host_wrote(target, count * sizeof(T));
    return hipSuccess;
}
}  // namespace
}  // namespace wavepool

using namespace wavepool;

namespace wavepool::direct {
hipError_t hipMalloc(void** p, size_t n) { return allocate(p, n, hipMemoryTypeDevice); }
hipError_t hipMallocAsync(void** p, size_t n, hipStream_t) { return allocate(p, n, hipMemoryTypeDevice); }
hipError_t hipMallocManaged(void** p, size_t n, unsigned) { return allocate(p, n, hipMemoryTypeManaged); }
hipError_t hipExtMallocWithFlags(void** p, size_t n, unsigned) { return allocate(p, n, hipMemoryTypeDevice); }
hipError_t hipHostMalloc(void** p, size_t n, unsigned) { return allocate(p, n, hipMemoryTypeHost); }
hipError_t hipMallocPitch(void** p, size_t* pitch, size_t width, size_t height) {
    if (!pitch) return remember(hipErrorInvalidValue);
    *pitch = (width + kAlignment - 1) / kAlignment * kAlignment;
    return allocate(p, *pitch * height, hipMemoryTypeDevice);
}
hipError_t hipFree(void* p) { return release(p); }
hipError_t hipFreeAsync(void* p, hipStream_t) { return release(p); }
hipError_t hipHostFree(void* p) { return release(p); }
hipError_t hipHostRegister(void* p, size_t bytes, unsigned) {
    if (p && sanitizing()) sanitizer::add_host_memory(p, bytes);
    return remember(p ? hipSuccess : hipErrorInvalidValue);
}

hipError_t hipMemcpy(void* t, const void* s, size_t n, hipMemcpyKind) { return copy(t, s, n); }
hipError_t hipMemcpyAsync(void* t, const void* s, size_t n, hipMemcpyKind, hipStream_t) { return copy(t, s, n); }
hipError_t hipMemcpyHtoD(hipDeviceptr_t t, void* s, size_t n) { return copy(t, s, n); }
hipError_t hipMemcpyDtoH(void* t, hipDeviceptr_t s, size_t n) { return copy(t, s, n); }
hipError_t hipMemcpyDtoD(hipDeviceptr_t t, hipDeviceptr_t s, size_t n) { return copy(t, s, n); }
hipError_t hipMemcpy2D(void* target, size_t target_pitch, const void* source, size_t source_pitch, size_t width,
                       size_t height, hipMemcpyKind) {
    if (width > target_pitch || width > source_pitch) return remember(hipErrorInvalidValue);
    for (size_t row = 0; row < height; ++row)
        if (hipError_t error = copy(static_cast<char*>(target) + row * target_pitch,
                                    static_cast<const char*>(source) + row * source_pitch, width))
            return error;
    return hipSuccess;
}
hipError_t hipMemcpy2DAsync(void* t, size_t tp, const void* s, size_t sp, size_t w, size_t h, hipMemcpyKind kind,
                            hipStream_t) {
    return direct::hipMemcpy2D(t, tp, s, sp, w, h, kind);
}
hipError_t hipMemset(void* t, int value, size_t n) { return fill(t, static_cast<unsigned char>(value), n); }
hipError_t hipMemsetD8(hipDeviceptr_t t, unsigned char value, size_t n) { return fill(t, value, n); }
hipError_t hipMemsetD16(hipDeviceptr_t t, unsigned short value, size_t n) { return fill(t, value, n); }
hipError_t hipMemsetD32(hipDeviceptr_t t, int value, size_t n) { return fill(t, value, n); }
hipError_t hipMemsetD8Async(hipDeviceptr_t t, unsigned char value, size_t n, hipStream_t) { return fill(t, value, n); }
hipError_t hipMemsetD16Async(hipDeviceptr_t t, unsigned short value, size_t n, hipStream_t) { return fill(t, value, n); }
hipError_t hipMemsetD32Async(hipDeviceptr_t t, int value, size_t n, hipStream_t) { return fill(t, value, n); }

hipError_t hipMemcpyToSymbol(const void* symbol, const void* source, size_t n, size_t offset, hipMemcpyKind) {
    hipError_t error;
    char* target = inside(symbol, n, offset, &error);
    return target ? copy(target, source, n) : remember(error);
}
hipError_t hipMemcpyToSymbolAsync(const void* symbol, const void* source, size_t n, size_t offset, hipMemcpyKind kind,
                                  hipStream_t) {
    return direct::hipMemcpyToSymbol(symbol, source, n, offset, kind);
}
hipError_t hipMemcpyFromSymbol(void* target, const void* symbol, size_t n, size_t offset, hipMemcpyKind) {
    hipError_t error;
    char* source = inside(symbol, n, offset, &error);
    return source ? copy(target, source, n) : remember(error);
}
hipError_t hipMemcpyFromSymbolAsync(void* target, const void* symbol, size_t n, size_t offset, hipMemcpyKind kind,
                                    hipStream_t) {
    return direct::hipMemcpyFromSymbol(target, symbol, n, offset, kind);
}
}  // namespace wavepool::direct

extern "C" {
hipError_t hipPointerGetAttributes(hipPointerAttribute_t* a, const void* p) {
    if (!a || !p) return remember(hipErrorInvalidValue);
    hipMemoryType type = memory().type_of(p);
    *a = {type, 0, const_cast<void*>(p), const_cast<void*>(p), type == hipMemoryTypeManaged, 0};
    return hipSuccess;
}
hipError_t hipMemGetInfo(size_t* free_bytes, size_t* total_bytes) {
    if (free_bytes) *free_bytes = memory().limit() - memory().used();
    if (total_bytes) *total_bytes = memory().limit();
    return hipSuccess;
}
hipError_t hipGetSymbolAddress(void** pointer, const void* symbol) {
    const VariableEntry* variable = variable_of(symbol);
    if (!variable || !pointer) return remember(variable ? hipErrorInvalidValue : hipErrorInvalidSymbol);
    *pointer = variable->address;
    return hipSuccess;
}
}
