#include <hip/hip_runtime.h>

constexpr int THREADS = 256;

__device__ float brightness(float red, float green, float blue) {
    return 0.299f * red + 0.587f * green + 0.114f * blue;
}

// Four pixels per thread: twelve floats are three whole vectors.
__global__ void convert(const float* image, float* gray, size_t pixels) {
    const size_t first = 4 * (blockIdx.x * static_cast<size_t>(THREADS) + threadIdx.x);
    if (first + 4 <= pixels) {
        const float4* from = reinterpret_cast<const float4*>(image + 3 * first);
        const float4 a = from[0], b = from[1], c = from[2];
        *reinterpret_cast<float4*>(gray + first) =
            make_float4(brightness(a.x, a.y, a.z), brightness(a.w, b.x, b.y), brightness(b.z, b.w, c.x),
                        brightness(c.y, c.z, c.w));
        return;
    }
    for (size_t at = first; at < pixels; ++at)
        gray[at] = brightness(image[3 * at], image[3 * at + 1], image[3 * at + 2]);
}

extern "C" void solution(const float* rgb_image, float* grayscale_output, size_t height, size_t width,
                         size_t channels) {
    const size_t pixels = height * width, threads = (pixels + 3) / 4;
    convert<<<static_cast<unsigned>((threads + THREADS - 1) / THREADS), THREADS>>>(rgb_image, grayscale_output, pixels);
}
