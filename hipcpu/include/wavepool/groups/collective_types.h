// What hipCUB's names are made of on this device: operators, pairs, iterators. Its algorithms are plain ones of our own.
#pragma once

#include <cstddef>
#include <iterator>
#include <type_traits>

#include "hip/hip_runtime.h"

namespace wp_collectives {

#define WP_FN __host__ __device__ __forceinline__
struct Sum {
    template <class A, class B> WP_FN auto operator()(const A& a, const B& b) const { return a + b; }
};
struct Max {
    template <class T> WP_FN T operator()(const T& a, const T& b) const { return a < b ? b : a; }
};
struct Min {
    template <class T> WP_FN T operator()(const T& a, const T& b) const { return b < a ? b : a; }
};
struct Equality {
    template <class A, class B> WP_FN bool operator()(const A& a, const B& b) const { return a == b; }
};

template <class K, class V> struct KeyValuePair {
    typedef K Key;
    typedef V Value;
    K key;
    V value;
    KeyValuePair() = default;
    WP_FN KeyValuePair(const K& k, const V& v) : key(k), value(v) {}
    WP_FN bool operator!=(const KeyValuePair& other) const { return key != other.key || value != other.value; }
};
// Among equal values the pair with the smaller key wins.
struct ArgMax {
    template <class K, class V>
    WP_FN KeyValuePair<K, V> operator()(const KeyValuePair<K, V>& a, const KeyValuePair<K, V>& b) const {
        return b.value > a.value || (a.value == b.value && b.key < a.key) ? b : a;
    }
};
struct ArgMin {
    template <class K, class V>
    WP_FN KeyValuePair<K, V> operator()(const KeyValuePair<K, V>& a, const KeyValuePair<K, V>& b) const {
        return b.value < a.value || (a.value == b.value && b.key < a.key) ? b : a;
    }
};

template <class T> struct CountingInputIterator {
    typedef T value_type;
    T first;
    WP_FN explicit CountingInputIterator(T begin) : first(begin) {}
    WP_FN T operator[](ptrdiff_t i) const { return first + T(i); }
    WP_FN T operator*() const { return first; }
    WP_FN CountingInputIterator operator+(ptrdiff_t i) const { return CountingInputIterator(first + T(i)); }
};
template <class T, class Offset = ptrdiff_t> struct ConstantInputIterator {
    typedef T value_type;
    T value;
    WP_FN explicit ConstantInputIterator(T v, Offset = 0) : value(v) {}
    WP_FN T operator[](ptrdiff_t) const { return value; }
    WP_FN T operator*() const { return value; }
    WP_FN ConstantInputIterator operator+(ptrdiff_t) const { return *this; }
};
template <class T, class F, class In, class Offset = ptrdiff_t> struct TransformInputIterator {
    typedef T value_type;
    In input;
    F function;
    WP_FN TransformInputIterator(In in, F f) : input(in), function(f) {}
    WP_FN T operator[](ptrdiff_t i) const { return function(input[i]); }
    WP_FN T operator*() const { return function(*input); }
    WP_FN TransformInputIterator operator+(ptrdiff_t i) const { return {input + i, function}; }
};
#undef WP_FN

template <class I> using element_of = std::decay_t<decltype(std::declval<I>()[0])>;

template <class T> struct DoubleBuffer {
    T* d_buffers[2];
    int selector = 0;
    __host__ __device__ DoubleBuffer() : d_buffers{nullptr, nullptr} {}
    __host__ __device__ DoubleBuffer(T* current, T* alternate) : d_buffers{current, alternate} {}
    __host__ __device__ T* Current() { return d_buffers[selector]; }
    __host__ __device__ T* Alternate() { return d_buffers[selector ^ 1]; }
};

}  // namespace wp_collectives
