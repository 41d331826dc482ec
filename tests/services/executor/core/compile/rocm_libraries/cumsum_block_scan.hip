// problem: cumsum
#include <hip/hip_runtime.h>
#include <rocprim/block/block_load.hpp>
#include <rocprim/block/block_scan.hpp>
#include <rocprim/block/block_store.hpp>

constexpr int THREADS = 256, ITEMS = 4;

__global__ void scan(const float* in, float* out, int count) {
    using Load = rocprim::block_load<float, THREADS, ITEMS, rocprim::block_load_method::block_load_transpose>;
    using Scan = rocprim::block_scan<float, THREADS>;
    using Store = rocprim::block_store<float, THREADS, ITEMS, rocprim::block_store_method::block_store_transpose>;
    __shared__ union {
        typename Load::storage_type load;
        typename Scan::storage_type scan;
        typename Store::storage_type store;
    } storage;
    float before = 0;
    for (int at = 0; at < count; at += THREADS * ITEMS) {
        float values[ITEMS], sum;
        Load().load(in + at, values, count - at, 0.0f, storage.load);
        __syncthreads();
        Scan().inclusive_scan(values, values, sum, storage.scan);
        for (float& value : values) value += before;
        before += sum;
        __syncthreads();
        Store().store(out + at, values, count - at, storage.store);
        __syncthreads();
    }
}

extern "C" void solution(const float* in, float* out, size_t count) { scan<<<1, THREADS>>>(in, out, int(count)); }
