#include "channel.hpp"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <unistd.h>

namespace wavepool {

namespace {

constexpr int kGaveUp = 70;
constexpr std::size_t kKeyBytes = 32;  // private_socket.py

int connect_to(const char* path) {
  const int connected = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
  sockaddr_un address{};
  address.sun_family = AF_UNIX;
  strncpy(address.sun_path, path, sizeof address.sun_path - 1);
  if (connected < 0 || connect(connected, reinterpret_cast<sockaddr*>(&address), sizeof address) != 0) {
    give_up("cannot connect to the judge");
  }
  return connected;
}

void prove_to_the_judge(int connected, const char* key_path) {
  unsigned char key[kKeyBytes];
  const int file = open(key_path, O_RDONLY | O_CLOEXEC);
  if (file < 0 || read(file, key, sizeof key) != sizeof key) give_up("cannot read its key");
  close(file);
  if (::send(connected, key, sizeof key, MSG_NOSIGNAL) != sizeof key) give_up("cannot send its key");
}

}  // namespace

void give_up(const char* what) {
  fprintf(stderr, "wavepool runner: %s (%s)\n", what, strerror(errno));
  _exit(kGaveUp);
}

Channel::Channel(const char* socket_path, const char* key_path, const char* memory_path)
    : socket_(connect_to(socket_path)), file_(open(memory_path, O_RDWR | O_CLOEXEC)) {
  if (file_ < 0) give_up("cannot open the shared memory");
  prove_to_the_judge(socket_, key_path);
}

bool Channel::receive(OrderMessage& order) const {
  auto* bytes = reinterpret_cast<unsigned char*>(&order);
  for (std::size_t have = 0; have < sizeof order;) {
    const ssize_t got = recv(socket_, bytes + have, sizeof order - have, 0);
    if (got < 0 && errno == EINTR) continue;
    if (got <= 0) return false;
    have += static_cast<std::size_t>(got);
  }
  return order.magic == kMessageMagic;
}

void Channel::send(const ReplyMessage& reply) const {
  const auto* bytes = reinterpret_cast<const unsigned char*>(&reply);
  for (std::size_t sent = 0; sent < sizeof reply;) {
    const ssize_t gone = ::send(socket_, bytes + sent, sizeof reply - sent, MSG_NOSIGNAL);
    if (gone < 0 && errno == EINTR) continue;
    if (gone <= 0) give_up("the judge is gone");
    sent += static_cast<std::size_t>(gone);
  }
}

const unsigned char* Channel::bytes(std::size_t count) {
  follow_size();
  if (count > mapped_bytes_) give_up("the shared memory holds less than the judge says");
  return memory_;
}

void Channel::follow_size() {
  struct stat status{};
  if (fstat(file_, &status) != 0) give_up("cannot read the shared memory's size");
  const auto file_bytes = static_cast<std::size_t>(status.st_size);
  if (file_bytes != mapped_bytes_) map_again(file_bytes);
}

const Plan& Channel::plan() {
  follow_size();
  const Plan& plan = *reinterpret_cast<const Plan*>(memory_);
  if (plan.magic != kPlanMagic || plan.file_bytes != mapped_bytes_ || plan.argument_count > kMostArguments ||
      plan.shift_bytes > kMostShiftBytes) {
    errno = EPROTO;
    give_up("the judge's plan makes no sense");
  }
  return plan;
}

void Channel::map_again(std::size_t file_bytes) {
  if (memory_ != nullptr) munmap(memory_, mapped_bytes_);
  if (file_bytes < sizeof(Plan)) give_up("the shared memory is too small");
  void* mapped = mmap(nullptr, file_bytes, PROT_READ | PROT_WRITE, MAP_SHARED, file_, 0);
  if (mapped == MAP_FAILED) give_up("cannot map the shared memory");
  memory_ = static_cast<unsigned char*>(mapped);
  mapped_bytes_ = file_bytes;
}

}  // namespace wavepool
