// The host API's memory, recorded: allocations are addresses, copies and fills are notes. What the host itself holds is
// real, so that it can be copied from.
#include "memory.h"

#include <sys/mman.h>

#include <cstring>
#include <map>
#include <mutex>

#include "../calls/errors.h"
#include "../calls/registry.h"
#include "layouts.h"
#include "record.h"
#include "streams.h"
#include "../graphs/direct.h"

namespace wavepool::recorder {
namespace {
// User space ends at 2^47; programs, heaps and mappings lie at its ends.
constexpr uint64_t kBegin = uint64_t(1) << 44, kEnd = uint64_t(1) << 46;
constexpr uint64_t kAlignment = 256, kPage = 4096;
// Between allocations, so that an address near the end of one is not near another.
constexpr uint64_t kLeastGap = 16 << 20, kGaps = 1 << 16;

struct Block {
    uint64_t bytes;
    bool is_host, is_live, is_mapped;
};

struct Addresses {
    std::recursive_mutex mutex;
    uint64_t next = 0, used_bytes = 0, random = 0;
    std::map<uint64_t, Block> blocks;
    std::map<const VariableEntry*, uint64_t> variables;
};

Addresses& addresses() {
    static Addresses& instance = *new Addresses;
    return instance;
}

// SplitMix64.
uint64_t draw(uint64_t& state) {
    uint64_t x = state += 0x9e3779b97f4a7c15;
    x = (x ^ (x >> 30)) * 0xbf58476d1ce4e5b9;
    x = (x ^ (x >> 27)) * 0x94d049bb133111eb;
    return x ^ (x >> 31);
}

uint64_t rounded(uint64_t bytes, uint64_t to) { return (bytes + to - 1) / to * to; }

uint64_t number_of(const void* address) { return reinterpret_cast<uint64_t>(address); }
void* pointer_to(uint64_t address) { return reinterpret_cast<void*>(address); }

// Whether the host can read it: its own memory, and what it shares with the device.
bool is_of_host(const void* address) {
    if (!is_fake(address)) return true;
    Addresses& all = addresses();
    std::lock_guard<std::recursive_mutex> lock(all.mutex);
    auto after = all.blocks.upper_bound(number_of(address));
    if (after == all.blocks.begin()) return false;
    const auto& [begin, block] = *--after;
    return block.is_host && number_of(address) - begin < block.bytes;
}

hipError_t allocate(void** pointer, size_t bytes, bool is_host) {
    if (!pointer) return remember(hipErrorInvalidValue);
    *pointer = nullptr;
    if (bytes == 0) return hipSuccess;
    Addresses& all = addresses();
    std::lock_guard<std::recursive_mutex> lock(all.mutex);
    const uint64_t most = settings().memory_bytes;
    if (bytes > most || all.used_bytes > most - bytes)
        refuse_as(Explains::kCrash,
                  "asks for %zu bytes of memory where %llu are left on the device; allocate what the sizes need", bytes,
                  static_cast<unsigned long long>(most - all.used_bytes));
    *pointer = is_host ? host_memory(bytes) : pointer_to(new_address(bytes));
    if (!*pointer) return remember(hipErrorOutOfMemory, "hipMalloc");
    all.used_bytes += bytes;
    all.blocks[number_of(*pointer)] = {bytes, is_host, true, is_host};
    Record(Kind::kAllocate).number(number_of(*pointer)).number(bytes).number(is_host);
    return hipSuccess;
}

hipError_t release(void* pointer) {
    if (!pointer) return hipSuccess;
    Addresses& all = addresses();
    std::lock_guard<std::recursive_mutex> lock(all.mutex);
    auto found = all.blocks.find(number_of(pointer));
    if (found == all.blocks.end() || !found->second.is_live) {
        explain("%p is not what hipMalloc gave, or was freed before", pointer);
        return remember(hipErrorInvalidValue, "hipFree");
    }
    found->second.is_live = false;
    all.used_bytes -= found->second.bytes;
    if (found->second.is_mapped) munmap(pointer, rounded(found->second.bytes, kPage));
    return hipSuccess;
}

hipError_t copy(void* target, const void* source, size_t bytes, hipStream_t stream, const char* name) {
    if (bytes == 0) return hipSuccess;
    if (!target || !source) {
        explain("the %s is a null pointer", target ? "source" : "target");
        return remember(hipErrorInvalidValue, name);
    }
    const bool from_host = is_of_host(source);
    if (is_of_host(target)) {
        if (!from_host)
            refuse("%s reads a result back to the host, and what follows may depend on it; keep the result on the "
                   "device, and let a kernel decide what depends on it", name);
        std::memmove(target, source, bytes);
        return hipSuccess;
    }
    if (from_host) Record(Kind::kWrite).number(number_of(stream)).number(number_of(target)).bytes(source, bytes);
    else Record(Kind::kCopy).number(number_of(stream)).number(number_of(target)).number(number_of(source)).number(bytes);
    return hipSuccess;
}

hipError_t copy_at_once(void* target, const void* source, size_t bytes, const char* name) {
    const hipError_t error = copy(target, source, bytes, nullptr, name);
    if (error == hipSuccess) synchronise_with(nullptr);
    return error;
}

hipError_t copy_rows(void* target, size_t target_pitch, const void* source, size_t source_pitch, size_t width,
                     size_t height, hipStream_t stream, const char* name) {
    if (width > target_pitch || width > source_pitch) return remember(hipErrorInvalidValue, name);
    if (width == target_pitch && width == source_pitch) return copy(target, source, width * height, stream, name);
    // Each is an operation of its own, and their time would be that of issuing them.
    constexpr size_t kMostRows = 64;
    if (height > kMostRows)
        refuse("%s of %zu rows that do not lie next to each other cannot be recorded, %zu at most; let a kernel copy "
               "them", name, height, kMostRows);
    for (size_t row = 0; row < height; ++row)
        if (hipError_t error = copy(static_cast<char*>(target) + row * target_pitch,
                                    static_cast<const char*>(source) + row * source_pitch, width, stream, name))
            return error;
    return hipSuccess;
}

hipError_t fill(void* target, uint64_t value, size_t element_bytes, size_t count, hipStream_t stream) {
    if (count == 0) return hipSuccess;
    if (!target) return remember(hipErrorInvalidValue, "hipMemset");
    if (is_of_host(target)) {
        for (size_t at = 0; at < count; ++at)
            std::memcpy(static_cast<char*>(target) + at * element_bytes, &value, element_bytes);
        return hipSuccess;
    }
    if (number_of(target) % element_bytes != 0) return remember(hipErrorInvalidValue, "hipMemset");
    Record(Kind::kFill).number(number_of(stream)).number(number_of(target)).number(element_bytes).number(value)
        .number(count);
    return hipSuccess;
}

// The address of `bytes` bytes from `offset` in the device variable, null where they are not all inside it.
void* inside(const void* symbol, size_t bytes, size_t offset, hipError_t* error) {
    const VariableEntry* variable = variable_with(symbol, bytes, offset, error);
    note_variables();
    return variable ? pointer_to(addresses().variables[variable] + offset) : nullptr;
}
}  // namespace

bool is_fake(const void* address) { return number_of(address) >= kBegin && number_of(address) < kEnd; }

uint64_t new_address(uint64_t bytes) {
    Addresses& all = addresses();
    std::lock_guard<std::recursive_mutex> lock(all.mutex);
    if (all.next == 0) {
        all.random = settings().seed;
        const uint64_t quarter = (kEnd - kBegin) / 4, off = draw(all.random) % quarter / kPage * kPage;
        all.next = settings().is_downward ? kEnd - off : kBegin + off;
    }
    const uint64_t gap = kLeastGap + draw(all.random) % kGaps * kAlignment;
    const uint64_t step = rounded(rounded(bytes, kAlignment) + gap, kAlignment);
    const uint64_t room = settings().is_downward ? all.next - kBegin : kEnd - all.next;
    if (step >= room) refuse("allocates without an end; free memory, or keep it from call to call");
    if (settings().is_downward) return all.next = all.next - step;
    const uint64_t address = all.next + rounded(gap / 2, kAlignment);
    all.next += step;
    return address;
}

void* host_memory(uint64_t bytes) {
    const uint64_t address = rounded(new_address(bytes + kPage), kPage);
    void* memory = mmap(pointer_to(address), rounded(bytes, kPage), PROT_READ | PROT_WRITE,
                        MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED_NOREPLACE, -1, 0);
    return memory == MAP_FAILED ? nullptr : memory;
}

void note_variables() {
    const KernelTable* table = wavepool_recorded.table;
    Addresses& all = addresses();
    for (uint64_t at = 0; table && at < table->variable_count; ++at) {
        const VariableEntry& variable = table->variables[at];
        if (all.variables.count(&variable)) continue;
        const uint64_t address = all.variables[&variable] = new_address(variable.bytes);
        all.blocks[address] = {variable.bytes, false, false, false};
        Record(Kind::kVariable).number(address).number(variable.bytes).bytes(variable.name, std::strlen(variable.name));
    }
}

void note_argument(uint64_t index, void* address, uint64_t bytes, bool is_host) {
    Addresses& all = addresses();
    std::lock_guard<std::recursive_mutex> lock(all.mutex);
    all.blocks[number_of(address)] = {bytes, is_host, false, is_host};
    Record(Kind::kArgument).number(index).number(number_of(address)).number(bytes);
}
}  // namespace wavepool::recorder

using namespace wavepool;
using namespace wavepool::recorder;

namespace wavepool::direct {
hipError_t hipMalloc(void** p, size_t n) { return allocate(p, n, false); }
hipError_t hipMallocAsync(void** p, size_t n, hipStream_t) { return allocate(p, n, false); }
hipError_t hipMallocManaged(void** p, size_t n, unsigned) { return allocate(p, n, true); }
hipError_t hipExtMallocWithFlags(void** p, size_t n, unsigned) { return allocate(p, n, false); }
hipError_t hipHostMalloc(void** p, size_t n, unsigned) { return allocate(p, n, true); }
hipError_t hipMallocPitch(void** p, size_t* pitch, size_t width, size_t height) {
    if (!pitch) return remember(hipErrorInvalidValue);
    *pitch = rounded(width, kAlignment);
    return allocate(p, *pitch * height, false);
}
hipError_t hipFree(void* p) {
    const hipError_t error = release(p);
    if (p && error == hipSuccess) synchronise_with_all();
    return error;
}
hipError_t hipFreeAsync(void* p, hipStream_t) { return release(p); }
hipError_t hipHostFree(void* p) { return release(p); }
hipError_t hipHostRegister(void*, size_t, unsigned) {
    refuse("hipHostRegister lets kernels use memory of the host; copy it to the device instead");
}

hipError_t hipMemcpy(void* t, const void* s, size_t n, hipMemcpyKind) { return copy_at_once(t, s, n, "hipMemcpy"); }
hipError_t hipMemcpyAsync(void* t, const void* s, size_t n, hipMemcpyKind, hipStream_t stream) {
    return copy(t, s, n, stream, "hipMemcpyAsync");
}
hipError_t hipMemcpyHtoD(hipDeviceptr_t t, void* s, size_t n) { return copy_at_once(t, s, n, "hipMemcpyHtoD"); }
hipError_t hipMemcpyDtoH(void* t, hipDeviceptr_t s, size_t n) { return copy_at_once(t, s, n, "hipMemcpyDtoH"); }
hipError_t hipMemcpyDtoD(hipDeviceptr_t t, hipDeviceptr_t s, size_t n) { return copy_at_once(t, s, n, "hipMemcpyDtoD"); }
hipError_t hipMemcpy2D(void* t, size_t tp, const void* s, size_t sp, size_t w, size_t h, hipMemcpyKind) {
    const hipError_t error = copy_rows(t, tp, s, sp, w, h, nullptr, "hipMemcpy2D");
    if (error == hipSuccess) synchronise_with(nullptr);
    return error;
}
hipError_t hipMemcpy2DAsync(void* t, size_t tp, const void* s, size_t sp, size_t w, size_t h, hipMemcpyKind,
                            hipStream_t stream) {
    return copy_rows(t, tp, s, sp, w, h, stream, "hipMemcpy2DAsync");
}
hipError_t hipMemset(void* t, int value, size_t n) { return fill(t, uint8_t(value), 1, n, nullptr); }
hipError_t hipMemsetD8(hipDeviceptr_t t, unsigned char value, size_t n) { return fill(t, value, 1, n, nullptr); }
hipError_t hipMemsetD16(hipDeviceptr_t t, unsigned short value, size_t n) { return fill(t, value, 2, n, nullptr); }
hipError_t hipMemsetD32(hipDeviceptr_t t, int value, size_t n) { return fill(t, uint32_t(value), 4, n, nullptr); }
hipError_t hipMemsetD8Async(hipDeviceptr_t t, unsigned char value, size_t n, hipStream_t stream) {
    return fill(t, value, 1, n, stream);
}
hipError_t hipMemsetD16Async(hipDeviceptr_t t, unsigned short value, size_t n, hipStream_t stream) {
    return fill(t, value, 2, n, stream);
}
hipError_t hipMemsetD32Async(hipDeviceptr_t t, int value, size_t n, hipStream_t stream) {
    return fill(t, uint32_t(value), 4, n, stream);
}

hipError_t hipMemcpyToSymbolAsync(const void* symbol, const void* source, size_t n, size_t offset, hipMemcpyKind,
                                  hipStream_t stream) {
    hipError_t error;
    void* target = inside(symbol, n, offset, &error);
    return target ? copy(target, source, n, stream, "hipMemcpyToSymbol") : remember(error);
}
hipError_t hipMemcpyToSymbol(const void* symbol, const void* source, size_t n, size_t offset, hipMemcpyKind kind) {
    const hipError_t error = direct::hipMemcpyToSymbolAsync(symbol, source, n, offset, kind, nullptr);
    if (error == hipSuccess) synchronise_with(nullptr);
    return error;
}
hipError_t hipMemcpyFromSymbolAsync(void* target, const void* symbol, size_t n, size_t offset, hipMemcpyKind,
                                    hipStream_t stream) {
    hipError_t error;
    void* source = inside(symbol, n, offset, &error);
    return source ? copy(target, source, n, stream, "hipMemcpyFromSymbol") : remember(error);
}
hipError_t hipMemcpyFromSymbol(void* target, const void* symbol, size_t n, size_t offset, hipMemcpyKind kind) {
    const hipError_t error = direct::hipMemcpyFromSymbolAsync(target, symbol, n, offset, kind, nullptr);
    if (error == hipSuccess) synchronise_with(nullptr);
    return error;
}
}  // namespace wavepool::direct

extern "C" {
hipError_t hipPointerGetAttributes(hipPointerAttribute_t* a, const void* p) {
    if (!a || !p) return remember(hipErrorInvalidValue);
    const hipMemoryType type = !is_fake(p)      ? hipMemoryTypeUnregistered
                               : is_of_host(p) ? hipMemoryTypeHost
                                               : hipMemoryTypeDevice;
    *a = {type, 0, const_cast<void*>(p), const_cast<void*>(p), 0, 0};
    return hipSuccess;
}
// As much as if nothing were allocated, always.
hipError_t hipMemGetInfo(size_t* free_bytes, size_t* total_bytes) {
    if (free_bytes) *free_bytes = settings().memory_bytes;
    if (total_bytes) *total_bytes = settings().memory_bytes;
    return hipSuccess;
}
hipError_t hipGetSymbolAddress(void** pointer, const void* symbol) {
    hipError_t error;
    void* address = inside(symbol, 0, 0, &error);
    if (!address || !pointer) return remember(address ? hipErrorInvalidValue : error);
    *pointer = address;
    return hipSuccess;
}
}
