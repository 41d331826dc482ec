#include "sanitizer_findings.h"

#include <fcntl.h>
#include <unistd.h>

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <map>
#include <string>
#include <tuple>

#include "sanitizer.h"

namespace wavepool::sanitizer {
namespace {
constexpr size_t kMostFindings = 64;
constexpr size_t kMostLineBytes = 2048;
constexpr const char* kMemoryNames[] = {"global", "shared", "variable", "host"};

struct Findings {
    int file = -1;
    const KernelEntry* kernel = nullptr;
    std::map<std::tuple<std::string, uint32_t, uint32_t>, std::pair<size_t, uint64_t>> counts;  // number, how often
    Findings() {
        if (const char* path = std::getenv("WAVEPOOL_FINDINGS"))
            file = open(path, O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0644);
        std::atexit([] {
            program_ends();
            report_counts();
        });
    }
};

Findings& findings() {
    static Findings& instance = *new Findings;
    return instance;
}

std::string text(const char* raw) {
    std::string quoted = "\"";
    for (; *raw; ++raw) quoted += *raw < ' ' || *raw == '"' || *raw == '\\' ? '?' : *raw;
    return quoted + '"';
}

std::string numbers(const Coordinates& c) {
    return "[" + std::to_string(c.x) + "," + std::to_string(c.y) + "," + std::to_string(c.z) + "]";
}

std::string fields(const Place& place) {
    return "\"line\":" + std::to_string(place.line) + ",\"block\":" + numbers(place.block) +
           ",\"thread\":" + numbers(place.thread);
}

std::string memory_fields(const Finding& finding) {
    if (!finding.region) return "";
    const Region& region = *finding.region;
    return ",\"memory\":" + text(region.name) + ",\"memory_kind\":\"" + kMemoryNames[size_t(region.kind)] +
           "\",\"memory_bytes\":" + std::to_string(region.usable_bytes) +
           ",\"offset\":" + std::to_string(int64_t(finding.address - region.base));
}

std::string json(const Finding& finding, const Place& place) {
    std::string line = "{\"kind\":" + text(finding.kind) + ",\"kernel\":" + text(findings().kernel->name) + "," + fields(place);
    line += ",\"access\":" + text(finding.access) + ",\"bytes\":" + std::to_string(finding.bytes);
    line += memory_fields(finding);
    if (finding.has_other)
        line += ",\"other\":{\"access\":" + text(finding.other_access) + "," + fields(finding.other) + "}";
    return line + "}\n";
}

void append(const std::string& line) {
    if (findings().file < 0 || line.size() > kMostLineBytes) return;
    [[maybe_unused]] ssize_t written = write(findings().file, line.data(), line.size());
}
}  // namespace

void kernel_begins(const KernelEntry& kernel) { findings().kernel = &kernel; }

void report(const Finding& finding, const Place& place) {
    Findings& all = findings();
    // A race is the same one whichever of its two threads came second.
    uint32_t first = place.line, second = finding.has_other ? finding.other.line : 0;
    std::string what = finding.has_other ? finding.kind : std::string(finding.kind) + finding.access;
    auto key = std::make_tuple(what, std::max(first, second), std::min(first, second));
    if (auto found = all.counts.find(key); found != all.counts.end()) {
        ++found->second.second;
        return;
    }
    if (all.counts.size() >= kMostFindings) return;
    all.counts[key] = {all.counts.size(), 1};
    append(json(finding, place));
}

void report_counts() {
    std::string line = "{\"counts\":[";
    std::map<size_t, uint64_t> by_number;
    for (const auto& [key, count] : findings().counts) by_number[count.first] = count.second;
    for (const auto& [number, count] : by_number) line += (number ? "," : "") + std::to_string(count);
    append(line + "]}\n");
}

}  // namespace wavepool::sanitizer
