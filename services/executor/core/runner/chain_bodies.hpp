// The work of a chain on the device between two calls: makes inputs, fills and hashes outputs, derives the next key.
// The judge does the same on the host (`../check/chain_arithmetic.cpp`).
#pragma once

#include "chain_arithmetic.hpp"

namespace wavepool::chain {

WAVEPOOL_BOTH inline std::uint64_t load_word(const unsigned char* data, std::uint64_t bytes, std::uint64_t at) {
  const std::uint64_t begin = at * 8;
  if (begin + 8 <= bytes) return *reinterpret_cast<const std::uint64_t*>(data + begin);
  std::uint64_t word = 0;
  for (std::uint64_t byte = begin; byte < bytes; ++byte) {
    word |= static_cast<std::uint64_t>(data[byte]) << (8 * (byte - begin));
  }
  return word;
}

WAVEPOOL_BOTH inline void store_word(unsigned char* data, std::uint64_t bytes, std::uint64_t at, std::uint64_t word) {
  const std::uint64_t begin = at * 8;
  if (begin + 8 <= bytes) {
    *reinterpret_cast<std::uint64_t*>(data + begin) = word;
    return;
  }
  for (std::uint64_t byte = begin; byte < bytes; ++byte) {
    data[byte] = static_cast<unsigned char>(word >> (8 * (byte - begin)));
  }
}

template <int kBytes>
WAVEPOOL_BOTH inline std::uint64_t load_element(const unsigned char* data, std::uint64_t element) {
  std::uint64_t value = 0;
  for (int byte = 0; byte < kBytes; ++byte) {
    value |= static_cast<std::uint64_t>(data[element * kBytes + byte]) << (8 * byte);
  }
  return value;
}

template <int kBytes>
WAVEPOOL_BOTH inline void store_element(unsigned char* data, std::uint64_t element, std::uint64_t value) {
  for (int byte = 0; byte < kBytes; ++byte) {
    data[element * kBytes + byte] = static_cast<unsigned char>(value >> (8 * byte));
  }
}

WAVEPOOL_BOTH inline float float_of(std::uint64_t bits) {
  const auto low = static_cast<std::uint32_t>(bits);
  float value;
  __builtin_memcpy(&value, &low, sizeof value);
  return value;
}

WAVEPOOL_BOTH inline std::uint64_t bits_of(float value) {
  std::uint32_t bits;
  __builtin_memcpy(&bits, &value, sizeof bits);
  return bits;
}

// One array of a link; `first` and `second` come from the plan's argument.
struct Target {
  const std::uint64_t* link_key;
  std::uint64_t argument;
  const unsigned char* base;
  unsigned char* data;
  std::uint64_t bytes;
  std::uint64_t first;
  std::uint64_t second;

  WAVEPOOL_BOTH Key key() const { return argument_key(*link_key, argument); }
};

// Makes an array word by word: `Body::value` is the new word `at` under the key of the array.
template <typename Body>
struct ByWord {
  static constexpr std::uint64_t kUnit = 8;
  Body body;
  WAVEPOOL_BOTH void operator()(std::uint64_t at) const {
    const Target& target = body.target;
    store_word(target.data, target.bytes, at, body.value(at, target.key()));
  }
};

// Makes an array element by element, of `kBytes` bytes each.
template <typename Body, int kBytes>
struct ByElement {
  static constexpr std::uint64_t kUnit = kBytes;
  Body body;
  WAVEPOOL_BOTH void operator()(std::uint64_t at) const {
    store_element<kBytes>(body.target.data, at, body.value(at, body.target.key()));
  }
};

struct Copy {
  Target target;
  WAVEPOOL_BOTH std::uint64_t value(std::uint64_t at, const Key&) const {
    return load_word(target.base, target.bytes, at);
  }
};

struct Zero {
  Target target;
  WAVEPOOL_BOTH std::uint64_t value(std::uint64_t, const Key&) const { return 0; }
};

struct Poison {
  Target target;
  WAVEPOOL_BOTH std::uint64_t value(std::uint64_t at, const Key& key) const { return random_word(key, at); }
};

// Flips bits of the mask `first` at random, but not in elements whose exponent (mask `second`) is all zeros or ones.
template <int kBytes>
struct FlipBits {
  Target target;
  WAVEPOOL_BOTH std::uint64_t value(std::uint64_t at, const Key& key) const {
    const std::uint64_t word = load_word(target.base, target.bytes, at);
    std::uint64_t allowed = 0;
    for (int shift = 0; shift < 64; shift += 8 * kBytes) {
      const std::uint64_t exponent = (word >> shift) & target.second;
      const bool ordinary = target.second == 0 || (exponent != 0 && exponent != target.second);
      allowed |= (ordinary ? target.first : 0) << shift;
    }
    return word ^ (random_word(key, at) & allowed);
  }
};

// Uniform integers from `first` on; there are `second` (at most 2^32) values.
struct DrawIntegers {
  Target target;
  WAVEPOOL_BOTH std::uint64_t value(std::uint64_t element, const Key& key) const {
    return target.first + (((random_word(key, element) >> 32) * target.second) >> 32);
  }
};

// Small floats with the bits of `first`; `second` is their width, and the magnitude of NaN, which is replaced by the
// next lower one (`Codes` in problems/kit/distributions.py). 0 has no sign.
struct DrawCodes {
  Target target;
  WAVEPOOL_BOTH std::uint64_t value(std::uint64_t at, const Key& key) const {
    const int bits = static_cast<int>(target.second >> 8);
    const std::uint64_t nan = target.second & 0xff, word = random_word(key, at);
    std::uint64_t codes = 0;
    for (int shift = 0; shift < 64; shift += bits) {
      const std::uint64_t code = word >> shift & target.first, magnitude = code & ((1u << (bits - 1)) - 1);
      if (magnitude != 0) codes |= (magnitude == nan ? code - 1 : code) << shift;
    }
    return codes;
  }
};

// Floats of 16 or 32 bits in blocks of `second` elements. `first` says which octaves they have: the lowest, how many,
// and if there are signs (`Blocks` in problems/kit/distributions.py).
template <int kBytes>
struct DrawBlocks {
  Target target;
  static constexpr int kMantissaBits = kBytes == 2 ? 10 : 23;

  WAVEPOOL_BOTH std::uint64_t value(std::uint64_t element, const Key& key) const {
    const std::uint64_t octaves = target.first >> 8 & 0xff, word = random_word(key, 2 * element);
    const std::uint64_t block = random_word(key, 2 * (element / target.second) + 1);
    // From an odd byte, so that each octave has half as many elements as the one above it.
    std::uint64_t below = 134 - (bits_of(static_cast<float>((word & 0xff) | 1)) >> 23);
    if (kBytes != 2 && (word >> 37 & 7) == 0) below += word >> 40 & 15;
    const std::uint64_t octave = (target.first & 0xff) + ((block >> 32) * octaves >> 32) - below;
    std::uint64_t mantissa = kBytes == 2 ? (word >> 8 & 0x3ff) | 1 : word >> 8 & 0x7fdfff;
    if (kBytes != 2 && (word >> 32 & 31) == 0) mantissa &= 0x780000;
    const std::uint64_t sign = below < 4 ? word >> 63 & target.first >> 16 : 0;
    return sign << (8 * kBytes - 1) | octave << kMantissaBits | mantissa;
  }
};

// The integers of DrawIntegers as float32, which are exact below 2^24.
struct DrawWholes {
  Target target;
  WAVEPOOL_BOTH std::uint64_t value(std::uint64_t element, const Key& key) const {
    return bits_of(static_cast<float>(static_cast<std::int64_t>(DrawIntegers{target}.value(element, key))));
  }
};

// The place whose noise an element of a square matrix gets: the same on both sides of the diagonal.
WAVEPOOL_BOTH inline std::uint64_t upper_place(std::uint64_t element, std::uint64_t side) {
  const std::uint64_t row = element / side, column = element % side;
  return row <= column ? element : column * side + row;
}

// FlipBits for a matrix that stays symmetric.
template <int kBytes>
struct FlipSymmetricBits {
  Target target;
  std::uint64_t side;
  WAVEPOOL_BOTH std::uint64_t value(std::uint64_t element, const Key& key) const {
    const std::uint64_t value = load_element<kBytes>(target.base, element), exponent = value & target.second;
    const bool ordinary = exponent != 0 && exponent != target.second;
    return ordinary ? value ^ (random_word(key, upper_place(element, side)) & target.first) : value;
  }
};

// DrawWholes for a matrix of weights: zeros of the base stay, and both sides of the diagonal are equal.
struct DrawWeights {
  Target target;
  std::uint64_t side;
  WAVEPOOL_BOTH std::uint64_t value(std::uint64_t element, const Key& key) const {
    const std::uint64_t before = load_element<4>(target.base, element);
    return float_of(before) == 0.0F ? before : DrawWholes{target}.value(upper_place(element, side), key);
  }
};

// Values of a distribution (`draw_rule` in chain_arithmetic.py): `first` has its kind, octaves, form and limit, and
// `second` its scale and largest spike. Above the form, `first` may have the bits of a row's length: then a share of a
// row repeats the argument before, or its negative. Any element is a spike with a chance of one in 8,192, so that a
// kernel that has found one must read on; one of the last tile always is. `side` is that of a matrix with a form.
struct DrawSamples {
  Target target;
  std::uint64_t side;

  static constexpr std::uint64_t kLower = 1, kUpper = 2, kSymmetric = 3, kSigns = 4;
  static constexpr std::uint64_t kPositive = 1, kSums = 2, kWide = 3;
  static constexpr std::uint64_t kMantissa = (1u << 23) - 1, kElementsPerSpike = 8192, kTile = 64;

  WAVEPOOL_BOTH static std::uint64_t form_of(std::uint64_t first) { return first >> 16 & 0xff; }

  WAVEPOOL_BOTH std::uint64_t count() const { return target.bytes / sizeof(float); }

  WAVEPOOL_BOTH std::uint64_t spike_of_last_tile(const Key& key) const {
    return count() - 1 - random_word(key) % (count() < kTile ? count() : kTile);
  }

  WAVEPOOL_BOTH float spike(std::uint64_t word) const {
    const float size = static_cast<float>((1u << 23) + (word & kMantissa)) * 0x1p-24f * float_of(target.second >> 32);
    return (target.first & 0xff) != kPositive && word >> 63 != 0 ? -size : size;
  }

  WAVEPOOL_BOTH float plain(std::uint64_t word, std::uint64_t element, const Key& key) const {
    const std::uint64_t kind = target.first & 0xff;
    const float scale = float_of(target.second);
    if (kind == kWide) {
      const std::uint64_t octaves = target.first >> 8 & 0xff;
      const std::uint64_t exponent = ((word >> 32) * 2 * octaves >> 32) + 127 - octaves;
      return float_of((word >> 23 & 1) << 31 | exponent << 23 | (word & kMantissa)) * scale;
    }
    if (kind == kSums) {
      const std::uint64_t more = random_word(key, 2 * element + 1);
      const std::uint64_t sum = (word & 0xffffffff) + (word >> 32) + (more & 0xffffffff) + (more >> 32);
      return static_cast<float>(static_cast<std::int64_t>(sum) - 2 * 0xffffffffll) * scale;
    }
    const auto whole = static_cast<std::int64_t>(word >> 40);
    if (kind == kPositive) return static_cast<float>(whole) * 0x1p-24f * scale;
    return static_cast<float>(whole - (1 << 23)) * 0x1p-23f * scale;
  }

  WAVEPOOL_BOTH float finished(float value) const {
    if (form_of(target.first) == kSigns) value = value < 0.0F ? -float_of(target.second) : float_of(target.second);
    const float limit = float_of(target.first >> 32);
    return value > limit ? limit : value < -limit ? -limit : value;
  }

  WAVEPOOL_BOTH std::uint64_t value(std::uint64_t at, const Key& key) const {
    const std::uint64_t row = side != 0 ? at / side : 0, column = side != 0 ? at % side : 0, form = form_of(target.first);
    if ((form == kLower && column > row) || (form == kUpper && column < row)) return 0;
    // A symmetric matrix is drawn below its diagonal, because the spike of the last tile lies there.
    const std::uint64_t element = form == kSymmetric && column > row ? column * side + row : at;
    const std::uint64_t length_bits = target.first >> 24 & 0xff;
    if (length_bits != 0 && element != spike_of_last_tile(key)) {
      const std::uint64_t turn = random_word(key, ~(2 * (element >> (length_bits - 1))));
      if (random_word(key, ~(2 * element + 1)) >> 32 < turn >> 32) {
        return drawn(element, argument_key(*target.link_key, target.argument - 1)) ^ (turn & 1) << 31;
      }
    }
    return drawn(element, key);
  }

  WAVEPOOL_BOTH std::uint64_t drawn(std::uint64_t element, const Key& key) const {
    const std::uint64_t word = random_word(key, 2 * element);
    const bool is_spike = mixed(word) % kElementsPerSpike == 0 || element == spike_of_last_tile(key);
    return bits_of(finished(is_spike ? spike(word) : plain(word, element, key)));
  }
};

// Element i becomes element i + d of the base, with wrap-around. d is a multiple of `first` elements, and never 0 if
// there are two such blocks.
template <int kBytes>
struct Roll {
  Target target;
  WAVEPOOL_BOTH std::uint64_t value(std::uint64_t element, const Key& key) const {
    const std::uint64_t count = target.bytes / kBytes, blocks = count / target.first;
    const std::uint64_t by = blocks < 2 ? 0 : 1 + random_word(key) % (blocks - 1), from = element + by * target.first;
    return load_element<kBytes>(target.base, from < count ? from : from - count);
  }
};

// Folds every `strips`-th word; the states are the words of the next level.
struct FoldStrips {
  const unsigned char* data;
  std::uint64_t bytes;
  const std::uint64_t* link_key;
  std::uint64_t argument;
  std::uint64_t level;
  std::uint64_t strips;
  std::uint64_t* states;
  WAVEPOOL_BOTH void operator()(std::uint64_t strip) const {
    const std::uint64_t key = level_key(argument_key(*link_key, argument).first, bytes, level);
    const std::uint64_t words = (bytes + 7) / 8;
    Digest state = opened(stepped(key, strip));
    for (std::uint64_t at = strip; at < words; at += strips) fold(state, load_word(data, bytes, at));
    states[strip] = state.first;
    states[strips + strip] = state.second;
  }
};

// Replaces a place in `slots` by the element of the array at that place.
struct TakeElement {
  const unsigned char* data;
  std::uint64_t element_bytes;
  std::uint64_t* slots;
  WAVEPOOL_BOTH void operator()(std::uint64_t at) const {
    const unsigned char* element = data + slots[at] * element_bytes;
    std::uint64_t taken = 0;
    for (std::uint64_t byte = 0; byte < element_bytes; ++byte) {
      taken |= static_cast<std::uint64_t>(element[byte]) << (8 * byte);
    }
    slots[at] = taken;
  }
};

// Joins one state to the link's digest.
struct JoinState {
  const std::uint64_t* state;
  Digest* record;
  WAVEPOOL_BOTH void operator()(std::uint64_t) const {
    fold(*record, state[0]);
    fold(*record, state[1]);
  }
};

struct OpenLink {
  const std::uint64_t* link_key;
  Digest* record;
  WAVEPOOL_BOTH void operator()(std::uint64_t) const { *record = opened(*link_key); }
};

struct CloseLink {
  std::uint64_t nonce;
  Digest* record;
  std::uint64_t* next;
  WAVEPOOL_BOTH void operator()(std::uint64_t) const {
    *record = closed(*record);
    *next = next_key(*record, nonce);
  }
};

}  // namespace wavepool::chain
