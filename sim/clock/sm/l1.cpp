#include "sim/clock/sm/l1.h"

#include <algorithm>
#include <bit>

namespace palladion::sim::hardware {

L1::L1(const isa::ClockParameters& p, uint64_t bytes)
    : hit_latency_(p.l1_hit_latency),
      bytes_per_cycle_(p.l1_bytes_per_cycle),
      sets_(std::bit_floor(std::max<uint64_t>(1, bytes / line_bytes / ways))) {
  lines_.assign(sets_ * ways, {});
}

L1::Line* L1::find(uint64_t line) {
  Line* const set = lines_.data() + (line ^ line / sets_) % sets_ * ways;
  for (size_t w = 0; w < ways; ++w)
    if (set[w].line == line && set[w].epoch == epoch_) return &set[w];
  return nullptr;
}

L1::Line& L1::allocate(uint64_t line, Cycle time) {
  Line* const set = lines_.data() + (line ^ line / sets_) % sets_ * ways;
  const auto age = [&](const Line& l) { return l.line == never || l.epoch != epoch_ ? Cycle() : l.used + 1; };
  Line* const oldest =
      std::min_element(set, set + ways, [&](const Line& a, const Line& b) { return age(a) < age(b); });
  *oldest = {.line = line, .used = time, .epoch = epoch_};
  return *oldest;
}

L1::Served L1::load(std::vector<LineAccess>& lines, uint32_t first, uint32_t request, Cycles start,
                    bool past) {
  Served s{.ready = start + hit_latency_};
  uint32_t kept = first, sectors = 0;
  for (uint32_t i = first; i < lines.size(); ++i) {
    LineAccess access = lines[i];
    sectors += static_cast<uint32_t>(std::popcount(access.sectors));
    if (past) {
      lines[kept++] = access;
      continue;
    }
    Line* l = find(access.line);
    if (l == nullptr) l = &allocate(access.line, cycle_of(start));
    l->used = cycle_of(start);
    if ((l->sectors & access.sectors) != 0 && l->filled == never)
      s.also = std::max(s.also + 1, l->request + 1) - 1;
    if ((l->sectors & access.sectors) != 0 && l->filled != never)
      s.ready = std::max(s.ready, time_of(l->filled));
    access.sectors &= static_cast<uint8_t>(~l->sectors);
    if (access.sectors == 0) continue;
    l->sectors |= access.sectors;
    l->filled = never;
    l->request = request;
    fills_.push_back({access.line, request});
    lines[kept++] = access;
  }
  lines.resize(kept);
  s.cycles = sectors * sector_bytes / bytes_per_cycle_;
  free_ = std::max(free_, start) + s.cycles;
  s.ready = std::max(s.ready, free_ + hit_latency_ - 1);
  return s;
}

void L1::answered(const Batch& batch) {
  for (const Fill& f : fills_) {
    Line* l = find(f.line);
    if (l != nullptr && l->request == f.request && l->filled == never)
      l->filled = batch.requests[f.request].done;
  }
  fills_.clear();
}

void L1::invalidate(const LineAccess& access) {
  if (Line* l = find(access.line)) l->sectors &= static_cast<uint8_t>(~access.sectors);
}

}  // namespace palladion::sim::hardware
