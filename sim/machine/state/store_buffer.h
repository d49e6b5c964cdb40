#pragma once
// Plain stores of a cluster to GMEM between two boundaries. The cluster sees them at once; the others see
// them from the boundary on, where they are written to GMEM in the order of the clusters. So what clusters
// read does not depend on which host thread is first, races included.
#include <cstdint>
#include <cstring>
#include <deque>
#include <vector>

#include "sim/launch/index.h"

namespace palladion::sim {

class GlobalMemory;

class StoreBuffer {
 public:
  static constexpr uint64_t chunk_bytes = 256;
  // Stored bytes after which the cluster's quantum ends: as many as stay in a core's cache.
  static constexpr uint64_t most_bytes = 1 << 16;

  // Whether stores wait for the boundary: not those of a cluster that runs alone.
  bool delays = false;

  bool empty() const { return keys_.empty(); }
  // Counts bytes that are stored, again and again too: a run without values (sim::Values::none), which takes
  // no chunk, ends its quanta where others do.
  void count(uint64_t bytes) { counted_ += bytes; }
  bool full() const { return counted_ >= most_bytes; }
  size_t chunks() const { return keys_.size(); }
  // The first byte of a chunk.
  Address key(size_t chunk) const { return keys_[chunk]; }
  // Whether the array that `address` is in was written to.
  bool touches(Address address) const {
    for (const Extent& e : arrays_)
      if (address - e.base < e.size) return true;
    return false;
  }
  // The same for any of 32 addresses, those of lanes that take no part included.
  bool touches_any(const uint64_t* addresses) const {
    uint32_t any = 0;
    for (const Extent& e : arrays_)
      for (int i = 0; i < 32; ++i) any |= static_cast<uint32_t>(addresses[i] - e.base < e.size);
    return any != 0;
  }

  // Where to write the `size` bytes at `address`, which do not cross a multiple of chunk_bytes; `memory` is
  // where they are in GMEM.
  uint8_t* take(const GlobalMemory& gmem, Address address, uint8_t* memory, uint64_t size);
  void write(const GlobalMemory& gmem, Address address, uint8_t* memory, const uint8_t* bytes, uint64_t size);

  // `size` bytes as the cluster sees them, which are at `memory` in GMEM: there, in the buffer, or in `copy`.
  // Without `copy` they do not cross a multiple of chunk_bytes, and null says that they are in both.
  const uint8_t* visible(Address address, const uint8_t* memory, uint64_t size, uint8_t* copy) const;

  // Writes a chunk to GMEM.
  void perform(size_t i) const;
  // Keeps its memory for the next stores.
  void clear();

 private:
  struct Chunk {
    uint8_t* memory;                     // of its first byte in GMEM
    uint64_t written[chunk_bytes / 64];  // a bit a byte
    uint8_t bytes[chunk_bytes];          // those that are written
    void mark(uint64_t offset, uint64_t size);
    uint64_t count(uint64_t offset, uint64_t size) const;  // written bytes
  };
  // Chunks stay where they are, and their memory is used again after `clear`.
  struct Slab {
    static constexpr size_t size = 64;
    Slab() {}  // NOLINT: chunks are filled when they are used
    Chunk chunks[size];
  };
  struct Extent {
    Address base;
    uint64_t size = 0;
  };
  static constexpr uint32_t none = ~0U;

  Chunk& chunk(size_t i) { return slabs_[i / Slab::size].chunks[i % Slab::size]; }
  const Chunk& chunk(size_t i) const { return slabs_[i / Slab::size].chunks[i % Slab::size]; }
  uint32_t find(Address key, const uint8_t* memory) const;
  uint32_t add(const GlobalMemory& gmem, Address address, Address key, uint8_t* memory);
  void rehash(size_t places);
  size_t place_of(Address key) const;
  void see_piece(const Chunk& chunk, uint64_t offset, uint64_t size, uint8_t* to) const;

  std::vector<Address> keys_;  // of the chunks
  std::deque<Slab> slabs_;
  std::vector<uint32_t> table_;  // by hash: chunk + 1, 0: none; a power of two
  std::vector<Extent> arrays_;   // that were written to
  uint64_t counted_ = 0;         // bytes
};

// `size` bytes of GMEM as a cluster sees them, in `copy` where its own stores are among them; null when any
// byte is outside all allocations.
const uint8_t* seen(const GlobalMemory& gmem, const StoreBuffer& stores, Address address, uint64_t size,
                    uint8_t* copy);

}  // namespace palladion::sim
