// The arithmetic of the chained audit: how an input follows from the outputs before it. The judge makes the same bits on
// the host (services/executor/core/check/chain_arithmetic.cpp), so all of it is arithmetic on unsigned 64-bit integers.
#pragma once

#include <cstdint>

#if defined(__HIP__) || defined(__CUDACC__)
#define WAVEPOOL_BOTH __host__ __device__
#else
#define WAVEPOOL_BOTH
#endif

namespace wavepool::chain {

// 2^64 over the golden ratio, and the multipliers of SplitMix64 (Steele, Lea and Flood, 2014).
constexpr std::uint64_t kGolden = 0x9e3779b97f4a7c15;
constexpr std::uint64_t kFirst = 0xbf58476d1ce4e5b9;
constexpr std::uint64_t kSecond = 0x94d049bb133111eb;
// The number of words in one strip of the hash.
constexpr std::uint64_t kStripWords = 32;

WAVEPOOL_BOTH inline std::uint64_t rotated(std::uint64_t x, int bits) { return (x << bits) | (x >> (64 - bits)); }

WAVEPOOL_BOTH inline std::uint64_t mixed(std::uint64_t x) {
  x = (x ^ (x >> 30)) * kFirst;
  x = (x ^ (x >> 27)) * kSecond;
  return x ^ (x >> 31);
}

WAVEPOOL_BOTH inline std::uint64_t stepped(std::uint64_t key, std::uint64_t at) {
  return mixed(key + (at + 1) * kGolden);
}

// The key of one argument's data in a link. `mixed` can be inverted, so a kernel that sees a word made with one half, in
// poison or in codes, would know that half, the link's key, and all inputs without reading them. A sum of two words, each
// with a half that nobody has seen, tells neither.
struct Key {
  std::uint64_t first;
  std::uint64_t second;
};

WAVEPOOL_BOTH inline Key argument_key(std::uint64_t link_key, std::uint64_t argument) {
  return {mixed(link_key ^ mixed(argument + 1)), mixed(link_key ^ mixed(~argument))};
}

WAVEPOOL_BOTH inline std::uint64_t random_word(const Key& key, std::uint64_t at) {
  return stepped(key.first, at) + stepped(key.second, at);
}

// A random word for the whole array.
WAVEPOOL_BOTH inline std::uint64_t random_word(const Key& key) { return mixed(~key.first) + mixed(~key.second); }

// The two halves of a digest. One half of 64 bits could be met in the middle; two cannot.
struct Digest {
  std::uint64_t first;
  std::uint64_t second;
};

WAVEPOOL_BOTH inline Digest opened(std::uint64_t key) { return {key, mixed(key)}; }

WAVEPOOL_BOTH inline void fold(Digest& state, std::uint64_t word) {
  std::uint64_t x = (state.first ^ word) * kFirst;
  x ^= x >> 32;
  state.first = x + rotated(state.second, 27);
  state.second = (rotated(state.second + word, 31) * kSecond) ^ x;
}

WAVEPOOL_BOTH inline Digest closed(const Digest& state) {
  return {mixed(state.first + state.second), mixed(state.second ^ rotated(state.first, 32))};
}

// The key of one level of the hash of `bytes` bytes.
WAVEPOOL_BOTH inline std::uint64_t level_key(std::uint64_t key, std::uint64_t bytes, std::uint64_t level) {
  return mixed(key + bytes * kGolden + level);
}

WAVEPOOL_BOTH inline std::uint64_t next_key(const Digest& digest, std::uint64_t nonce) {
  return mixed(digest.first ^ mixed(digest.second ^ nonce));
}

inline std::uint64_t words_of(std::uint64_t bytes) { return (bytes + 7) / 8; }

inline std::uint64_t strips_of(std::uint64_t words) {
  return words <= kStripWords ? 1 : (words + kStripWords - 1) / kStripWords;
}

}  // namespace wavepool::chain
