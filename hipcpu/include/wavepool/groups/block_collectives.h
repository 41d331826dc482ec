// Reductions and scans of a wavefront's lanes and of a block's threads, by hipCUB's names.
#pragma once

#include "wavepool/groups/collective_types.h"

namespace wp_collectives {

#define WP_FN __device__ __forceinline__

template <class T, int Width> class WarpReduce {
public:
    struct TempStorage {};
    WP_FN explicit WarpReduce(TempStorage&) {}
    template <class F> WP_FN T Reduce(T value, F combine, int valid = Width) {
        const int lane = __lane_id() % Width;
        for (int distance = 1; distance < Width; distance *= 2) {
            T other = __shfl_down(value, distance, Width);
            if (lane + distance < valid && lane + distance < Width) value = combine(value, other);
        }
        return value;
    }
    WP_FN T Sum(T value, int valid = Width) { return Reduce(value, wp_collectives::Sum(), valid); }
};

template <class T, int Width> class WarpScan {
public:
    struct TempStorage {};
    WP_FN explicit WarpScan(TempStorage&) {}
    template <class F> WP_FN void InclusiveScan(T value, T& result, F combine) {
        const int lane = __lane_id() % Width;
        for (int distance = 1; distance < Width; distance *= 2) {
            T other = __shfl_up(value, distance, Width);
            if (lane >= distance) value = combine(other, value);
        }
        result = value;
    }
    template <class F> WP_FN void ExclusiveScan(T value, T& result, T initial, F combine) {
        T inclusive;
        InclusiveScan(value, inclusive, combine);
        T before = __shfl_up(inclusive, 1, Width);
        result = __lane_id() % Width == 0 ? initial : combine(initial, before);
    }
    WP_FN void InclusiveSum(T value, T& result) { InclusiveScan(value, result, wp_collectives::Sum()); }
    WP_FN void InclusiveSum(T value, T& result, T& total) {
        InclusiveSum(value, result);
        total = __shfl(result, Width - 1, Width);
    }
    WP_FN void ExclusiveSum(T value, T& result) { ExclusiveScan(value, result, T(0), wp_collectives::Sum()); }
};

// One place a thread; `fold` leaves the combination of the first `valid` places in the first one.
template <class T, int Threads> struct Places {
    T at[Threads];
    template <class F> __device__ T fold(int thread, T value, int valid, F combine) {
        __syncthreads();
        at[thread] = value;
        for (int distance = 1; distance < Threads; distance *= 2) {
            __syncthreads();
            if (thread % (2 * distance) == 0 && thread + distance < valid && thread + distance < Threads)
                at[thread] = combine(at[thread], at[thread + distance]);
        }
        __syncthreads();
        return at[0];
    }
    template <class F> __device__ T inclusive(int thread, T value, F combine) {
        __syncthreads();
        at[thread] = value;
        for (int distance = 1; distance < Threads; distance *= 2) {
            __syncthreads();
            T before = thread >= distance ? at[thread - distance] : value;
            __syncthreads();
            if (thread >= distance) at[thread] = value = combine(before, value);
        }
        __syncthreads();
        return value;
    }
};
WP_FN int thread_of_block() { return (threadIdx.z * blockDim.y + threadIdx.y) * blockDim.x + threadIdx.x; }

template <class T, int Threads> class BlockReduce {
public:
    typedef Places<T, Threads> TempStorage;
    WP_FN BlockReduce() : places_(own()) {}
    WP_FN explicit BlockReduce(TempStorage& storage) : places_(storage) {}
    template <class F> WP_FN T Reduce(T value, F combine, int valid = Threads) {
        return places_.fold(thread_of_block(), value, valid, combine);
    }
    template <int Items, class F> WP_FN T Reduce(T (&values)[Items], F combine) {
        T value = values[0];
        for (int i = 1; i < Items; ++i) value = combine(value, values[i]);
        return Reduce(value, combine);
    }
    WP_FN T Sum(T value, int valid = Threads) { return Reduce(value, wp_collectives::Sum(), valid); }
    template <int Items> WP_FN T Sum(T (&values)[Items]) { return Reduce(values, wp_collectives::Sum()); }

private:
    static WP_FN TempStorage& own() {
        __shared__ TempStorage storage;
        return storage;
    }
    TempStorage& places_;
};

template <class T, int Threads> class BlockScan {
public:
    typedef Places<T, Threads> TempStorage;
    WP_FN explicit BlockScan(TempStorage& storage) : places_(storage) {}
    template <class F> WP_FN void InclusiveScan(T value, T& result, F combine) {
        result = places_.inclusive(thread_of_block(), value, combine);
    }
    template <class F> WP_FN void InclusiveScan(T value, T& result, F combine, T& total) {
        InclusiveScan(value, result, combine);
        total = places_.at[Threads - 1];
    }
    template <class F> WP_FN void ExclusiveScan(T value, T& result, T initial, F combine) {
        InclusiveScan(value, result, combine);
        const int thread = thread_of_block();
        result = thread == 0 ? initial : combine(initial, places_.at[thread - 1]);
    }
    template <class F> WP_FN void ExclusiveScan(T value, T& result, T initial, F combine, T& total) {
        ExclusiveScan(value, result, initial, combine);
        total = places_.at[Threads - 1];
    }
    WP_FN void InclusiveSum(T value, T& result) { InclusiveScan(value, result, wp_collectives::Sum()); }
    WP_FN void InclusiveSum(T value, T& result, T& total) { InclusiveScan(value, result, wp_collectives::Sum(), total); }
    WP_FN void ExclusiveSum(T value, T& result) { ExclusiveScan(value, result, T(0), wp_collectives::Sum()); }
    WP_FN void ExclusiveSum(T value, T& result, T& total) {
        ExclusiveScan(value, result, T(0), wp_collectives::Sum(), total);
    }
    template <int Items, class F> WP_FN void InclusiveScan(T (&values)[Items], T (&results)[Items], F combine) {
        T total = values[0], before;
        for (int i = 1; i < Items; ++i) total = combine(total, values[i]);
        InclusiveScan(total, before, combine);
        const int thread = thread_of_block();
        T running = thread == 0 ? values[0] : combine(places_.at[thread - 1], values[0]);
        results[0] = running;
        for (int i = 1; i < Items; ++i) results[i] = running = combine(running, values[i]);
    }
    template <int Items> WP_FN void InclusiveSum(T (&values)[Items], T (&results)[Items]) {
        InclusiveScan(values, results, wp_collectives::Sum());
    }
    template <int Items> WP_FN void ExclusiveSum(T (&values)[Items], T (&results)[Items]) {
        T own[Items];
        for (int i = 0; i < Items; ++i) own[i] = values[i];
        InclusiveSum(own, results);
        for (int i = 0; i < Items; ++i) results[i] = results[i] - own[i];
    }

private:
    TempStorage& places_;
};
#undef WP_FN

}  // namespace wp_collectives
