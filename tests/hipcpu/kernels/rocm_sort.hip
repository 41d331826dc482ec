// Thrust's sort of a device's memory, by ROCm's own headers.
#include <thrust/device_vector.h>
#include <thrust/host_vector.h>
#include <thrust/sort.h>

#include <algorithm>

int main() {
    std::vector<float> values(20000);
    unsigned state = 1;
    for (float& value : values) value = float((state = state * 1664525 + 1013904223) >> 8 & 1023) - 512;
    thrust::device_vector<float> sorted = values;
    thrust::sort(sorted.begin(), sorted.end());
    std::sort(values.begin(), values.end());
    CHECK(thrust::host_vector<float>(sorted) == values);
    return failures;
}
