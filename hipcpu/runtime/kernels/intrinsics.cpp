// The device functions that compiled kernels call.
#include "block.h"

using wavepool::block_runner;

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
}
