struct __hip_fp8_e4m3;
struct __hip_fp8_e5m2_fnuz;
#include <cuda_fp8.h>
#include <hip/hip_runtime.h>
#include <stdio.h>

// Decodes all codes, and encodes numbers all over the range of float, in each of the four types.
constexpr int CODES = 256;
constexpr int NUMBERS = 1 << 17;
constexpr unsigned STEP = 0x8000;  // ties among them

template <class T> __global__ void convert(float* decoded, unsigned char* encoded) {
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < CODES) {
        T code;
        code.__x = (unsigned char)i;
        decoded[i] = float(code);
    }
    if (i < NUMBERS) encoded[i] = T(__uint_as_float(i * STEP)).__x;
}

template <class T> void report() {
    float *decoded, decoded_here[CODES];
    unsigned char *encoded, encoded_here[NUMBERS];
    hipMalloc(&decoded, sizeof decoded_here);
    hipMalloc(&encoded, sizeof encoded_here);
    convert<T><<<NUMBERS / 256, 256>>>(decoded, encoded);
    hipMemcpy(decoded_here, decoded, sizeof decoded_here, hipMemcpyDeviceToHost);
    hipMemcpy(encoded_here, encoded, sizeof encoded_here, hipMemcpyDeviceToHost);
    fwrite(decoded_here, 1, sizeof decoded_here, stdout);
    fwrite(encoded_here, 1, sizeof encoded_here, stdout);
}

int main() {
    report<__nv_fp8_e4m3>();
    report<__hip_fp8_e5m2>();
    report<__hip_fp8_e4m3_fnuz>();
    report<__hip_fp8_e5m2_fnuz>();
    return 0;
}
