// Device memory that is not there: addresses that no process has, each allocation far from the next.
#pragma once

#include <cstddef>
#include <cstdint>

namespace wavepool::recorder {

bool is_fake(const void* address);
// A new address for so many bytes, 256-aligned; it is never given twice.
uint64_t new_address(uint64_t bytes);
// Memory of the host at such an address, which kernels may not use; null where there is none.
void* host_memory(uint64_t bytes);
// Notes device variables, whose addresses are of the same kind; before the first call.
void note_variables();
// Notes the array that a call is given as its argument `index`.
void note_argument(uint64_t index, void* address, uint64_t bytes, bool is_host);

}  // namespace wavepool::recorder
