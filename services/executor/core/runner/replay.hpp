// Performs a launch program: the requests of a call to the device, as data of the judge instead of host code of the
// submission. The kernels and device variables are those of the image that the build linked as `wavepool_kernels`.
//
// A program (core/launching/program.py writes it) is a sequence of 64-bit numbers; names, values and data are padded to
// whole numbers. Its parts: mark; workspaces (count, bytes of each); kernels (count, names); device variables (count,
// names); streams beside the default one (count, flags of each); number of events; operations of the first call (count,
// then the operations); operations of each later call, likewise.
#pragma once

#include <hip/hip_runtime.h>

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

namespace wavepool {

constexpr std::uint64_t kProgramMagic = 0x31474f5250505721;

class Replay {
 public:
  // Takes a new program, and frees the workspaces of the one before it.
  hipError_t take(const unsigned char* program, std::size_t bytes);
  bool is_ready() const { return is_ready_; }
  // Makes one call with these arguments: an array's entry is its address, a scalar's is the address of its value.
  void call(void** arguments);

 private:
  enum class Operation : std::uint64_t { kLaunch = 1, kCopy = 2, kWrite = 3, kFill = 4, kRecord = 5, kWait = 6 };
  enum class Base : std::uint64_t { kNone = 0, kArgument = 1, kWorkspace = 2, kVariable = 3, kScalar = 4 };

  struct Place {
    Base base;
    std::uint64_t index;
    std::uint64_t offset;
  };
  struct Relocation {
    std::uint64_t at;  // in the values
    std::uint64_t bytes;
    Place place;
  };
  struct Step {
    Operation operation;
    std::uint64_t numbers[12] = {};
    Place target{}, source{};
    std::vector<unsigned char> values;
    std::vector<void*> arguments;
    std::vector<Relocation> relocations;
  };
  class Reader;

  hipError_t release();
  hipError_t find(Reader& reader);
  hipError_t ask_for_shared();
  static void read_steps(Reader& reader, std::vector<Step>& steps);
  static void read_step(Reader& reader, Step& step);
  unsigned char* address(const Place& place, void** arguments) const;
  hipError_t perform(Step& step, void** arguments);
  hipError_t launch(Step& step);
  hipError_t fill(const Step& step, unsigned char* target) const;
  hipStream_t stream(std::uint64_t number) const { return number == 0 ? nullptr : streams_.at(number - 1); }

  bool is_ready_ = false, is_first_ = true;
  hipModule_t module_ = nullptr;
  std::vector<unsigned char*> workspaces_, variables_;
  std::vector<hipFunction_t> kernels_;
  std::vector<hipStream_t> streams_;
  std::vector<hipEvent_t> events_;
  std::vector<Step> first_, later_;
};

}  // namespace wavepool
