// hipCUB's and CUB's collectives, against sums that are known.
#include <cub/cub.cuh>
#include <hipcub/hipcub.hpp>
#include <limits>

__global__ void block_wide(const int* in, int* out, int* scanned) {
    typedef hipcub::BlockReduce<int, 96> Reduce;
    typedef cub::BlockScan<int, 96, cub::BLOCK_SCAN_WARP_SCANS> Scan;
    __shared__ union {
        Reduce::TempStorage reduce;
        Scan::TempStorage scan;
    } storage;
    int value = in[blockIdx.x * 96 + threadIdx.x];
    int sum = Reduce(storage.reduce).Sum(value);
    __syncthreads();
    int most = Reduce(storage.reduce).Reduce(value, hipcub::Max(), 50);
    __syncthreads();
    int before, total;
    Scan(storage.scan).ExclusiveSum(value, before, total);
    scanned[blockIdx.x * 96 + threadIdx.x] = before;
    if (threadIdx.x == 0) out[3 * blockIdx.x] = sum, out[3 * blockIdx.x + 1] = most, out[3 * blockIdx.x + 2] = total;
}
__global__ void many_items(int* out) {
    using Scan = cub::BlockScan<int, 64>;
    __shared__ typename Scan::TempStorage storage;
    int values[3] = {1, 2, 3}, results[3];
    Scan(storage).InclusiveSum(values, results);
    for (int i = 0; i < 3; ++i) out[3 * threadIdx.x + i] = results[i];
}
__global__ void warp_wide(int* out) {
    using Half = cub::WarpReduce<int>;
    __shared__ Half::TempStorage halves[2];
    __shared__ hipcub::WarpReduce<int>::TempStorage whole;
    __shared__ cub::WarpScan<int>::TempStorage scan;
    int of_half = Half(halves[threadIdx.x / 32]).Sum(int(threadIdx.x)), of_all = hipcub::WarpReduce<int>(whole).Sum(1);
    int ranks;
    cub::WarpScan<int>(scan).ExclusiveSum(1, ranks);
    if (threadIdx.x % 32 == 0) out[threadIdx.x / 32] = of_half;
    if (threadIdx.x == 0) out[2] = of_all;
    if (threadIdx.x == 37) out[3] = ranks;
}
static void check_kernels() {
    std::vector<int> numbers(192);
    for (int i = 0; i < 192; ++i) numbers[i] = i * 37 % 101;
    int *out = zeros<int>(6), *scanned = zeros<int>(192);
    block_wide<<<2, 96>>>(sent(numbers), out, scanned);
    auto got = fetched(out, 6), before = fetched(scanned, 192);
    for (int block = 0, i = 0; block < 2; ++block) {
        int sum = 0, most = 0;
        for (int thread = 0; thread < 96; ++thread, ++i) {
            CHECK(before[i] == sum);
            sum += numbers[i];
            if (thread < 50) most = std::max(most, numbers[i]);
        }
        CHECK(got[3 * block] == sum && got[3 * block + 1] == most && got[3 * block + 2] == sum);
    }
    int* items = zeros<int>(192);
    many_items<<<1, 64>>>(items);
    auto prefixes = fetched(items, 192);
    CHECK(prefixes[0] == 1 && prefixes[2] == 6 && prefixes[3] == 7 && prefixes[191] == 384);
    int* warps = zeros<int>(4);
    warp_wide<<<1, 64>>>(warps);
    CHECK((fetched(warps, 4) == std::vector<int>{496, 1520, 64, 5}));
}

struct Square {
    __host__ __device__ float operator()(float x) const { return x * x; }
};
template <class F> static void twice(F call) {
    void* storage = nullptr;
    size_t bytes = 0;
    RUN(call(storage, bytes));
    RUN(hipMalloc(&storage, bytes));
    RUN(call(storage, bytes));
    RUN(hipFree(storage));
}
static void check_arrays() {
    std::vector<float> host(1000);
    for (int i = 0; i < 1000; ++i) host[i] = float((i * 7919) % 1009) - 300;
    float *in = sent(host), *out = zeros<float>(1), *scanned = zeros<float>(1000), sum = 0, squares = 0;
    for (float x : host) sum += x, squares += x * x;
    twice([&](void* s, size_t& n) { return cub::DeviceReduce::Sum(s, n, in, out, 1000); });
    CHECK(fetched(out, 1)[0] == sum);
    twice([&](void* s, size_t& n) { return hipcub::DeviceReduce::Max(s, n, in, out, 1000); });
    CHECK(fetched(out, 1)[0] == *std::max_element(host.begin(), host.end()));
    twice([&](void* s, size_t& n) { return hipcub::DeviceReduce::Min(s, n, in, out, 3); });
    CHECK(fetched(out, 1)[0] == std::min({host[0], host[1], host[2]}));
    hipcub::TransformInputIterator<float, Square, float*> squared(in, Square());
    twice([&](void* s, size_t& n) { return hipcub::DeviceReduce::Sum(s, n, squared, out, 1000); });
    CHECK(std::fabs(fetched(out, 1)[0] - squares) <= 1e-5f * squares);
    auto* best = zeros<hipcub::KeyValuePair<int, float>>(1);
    twice([&](void* s, size_t& n) { return hipcub::DeviceReduce::ArgMax(s, n, in, best, 1000); });
    CHECK(fetched(best, 1)[0].key == std::max_element(host.begin(), host.end()) - host.begin());
    twice([&](void* s, size_t& n) { return cub::DeviceScan::InclusiveSum(s, n, in, scanned, 1000); });
    CHECK(fetched(scanned, 1000)[999] == sum && fetched(scanned, 1000)[300] == std::accumulate(&host[0], &host[301], 0.0f));
    twice([&](void* s, size_t& n) { return cub::DeviceScan::ExclusiveSum(s, n, in, scanned, 1000); });
    auto exclusive = fetched(scanned, 1000);
    CHECK(exclusive[0] == 0 && exclusive[256] == std::accumulate(&host[0], &host[256], 0.0f));
    CHECK(exclusive[999] == sum - host[999]);
    int *offsets = sent(std::vector<int>{0, 10, 10, 700}), *counts = zeros<int>(4);
    float* segments = zeros<float>(3);
    twice([&](void* s, size_t& n) {
        return hipcub::DeviceSegmentedReduce::Sum(s, n, in, segments, 3, offsets, offsets + 1);
    });
    auto sums = fetched(segments, 3);
    CHECK(sums[0] == std::accumulate(&host[0], &host[10], 0.0f) && sums[1] == 0);
    CHECK(sums[2] == std::accumulate(&host[10], &host[700], 0.0f));
    twice([&](void* s, size_t& n) { return cub::DeviceHistogram::HistogramEven(s, n, in, counts, 5, 0.0f, 400.0f, 1000); });
    auto bins = fetched(counts, 4);
    for (int bin = 0; bin < 4; ++bin)
        CHECK(bins[bin] == std::count_if(host.begin(), host.end(), [&](float x) { return x >= bin * 100 && x < bin * 100 + 100; }));
}

int main() {
    check_kernels();
    check_arrays();
    return failures;
}
