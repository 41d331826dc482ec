#include "chain.hpp"

#include "chain_rules.hpp"
#include "parallel.hpp"

namespace wavepool {

namespace {

constexpr std::size_t kAlignment = 256;

bool is_output(const Argument& argument) { return argument.rule == Rule::kPoison || argument.rule == Rule::kZero; }

void make(const Argument& argument, const chain::Target& target) {
  chain::with_body(argument.rule, argument.element_bytes, target,
                   [](const auto& body, std::uint64_t count) { for_each_index(count, body); });
}

struct SetKey {
  std::uint64_t value;
  std::uint64_t* key;
  WAVEPOOL_BOTH void operator()(std::uint64_t) const { *key = value; }
};

}  // namespace

hipError_t Chain::prepare(std::uint32_t links) {
  release();
  links_ = links;
  for (std::uint32_t at = 0; at < buffers_.count(); ++at) {
    if (const hipError_t status = prepare_argument(at); status != hipSuccess) return status;
  }
  if (const hipError_t status = prepare_records(); status != hipSuccess) return status;
  if (const hipError_t status = prepare_events(); status != hipSuccess) return status;
  return hipDeviceSynchronize();
}

hipError_t Chain::prepare_argument(std::uint32_t at) {
  const Argument& argument = buffers_.argument(at);
  pointers_[at] = buffers_.arguments()[at];
  if (has_base(argument)) {
    const hipError_t status = allocate(reinterpret_cast<void**>(&bases_[at]), argument.data_bytes);
    if (status != hipSuccess) return status;
    return hipMemcpy(bases_[at], buffers_.data(at), argument.data_bytes, hipMemcpyDeviceToDevice);
  }
  if (!is_output(argument)) return hipSuccess;
  const std::size_t bytes = buffers_.region_bytes(at);
  strides_[at] = (bytes + kAlignment - 1) / kAlignment * kAlignment;
  const hipError_t status = allocate(reinterpret_cast<void**>(&slots_[at]), strides_[at] * links_);
  if (status != hipSuccess) return status;
  for (std::uint32_t link = 0; link < links_; ++link) {
    const hipError_t copied = hipMemcpy(slot(at, link), buffers_.region(at), bytes, hipMemcpyDeviceToDevice);
    if (copied != hipSuccess) return copied;
  }
  return hipSuccess;
}

hipError_t Chain::prepare_records() {
  std::uint64_t most_words = 0;
  for (std::uint32_t at = 0; at < buffers_.count(); ++at) {
    const Argument& argument = buffers_.argument(at);
    const std::uint64_t words = is_output(argument) ? chain::words_of(argument.data_bytes) : 0;
    most_words = words > most_words ? words : most_words;
  }
  for (std::uint64_t*& states : states_) {
    const std::size_t bytes = 2 * sizeof(std::uint64_t) * chain::strips_of(most_words);
    if (const hipError_t status = allocate(reinterpret_cast<void**>(&states), bytes); status != hipSuccess) return status;
  }
  // Without links, these are the keys of a redrawn call and of its poison, and the digest of its outputs.
  const hipError_t status = allocate(reinterpret_cast<void**>(&keys_), sizeof(std::uint64_t) * (links_ + 2));
  if (status != hipSuccess) return status;
  const hipError_t digested = allocate(reinterpret_cast<void**>(&digests_), sizeof(chain::Digest) * (links_ + 1));
  if (digested != hipSuccess || links_ > 0) return digested;
  return allocate(reinterpret_cast<void**>(&excerpt_), kMostExcerpt * sizeof *excerpt_);
}

hipError_t Chain::prepare_events() {
  for (; events_ < links_; ++events_) {
    if (const hipError_t status = hipEventCreate(&starts_[events_]); status != hipSuccess) return status;
    if (const hipError_t status = hipEventCreate(&stops_[events_]); status != hipSuccess) return status;
  }
  return hipSuccess;
}

hipError_t Chain::redraw(std::uint64_t key, std::uint64_t poison_key) {
  if (owned_count_ == 0) {
    if (const hipError_t status = prepare_records(); status != hipSuccess) return status;
  }
  const std::uint64_t keys[] = {key, poison_key};
  if (const hipError_t copied = hipMemcpy(keys_, keys, sizeof keys, hipMemcpyHostToDevice); copied != hipSuccess) {
    return copied;
  }
  for (std::uint32_t at = 0; at < buffers_.count(); ++at) {
    const Argument& argument = buffers_.argument(at);
    if (argument.kind == Kind::kScalar) continue;
    const std::uint64_t* made_from = keys_ + (is_output(argument) ? 1 : 0);
    make(argument, {made_from, at, nullptr, buffers_.data(at), argument.data_bytes, argument.first, argument.second});
  }
  // With the key, a submission could compute the inputs without reading them.
  if (const hipError_t wiped = hipMemset(keys_, 0, sizeof keys); wiped != hipSuccess) return wiped;
  if (const hipError_t launched = hipGetLastError(); launched != hipSuccess) return launched;
  return hipDeviceSynchronize();
}

hipError_t Chain::digest(std::uint64_t key, chain::Digest& digest) {
  for_each_index(1, SetKey{key, keys_});
  hash_outputs(0, 0);
  if (const hipError_t launched = hipGetLastError(); launched != hipSuccess) return launched;
  return hipMemcpy(&digest, digests_, sizeof digest, hipMemcpyDeviceToHost);
}

hipError_t Chain::excerpt(std::uint64_t elements, std::uint64_t* slots) {
  const std::size_t bytes = elements * sizeof *slots;
  for (std::uint32_t at = 0; at < buffers_.count(); ++at) {
    const Argument& argument = buffers_.argument(at);
    if (!is_output(argument)) continue;
    const hipError_t told = hipMemcpy(excerpt_, slots, bytes, hipMemcpyHostToDevice);
    if (told != hipSuccess) return told;
    for_each_index(elements, chain::TakeElement{buffers_.data(at), argument.element_bytes, excerpt_});
    if (const hipError_t launched = hipGetLastError(); launched != hipSuccess) return launched;
    const hipError_t taken = hipMemcpy(slots, excerpt_, bytes, hipMemcpyDeviceToHost);
    if (taken != hipSuccess) return taken;
    slots += elements;
  }
  return hipSuccess;
}

hipError_t Chain::run(std::uint64_t nonce, void (*call)(void**), hipError_t& launched) {
  launched = hipSuccess;
  for_each_index(1, SetKey{chain::mixed(nonce), keys_});
  for (std::uint32_t link = 0; link < links_; ++link) {
    make_arguments(link);
    if (const hipError_t status = hipEventRecord(starts_[link], nullptr); status != hipSuccess) return status;
    call(pointers_);
    const hipError_t status = hipGetLastError();
    if (launched == hipSuccess) launched = status;
    if (const hipError_t stopped = hipEventRecord(stops_[link], nullptr); stopped != hipSuccess) return stopped;
    hash_outputs(link, nonce);
  }
  return hipDeviceSynchronize();
}

void Chain::make_arguments(std::uint32_t link) {
  for (std::uint32_t at = 0; at < buffers_.count(); ++at) {
    const Argument& argument = buffers_.argument(at);
    if (argument.kind == Kind::kScalar) continue;
    unsigned char* data = buffers_.data(at);
    if (is_output(argument)) pointers_[at] = data = slot(at, link) + buffers_.guard_bytes();
    make(argument, {keys_ + link, at, bases_[at], data, argument.data_bytes, argument.first, argument.second});
  }
}

void Chain::hash_outputs(std::uint32_t link, std::uint64_t nonce) {
  for_each_index(1, chain::OpenLink{keys_ + link, digests_ + link});
  for (std::uint32_t at = 0; at < buffers_.count(); ++at) {
    const Argument& argument = buffers_.argument(at);
    if (is_output(argument)) hash(output(at, link), argument.data_bytes, at, link);
  }
  for_each_index(1, chain::CloseLink{nonce, digests_ + link, keys_ + link + 1});
}

void Chain::hash(const unsigned char* data, std::uint64_t bytes, std::uint32_t argument, std::uint32_t link) {
  for (std::uint64_t level = 0;; ++level) {
    const std::uint64_t strips = chain::strips_of(chain::words_of(bytes));
    std::uint64_t* states = states_[level % 2];
    for_each_index(strips, chain::FoldStrips{data, bytes, keys_ + link, argument, level, strips, states});
    data = reinterpret_cast<const unsigned char*>(states);
    bytes = 2 * sizeof(std::uint64_t) * strips;
    if (strips == 1) break;
  }
  for_each_index(1, chain::JoinState{reinterpret_cast<const std::uint64_t*>(data), digests_ + link});
}

hipError_t Chain::tell(LinkRecord* records) const {
  chain::Digest digests[kMostLinks];
  const hipError_t copied = hipMemcpy(digests, digests_, sizeof digests[0] * links_, hipMemcpyDeviceToHost);
  if (copied != hipSuccess) return copied;
  for (std::uint32_t link = 0; link < links_; ++link) {
    const chain::Digest& digest = digests[link];
    float elapsed_ms = 0.0F;
    const hipError_t timed = hipEventElapsedTime(&elapsed_ms, starts_[link], stops_[link]);
    if (timed != hipSuccess) return timed;
    records[link] = {digest.first, digest.second, static_cast<std::uint64_t>(static_cast<double>(elapsed_ms) * 1e6)};
  }
  return hipSuccess;
}

hipError_t Chain::fetch(std::uint32_t link, unsigned char* memory) const {
  for (std::uint32_t at = 0; at < buffers_.count(); ++at) {
    const Argument& argument = buffers_.argument(at);
    if (argument.kind == Kind::kScalar || (!is_output(argument) && link + 1 != links_)) continue;
    const unsigned char* region = is_output(argument) ? slot(at, link) : buffers_.region(at);
    const hipError_t status =
        hipMemcpy(memory + argument.offset, region, buffers_.region_bytes(at), hipMemcpyDeviceToHost);
    if (status != hipSuccess) return status;
  }
  return hipSuccess;
}

hipError_t Chain::allocate(void** address, std::size_t bytes) {
  const hipError_t status = hipMalloc(address, bytes == 0 ? kAlignment : bytes);
  if (status == hipSuccess) owned_[owned_count_++] = *address;
  return status;
}

void Chain::release() {
  while (owned_count_ > 0) (void)hipFree(owned_[--owned_count_]);
  links_ = 0;
}

}  // namespace wavepool
