#include "replay.hpp"

#include <string.h>

#include "channel.hpp"
#include "parallel.hpp"

// Only a build of kernels alone has this.
extern "C" __attribute__((weak)) const unsigned char wavepool_kernels[];

namespace wavepool {

namespace {

constexpr std::uint64_t kArgumentAlignment = 16;
// The numbers of an operation before its places, values and relocations.
constexpr std::uint64_t kLaunchNumbers = 10, kCopyNumbers = 2, kWriteNumbers = 2, kFillNumbers = 4, kOrderNumbers = 2;

// A fill with elements of more than a byte.
template <typename Element>
struct FillElements {
  Element* target;
  Element value;
  WAVEPOOL_BOTH void operator()(std::uint64_t at) const { target[at] = value; }
};

std::uint64_t filled_up(std::uint64_t bytes, std::uint64_t to) { return (bytes + to - 1) / to * to; }

}  // namespace

// The judge writes programs, so if one does not end in the right place, the fault is ours: the runner gives up.
class Replay::Reader {
 public:
  Reader(const unsigned char* data, std::size_t bytes) : data_(data), bytes_(bytes) {}
  std::uint64_t number() {
    std::uint64_t value = 0;
    memcpy(&value, data(sizeof value), sizeof value);
    return value;
  }
  const unsigned char* data(std::uint64_t bytes) {
    if (bytes > bytes_ - at_) give_up("a launch program is cut off");
    const unsigned char* found = data_ + at_;
    at_ += filled_up(bytes, sizeof(std::uint64_t));
    if (at_ > bytes_) give_up("a launch program is cut off");
    return found;
  }
  std::string name() {
    const std::uint64_t bytes = number();
    return std::string(reinterpret_cast<const char*>(data(bytes)), bytes);
  }
  Place place() {
    const auto base = static_cast<Base>(number());
    const std::uint64_t index = number();
    return {base, index, number()};
  }

 private:
  const unsigned char* data_;
  std::size_t bytes_;
  std::size_t at_ = 0;
};

hipError_t Replay::release() {
  is_ready_ = false;
  is_first_ = true;
  if (const hipError_t status = hipDeviceSynchronize(); status != hipSuccess) return status;
  for (unsigned char* workspace : workspaces_) (void)hipFree(workspace);
  for (hipStream_t stream : streams_) (void)hipStreamDestroy(stream);
  for (hipEvent_t event : events_) (void)hipEventDestroy(event);
  workspaces_.clear(), variables_.clear(), kernels_.clear(), streams_.clear(), events_.clear();
  first_.clear(), later_.clear();
  // On devices that load the image more than once, this gives device variables the values in the image.
  if (module_ != nullptr) (void)hipModuleUnload(module_);
  module_ = nullptr;
  return hipSuccess;
}

hipError_t Replay::take(const unsigned char* program, std::size_t bytes) {
  if (const hipError_t status = release(); status != hipSuccess) return status;
  if (wavepool_kernels == nullptr) give_up("this build has no kernels that a program could launch");
  Reader reader(program, bytes);
  if (reader.number() != kProgramMagic) give_up("a launch program has another mark");
  if (const hipError_t status = hipModuleLoadData(&module_, wavepool_kernels); status != hipSuccess) return status;
  if (const hipError_t status = find(reader); status != hipSuccess) return status;
  read_steps(reader, first_);
  read_steps(reader, later_);
  if (const hipError_t status = ask_for_shared(); status != hipSuccess) return status;
  is_ready_ = true;
  return hipSuccess;
}

hipError_t Replay::find(Reader& reader) {
  hipError_t status = hipSuccess;
  for (std::uint64_t left = reader.number(); left > 0 && status == hipSuccess; --left) {
    void* workspace = nullptr;
    status = hipMalloc(&workspace, reader.number());
    workspaces_.push_back(static_cast<unsigned char*>(workspace));
  }
  for (std::uint64_t left = reader.number(); left > 0 && status == hipSuccess; --left) {
    kernels_.push_back(nullptr);
    status = hipModuleGetFunction(&kernels_.back(), module_, reader.name().c_str());
  }
  for (std::uint64_t left = reader.number(); left > 0 && status == hipSuccess; --left) {
    hipDeviceptr_t variable{};
    std::size_t size = 0;
    status = hipModuleGetGlobal(&variable, &size, module_, reader.name().c_str());
    variables_.push_back(reinterpret_cast<unsigned char*>(variable));
  }
  for (std::uint64_t left = reader.number(); left > 0 && status == hipSuccess; --left) {
    streams_.push_back(nullptr);
    status = hipStreamCreateWithFlags(&streams_.back(), static_cast<unsigned>(reader.number()));
  }
  for (std::uint64_t left = reader.number(); left > 0 && status == hipSuccess; --left) {
    events_.push_back(nullptr);
    status = hipEventCreateWithFlags(&events_.back(), hipEventDisableTiming);
  }
  return status;
}

// CUDA gives a block 48 KiB, including static arrays, and more only on request.
hipError_t Replay::ask_for_shared() {
#if defined(__CUDACC__)
  std::vector<std::uint64_t> most(kernels_.size());
  for (const std::vector<Step>* steps : {&first_, &later_}) {
    for (const Step& step : *steps) {
      if (step.operation != Operation::kLaunch) continue;
      std::uint64_t& of_kernel = most.at(step.numbers[1]);
      of_kernel = of_kernel < step.numbers[8] ? step.numbers[8] : of_kernel;
    }
  }
  for (std::size_t at = 0; at < most.size(); ++at) {
    if (most[at] == 0) continue;
    const hipError_t status =
        hipFuncSetAttribute(reinterpret_cast<const void*>(kernels_[at]), hipFuncAttributeMaxDynamicSharedMemorySize,
                            static_cast<int>(most[at]));
    if (status != hipSuccess) return status;
  }
#endif
  return hipSuccess;
}

void Replay::read_steps(Reader& reader, std::vector<Step>& steps) {
  steps.resize(reader.number());
  for (Step& step : steps) read_step(reader, step);
}

void Replay::read_step(Reader& reader, Step& step) {
  step.operation = static_cast<Operation>(reader.number());
  const bool is_launch = step.operation == Operation::kLaunch, is_write = step.operation == Operation::kWrite;
  const bool is_copy = step.operation == Operation::kCopy, is_fill = step.operation == Operation::kFill;
  const std::uint64_t count = is_launch  ? kLaunchNumbers
                              : is_copy  ? kCopyNumbers
                              : is_write ? kWriteNumbers
                              : is_fill  ? kFillNumbers
                                         : kOrderNumbers;
  for (std::uint64_t at = 0; at < count; ++at) step.numbers[at] = reader.number();
  if (is_copy || is_write || is_fill) step.target = reader.place();
  if (is_copy) step.source = reader.place();
  if (!is_launch && !is_write) return;
  // The values of a launch are its arguments, each aligned for any type.
  std::vector<std::uint64_t> begins;
  if (is_launch) {
    for (std::uint64_t left = reader.number(); left > 0; --left) begins.push_back(reader.number());
  }
  const std::uint64_t bytes = reader.number();
  const unsigned char* values = reader.data(bytes);
  step.values.resize(filled_up(bytes + kArgumentAlignment, kArgumentAlignment));
  memcpy(step.values.data(), values, bytes);
  for (const std::uint64_t begin : begins) step.arguments.push_back(step.values.data() + begin);
  step.relocations.resize(reader.number());
  for (Relocation& relocation : step.relocations) {
    relocation.at = reader.number();
    relocation.bytes = reader.number();
    relocation.place = reader.place();
  }
}

unsigned char* Replay::address(const Place& place, void** arguments) const {
  switch (place.base) {
    case Base::kArgument:
    case Base::kScalar: return static_cast<unsigned char*>(arguments[place.index]) + place.offset;
    case Base::kWorkspace: return workspaces_.at(place.index) + place.offset;
    case Base::kVariable: return variables_.at(place.index) + place.offset;
    case Base::kNone: break;
  }
  give_up("a launch program has a place that is none");
}

void Replay::call(void** arguments) {
  std::vector<Step>& steps = is_first_ ? first_ : later_;
  is_first_ = false;
  // If a step is refused, hipGetLastError says why.
  for (Step& step : steps) {
    if (perform(step, arguments) != hipSuccess) return;
  }
}

hipError_t Replay::perform(Step& step, void** arguments) {
  for (const Relocation& relocation : step.relocations) {
    const unsigned char* value = address(relocation.place, arguments);
    const void* content = relocation.place.base == Base::kScalar ? static_cast<const void*>(value) : &value;
    memcpy(step.values.data() + relocation.at, content, relocation.bytes);
  }
  const std::uint64_t* numbers = step.numbers;
  const hipStream_t stream = this->stream(step.operation == Operation::kRecord ? numbers[1] : numbers[0]);
  switch (step.operation) {
    case Operation::kLaunch: return launch(step);
    case Operation::kCopy:
      return hipMemcpyAsync(address(step.target, arguments), address(step.source, arguments), numbers[1],
                            hipMemcpyDeviceToDevice, stream);
    case Operation::kWrite:
      return hipMemcpyAsync(address(step.target, arguments), step.values.data(), numbers[1], hipMemcpyHostToDevice,
                            stream);
    case Operation::kFill: return fill(step, address(step.target, arguments));
    case Operation::kRecord: return hipEventRecord(events_.at(numbers[0]), stream);
    case Operation::kWait: return hipStreamWaitEvent(stream, events_.at(numbers[1]), 0);
  }
  give_up("a launch program has an operation that is none");
}

hipError_t Replay::launch(Step& step) {
  const auto number = [&step](int at) { return static_cast<unsigned>(step.numbers[at]); };
  const hipFunction_t kernel = kernels_.at(step.numbers[1]);
  const hipStream_t stream = this->stream(step.numbers[0]);
  void** arguments = step.arguments.data();
  if (step.numbers[9] != 0) {
    return hipModuleLaunchCooperativeKernel(kernel, number(2), number(3), number(4), number(5), number(6), number(7),
                                            number(8), stream, arguments);
  }
  return hipModuleLaunchKernel(kernel, number(2), number(3), number(4), number(5), number(6), number(7), number(8),
                               stream, arguments, nullptr);
}

hipError_t Replay::fill(const Step& step, unsigned char* target) const {
  const hipStream_t stream = this->stream(step.numbers[0]);
  const std::uint64_t element_bytes = step.numbers[1], value = step.numbers[2], count = step.numbers[3];
  if (element_bytes == 1) return hipMemsetAsync(target, static_cast<int>(value), count, stream);
  const auto fill_all = [&](auto element) {
    for_each_index(count, FillElements<decltype(element)>{reinterpret_cast<decltype(element)*>(target), element}, stream);
  };
  element_bytes == 2 ? fill_all(static_cast<std::uint16_t>(value)) : fill_all(static_cast<std::uint32_t>(value));
  return hipPeekAtLastError();
}

}  // namespace wavepool
