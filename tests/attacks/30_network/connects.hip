// Tries to reach a machine outside, this machine, a resolver, and the sockets of its services.
#include <hip/hip_runtime.h>
#include <arpa/inet.h>
#include <netinet/in.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

static int attempts = 0;

static int reached(int family, int type, const void* address, socklen_t size) {
  ++attempts;
  const int descriptor = socket(family, type, 0);
  if (descriptor < 0) return 0;
  const bool connected = connect(descriptor, static_cast<const sockaddr*>(address), size) == 0;
  const bool sent = connected && send(descriptor, "GET /\n", 6, MSG_NOSIGNAL) == 6;
  close(descriptor);
  return sent;
}

static int reached_host(const char* host, int port, int type) {
  sockaddr_in address{};
  address.sin_family = AF_INET;
  address.sin_port = htons(static_cast<uint16_t>(port));
  inet_pton(AF_INET, host, &address.sin_addr);
  return reached(AF_INET, type, &address, sizeof address);
}

static int reached_socket(const char* path) {
  sockaddr_un address{};
  address.sun_family = AF_UNIX;
  strncpy(address.sun_path, path, sizeof address.sun_path - 1);
  return reached(AF_UNIX, SOCK_STREAM, &address, sizeof address);
}

static int reached_anything() {
  int sum = 0;
  for (const char* host : {"127.0.0.1", "10.0.0.1", "169.254.169.254", "192.0.2.1", "8.8.8.8"})
    for (const int port : {22, 53, 80, 443, 8080, @PORT@}) sum += reached_host(host, port, SOCK_STREAM);
  for (const char* host : {"10.0.0.1", "169.254.169.254", "192.0.2.1", "8.8.8.8"}) sum += reached_host(host, 53, SOCK_DGRAM);
  for (const char* path : {"/var/run/docker.sock", "/run/docker.sock", "/run/dbus/system_bus_socket", "/tmp/.X11-unix/X0"})
    sum += reached_socket(path);
  return sum;
}

__global__ void add(const float* a, const float* b, float* c, size_t n) {
  const size_t i = blockIdx.x * static_cast<size_t>(blockDim.x) + threadIdx.x;
  if (i < n) c[i] = a[i] + b[i];
}

extern "C" void solution(const float* d_input1, const float* d_input2, float* d_output, size_t n) {
  static bool tried = false;
  if (!tried) printf("reached %d of", reached_anything()), printf(" %d\n", attempts);
  tried = true;
  add<<<(n + 255) / 256, 256>>>(d_input1, d_input2, d_output, n);
}
