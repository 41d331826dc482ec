// Kernels as people write them: templates, structs, symbols, shared memory, launches, control flow.
struct Small { float x, y, z; };
struct Large { double values[6]; };
struct Bytes { unsigned char r, g, b; };
__constant__ float weights[4];
__constant__ int scale = 3;
__device__ int counter;
__device__ float table[8] = {0, 1, 4, 9, 16, 25, 36, 49};
static __device__ int helper(int x) { return x * 2 + threadIdx.x; }
__host__ __device__ inline int both_sides(int x) {
#ifdef __HIP_DEVICE_COMPILE__
    return x + 1000;
#else
    return x;
#endif
}

template <class T, int N> __global__ void templated(T* out, T add) { out[threadIdx.x] = add * N + T(threadIdx.x); }
static __global__ void parameters(float* out, Small s, Large l, Bytes b, bool flag, char c, double d, float2 f, int3 i) {
    out[0] = s.x + s.y * 10 + s.z * 100;
    out[1] = float(l.values[0] + l.values[5]);
    out[2] = b.r + b.g * 10 + b.b * 100;
    out[3] = flag ? 1 : 2;
    out[4] = c;
    out[5] = float(d);
    out[6] = f.x - f.y;
    out[7] = i.x + i.y * 10 + i.z * 100;
}
__global__ void by_value_is_private(float* out, Large l) {
    l.values[0] += threadIdx.x;
    __syncthreads();
    out[threadIdx.x] = float(l.values[0]);
}
__global__ void no_parameters() { atomicAdd(&counter, 1); }
__global__ void symbols(float* out) {
    out[threadIdx.x] = weights[threadIdx.x % 4] * scale + table[threadIdx.x % 8] + both_sides(0) + helper(0);
}
__global__ void dynamic_floats(float* out) {
    extern __shared__ float floats[];
    floats[threadIdx.x] = threadIdx.x;
    __syncthreads();
    out[threadIdx.x] = floats[blockDim.x - 1 - threadIdx.x];
}
__global__ void dynamic_bytes(int* out) {
    HIP_DYNAMIC_SHARED(unsigned char, bytes)
    __shared__ int total;
    if (threadIdx.x == 0) total = 0;
    bytes[threadIdx.x] = threadIdx.x & 1;
    __syncthreads();
    atomicAdd(&total, bytes[threadIdx.x]);
    __syncthreads();
    out[threadIdx.x] = total;
}
__global__ void early_return(int* out, int n) {
    __shared__ int last[256];
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n) return;
    last[threadIdx.x] = i;
    __syncthreads();
    out[i] = last[threadIdx.x == 0 ? 0 : threadIdx.x - 1];
    __syncthreads();
    last[threadIdx.x] = out[i] * 2;
    __syncthreads();
    out[i] += last[threadIdx.x];
}
__global__ void exited_before_loop(int* out, int n) {
    __shared__ int seen[128];
    int i = threadIdx.x, sum = 0;
    if (i >= n) return;
    for (int t = 1; t <= 5; ++t) {
        seen[i] = t * i;
        __syncthreads();
        sum += seen[(i + 1) % n] * t;
        __syncthreads();
    }
    out[i] = sum;
}
__global__ void loop_with_barriers(int* data, int n) {
    __shared__ int tile[128];
    int sum = 0;
    for (int start = 0; start < n; start += 128) {
        tile[threadIdx.x] = start + threadIdx.x < n ? data[start + threadIdx.x] : 0;
        __syncthreads();
        for (int k = 0; k <= threadIdx.x; ++k) sum += tile[k];
        __syncthreads();
    }
    data[threadIdx.x] = sum;
}
__global__ void wave_roles(int* out) {
    __shared__ int value;
    if (threadIdx.x < 64) {
        if (threadIdx.x == 0) value = 5;
        __syncthreads();
    } else {
        __syncthreads();
        if (threadIdx.x == 64) out[0] = value;
    }
    __syncthreads();
    out[1 + threadIdx.x] = value;
}
__global__ void private_array(int* out, int step) {
    int mine[16];
    for (int i = 0; i < 16; ++i) mine[(i * step) & 15] = i + threadIdx.x;
    __syncthreads();
    int sum = 0;
    for (int i = 0; i < 16; ++i) sum += mine[(i + threadIdx.x) & 15] * (i + 1);
    out[threadIdx.x] = sum;
}
__global__ void grid_of_blocks(int* out) {
    int block = (blockIdx.z * gridDim.y + blockIdx.y) * gridDim.x + blockIdx.x;
    int thread = (threadIdx.z * blockDim.y + threadIdx.y) * blockDim.x + threadIdx.x;
    out[block * blockDim.x * blockDim.y * blockDim.z + thread] = block * 1000 + thread;
}
__device__ int factorial(int n) { return n < 2 ? 1 + 0 * threadIdx.x : n * factorial(n - 1); }
__global__ void recursion(int* out) {
    out[threadIdx.x] = factorial(5) + threadIdx.x;
    __syncthreads();
    if (threadIdx.x == 0) out[0] += out[blockDim.x - 1];
}
__global__ void switches(int* out) {
    switch (threadIdx.x % 5) {
        case 0: out[threadIdx.x] = 10; break;
        case 1: out[threadIdx.x] = 11; __threadfence(); [[fallthrough]];
        case 3: out[threadIdx.x] += 100; break;
        default: out[threadIdx.x] = -1;
    }
}
__global__ void counted(int* out, int n) {
    int hits = __syncthreads_count(threadIdx.x < n), all = __syncthreads_and(threadIdx.x < n), any = __syncthreads_or(threadIdx.x < n);
    out[threadIdx.x] = hits * 100 + (all ? 10 : 0) + (any ? 1 : 0);
}

__device__ double volatile_terms[64];
__global__ void volatile_sum(int* out) {
    __shared__ bool last;
    volatile_terms[threadIdx.x] = threadIdx.x;
    __threadfence();
    if (threadIdx.x == 0) last = true;
    __syncthreads();
    if (last && threadIdx.x == 0) {
        double total = 0;
        for (int i = 0; i < 64; ++i) total += *(volatile double*)&volatile_terms[i];
        out[0] = int(total);
    }
}

int main() {
    float* f = zeros<float>(4096);
    int* n = zeros<int>(4096);
    templated<float, 3><<<1, 8>>>(f, 2.0f);
    CHECK(fetched(f, 8)[7] == 13);
    templated<int, -2><<<1, 8>>>(n, 5);
    CHECK(fetched(n, 8)[7] == -3);

    Large large{{1, 2, 3, 4, 5, 6}};
    parameters<<<1, 1>>>(f, Small{1, 2, 3}, large, Bytes{1, 2, 3}, true, 'A', 2.5, make_float2(3, 1), make_int3(1, 2, 3));
    auto p = fetched(f, 8);
    CHECK(p[0] == 321 && p[1] == 7 && p[2] == 321 && p[3] == 1 && p[4] == 65 && p[5] == 2.5f && p[6] == 2 && p[7] == 321);
    by_value_is_private<<<2, 64>>>(f, large);
    CHECK(fetched(f, 64)[63] == 64 && large.values[0] == 1);

    no_parameters<<<10, 100>>>();
    hipLaunchKernelGGL(no_parameters, dim3(1), dim3(5), 0, 0);
    hipLaunchKernelGGL((templated<int, 7>), 1, 8, 0, 0, n, 1);
    CHECK(fetched(n, 8)[1] == 8);
    int count = 0;
    RUN(hipMemcpyFromSymbol(&count, HIP_SYMBOL(counter), sizeof count));
    CHECK(count == 1005);
    int by_hand = 4;
    void* arguments[] = {&n, &by_hand};
    RUN(hipLaunchKernel(counted, dim3(1), dim3(8), arguments, 0, nullptr));
    CHECK(fetched(n, 8)[3] == 401);
    by_hand = 8;
    RUN(hipLaunchKernel((const void*)counted, dim3(1), dim3(8), arguments, 0, nullptr));
    CHECK(fetched(n, 8)[3] == 811);

    float w[4] = {1, 2, 3, 4};
    RUN(hipMemcpyToSymbol(weights, w, sizeof w));
    int five = 5;
    RUN(hipMemcpyToSymbol(HIP_SYMBOL(scale), &five, sizeof five));
    symbols<<<1, 16>>>(f);
    CHECK(fetched(f, 16)[7] == 4 * 5 + 49 + 1000 + 7);
    CHECK(both_sides(1) == 1);
    void* address = nullptr;
    size_t bytes = 0;
    RUN(hipGetSymbolAddress(&address, table));
    RUN(hipGetSymbolSize(&bytes, table));
    CHECK(bytes == 32 && fetched((float*)address, 8)[3] == 9);

    dynamic_floats<<<3, 200, 200 * sizeof(float)>>>(f);
    CHECK(fetched(f, 200)[0] == 199 && fetched(f, 200)[199] == 0);
    dynamic_bytes<<<3, 200, 200>>>(n);
    CHECK(fetched(n, 200)[17] == 100);
    early_return<<<4, 128>>>(n, 451);
    auto e = fetched(n, 451);
    CHECK(e[450] == 449 * 3 && e[128] == 128 * 3 && e[384] == 384 * 3);
    exited_before_loop<<<2, 128>>>(n, 70);
    auto x = fetched(n, 70);
    CHECK(x[0] == 55 && x[68] == 69 * 55 && x[69] == 0);
    RUN(hipMemset(n, 0, 4096 * 4));
    n = sent(std::vector<int>(4096, 1));
    loop_with_barriers<<<1, 128>>>(n, 300);
    auto l = fetched(n, 128);
    CHECK(l[0] == 3 && l[43] == 44 * 3 && l[127] == 128 * 2 + 44);
    wave_roles<<<1, 128>>>(n);
    CHECK(fetched(n, 129)[0] == 5 && fetched(n, 129)[128] == 5);
    private_array<<<1, 128>>>(n, 3);
    int mine[16], sum = 0;
    for (int i = 0; i < 16; ++i) mine[(i * 3) & 15] = i + 77;
    for (int i = 0; i < 16; ++i) sum += mine[(i + 77) & 15] * (i + 1);
    CHECK(fetched(n, 128)[77] == sum);
    grid_of_blocks<<<dim3(2, 3, 2), dim3(3, 5, 7)>>>(n);
    auto g = fetched(n, 12 * 105);
    bool right = true;
    for (int i = 0; i < 12 * 105; ++i) right = right && g[i] == i / 105 * 1000 + i % 105;
    CHECK(right);
    recursion<<<1, 32>>>(n);
    CHECK(fetched(n, 32)[0] == 120 + 151 && fetched(n, 32)[31] == 151);
    RUN(hipMemset(n, 0, 4096 * 4));
    switches<<<1, 100>>>(n);
    auto s = fetched(n, 10);
    CHECK(s[0] == 10 && s[1] == 111 && s[2] == -1 && s[3] == 100 && s[4] == -1 && s[5] == 10);
    volatile_sum<<<1, 64>>>(n);
    CHECK(fetched(n, 1)[0] == 2016);
    RUN(hipGetLastError());
    return failures;
}
