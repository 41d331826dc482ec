// hipCUB's and rocPRIM's functions of a block and of a wavefront, by ROCm's own headers.
#include <cub/cub.cuh>
#include <hipcub/hipcub.hpp>
#include <rocprim/rocprim.hpp>

#include <algorithm>
#include <numeric>

#if defined(__gfx942__) && !defined(__AMDGCN__)
#error "what the libraries are told of the GPU is not for sources"
#endif

constexpr int THREADS = 256, ITEMS = 4, COUNT = THREADS * ITEMS;

__global__ void sort_block(const int* in, int* out, int* heads, int valid) {
    using Load = hipcub::BlockLoad<int, THREADS, ITEMS, hipcub::BLOCK_LOAD_WARP_TRANSPOSE>;
    using Sort = hipcub::BlockRadixSort<int, THREADS, ITEMS>;
    using Heads = hipcub::BlockDiscontinuity<int, THREADS>;
    using Store = hipcub::BlockStore<int, THREADS, ITEMS, hipcub::BLOCK_STORE_TRANSPOSE>;
    __shared__ union {
        typename Load::TempStorage load;
        typename Sort::TempStorage sort;
        typename Heads::TempStorage heads;
        typename Store::TempStorage store;
    } storage;
    int items[ITEMS], flags[ITEMS];
    Load(storage.load).Load(in, items, valid, 1 << 20);
    __syncthreads();
    Sort(storage.sort).Sort(items);
    __syncthreads();
    Heads(storage.heads).FlagHeads(flags, items, hipcub::Inequality());
    __syncthreads();
    Store(storage.store).Store(out, items);
    __syncthreads();
    Store(storage.store).Store(heads, flags);
}

__global__ void to_striped(const int* in, int* out) {
    using Exchange = hipcub::BlockExchange<int, THREADS, ITEMS>;
    __shared__ typename Exchange::TempStorage storage;
    int items[ITEMS];
    for (int i = 0; i < ITEMS; ++i) items[i] = in[threadIdx.x * ITEMS + i];
    Exchange(storage).BlockedToStriped(items, items);
    for (int i = 0; i < ITEMS; ++i) out[threadIdx.x * ITEMS + i] = items[i];
}

__global__ void scan_block(const double* in, double* out, float* total) {
    using Scan = rocprim::block_scan<double, THREADS>;
    using Reduce = rocprim::block_reduce<float, THREADS, rocprim::block_reduce_algorithm::raking_reduce>;
    __shared__ union {
        typename Scan::storage_type scan;
        typename Reduce::storage_type reduce;
    } storage;
    double items[ITEMS];
    rocprim::block_load_direct_blocked(threadIdx.x, in, items);
    Scan().exclusive_scan(items, items, 100.0, storage.scan);
    rocprim::block_store_direct_blocked(threadIdx.x, out, items);
    __syncthreads();
    float sum;
    Reduce().reduce(float(threadIdx.x), sum, storage.reduce);
    if (threadIdx.x == 0) *total = sum;
}

__global__ void scan_wave(const int* in, int* out) {
    using Scan = rocprim::warp_scan<int, 16>;
    __shared__ typename Scan::storage_type storage[THREADS / 16];
    int value;
    Scan().inclusive_scan(in[threadIdx.x], value, storage[threadIdx.x / 16], rocprim::maximum<int>());
    out[threadIdx.x] = value;
}

__global__ void by_cubs_names(const int* in, int* out) {
    using Load = cub::BlockLoad<int, 64, 2, cub::BLOCK_LOAD_VECTORIZE>;
    using Reduce = cub::WarpReduce<int>;
    __shared__ union {
        typename Load::TempStorage load;
        typename Reduce::TempStorage reduce[2];
    } storage;
    int items[2];
    Load(storage.load).Load(in, items);
    __syncthreads();
    const int sum = Reduce(storage.reduce[threadIdx.x / 32]).Sum(items[1]);
    if (threadIdx.x % 32 == 0) out[threadIdx.x / 32] = sum;
}

int main() {
    std::vector<int> values(COUNT);
    unsigned state = 1;
    for (int& value : values) value = int((state = state * 1664525 + 1013904223) >> 8 & 1023) - 512;
    int *in = sent(values), *out = zeros<int>(COUNT), *heads = zeros<int>(COUNT);
    sort_block<<<1, THREADS>>>(in, out, heads, COUNT - 3);
    std::vector<int> sorted(values.begin(), values.end() - 3);
    sorted.resize(COUNT, 1 << 20);
    std::sort(sorted.begin(), sorted.end());
    std::vector<int> first(COUNT), striped(COUNT), most(THREADS);
    std::adjacent_difference(sorted.begin(), sorted.end(), first.begin(), [](int a, int b) { return a != b; });
    first[0] = 1;
    CHECK(fetched(out, COUNT) == sorted);
    CHECK(fetched(heads, COUNT) == first);
    to_striped<<<1, THREADS>>>(in, out);
    for (int i = 0; i < COUNT; ++i) striped[i % THREADS * ITEMS + i / THREADS] = values[i];
    CHECK(fetched(out, COUNT) == striped);
    scan_wave<<<1, THREADS>>>(in, out);
    for (int i = 0; i < THREADS; ++i) most[i] = *std::max_element(&values[i & ~15], &values[i] + 1);
    CHECK(fetched(out, THREADS) == most);
    by_cubs_names<<<1, 64>>>(in, out);
    int sums_of_32[2] = {};
    for (int i = 0; i < 64; ++i) sums_of_32[i / 32] += values[2 * i + 1];
    CHECK(fetched(out, 2) == std::vector<int>(sums_of_32, sums_of_32 + 2));

    std::vector<double> numbers(COUNT), sums(COUNT);
    std::iota(numbers.begin(), numbers.end(), 1.0);
    std::exclusive_scan(numbers.begin(), numbers.end(), sums.begin(), 100.0);
    double* scanned = zeros<double>(COUNT);
    float* total = zeros<float>(1);
    scan_block<<<1, THREADS>>>(sent(numbers), scanned, total);
    CHECK(fetched(scanned, COUNT) == sums);
    CHECK(fetched(total, 1)[0] == THREADS * (THREADS - 1) / 2);
    return failures;
}
