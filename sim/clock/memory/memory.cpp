#include "sim/clock/memory/memory.h"

#include <algorithm>
#include <bit>
#include <cmath>
#include <vector>

namespace palladion::sim::hardware {
namespace {

// So many lines before one is served the host fetches what it needs for it.
constexpr size_t ahead = 16;

}  // namespace

MemoryClock::MemoryClock(const isa::ClockParameters& parameters, const isa::ArchSpec& arch)
    : p_(parameters),
      partitions_(static_cast<uint32_t>(arch.l2_partitions)),
      ways_(p_, sites(arch), partitions_),
      slices_(p_, partitions_),
      held_(p_, partitions_, ways_.sites().back().cpc + 1),
      merges_(p_, ways_.sites().back().gpc + 1),
      atomics_(p_, slices_.size(), ways_.sites().size()) {}

// Copies that are not at home do not outlive the kernel that made them.
void MemoryClock::touch(uint64_t line, bool written) {
  Tag& tag = held_.find(line, partitions_.home_of(line), 0, 0);
  tag.valid = 0xF;
  if (written) held_.mark_dirty(tag, 0xF, 0, 0);
}

void MemoryClock::warm_up(const GlobalMemory& memory, std::span<const Address> written) {
  struct Array {
    uint64_t first, lines;
    bool written;
  };
  std::vector<Array> arrays;
  uint64_t steps = 1, all = 1;
  memory.for_each([&](const Allocation& a) {
    const uint64_t first = a.base / line_bytes, lines = (a.base + a.size - 1) / line_bytes - first + 1;
    arrays.push_back({first, lines, std::ranges::find(written, a.base) != written.end()});
    steps = std::max(steps, lines);
    all += lines;
  });
  // What was touched long before the end has left.
  const double kept = std::min(1.0, 2.0 * static_cast<double>(held_.size()) / static_cast<double>(all));
  for (auto step = static_cast<uint64_t>((1 - kept) * static_cast<double>(steps)); step < steps; ++step) {
    for (const Array& a : arrays)
      for (uint64_t i = a.lines * step / steps; i < a.lines * (step + 1) / steps; ++i)
        touch(a.first + i, a.written);
  }
  counters_ = {};
  held_.hbm().rest();
}

// Line by line over all SMs: copies that are under way at once are serialised.
void MemoryClock::serve(std::span<Batch* const> batches) {
  for (Batch* b : batches)
    for (Request& r : b->requests) r.done = r.time;
  const auto order = order_.of(batches);
  for (size_t i = 0; i < order.size(); ++i) {
    if (i + ahead < order.size()) prefetch(order[i + ahead]);
    const LineOrder::Entry& e = order[i];
    const Cycles done = serve(*e.request, e.line, e.time);
    e.request->done = std::max(e.request->done, static_cast<Cycle>(std::llround(done)));
  }
}

// The line is served soon: what the host has to look at should be in its caches by then.
void MemoryClock::prefetch(const LineOrder::Entry& e) const {
  const Site& site = ways_.site(e.request->sm);
  held_.prefetch(e.line.line, site.side);
  merges_.prefetch(site.gpc, e.line.line);
}

ClockCounters MemoryClock::counters() const {
  ClockCounters all = counters_;
  all.dram_read_bytes = held_.hbm().read_bytes();
  all.dram_write_bytes = held_.hbm().written_bytes();
  return all;
}

Cycles MemoryClock::serve(Request& r, const LineAccess& l, Cycles time) {
  return r.kind == Request::Kind::read    ? read(r, l, time)
         : r.kind == Request::Kind::write ? write(r, l, time)
                                          : atomic(r, l, time);
}

// What an SM of another partition has written takes longer to come the first time.
Cycles MemoryClock::written_far(Tag& home, uint32_t side) const {
  const auto bit = static_cast<uint8_t>(1U << side);
  if ((home.sides & bit) != 0) return 0;
  home.sides |= bit;
  return p_.l2_written_far;
}

// The home of a line gives it to the partition near the SM.
Cycles MemoryClock::from_home(const Request& r, uint64_t line, uint8_t sectors, Cycles time) {
  const Site& site = ways_.site(r.sm);
  const uint32_t home = partitions_.home_of(line), bytes = bytes_of(sectors);
  Tag& tag = held_.find(line, home, site.cpc, time);
  const Cycles start = slices_.read(line, home, time, slices_.read_cycles(bytes));
  counters_.l2_read_sectors += bytes / sector_bytes;
  const auto missing = static_cast<uint8_t>(sectors & ~tag.valid);
  const Cycles data = missing != 0 ? held_.fill(tag, r, missing, site.cpc, time, slices_) : tag.filled;
  return std::max({start, data, slices_.write(line, site.side, time, bytes)}) +
         std::max(2 * p_.l2_spread, written_far(tag, site.side));
}

// Of the TMA unit's requests some go twice.
void MemoryClock::count_reads(const Request& r, uint32_t sectors, uint32_t missing) {
  requests_rest_ += sectors * (r.tma ? p_.l2_tma_requests : 1);
  const auto shown = static_cast<uint64_t>(requests_rest_);
  requests_rest_ -= static_cast<double>(shown);
  counters_.l2_read_sectors += shown;
  counters_.l2_hit_sectors += shown - std::min<uint64_t>(shown, missing);
}

// From the partition of L2 that is near the SM, which keeps what it has to ask another one for.
Cycles MemoryClock::answer(Tag& tag, const Request& r, const LineAccess& l, Cycles time) {
  const Site& site = ways_.site(r.sm);
  const uint32_t bytes = bytes_of(l.sectors);
  const auto missing = static_cast<uint8_t>(l.sectors & ~tag.valid);
  const Cycles start = slices_.read(l.line, site.side, time, slices_.read_cycles(bytes));
  count_reads(r, bytes / sector_bytes, bytes_of(missing) / sector_bytes);
  const bool at_home = partitions_.home_of(l.line) == site.side;
  const Cycles late = at_home ? written_far(tag, site.side) : 0;
  if (missing == 0) return std::max(start, tag.filled) + late;
  if (at_home) return std::max(start, held_.fill(tag, r, missing, site.cpc, time, slices_)) + late;
  tag.valid |= missing;
  return tag.filled = std::max(start, from_home(r, l.line, missing, time));
}

// Each unit on the way is booked for when the request gets there if no request waits: later ones that need
// other units less long must not stand behind it. What waits longest decides.
Cycles MemoryClock::read(const Request& r, const LineAccess& l, Cycles time) {
  const Site& site = ways_.site(r.sm);
  const uint32_t bytes = bytes_of(l.sectors), bit = 1U << r.sm % 32;
  const Cycles half = (p_.l2_latency - p_.l2_spread - p_.l2_slice_spread) / 2;
  Merge& m = merges_.of(site.gpc, l.line);
  const bool merged = merges_.takes(m, l, bit, time + half);
  // One answer goes to as many SMs as it has sectors; others get one of their own, though L2 is read once.
  const bool together = merged && std::popcount(m.sms) % std::popcount(l.sectors) != 0;
  // A line whose home is far takes longer even when the near half has a copy.
  const Cycles distance = ways_.distance(r.sm, l.line),
               arrival = ways_.pass(r, time + half, distance, bytes, together);
  if (merged) {
    m.sms |= bit;
    return std::max(m.answered, arrival) + half;
  }
  Tag& tag = held_.find(l.line, site.side, site.cpc, time);
  const Cycles data = std::max(arrival, answer(tag, r, l, time + half));
  m = {.line = l.line,
       .until = std::max(data, arrival - distance + p_.l2_merge_window),
       .answered = data,
       .sms = bit,
       .sectors = l.sectors};
  return data + bytes / p_.l2_sm_bytes_per_cycle + half;
}

// To the line's home; a write from far passes through the near partition too, and copies elsewhere are void.
Cycles MemoryClock::write(const Request& r, const LineAccess& l, Cycles time) {
  const uint32_t bytes = bytes_of(l.sectors), home = partitions_.home_of(l.line);
  const Site& site = ways_.site(r.sm);
  const Cycles arrival = ways_.send(r.sm, time, write_pieces(l)).to + p_.l2_latency / 2;
  Cycles start = arrival;
  for (uint32_t side : {site.side, home}) {
    start = std::max(start, slices_.store(l.line, side, arrival, bytes));
    counters_.l2_write_sectors += bytes / sector_bytes;
    if (site.side == home) break;
  }
  held_.drop_copies(l.line);
  Tag& tag = held_.find(l.line, home, site.cpc, time);
  held_.mark_dirty(tag, l.sectors, site.cpc, start);
  tag.sides = static_cast<uint8_t>(1U << site.side);
  // Dirty lines that leave occupy the bus; writers wait once it is far behind.
  return std::max(start, held_.hbm().accepts(site.cpc)) + p_.l2_latency / 2;
}

Cycles MemoryClock::atomic(Request& r, const LineAccess& l, Cycles time) {
  const auto sectors = static_cast<uint32_t>(std::popcount(l.sectors));
  const Site& site = ways_.site(r.sm);
  const uint32_t home = partitions_.home_of(l.line);
  const bool is_far = home != site.side;
  const Cycles sent = ways_.send(r.sm, time, atomic_pieces(l)).from;
  const AtomicUnits::Served served = atomics_.take(r.sm, l, sent + p_.l2_latency / 2);
  r.accepted = std::max(r.accepted, served.room - p_.l2_latency / 2);
  held_.drop_copies(l.line);
  Tag& tag = held_.find(l.line, home, site.cpc, time);
  const auto missing = static_cast<uint8_t>(l.sectors & ~tag.valid);
  const Cycles data =
      missing != 0 ? held_.fill(tag, r, missing, site.cpc, served.start, slices_) : served.start;
  held_.mark_dirty(tag, l.sectors, site.cpc, data);
  tag.sides = static_cast<uint8_t>(1U << site.side);
  counters_.l2_write_sectors += sectors * (is_far ? 2 : 1);
  return std::max(data, tag.filled) + p_.l2_atomic_latency - p_.l2_latency / 2 +
         (is_far ? p_.l2_spread : -p_.l2_spread);
}

}  // namespace palladion::sim::hardware
