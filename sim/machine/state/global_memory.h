#pragma once
// GMEM of one device: allocations at device addresses, backed by host memory. Allocations are made
// before a run; during a run only bytes change, so look-ups need no lock.
#include <algorithm>
#include <cstdint>
#include <deque>
#include <map>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "sim/launch/index.h"
#include "sim/launch/statement.h"

namespace palladion::sim {

// Zeros. Pages that are never written take no memory of the host, so an array may be larger than that.
struct ReleaseBytes {
  uint64_t mapped = 0;  // bytes; 0: from calloc
  void operator()(uint8_t* bytes) const;
};
using ZeroedBytes = std::unique_ptr<uint8_t[], ReleaseBytes>;
ZeroedBytes zeroed_bytes(uint64_t size);

struct Allocation {
  Address base;
  uint64_t size = 0;
  uint8_t* bytes = nullptr;
  std::string name;            // its name in messages
  bool undefined = false;      // has no initial contents: must be written before it is read
  bool host_writes = false;    // pinned or managed: the host can write there while a kernel runs
  ZeroedBytes owned;           // null when bound to the caller's memory
  ZeroedBytes unmaterialised;  // bytes that are not materialised, see unmaterialised.h; null: not tracked

  // Whether [address, address + count) lies in it, which begins at or before `address`.
  bool holds(Address address, uint64_t count) const {
    return count <= size && address - base <= size - count;
  }
};

// The bytes of all allocations. Pages of zeros take no room, as they take none in the host's memory.
class MemoryImage {
 public:
  friend bool operator==(const MemoryImage&, const MemoryImage&) = default;

 private:
  friend class GlobalMemory;
  struct Pages {
    std::vector<uint64_t> offsets;  // of those that are not zero
    std::vector<uint8_t> bytes;     // theirs, one after the other
    friend bool operator==(const Pages&, const Pages&) = default;
  };
  struct Array {
    Address base;
    Pages bytes, unmaterialised;
    friend bool operator==(const Array&, const Array&) = default;
  };
  static Pages pages(const uint8_t* bytes, uint64_t size);
  static void put(const Pages& pages, uint8_t* bytes, uint64_t size);
  std::vector<Array> arrays_;
};

class GlobalMemory {
 public:
  // Reserves `size` bytes, zeroed, 512-byte aligned with a guard gap on both sides.
  Address allocate(uint64_t size, std::string name, bool undefined = false);
  // Gives the caller's bytes a device address without a copy.
  Address bind(std::span<uint8_t> bytes, std::string name, bool undefined = false);
  // The same at an address that the caller chooses, for memory whose pointers are already stored somewhere.
  // False when these addresses, or a part of them, are taken.
  bool bind_at(Address base, std::span<uint8_t> bytes, std::string name, bool undefined = false);
  void release(Address base);
  // Where addresses of the host's are valid in messages: whether one is. Without it none is known.
  void know_host(bool (*is_host)(Address)) { is_host_ = is_host; }
  // The allocation at `base` is memory that the host can write to while a kernel runs.
  void share_with_host(Address base);

  // Host pointer of [address, address+size), or nullptr when any byte is outside all allocations.
  uint8_t* find(Address address, uint64_t size) const {
    const Allocation* a = lookup(address);
    return a != nullptr && a->holds(address, size) ? a->bytes + (address - a->base) : nullptr;
  }
  const Allocation* lookup(Address address) const {
    const Allocation* const a = below(address);
    return a != nullptr && address - a->base < std::max<uint64_t>(a->size, 1) ? a : nullptr;
  }
  // Makes look-ups fast until the next allocation or release: to be called before a run goes on.
  void index();
  template <class Visit>
  void for_each(Visit&& visit) const {
    for (const auto& [base, a] : allocations_) visit(a);
  }
  // For runs without values, see sim/machine/exec/values_checked.h. From track_unmaterialised on, arrays
  // without contents are not materialised; `note` records stores of known values (`moved`) and of tensor
  // data.
  void track_unmaterialised();
  void forget_unmaterialised();
  void note(Address address, uint64_t size, bool moved) const;
  bool unmaterialised(Address address, uint64_t size) const;

  // Restores the bytes of an earlier image; the allocations must be the same.
  MemoryImage image() const;
  void restore(const MemoryImage& image);

  // What an address is that an access outside of all allocations used.
  enum class Where : uint8_t { inside, near, null, freed, host, nowhere };
  Where where(Address address) const;
  // From the nearest byte of an allocation.
  uint64_t distance(Address address) const;
  // For findings: NULL, what was freed there, a pointer of the host, else the nearest allocation.
  Statement describe(Address address) const;

 private:
  // With the largest base that is not above the address.
  const Allocation* below(Address address) const {
    if (bases_.empty()) {
      const auto after = allocations_.upper_bound(address);
      return after != allocations_.begin() ? &std::prev(after)->second : nullptr;
    }
    const auto after = std::upper_bound(bases_.begin(), bases_.end(), address) - bases_.begin();
    return after != 0 ? indexed_[static_cast<size_t>(after - 1)] : nullptr;
  }
  const Allocation* nearest(Address address, uint64_t& distance) const;
  const Allocation* freed(Address address) const;
  bool insert(Allocation allocation);
  Address add(uint64_t size, uint8_t* bytes, ZeroedBytes owned, std::string name, bool undefined);

  std::map<Address, Allocation> allocations_;  // by their bases
  std::vector<Address> bases_;                 // of all; empty: not since the last change
  std::vector<const Allocation*> indexed_;     // in the order of their bases
  std::deque<Allocation> freed_;               // without their bytes; the last ones, in order
  bool (*is_host_)(Address) = nullptr;
  Address next_{0x7F00'0000'0000};
};

}  // namespace palladion::sim
