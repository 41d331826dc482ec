#pragma once
#include <cuda_fp16.h>

#include <type_traits>

#ifdef __CUDACC__

// Clang's type of 16 bits, for which nvcc makes no code: each operation, with an integer too, is done in float and rounded,
// as the type's own would be; with a float or a double it is done in that. It is no constant, and `?:` with another type
// needs a cast, which it does not with clang.
struct wavepool_float16 {
  __half_raw bits;

  template <typename A, typename B>
  static constexpr bool is_one_of_ours = std::is_same_v<A, wavepool_float16> || std::is_same_v<B, wavepool_float16>;
  template <typename T>
  static constexpr bool is_half_or_integer = std::is_same_v<T, wavepool_float16> || std::is_integral_v<T>;

  wavepool_float16() = default;
  template <typename T, std::enable_if_t<std::is_arithmetic_v<T>, int> = 0>
  __host__ __device__ wavepool_float16(T value) : bits(__float2half_rn(static_cast<float>(value))) {}
  __host__ __device__ wavepool_float16(__half value) : bits(value) {}
  __host__ __device__ operator float() const { return __half2float(__half(bits)); }
  __host__ __device__ explicit operator __half() const { return __half(bits); }
  __host__ __device__ wavepool_float16 operator-() const { return -static_cast<float>(*this); }
#define WAVEPOOL_OPERATOR(op)                                                                                     \
  template <typename A, typename B,                                                                               \
            std::enable_if_t<is_one_of_ours<A, B> && is_half_or_integer<A> && is_half_or_integer<B>, int> = 0>     \
  friend __host__ __device__ wavepool_float16 operator op(A left, B right) {                                      \
    return static_cast<float>(left) op static_cast<float>(right);                                                 \
  }                                                                                                               \
  template <typename B>                                                                                           \
  __host__ __device__ wavepool_float16& operator op##=(B right) {                                                 \
    return *this = wavepool_float16(*this op right);                                                              \
  }
  WAVEPOOL_OPERATOR(+)
  WAVEPOOL_OPERATOR(-)
  WAVEPOOL_OPERATOR(*)
  WAVEPOOL_OPERATOR(/)
#undef WAVEPOOL_OPERATOR
};
#define _Float16 wavepool_float16

#endif
