// A file descriptor that closes itself.
#pragma once

#include <unistd.h>

#include <utility>

namespace palladion::host {

class Descriptor {
 public:
  explicit Descriptor(int value = -1) : value_(value) {}  // negative: none
  Descriptor(Descriptor&& other) noexcept : value_(std::exchange(other.value_, -1)) {}
  Descriptor& operator=(Descriptor&& other) noexcept {
    std::swap(value_, other.value_);
    return *this;
  }
  ~Descriptor() { close(); }

  int get() const { return value_; }
  explicit operator bool() const { return value_ >= 0; }
  // Some file systems report a failed write only here.
  bool close() { return value_ < 0 || ::close(std::exchange(value_, -1)) == 0; }

 private:
  int value_;
};

}  // namespace palladion::host
