// What other people's sources contain besides.
#define HIP_TEMPLATE_KERNEL_LAUNCH
#include <hip/hip_runtime.h>
#include <cuda_runtime.h>
#include <driver_types.h>
#include <hip/hip_ext.h>
#include <vector_functions.h>
#include <iostream>
#include <thread>
#define TILE 16
#define CEIL_DIV(a, b) (((a) + (b) - 1) / (b))
using namespace std;

struct Cells {};
template <class T, int N> __global__ void sums(T* out, const T* in, T more) { out[threadIdx.x] = in[threadIdx.x] + N + more; }
template <class T, class F> __global__ void named_without_arguments(T* out, T x, F f) { out[threadIdx.x] = f(x); }
template <class T> static __device__ __forceinline__ T __ldg(const T* p) { return *p + 1; }
__global__ void own_load(float* out) { out[0] = __ldg(out + 1); }
template <> struct std::is_arithmetic<Cells> : std::true_type {};

// CUDA's name, which is free unless <cuda_pipeline.h> is there.
static __device__ __forceinline__ int __pipeline_commit() { return 11; }
// As rocWMMA: a type of its own that is arithmetic after it was compared, and vectors by HIP's templates.
struct Cut { float value; };
__host__ __device__ inline bool operator<(Cut a, Cut b) { return a.value < b.value; }
__host__ __device__ inline bool below(Cut a, Cut b) { return a < b; }
template <> struct std::is_arithmetic<Cut> : std::true_type {};
template <> struct HIP_vector_base<float, 8> {
    typedef float Native_vec_ __attribute__((ext_vector_type(8)));
    union { Native_vec_ data; struct { float x, y; }; };
    HIP_vector_base() = default;
    template <class... A, std::enable_if_t<sizeof...(A) == 8>* = nullptr> __host__ __device__ HIP_vector_base(A... all) : data{all...} {}
};
template <class T, unsigned N> __device__ float sum_of(const HIP_vector_type<T, N>& v) {
    float sum = 0;
    for (unsigned at = 0; at < N; ++at) sum += float(v.data[at]);
    return sum;
}
#define RESERVED(N) asm volatile("" ::: "v" #N)
__global__ void vectors(float* out, float4* four) {
    asm volatile("" ::: "v[0:3]", "a7", "memory");
    RESERVED(9);
    HIP_vector_type<float, 8> v(2.0f);
    v += v, v.data[3] = 1, ++v;
    four->data[2] = 7, four->data = four->data * 2.0f;
    HIP_vector_type<_Float16, 2> h{1, 2};
    out[0] = sum_of(v), out[1] = sum_of(*four), out[2] = sum_of(h * h), out[3] = below(Cut{1}, Cut{2}) + __pipeline_commit();
}

struct __align__(16) Cell { uint key; ushort kind; };
static_assert(alignof(Cell) == 16 && sizeof(ulong) == 8, "CUDA's alignment, and the C library's names");
struct Square { __device__ float operator()(float x) const { return x * x; } };
struct Scale { float by; __host__ __device__ explicit Scale(float b) : by(b) {} __device__ float operator()(float x) const { return by * x; } };
template <typename F> __global__ void apply(const float* __restrict__ in, float* __restrict__ out, int n, F f) {
    for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += blockDim.x * gridDim.x) out[i] = f(in[i]);
}
namespace { namespace detail { __global__ void anonymous(float* out) { out[threadIdx.x] = 7; } } }
class Holder {
public:
    vector<float> numbers{1, 2, 3};
    float* device = nullptr;
    Holder() { hipMalloc(&device, 12), hipMemcpy(device, numbers.data(), 12, hipMemcpyHostToDevice); }
} holder;
__attribute__((used)) static int kept = 3;
__managed__ int shared_by_both = 5;
__global__ void increment_managed() { atomicAdd(&shared_by_both, 2); }
typedef float (*Function)(float);
__device__ float twice(float x) { return 2 * x; }
__device__ float thrice(float x) { return 3 * x + threadIdx.x; }
__global__ void pointers(float* out, int which) {
    Function f = which ? thrice : twice;
    out[threadIdx.x] = f(1.0f);
}
template <int BLOCK> __global__ __launch_bounds__(BLOCK) void softmax_rows(const float* in, float* out, int width) {
    __shared__ float part[BLOCK];
    const float* row = in + blockIdx.x * width;
    float top = -INFINITY;
    for (int i = threadIdx.x; i < width; i += BLOCK) top = max(top, row[i]);
    part[threadIdx.x] = top;
    __syncthreads();
    #pragma unroll
    for (int s = BLOCK / 2; s > 0; s >>= 1) {
        if (threadIdx.x < s) part[threadIdx.x] = fmaxf(part[threadIdx.x], part[threadIdx.x + s]);
        __syncthreads();
    }
    top = part[0];
    __syncthreads();
    float sum = 0;
    for (int i = threadIdx.x; i < width; i += BLOCK) sum += __expf(row[i] - top);
    part[threadIdx.x] = sum;
    __syncthreads();
    for (int s = BLOCK / 2; s > 0; s >>= 1) {
        if (threadIdx.x < s) part[threadIdx.x] += part[threadIdx.x + s];
        __syncthreads();
    }
    for (int i = threadIdx.x; i < width; i += BLOCK) out[blockIdx.x * width + i] = __expf(row[i] - top) / part[0];
}
__global__ void register_tiles(const float* a, const float* b, float* c, int n) {
    __shared__ float as[32][8], bs[8][32];
    float sums[2][2] = {};
    int row = blockIdx.y * 32 + threadIdx.y * 2, column = blockIdx.x * 32 + threadIdx.x * 2;
    int t = threadIdx.y * blockDim.x + threadIdx.x;
    for (int k0 = 0; k0 < n; k0 += 8) {
        as[t / 8][t % 8] = a[(blockIdx.y * 32 + t / 8) * n + k0 + t % 8];
        bs[t / 32][t % 32] = b[(k0 + t / 32) * n + blockIdx.x * 32 + t % 32];
        __syncthreads();
        for (int k = 0; k < 8; ++k)
            for (int y = 0; y < 2; ++y)
                for (int x = 0; x < 2; ++x) sums[y][x] += as[threadIdx.y * 2 + y][k] * bs[k][threadIdx.x * 2 + x];
        __syncthreads();
    }
    for (int y = 0; y < 2; ++y)
        for (int x = 0; x < 2; ++x) c[(row + y) * n + column + x] = sums[y][x];
}
extern "C" __global__ void histogram(const int* values, unsigned* bins, int n) {
    __shared__ unsigned local[64];
    for (int i = threadIdx.x; i < 64; i += blockDim.x) local[i] = 0;
    __syncthreads();
    for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += gridDim.x * blockDim.x) atomicAdd(&local[values[i] & 63], 1u);
    __syncthreads();
    for (int i = threadIdx.x; i < 64; i += blockDim.x) atomicAdd(&bins[i], local[i]);
}
__global__ void heap(int** out) {
    int* mine = new int[4];
    mine[3] = threadIdx.x;
    out[threadIdx.x] = mine;
}

__global__ void tail(float* out, unsigned n) {
    if (blockDim.x == 0) __trap();
    out[threadIdx.x] = umin(threadIdx.x, n) + umax(threadIdx.x, n);
}
void hints() {
    float* managed;
    RUN(cudaMallocManaged(&managed, 256));
    RUN(cudaMemAdvise(managed, 256, cudaMemAdviseSetReadMostly, 0));
    RUN(cudaMemPrefetchAsync(managed, 256, 0));
    RUN(cudaMemset2DAsync(managed, 64, 0, 64, 4, cudaStreamPerThread));
    RUN(cudaDeviceSetLimit(cudaLimitMallocHeapSize, 1 << 20));
    RUN(cudaFuncSetAttribute(tail, cudaFuncAttributePreferredSharedMemoryCarveout, cudaSharedmemCarveoutMaxShared));
    unsigned n = 3;
    void* arguments[] = {&managed, &n};
    RUN(cudaLaunchCooperativeKernel(tail, 1, 64, arguments));
    int optin = 0;
    RUN(cudaDeviceGetAttribute(&optin, cudaDevAttrMaxSharedMemoryPerBlockOptin, 0));
    cudaPointerAttributes attributes;
    RUN(cudaPointerGetAttributes(&attributes, managed));
    RUN(cudaDeviceSynchronize());
    CHECK(managed[1] == 4 && managed[63] == 66 && optin >= 48 * 1024);
}

int main() {
    hints();
    vector<float> host(1000);
    for (int i = 0; i < 1000; ++i) host[i] = i % 10;
    float *in = sent(host), *out = zeros<float>(4096);
    apply<<<2, 64>>>(in, out, 1000, Square());
    CHECK(fetched(out, 1000)[999] == 81);
    apply<<<2, 64>>>(in, out, 1000, Scale(0.5f));
    CHECK(fetched(out, 1000)[999] == 4.5f);
    auto lambda = [] __device__(float x) { return x + 1; };
    apply<<<CEIL_DIV(1000, 64), 64>>>(in, out, 1000, lambda);
    CHECK(fetched(out, 1000)[999] == 10);
    detail::anonymous<<<1, 3>>>(out);
    CHECK(fetched(out, 3)[2] == 7 && fetched(holder.device, 3)[2] == 3 && kept == 3);
    shared_by_both = 10;
    increment_managed<<<1, 4>>>();
    RUN(hipDeviceSynchronize());
    CHECK(shared_by_both == 18);
    pointers<<<1, 4>>>(out, 1);
    CHECK(fetched(out, 4)[3] == 6);
    pointers<<<1, 4>>>(out, 0);
    CHECK(fetched(out, 4)[3] == 2);
    softmax_rows<128><<<4, 128>>>(in, out, 250);
    auto rows = fetched(out, 1000);
    double total = 0, sum = 0;
    for (int i = 250; i < 500; ++i) total += rows[i], sum += exp(double(host[i] - 9));
    CHECK(fabs(total - 1) < 1e-5 && fabs(rows[259] - 1 / sum) < 1e-6);
    vector<float> square(64 * 64), expected(64 * 64);
    for (int i = 0; i < 64 * 64; ++i) square[i] = i * 7 % 5 - 2;
    float* m = sent(square);
    register_tiles<<<dim3(2, 2), dim3(TILE, TILE)>>>(m, m, out, 64);
    for (int r = 0; r < 64; ++r)
        for (int c = 0; c < 64; ++c)
            for (int k = 0; k < 64; ++k) expected[r * 64 + c] += square[r * 64 + k] * square[k * 64 + c];
    CHECK(fetched(out, 64 * 64) == expected);
    vector<int> numbers(5000);
    for (int i = 0; i < 5000; ++i) numbers[i] = i * i;
    auto* bins = zeros<unsigned>(64);
    histogram<<<5, 100>>>(sent(numbers), bins, 5000);
    unsigned squares = 0;
    for (int n : numbers) squares += (n & 63) == 1;
    CHECK(fetched(bins, 64)[1] == squares);
    int** heaps = zeros<int*>(8);
    heap<<<1, 8>>>(heaps);
    CHECK(fetched(heaps, 8)[7][3] == 7);
    // As a function: no macro's commas, and integers become the parameters' types.
    hipLaunchKernelGGL(sums<float, 3>, 1, dim3(4), 0, nullptr, out, sent(vector<float>{1, 2, 3, 4}), 10);
    CHECK((fetched(out, 4) == vector<float>{14, 15, 16, 17}));
    hipLaunchKernelGGL(named_without_arguments, 1, 4, 0, nullptr, out, 2.0f, [](float x) { return x * 3; });
    CHECK((fetched(out, 4) == vector<float>{6, 6, 6, 6}));
    hipLaunchKernelGGL(sums<float, 3>, 1, dim3(4), 0, nullptr, out, sent(vector<float>{1, 2, 3, 4}), 10);
    own_load<<<1, 1>>>(out);
    CHECK(fetched(out, 1)[0] == 16);
    vectors<<<1, 1>>>(out, reinterpret_cast<float4*>(sent(vector<float>{1, 2, 3, 4})));
    CHECK((fetched(out, 4) == vector<float>{37, 28, 5, 12}));
    CHECK(hipDeviceDisablePeerAccess(0) == hipErrorInvalidDevice && std::is_arithmetic_v<Cells>);
    thread other([&] { apply<<<2, 64>>>(in, out, 1000, Square()); });
    apply<<<2, 64>>>(in, out + 2000, 1000, Square());
    other.join();
    CHECK(fetched(out, 3000)[999] == 81 && fetched(out, 3000)[2999] == 81);
    RUN(hipGetLastError());
    return failures;
}
