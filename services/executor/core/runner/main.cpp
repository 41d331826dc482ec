// The runner: calls a submission as the judge orders. It is not trusted, as it shares its process with the submission:
// everything that it reports is a claim, and the judge believes only results that it verified itself.
//
//   runner <judge's socket> <key of the socket> <shared memory file>
#include <hip/hip_runtime.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "buffers.hpp"
#include "chain.hpp"
#include "channel.hpp"
#include "replay.hpp"
#include "spans.hpp"
#include "sweeps.hpp"

// Defined by a build that has host code of the submission; a build of kernels alone performs launch programs instead.
extern "C" __attribute__((weak)) void wavepool_call(void** arguments);
// The reason of the last error of the HIP API, on devices that know more than its code.
extern "C" __attribute__((weak)) const char* __wp_last_refusal();

namespace wavepool {

namespace {

std::uint64_t clock_ns() {
  timespec now{};
  clock_gettime(CLOCK_MONOTONIC, &now);
  return static_cast<std::uint64_t>(now.tv_sec) * 1'000'000'000u + static_cast<std::uint64_t>(now.tv_nsec);
}

ReplyMessage reply_of(Reply reply, std::uint64_t sequence) {
  ReplyMessage message{};
  message.magic = kMessageMagic;
  message.reply = reply;
  message.sequence = sequence;
  return message;
}

Replay& replay() {
  static Replay instance;
  return instance;
}

void call_solution(void** arguments) {
  if (replay().is_ready()) return replay().call(arguments);
  if (wavepool_call == nullptr) give_up("a build of kernels alone was given no launch program");
  wavepool_call(arguments);
}

class Runner {
 public:
  Runner(const char* socket_path, const char* key_path, const char* memory_path)
      : channel_(socket_path, key_path, memory_path) {}

  int serve() {
    check(hipEventCreate(&start_), Step::kAllocate, 0);
    check(hipEventCreate(&stop_), Step::kAllocate, 0);
    channel_.send(reply_of(Reply::kReady, 0));
    OrderMessage order{};
    while (channel_.receive(order) && order.order != Order::kEnd) obey(order);
    return 0;
  }

 private:
  void obey(const OrderMessage& order) {
    switch (order.order) {
      case Order::kLoad: return load(order.sequence);
      case Order::kCall: return call(order);
      case Order::kPing: return ping(order.sequence);
      case Order::kPrepare: return prepare(order);
      case Order::kChain: return chain(order);
      case Order::kFetch: return fetch(order);
      case Order::kFlush: return flush(order);
      case Order::kProbe: return probe(order);
      case Order::kProgram: return program(order);
      case Order::kRedraw: return redraw(order);
      case Order::kStore: return store(order);
      case Order::kDigest: return digest(order);
      case Order::kExcerpt: return excerpt(order);
      case Order::kEnd: return;
    }
    give_up("the judge gave an unknown order");
  }

  void load(std::uint64_t sequence) {
    if (!let_go(sequence)) return;
    const Plan& plan = channel_.plan();
    chain_.release();
    if (!check(buffers_.allocate(plan), Step::kAllocate, sequence)) return;
    if (!check(buffers_.copy_in(channel_.memory()), Step::kCopyIn, sequence)) return;
    (void)hipGetLastError();
    channel_.send(reply_of(Reply::kLoaded, sequence));
  }

  // The judge wrote the program to the beginning of the memory, which the plan of a call overwrites later.
  void program(const OrderMessage& order) {
    const unsigned char* bytes = channel_.bytes(order.first);
    if (!check(replay().take(bytes, order.first), Step::kAllocate, order.sequence)) return;
    channel_.send(reply_of(Reply::kLoaded, order.sequence));
  }

  // Makes a call's arguments on the device; guards, and arrays without a rule, stay as they were loaded.
  void redraw(const OrderMessage& order) {
    if (!let_go(order.sequence)) return;
    const hipError_t status = chain_.redraw(order.first, order.second);
    if (check(status, Step::kCopyIn, order.sequence)) channel_.send(reply_of(Reply::kLoaded, order.sequence));
  }

  // All arrays are copied back at once or, if the judge says so, stay on the device until it asks for the outputs.
  void call(const OrderMessage& order) {
    const std::uint64_t sequence = order.sequence;
    ReplyMessage done = reply_of(Reply::kDone, sequence);
    // Nothing of this call has begun, so a failure here is reported as one before the call.
    if (!check(hipDeviceSynchronize(), Step::kCopyIn, sequence)) return;
    if (!check(spans_.begin(), Step::kAllocate, sequence)) return;
    const std::uint64_t begin_ns = clock_ns();
    const hipError_t started = hipEventRecord(start_, nullptr);
    call_solution(buffers_.arguments());
    const hipError_t launched = hipGetLastError();
    const hipError_t stopped = hipEventRecord(stop_, nullptr);
    const hipError_t noted = spans_.end();
    const hipError_t idle = hipDeviceSynchronize();
    done.clock_ns = clock_ns() - begin_ns;
    if (!check(started, Step::kCopyIn, sequence) || !check(launched, Step::kLaunch, sequence)) return;
    if (!check(stopped, Step::kRun, sequence)) return;
    if (!check(noted, Step::kRun, sequence) || !check(idle, Step::kRun, sequence)) return;
    // Outputs that are not there by now do not count.
    if (!check(buffers_.hold(), Step::kRun, sequence) || !measure(done)) return;
    channel_.send(done);
    if (order.first == 0) stored(sequence, buffers_.copy_out(channel_.memory()));
  }

  // Copies all outputs, or the ranges of arrays that the judge wrote to the place of a chain's records.
  void store(const OrderMessage& order) {
    unsigned char* memory = channel_.memory();
    if (order.first == 0) return stored(order.sequence, buffers_.copy_out(memory, true));
    const Plan& plan = channel_.plan();
    if (order.first > (plan.file_bytes - plan.records_offset) / sizeof(Range)) give_up("there are too many ranges");
    const auto* ranges = reinterpret_cast<const Range*>(memory + plan.records_offset);
    stored(order.sequence, buffers_.copy_out(memory, ranges, order.first));
  }

  void stored(std::uint64_t sequence, hipError_t copied) {
    if (!let_go(sequence) || !check(copied, Step::kCopyOut, sequence)) return;
    channel_.send(reply_of(Reply::kStored, sequence));
  }

  // Digests the outputs, which still are as the call left them on devices that can protect memory.
  void digest(const OrderMessage& order) {
    if (!chain_.is_redrawn()) give_up("no call was redrawn");
    chain::Digest digest{};
    if (!check(chain_.digest(order.first, digest), Step::kCopyOut, order.sequence)) return;
    ReplyMessage digested = reply_of(Reply::kDigested, order.sequence);
    digested.event_ns = digest.first;
    digested.clock_ns = digest.second;
    channel_.send(digested);
  }

  // Takes an excerpt of them; the judge wrote its places to the place of a chain's records.
  void excerpt(const OrderMessage& order) {
    if (!chain_.is_redrawn()) give_up("no call was redrawn");
    if (order.first > kMostExcerpt) give_up("an excerpt is too long");
    auto* slots = reinterpret_cast<std::uint64_t*>(channel_.memory() + channel_.plan().records_offset);
    const hipError_t status = chain_.excerpt(order.first, slots);
    if (check(status, Step::kCopyOut, order.sequence)) channel_.send(reply_of(Reply::kExcerpted, order.sequence));
  }

  bool let_go(std::uint64_t sequence) {
    return check(buffers_.release() ? hipErrorNotReady : hipSuccess, Step::kLate, sequence);
  }

  // Times an empty region: the cost of a call without work.
  void ping(std::uint64_t sequence) {
    ReplyMessage pong = reply_of(Reply::kPong, sequence);
    if (!check(spans_.begin(), Step::kAllocate, sequence)) return;
    if (!check(hipEventRecord(start_, nullptr), Step::kCopyIn, sequence)) return;
    if (!check(hipEventRecord(stop_, nullptr), Step::kCopyIn, sequence)) return;
    if (!check(spans_.end(), Step::kCopyIn, sequence) || !check(hipDeviceSynchronize(), Step::kCopyIn, sequence)) return;
    if (measure(pong)) channel_.send(pong);
  }

  // Reads the instruments after a region whose work is done.
  bool measure(ReplyMessage& message) {
    float elapsed_ms = 0.0F;
    if (!check(hipEventElapsedTime(&elapsed_ms, start_, stop_), Step::kRun, message.sequence)) return false;
    message.event_ns = static_cast<std::uint64_t>(static_cast<double>(elapsed_ms) * 1e6);
    DeviceSpans spans{};
    if (!check(spans_.read(spans), Step::kRun, message.sequence)) return false;
    message.stream_ns = spans.stream_ns;
    message.device_ns = spans.device_ns;
    return true;
  }

  void prepare(const OrderMessage& order) {
    const Plan& plan = channel_.plan();
    if (order.first == 0 || order.first > plan.link_capacity || order.first > kMostLinks) give_up("a chain is too long");
    if (!check(chain_.prepare(static_cast<std::uint32_t>(order.first)), Step::kAllocate, order.sequence)) return;
    if (!check(spans_.prepare(), Step::kAllocate, order.sequence)) return;
    channel_.send(reply_of(Reply::kPrepared, order.sequence));
  }

  void chain(const OrderMessage& order) {
    if (chain_.links() == 0) give_up("a chain was not prepared");
    ReplyMessage done = reply_of(Reply::kDone, order.sequence);
    const std::uint64_t begin_ns = clock_ns();
    hipError_t launched = hipSuccess;
    if (!check(spans_.hold_back(chain_.links()), Step::kAllocate, order.sequence)) return;
    const hipError_t idle = chain_.run(order.first, call_solution, launched);
    done.clock_ns = clock_ns() - begin_ns;
    if (!check(launched, Step::kLaunch, order.sequence) || !check(idle, Step::kRun, order.sequence)) return;
    auto* records = reinterpret_cast<LinkRecord*>(channel_.memory() + channel_.plan().records_offset);
    if (!check(chain_.tell(records), Step::kCopyOut, order.sequence)) return;
    channel_.send(done);
  }

  void fetch(const OrderMessage& order) {
    if (order.first >= chain_.links()) give_up("a chain has no such link");
    const hipError_t status = chain_.fetch(static_cast<std::uint32_t>(order.first), channel_.memory());
    if (check(status, Step::kCopyOut, order.sequence)) channel_.send(reply_of(Reply::kStored, order.sequence));
  }

  void flush(const OrderMessage& order) {
    if (!check(sweeps_.flush(order.first), Step::kAllocate, order.sequence)) return;
    channel_.send(reply_of(Reply::kFlushed, order.sequence));
  }

  void probe(const OrderMessage& order) {
    ReplyMessage done = reply_of(Reply::kDone, order.sequence);
    if (!check(sweeps_.probe(order.first, order.second, done.event_ns), Step::kAllocate, order.sequence)) return;
    channel_.send(done);
  }

  // Reports a failure to the judge, which decides how to go on.
  bool check(hipError_t status, Step step, std::uint64_t sequence) {
    if (status == hipSuccess) return true;
    ReplyMessage failed = reply_of(Reply::kFailed, sequence);
    failed.step = step;
    failed.status = static_cast<std::int32_t>(status);
    strncpy(failed.text, hipGetErrorName(status), sizeof failed.text - 1);
    if (__wp_last_refusal != nullptr && step == Step::kLaunch) fprintf(stderr, "%s\n", __wp_last_refusal());
    channel_.send(failed);
    return false;
  }

  Channel channel_;
  Buffers buffers_;
  Chain chain_{buffers_};
  Sweeps sweeps_;
  Spans spans_;
  hipEvent_t start_{};
  hipEvent_t stop_{};
};

}  // namespace

}  // namespace wavepool

int main(int argc, char** argv) {
  if (argc != 4) {
    fprintf(stderr, "usage: runner SOCKET KEY_FILE MEMORY_FILE\n");
    return 64;
  }
  // With line buffering, little of a crashing submission's output is lost.
  setvbuf(stdout, nullptr, _IOLBF, BUFSIZ);
  const int status = wavepool::Runner(argv[1], argv[2], argv[3]).serve();
  fflush(nullptr);
  // A profiler writes what it has found when the process exits (rocprofv3 in a handler of atexit), so it must do so then.
  if (getenv("WAVEPOOL_PROFILED") != nullptr) return status;
  _exit(status);
}
