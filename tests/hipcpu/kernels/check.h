// Appended before each case: counts what went wrong and names it.
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <vector>
static int failures = 0;
#define CHECK(condition)                                                  \
    do {                                                                  \
        if (!(condition)) {                                               \
            std::printf("line %d: %s\n", __LINE__, #condition);           \
            ++failures;                                                   \
        }                                                                 \
    } while (0)
#define RUN(call) CHECK((call) == hipSuccess)
template <class T> static std::vector<T> fetched(const T* device, size_t count) {
    std::vector<T> host(count);
    RUN(hipMemcpy(host.data(), device, count * sizeof(T), hipMemcpyDeviceToHost));
    return host;
}
template <class T> static T* sent(const std::vector<T>& host) {
    T* device = nullptr;
    RUN(hipMalloc(&device, host.size() * sizeof(T)));
    RUN(hipMemcpy(device, host.data(), host.size() * sizeof(T), hipMemcpyHostToDevice));
    return device;
}
template <class T> static T* zeros(size_t count) { return sent(std::vector<T>(count)); }
