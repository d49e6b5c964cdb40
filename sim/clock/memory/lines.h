#pragma once
// Lines of GMEM: what an access touches of them, and which of L2's places is whose.
#include <bit>
#include <cstddef>
#include <cstdint>
#include <span>

#include "sim/clock/memory/cycles.h"

namespace palladion::sim::hardware {

inline constexpr uint32_t line_bytes = 128, sector_bytes = 32;

struct LineAccess {
  uint64_t line = 0;     // address / line_bytes
  uint8_t sectors = 0;   // mask
  uint8_t alike = 1;     // of an atomic: the most lanes that want one word
  uint32_t words = ~0U;  // mask
  bool whole() const;    // all words of its sectors
};

// Whether they lie over more than 128 KiB: HBM answers later then.
bool are_scattered(std::span<const LineAccess> lines);

// 32-byte pieces that the access takes on its way to L2: what does not write whole sectors says which bytes.
uint32_t write_pieces(const LineAccess& l);
uint32_t atomic_pieces(const LineAccess& l);

inline uint32_t bytes_of(uint8_t sectors) {
  return static_cast<uint32_t>(std::popcount(sectors)) * sector_bytes;
}

inline uint64_t mixed(uint64_t line) {
  line ^= line >> 7;
  line *= 0x9E3779B97F4A7C15ULL;
  return line ^ (line >> 29);
}

// Neighbours go to different places, as many to each; which follows which changes from block to block.
inline size_t spread(uint64_t line, uint64_t places) {
  return static_cast<size_t>((line + mixed(line / places) % places) % places);
}

// The partitions of L2, a power of two: of as many neighbouring lines each partition is the home of one.
class Partitions {
 public:
  explicit Partitions(uint32_t count) : bits_(static_cast<uint32_t>(std::countr_zero(count))) {}
  uint32_t count() const { return 1U << bits_; }
  uint32_t home_of(uint64_t line) const {
    return static_cast<uint32_t>((line ^ mixed(line >> bits_)) & (count() - 1));
  }
  // Numbers the lines that have one home.
  uint64_t within(uint64_t line) const { return line >> bits_; }

 private:
  uint32_t bits_;
};

}  // namespace palladion::sim::hardware
