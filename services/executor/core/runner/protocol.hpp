// What the judge and the runner say to each other: docs/protocols.md, "Judge and runner".
// The Python side is services/executor/core/messages.py and layout.py. Little endian, no padding of the compiler's own.
#pragma once

#include <cstdint>

namespace wavepool {

constexpr std::uint32_t kMessageMagic = 0x31525057;  // "WPR1"
constexpr std::uint64_t kPlanMagic = 0x314e414c50505721;
constexpr std::uint32_t kMostArguments = 60;

enum class Order : std::uint32_t { kLoad = 1, kCall = 2, kPing = 3, kEnd = 4 };
enum class Reply : std::uint32_t { kReady = 1, kLoaded = 2, kDone = 3, kStored = 4, kPong = 5, kFailed = 6 };
enum class Step : std::uint32_t { kNone = 0, kProtocol = 1, kAllocate = 2, kCopyIn = 3, kLaunch = 4, kRun = 5, kCopyOut = 6 };
enum class Kind : std::uint32_t { kScalar = 0, kDeviceArray = 1, kHostReadableArray = 2 };

struct OrderMessage {
  std::uint32_t magic;
  Order order;
  std::uint64_t sequence;
};
static_assert(sizeof(OrderMessage) == 16, "the judge writes 16 bytes");

struct ReplyMessage {
  std::uint32_t magic;
  Reply reply;
  std::uint64_t sequence;
  Step step;
  std::int32_t status;
  std::uint64_t event_ns;
  std::uint64_t clock_ns;
  char text[88];
};
static_assert(sizeof(ReplyMessage) == 128, "the judge reads 128 bytes");

struct Argument {
  Kind kind;
  std::uint32_t reserved;
  std::uint64_t offset;
  std::uint64_t data_bytes;
  unsigned char value[16];
  unsigned char padding[24];
};
static_assert(sizeof(Argument) == 64, "the judge writes 64 bytes");

struct Plan {
  std::uint64_t magic;
  std::uint64_t file_bytes;
  std::uint32_t argument_count;
  std::uint32_t guard_bytes;
  unsigned char padding[40];
  Argument arguments[kMostArguments];
};
static_assert(sizeof(Plan) <= 4096, "the plan fits its page");

}  // namespace wavepool
