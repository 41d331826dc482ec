// Each line that is wrong says what must be found there, and nothing else may be.
#include <hip/hip_runtime.h>
typedef int int4_v __attribute__((ext_vector_type(4)));
__device__ float load(int4_v, int, int, int) __asm("llvm.amdgcn.raw.buffer.load.f32");

__global__ void described_too_large(const float* in, float* out, int n) {
    auto buffer = __builtin_amdgcn_make_buffer_rsrc((void*)in, 0, (n + 1) * 4, 0x00027000);
    float v = __builtin_bit_cast(float, __builtin_amdgcn_raw_buffer_load_b32(buffer, threadIdx.x * 4, 0, 0));  // EXPECT out-of-bounds read
    if (int(threadIdx.x) < n) out[threadIdx.x] = v;
}

__global__ void by_label(const float* in, float* out, int n) {
    int4_v buffer = {(int)(size_t)in, (int)((size_t)in >> 32), -1, 0x00020000};
    float v = load(buffer, threadIdx.x * 4, 0, 0);  // EXPECT out-of-bounds read
    if (int(threadIdx.x) < n) out[threadIdx.x] = v;
}

__global__ void by_assembly(float* out) {
    asm volatile("global_store_dword %0, %1, off" ::"v"(out + threadIdx.x), "v"(1.0f) : "memory");  // EXPECT out-of-bounds write
}

__global__ void in_spaces(const float* in, float* out, int n) {
    __shared__ float row[64];
    auto lds = (__attribute__((address_space(3))) float*)row;
    auto global = (__attribute__((address_space(1))) float*)out;
    lds[63 - threadIdx.x] = threadIdx.x;
    __syncthreads();
    global[threadIdx.x] = lds[threadIdx.x];  // EXPECT out-of-bounds write
}

// Right: the descriptor keeps lanes inside, and shared memory may be named by its lower 32 bits.
__global__ void in_bounds(const float* in, float* out, int n) {
    __shared__ float row[64];
    auto buffer = __builtin_amdgcn_make_buffer_rsrc((void*)in, 0, n * 4, 0x00027000);
    unsigned kept = unsigned((size_t)&row[0]);
    __builtin_amdgcn_raw_ptr_buffer_load_lds(buffer, (__attribute__((address_space(3))) float*)(size_t)kept, 4, threadIdx.x * 4, 0, 0, 0);
    __syncthreads();
    float v;
    asm volatile("ds_read_b32 %0, %1" : "=v"(v) : "v"(unsigned((size_t)&row[threadIdx.x])));
    if (int(threadIdx.x) < n) out[threadIdx.x] = v;
}

int main() {
    const int n = 60;
    float *in, *out;
    hipMalloc(&in, n * sizeof(float));
    hipMalloc(&out, n * sizeof(float));
    hipMemset(in, 0, n * sizeof(float));
    described_too_large<<<1, 64>>>(in, out, n);
    by_label<<<1, 64>>>(in, out, n);
    by_assembly<<<1, 64>>>(out);
    in_spaces<<<1, 64>>>(in, out, n);
    in_bounds<<<1, 64>>>(in, out, n);
    return 0;
}
