// The judge's side of what a chain does between calls, from the runner's source: `chain_arithmetic.py` calls it.
#include "../runner/chain_rules.hpp"

namespace {

using namespace wavepool;

struct Make {
  chain::Key key;
  std::uint64_t begin;
  std::uint64_t end;

  template <typename Body>
  void operator()(const Body& body, std::uint64_t count) const {
    // Of its own, so that the compiler sees that no store changes it.
    const auto own = body.body;
    for (std::uint64_t at = begin / Body::kUnit; at < count && at * Body::kUnit < end; ++at) store(body, own.target, at, own.value(at, key));
  }

  template <typename Body>
  static void store(const chain::ByWord<Body>&, const chain::Target& target, std::uint64_t at, std::uint64_t value) {
    chain::store_word(target.data, target.bytes, at, value);
  }

  template <typename Body, int kBytes>
  static void store(const chain::ByElement<Body, kBytes>&, const chain::Target& target, std::uint64_t at,
                    std::uint64_t value) {
    chain::store_element<kBytes>(target.data, at, value);
  }
};

// Elements of `bytes` bytes at `count` places, one after the other.
struct MakeAt {
  chain::Key key;
  std::uint64_t bytes;
  const std::uint64_t* places;
  std::uint64_t count;
  unsigned char* made;

  template <typename Body>
  void operator()(const Body& body, std::uint64_t) const {
    for (std::uint64_t at = 0; at < count; ++at) {
      const std::uint64_t begin = places[at] * bytes;
      const std::uint64_t unit = body.body.value(begin / Body::kUnit, key) >> 8 * (begin % Body::kUnit);
      for (std::uint64_t byte = 0; byte < bytes; ++byte) {
        made[at * bytes + byte] = static_cast<unsigned char>(unit >> 8 * byte);
      }
    }
  }
};

}  // namespace

extern "C" {

struct WavepoolArray {
  std::uint64_t rule, element_bytes, first, second, link_key, argument, bytes;
  const unsigned char* base;
};

// What the array is in the link with its key, from a byte that is a multiple of 8 to another, or the end.
void wavepool_make(const WavepoolArray* array, std::uint64_t begin, std::uint64_t end, unsigned char* data) {
  const chain::Target target{&array->link_key, array->argument, array->base, data,
                             array->bytes,     array->first,    array->second};
  chain::with_body(static_cast<Rule>(array->rule), static_cast<std::uint32_t>(array->element_bytes), target,
                   Make{target.key(), begin, end});
}

// The same of its elements at some places.
void wavepool_make_at(const WavepoolArray* array, const std::uint64_t* places, std::uint64_t count,
                      unsigned char* made) {
  const chain::Target target{&array->link_key, array->argument, array->base, nullptr,
                             array->bytes,     array->first,    array->second};
  chain::with_body(static_cast<Rule>(array->rule), static_cast<std::uint32_t>(array->element_bytes), target,
                   MakeAt{target.key(), array->element_bytes, places, count, made});
}

// One level of the hash of `bytes` bytes under a level's key, as FoldStrips does it: `strips` first halves of states, then
// as many second ones, of which those from `first` to `last` are made. A few hundred strips at a time, whose states stay
// in the cache.
void wavepool_fold_strips(const unsigned char* data, std::uint64_t bytes, std::uint64_t key, std::uint64_t strips,
                          std::uint64_t first, std::uint64_t last, std::uint64_t* states) {
  constexpr std::uint64_t kTogether = 512;
  const std::uint64_t words = chain::words_of(bytes);
  for (std::uint64_t begin = first; begin < last; begin += kTogether) {
    const std::uint64_t end = begin + kTogether < last ? begin + kTogether : last;
    chain::Digest some[kTogether];
    for (std::uint64_t strip = begin; strip < end; ++strip) {
      some[strip - begin] = chain::opened(chain::stepped(key, strip));
    }
    for (std::uint64_t row = 0; row < words; row += strips) {
      for (std::uint64_t strip = begin; strip < end && row + strip < words; ++strip) {
        chain::fold(some[strip - begin], chain::load_word(data, bytes, row + strip));
      }
    }
    for (std::uint64_t strip = begin; strip < end; ++strip) {
      states[strip] = some[strip - begin].first;
      states[strips + strip] = some[strip - begin].second;
    }
  }
}

}  // extern "C"
