#pragma once
// GMEM of one device: allocations at device addresses, backed by host memory. Allocations are made
// before a run; during a run only bytes change, so look-ups need no lock.
#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <vector>

namespace palladion::sim {

using Address = uint64_t;

struct Allocation {
  Address base = 0;
  uint64_t size = 0;
  uint8_t* bytes = nullptr;
  std::string name;                  // what messages call it
  bool undefined = false;            // nobody has given it contents: to be written before it is read
  std::unique_ptr<uint8_t[]> owned;  // null when bound to the caller's memory
};

class GlobalMemory {
 public:
  // Reserves `size` bytes, zeroed, 512-byte aligned with a guard gap on both sides.
  Address allocate(uint64_t size, std::string name);
  // Gives the caller's bytes a device address without a copy.
  Address bind(std::span<uint8_t> bytes, std::string name, bool undefined = false);
  void release(Address base);

  // Host pointer of [address, address+size), or nullptr when any byte is outside all allocations.
  uint8_t* find(Address address, uint64_t size) const {
    const Allocation* a = lookup(address);
    return a != nullptr && address + size <= a->base + a->size ? a->bytes + (address - a->base) : nullptr;
  }
  const Allocation* lookup(Address address) const;
  // The allocation whose guard gap or bytes are nearest, for messages.
  std::string describe(Address address) const;

 private:
  Address add(uint64_t size, uint8_t* bytes, std::unique_ptr<uint8_t[]> owned, std::string name);

  std::vector<Allocation> allocations_;  // ascending bases
  Address next_ = 0x7F00'0000'0000;
};

}  // namespace palladion::sim
