#include "sim/clock/memory/held_lines.h"

namespace palladion::sim::hardware {

Tag& HeldLines::find(uint64_t line, uint32_t side, uint32_t cpc, Cycles time) {
  if (Tag* const found = tags_.look_up(line, side)) return tags_.touch(*found);
  Tag& oldest = tags_.oldest(line, side);
  leave(oldest, cpc, time);
  return tags_.replace(oldest, line);
}

// What HBM does not have goes there.
void HeldLines::leave(Tag& tag, uint32_t cpc, Cycles time) {
  if (tag.dirty == 0) return;
  const uint32_t bytes = bytes_of(tag.dirty);
  dirty_bytes_ -= bytes;
  tag.dirty = 0;
  hbm_.write(cpc, time, bytes);
}

void HeldLines::mark_dirty(Tag& tag, uint8_t sectors, uint32_t cpc, Cycles time) {
  if (tag.dirty == 0) dirty_.push_back(tag.line);
  dirty_bytes_ += bytes_of(static_cast<uint8_t>(sectors & ~tag.dirty));
  tag.dirty |= sectors;
  tag.valid |= sectors;
  while (static_cast<double>(dirty_bytes_) > p_.l2_dirty_bytes && !dirty_.empty()) {
    const uint64_t line = dirty_.front();
    dirty_.pop_front();
    if (Tag* const first = tags_.look_up(line, partitions_.home_of(line))) leave(*first, cpc, time);
  }
}

void HeldLines::drop_copies(uint64_t line) {
  const uint32_t home = partitions_.home_of(line);
  for (uint32_t side = 0; side < partitions_.count(); ++side)
    if (Tag* const copy = side == home ? nullptr : tags_.look_up(line, side)) tags_.drop(*copy);
}

Cycles HeldLines::fetch(Tag& home, const Request& r, uint8_t missing, uint32_t cpc, Cycles time,
                        Slices& slices) {
  const uint32_t bytes = bytes_of(missing);
  const Cycles start = slices.write(home.line, partitions_.home_of(home.line), time, bytes);
  home.valid |= missing;
  return home.filled = hbm_.read(cpc, start, home.line, bytes) + hbm_.latency(home.line, start, r.scattered);
}

// The other line of 256 bytes may come along, to a home of its own.
Cycles HeldLines::fill(Tag& home, const Request& r, uint8_t missing, uint32_t cpc, Cycles time,
                       Slices& slices) {
  const Cycles filled = fetch(home, r, missing, cpc, time, slices);
  if (!r.pairs_of_lines) return filled;
  const uint64_t other = home.line ^ 1;
  if (Tag& tag = find(other, partitions_.home_of(other), cpc, time); tag.valid == 0)
    fetch(tag, r, 0xF, cpc, time, slices);
  return filled;
}

}  // namespace palladion::sim::hardware
