#include "sim/clock/memory/lines.h"

#include <algorithm>

namespace palladion::sim::hardware {

bool LineAccess::whole() const {
  uint32_t all = 0;
  for (uint32_t s = 0; s < 4; ++s) all |= (sectors >> s & 1U) * 0xFFU << 8 * s;
  return (words & all) == all;
}

bool are_scattered(std::span<const LineAccess> lines) {
  if (lines.empty()) return false;
  const auto [first, last] = std::ranges::minmax_element(lines, {}, &LineAccess::line);
  return (last->line - first->line) * line_bytes > 128 << 10;
}

uint32_t write_pieces(const LineAccess& l) {
  return static_cast<uint32_t>(std::popcount(l.sectors)) + (l.whole() ? 0 : 1);
}

uint32_t atomic_pieces(const LineAccess& l) {
  return std::has_single_bit(l.words) ? 1 : static_cast<uint32_t>(std::popcount(l.sectors)) + 1;
}

}  // namespace palladion::sim::hardware
