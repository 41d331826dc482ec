// The runner's end of the channel: a socket for orders and replies, a file in memory for the data.
#pragma once

#include <cstddef>

#include "protocol.hpp"

namespace wavepool {

class Channel {
 public:
  // The file `key_path` has the key that proves to the judge that it started this sandbox.
  Channel(const char* socket_path, const char* key_path, const char* memory_path);
  Channel(const Channel&) = delete;
  Channel& operator=(const Channel&) = delete;

  // Waits for an order; false if the judge is gone.
  bool receive(OrderMessage& order) const;
  void send(const ReplyMessage& reply) const;
  // The file as it is now; it is mapped again if the judge has resized it.
  const Plan& plan();
  // The first `count` bytes of the file as it is now.
  const unsigned char* bytes(std::size_t count);
  unsigned char* memory() const { return memory_; }

 private:
  void follow_size();
  void map_again(std::size_t file_bytes);

  int socket_;
  int file_;
  std::size_t mapped_bytes_ = 0;
  unsigned char* memory_ = nullptr;
};

// Ends the process early; the judge finds the reason on stderr.
[[noreturn]] void give_up(const char* what);

}  // namespace wavepool
