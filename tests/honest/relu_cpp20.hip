// problem: relu
// Concepts, a lambda for the device made by a function, constexpr tables, [[likely]].
#include <hip/hip_runtime.h>
#include <concepts>
#include <span>
#include <array>
#include <bit>
template <typename F>
concept Unary = requires(F f, float x) {
    { f(x) } -> std::convertible_to<float>;
};
constexpr std::array<float, 4> table = [] {
    std::array<float, 4> t{};
    for (int i = 0; i < 4; ++i) t[i] = i * 0.f;
    return t;
}();
template <Unary F>
__global__ void map(const float* in, float* out, size_t n, F f) {
    if (size_t i = blockIdx.x * (size_t)blockDim.x + threadIdx.x; i < n) [[likely]]
        out[i] = f(in[i]) + table[i & 3] + std::bit_cast<float>(0u);
}
auto make_relu(float lo) {
    return [lo] __device__(float x) { return std::max(x, lo); };
}
extern "C" void solution(const float* input, float* output, size_t n, size_t m) {
    map<<<(n * m + 255) / 256, 256>>>(input, output, n * m, make_relu(0.f));
}
