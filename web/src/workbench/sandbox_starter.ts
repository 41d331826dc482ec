export const SANDBOX_STARTER = `#include <hip/hip_runtime.h>
#include <cstdio>

__global__ void hello(int* out) {
    out[threadIdx.x] = threadIdx.x * threadIdx.x;
}

int main() {
    int* out;
    hipMalloc(&out, 8 * sizeof(int));
    hello<<<1, 8>>>(out);
    int squares[8];
    hipMemcpy(squares, out, sizeof(squares), hipMemcpyDeviceToHost);
    for (int square : squares) printf("%d\\n", square);
    hipFree(out);
}
`;
