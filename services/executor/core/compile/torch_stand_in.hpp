// The small part of torch's C++ interface that code for load_inline uses, over arrays that the judge passes. It is put
// before a lifted source, whose own includes of torch are left out.
#include <hip/hip_runtime.h>
#include <hip/hip_bf16.h>
#include <hip/hip_fp16.h>

#include <cstdint>
#include <initializer_list>
#include <memory>
#include <optional>
#include <sstream>
#include <stdexcept>
#include <string>
#include <tuple>
#include <vector>

namespace c10 {

using Half = __half;
using BFloat16 = __hip_bfloat16;

enum class ScalarType : int64_t {
  Byte, Char, Short, Int, Long, Half, Float, Double, Bool, BFloat16, Float8_e4m3fn, Float8_e5m2, Float8_e4m3fnuz,
  Float8_e5m2fnuz, UInt16, UInt32, UInt64,
};

inline int64_t elementSize(ScalarType type) {
  switch (type) {
    case ScalarType::Short: case ScalarType::Half: case ScalarType::BFloat16: case ScalarType::UInt16: return 2;
    case ScalarType::Int: case ScalarType::Float: case ScalarType::UInt32: return 4;
    case ScalarType::Long: case ScalarType::Double: case ScalarType::UInt64: return 8;
    default: return 1;
  }
}

enum class DeviceType : int8_t { CPU, CUDA, HIP };
constexpr DeviceType kCPU = DeviceType::CPU;
constexpr DeviceType kCUDA = DeviceType::CUDA;
constexpr DeviceType kHIP = DeviceType::HIP;

struct Device {
  DeviceType kind = kCUDA;
  int number = 0;
  Device() = default;
  Device(DeviceType type, int index = 0) : kind(type), number(index) {}
  Device(const char* name) : kind(std::string(name).rfind("cpu", 0) == 0 ? kCPU : kCUDA) {}
  bool is_cuda() const { return kind != kCPU; }
  bool is_cpu() const { return kind == kCPU; }
  int index() const { return number; }
  DeviceType type() const { return kind; }
  friend bool operator==(const Device& one, const Device& other) { return one.kind == other.kind; }
  friend bool operator!=(const Device& one, const Device& other) { return one.kind != other.kind; }
};

// The sizes or strides of a tensor.
class IntArrayRef : public std::vector<int64_t> {
 public:
  using std::vector<int64_t>::vector;
  IntArrayRef(const std::vector<int64_t>& values) : std::vector<int64_t>(values) {}
  std::vector<int64_t> vec() const { return *this; }
};

struct TensorOptions {
  ScalarType type = ScalarType::Float;
  TensorOptions() = default;
  TensorOptions(ScalarType wanted) : type(wanted) {}
  TensorOptions dtype(ScalarType wanted) const { return TensorOptions(wanted); }
  template <typename Place> TensorOptions device(const Place&, int = 0) const { return *this; }
  TensorOptions requires_grad(bool) const { return *this; }
  ScalarType dtype() const { return type; }
};

struct Error : std::runtime_error {
  using std::runtime_error::runtime_error;
};

template <typename... Parts> [[noreturn]] inline void fail(const char* condition, const Parts&... parts) {
  std::ostringstream text;
  text << condition << ": ";
  (void)(text << ... << parts);
  throw Error(text.str());
}

inline void require(hipError_t status, const char* call) {
  if (status != hipSuccess) fail(call, hipGetErrorString(status));
}

}  // namespace c10

#define TORCH_CHECK(condition, ...) \
  do { \
    if (!(condition)) ::c10::fail("TORCH_CHECK(" #condition ")", ##__VA_ARGS__); \
  } while (0)
#define TORCH_INTERNAL_ASSERT TORCH_CHECK
#define AT_ASSERTM TORCH_CHECK
#define AT_ASSERT TORCH_CHECK
#define AT_ERROR(...) ::c10::fail("AT_ERROR", ##__VA_ARGS__)
#define C10_CUDA_CHECK(call) ::c10::require((call), #call)
#define C10_HIP_CHECK(call) ::c10::require((call), #call)
#define AT_CUDA_CHECK(call) ::c10::require((call), #call)
#define C10_CUDA_KERNEL_LAUNCH_CHECK() ::c10::require(hipGetLastError(), "launch")
#define C10_HIP_KERNEL_LAUNCH_CHECK() ::c10::require(hipGetLastError(), "launch")

namespace at {

using namespace c10;

#ifdef WAVEPOOL_PACKS
struct Packed {
  uint8_t* to;
  const uint8_t* from;
  unsigned sizes[8], strides[8], element_size;
  int dimensions;
};

// Writes a tensor's elements in row-major order.
inline __global__ void pack(Packed one, unsigned count) {
  const unsigned at = blockIdx.x * blockDim.x + threadIdx.x;
  if (at >= count) return;
  unsigned rest = at;
  size_t place = 0;
  for (int dimension = one.dimensions; dimension-- > 0;) {
    place += size_t(rest % one.sizes[dimension]) * one.strides[dimension];
    rest /= one.sizes[dimension];
  }
  for (unsigned byte = 0; byte < one.element_size; ++byte)
    one.to[size_t(at) * one.element_size + byte] = one.from[place * one.element_size + byte];
}
#endif

class Tensor {
 public:
  Tensor() = default;
  Tensor(void* data, ScalarType type, IntArrayRef sizes, IntArrayRef strides)
      : data_(data), type_(type), sizes_(std::move(sizes)), strides_(std::move(strides)) {}

  static Tensor made(IntArrayRef sizes, ScalarType type, bool zero) {
    IntArrayRef strides(sizes.size(), 1);
    for (size_t at = sizes.size(); at-- > 1;) strides[at - 1] = strides[at] * sizes[at];
    Tensor one(nullptr, type, std::move(sizes), std::move(strides));
    if (one.nbytes() == 0) return one;
    require(hipMalloc(&one.data_, one.nbytes()), "hipMalloc of a new tensor");
    one.owned_ = std::shared_ptr<void>(one.data_, [](void* data) { (void)hipFree(data); });
    if (zero) require(hipMemsetAsync(one.data_, 0, one.nbytes(), 0), "hipMemsetAsync of a new tensor");
    return one;
  }

  void* data_ptr() const { return data_; }
  void* mutable_data_ptr() const { return data_; }
  const void* const_data_ptr() const { return data_; }
  template <typename T> T* data_ptr() const { return static_cast<T*>(data_); }
  template <typename T> T* mutable_data_ptr() const { return static_cast<T*>(data_); }
  template <typename T> const T* const_data_ptr() const { return static_cast<const T*>(data_); }
  template <typename T> T* data() const { return static_cast<T*>(data_); }

  int64_t size(int64_t at) const { return sizes_.at(at < 0 ? at + dim() : at); }
  int64_t stride(int64_t at) const { return strides_.at(at < 0 ? at + dim() : at); }
  const IntArrayRef& sizes() const { return sizes_; }
  const IntArrayRef& strides() const { return strides_; }
  int64_t dim() const { return static_cast<int64_t>(sizes_.size()); }
  int64_t ndimension() const { return dim(); }
  int64_t numel() const {
    int64_t count = 1;
    for (int64_t size : sizes_) count *= size;
    return count;
  }
  int64_t element_size() const { return elementSize(type_); }
  int64_t itemsize() const { return element_size(); }
  size_t nbytes() const { return static_cast<size_t>(numel() * element_size()); }
  ScalarType scalar_type() const { return type_; }
  ScalarType dtype() const { return type_; }
  TensorOptions options() const { return TensorOptions(type_); }
  Device device() const { return Device(kCUDA, 0); }
  int get_device() const { return 0; }
  bool is_cuda() const { return true; }
  bool is_hip() const { return true; }
  bool is_cpu() const { return false; }
  bool defined() const { return data_ != nullptr; }
  bool is_contiguous() const {
    int64_t wanted = 1;
    for (int64_t at = dim(); at-- > 0;) {
      if (sizes_[at] != 1 && strides_[at] != wanted) return false;
      wanted *= sizes_[at];
    }
    return true;
  }

  Tensor contiguous() const {
    if (is_contiguous()) return *this;
    TORCH_CHECK(dim() <= 8, "contiguous() is for at most 8 dimensions here");
    Tensor packed = made(sizes_, type_, false);
#ifdef WAVEPOOL_PACKS
    Packed one{packed.data_ptr<uint8_t>(), data_ptr<uint8_t>(), {}, {}, unsigned(element_size()), int(dim())};
    for (int64_t at = 0; at < dim(); ++at) one.sizes[at] = unsigned(sizes_[at]), one.strides[at] = unsigned(strides_[at]);
    if (numel()) pack<<<dim3((numel() + 255) / 256), dim3(256)>>>(one, unsigned(numel()));
#endif
    return packed;
  }

  Tensor view(IntArrayRef sizes) const {
    TORCH_CHECK(is_contiguous(), "view() is for contiguous tensors here");
    int64_t known = 1;
    for (int64_t size : sizes) known *= size < 0 ? 1 : size;
    for (int64_t& size : sizes) if (size < 0) size = numel() / known;
    IntArrayRef strides(sizes.size(), 1);
    for (size_t at = sizes.size(); at-- > 1;) strides[at - 1] = strides[at] * sizes[at];
    Tensor seen = *this;
    seen.sizes_ = std::move(sizes);
    seen.strides_ = std::move(strides);
    return seen;
  }
  Tensor reshape(IntArrayRef sizes) const { return contiguous().view(std::move(sizes)); }
  Tensor t() const { return transpose(0, 1); }
  Tensor transpose(int64_t one, int64_t other) const {
    Tensor turned = *this;
    std::swap(turned.sizes_.at(one < 0 ? one + dim() : one), turned.sizes_.at(other < 0 ? other + dim() : other));
    std::swap(turned.strides_.at(one < 0 ? one + dim() : one), turned.strides_.at(other < 0 ? other + dim() : other));
    return turned;
  }
  Tensor to(ScalarType wanted) const {
    TORCH_CHECK(wanted == type_, "to() converts no elements here: convert them in a kernel");
    return *this;
  }
  Tensor& zero_() {
    require(hipMemsetAsync(data_, 0, nbytes(), 0), "zero_");
    return *this;
  }

 private:
  void* data_ = nullptr;
  ScalarType type_ = ScalarType::Float;
  IntArrayRef sizes_, strides_;
  std::shared_ptr<void> owned_;
};

inline Tensor empty(IntArrayRef sizes, TensorOptions options = {}) {
  return Tensor::made(std::move(sizes), options.type, false);
}
inline Tensor zeros(IntArrayRef sizes, TensorOptions options = {}) {
  return Tensor::made(std::move(sizes), options.type, true);
}
inline Tensor empty_like(const Tensor& like) { return Tensor::made(like.sizes(), like.scalar_type(), false); }
inline Tensor zeros_like(const Tensor& like) { return Tensor::made(like.sizes(), like.scalar_type(), true); }
inline Tensor empty_like(const Tensor& like, TensorOptions options) {
  return Tensor::made(like.sizes(), options.type, false);
}
inline Tensor zeros_like(const Tensor& like, TensorOptions options) {
  return Tensor::made(like.sizes(), options.type, true);
}

inline int64_t size(const Tensor& one, int64_t at) { return one.size(at); }
inline int64_t numel(const Tensor& one) { return one.numel(); }
// A tensor over memory of somebody else.
inline Tensor from_blob(void* data, IntArrayRef sizes, IntArrayRef strides, TensorOptions options = {}) {
  return {data, options.type, std::move(sizes), std::move(strides)};
}
inline Tensor from_blob(void* data, IntArrayRef sizes, TensorOptions options = {}) {
  IntArrayRef strides(sizes.size(), 1);
  for (size_t at = sizes.size(); at-- > 1;) strides[at - 1] = strides[at] * sizes[at];
  return from_blob(data, std::move(sizes), std::move(strides), options);
}

constexpr ScalarType kByte = ScalarType::Byte, kUInt8 = ScalarType::Byte, kChar = ScalarType::Char;
constexpr ScalarType kInt8 = ScalarType::Char, kShort = ScalarType::Short, kInt16 = ScalarType::Short;
constexpr ScalarType kInt = ScalarType::Int, kInt32 = ScalarType::Int, kLong = ScalarType::Long;
constexpr ScalarType kInt64 = ScalarType::Long, kHalf = ScalarType::Half, kFloat16 = ScalarType::Half;
constexpr ScalarType kFloat = ScalarType::Float, kFloat32 = ScalarType::Float, kDouble = ScalarType::Double;
constexpr ScalarType kFloat64 = ScalarType::Double, kBool = ScalarType::Bool, kBFloat16 = ScalarType::BFloat16;
constexpr ScalarType kFloat8_e4m3fn = ScalarType::Float8_e4m3fn, kFloat8_e5m2 = ScalarType::Float8_e5m2;
constexpr ScalarType kFloat8_e4m3fnuz = ScalarType::Float8_e4m3fnuz, kFloat8_e5m2fnuz = ScalarType::Float8_e5m2fnuz;

namespace cuda {

// The default stream, as every call of the judge uses it.
struct CUDAStream {
  hipStream_t stream() const { return nullptr; }
  operator hipStream_t() const { return nullptr; }
};
inline CUDAStream getCurrentCUDAStream(int = 0) { return {}; }
inline CUDAStream getDefaultCUDAStream(int = 0) { return {}; }

struct CUDAGuard {
  template <typename Place> explicit CUDAGuard(const Place&) {}
};
using OptionalCUDAGuard = CUDAGuard;

}  // namespace cuda

namespace hip {

inline hipStream_t getCurrentHIPStream(int = 0) { return nullptr; }
inline hipStream_t getCurrentHIPStreamMasqueradingAsCUDA(int = 0) { return nullptr; }
using HIPGuard = cuda::CUDAGuard;
using OptionalHIPGuardMasqueradingAsCUDA = cuda::CUDAGuard;

}  // namespace hip

}  // namespace at

namespace c10::cuda {
using at::cuda::CUDAGuard;
using at::cuda::CUDAStream;
using at::cuda::OptionalCUDAGuard;
using at::cuda::getCurrentCUDAStream;
}  // namespace c10::cuda

namespace c10::hip {
using at::hip::getCurrentHIPStream;
}  // namespace c10::hip

namespace torch {
using namespace at;
using Dtype = at::ScalarType;
template <typename T> using optional = std::optional<T>;
inline at::TensorOptions dtype(at::ScalarType type) { return at::TensorOptions(type); }
template <typename Place> inline at::TensorOptions device(const Place&) { return {}; }
}  // namespace torch

#define AT_PRIVATE_CASE(enumerator, type, ...) \
  case ::at::ScalarType::enumerator: { \
    using scalar_t [[maybe_unused]] = type; \
    return __VA_ARGS__(); \
  }
#define AT_PRIVATE_DISPATCH(type, name, cases) \
  [&] { \
    switch (type) { \
      cases \
      default: ::c10::fail(name, "this element type is not supported"); \
    } \
  }()
#define AT_DISPATCH_FLOATING_TYPES(type, name, ...) \
  AT_PRIVATE_DISPATCH(type, name, \
      AT_PRIVATE_CASE(Double, double, __VA_ARGS__) AT_PRIVATE_CASE(Float, float, __VA_ARGS__))
#define AT_DISPATCH_FLOATING_TYPES_AND_HALF(type, name, ...) \
  AT_PRIVATE_DISPATCH(type, name, \
      AT_PRIVATE_CASE(Double, double, __VA_ARGS__) AT_PRIVATE_CASE(Float, float, __VA_ARGS__) \
      AT_PRIVATE_CASE(Half, ::at::Half, __VA_ARGS__))
#define AT_PRIVATE_INTEGRAL_CASES(...) \
  AT_PRIVATE_CASE(Byte, uint8_t, __VA_ARGS__) AT_PRIVATE_CASE(Char, int8_t, __VA_ARGS__) \
  AT_PRIVATE_CASE(Short, int16_t, __VA_ARGS__) AT_PRIVATE_CASE(Int, int32_t, __VA_ARGS__) \
  AT_PRIVATE_CASE(Long, int64_t, __VA_ARGS__)
#define AT_DISPATCH_INTEGRAL_TYPES(type, name, ...) AT_PRIVATE_DISPATCH(type, name, AT_PRIVATE_INTEGRAL_CASES(__VA_ARGS__))
#define AT_DISPATCH_ALL_TYPES(type, name, ...) \
  AT_PRIVATE_DISPATCH(type, name, \
      AT_PRIVATE_CASE(Double, double, __VA_ARGS__) AT_PRIVATE_CASE(Float, float, __VA_ARGS__) \
      AT_PRIVATE_INTEGRAL_CASES(__VA_ARGS__))
#define AT_DISPATCH_FLOATING_TYPES_AND2(first, second, type, name, ...) \
  AT_PRIVATE_DISPATCH(type, name, \
      AT_PRIVATE_CASE(Double, double, __VA_ARGS__) AT_PRIVATE_CASE(Float, float, __VA_ARGS__) \
      AT_PRIVATE_CASE(Half, ::at::Half, __VA_ARGS__) AT_PRIVATE_CASE(BFloat16, ::at::BFloat16, __VA_ARGS__))

// The functions that a module offers are called by our own code, so what it says of them is not needed.
namespace pybind11 {
struct module_ {
  template <typename... Parts> module_& def(const char*, Parts&&...) { return *this; }
  const char* doc() const { return ""; }
};
struct arg {
  explicit arg(const char*) {}
  template <typename T> arg& operator=(const T&) { return *this; }
};
}  // namespace pybind11
namespace py = pybind11;

namespace wavepool {

// A tensor over an array of the judge's, described by its type, number of dimensions, sizes and strides.
inline at::Tensor tensor(const void* data, const int64_t*& described) {
  const auto type = static_cast<at::ScalarType>(*described++);
  const int64_t dimensions = *described++;
  const at::IntArrayRef sizes(described, described + dimensions);
  const at::IntArrayRef strides(described + dimensions, described + 2 * dimensions);
  described += 2 * dimensions;
  return {const_cast<void*>(data), type, sizes, strides};
}

inline void give(const at::Tensor& result, const at::Tensor& output) {
  if (result.data_ptr() == output.data_ptr()) return;
  TORCH_CHECK(result.nbytes() == output.nbytes(), "the function returns ", result.nbytes(), " bytes of ", output.nbytes());
  const at::Tensor packed = result.contiguous();
  at::require(
      hipMemcpyAsync(output.data_ptr(), packed.data_ptr(), packed.nbytes(), hipMemcpyDeviceToDevice, 0),
      "copy of the result");
}

inline void give_all(const at::Tensor& result, const std::vector<at::Tensor>& outputs) { give(result, outputs.at(0)); }
inline void give_all(const std::vector<at::Tensor>& results, const std::vector<at::Tensor>& outputs) {
  for (size_t at = 0; at < results.size(); ++at) give(results[at], outputs.at(at));
}
template <typename... Results>
void give_all(const std::tuple<Results...>& results, const std::vector<at::Tensor>& outputs) {
  std::apply([&](const auto&... each) { give_all(std::vector<at::Tensor>{each...}, outputs); }, results);
}

// Calls a function, and copies what it returns into the outputs.
template <typename Call> void call(const Call& function, const std::vector<at::Tensor>& outputs) {
  if constexpr (std::is_void_v<decltype(function())>) function();
  else give_all(function(), outputs);
}

}  // namespace wavepool

#define TORCH_EXTENSION_NAME extension
#define PYBIND11_MODULE(name, variable) [[maybe_unused]] static void wavepool_module(::pybind11::module_& variable)
