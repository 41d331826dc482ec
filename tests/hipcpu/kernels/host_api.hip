// The host API: limits and their errors, memory, streams, events, properties, CUDA names.
#include <cuda_runtime.h>

__global__ void fill(int* out, int value) { out[blockIdx.x * blockDim.x + threadIdx.x] = value; }
__global__ void static_shared(int* out) {
    __shared__ int large[12000];
    large[threadIdx.x * 10] = 1;
    __syncthreads();
    out[threadIdx.x] = large[threadIdx.x * 10];
}
__global__ void dynamic_shared(int* out) {
    extern __shared__ int any[];
    any[threadIdx.x] = 2;
    out[threadIdx.x] = any[threadIdx.x];
}
__global__ __launch_bounds__(128) void bounded(int* out) { out[threadIdx.x] = 3; }
template <int THREADS> __global__ void __launch_bounds__(THREADS / 2, 4) bounded_by_argument(int* out) { *out = 4; }

int main() {
    int* n = zeros<int>(4096);
    bounded<<<1, 129>>>(n);
    CHECK(hipGetLastError() == hipErrorInvalidConfiguration);
    bounded<<<1, dim3(16, 8)>>>(n);
    CHECK(hipGetLastError() == hipSuccess && fetched(n, 1)[0] == 3);
    bounded_by_argument<64><<<1, 33>>>(n);
    CHECK(hipGetLastError() == hipErrorInvalidConfiguration);
    bounded_by_argument<64><<<1, 32>>>(n);
    CHECK(hipGetLastError() == hipSuccess && fetched(n, 1)[0] == 4);
    fill<<<1, 1025>>>(n, 1);
    CHECK(hipPeekAtLastError() == hipErrorInvalidConfiguration);
    CHECK(hipGetLastError() == hipErrorInvalidConfiguration && hipGetLastError() == hipSuccess);
    fill<<<0, 64>>>(n, 1);
    CHECK(hipGetLastError() == hipErrorInvalidConfiguration);
    fill<<<1, 0>>>(n, 1);
    CHECK(hipGetLastError() == hipErrorInvalidConfiguration);
    fill<<<1, dim3(64, 64)>>>(n, 1);
    CHECK(hipGetLastError() == hipErrorInvalidConfiguration);
    dynamic_shared<<<1, 64, 65537>>>(n);
    CHECK(hipGetLastError() == hipErrorInvalidConfiguration);
    dynamic_shared<<<1, 64, 65536>>>(n);
    CHECK(hipGetLastError() == hipSuccess && fetched(n, 1)[0] == 2);
    static_shared<<<1, 1024>>>(n);
    CHECK(hipGetLastError() == hipSuccess && fetched(n, 1)[0] == 1);
    static_shared<<<1, 1024, 20000>>>(n);
    CHECK(hipGetLastError() == hipErrorInvalidConfiguration && fetched(n, 1)[0] == 1);
    CHECK(hipLaunchKernel((const void*)n, dim3(1), dim3(1), nullptr, 0, nullptr) == hipErrorInvalidDeviceFunction);
    CHECK(std::string(hipGetErrorString(hipErrorOutOfMemory)) == "out of memory");
    CHECK(std::string(hipGetErrorName(hipGetLastError())) == "hipErrorInvalidDeviceFunction");

    void* huge = n;
    CHECK(hipMalloc(&huge, size_t(1) << 50) == hipErrorOutOfMemory && huge == nullptr);
    CHECK(hipFree(&huge) == hipErrorInvalidValue && hipFree(nullptr) == hipSuccess);
    (void)hipGetLastError();
    size_t free_before = 0, free_after = 0, total = 0;
    RUN(hipMemGetInfo(&free_before, &total));
    int *async = nullptr, *managed = nullptr, *pinned = nullptr;
    hipStream_t stream;
    RUN(hipStreamCreate(&stream));
    RUN(hipMallocAsync(&async, 1 << 20, stream));
    RUN(hipMemGetInfo(&free_after, &total));
    CHECK(free_before - free_after == 1 << 20 && total >= free_before);
    RUN(hipMallocManaged(&managed, 1024));
    RUN(hipHostMalloc(&pinned, 1024));
    RUN(hipMemsetAsync(async, 0xff, 1024, stream));
    fill<<<4, 64, 0, stream>>>(managed, 7);
    RUN(hipMemcpyAsync(pinned, managed, 1024, hipMemcpyDeviceToHost, stream));
    RUN(hipStreamSynchronize(stream));
    CHECK(pinned[255] == 7 && managed[0] == 7 && async[255] == -1);
    RUN(hipFreeAsync(async, stream));
    RUN(hipFree(managed));
    RUN(hipHostFree(pinned));

    hipEvent_t start, stop;
    RUN(hipEventCreate(&start));
    RUN(hipEventCreate(&stop));
    RUN(hipEventRecord(start, stream));
    fill<<<64, 64, 0, stream>>>(n, 3);
    RUN(hipEventRecord(stop, stream));
    RUN(hipEventSynchronize(stop));
    float milliseconds = -1;
    RUN(hipEventElapsedTime(&milliseconds, start, stop));
    CHECK(milliseconds >= 0 && milliseconds < 1000);
    RUN(hipEventDestroy(start));
    RUN(hipEventDestroy(stop));
    RUN(hipStreamDestroy(stream));

    hipDeviceProp_t properties;
    RUN(hipGetDeviceProperties(&properties, 0));
    CHECK(properties.warpSize == 64 && properties.maxThreadsPerBlock == 1024 && properties.sharedMemPerBlock == 65536);
    CHECK(properties.multiProcessorCount >= 1 && properties.totalGlobalMem > 0);
    CHECK(strcmp(properties.gcnArchName, "gfx942:sramecc+:xnack-") == 0);
    CHECK(properties.major == 9 && properties.minor == 4 && properties.regsPerBlock == 65536);
    int count = 0, warp = 0, blocks = 0, release = 0;
    RUN(hipRuntimeGetVersion(&release));
    CHECK(release == HIP_VERSION && HIP_VERSION / 100000 == 702);
    RUN(hipGetDeviceCount(&count));
    RUN(hipDeviceGetAttribute(&warp, hipDeviceAttributeWarpSize, 0));
    CHECK(count == 1 && warp == 64 && hipSetDevice(1) == hipErrorInvalidDevice);
    RUN(hipOccupancyMaxActiveBlocksPerMultiprocessor(&blocks, fill, 256, 0));
    CHECK(blocks == 8);
    RUN(hipFuncSetAttribute((const void*)dynamic_shared, hipFuncAttributeMaxDynamicSharedMemorySize, 65536));
    CHECK(cudaDeviceSynchronize() == cudaSuccess);
    return failures;
}
