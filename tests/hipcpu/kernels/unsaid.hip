// What kernels rely on without knowing it.
#include <hip/hip_cooperative_groups.h>
#include <hip/hip_fp16.h>
#include <hip/hip_runtime.h>
namespace cg = cooperative_groups;

// Only the first lane sets what all lanes pass to the shuffle.
__device__ int tickets_for_all(int* counter) {
    cg::coalesced_group group = cg::coalesced_threads();
    int first;
    if (group.thread_rank() == 0) first = atomicAdd(counter, int(group.size()));
    return group.shfl(first, 0) + int(group.thread_rank());
}
__global__ void draw_tickets(int count, int* counter, int* tickets) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < count) tickets[i] = tickets_for_all(counter);
}
static void check_unset_lanes() {
    int *counter = zeros<int>(1), *tickets = zeros<int>(1000);
    draw_tickets<<<4, 256>>>(1000, counter, tickets);
    CHECK(fetched(counter, 1)[0] == 1000);
    std::vector<int> seen(1000);
    for (int ticket : fetched(tickets, 1000)) ++seen[ticket];
    for (int times : seen) CHECK(times == 1);
}

// Masks of 32 bits are from code whose wavefronts have 32 lanes.
__global__ void shuffle_halves(int* at, int* down, int* wide) {
    int lane = threadIdx.x;
    at[lane] = __shfl_sync(0xffffffffu, lane, 3);
    down[lane] = __shfl_down_sync(0xffffffffu, lane, warpSize / 2);
    wide[lane] = __shfl_sync(~0ull, lane, 3);
}
static void check_halves() {
    int *at = zeros<int>(64), *down = zeros<int>(64), *wide = zeros<int>(64);
    shuffle_halves<<<1, 64>>>(at, down, wide);
    auto got_at = fetched(at, 64), got_down = fetched(down, 64), got_wide = fetched(wide, 64);
    for (int lane = 0; lane < 64; ++lane) {
        CHECK(got_at[lane] == (lane & 32) + 3);
        CHECK(got_down[lane] == (lane < 32 ? lane + 32 : lane));
        CHECK(got_wide[lane] == 3);
    }
}

__global__ void lane_masks(unsigned long long* out, unsigned* bits, float* half_quotient) {
    unsigned long long lane = 1ull << threadIdx.x;
    bool good = __lanemask_eq() == lane && __lanemask_lt() == lane - 1 && __lanemask_ge() == ~(lane - 1);
    good = good && __lanemask_le() == (lane | (lane - 1)) && __lanemask_gt() == ~(lane | (lane - 1));
    out[threadIdx.x] = good;
    if (threadIdx.x) return;
    bits[0] = __bitinsert_u32(0xffffffffu, 0x5u, 4, 4), bits[1] = __bitextract_u32(0x12345678u, 8, 12);
    bits[2] = unsigned(__bitinsert_u64(0, 0xabull, 40, 8) >> 40), bits[3] = unsigned(__bitextract_u64(~0ull, 0, 64) >> 32);
    half_quotient[0] = __high2float(h2div(make_half2(1, 3), make_half2(2, 4)));
}
static void check_names() {
    auto* out = zeros<unsigned long long>(64);
    auto* bits = zeros<unsigned>(4);
    auto* quotient = zeros<float>(1);
    lane_masks<<<1, 64>>>(out, bits, quotient);
    for (auto good : fetched(out, 64)) CHECK(good);
    auto got = fetched(bits, 4);
    CHECK(got[0] == 0xffffff5fu && got[1] == 0x456u && got[2] == 0xabu && got[3] == 0xffffffffu);
    CHECK(fetched(quotient, 1)[0] == 0.75f);
}

// Every round needs what all blocks did in the one before.
__global__ void sum_in_rounds(const float* values, int count, float* sums, int* kinds) {
    cg::grid_group grid = cg::this_grid();
    for (int round = 0; round < 8; ++round) {
        float own = 0;
        for (unsigned i = grid.thread_rank(); i < unsigned(count); i += grid.size()) own += values[i] * (1 + round);
        atomicAdd(&sums[round], own);
        grid.sync();
        if (sums[round] != sums[0] * (1 + round)) atomicAdd(kinds, 1);
    }
    if (!grid.is_valid()) atomicAdd(kinds, 1);
}
static void check_grids() {
    float *values = sent(std::vector<float>(3000, 1.0f)), *sums = zeros<float>(8);
    int *wrong = zeros<int>(1), count = 3000, blocks = 0, units = 0;
    RUN(hipOccupancyMaxActiveBlocksPerMultiprocessor(&blocks, sum_in_rounds, 128, 0));
    RUN(hipDeviceGetAttribute(&units, hipDeviceAttributeMultiprocessorCount, 0));
    void* arguments[] = {&values, &count, &sums, &wrong};
    RUN(hipLaunchCooperativeKernel(sum_in_rounds, dim3(blocks * units), dim3(128), arguments, 0, nullptr));
    CHECK(fetched(wrong, 1)[0] == 0);
    CHECK(fetched(sums, 8)[7] == 24000.0f);
    CHECK(hipLaunchCooperativeKernel(sum_in_rounds, dim3(4000), dim3(128), arguments, 0, nullptr) ==
          hipErrorCooperativeLaunchTooLarge);
    (void)hipGetLastError();
}

int main() {
    check_grids();
    check_unset_lanes();
    check_halves();
    check_names();
    return failures;
}
