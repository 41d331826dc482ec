// Finds the body that makes an array by a rule: on the device between two calls, and on the host for the judge.
#pragma once

#include "chain_bodies.hpp"
#include "protocol.hpp"

namespace wavepool::chain {

// The side of a square matrix with so many elements.
inline std::uint64_t side_of(std::uint64_t elements) {
  std::uint64_t side = 1;
  while ((side + 1) * (side + 1) <= elements) ++side;
  return side;
}

template <typename Body, typename Visit>
void by_word(const Body& body, const Visit& visit) {
  visit(ByWord<Body>{body}, words_of(body.target.bytes));
}

template <int kBytes, typename Body, typename Visit>
void by_element(const Body& body, const Visit& visit) {
  visit(ByElement<Body, kBytes>{body}, body.target.bytes / kBytes);
}

template <int kBytes, typename Visit>
void with_body_of(Rule rule, const Target& target, const Visit& visit) {
  switch (rule) {
    case Rule::kFlipBits: return by_word(FlipBits<kBytes>{target}, visit);
    case Rule::kIntegers: return by_element<kBytes>(DrawIntegers{target}, visit);
    case Rule::kBlocks: return by_element<kBytes>(DrawBlocks<kBytes>{target}, visit);
    case Rule::kRoll: return by_element<kBytes>(Roll<kBytes>{target}, visit);
    case Rule::kSymmetricBits:
      return by_element<kBytes>(FlipSymmetricBits<kBytes>{target, side_of(target.bytes / kBytes)}, visit);
    default: return;
  }
}

template <typename Visit>
void with_draw(const Target& target, const Visit& visit) {
  const std::uint64_t form = DrawSamples::form_of(target.first);
  const bool is_matrix = form != 0 && form != DrawSamples::kSigns;
  by_element<4>(DrawSamples{target, is_matrix ? side_of(target.bytes / sizeof(float)) : 0}, visit);
}

// Calls `visit(body, count)`: `body(at)` for all `at` below `count` makes the array. A fixed array is not made.
template <typename Visit>
void with_body(Rule rule, std::uint32_t element_bytes, const Target& target, const Visit& visit) {
  switch (rule) {
    case Rule::kFixed: return;
    case Rule::kCopy: return by_word(Copy{target}, visit);
    case Rule::kPoison: return by_word(Poison{target}, visit);
    case Rule::kZero: return by_word(Zero{target}, visit);
    case Rule::kCodes: return by_word(DrawCodes{target}, visit);
    case Rule::kWholes: return by_element<4>(DrawWholes{target}, visit);
    case Rule::kWeights: return by_element<4>(DrawWeights{target, side_of(target.bytes / sizeof(float))}, visit);
    case Rule::kDraw: return with_draw(target, visit);
    default: break;
  }
  switch (element_bytes) {
    case 1: return with_body_of<1>(rule, target, visit);
    case 2: return with_body_of<2>(rule, target, visit);
    case 4: return with_body_of<4>(rule, target, visit);
    default: return with_body_of<8>(rule, target, visit);
  }
}

}  // namespace wavepool::chain
