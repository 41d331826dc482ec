// Kernels with nothing to say against: each is near a pattern that a hint is about.
#include <hip/hip_runtime.h>

__global__ void grid_stride(const float* a, float* b, size_t n) {
    for (size_t i = blockIdx.x * size_t(blockDim.x) + threadIdx.x; i < n; i += size_t(gridDim.x) * blockDim.x)
        b[i] = 2.0f * a[i] + 1.0f;
}

// Four floats per thread, and a tail that walks along them.
__global__ void vectors(const float* a, float* b, int n) {
    int i = 4 * (blockIdx.x * 256 + threadIdx.x);
    if (i + 4 <= n) {
        float4 v = *reinterpret_cast<const float4*>(a + i);
        *reinterpret_cast<float4*>(b + i) = make_float4(v.w, v.z, v.y, v.x);
        return;
    }
    for (; i < n; ++i) b[i] = a[i];
}

// All members of a structure are read, so that nothing of a line is for naught.
struct Particle {
    float x, y, z, mass;
};
__global__ void whole_structs(const Particle* p, float* energy, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) energy[i] = p[i].mass * (p[i].x * p[i].x + p[i].y * p[i].y + p[i].z * p[i].z);
}

__global__ void padded_transpose(const float* a, float* b, int n) {
    __shared__ float tile[32][33];
    tile[threadIdx.y][threadIdx.x] = a[(blockIdx.y * 32 + threadIdx.y) * n + blockIdx.x * 32 + threadIdx.x];
    __syncthreads();
    b[(blockIdx.x * 32 + threadIdx.y) * n + blockIdx.y * 32 + threadIdx.x] = tile[threadIdx.x][threadIdx.y];
}

__global__ void reduction(const float* a, float* sum, int n) {
    __shared__ float part[256];
    float own = 0.0f;
    for (int i = blockIdx.x * 256 + threadIdx.x; i < n; i += gridDim.x * 256) own += a[i];
    part[threadIdx.x] = own;
    for (int half = 128; half > 0; half /= 2) {
        __syncthreads();
        if (threadIdx.x < half) part[threadIdx.x] += part[threadIdx.x + half];
    }
    if (threadIdx.x == 0) atomicAdd(sum, part[0]);
}

// The wavefront walks along the row, not the thread.
__global__ void row_per_wavefront(const float* a, const float* x, float* y, int rows, int columns) {
    int row = blockIdx.x * (blockDim.x / 64) + threadIdx.x / 64, lane = threadIdx.x % 64;
    if (row >= rows) return;
    float sum = 0.0f;
    for (int column = lane; column < columns; column += 64) sum += a[row * columns + column] * x[column];
    for (int distance = 32; distance > 0; distance /= 2) sum += __shfl_down(sum, distance);
    if (lane == 0) y[row] = sum;
}

// Neighbours are a small stride apart that only the caller knows, and the window is another length.
__global__ void pool(const float* a, float* b, int n, int count, int window, int stride) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= count) return;
    float best = -1e30f;
    for (int k = 0; k < window; ++k) best = fmaxf(best, a[i * stride + k]);
    b[i] = best;
}

// Sums in double on purpose: the value lives across turns.
__global__ void exact_sum(const float* a, float* b, int n) {
    double sum = 0.0;
    for (int i = threadIdx.x; i < n; i += 256) sum += a[i];
    b[threadIdx.x] = float(sum);
}

__global__ void doubles_of_doubles(const double* a, double* b, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) b[i] = 1.5 * a[i];
}

// A quotient before the loop, and one by a constant in it.
__global__ void columns(const int* a, int* b, int width, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    int row = i / width, sum = 0;
    for (int k = 0; k < n; ++k) sum += a[k * 64 + (row + k) % 7];
    b[i] = sum;
}

// Local arrays that are indexed by constants once the loops are unrolled.
__global__ void small_array(const float* a, float* b) {
    float v[4];
    for (int i = 0; i < 4; ++i) v[i] = a[threadIdx.x + 64 * i];
    float s = 0.0f;
    for (int i = 0; i < 4; ++i) s = s * v[3 - i] + v[i];
    b[threadIdx.x] = s;
}

__global__ __launch_bounds__(256, 2) void stencil(const float* a, float* b, int n) {
    __shared__ float row[256 + 2];
    int i = blockIdx.x * 256 + threadIdx.x;
    row[threadIdx.x + 1] = i < n ? a[i] : 0.0f;
    if (threadIdx.x < 2) row[threadIdx.x * 257] = 0.0f;
    __syncthreads();
    if (i < n) b[i] = 0.25f * row[threadIdx.x] + 0.5f * row[threadIdx.x + 1] + 0.25f * row[threadIdx.x + 2];
}

extern "C" void solution(const float*, float*, size_t) {}
