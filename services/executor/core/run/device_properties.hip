// Prints the device's properties as lines of `name=` and the value's bytes in hex; no bytes if there is no such field.
// The names are put before this text (hipcpu/runtime/calls/device_properties.h).
#include <hip/hip_runtime.h>

#include <cstddef>
#include <cstdio>
#include <cstdlib>

namespace {

void require(hipError_t status, const char* what) {
  if (status == hipSuccess) return;
  std::fprintf(stderr, "%s failed: %s\n", what, hipGetErrorName(status));
  std::exit(1);
}

void tell(const char* name, const void* value, std::size_t bytes) {
  std::printf("%s=", name);
  for (std::size_t at = 0; at < bytes; ++at) std::printf("%02x", static_cast<const unsigned char*>(value)[at]);
  std::printf("\n");
}

// Releases of HIP and CUDA have different fields.
template <typename Properties>
void tell_properties(const Properties& told) {
#define TELL(field)                                                                                    \
  if constexpr (requires { told.field; }) tell(#field, &told.field, sizeof told.field);                \
  else tell(#field, nullptr, 0);
  WAVEPOOL_PROPERTIES(TELL)
#undef TELL
}

}  // namespace

int main() {
  int device = 0, count = 0, driver = 0, runtime = 0, range[2] = {};
  hipDeviceProp_t told = {};
  require(hipGetDevice(&device), "hipGetDevice");
  require(hipGetDeviceProperties(&told, device), "hipGetDeviceProperties");
  tell_properties(told);
#define TELL(attribute) \
  if (int value = 0; hipDeviceGetAttribute(&value, attribute, device) == hipSuccess) tell(#attribute, &value, sizeof value);
  WAVEPOOL_ATTRIBUTES(TELL)
#ifndef __CUDACC__
  WAVEPOOL_ATTRIBUTES_OF_ROCM(TELL)
#endif
#undef TELL
  require(hipGetDeviceCount(&count), "hipGetDeviceCount");
  tell("deviceCount", &count, sizeof count);
  require(hipDriverGetVersion(&driver), "hipDriverGetVersion");
  tell("driverVersion", &driver, sizeof driver);
  require(hipRuntimeGetVersion(&runtime), "hipRuntimeGetVersion");
  tell("runtimeVersion", &runtime, sizeof runtime);
  require(hipDeviceGetStreamPriorityRange(&range[0], &range[1]), "hipDeviceGetStreamPriorityRange");
  tell("streamPriorityRange", range, sizeof range);
  return 0;
}
