// Device-wide functions of rocPRIM and Thrust, by ROCm's own headers.
#include <rocprim/rocprim.hpp>
#include <thrust/device_vector.h>
#include <thrust/host_vector.h>
#include <thrust/transform.h>
#include <thrust/transform_reduce.h>

#include <numeric>

template <class Call> static void with_storage(Call call) {
    size_t bytes = 0;
    void* storage = nullptr;
    RUN(call(nullptr, bytes));
    RUN(hipMalloc(&storage, bytes));
    RUN(call(storage, bytes));
    RUN(hipFree(storage));
}

struct Square {
    __host__ __device__ long long operator()(int x) const { return (long long)x * x; }
};

int main() {
    constexpr int COUNT = 20000;
    std::vector<int> values(COUNT), expected(COUNT);
    unsigned state = 1;
    for (int& value : values) value = int((state = state * 1664525 + 1013904223) >> 8 & 1023) - 512;
    thrust::device_vector<int> in = values, out(COUNT);
    int *from = in.data().get(), *to = out.data().get();
    with_storage([&](void* storage, size_t& bytes) {
        return rocprim::inclusive_scan(storage, bytes, from, to, COUNT, rocprim::plus<int>());
    });
    std::inclusive_scan(values.begin(), values.end(), expected.begin());
    CHECK(fetched(to, COUNT) == expected);
    long long norm = 0;
    for (int value : values) norm += Square()(value);
    CHECK(thrust::transform_reduce(in.begin(), in.end(), Square(), 0LL, thrust::plus<long long>()) == norm);
    CHECK(thrust::host_vector<int>(in) == values);
    thrust::transform(in.begin(), in.end(), out.begin(), thrust::negate<int>());
    CHECK(out[0] == -values[0] && out[COUNT - 1] == -values[COUNT - 1]);
    return failures;
}
