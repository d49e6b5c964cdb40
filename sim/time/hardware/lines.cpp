#include "sim/time/hardware/lines.h"

namespace palladion::sim::hardware {

bool LineAccess::whole() const {
  uint32_t all = 0;
  for (uint32_t s = 0; s < 4; ++s) all |= (sectors >> s & 1U) * 0xFFU << 8 * s;
  return (words & all) == all;
}

uint32_t write_pieces(const LineAccess& l) {
  return static_cast<uint32_t>(std::popcount(l.sectors)) + (l.whole() ? 0 : 1);
}

uint32_t atomic_pieces(const LineAccess& l) {
  return std::has_single_bit(l.words) ? 1 : static_cast<uint32_t>(std::popcount(l.sectors)) + 1;
}

}  // namespace palladion::sim::hardware
