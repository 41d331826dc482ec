// The recorder's stream: what `solution` asks of the device, written down. core/launching/recording.py reads it.
//
// A record is kind, line of the source (0 if it is not known) and size of what follows, then 64-bit numbers and byte
// strings with their size before them; all little endian.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>

#include "../calls/device_facts.h"

namespace wavepool::recorder {

enum class Kind : uint32_t {
    kVariable = 1,     // address, bytes, name
    kCall = 2,         // number of the call that begins
    kArgument = 3,     // index, address, bytes: of the call that begins
    kAllocate = 4,     // address, bytes, 1 if it is memory of the host
    kLaunch = 5,       // stream, grid, block, dynamic LDS bytes, cooperative, kernel's name, count, bytes of each argument
    kCopy = 6,         // stream, target, source, bytes
    kWrite = 7,        // stream, target, bytes
    kFill = 8,         // stream, target, bytes of an element, its value, count
    kStream = 9,       // number, flags
    kEvent = 10,       // number, stream: noted there
    kWait = 11,        // stream, event
    kSynchronise = 12, // 1 + number of the stream that the host waits for, or 0 for all
    kRefused = 13,     // why there can be no plan
    kEnd = 14,         // all calls were made
};

// Written when it goes out of scope.
class Record {
public:
    explicit Record(Kind kind) : kind_(kind) {}
    Record(const Record&) = delete;
    Record& operator=(const Record&) = delete;
    ~Record();
    Record& number(uint64_t value);
    Record& bytes(const void* data, size_t size);

private:
    Kind kind_;
    std::string payload_;
};

// Where records go from now on; those that were made before, by constructors, come first.
void open_stream(int file);
void close_stream();
// Ends the recording, and the process: there is no plan, for this reason. Says what to do instead.
[[noreturn]] __attribute__((format(printf, 1, 2))) void refuse(const char* format, ...);
// How a run on a device is likely to end for the same reason.
enum class Explains : uint64_t { kNothing, kCrash, kTimeLimit };
[[noreturn]] __attribute__((format(printf, 2, 3))) void refuse_as(Explains end, const char* format, ...);
// From now on crashes, faults at the addresses of device memory and the end of the time are reasons as well.
void watch(unsigned seconds);

// How a recording is made: WAVEPOOL_RECORDING, as constructors run before there is a request.
struct Settings {
    uint64_t seed = 1;
    uint64_t is_downward = 0;  // addresses fall from allocation to allocation
    uint64_t memory_bytes = uint64_t(1) << 40;
    uint64_t most_operations = 100000;
    DeviceFacts device{64, 1024, 64 << 10, 1, 40};  // whose calls are recorded
};
Settings& settings();

}  // namespace wavepool::recorder
