// The device functions that compiled kernels call.
#include <cstdio>
#include <cstdlib>

#include "block.h"
#include "stopped.h"

using wavepool::block_runner;

namespace {
// As the packet processor of an AMD GPU reads it.
struct DispatchPacket {
    uint16_t header, setup, block[3], reserved;
    uint32_t threads[3], private_bytes, shared_bytes;
    uint64_t kernel, arguments, reserved_too, signal;
};
static_assert(sizeof(DispatchPacket) == 64);
thread_local DispatchPacket packet;
// The register M0, which assembly sets for later assembly, for each thread of a block.
thread_local uint32_t m0[wavepool::kMaxThreadsPerBlock];
}  // namespace

extern "C" {
#define WP_INDEX(FUNCTION, FIELD) \
    unsigned FUNCTION() { return block_runner().index().FIELD; }
WP_INDEX(__wp_thread_x, thread_x)
WP_INDEX(__wp_thread_y, thread_y)
WP_INDEX(__wp_thread_z, thread_z)
WP_INDEX(__wp_block_x, block_x)
WP_INDEX(__wp_block_y, block_y)
WP_INDEX(__wp_block_z, block_z)
WP_INDEX(__wp_block_dim_x, block_dim_x)
WP_INDEX(__wp_block_dim_y, block_dim_y)
WP_INDEX(__wp_block_dim_z, block_dim_z)
WP_INDEX(__wp_grid_dim_x, grid_dim_x)
WP_INDEX(__wp_grid_dim_y, grid_dim_y)
WP_INDEX(__wp_grid_dim_z, grid_dim_z)
WP_INDEX(__wp_lane, lane)

void __wp_block_barrier(int predicate, int line) {
    block_runner().wait_at_block({uint64_t(predicate), 0, __builtin_return_address(0), line});
}
int __wp_block_count() { return block_runner().block_count(); }
int __wp_block_arrived() { return block_runner().block_arrived(); }

void __wp_wave_barrier(unsigned long long value, unsigned long long mask, int line) {
    block_runner().wait_at_wave({value, mask, __builtin_return_address(0), line});
}
unsigned long long __wp_wave_value(int lane) { return block_runner().wave().values[lane & 63]; }
unsigned long long __wp_wave_shifted(int lanes) {
    return block_runner().wave().values[(block_runner().index().lane + lanes) % wavepool::kWavefront];
}
unsigned long long __wp_wave_active() { return block_runner().wave().active; }

void __wp_matrix_set(int number, unsigned value) {
    block_runner().matrix().of(number)[block_runner().index().lane] = value;
}
void __wp_matrix_barrier(int operation, int modifiers, int line) {
    const auto instruction = wavepool::matrix_instruction(operation, modifiers);
    block_runner().wait_at_wave({0, 0, __builtin_return_address(0), line, instruction});
}
unsigned __wp_matrix_get(int number) { return block_runner().matrix().of(number)[block_runner().index().lane]; }
void __wp_refused_modifiers(const char* why) {
    // Only a sanitized build, whose constants are not known when it is built, comes here.
    std::fprintf(stderr, "wavepool: %s\n", why);
    std::_Exit(wavepool::kStoppedExit);
}
void __wp_set_m0(unsigned thread, unsigned value) { m0[thread % wavepool::kMaxThreadsPerBlock] = value; }
unsigned __wp_get_m0(unsigned thread) { return m0[thread % wavepool::kMaxThreadsPerBlock]; }

void* __wp_dispatch_packet(unsigned block_x, unsigned block_y, unsigned block_z, unsigned threads_x, unsigned threads_y,
                           unsigned threads_z) {
    constexpr uint16_t kDispatch = 2, kDimensions = 3;
    packet = {kDispatch, kDimensions, {uint16_t(block_x), uint16_t(block_y), uint16_t(block_z)}, 0,
              {threads_x, threads_y, threads_z}, 0, 0, 0, 0, 0, 0};
    return &packet;
}
}
