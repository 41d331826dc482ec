// Kernels and the same algorithms as plain C++ loops, both on one core, timed by processor time.
#include <hip/hip_runtime.h>
#include <time.h>

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <vector>

static double seconds() {
    timespec now;
    clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &now);
    return now.tv_sec + now.tv_nsec * 1e-9;
}

// The best of several runs: the cost of the code without disturbances.
template <class F> static double best_of(F run) {
    double best = 1e9;
    for (int i = 0; i < 7; ++i) {
        double begin = seconds();
        run();
        best = std::min(best, seconds() - begin);
    }
    return best;
}

static void report(const char* name, double goal, double kernel, double loop, double error) {
    std::printf("%s %g %.9f %.9f %g\n", name, goal, kernel, loop, error);
}

constexpr int kElements = 1 << 22;
constexpr int kSide = 512;
constexpr int kTile = 16;

__global__ void add_kernel(const float* a, const float* b, float* c, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) c[i] = a[i] + b[i];
}
static void __attribute__((noinline)) add_loop(const float* a, const float* b, float* c, int n) {
    for (int i = 0; i < n; ++i) c[i] = a[i] + b[i];
}

__global__ void leaky_kernel(const float* a, float* c, float slope, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) c[i] = a[i] > 0 ? a[i] : slope * a[i];
}
static void __attribute__((noinline)) leaky_loop(const float* a, float* c, float slope, int n) {
    for (int i = 0; i < n; ++i) c[i] = a[i] > 0 ? a[i] : slope * a[i];
}

__global__ void sigmoid_kernel(const float* a, float* c, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) c[i] = 1.0f / (1.0f + expf(-a[i]));
}
static void __attribute__((noinline)) sigmoid_loop(const float* a, float* c, int n) {
    for (int i = 0; i < n; ++i) c[i] = 1.0f / (1.0f + expf(-a[i]));
}

__global__ void naive_matmul_kernel(const float* a, const float* b, float* c, int n) {
    int row = blockIdx.y * blockDim.y + threadIdx.y, column = blockIdx.x * blockDim.x + threadIdx.x;
    if (row >= n || column >= n) return;
    float sum = 0;
    for (int k = 0; k < n; ++k) sum += a[row * n + k] * b[k * n + column];
    c[row * n + column] = sum;
}
static void __attribute__((noinline)) naive_matmul_loop(const float* a, const float* b, float* c, int n) {
    for (int row = 0; row < n; ++row)
        for (int column = 0; column < n; ++column) {
            float sum = 0;
            for (int k = 0; k < n; ++k) sum += a[row * n + k] * b[k * n + column];
            c[row * n + column] = sum;
        }
}

__global__ void tiled_matmul_kernel(const float* a, const float* b, float* c, int n) {
    __shared__ float as[kTile][kTile], bs[kTile][kTile];
    int row = blockIdx.y * kTile + threadIdx.y, column = blockIdx.x * kTile + threadIdx.x;
    float sum = 0;
    for (int t = 0; t < n; t += kTile) {
        as[threadIdx.y][threadIdx.x] = a[row * n + t + threadIdx.x];
        bs[threadIdx.y][threadIdx.x] = b[(t + threadIdx.y) * n + column];
        __syncthreads();
        for (int k = 0; k < kTile; ++k) sum += as[threadIdx.y][k] * bs[k][threadIdx.x];
        __syncthreads();
    }
    c[row * n + column] = sum;
}
static void tile_product(const float (&as)[kTile][kTile], const float (&bs)[kTile][kTile], float (&sum)[kTile][kTile]) {
    for (int y = 0; y < kTile; ++y)
        for (int k = 0; k < kTile; ++k)
            for (int x = 0; x < kTile; ++x) sum[y][x] += as[y][k] * bs[k][x];
}
typedef float Floats __attribute__((ext_vector_type(4)));
typedef _Float16 Halves __attribute__((ext_vector_type(4)));

// One wavefront for each tile of 16x16, by the matrix instructions of the MI300X.
__global__ void mfma_matmul_kernel(const float* a, const float* b, float* c, int n) {
    int lane = threadIdx.x % 16, quarter = threadIdx.x / 16, row = blockIdx.y * 16, column = blockIdx.x * 16;
    Floats sum = {};
    for (int k = 0; k < n; k += 4)
        sum = __builtin_amdgcn_mfma_f32_16x16x4f32(a[(row + lane) * n + k + quarter],
                                                   b[(k + quarter) * n + column + lane], sum, 0, 0, 0);
    for (int i = 0; i < 4; ++i) c[(row + quarter * 4 + i) * n + column + lane] = sum[i];
}
// 16 tiles for each wavefront, as in kernels that people write for speed. The numbers fit into halves.
__global__ void mfma_matmul_halves_kernel(const _Float16* a, const _Float16* b, float* c, int n) {
    int lane = threadIdx.x % 16, quarter = threadIdx.x / 16, row = blockIdx.y * 64, column = blockIdx.x * 64;
    Floats sums[4][4] = {};
    for (int k = quarter * 4; k < n; k += 16) {
        Halves left[4], right[4];
        for (int i = 0; i < 4; ++i) left[i] = *reinterpret_cast<const Halves*>(&a[(row + i * 16 + lane) * n + k]);
        for (int j = 0; j < 4; ++j)
            for (int e = 0; e < 4; ++e) right[j][e] = b[(k + e) * n + column + j * 16 + lane];
        for (int i = 0; i < 4; ++i)
            for (int j = 0; j < 4; ++j)
                sums[i][j] = __builtin_amdgcn_mfma_f32_16x16x16f16(left[i], right[j], sums[i][j], 0, 0, 0);
    }
    for (int i = 0; i < 4; ++i)
        for (int j = 0; j < 4; ++j)
            for (int e = 0; e < 4; ++e) c[(row + i * 16 + quarter * 4 + e) * n + column + j * 16 + lane] = sums[i][j][e];
}
static void __attribute__((noinline)) tiled_matmul_loop(const float* a, const float* b, float* c, int n) {
    for (int row = 0; row < n; row += kTile)
        for (int column = 0; column < n; column += kTile) {
            float as[kTile][kTile], bs[kTile][kTile], sum[kTile][kTile] = {};
            for (int t = 0; t < n; t += kTile) {
                for (int y = 0; y < kTile; ++y)
                    for (int x = 0; x < kTile; ++x) {
                        as[y][x] = a[(row + y) * n + t + x];
                        bs[y][x] = b[(t + y) * n + column + x];
                    }
                tile_product(as, bs, sum);
            }
            for (int y = 0; y < kTile; ++y)
                for (int x = 0; x < kTile; ++x) c[(row + y) * n + column + x] = sum[y][x];
        }
}

__global__ void shared_reduction_kernel(const float* a, float* sums, int n) {
    __shared__ float part[256];
    float sum = 0;
    for (int i = blockIdx.x * 256 + threadIdx.x; i < n; i += gridDim.x * 256) sum += a[i];
    part[threadIdx.x] = sum;
    __syncthreads();
    for (int half = 128; half > 0; half /= 2) {
        if (threadIdx.x < half) part[threadIdx.x] += part[threadIdx.x + half];
        __syncthreads();
    }
    if (threadIdx.x == 0) sums[blockIdx.x] = part[0];
}
__global__ void shuffle_reduction_kernel(const float* a, float* sums, int n) {
    __shared__ float part[4];
    float sum = 0;
    for (int i = blockIdx.x * 256 + threadIdx.x; i < n; i += gridDim.x * 256) sum += a[i];
    for (int delta = 32; delta > 0; delta /= 2) sum += __shfl_down(sum, delta);
    if (threadIdx.x % 64 == 0) part[threadIdx.x / 64] = sum;
    __syncthreads();
    if (threadIdx.x == 0) sums[blockIdx.x] = part[0] + part[1] + part[2] + part[3];
}
// The tree that both kernels compute: 256 partial sums per block, then halves.
static void __attribute__((noinline)) reduction_loop(const float* a, float* sums, int n, int blocks) {
    for (int block = 0; block < blocks; ++block) {
        float part[256] = {};
        for (int begin = block * 256; begin < n; begin += blocks * 256)
            for (int i = 0; i < 256; ++i) part[i] += a[begin + i];
        for (int half = 128; half > 0; half /= 2)
            for (int i = 0; i < half; ++i) part[i] += part[i + half];
        sums[block] = part[0];
    }
}

static double difference(const float* a, const float* b, int n) {
    double worst = 0;
    for (int i = 0; i < n; ++i) worst = std::max(worst, std::fabs(double(a[i]) - b[i]) / (1 + std::fabs(double(b[i]))));
    return worst;
}

int main() {
    float *a, *b, *c;
    hipMalloc(&a, kElements * sizeof(float));
    hipMalloc(&b, kElements * sizeof(float));
    hipMalloc(&c, kElements * sizeof(float));
    std::vector<float> expected(kElements);
    float* d = expected.data();
    for (int i = 0; i < kElements; ++i) a[i] = float(i % 17 - 8) / 8, b[i] = float(i % 23 - 11) / 11;
    const int blocks = kElements / 256;
    const dim3 grid(kSide / kTile, kSide / kTile), tile(kTile, kTile);

    double kernel = best_of([&] { add_kernel<<<blocks, 256>>>(a, b, c, kElements); });
    double loop = best_of([&] { add_loop(a, b, d, kElements); });
    report("vector-addition", 0.5, kernel, loop, difference(c, d, kElements));
    kernel = best_of([&] { leaky_kernel<<<blocks, 256>>>(a, c, 0.1f, kElements); });
    loop = best_of([&] { leaky_loop(a, d, 0.1f, kElements); });
    report("leaky-relu", 0.5, kernel, loop, difference(c, d, kElements));
    kernel = best_of([&] { sigmoid_kernel<<<blocks, 256>>>(a, c, kElements); });
    loop = best_of([&] { sigmoid_loop(a, d, kElements); });
    report("sigmoid", 0.5, kernel, loop, difference(c, d, kElements));
    kernel = best_of([&] { naive_matmul_kernel<<<grid, tile>>>(a, b, c, kSide); });
    loop = best_of([&] { naive_matmul_loop(a, b, d, kSide); });
    report("matmul-naive", 0.5, kernel, loop, difference(c, d, kSide * kSide));
    kernel = best_of([&] { tiled_matmul_kernel<<<grid, tile>>>(a, b, c, kSide); });
    loop = best_of([&] { tiled_matmul_loop(a, b, d, kSide); });
    report("matmul-tiled", 0.2, kernel, loop, difference(c, d, kSide * kSide));
    kernel = best_of([&] { mfma_matmul_kernel<<<dim3(kSide / 16, kSide / 16), 64>>>(a, b, c, kSide); });
    report("matmul-mfma", 0.05, kernel, loop, difference(c, d, kSide * kSide));
    _Float16 *halves_a, *halves_b;
    hipMalloc(&halves_a, kSide * kSide * sizeof(_Float16));
    hipMalloc(&halves_b, kSide * kSide * sizeof(_Float16));
    for (int i = 0; i < kSide * kSide; ++i)
        halves_a[i] = _Float16(a[i] = float(i % 17 - 8) / 8), halves_b[i] = _Float16(b[i] = float(i % 23 - 11) / 16);
    tiled_matmul_loop(a, b, d, kSide);
    kernel = best_of([&] { mfma_matmul_halves_kernel<<<dim3(kSide / 64, kSide / 64), 64>>>(halves_a, halves_b, c, kSide); });
    report("matmul-mfma-halves", 0.1, kernel, loop, difference(c, d, kSide * kSide));
    for (int count : {1024, 16384}) {
        kernel = best_of([&] { shared_reduction_kernel<<<count, 256>>>(a, c, kElements); });
        loop = best_of([&] { reduction_loop(a, d, kElements, count); });
        report(count == 1024 ? "reduction-shared" : "reduction-shared-short", 0.2, kernel, loop, difference(c, d, count));
        kernel = best_of([&] { shuffle_reduction_kernel<<<count, 256>>>(a, c, kElements); });
        report(count == 1024 ? "reduction-shuffle" : "reduction-shuffle-short", 0.1, kernel, loop, difference(c, d, count));
    }
}
