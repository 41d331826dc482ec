// The recorder: calls `solution` for each case of the judge's request, in a process of its own each, and leaves a stream
// of what it asked the device for. It runs the submission's host code, so that nothing it writes is to be trusted.
//
//   recorder <request> <folder for streams>
#include <fcntl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <string>
#include <vector>

#include "layouts.h"
#include "memory.h"
#include "record.h"

extern "C" void wavepool_call(void** arguments);
extern "C" __thread int __wp_line;

using namespace wavepool::recorder;

namespace {
constexpr uint64_t kMagic = 0x3152504b50505721;
constexpr uint64_t kCalls = 3, kScalar = 0, kHostReadable = 2;
constexpr int kBadRequest = 64;

struct Argument {
    uint64_t kind, bytes;
    const unsigned char* data;  // of a scalar, or what the host can read of an array
};

// Reads a request, which core/launching/recorder.py writes: 64-bit numbers, and data in multiples of eight bytes.
class Request {
public:
    explicit Request(const char* path) {
        if (FILE* file = std::fopen(path, "rb")) {
            char part[4096];
            for (size_t size; (size = std::fread(part, 1, sizeof part, file)) > 0;) content_.append(part, size);
            std::fclose(file);
        }
    }
    uint64_t number() {
        uint64_t value;
        std::memcpy(&value, take(sizeof value), sizeof value);
        return value;
    }
    const unsigned char* take(uint64_t bytes) {
        if (bytes > content_.size() - at_) std::exit(kBadRequest);
        const char* data = content_.data() + at_;
        at_ += bytes;
        return reinterpret_cast<const unsigned char*>(data);
    }
    std::vector<Argument> arguments() {
        std::vector<Argument> found(number());
        for (Argument& argument : found) {
            argument = {number(), 0, nullptr};
            argument.bytes = number();
            const bool has_data = argument.kind == kScalar || argument.kind == kHostReadable;
            argument.data = take(has_data ? (argument.bytes + 7) / 8 * 8 : 0);
        }
        return found;
    }

private:
    std::string content_;
    size_t at_ = 0;
};

// Each call has arrays at addresses of their own, so that one that was kept from an earlier call is seen.
void make_call(uint64_t number, const std::vector<Argument>& arguments) {
    alignas(16) static unsigned char values[64][16];
    void* addresses[64] = {};
    Record(Kind::kCall).number(number);
    for (size_t at = 0; at < arguments.size(); ++at) {
        const Argument& argument = arguments[at];
        if (argument.kind == kScalar) {
            std::memcpy(values[at], argument.data, argument.bytes);
            addresses[at] = values[at];
            continue;
        }
        if (argument.kind == kHostReadable) {
            if (!(addresses[at] = host_memory(argument.bytes))) refuse("the recorder has no memory left");
            std::memcpy(addresses[at], argument.data, argument.bytes);
        } else {
            addresses[at] = reinterpret_cast<void*>(new_address(argument.bytes));
        }
        note_argument(at, addresses[at], argument.bytes, argument.kind == kHostReadable);
    }
    wavepool_call(addresses);
    __wp_line = 0;
}

[[noreturn]] void record(const std::string& path, const std::vector<Argument>& arguments, unsigned seconds) {
    const int file = open(path.c_str(), O_WRONLY | O_CREAT | O_EXCL, 0644);
    if (file < 0) _exit(kBadRequest);
    open_stream(file);
    watch(seconds);
    if (wavepool_recorded.managed)
        refuse("`%s` is a __managed__ variable, which host and device share; use a __device__ variable and "
               "hipMemcpyToSymbol", wavepool_recorded.managed);
    note_variables();
    for (uint64_t number = 1; number <= kCalls; ++number) make_call(number, arguments);
    { Record end(Kind::kEnd); }
    close_stream();
    _exit(0);
}
}  // namespace

int main(int argc, char** argv) {
    if (argc != 3) return kBadRequest;
    Request request(argv[1]);
    if (request.number() != kMagic) return kBadRequest;
    const unsigned seconds = unsigned(request.number());
    const uint64_t cases = request.number();
    for (uint64_t number = 0; number < cases; ++number) {
        const std::vector<Argument> arguments = request.arguments();
        if (arguments.size() > 60) return kBadRequest;
        const pid_t child = fork();
        if (child == 0) record(std::string(argv[2]) + "/" + std::to_string(number), arguments, seconds);
        if (child < 0 || waitpid(child, nullptr, 0) != child) return kBadRequest;
    }
    std::fflush(nullptr);
    _exit(0);
}
