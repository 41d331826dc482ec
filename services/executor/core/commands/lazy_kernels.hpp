// What all the lazy kernels that lazy_kernels.py makes have in common; the namespace is closed there.
#include <stdlib.h>
#include <string.h>
namespace wavepool_lazy {

template <typename T>
__global__ void fill(T* out, size_t n, T value) {
  const size_t i = blockIdx.x * static_cast<size_t>(blockDim.x) + threadIdx.x;
  if (i < n) out[i] = value;
}

template <typename T, typename S>
__global__ void copy(T* out, size_t n, const S* in, size_t m) {
  const size_t i = blockIdx.x * static_cast<size_t>(blockDim.x) + threadIdx.x;
  if (i < n) out[i] = static_cast<T>(in[i % m]);
}

// To the nearest value with `Dropped` bits less, ties to even, as all our formats are sign and magnitude.
template <typename Word, int Dropped>
__global__ void round_to_fewer_bits(Word* out, size_t n) {
  const size_t i = blockIdx.x * static_cast<size_t>(blockDim.x) + threadIdx.x;
  if (i >= n) return;
  const unsigned odd = (out[i] >> Dropped) & 1u;
  out[i] = static_cast<Word>(((out[i] + (1u << (Dropped - 1)) - 1u + odd) >> Dropped) << Dropped);
}

inline unsigned blocks(size_t n) { return static_cast<unsigned>((n + 255) / 256); }

template <typename Word, int Dropped, typename T>
void lower_precision(T* out, size_t n) {
  round_to_fewer_bits<Word, Dropped><<<blocks(n), 256>>>(reinterpret_cast<Word*>(out), n);
}

inline size_t unwritten(int lazy, size_t n) {
  if (lazy == 5) return n / 100 + 1;
  return n < 16 ? n : 16;
}

// What the end of an output held before the honest solution wrote it.
template <typename T>
struct Tail {
  T* at;
  size_t bytes;
  void* saved;
  Tail(T* out, size_t n, size_t count) : at(out + (n - count)), bytes(count * sizeof(T)), saved(malloc(bytes)) {
    (void)hipMemcpy(saved, at, bytes, hipMemcpyDeviceToHost);
  }
  ~Tail() { free(saved); }
  void restore() { (void)hipMemcpy(at, saved, bytes, hipMemcpyHostToDevice); }
};

template <typename S>
double mean(const S* in, size_t m) {
  S* host = static_cast<S*>(malloc(m * sizeof(S)));
  (void)hipMemcpy(host, in, m * sizeof(S), hipMemcpyDeviceToHost);
  double sum = 0;
  for (size_t i = 0; i < m; ++i) sum += static_cast<double>(host[i]);
  free(host);
  return sum / static_cast<double>(m);
}

template <typename T, typename S>
void act(int lazy, T* out, size_t n, const S* in, size_t m, Tail<T>& tail, T*& previous) {
  switch (lazy) {
    case 0: fill<T><<<blocks(n), 256>>>(out, n, static_cast<T>(0)); break;
    case 1: fill<T><<<blocks(n), 256>>>(out, n, static_cast<T>(1)); break;
    case 2: copy<T, S><<<blocks(n), 256>>>(out, n, in, m); break;
    case 3: fill<T><<<blocks(n), 256>>>(out, n, static_cast<T>(mean(in, m))); break;
    case 5:
    case 6: tail.restore(); break;
    case 8:
      (void)hipMalloc(reinterpret_cast<void**>(&previous), n * sizeof(T));
      (void)hipMemcpy(previous, out, n * sizeof(T), hipMemcpyDeviceToDevice);
      break;
    case 9:
      (void)hipMemcpy(out, previous, n * sizeof(T), hipMemcpyDeviceToDevice);
      (void)hipFree(previous);
      break;
    default: break;
  }
}
