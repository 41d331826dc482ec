// problem: vector-addition
// Much of the host API that few kernels need.
#include <hip/hip_runtime.h>
#include <hip/hip_ext.h>
#include <vector>
#include <memory>
#include <algorithm>
__constant__ float coef[4];
__device__ float table[4];
__global__ void add(const float* a, const float* b, float* c, size_t n) {
    size_t i = (blockIdx.x * (size_t)blockDim.x + threadIdx.x);
    if (i < n) c[i] = a[i] * coef[0] + b[i] * table[1];
}
struct Deleter {
    void operator()(float* p) const { (void)hipFree(p); }
};
extern "C" void solution(const float* a, const float* b, float* c, size_t n) {
    float h[4] = {1, 1, 1, 1};
    hipMemcpyToSymbol(coef, h, sizeof h);
    void* sym;
    hipGetSymbolAddress(&sym, HIP_SYMBOL(table));
    size_t sz;
    hipGetSymbolSize(&sz, HIP_SYMBOL(table));
    hipMemcpy(sym, h, sz, hipMemcpyHostToDevice);
    float* raw;
    hipMalloc(&raw, n * 4 + 256);
    std::unique_ptr<float, Deleter> ws(raw);
    size_t pitch;
    float* pit;
    hipMallocPitch((void**)&pit, &pitch, 100, 10);
    hipMemset2D(pit, pitch, 0, 100, 10);
    hipFree(pit);
    hipMemcpyDtoD(raw, (void*)a, n * 4);
    hipMemsetD32((hipDeviceptr_t)c, 0, n);
    hipMemcpyPeer(raw, 0, a, 0, n * 4);
    hipStream_t s;
    int lo, hi;
    hipDeviceGetStreamPriorityRange(&lo, &hi);
    hipStreamCreateWithPriority(&s, hipStreamNonBlocking, hi);
    hipStreamAttachMemAsync(s, raw, 0, hipMemAttachGlobal);
    int cnt;
    hipGetDeviceCount(&cnt);
    hipSetDevice(0);
    int v;
    hipDriverGetVersion(&v);
    hipRuntimeGetVersion(&v);
    int can;
    hipDeviceCanAccessPeer(&can, 0, 0);
    hipFuncAttributes fa;
    hipFuncGetAttributes(&fa, (const void*)add);
    hipFuncSetCacheConfig((const void*)add, hipFuncCachePreferL1);
    hipDeviceSetCacheConfig(hipFuncCachePreferShared);
    hipDeviceSetSharedMemConfig(hipSharedMemBankSizeFourByte);
    hipDeviceSetLimit(hipLimitMallocHeapSize, 1 << 20);
    size_t lim;
    hipDeviceGetLimit(&lim, hipLimitStackSize);
    hipMemPool_t pool;
    hipDeviceGetDefaultMemPool(&pool, 0);
    uint64_t thr = ~0ull;
    hipMemPoolSetAttribute(pool, hipMemPoolAttrReleaseThreshold, &thr);
    float* as;
    hipMallocAsync((void**)&as, 64, s);
    hipFreeAsync(as, s);
    hipPointerAttribute_t pa;
    hipPointerGetAttributes(&pa, a);
    hipMemcpyWithStream(raw, a, n * 4, hipMemcpyDeviceToDevice, s);
    hipMemcpy2DAsync(raw, 4, a, 4, 4, 1, hipMemcpyDeviceToDevice, s);
    hipExtLaunchKernelGGL(add, dim3((n + 255) / 256), dim3(256), 0, s, nullptr, nullptr, 0, (const float*)raw, b, c, n);
    hipStreamQuery(s);
    unsigned fl;
    hipStreamGetFlags(s, &fl);
    hipStreamSynchronize(s);
    hipStreamDestroy(s);
    hipDeviceSynchronize();
    hipCtx_t ctx;
    hipCtxGetCurrent(&ctx);
}
