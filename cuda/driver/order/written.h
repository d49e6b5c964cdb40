#pragma once
// Which bytes of device memory have defined contents: a bit a byte, from their allocation on. Memory that the
// host shares, and variables of modules, are not followed: they count as written.
#include <atomic>
#include <string>

#include "cuda/driver/state.h"
#include "cuda/order/ranges.h"
#include "sim/machine/state/global_memory.h"

namespace palladion::cuda::driver {

bool follows_writes();  // whether it is known: `--check memory`

// Of one allocation. Kernels mark and ask on several threads of the host.
class Shadow {
 public:
  Shadow(Pointer base, size_t size);

  bool covers(Pointer at) const { return at - base_ < size_; }
  // Of ranges that begin in it; what is beyond its end is left out.
  void write(Pointer at, uint64_t bytes);
  bool is_written(Pointer at, uint64_t bytes) const;  // all of it
  bool any_written(Pointer at, uint64_t bytes) const;
  // What is not written; `computed`: what of it a kernel has computed from such bytes.
  order::Ranges unwritten(Pointer at, uint64_t bytes, bool computed = false) const;
  // The kernel's results there depend on bytes that nothing has written.
  void compute(Pointer at, uint64_t bytes, const std::string& kernel);
  // The bytes are those of `from`.
  void copy(Pointer at, const Shadow& from, Pointer from_at, uint64_t bytes);
  const std::string& computed_by() const { return computed_by_; }

 private:
  enum class State : uint8_t { unwritten, computed, written };
  State state_of(uint64_t offset) const;
  void set(uint64_t offset, State state);
  static std::atomic_ref<uint64_t> word(const sim::ZeroedBytes& bits, uint64_t index) {
    return std::atomic_ref(reinterpret_cast<uint64_t*>(bits.get())[index]);
  }

  Pointer base_;
  uint64_t size_;
  sim::ZeroedBytes written_, computed_;  // computed_: where written_ is 0
  std::string computed_by_;              // the last kernel
};

// The allocation that has the address, where it is followed.
Shadow* shadow_of(Pointer at);

// What the driver does. Nothing has written memory that is new.
void follow(Pointer base, size_t bytes);
void forget(Pointer base);
void wrote(Pointer at, uint64_t bytes);
void moved(Pointer to, Pointer from, uint64_t bytes);  // `from`: also what is not followed

}  // namespace palladion::cuda::driver
