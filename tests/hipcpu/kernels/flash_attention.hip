// Attention as people write it: tiles of K and V in shared memory, one row for each 32 lanes, 160 shuffles once the
// loops are unrolled.
#include <hip/hip_runtime.h>

constexpr int kRows = 16, kColumns = 32, kLanes = 32, kSize = 64, kEach = kSize / kLanes;

__global__ void attention(const float* __restrict__ q, const float* __restrict__ k, const float* __restrict__ v,
                          float* __restrict__ out, int n, float scale) {
    __shared__ float keys[kColumns][kSize];
    __shared__ float values[kColumns][kSize];
    const int lane = threadIdx.x % kLanes;
    const int row = blockIdx.x * kRows + threadIdx.x / kLanes;
    float query[kEach], sum[kEach];
#pragma unroll
    for (int i = 0; i < kEach; ++i) {
        query[i] = row < n ? q[row * kSize + i * kLanes + lane] * scale : 0.0f;
        sum[i] = 0.0f;
    }
    float most = -INFINITY, total = 0.0f;
    for (int start = 0; start < n; start += kColumns) {
        for (int i = threadIdx.x; i < kColumns * kSize; i += blockDim.x) {
            int r = i / kSize, c = i % kSize;
            keys[r][c] = start + r < n ? k[(start + r) * kSize + c] : 0.0f;
            values[r][c] = start + r < n ? v[(start + r) * kSize + c] : 0.0f;
        }
        __syncthreads();
        float score[kColumns];
#pragma unroll
        for (int j = 0; j < kColumns; ++j) {
            float product = 0.0f;
#pragma unroll
            for (int i = 0; i < kEach; ++i) product += query[i] * keys[j][i * kLanes + lane];
#pragma unroll
            for (int bits = kLanes / 2; bits > 0; bits /= 2) product += __shfl_xor(product, bits, kLanes);
            score[j] = start + j < n ? product : -INFINITY;
        }
        float now = most;
#pragma unroll
        for (int j = 0; j < kColumns; ++j) now = fmaxf(now, score[j]);
        float correction = expf(most - now);
        total *= correction;
#pragma unroll
        for (int i = 0; i < kEach; ++i) sum[i] *= correction;
#pragma unroll
        for (int j = 0; j < kColumns; ++j) {
            float weight = expf(score[j] - now);
            total += weight;
#pragma unroll
            for (int i = 0; i < kEach; ++i) sum[i] += weight * values[j][i * kLanes + lane];
        }
        most = now;
        __syncthreads();
    }
    if (row < n) {
#pragma unroll
        for (int i = 0; i < kEach; ++i) out[row * kSize + i * kLanes + lane] = sum[i] / total;
    }
}

int main() {
    const int n = 70;
    std::vector<float> q(n * kSize), k(q), v(q);
    unsigned state = 1;
    for (std::vector<float>* each : {&q, &k, &v})
        for (float& x : *each) x = float((state = state * 1664525u + 1013904223u) >> 16) / 65536.0f - 0.5f;
    float* out = zeros<float>(q.size());
    attention<<<(n + kRows - 1) / kRows, kRows * kLanes>>>(sent(q), sent(k), sent(v), out, n, 0.125f);
    std::vector<float> got = fetched(out, q.size());
    for (int row = 0; row < n; ++row) {
        std::vector<double> weight(n);
        double total = 0;
        for (int j = 0; j < n; ++j) {
            double product = 0;
            for (int i = 0; i < kSize; ++i) product += double(q[row * kSize + i]) * k[j * kSize + i];
            total += weight[j] = std::exp(product * 0.125);
        }
        for (int i = 0; i < kSize; ++i) {
            double wanted = 0;
            for (int j = 0; j < n; ++j) wanted += weight[j] / total * v[j * kSize + i];
            CHECK(std::fabs(got[row * kSize + i] - wanted) < 1e-5);
        }
    }
    return failures != 0;
}
