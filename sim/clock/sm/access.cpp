#include "sim/clock/sm/access.h"

#include <algorithm>

namespace palladion::sim::hardware {

namespace {

// One pass group: the most different words that one bank must give.
uint32_t passes_of(const uint64_t* addresses, uint32_t lanes, uint32_t words) {
  uint32_t count[32] = {}, most = 0;
  uint64_t seen[32][32];
  for (uint32_t m = lanes; m != 0; m &= m - 1) {
    const uint64_t first = addresses[std::countr_zero(m)] / 4;
    for (uint32_t w = 0; w < words; ++w) {
      const uint64_t word = first + w;
      const auto bank = static_cast<uint32_t>(word % 32);
      uint64_t* const known = seen[bank];
      if (std::find(known, known + count[bank], word) != known + count[bank]) continue;
      if (count[bank] < 32) known[count[bank]++] = word;
      most = std::max(most, count[bank]);
    }
  }
  return most;
}

}  // namespace

uint32_t shared_passes(const uint64_t* addresses, uint32_t lanes, uint32_t bytes) {
  if (bytes <= 4) return passes_of(addresses, lanes, 1);
  const uint32_t groups = bytes / 4, width = 32 / groups;
  uint32_t passes = 0;
  for (uint32_t g = 0; g < groups; ++g) {
    const uint32_t group = width == 32 ? ~0U : ((1U << width) - 1) << g * width;
    if ((lanes & group) != 0) passes += passes_of(addresses, lanes & group, groups);
  }
  return passes;
}

uint32_t most_alike(const uint64_t* addresses, uint32_t lanes) {
  uint32_t most = 0;
  for (uint32_t left = lanes; left != 0;) {
    const uint64_t word = addresses[std::countr_zero(left)] / 4;
    uint32_t same = 0;
    for (uint32_t m = left; m != 0; m &= m - 1)
      if (addresses[std::countr_zero(m)] / 4 == word) same |= m & (0 - m);
    most = std::max(most, static_cast<uint32_t>(std::popcount(same)));
    left &= ~same;
  }
  return most;
}

uint32_t atomic_passes(const uint64_t* addresses, uint32_t lanes, uint32_t bytes) {
  uint32_t count[32] = {}, most = 0;
  for (uint32_t m = lanes; m != 0; m &= m - 1)
    for (uint64_t word = 0; word < std::max(1U, bytes / 4); ++word)
      most = std::max(most, ++count[(addresses[std::countr_zero(m)] / 4 + word) % 32]);
  return most;
}

uint32_t ideal_passes(uint32_t lanes, uint32_t bytes) {
  if (lanes == 0) return 0;
  const uint32_t groups = std::max(1U, bytes / 4), width = 32 / groups;
  uint32_t passes = 0;
  for (uint32_t g = 0; g < groups; ++g)
    passes += (lanes & (width == 32 ? ~0U : ((1U << width) - 1) << g * width)) != 0;
  return passes;
}

namespace {

// The words of a sector that bytes [first, end] cover, in the mask of its line.
uint32_t words_of(uint64_t sector, uint64_t first, uint64_t end) {
  const uint64_t from = std::max(first, sector * sector_bytes) % line_bytes / 4;
  const uint64_t to = std::min(end, (sector + 1) * sector_bytes - 1) % line_bytes / 4;
  return static_cast<uint32_t>((2ULL << to) - (1ULL << from));
}

}  // namespace

uint32_t touched_lines(const uint64_t* addresses, uint32_t lanes, uint32_t bytes,
                       std::vector<LineAccess>& out) {
  const size_t before = out.size();
  size_t last = before;
  for (uint32_t m = lanes; m != 0; m &= m - 1) {
    const uint64_t first = addresses[std::countr_zero(m)], end = first + std::max(1U, bytes) - 1;
    for (uint64_t sector = first / sector_bytes; sector <= end / sector_bytes; ++sector) {
      const uint64_t line = sector * sector_bytes / line_bytes;
      if (last >= out.size() || out[last].line != line) {
        const auto found = std::find_if(out.begin() + static_cast<std::ptrdiff_t>(before), out.end(),
                                        [&](const LineAccess& l) { return l.line == line; });
        last = static_cast<size_t>(found - out.begin());
        if (found == out.end()) out.push_back({.line = line, .words = 0});
      }
      out[last].sectors |= static_cast<uint8_t>(1U << sector % (line_bytes / sector_bytes));
      out[last].words |= words_of(sector, first, end);
    }
  }
  return static_cast<uint32_t>(out.size() - before);
}

}  // namespace palladion::sim::hardware
