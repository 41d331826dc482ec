// Implements what clang's module constructor calls. The "fat binary" that it passes is the join's KernelTable.
#include "registry.h"

#include <cstring>
#include <unordered_map>

namespace wavepool {
namespace {
// As in clang's CGCUDANV.cpp: magic, version, pointer to the binary, unused.
struct FatBinaryWrapper {
    uint32_t magic;
    uint32_t version;
    const KernelTable* table;
    void* unused;
};

// Functions, so that they exist before any module constructor runs; never destroyed, as destructors may launch.
std::unordered_map<const void*, const KernelEntry*>& kernels() {
    static auto& map = *new std::unordered_map<const void*, const KernelEntry*>;
    return map;
}
std::unordered_map<const void*, const VariableEntry*>& variables() {
    static auto& map = *new std::unordered_map<const void*, const VariableEntry*>;
    return map;
}

const KernelTable* table_of(void** module) { return reinterpret_cast<const KernelTable*>(module); }

const VariableEntry* find_variable(const KernelTable* table, const char* name) {
    for (uint64_t i = 0; i < table->variable_count; ++i)
        if (std::strcmp(table->variables[i].name, name) == 0) return &table->variables[i];
    return nullptr;
}
}  // namespace

const KernelEntry* kernel_of(const void* handle) {
    auto found = kernels().find(handle);
    return found == kernels().end() ? nullptr : found->second;
}

const void* handle_of(const KernelEntry& kernel) {
    for (const auto& [handle, entry] : kernels())
        if (entry == &kernel) return handle;
    return nullptr;
}

const VariableEntry* variable_of(const void* shadow) {
    auto found = variables().find(shadow);
    return found == variables().end() ? nullptr : found->second;
}

const VariableEntry* variable_with(const void* shadow, size_t bytes, size_t offset, hipError_t* error) {
    const VariableEntry* variable = variable_of(shadow);
    const bool is_inside = variable && offset <= variable->bytes && bytes <= variable->bytes - offset;
    *error = is_inside ? hipSuccess : variable ? hipErrorInvalidValue : hipErrorInvalidSymbol;
    return is_inside ? variable : nullptr;
}
}  // namespace wavepool

using namespace wavepool;

extern "C" {
void** __hipRegisterFatBinary(const FatBinaryWrapper* wrapper) {
    return reinterpret_cast<void**>(const_cast<KernelTable*>(wrapper->table));
}
void __hipUnregisterFatBinary(void**) {}

int __hipRegisterFunction(void** module, const void* handle, char*, const char* name, int, void*, void*, void*, void*,
                          int*) {
    const KernelTable* table = table_of(module);
    for (uint64_t i = 0; i < table->kernel_count; ++i)
        if (std::strcmp(table->kernels[i].name, name) == 0) kernels()[handle] = &table->kernels[i];
    return 0;
}

void __hipRegisterVar(void** module, void* shadow, char*, const char* name, int, size_t, int, int) {
    if (const VariableEntry* variable = find_variable(table_of(module), name)) variables()[shadow] = variable;
}

void __hipRegisterManagedVar(void** module, void** pointer, void* initial, const char* name, size_t bytes, unsigned) {
    const VariableEntry* variable = find_variable(table_of(module), name);
    if (!variable) return;
    // The device side holds a pointer too: both point to the host's initial value, which lives in ordinary memory.
    *pointer = initial;
    std::memcpy(variable->address, &initial, sizeof(void*));
    (void)bytes;
}
}
