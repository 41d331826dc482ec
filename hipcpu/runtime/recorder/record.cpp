#include "record.h"

#include <signal.h>
#include <unistd.h>

#include <cstdarg>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <mutex>

#include "memory.h"

// The line of the source at which this thread is; the recorder's build of the host side sets it before each call.
extern "C" __thread int __wp_line = 0;

namespace wavepool::recorder {
namespace {
constexpr size_t kMostStreamBytes = 128 << 20;
constexpr size_t kFlushBytes = 64 << 10;
constexpr size_t kSignalStackBytes = 64 << 10;

struct Stream {
    std::recursive_mutex mutex;
    std::string waiting;
    size_t bytes = 0;
    uint64_t operations = 0;
    int file = -1;
};

// Never destroyed: constructors come before it, and destructors after it.
Stream& stream() {
    static Stream& instance = *new Stream;
    return instance;
}

void flush(Stream& out) {
    const char* data = out.waiting.data();
    for (size_t left = out.waiting.size(); left > 0;) {
        const ssize_t done = write(out.file, data, left);
        if (done <= 0) _exit(1);
        data += done, left -= size_t(done);
    }
    out.waiting.clear();
}

void append(Stream& out, Kind kind, const std::string& payload) {
    const uint32_t head[2] = {uint32_t(kind), uint32_t(__wp_line)};
    const uint64_t size = payload.size();
    out.waiting.append(reinterpret_cast<const char*>(head), sizeof head);
    out.waiting.append(reinterpret_cast<const char*>(&size), sizeof size);
    out.waiting += payload;
    out.bytes += sizeof head + sizeof size + payload.size();
}

const char* in_words(int number) {
    switch (number) {
        case SIGSEGV: return "a segmentation fault";
        case SIGBUS: return "a bus error";
        case SIGFPE: return "an arithmetic error such as a division by zero";
        case SIGILL: return "an illegal instruction";
        case SIGABRT: return "abort()";
        default: return "a signal";
    }
}

void on_signal(int number, siginfo_t* info, void*) {
    signal(number, SIG_DFL);
    if (number == SIGALRM) refuse("host code goes on without an end; end every loop by a count that sizes decide");
    if ((number == SIGSEGV || number == SIGBUS) && is_fake(info->si_addr))
        refuse("host code reads or writes device memory; only kernels may, so move this work into a kernel");
    refuse("host code ends with %s; when a plan is recorded, no kernel runs and no result can be read", in_words(number));
}

void on_exit() { refuse("the process ends within `solution`; return from it instead"); }
}  // namespace

Settings& settings() {
    static Settings instance = [] {
        Settings read;
        unsigned long long seed = 0, downward = 0, memory = 0, operations = 0;
        DeviceFacts device{};
        const char* text = std::getenv("WAVEPOOL_RECORDING");
        if (text && std::sscanf(text, "%llu %llu %llu %llu %u %u %u %u %u", &seed, &downward, &memory, &operations,
                                &device.wavefront, &device.threads_per_block, &device.shared_bytes_per_block,
                                &device.compute_units, &device.most_cooperative_blocks) == 9)
            read = {seed, downward, memory, operations, device};
        return read;
    }();
    return instance;
}

Record& Record::number(uint64_t value) {
    payload_.append(reinterpret_cast<const char*>(&value), sizeof value);
    return *this;
}

Record& Record::bytes(const void* data, size_t size) {
    number(size);
    payload_.append(static_cast<const char*>(data), size);
    return *this;
}

Record::~Record() {
    Stream& out = stream();
    std::lock_guard<std::recursive_mutex> lock(out.mutex);
    append(out, kind_, payload_);
    if (kind_ == Kind::kCall) out.operations = 0;
    if (++out.operations > settings().most_operations)
        refuse_as(Explains::kTimeLimit,
                  "one call asks for more than %llu operations of the device; do the work in fewer launches",
                  static_cast<unsigned long long>(settings().most_operations));
    if (out.bytes > kMostStreamBytes)
        refuse("more than %zu MiB are copied from the host; compute such tables in a kernel", kMostStreamBytes >> 20);
    if (out.file >= 0 && out.waiting.size() > kFlushBytes) flush(out);
}

void open_stream(int file) { stream().file = file; }

void close_stream() { flush(stream()); }

[[noreturn]] static void end_with(Explains end, const char* format, va_list arguments) {
    static thread_local char text[400];
    std::vsnprintf(text, sizeof text, format, arguments);
    Stream& out = stream();
    // Constructors run before there is a file: what they do ends the recordings of all cases.
    if (out.file < 0) {
        std::fprintf(stderr, "wavepool recorder: before `solution`: %s\n", text);
        _exit(2);
    }
    const uint64_t numbers[2] = {static_cast<uint64_t>(end), std::strlen(text)};
    append(out, Kind::kRefused, std::string(reinterpret_cast<const char*>(numbers), sizeof numbers) + text);
    flush(out);
    _exit(0);
}

void refuse(const char* format, ...) {
    va_list arguments;
    va_start(arguments, format);
    end_with(Explains::kNothing, format, arguments);
}

void refuse_as(Explains end, const char* format, ...) {
    va_list arguments;
    va_start(arguments, format);
    end_with(end, format, arguments);
}

void watch(unsigned seconds) {
    static char stack[kSignalStackBytes];
    stack_t own = {};
    own.ss_sp = stack;
    own.ss_size = sizeof stack;
    sigaltstack(&own, nullptr);
    struct sigaction action = {};
    action.sa_sigaction = on_signal;
    action.sa_flags = SA_SIGINFO | SA_ONSTACK | SA_NODEFER;
    for (int number : {SIGSEGV, SIGBUS, SIGFPE, SIGILL, SIGABRT, SIGALRM}) sigaction(number, &action, nullptr);
    std::atexit(on_exit);
    alarm(seconds);
}
}  // namespace wavepool::recorder

const wavepool::DeviceFacts& wavepool::device_facts() { return recorder::settings().device; }
