#include <hip/hip_runtime.h>

#include <cstdio>

__global__ void square(int* values) { values[threadIdx.x] *= values[threadIdx.x]; }

int main() {
    int values[4] = {1, 2, 3, 4}, *device = nullptr;
    (void)hipMalloc(&device, sizeof values);
    (void)hipMemcpy(device, values, sizeof values, hipMemcpyHostToDevice);
    square<<<1, 4>>>(device);
    (void)hipMemcpy(values, device, sizeof values, hipMemcpyDeviceToHost);
    printf("%d %d %d %d\n", values[0], values[1], values[2], values[3]);
    fprintf(stderr, "done\n");
    return 3;
}
