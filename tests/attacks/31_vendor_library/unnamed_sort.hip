// The library's sort, found by the types of its arguments: the source has no `std::sort`.
#include <hip/hip_runtime.h>
#include <algorithm>
#include <vector>

extern "C" void solution(const int* a, int* b, size_t n) {
  std::vector<int> values(n);
  (void)hipMemcpy(values.data(), a, n * sizeof(int), hipMemcpyDeviceToHost);
  sort(values.begin(), values.end());
  (void)hipMemcpy(b, values.data(), n * sizeof(int), hipMemcpyHostToDevice);
}
