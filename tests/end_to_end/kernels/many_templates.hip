#include <hip/hip_runtime.h>

#include <algorithm>
#include <map>
#include <regex>
#include <string>

// Takes seconds to compile, so that a test can act meanwhile.
template <int N> struct Chain {
    static float fold(float x) { return Chain<N - 1>::fold(x * 1.0001f + N); }
};
template <> struct Chain<0> {
    static float fold(float x) { return x; }
};

extern "C" void solution(const float* input, float alpha, float* output, size_t n, size_t m) {
    std::map<std::string, std::regex> table;
    for (int i = 0; i < 3; i++) table.emplace(std::to_string(i), std::regex("a+" + std::to_string(i)));
    output[0] = Chain<700>::fold(input[0]) + alpha + (float)table.size() + (float)(n * m);
}
