// Kernels whose loops are turned inside out, whose blocks are run by one function, and what comes close to that.
#include <hip/hip_cooperative_groups.h>
#include <hip/hip_runtime.h>

static int any_number(int value) {
    static volatile int hidden;
    return hidden = value;
}

__global__ void grid_stride_sum(const float* a, float* sums, int n) {
    __shared__ float part[256];
    float sum = 0;
    for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += gridDim.x * blockDim.x) sum += a[i];
    part[threadIdx.x] = sum;
    __syncthreads();
    for (int half = blockDim.x / 2; half > 0; half /= 2) {
        if (threadIdx.x < half) part[threadIdx.x] += part[threadIdx.x + half];
        __syncthreads();
    }
    if (threadIdx.x == 0) sums[blockIdx.x] = part[0];
}
__global__ void wide_indices(const float* a, float* out, long long n) {
    long long last = -1;
    float sum = 0;
    for (long long i = threadIdx.x; i < n; i += blockDim.x) sum += a[i] * float(i % 3), last = i;
    __syncthreads();
    out[threadIdx.x] = sum + float(last);
}
// Threads leave the inner loop at different times, and the outer one changes what is the same for all.
__global__ void rows_of_any_length(const int* lengths, const float* a, float* out, int rounds) {
    __shared__ float shown[64];
    float sum = 0;
    for (int round = 0; round < rounds; ++round) {
        int length = lengths[threadIdx.x] + round;
        for (int k = 0; k < length; ++k) sum += a[k * 64 + threadIdx.x] + round;
        shown[threadIdx.x] = sum;
        __syncthreads();
        sum += shown[63 - threadIdx.x] / 1024;
        __syncthreads();
    }
    out[threadIdx.x] = sum;
}
__global__ void early_return(const float* a, float* out, int rows, int columns) {
    int column = blockIdx.x * blockDim.x + threadIdx.x;
    if (column >= columns) return;
    float sum = 0;
    for (int row = 0; row < rows; ++row) sum += a[row * columns + column];
    out[column] = sum;
}
__global__ void some_threads(const float* a, float* out, int n) {
    __shared__ float kept[128];
    kept[threadIdx.x] = 1;
    if (threadIdx.x % 3 == 0) {
        float sum = 0;
        for (int i = 0; i < n; ++i) sum += a[i * 128 + threadIdx.x];
        kept[threadIdx.x] = sum;
    }
    __syncthreads();
    out[threadIdx.x] = kept[127 - threadIdx.x];
}
__global__ void product(const float* a, const float* b, float* c, int n) {
    int row = blockIdx.y * blockDim.y + threadIdx.y, column = blockIdx.x * blockDim.x + threadIdx.x;
    if (row >= n || column >= n) return;
    float sum = 0;
    for (int k = 0; k < n; ++k) sum += a[row * n + k] * b[k * n + column];
    c[row * n + column] = sum;
}
// A loop that stops at a value, whose variables are read afterwards.
__global__ void first_above(const float* a, int* out, int n, float limit) {
    int i = 0, seen = 0;
    for (; i < n && a[i * blockDim.x + threadIdx.x] < limit; ++i) seen += i;
    __syncthreads();
    out[threadIdx.x] = i * 10000 + seen;
}
__global__ void first_of_each_row(int* out, int* count) {
    __shared__ int rows[8];
    if (threadIdx.x == 0) rows[threadIdx.y] = 10 * threadIdx.y;
    __syncthreads();
    int odd = __syncthreads_count((threadIdx.x + threadIdx.y) % 2);
    if (threadIdx.x < 3) rows[threadIdx.y] += threadIdx.x == 2 ? odd : 0;
    __syncthreads();
    out[threadIdx.y * blockDim.x + threadIdx.x] = rows[threadIdx.y];
    if (threadIdx.x == 0 && threadIdx.y == 0) *count = odd;
}
template <int Width> __global__ void shifts(const int* in, int* out) {
    int t = threadIdx.x, v = in[t], n = blockDim.x;
    for (int delta = Width / 2; delta > 0; delta /= 2) v += __shfl_down(v, delta, Width);
    out[t] = v;
    v = in[t];
    for (int delta = 1; delta < Width; delta *= 2) v += __shfl_up(v, delta, Width);
    out[n + t] = v;
    v = in[t];
    for (int bits = 1; bits < Width; bits *= 2) v = 3 * v - __shfl_xor(v, bits, Width);
    out[2 * n + t] = v;
    out[3 * n + t] = int(__shfl_down(double(in[t]) / 4, 3, Width) * 4) + __shfl_xor(in[t], 5, Width);
}

static std::vector<float> ramp(size_t count, int period) {
    std::vector<float> values(count);
    for (size_t i = 0; i < count; ++i) values[i] = float(int(i % period) - period / 2);
    return values;
}
template <class T> static void check_same(const std::vector<T>& got, const std::vector<T>& want, int line) {
    for (size_t i = 0; i < want.size(); ++i)
        if (got[i] != want[i]) {
            std::printf("line %d: element %zu is %g, and not %g\n", line, i, double(got[i]), double(want[i]));
            ++failures;
            return;
        }
}
#define SAME(got, want) check_same(got, want, __LINE__)

static void check_sums() {
    for (int n : {0, 1, 255, 256, 257, 4096, 5000, 12345}) {
        auto a = ramp(n + 1, 17);
        float *in = sent(a), *sums = zeros<float>(3);
        std::vector<float> want(3);
        for (int i = 0; i < n; ++i) want[i / 256 % 3] += a[i];
        grid_stride_sum<<<3, 256>>>(in, sums, n);
        SAME(fetched(sums, 3), want);
        RUN(hipMemset(sums, 0, 12));
        grid_stride_sum<<<3, any_number(256)>>>(in, sums, n);
        SAME(fetched(sums, 3), want);
        float* each = zeros<float>(100);
        std::vector<float> sum(100), all(100);
        for (int t = 0; t < 100; ++t) {
            int last = -1;
            for (int i = t; i < n; i += 100) sum[t] += a[i] * float(i % 3), last = i;
            all[t] = sum[t] + float(last);
        }
        wide_indices<<<1, 100>>>(in, each, n);
        SAME(fetched(each, 100), all);
    }
}

static void check_rows() {
    std::vector<int> lengths(64);
    for (int t = 0; t < 64; ++t) lengths[t] = t < 40 ? 5 : t % 9;
    auto a = ramp(64 * 16, 13);
    std::vector<float> sum(64);
    for (int round = 0; round < 4; ++round) {
        for (int t = 0; t < 64; ++t)
            for (int k = 0; k < lengths[t] + round; ++k) sum[t] += a[k * 64 + t] + round;
        auto shown = sum;
        for (int t = 0; t < 64; ++t) sum[t] += shown[63 - t] / 1024;
    }
    float* out = zeros<float>(64);
    rows_of_any_length<<<1, 64>>>(sent(lengths), sent(a), out, 4);
    SAME(fetched(out, 64), sum);

    auto b = ramp(128 * 9, 23);
    std::vector<float> some(128);
    for (int t = 0; t < 128; ++t) {
        some[127 - t] = 1;
        if (t % 3 == 0) some[127 - t] = 0;
        for (int i = 0; i < 9 && t % 3 == 0; ++i) some[127 - t] += b[i * 128 + t];
    }
    float* kept = zeros<float>(128);
    some_threads<<<1, 128>>>(sent(b), kept, 9);
    SAME(fetched(kept, 128), some);
}

static void check_columns() {
    for (int columns : {1, 63, 64, 200}) {
        auto a = ramp(columns * 11, 19);
        std::vector<float> want(columns);
        for (int i = 0; i < columns * 11; ++i) want[i % columns] += a[i];
        float* out = zeros<float>(columns);
        early_return<<<4, 64>>>(sent(a), out, 11, columns);
        SAME(fetched(out, columns), want);
    }
    for (int n : {1, 16, 37}) {
        auto a = ramp(n * n, 7), b = ramp(n * n, 11);
        std::vector<float> want(n * n);
        for (int i = 0; i < n * n; ++i)
            for (int k = 0; k < n; ++k) want[i] += a[i / n * n + k] * b[k * n + i % n];
        float* out = zeros<float>(n * n);
        product<<<dim3(3, 3), dim3(16, 16)>>>(sent(a), sent(b), out, n);
        SAME(fetched(out, n * n), want);
    }
    std::vector<float> a(50 * 20);
    for (int i = 0; i < 1000; ++i) a[i] = float(i / 50 + (i % 50) / 4);
    std::vector<int> want(50);
    for (int t = 0; t < 50; ++t) {
        int i = 0, seen = 0;
        for (; i < 20 && a[i * 50 + t] < 15; ++i) seen += i;
        want[t] = i * 10000 + seen;
    }
    int* out = zeros<int>(50);
    first_above<<<1, 50>>>(sent(a), out, 20, 15.0f);
    SAME(fetched(out, 50), want);
}

static void check_first_threads() {
    for (int width : {1, 2, 7, 64}) {
        int *out = zeros<int>(8 * width), *count = zeros<int>(1);
        if (width == 7) first_of_each_row<<<1, dim3(7, 8)>>>(out, count);
        else first_of_each_row<<<1, dim3(any_number(width), 8)>>>(out, count);
        int odd = fetched(count, 1)[0];
        CHECK(odd == 4 * width);
        auto got = fetched(out, 8 * width);
        for (int i = 0; i < 8 * width; ++i) CHECK(got[i] == i / width * 10 + (width > 2 ? odd : 0));
    }
}

template <int Width> static void check_shifts(int threads) {
    std::vector<int> in(threads), want(4 * threads), down, up, mixed;
    for (int t = 0; t < threads; ++t) in[t] = t * t % 101 - 50;
    // A lane that is not there shows 0, and one outside its part of the wavefront is the lane itself.
    auto lane_of = [&](const std::vector<int>& v, int t, int source) {
        bool inside = source >= t / Width * Width && source < t / Width * Width + Width;
        return !inside ? v[t] : source < threads ? v[source] : 0;
    };
    down = up = mixed = in;
    for (int delta = Width / 2; delta > 0; delta /= 2) {
        auto v = down;
        for (int t = 0; t < threads; ++t) down[t] += lane_of(v, t, t + delta);
    }
    for (int delta = 1; delta < Width; delta *= 2) {
        auto v = up;
        for (int t = 0; t < threads; ++t) up[t] += lane_of(v, t, t - delta);
    }
    for (int bits = 1; bits < Width; bits *= 2) {
        auto v = mixed;
        for (int t = 0; t < threads; ++t) mixed[t] = int(3u * unsigned(v[t]) - unsigned(lane_of(v, t, t ^ bits)));
    }
    for (int t = 0; t < threads; ++t) {
        want[t] = down[t], want[threads + t] = up[t], want[2 * threads + t] = mixed[t];
        want[3 * threads + t] = lane_of(in, t, t + 3) + lane_of(in, t, t ^ 5);
    }
    int* out = zeros<int>(4 * threads);
    if (threads == 128) shifts<Width><<<1, 128>>>(sent(in), out);
    else shifts<Width><<<1, any_number(threads)>>>(sent(in), out);
    SAME(fetched(out, 4 * threads), want);
}

int main() {
    check_sums();
    check_rows();
    check_columns();
    check_first_threads();
    for (int threads : {1, 64, 100, 128, 1000}) {
        check_shifts<8>(threads);
        check_shifts<32>(threads);
        check_shifts<64>(threads);
    }
    return failures;
}
