// The messages between the judge and the runner: docs/protocols.md, "Judge and runner".
// The Python side is services/executor/core/model/messages.py and call/layout.py. Little endian, no compiler padding.
#pragma once

#include <cstdint>

namespace wavepool {

constexpr std::uint32_t kMessageMagic = 0x31525057;  // "WPR1"
constexpr std::uint64_t kPlanMagic = 0x314e414c50505721;
constexpr std::uint32_t kMostArguments = 60;
constexpr std::uint32_t kMostShiftBytes = 16384;

enum class Order : std::uint32_t {
  kLoad = 1,
  kCall = 2,
  kPing = 3,
  kEnd = 4,
  kPrepare = 5,
  kChain = 6,
  kFetch = 7,
  kFlush = 8,
  kProbe = 9,
  kProgram = 10,
  kRedraw = 11,
  kStore = 12,
  kDigest = 13,
  kExcerpt = 14,
};
enum class Reply : std::uint32_t {
  kReady = 1,
  kLoaded = 2,
  kDone = 3,
  kStored = 4,
  kPong = 5,
  kFailed = 6,
  kPrepared = 7,
  kFlushed = 8,
  kDigested = 9,
  kExcerpted = 10,
};
enum class Step : std::uint32_t {
  kNone = 0,
  kProtocol = 1,
  kAllocate = 2,
  kCopyIn = 3,
  kLaunch = 4,
  kRun = 5,
  kCopyOut = 6,
  kLate = 7,
};
enum class Kind : std::uint32_t { kScalar = 0, kDeviceArray = 1, kHostReadableArray = 2 };

// How a chain makes an argument from link to link.
enum class Rule : std::uint32_t {
  kFixed = 0,
  kCopy = 1,
  kFlipBits = 2,
  kIntegers = 3,
  kRoll = 4,
  kPoison = 5,
  kZero = 6,
  kWholes = 7,
  kSymmetricBits = 8,
  kWeights = 9,
  kDraw = 10,
  kCodes = 11,
  kBlocks = 12,
};

struct OrderMessage {
  std::uint32_t magic;
  Order order;
  std::uint64_t sequence;
  std::uint64_t first;
  std::uint64_t second;
};
static_assert(sizeof(OrderMessage) == 32, "the judge writes 32 bytes");

struct ReplyMessage {
  std::uint32_t magic;
  Reply reply;
  std::uint64_t sequence;
  Step step;
  std::int32_t status;
  std::uint64_t event_ns;
  std::uint64_t clock_ns;
  std::uint64_t stream_ns;  // by the device's own clock; 0 if it has none
  std::uint64_t device_ns;
  char text[72];
};
static_assert(sizeof(ReplyMessage) == 128, "the judge reads 128 bytes");

// A range of bytes in the shared memory.
struct Range {
  std::uint64_t begin;
  std::uint64_t bytes;
};
static_assert(sizeof(Range) == 16, "the judge writes 16 bytes");

struct Argument {
  Kind kind;
  std::uint32_t is_output;
  std::uint64_t offset;
  std::uint64_t data_bytes;
  unsigned char value[16];
  Rule rule;
  std::uint32_t element_bytes;
  std::uint64_t first;
  std::uint64_t second;
};
static_assert(sizeof(Argument) == 64, "the judge writes 64 bytes");

struct Plan {
  std::uint64_t magic;
  std::uint64_t file_bytes;
  std::uint32_t argument_count;
  std::uint32_t guard_bytes;
  std::uint32_t shift_bytes;
  std::uint32_t link_capacity;
  std::uint64_t records_offset;
  unsigned char padding[24];
  Argument arguments[kMostArguments];
};
static_assert(sizeof(Plan) <= 4096, "the plan fits its page");

// One link of a chain, as the runner reports it before it answers DONE.
struct LinkRecord {
  std::uint64_t digest_first;
  std::uint64_t digest_second;
  std::uint64_t event_ns;
};
static_assert(sizeof(LinkRecord) == 24, "the judge reads 24 bytes");

}  // namespace wavepool
