// The elements of A and B as a matrix instruction multiplies them: those of all lanes, from a register.
#pragma once

#include <cstddef>
#include <cstdint>

namespace wavepool::matrix {

// As many lanes as the processor decodes at once. Members are the names of types in matrix_instructions.inc.
constexpr size_t kStep = 8;
template <class T> using Step = T __attribute__((ext_vector_type(kStep)));
using Words = Step<uint32_t>;
using Floats = Step<float>;

struct f32 {
    using Value = float;
    static constexpr int bits = 32;
    static Floats decoded(Words words, int) { return __builtin_bit_cast(Floats, words); }
};

// The low 13 bits of the mantissa are dropped; a NaN remains one.
struct xf32 : f32 {
    static Floats decoded(Words words, int) {
        const Words is_nan = __builtin_bit_cast(Words, (words & 0x7fffffffu) > 0x7f800000u);
        return __builtin_bit_cast(Floats, (words & 0xffffe000u) | (is_nan & 0x00400000u));
    }
};

struct f16 {
    using Value = float;
    static constexpr int bits = 16;
    static Floats decoded(Words words, int at) {
        const auto halves = __builtin_convertvector(words >> uint32_t(16 * at), Step<uint16_t>);
        return __builtin_convertvector(__builtin_bit_cast(Step<_Float16>, halves), Floats);
    }
};

struct bf16 {
    using Value = float;
    static constexpr int bits = 16;
    static Floats decoded(Words words, int at) {
        return __builtin_bit_cast(Floats, at ? words & 0xffff0000u : words << 16);
    }
};

// An 8-bit float without infinities and negative zero, whose only NaN is 0x80. As the upper bits of a float it has
// another bias; its subnormal numbers are those of float there.
template <int MANTISSA_BITS, int BIAS> struct Fnuz {
    using Value = float;
    static constexpr int bits = 8;
    static Floats decoded(Words words, int at) {
        const Words codes = words >> uint32_t(8 * at) & 0xffu;
        const Floats sizes = __builtin_bit_cast(Floats, (codes & 0x7fu) << uint32_t(23 - MANTISSA_BITS)) * kScale;
        const Words nan = __builtin_bit_cast(Words, codes == 0x80u) & 0x7fc00000u;
        return __builtin_bit_cast(Floats, __builtin_bit_cast(Words, sizes) | (codes & 0x80u) << 24 | nan);
    }

private:
    static constexpr float kScale = __builtin_bit_cast(float, uint32_t(254 - BIAS) << 23);
};
struct fp8 : Fnuz<3, 8> {};
struct bf8 : Fnuz<2, 16> {};

// Sums of integers wrap, which is defined for unsigned ones.
struct i8 {
    using Value = uint32_t;
    static constexpr int bits = 8;
    static Words decoded(Words words, int at) {
        return __builtin_bit_cast(Words, __builtin_bit_cast(Step<int32_t>, words << uint32_t(24 - 8 * at)) >> 24);
    }
};
struct i32 {
    using Value = uint32_t;
};

// Two registers for each element; see `decode`.
struct f64 {
    using Value = double;
    static constexpr int bits = 64;
};

}  // namespace wavepool::matrix
