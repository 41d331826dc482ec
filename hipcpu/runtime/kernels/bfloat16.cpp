// What clang calls to round to `__bf16` where the processor has no instruction for it: zig's compiler_rt lacks both.

#include <bit>
#include <cstdint>

namespace {

// To the nearest, and of two equally near to the even one; a NaN stays one, and becomes quiet.
__bf16 rounded(float value) {
    const auto bits = std::bit_cast<uint32_t>(value);
    if (value != value) return std::bit_cast<__bf16>(static_cast<uint16_t>(bits >> 16 | 0x40));
    return std::bit_cast<__bf16>(static_cast<uint16_t>((bits + 0x7fff + (bits >> 16 & 1)) >> 16));
}

}  // namespace

extern "C" __bf16 __truncsfbf2(float value) { return rounded(value); }

extern "C" __bf16 __truncdfbf2(double value) {
    auto narrow = static_cast<float>(value);
    // Towards zero, with the last bit set for what is lost: so it is rounded only once.
    if (narrow == narrow && static_cast<double>(narrow) != value) {
        auto bits = std::bit_cast<uint32_t>(narrow);
        if (__builtin_fabs(static_cast<double>(narrow)) > __builtin_fabs(value)) --bits;
        narrow = std::bit_cast<float>(bits | 1);
    }
    return rounded(narrow);
}
