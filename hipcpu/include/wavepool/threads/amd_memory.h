// AMD instructions that reach memory: buffers with a descriptor, loads that go straight to shared memory, and atomics.
#pragma once

#include <type_traits>

#include "wavepool/threads/amd_arithmetic.h"
#include "wavepool/threads/atomics.h"
#include "wavepool/threads/wave_operations.h"

#define WP_FN __device__ __forceinline__

// The 128 bits of a buffer's descriptor (a "V#").
struct __amdgpu_buffer_rsrc_t {
    unsigned words[4];
};

// A buffer as its descriptor says, by AMD's "Instinct MI300" instruction set document, chapter 9.1.5. Base, stride and
// number of records are in words 0 to 2. Of word 3 count: the data format in bits 15 to 18, 0 for no buffer at all; the
// index stride of a swizzled buffer in bits 21 and 22; whether the lane is added to the index in bit 23, which makes
// the format bits upper bits of the stride; the type in bits 30 and 31, which is 0 for buffers. What the other bits say
// matters to typed loads only. The range is checked for each 4 bytes at their first one.
struct wp_buffer {
    char* base;
    unsigned stride, records, index_stride;
    bool swizzled, adds_lane, is_there;

    WP_FN explicit wp_buffer(const unsigned (&words)[4])
        : base(reinterpret_cast<char*>(words[0] | (unsigned long)(words[1] & 0xffff) << 32)),
          stride(words[1] >> 16 & 0x3fff),
          records(words[2]),
          index_stride(8u << (words[3] >> 21 & 3)),
          swizzled(words[1] >> 31),
          adds_lane(words[3] >> 23 & 1),
          is_there((words[3] >> 30) == 0 && ((words[3] >> 15 & 15) != 0 || adds_lane)) {
        if (adds_lane) stride |= (words[3] >> 15 & 15) << 14;
    }

    // The address of these 4 or fewer bytes, or null where they are out of range: they read as 0, and drop what is
    // written. Without an index, and in a buffer without a stride, records are bytes.
    WP_FN char* at(bool indexed, unsigned index, unsigned offset, unsigned scalar_offset) const {
        if (!is_there) return nullptr;
        if (adds_lane) index += __wp_lane();
        const bool structured = indexed && stride != 0;
        unsigned long place = (unsigned long)index * stride + offset;
        if (structured ? index >= records : place + scalar_offset >= records) return nullptr;
        if (swizzled && stride) {
            const unsigned long row = (unsigned long)(index / index_stride) * stride + (offset & ~3u);
            place = row * index_stride + index % index_stride * 4 + (offset & 3);
        }
        return base + place + scalar_offset;
    }
    // Whether so many bytes lie one after the other, all in range.
    WP_FN bool has_all(bool indexed, unsigned index, unsigned offset, unsigned scalar_offset, unsigned bytes) const {
        return !swizzled && at(indexed, index, offset, scalar_offset) && at(indexed, index, offset + bytes - 1, scalar_offset);
    }

    template <class T> WP_FN T load(bool indexed, unsigned index, unsigned offset, unsigned scalar_offset) const {
        T result;
        if (sizeof(T) <= 4 || has_all(indexed, index, offset, scalar_offset, sizeof(T))) {
            const char* from = at(indexed, index, offset, scalar_offset);
            if (!from) return T{};
            __builtin_memcpy(&result, from, sizeof(T));
            return result;
        }
        constexpr int words = (sizeof(T) + 3) / 4;
        unsigned found[words] = {};
        for (int i = 0; i < words; ++i)
            if (const char* from = at(indexed, index, offset + 4 * i, scalar_offset)) __builtin_memcpy(found + i, from, 4);
        __builtin_memcpy(&result, found, sizeof(T));
        return result;
    }
    template <class T> WP_FN void store(T value, bool indexed, unsigned index, unsigned offset, unsigned scalar_offset) const {
        if (sizeof(T) <= 4 || has_all(indexed, index, offset, scalar_offset, sizeof(T))) {
            if (char* to = at(indexed, index, offset, scalar_offset)) __builtin_memcpy(to, &value, sizeof(T));
            return;
        }
        constexpr int words = (sizeof(T) + 3) / 4;
        unsigned kept[words] = {};
        __builtin_memcpy(kept, &value, sizeof(T));
        for (int i = 0; i < words; ++i)
            if (char* to = at(indexed, index, offset + 4 * i, scalar_offset)) __builtin_memcpy(to, kept + i, 4);
    }
    template <class T, class F>
    WP_FN T update(bool indexed, unsigned index, unsigned offset, unsigned scalar_offset, F updated) const {
        T* place = reinterpret_cast<T*>(at(indexed, index, offset, scalar_offset));
        return place ? updated(place) : T{};
    }
};

template <class P> WP_FN __amdgpu_buffer_rsrc_t __builtin_amdgcn_make_buffer_rsrc(P* base, short stride, long records, int flags) {
    const unsigned long address = (unsigned long)base;
    const unsigned high = unsigned(address >> 32 & 0xffff) | unsigned(static_cast<unsigned short>(stride)) << 16;
    return {{unsigned(address), high, unsigned(records), unsigned(flags)}};
}

typedef unsigned wp_uint2 __attribute__((ext_vector_type(2)));
typedef unsigned wp_uint3 __attribute__((ext_vector_type(3)));
#define WP_RAW_BUFFER(BITS, T)                                                                                        \
    WP_FN T __builtin_amdgcn_raw_buffer_load_b##BITS(__amdgpu_buffer_rsrc_t buffer, int offset, int scalar, int) {     \
        return wp_buffer(buffer.words).load<T>(false, 0, offset, scalar);                                             \
    }                                                                                                                 \
    WP_FN void __builtin_amdgcn_raw_buffer_store_b##BITS(T value, __amdgpu_buffer_rsrc_t buffer, int offset, int scalar, int) { \
        wp_buffer(buffer.words).store(value, false, 0, offset, scalar);                                               \
    }
WP_RAW_BUFFER(8, unsigned char)
WP_RAW_BUFFER(16, unsigned short)
WP_RAW_BUFFER(32, unsigned)
WP_RAW_BUFFER(64, wp_uint2)
WP_RAW_BUFFER(128, wp_uint4)
#undef WP_RAW_BUFFER
// A vector of three has the size of one of four, and moves 12 bytes.
struct wp_twelve_bytes {
    unsigned words[3];
};
WP_FN wp_uint3 __builtin_amdgcn_raw_buffer_load_b96(__amdgpu_buffer_rsrc_t buffer, int offset, int scalar, int) {
    auto found = wp_buffer(buffer.words).load<wp_twelve_bytes>(false, 0, offset, scalar);
    return {found.words[0], found.words[1], found.words[2]};
}
WP_FN void __builtin_amdgcn_raw_buffer_store_b96(wp_uint3 value, __amdgpu_buffer_rsrc_t buffer, int offset, int scalar, int) {
    wp_buffer(buffer.words).store(wp_twelve_bytes{{value[0], value[1], value[2]}}, false, 0, offset, scalar);
}

// Sums of two halves or two bfloats are made of 32 bits at once, each element rounded by itself.
template <class T> WP_FN T wp_atomic_sum(T* place, T value) {
    if constexpr (std::is_arithmetic<T>::value) return atomicAdd(place, value);
    else {
        unsigned old = wp_atomic_update(reinterpret_cast<unsigned*>(place), [value](unsigned seen) {
            return __builtin_bit_cast(unsigned, T(__builtin_bit_cast(T, seen) + value));
        });
        return __builtin_bit_cast(T, old);
    }
}
#define WP_BUFFER_ATOMIC(NAME, T, EXPRESSION)                                                                    \
    WP_FN T __builtin_amdgcn_raw_ptr_buffer_atomic_##NAME(T value, __amdgpu_buffer_rsrc_t buffer, int offset,    \
                                                          int scalar, int) {                                     \
        return wp_buffer(buffer.words).update<T>(false, 0, offset, scalar, [value](T* place) { return EXPRESSION; }); \
    }
WP_BUFFER_ATOMIC(add_i32, int, atomicAdd(place, value))
WP_BUFFER_ATOMIC(fadd_f32, float, atomicAdd(place, value))
WP_BUFFER_ATOMIC(fadd_v2f16, wp_half2, wp_atomic_sum(place, value))
WP_BUFFER_ATOMIC(fmin_f64, double, atomicMin(place, value))
WP_BUFFER_ATOMIC(fmax_f64, double, atomicMax(place, value))
#undef WP_BUFFER_ATOMIC

// Shared memory is addressed with 32 bits on the GPU, and kernels keep only those. The host's address is the one below
// the thread pointer, where thread-local memory is, that ends in them.
template <class P> WP_FN char* wp_shared_address(P pointer) {
    unsigned long address = (unsigned long)pointer;
    if (address >> 32) return (char*)address;
    const unsigned long top = *(unsigned long __attribute__((address_space(257)))*)0;
    address |= top & ~0xfffffffful;
    return (char*)(address > top ? address - 0x100000000ul : address);
}
// Where a load to shared memory leaves a lane's value: 4 bytes for each, from the first active lane's address on.
template <class P> WP_FN char* wp_shared_place(P pointer, int offset, int line) {
    __wp_wave_barrier((unsigned long)wp_shared_address(pointer), 0, line);
    unsigned long first = __wp_wave_value(__builtin_ctzll(__wp_wave_active()));
    return (char*)(first + offset + 4 * __wp_lane());
}
template <class F> WP_FN void wp_load_to_shared(char* place, unsigned size, F load) {
    // Smaller values fill the rest of their 4 bytes with 0.
    const unsigned bits = load();
    const unsigned value = size == 1 ? bits & 0xff : size == 2 ? bits & 0xffff : bits;
    __builtin_memcpy(place, &value, 4);
}
#define WP_MOVES_4_BYTES(SIZE) \
    __attribute__((diagnose_if((SIZE) != 1 && (SIZE) != 2 && (SIZE) != 4, "gfx942 loads 1, 2 or 4 bytes a lane to shared memory", "error")))
template <class S> WP_FN void wp_global_to_shared(const char* from, S* shared, unsigned size, int offset, int line) {
    char* place = wp_shared_place(shared, offset, line);
    wp_load_to_shared(place, size, [=] {
        unsigned value = 0;
        if (size == 1) __builtin_memcpy(&value, from + offset, 1);
        else if (size == 2) __builtin_memcpy(&value, from + offset, 2);
        else __builtin_memcpy(&value, from + offset, 4);
        return value;
    });
}
#define WP_LOAD_TO_SHARED(NAME)                                                                                          \
    template <class P, class S>                                                                                         \
    WP_FN void __builtin_amdgcn_##NAME(P* from, S* shared, unsigned size, int offset, unsigned, int line = __builtin_LINE()) \
        WP_MOVES_4_BYTES(size) {                                                                                        \
        wp_global_to_shared((const char*)from, shared, size, offset, line);                                             \
    }
WP_LOAD_TO_SHARED(load_to_lds)
WP_LOAD_TO_SHARED(global_load_lds)
#undef WP_LOAD_TO_SHARED
template <class S>
WP_FN void wp_buffer_to_shared(wp_buffer buffer, S* shared, unsigned size, bool indexed, unsigned index, unsigned at,
                               unsigned scalar, int offset, int line) {
    char* place = wp_shared_place(shared, offset, line);
    wp_load_to_shared(place, size, [=]() -> unsigned {
        if (size == 1) return buffer.load<unsigned char>(indexed, index, at + offset, scalar);
        if (size == 2) return buffer.load<unsigned short>(indexed, index, at + offset, scalar);
        return buffer.load<unsigned>(indexed, index, at + offset, scalar);
    });
}
template <class S>
WP_FN void __builtin_amdgcn_raw_ptr_buffer_load_lds(__amdgpu_buffer_rsrc_t buffer, S* shared, unsigned size, int at,
                                                    int scalar, int offset, int, int line = __builtin_LINE())
    WP_MOVES_4_BYTES(size) {
    wp_buffer_to_shared(wp_buffer(buffer.words), shared, size, false, 0, at, scalar, offset, line);
}
template <class S>
WP_FN void __builtin_amdgcn_struct_ptr_buffer_load_lds(__amdgpu_buffer_rsrc_t buffer, S* shared, unsigned size, int index,
                                                       int at, int scalar, int offset, int, int line = __builtin_LINE())
    WP_MOVES_4_BYTES(size) {
    wp_buffer_to_shared(wp_buffer(buffer.words), shared, size, true, index, at, scalar, offset, line);
}
#undef WP_MOVES_4_BYTES

// Atomics, whose pointers may name an address space; the order and the scope of the longer forms are never too weak here.
#define WP_SUM(NAME, T) \
    template <class P> WP_FN T __builtin_amdgcn_##NAME(P* place, T value) { return wp_atomic_sum((T*)place, value); }
WP_SUM(ds_atomic_fadd_f32, float)
WP_SUM(ds_atomic_fadd_f64, double)
WP_SUM(ds_atomic_fadd_v2f16, wp_half2)
WP_SUM(flat_atomic_fadd_f32, float)
WP_SUM(flat_atomic_fadd_f64, double)
WP_SUM(flat_atomic_fadd_v2f16, wp_half2)
WP_SUM(global_atomic_fadd_f32, float)
WP_SUM(global_atomic_fadd_f64, double)
WP_SUM(global_atomic_fadd_v2f16, wp_half2)
#undef WP_SUM
#define WP_BFLOAT_SUM(NAME)                                                                                    \
    template <class P> WP_FN wp_short2 __builtin_amdgcn_##NAME(P* place, wp_short2 value) {                    \
        return __builtin_bit_cast(wp_short2, wp_atomic_sum((wp_bfloat2*)place, __builtin_bit_cast(wp_bfloat2, value))); \
    }
WP_BFLOAT_SUM(ds_atomic_fadd_v2bf16)
WP_BFLOAT_SUM(flat_atomic_fadd_v2bf16)
WP_BFLOAT_SUM(global_atomic_fadd_v2bf16)
#undef WP_BFLOAT_SUM
#define WP_EXTREME(NAME, T, FUNCTION) \
    template <class P> WP_FN T __builtin_amdgcn_##NAME(P* place, T value) { return FUNCTION((T*)place, value); }
WP_EXTREME(flat_atomic_fmin_f64, double, atomicMin)
WP_EXTREME(flat_atomic_fmax_f64, double, atomicMax)
WP_EXTREME(global_atomic_fmin_f64, double, atomicMin)
WP_EXTREME(global_atomic_fmax_f64, double, atomicMax)
#undef WP_EXTREME
template <class P> WP_FN float __builtin_amdgcn_ds_faddf(P* place, float value, int, int, bool) { return atomicAdd((float*)place, value); }
template <class P> WP_FN float __builtin_amdgcn_ds_fminf(P* place, float value, int, int, bool) { return atomicMin((float*)place, value); }
template <class P> WP_FN float __builtin_amdgcn_ds_fmaxf(P* place, float value, int, int, bool) { return atomicMax((float*)place, value); }
#define WP_WRAPPING(NAME, T, EXPRESSION)                                                                    \
    template <class P> WP_FN T __builtin_amdgcn_atomic_##NAME(P* place, T limit, unsigned, const char*) {   \
        return wp_atomic_update((T*)place, [limit](T seen) -> T { return EXPRESSION; });                    \
    }
WP_WRAPPING(inc32, unsigned, seen >= limit ? 0 : seen + 1)
WP_WRAPPING(inc64, unsigned long, seen >= limit ? 0 : seen + 1)
WP_WRAPPING(dec32, unsigned, seen == 0 || seen > limit ? limit : seen - 1)
WP_WRAPPING(dec64, unsigned long, seen == 0 || seen > limit ? limit : seen - 1)
#undef WP_WRAPPING

// A counter in shared memory goes up or down by the number of active lanes, which all see what it was.
template <class P> WP_FN int wp_count_lanes(P* counter, int direction, int line) {
    __wp_wave_barrier(0, 0, line);
    const unsigned long long active = __wp_wave_active();
    const int first = __builtin_ctzll(active);
    int before = 0;
    if (int(__wp_lane()) == first) before = atomicAdd((int*)counter, direction * __builtin_popcountll(active));
    return wp_exchange(before, first, 0, line);
}
template <class P> WP_FN int __builtin_amdgcn_ds_append(P* counter, int line = __builtin_LINE()) { return wp_count_lanes(counter, 1, line); }
template <class P> WP_FN int __builtin_amdgcn_ds_consume(P* counter, int line = __builtin_LINE()) { return wp_count_lanes(counter, -1, line); }
#undef WP_FN
