// dim3 and the short vectors (float4, uchar2, ...) with their make_ functions and element-wise operators.
#pragma once

#include <type_traits>

#include "wavepool/qualifiers.h"

// HIP's own templates: float4 is HIP_vector_type<float, 4>, which is specialised below. rocWMMA specialises
// HIP_vector_base for types and sizes of its own.
template <class T, unsigned N> struct HIP_vector_base {
    typedef T Native_vec_ __attribute__((ext_vector_type(N)));
    Native_vec_ data;
    HIP_vector_base() = default;
    template <class... U, std::enable_if_t<sizeof...(U) == N && (std::is_same<U, T>::value && ...), int> = 0>
    __host__ __device__ constexpr HIP_vector_base(U... all) : data{all...} {}
};
template <class T, unsigned N> struct HIP_vector_type : HIP_vector_base<T, N> {
    typedef T value_type;
    using HIP_vector_base<T, N>::data;
    using typename HIP_vector_base<T, N>::Native_vec_;
    HIP_vector_type() = default;
    template <class... U, std::enable_if_t<sizeof...(U) == N && (std::is_convertible<U, T>::value && ...), int> = 0>
    __host__ __device__ constexpr HIP_vector_type(U... all) : HIP_vector_base<T, N>{static_cast<T>(all)...} {}
    template <class U, std::enable_if_t<(N > 1) && std::is_convertible<U, T>::value, int> = 0>
    __host__ __device__ explicit HIP_vector_type(U each) {
        for (unsigned at = 0; at < N; ++at) data[at] = static_cast<T>(each);
    }
#define WP_OPERATOR(OP)                                                                                     \
    __host__ __device__ HIP_vector_type& operator OP##=(const HIP_vector_type& b) noexcept {                \
        data OP##= b.data;                                                                                  \
        return *this;                                                                                       \
    }                                                                                                       \
    friend __host__ __device__ HIP_vector_type operator OP(HIP_vector_type a, const HIP_vector_type& b) {   \
        return a OP##= b;                                                                                   \
    }
    WP_OPERATOR(+) WP_OPERATOR(-) WP_OPERATOR(*) WP_OPERATOR(/) WP_OPERATOR(%)
    WP_OPERATOR(&) WP_OPERATOR(|) WP_OPERATOR(^) WP_OPERATOR(<<) WP_OPERATOR(>>)
#undef WP_OPERATOR
    __host__ __device__ HIP_vector_type& operator++() noexcept { return *this += HIP_vector_type(T(1)); }
    __host__ __device__ HIP_vector_type& operator--() noexcept { return *this -= HIP_vector_type(T(1)); }
    __host__ __device__ HIP_vector_type operator++(int) noexcept { HIP_vector_type old = *this; ++*this; return old; }
    __host__ __device__ HIP_vector_type operator--(int) noexcept { HIP_vector_type old = *this; --*this; return old; }
    __host__ __device__ HIP_vector_type operator-() const noexcept { HIP_vector_type a = *this; a.data = -a.data; return a; }
    __host__ __device__ HIP_vector_type operator~() const noexcept { HIP_vector_type a = *this; a.data = ~a.data; return a; }
    friend __host__ __device__ bool operator==(const HIP_vector_type& a, const HIP_vector_type& b) {
        for (unsigned at = 0; at < N; ++at)
            if (!(a.data[at] == b.data[at])) return false;
        return true;
    }
    friend __host__ __device__ bool operator!=(const HIP_vector_type& a, const HIP_vector_type& b) { return !(a == b); }
};

template <class V> struct wp_vector_size : std::integral_constant<int, 0> {};

// x, y, z and w are plain members, so `{1, 2}`, `(&v.x)[i]` and `reinterpret_cast<float4*>` work as on a GPU. `data` is
// all of them as one of clang's vectors, as HIP has it for vectors of 1, 2 and 4; `v.data[i] = x` works, too.
#define WP_DATA(T, N)                                                                                       \
    typedef T Native_vec_ __attribute__((ext_vector_type(N)));                                              \
    typedef Native_vec_ wp_data_ __attribute__((may_alias, aligned(alignof(T))));                           \
    __declspec(property(get = wp_get_data, put = wp_set_data)) wp_data_ data;                               \
    __host__ __device__ inline wp_data_& wp_get_data() { return *reinterpret_cast<wp_data_*>(this); }       \
    __host__ __device__ inline const wp_data_& wp_get_data() const {                                        \
        return *reinterpret_cast<const wp_data_*>(this);                                                    \
    }                                                                                                       \
    __host__ __device__ inline void wp_set_data(Native_vec_ all) { wp_get_data() = all; }
#define WP_VECTOR(T, NAME, ALIGN2, ALIGN4)                                                                  \
    template <> struct HIP_vector_type<T, 1> {                                                              \
        typedef T value_type;                                                                               \
        T x;                                                                                                \
        WP_DATA(T, 1)                                                                                       \
    };                                                                                                      \
    template <> struct alignas(ALIGN2) HIP_vector_type<T, 2> {                                              \
        typedef T value_type;                                                                               \
        T x, y;                                                                                             \
        WP_DATA(T, 2)                                                                                       \
    };                                                                                                      \
    template <> struct HIP_vector_type<T, 3> {                                                              \
        typedef T value_type;                                                                               \
        T x, y, z;                                                                                          \
    };                                                                                                      \
    template <> struct alignas(ALIGN4) HIP_vector_type<T, 4> {                                              \
        typedef T value_type;                                                                               \
        T x, y, z, w;                                                                                       \
        WP_DATA(T, 4)                                                                                       \
    };                                                                                                      \
    using NAME##1 = HIP_vector_type<T, 1>;                                                                  \
    using NAME##2 = HIP_vector_type<T, 2>;                                                                  \
    using NAME##3 = HIP_vector_type<T, 3>;                                                                  \
    using NAME##4 = HIP_vector_type<T, 4>;                                                                  \
    __host__ __device__ constexpr inline NAME##1 make_##NAME##1(T x) { return {x}; }                        \
    __host__ __device__ constexpr inline NAME##2 make_##NAME##2(T x, T y) { return {x, y}; }                \
    __host__ __device__ constexpr inline NAME##3 make_##NAME##3(T x, T y, T z) { return {x, y, z}; }        \
    __host__ __device__ constexpr inline NAME##4 make_##NAME##4(T x, T y, T z, T w) { return {x, y, z, w}; } \
    template <> struct wp_vector_size<NAME##1> : std::integral_constant<int, 1> {};                         \
    template <> struct wp_vector_size<NAME##2> : std::integral_constant<int, 2> {};                         \
    template <> struct wp_vector_size<NAME##3> : std::integral_constant<int, 3> {};                         \
    template <> struct wp_vector_size<NAME##4> : std::integral_constant<int, 4> {};

WP_VECTOR(char, char, 2, 4)
WP_VECTOR(unsigned char, uchar, 2, 4)
WP_VECTOR(short, short, 4, 8)
WP_VECTOR(unsigned short, ushort, 4, 8)
WP_VECTOR(int, int, 8, 16)
WP_VECTOR(unsigned int, uint, 8, 16)
WP_VECTOR(long, long, 16, 32)
WP_VECTOR(unsigned long, ulong, 16, 32)
WP_VECTOR(long long, longlong, 16, 32)
WP_VECTOR(unsigned long long, ulonglong, 16, 32)
WP_VECTOR(float, float, 8, 16)
WP_VECTOR(double, double, 16, 32)
#undef WP_VECTOR
#undef WP_DATA

template <class V> using wp_if_vector = std::enable_if_t<(wp_vector_size<V>::value > 0), int>;
// Not std::is_arithmetic: rocWMMA specialises it for types of its own, which the standard forbids after a first use.
template <class S> constexpr bool wp_is_number = __is_arithmetic(S) && !__is_same(S, _Float16) && !__is_same(S, __bf16);
template <class V, class S>
using wp_if_vector_and_scalar = std::enable_if_t<(wp_vector_size<V>::value > 0) && wp_is_number<S>, int>;

template <class V, wp_if_vector<V> = 0>
__host__ __device__ constexpr inline V wp_splat(typename V::value_type s) {
    if constexpr (wp_vector_size<V>::value == 1) return {s};
    else if constexpr (wp_vector_size<V>::value == 2) return {s, s};
    else if constexpr (wp_vector_size<V>::value == 3) return {s, s, s};
    else return {s, s, s, s};
}

// Templates, so that operators which user code defines for itself are preferred over these.
#define WP_VECTOR_OPERATOR(OP)                                                                        \
    template <class V, wp_if_vector<V> = 0>                                                           \
    __host__ __device__ constexpr inline V& operator OP##=(V& a, const V& b) {                        \
        a.x OP##= b.x;                                                                               \
        if constexpr (wp_vector_size<V>::value > 1) a.y OP##= b.y;                                   \
        if constexpr (wp_vector_size<V>::value > 2) a.z OP##= b.z;                                   \
        if constexpr (wp_vector_size<V>::value > 3) a.w OP##= b.w;                                   \
        return a;                                                                                     \
    }                                                                                                 \
    template <class V, class S, wp_if_vector_and_scalar<V, S> = 0>                                    \
    __host__ __device__ constexpr inline V& operator OP##=(V& a, S b) {                               \
        return a OP##= wp_splat<V>(static_cast<typename V::value_type>(b));                          \
    }                                                                                                 \
    template <class V, wp_if_vector<V> = 0>                                                           \
    __host__ __device__ constexpr inline V operator OP(V a, const V& b) { return a OP##= b; }        \
    template <class V, class S, wp_if_vector_and_scalar<V, S> = 0>                                    \
    __host__ __device__ constexpr inline V operator OP(V a, S b) { return a OP##= b; }               \
    template <class S, class V, wp_if_vector_and_scalar<V, S> = 0>                                    \
    __host__ __device__ constexpr inline V operator OP(S a, const V& b) {                             \
        V result = wp_splat<V>(static_cast<typename V::value_type>(a));                               \
        return result OP##= b;                                                                       \
    }

WP_VECTOR_OPERATOR(+)
WP_VECTOR_OPERATOR(-)
WP_VECTOR_OPERATOR(*)
WP_VECTOR_OPERATOR(/)
#undef WP_VECTOR_OPERATOR

template <class V, wp_if_vector<V> = 0>
__host__ __device__ constexpr inline V operator-(const V& a) {
    return wp_splat<V>(typename V::value_type(0)) - a;
}

template <class V, wp_if_vector<V> = 0>
__host__ __device__ constexpr inline bool operator==(const V& a, const V& b) {
    bool equal = a.x == b.x;
    if constexpr (wp_vector_size<V>::value > 1) equal = equal && a.y == b.y;
    if constexpr (wp_vector_size<V>::value > 2) equal = equal && a.z == b.z;
    if constexpr (wp_vector_size<V>::value > 3) equal = equal && a.w == b.w;
    return equal;
}

template <class V, wp_if_vector<V> = 0>
__host__ __device__ constexpr inline bool operator!=(const V& a, const V& b) {
    return !(a == b);
}

struct dim3 {
    unsigned int x, y, z;
    __host__ __device__ constexpr dim3(unsigned int x_ = 1, unsigned int y_ = 1, unsigned int z_ = 1)
        : x(x_), y(y_), z(z_) {}
    __host__ __device__ constexpr dim3(uint3 v) : x(v.x), y(v.y), z(v.z) {}
    __host__ __device__ constexpr operator uint3() const { return {x, y, z}; }
};
