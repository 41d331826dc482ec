// What a chain does on the device between two calls: makes inputs, fills outputs, hashes them, derives the next key.
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

// One array of a link; `first` and `second` are those of the plan's argument.
struct Target {
  const std::uint64_t* link_key;
  std::uint64_t argument;
  const unsigned char* base;
  unsigned char* data;
  std::uint64_t bytes;
  std::uint64_t first;
  std::uint64_t second;

  WAVEPOOL_BOTH std::uint64_t key() const { return argument_key(*link_key, argument); }
};

struct Copy {
  Target target;
  WAVEPOOL_BOTH void operator()(std::uint64_t at) const {
    store_word(target.data, target.bytes, at, load_word(target.base, target.bytes, at));
  }
};

struct Zero {
  Target target;
  WAVEPOOL_BOTH void operator()(std::uint64_t at) const { store_word(target.data, target.bytes, at, 0); }
};

struct Poison {
  Target target;
  WAVEPOOL_BOTH void operator()(std::uint64_t at) const {
    store_word(target.data, target.bytes, at, random_word(target.key(), at));
  }
};

// Flips bits of the mask `first` at random, but not in elements whose exponent (mask `second`) is all zeros or ones.
template <int kBits>
struct FlipBits {
  Target target;
  WAVEPOOL_BOTH void operator()(std::uint64_t at) const {
    const std::uint64_t word = load_word(target.base, target.bytes, at);
    std::uint64_t allowed = 0;
    for (int shift = 0; shift < 64; shift += kBits) {
      const std::uint64_t exponent = (word >> shift) & target.second;
      const bool ordinary = target.second == 0 || (exponent != 0 && exponent != target.second);
      allowed |= (ordinary ? target.first : 0) << shift;
    }
    store_word(target.data, target.bytes, at, word ^ (random_word(target.key(), at) & allowed));
  }
};

// Integers from `first` on, `second` (at most 2^32) of them alike likely.
template <int kBytes>
struct DrawIntegers {
  Target target;
  WAVEPOOL_BOTH void operator()(std::uint64_t element) const {
    const std::uint64_t high = random_word(target.key(), element) >> 32;
    const std::uint64_t value = target.first + ((high * target.second) >> 32);
    for (int byte = 0; byte < kBytes; ++byte) {
      target.data[element * kBytes + byte] = static_cast<unsigned char>(value >> (8 * byte));
    }
  }
};

// Small floats with the bits of `first`; `second` is their width, and the magnitude of NaN, which becomes the one below
// (`Codes` in problems/distributions.py). 0 has no sign.
struct DrawCodes {
  Target target;
  WAVEPOOL_BOTH void operator()(std::uint64_t at) const {
    const int bits = static_cast<int>(target.second >> 8);
    const std::uint64_t nan = target.second & 0xff, word = random_word(target.key(), at);
    std::uint64_t codes = 0;
    for (int shift = 0; shift < 64; shift += bits) {
      const std::uint64_t code = word >> shift & target.first, magnitude = code & ((1u << (bits - 1)) - 1);
      if (magnitude != 0) codes |= (magnitude == nan ? code - 1 : code) << shift;
    }
    store_word(target.data, target.bytes, at, codes);
  }
};

// Integers like the above as float32; below 2^24 all of them are exact.
struct DrawWholes {
  Target target;
  WAVEPOOL_BOTH void operator()(std::uint64_t element) const {
    const std::uint64_t high = random_word(target.key(), element) >> 32;
    const auto value = static_cast<std::int64_t>(target.first + ((high * target.second) >> 32));
    reinterpret_cast<float*>(target.data)[element] = static_cast<float>(value);
  }
};

// Where the noise of an element of a square matrix comes from: the same place for both sides of the diagonal.
WAVEPOOL_BOTH inline std::uint64_t upper_place(std::uint64_t element, std::uint64_t side) {
  const std::uint64_t row = element / side, column = element % side;
  return row <= column ? element : column * side + row;
}

// FlipBits for a matrix that stays symmetric.
template <int kBytes>
struct FlipSymmetricBits {
  Target target;
  std::uint64_t side;
  WAVEPOOL_BOTH void operator()(std::uint64_t element) const {
    std::uint64_t value = 0;
    for (int byte = 0; byte < kBytes; ++byte) {
      value |= static_cast<std::uint64_t>(target.base[element * kBytes + byte]) << (8 * byte);
    }
    const std::uint64_t exponent = value & target.second;
    const bool ordinary = exponent != 0 && exponent != target.second;
    if (ordinary) value ^= random_word(target.key(), upper_place(element, side)) & target.first;
    for (int byte = 0; byte < kBytes; ++byte) {
      target.data[element * kBytes + byte] = static_cast<unsigned char>(value >> (8 * byte));
    }
  }
};

// DrawWholes for a matrix of weights: what is 0 in the base stays so, and both sides of the diagonal are alike.
struct DrawWeights {
  Target target;
  std::uint64_t side;
  WAVEPOOL_BOTH void operator()(std::uint64_t element) const {
    const std::uint64_t high = random_word(target.key(), upper_place(element, side)) >> 32;
    const auto value = static_cast<std::int64_t>(target.first + ((high * target.second) >> 32));
    const float before = reinterpret_cast<const float*>(target.base)[element];
    reinterpret_cast<float*>(target.data)[element] = before == 0.0F ? before : static_cast<float>(value);
  }
};

// Values of a distribution (`draw_rule` in chain_arithmetic.py): `first` has its kind, octaves, form and limit, `second`
// the scale and the largest spike. One element of each block is a spike, and one of the last tile. `side` is that of a
// matrix with a form.
struct DrawSamples {
  Target target;
  std::uint64_t side;

  static constexpr std::uint64_t kLower = 1, kUpper = 2, kSymmetric = 3, kSigns = 4;
  static constexpr std::uint64_t kPositive = 1, kSums = 2, kWide = 3;
  static constexpr std::uint64_t kMantissa = (1u << 23) - 1, kSpikeBlock = 8192, kTile = 64;

  WAVEPOOL_BOTH static std::uint64_t form_of(std::uint64_t first) { return first >> 16 & 0xff; }

  WAVEPOOL_BOTH static float float_of(std::uint64_t bits) {
    const auto low = static_cast<std::uint32_t>(bits);
    float value;
    __builtin_memcpy(&value, &low, sizeof value);
    return value;
  }

  WAVEPOOL_BOTH bool is_spike(std::uint64_t element, std::uint64_t count, std::uint64_t key) const {
    const std::uint64_t block = element / kSpikeBlock, begin = block * kSpikeBlock;
    const std::uint64_t length = count - begin < kSpikeBlock ? count - begin : kSpikeBlock;
    if (element == begin + mixed(key ^ mixed(block + 1)) % length) return true;
    return element == count - 1 - mixed(~key) % (count < kTile ? count : kTile);
  }

  WAVEPOOL_BOTH float plain(std::uint64_t word, std::uint64_t element, std::uint64_t key) const {
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

  WAVEPOOL_BOTH void operator()(std::uint64_t at) const {
    const std::uint64_t row = side != 0 ? at / side : 0, column = side != 0 ? at % side : 0, form = form_of(target.first);
    float value = 0.0F;
    // A symmetric matrix is drawn below its diagonal, where the spike of the last tile lies.
    if (!(form == kLower && column > row) && !(form == kUpper && column < row)) {
      value = drawn(form == kSymmetric && column > row ? column * side + row : at);
    }
    reinterpret_cast<float*>(target.data)[at] = value;
  }

  WAVEPOOL_BOTH float drawn(std::uint64_t element) const {
    const std::uint64_t key = target.key(), word = random_word(key, 2 * element);
    float value = 0.0F;
    if (is_spike(element, target.bytes / sizeof(float), key)) {
      value = static_cast<float>((1u << 23) + (word & kMantissa)) * 0x1p-24f * float_of(target.second >> 32);
      if ((target.first & 0xff) != kPositive && word >> 63 != 0) value = -value;
    } else {
      value = plain(word, element, key);
    }
    if (form_of(target.first) == kSigns) value = value < 0.0F ? -float_of(target.second) : float_of(target.second);
    const float limit = float_of(target.first >> 32);
    return value > limit ? limit : value < -limit ? -limit : value;
  }
};

// Element i becomes element i + d of the base, around the end; d is never 0.
template <int kBytes>
struct Roll {
  Target target;
  WAVEPOOL_BOTH void operator()(std::uint64_t element) const {
    const std::uint64_t count = target.bytes / kBytes;
    const std::uint64_t distance = count < 2 ? 0 : 1 + mixed(target.key()) % (count - 1);
    std::uint64_t from = element + distance;
    if (from >= count) from -= count;
    for (int byte = 0; byte < kBytes; ++byte) {
      target.data[element * kBytes + byte] = target.base[from * kBytes + byte];
    }
  }
};

// Folds every `strips`th word; the states are the words of the next level.
struct FoldStrips {
  const unsigned char* data;
  std::uint64_t bytes;
  const std::uint64_t* link_key;
  std::uint64_t argument;
  std::uint64_t level;
  std::uint64_t strips;
  std::uint64_t* states;
  WAVEPOOL_BOTH void operator()(std::uint64_t strip) const {
    const std::uint64_t key = level_key(argument_key(*link_key, argument), bytes, level);
    const std::uint64_t words = (bytes + 7) / 8;
    Digest state = opened(random_word(key, strip));
    for (std::uint64_t at = strip; at < words; at += strips) fold(state, load_word(data, bytes, at));
    states[strip] = state.first;
    states[strips + strip] = state.second;
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
