// Reductions, scans, sorts and histograms of whole arrays, by hipCUB's names. One block does each: they are for small
// parts of a submission, not for its time.
#pragma once

#include <algorithm>

#include "wavepool/groups/block_collectives.h"

namespace wp_collectives {

constexpr int kThreads = 256;

// The first call of each algorithm has no storage, and is told how much it needs.
inline bool asks_for_size(void* storage, size_t& bytes) {
    if (storage == nullptr) bytes = 1;
    return storage == nullptr;
}

template <class T, class In, class Out, class F>
__global__ void reduce_kernel(In in, Out out, long count, F combine, T initial) {
    __shared__ Places<T, kThreads> places;
    const int thread = threadIdx.x;
    T value = initial;
    bool is_first = true;
    for (long i = thread; i < count; i += kThreads) {
        value = is_first ? T(in[i]) : T(combine(value, T(in[i])));
        is_first = false;
    }
    T all = places.fold(thread, value, count < kThreads ? int(count) : kThreads, combine);
    if (thread == 0) out[0] = count > 0 ? T(combine(initial, all)) : initial;
}

template <class T, class In, class Out, class F>
__global__ void scan_kernel(In in, Out out, long count, F combine, T initial, bool has_initial, bool is_exclusive) {
    __shared__ Places<T, kThreads> places;
    const int thread = threadIdx.x;
    T carry = initial;
    bool has_carry = has_initial;
    for (long begin = 0; begin < count; begin += kThreads) {
        const long i = begin + thread;
        T value = i < count ? T(in[i]) : T(in[count - 1]);
        T own = places.inclusive(thread, value, combine);
        T before = thread > 0 ? places.at[thread - 1] : carry;
        T through = has_carry ? T(combine(carry, own)) : own;
        if (is_exclusive && thread > 0) through = T(combine(carry, before));
        if (is_exclusive && thread == 0) through = carry;
        if (i < count) out[i] = through;
        T last = places.at[kThreads - 1];
        carry = has_carry ? T(combine(carry, last)) : last;
        has_carry = true;
        __syncthreads();
    }
}

template <class T, class In> struct Indexed {
    In in;
    __device__ KeyValuePair<int, T> operator[](long i) const { return {int(i), T(in[i])}; }
};

struct DeviceReduce {
    template <class In, class Out, class F, class T>
    static hipError_t Reduce(void* storage, size_t& bytes, In in, Out out, long count, F combine, T initial,
                             hipStream_t stream = nullptr, bool = false) {
        if (asks_for_size(storage, bytes)) return hipSuccess;
        reduce_kernel<T><<<1, kThreads, 0, stream>>>(in, out, count, combine, initial);
        return hipGetLastError();
    }
    template <class In, class Out>
    static hipError_t Sum(void* storage, size_t& bytes, In in, Out out, long count, hipStream_t stream = nullptr, bool = false) {
        return Reduce(storage, bytes, in, out, count, wp_collectives::Sum(), element_of<Out>(0), stream);
    }
    template <class In, class Out>
    static hipError_t Max(void* storage, size_t& bytes, In in, Out out, long count, hipStream_t stream = nullptr, bool = false) {
        typedef element_of<In> T;
        return Reduce(storage, bytes, in, out, count, wp_collectives::Max(), std::numeric_limits<T>::lowest(), stream);
    }
    template <class In, class Out>
    static hipError_t Min(void* storage, size_t& bytes, In in, Out out, long count, hipStream_t stream = nullptr, bool = false) {
        typedef element_of<In> T;
        return Reduce(storage, bytes, in, out, count, wp_collectives::Min(), std::numeric_limits<T>::max(), stream);
    }
    template <class In, class Out>
    static hipError_t ArgMax(void* storage, size_t& bytes, In in, Out out, int count, hipStream_t stream = nullptr, bool = false) {
        typedef element_of<In> T;
        return Reduce(storage, bytes, Indexed<T, In>{in}, out, count, wp_collectives::ArgMax(),
                      KeyValuePair<int, T>(1, std::numeric_limits<T>::lowest()), stream);
    }
    template <class In, class Out>
    static hipError_t ArgMin(void* storage, size_t& bytes, In in, Out out, int count, hipStream_t stream = nullptr, bool = false) {
        typedef element_of<In> T;
        return Reduce(storage, bytes, Indexed<T, In>{in}, out, count, wp_collectives::ArgMin(),
                      KeyValuePair<int, T>(1, std::numeric_limits<T>::max()), stream);
    }
};

struct DeviceScan {
    template <class In, class Out, class F, class T>
    static hipError_t ExclusiveScan(void* storage, size_t& bytes, In in, Out out, F combine, T initial, long count,
                                    hipStream_t stream = nullptr, bool = false) {
        if (asks_for_size(storage, bytes)) return hipSuccess;
        scan_kernel<T><<<1, kThreads, 0, stream>>>(in, out, count, combine, initial, true, true);
        return hipGetLastError();
    }
    template <class In, class Out, class F>
    static hipError_t InclusiveScan(void* storage, size_t& bytes, In in, Out out, F combine, long count,
                                    hipStream_t stream = nullptr, bool = false) {
        if (asks_for_size(storage, bytes)) return hipSuccess;
        typedef element_of<In> T;
        scan_kernel<T><<<1, kThreads, 0, stream>>>(in, out, count, combine, T(), false, false);
        return hipGetLastError();
    }
    template <class In, class Out>
    static hipError_t ExclusiveSum(void* storage, size_t& bytes, In in, Out out, long count, hipStream_t stream = nullptr, bool = false) {
        return ExclusiveScan(storage, bytes, in, out, wp_collectives::Sum(), element_of<In>(0), count, stream);
    }
    template <class In, class Out>
    static hipError_t InclusiveSum(void* storage, size_t& bytes, In in, Out out, long count, hipStream_t stream = nullptr, bool = false) {
        return InclusiveScan(storage, bytes, in, out, wp_collectives::Sum(), count, stream);
    }
};

template <class T, class In, class Out, class Begins, class Ends, class F>
__global__ void segments_kernel(In in, Out out, int segments, Begins begins, Ends ends, F combine, T initial) {
    const int segment = blockIdx.x * blockDim.x + threadIdx.x;
    if (segment >= segments) return;
    T value = initial;
    for (long i = begins[segment]; i < long(ends[segment]); ++i) value = combine(value, T(in[i]));
    out[segment] = value;
}
struct DeviceSegmentedReduce {
    template <class In, class Out, class Begins, class Ends, class F, class T>
    static hipError_t Reduce(void* storage, size_t& bytes, In in, Out out, int segments, Begins begins, Ends ends,
                             F combine, T initial, hipStream_t stream = nullptr, bool = false) {
        if (asks_for_size(storage, bytes)) return hipSuccess;
        if (segments == 0) return hipSuccess;
        const int blocks = (segments + kThreads - 1) / kThreads;
        segments_kernel<T><<<blocks, kThreads, 0, stream>>>(in, out, segments, begins, ends, combine, initial);
        return hipGetLastError();
    }
    template <class In, class Out, class Begins, class Ends>
    static hipError_t Sum(void* storage, size_t& bytes, In in, Out out, int segments, Begins begins, Ends ends,
                          hipStream_t stream = nullptr, bool = false) {
        return Reduce(storage, bytes, in, out, segments, begins, ends, wp_collectives::Sum(), element_of<Out>(0), stream);
    }
    template <class In, class Out, class Begins, class Ends>
    static hipError_t Max(void* storage, size_t& bytes, In in, Out out, int segments, Begins begins, Ends ends,
                          hipStream_t stream = nullptr, bool = false) {
        return Reduce(storage, bytes, in, out, segments, begins, ends, wp_collectives::Max(),
                      std::numeric_limits<element_of<In>>::lowest(), stream);
    }
    template <class In, class Out, class Begins, class Ends>
    static hipError_t Min(void* storage, size_t& bytes, In in, Out out, int segments, Begins begins, Ends ends,
                          hipStream_t stream = nullptr, bool = false) {
        return Reduce(storage, bytes, in, out, segments, begins, ends, wp_collectives::Min(),
                      std::numeric_limits<element_of<In>>::max(), stream);
    }
};

template <class T, class Level>
__global__ void histogram_kernel(const T* in, long count, unsigned* bins, int bin_count, Level lower, Level upper) {
    for (long i = blockIdx.x * long(blockDim.x) + threadIdx.x; i < count; i += long(gridDim.x) * blockDim.x) {
        const Level value = Level(in[i]);
        if (!(value >= lower && value < upper)) continue;
        const int bin = int((value - lower) * bin_count / (upper - lower));
        atomicAdd(&bins[bin < bin_count ? bin : bin_count - 1], 1u);
    }
}
struct DeviceHistogram {
    template <class T, class Counter, class Level, class Count>
    static hipError_t HistogramEven(void* storage, size_t& bytes, const T* in, Counter* bins, int levels, Level lower,
                                    Level upper, Count count, hipStream_t stream = nullptr, bool = false) {
        static_assert(sizeof(Counter) == sizeof(unsigned) && std::is_integral<Counter>::value, "bins are 32-bit integers");
        if (asks_for_size(storage, bytes)) return hipSuccess;
        auto* counters = reinterpret_cast<unsigned*>(bins);
        (void)hipMemsetAsync(counters, 0, (levels - 1) * sizeof(unsigned), stream);
        histogram_kernel<<<64, kThreads, 0, stream>>>(in, long(count), counters, levels - 1, lower, upper);
        return hipGetLastError();
    }
};

}  // namespace wp_collectives
