// Times one kernel without any of Wavepool's code: by events and by graphs, hot and cold. One file for hipcc, nvcc and
// the `cpu` device; independent.py puts the kernel's source and the defines before it.
//
//   BUFFERS  the number of floats of each buffer      CALL(p, s)     the call, on buffers p and stream s
//   SWEEP    bytes that go through the caches          SAMPLES        how many times are taken of each
//   GRAPHS   1 if the device has graphs
//
// It prints lines `WAY MODE MICROSECONDS`. Between the events of a sample lies nothing but the kernel; what comes before
// them keeps the device busy, so that the host is ahead of it.
#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <vector>

namespace {

void require(GPU(Error_t) error, const char* what) {
  if (error == GPU(Success)) return;
  std::fprintf(stderr, "%s: %s\n", what, GPU(GetErrorString)(error));
  std::exit(1);
}

#define REQUIRE(call) require(GPU(call), #call)

const std::size_t kBuffers[] = {BUFFERS};
constexpr int kCallsInGraph = 8;

std::vector<float*> buffers;
void* swept = nullptr;
GPU(Stream_t) stream;
GPU(Event_t) first, second;

__global__ void fill(float* data, std::size_t n) {
  const std::size_t i = blockIdx.x * (std::size_t)blockDim.x + threadIdx.x;
  if (i < n) data[i] = (float)(((unsigned)i * 2654435761u) >> 8) / 16777216.0f - 0.5f;
}

double median(std::vector<double> values) {
  std::sort(values.begin(), values.end());
  return values[values.size() / 2];
}

void sweep() { REQUIRE(MemsetAsync(swept, 1, SWEEP, stream)); }

double by_events(bool cold) {
  std::vector<double> us;
  for (int sample = 0; sample < SAMPLES; ++sample) {
    if (cold) {
      sweep();
    } else {
      CALL(buffers, stream);
    }
    REQUIRE(EventRecord(first, stream));
    CALL(buffers, stream);
    REQUIRE(EventRecord(second, stream));
    REQUIRE(EventSynchronize(second));
    float ms = 0;
    REQUIRE(EventElapsedTime(&ms, first, second));
    us.push_back(1e3 * ms);
  }
  return median(us);
}

#if GRAPHS
GPU(GraphExec_t) captured(bool sweeps, bool calls) {
  GPU(Graph_t) graph;
  GPU(GraphExec_t) ready;
  REQUIRE(StreamBeginCapture(stream, GPU(StreamCaptureModeGlobal)));
  for (int call = 0; call < kCallsInGraph; ++call) {
    if (sweeps) sweep();
    if (calls) CALL(buffers, stream);
  }
  REQUIRE(StreamEndCapture(stream, &graph));
  REQUIRE(GraphInstantiate(&ready, graph, nullptr, nullptr, 0));
  REQUIRE(GraphDestroy(graph));
  return ready;
}

double of_graph(bool sweeps, bool calls) {
  const GPU(GraphExec_t) graph = captured(sweeps, calls);
  std::vector<double> us;
  for (int sample = -2; sample < SAMPLES; ++sample) {
    sweep();
    REQUIRE(EventRecord(first, stream));
    REQUIRE(GraphLaunch(graph, stream));
    REQUIRE(EventRecord(second, stream));
    REQUIRE(EventSynchronize(second));
    float ms = 0;
    REQUIRE(EventElapsedTime(&ms, first, second));
    if (sample >= 0) us.push_back(1e3 * ms / kCallsInGraph);
  }
  REQUIRE(GraphExecDestroy(graph));
  return median(us);
}
#endif

}  // namespace

int main() {
  for (const std::size_t n : kBuffers) {
    float* data = nullptr;
    REQUIRE(Malloc((void**)&data, n * sizeof(float)));
    fill<<<(unsigned)((n + 255) / 256), 256>>>(data, n);
    buffers.push_back(data);
  }
  REQUIRE(Malloc(&swept, SWEEP));
  REQUIRE(StreamCreate(&stream));
  REQUIRE(EventCreate(&first));
  REQUIRE(EventCreate(&second));
  REQUIRE(DeviceSynchronize());
  for (int call = 0; call < 20; ++call) CALL(buffers, stream);
  REQUIRE(StreamSynchronize(stream));
  REQUIRE(GetLastError());
  std::printf("events hot %.4f\n", by_events(false));
  std::printf("events cold %.4f\n", by_events(true));
#if GRAPHS
  std::printf("graph hot %.4f\n", of_graph(false, true));
  std::printf("graph cold %.4f\n", of_graph(true, true) - of_graph(true, false));
#endif
}
