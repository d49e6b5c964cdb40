#include "sim/clock/memory/memory.h"

#include <algorithm>
#include <bit>
#include <cmath>
#include <limits>
#include <numeric>
#include <utility>

namespace palladion::sim::hardware {
namespace {

// So many lines before one is served the host fetches what it needs for it.
constexpr size_t ahead = 16;

}  // namespace

MemoryClock::MemoryClock(const isa::ClockParameters& parameters, const isa::ArchSpec& arch)
    : p_(parameters),
      sites_(sites(arch)),
      partitions_(static_cast<uint32_t>(arch.l2_partitions)),
      tags_(static_cast<uint64_t>(p_.l2_bytes), partitions_),
      merges_(p_, sites_.back().gpc + 1),
      hbm_(p_, sites_.back().cpc + 1) {
  slices_.resize(partitions_.count() *
                 std::max<size_t>(1, static_cast<size_t>(p_.l2_slices) / partitions_.count()));
  atomic_free_.assign(slices_.size(), 0);
  next_turn_.assign(sites_.size() * atomic_free_.size(), 0);
  queued_ = std::max<size_t>(1, static_cast<size_t>(p_.l2_atomic_queue) / lanes_queued);
  gpc_free_.assign(sites_.back().gpc + 1, 0);
  ports_.resize(sites_.size());
  sm_write_free_.assign(sites_.size(), 0);
}

// Copies that are not at home do not outlive the kernel that made them.
void MemoryClock::touch(uint64_t line, bool written) {
  Tag& tag = find(line, partitions_.home_of(line), 0, 0);
  tag.valid = 0xF;
  if (written) mark_dirty(tag, 0xF, 0, 0);
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
  const double kept = std::min(1.0, 2.0 * static_cast<double>(tags_.size()) / static_cast<double>(all));
  for (auto step = static_cast<uint64_t>((1 - kept) * static_cast<double>(steps)); step < steps; ++step) {
    for (const Array& a : arrays)
      for (uint64_t i = a.lines * step / steps; i < a.lines * (step + 1) / steps; ++i)
        touch(a.first + i, a.written);
  }
  counters_ = {};
  hbm_.rest();
}

// Line by line over all SMs: copies that are under way at once are serialised.
void MemoryClock::serve(std::span<Batch* const> batches) {
  entries_.clear();
  for (Batch* b : batches) {
    for (Request& r : b->requests) {
      r.done = r.time;
      for (uint32_t i = 0; i < r.lines; ++i)
        entries_.push_back({static_cast<double>(r.time) + r.step * i, &r, b->lines[r.first + i]});
    }
  }
  sort();
  for (size_t i = 0; i < order_.size(); ++i) {
    if (i + ahead < order_.size()) prefetch(order_[i + ahead]);
    const Entry& e = order_[i];
    const double done = serve(*e.request, e.line, e.time);
    e.request->done = std::max(e.request->done, static_cast<uint64_t>(std::llround(done)));
  }
}

// From `entries_` into `order_`: by time, of the same time as they stand. Most of them leave within a few
// hundred cycles: by quarters of a cycle first, then the few of a quarter among themselves.
void MemoryClock::sort() {
  constexpr size_t quarters = 4096;
  double first = std::numeric_limits<double>::max();
  for (const Entry& e : entries_) first = std::min(first, e.time);
  const auto quarter = [&](const Entry& e) {
    return static_cast<size_t>(std::min(4 * (e.time - first), quarters - 1.0));
  };
  begins_.assign(quarters + 1, 0);
  for (const Entry& e : entries_) ++begins_[quarter(e) + 1];
  std::partial_sum(begins_.begin(), begins_.end(), begins_.begin());
  order_.resize(entries_.size());
  for (const Entry& e : entries_) order_[begins_[quarter(e)]++] = e;
  size_t begin = 0;  // now each quarter's entry of `begins_` is its end
  for (const uint32_t end : begins_) {
    if (end > begin + 1)
      std::ranges::stable_sort(order_.begin() + begin, order_.begin() + end, {}, &Entry::time);
    begin = end;
  }
}

// The line is served soon: what the host has to look at should be in its caches by then.
void MemoryClock::prefetch(const Entry& e) const {
  const Site& site = sites_[e.request->sm];
  tags_.prefetch(e.line.line, site.side);
  merges_.prefetch(site.gpc, e.line.line);
}

ClockCounters MemoryClock::counters() const {
  ClockCounters all = counters_;
  all.dram_read_bytes = hbm_.read_bytes();
  all.dram_write_bytes = hbm_.written_bytes();
  return all;
}

double MemoryClock::serve(Request& r, const LineAccess& l, double time) {
  return r.kind == Request::Kind::read    ? read(r, l, time)
         : r.kind == Request::Kind::write ? write(r, l, time)
                                          : atomic(r, l, time);
}

MemoryClock::Slice& MemoryClock::slice(uint64_t line, uint32_t side) {
  const size_t of_side = slices_.size() / partitions_.count();
  return slices_[side * of_side + spread(partitions_.within(line), of_side)];
}

// A partition's entry of a line; a missing line replaces the least recently used one.
Tag& MemoryClock::find(uint64_t line, uint32_t side, uint32_t cpc, double time) {
  if (Tag* const found = tags_.look_up(line, side)) return tags_.touch(*found);
  Tag& oldest = tags_.oldest(line, side);
  leave(oldest, cpc, time);
  return tags_.replace(oldest, line);
}

// What HBM does not have goes there.
void MemoryClock::leave(Tag& tag, uint32_t cpc, double time) {
  if (tag.dirty == 0) return;
  const uint32_t bytes = bytes_of(tag.dirty);
  dirty_bytes_ -= bytes;
  tag.dirty = 0;
  hbm_.write(cpc, time, bytes);
}

// L2 keeps only so much that HBM does not have: what was written first goes first.
void MemoryClock::mark_dirty(Tag& tag, uint8_t sectors, uint32_t cpc, double time) {
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

// When all SMs that receive it have room.
double MemoryClock::receive(const Request& r, double time, uint32_t bytes) {
  const double cycles = bytes / (r.bytes_per_cycle != 0 ? r.bytes_per_cycle : p_.l2_sm_bytes_per_cycle);
  if (std::popcount(r.receivers) < 2) return ports_[r.sm].take(time, cycles);
  double last = time;
  for (uint32_t m = r.receivers; m != 0; m &= m - 1)
    last = std::max(last, ports_[r.first_sm + static_cast<uint32_t>(std::countr_zero(m))].take(time, cycles));
  return last;
}

// When a request gets to L2, whose answer the SM has room for; `way` cycles more are between them. An answer
// for several SMs takes the way into the GPC once; handing it to one more of them takes less.
double MemoryClock::pass(const Request& r, double time, double way, uint32_t bytes, bool merged) {
  double& shared = gpc_free_[sites_[r.sm].gpc];
  // Each queue by itself: a request that waits for one does not hold up the other.
  const double own = receive(r, time + way, bytes), common = std::max(time, shared);
  const int handed = std::max(1, std::popcount(r.receivers)) - (merged ? 0 : 1);
  shared = common + (merged ? 0 : bytes / p_.l2_gpc_bytes_per_cycle) +
           handed * (bytes / p_.l2_gpc_shared_bytes_per_cycle);
  return std::max(own, common + way);
}

// A short request occupies slices as if it were for more.
double MemoryClock::booked(uint32_t bytes) const { return std::max<double>(bytes, p_.l2_short_request); }

// Cycles that a read occupies its slice.
double MemoryClock::slice_time(uint32_t bytes) const {
  return booked(bytes) * static_cast<double>(slices_.size()) / p_.l2_bytes_per_cycle;
}

double MemoryClock::slice_read(uint64_t line, uint32_t side, double time, double cost) {
  double& free = slice(line, side).read_free;
  const double start = std::max(time, free);
  free = start + cost;
  l2_busy_ += cost / static_cast<double>(slices_.size());
  return start;
}

// Lines from HBM and from SMs are written alike.
double MemoryClock::slice_write(uint64_t line, uint32_t side, double time, uint32_t bytes) {
  double& free = slice(line, side).write_free;
  const double start = std::max(time, free);
  free = start + bytes * static_cast<double>(slices_.size()) / p_.l2_write_bytes_per_cycle;
  return start;
}

// What the line's home does not have comes from HBM.
double MemoryClock::fetch(Tag& home, const Request& r, uint8_t missing, double time) {
  const uint32_t bytes = bytes_of(missing);
  const double start = slice_write(home.line, partitions_.home_of(home.line), time, bytes);
  home.valid |= missing;
  return home.filled = hbm_.read(sites_[r.sm].cpc, start, home.line, bytes) +
                       hbm_.latency(home.line, start, r.scattered);
}

// The other line of 256 bytes may come along, to a home of its own.
double MemoryClock::fill(Tag& home, const Request& r, uint8_t missing, double time) {
  const double filled = fetch(home, r, missing, time);
  if (!r.pairs_of_lines) return filled;
  const uint64_t other = home.line ^ 1;
  if (Tag& tag = find(other, partitions_.home_of(other), sites_[r.sm].cpc, time); tag.valid == 0)
    fetch(tag, r, 0xF, time);
  return filled;
}

// What an SM of another partition has written takes longer to come the first time.
double MemoryClock::handed(Tag& home, uint32_t side) const {
  const auto bit = static_cast<uint8_t>(1U << side);
  if ((home.sides & bit) != 0) return 0;
  home.sides |= bit;
  return p_.l2_written_far;
}

// The home of a line gives it to the partition near the SM.
double MemoryClock::from_home(const Request& r, uint64_t line, uint8_t sectors, double time) {
  const uint32_t home = partitions_.home_of(line), near = sites_[r.sm].side, cpc = sites_[r.sm].cpc;
  Tag& tag = find(line, home, cpc, time);
  const double start = slice_read(line, home, time, slice_time(bytes_of(sectors)));
  counters_.l2_read_sectors += bytes_of(sectors) / sector_bytes;
  const auto missing = static_cast<uint8_t>(sectors & ~tag.valid);
  const double data = missing != 0 ? fill(tag, r, missing, time) : tag.filled;
  return std::max({start, data, slice_write(line, near, time, bytes_of(sectors))}) +
         std::max(2 * p_.l2_spread, handed(tag, near));
}

// From the partition of L2 that is near the SM, which keeps what it has to ask another one for.
double MemoryClock::answer(Tag& tag, const Request& r, const LineAccess& l, double time) {
  const uint32_t side = sites_[r.sm].side, bytes = bytes_of(l.sectors);
  const auto missing = static_cast<uint8_t>(l.sectors & ~tag.valid);
  const double start = slice_read(l.line, side, time, slice_time(bytes));
  // Of the TMA unit's requests some go twice.
  const uint32_t sectors = bytes / sector_bytes;
  requests_rest_ += sectors * (r.tma ? p_.l2_tma_requests : 1);
  const auto shown = static_cast<uint64_t>(requests_rest_);
  requests_rest_ -= static_cast<double>(shown);
  counters_.l2_read_sectors += shown;
  counters_.l2_hit_sectors += shown - std::min<uint64_t>(shown, bytes_of(missing) / sector_bytes);
  const bool at_home = partitions_.home_of(l.line) == side;
  const double late = at_home ? handed(tag, side) : 0;
  if (missing == 0) return std::max(start, tag.filled) + late;
  if (at_home) return std::max(start, fill(tag, r, missing, time)) + late;
  tag.valid |= missing;
  return tag.filled = std::max(start, from_home(r, l.line, missing, time));
}

// Cycles more from where the line is: its partition of L2, and its slice's place in it.
double MemoryClock::way(uint32_t sm, uint64_t line) const {
  const auto place = static_cast<double>(mixed(line + 977 * uint64_t{sm}) >> 40 & 0xFF) / 255;
  return (partitions_.home_of(line) != sites_[sm].side ? 2 * p_.l2_spread : 0) +
         2 * p_.l2_slice_spread * place;
}

// Each unit on the way is booked for when the request gets there if no request waits: later ones that need
// other units less long must not stand behind it. What waits longest decides.
double MemoryClock::read(const Request& r, const LineAccess& l, double time) {
  const Site& site = sites_[r.sm];
  const uint32_t bytes = bytes_of(l.sectors), bit = 1U << r.sm % 32;
  const double half = (p_.l2_latency - p_.l2_spread - p_.l2_slice_spread) / 2;
  Merge& m = merges_.of(site.gpc, l.line);
  const bool merged = merges_.takes(m, l, bit, time + half);
  // One answer goes to as many SMs as it has sectors; others get one of their own, though L2 is read once.
  const bool together = merged && std::popcount(m.sms) % std::popcount(l.sectors) != 0;
  // A line whose home is far takes longer even when the near half has a copy.
  const double more = way(r.sm, l.line), arrival = pass(r, time + half, more, bytes, together);
  if (merged) {
    m.sms |= bit;
    return std::max(m.answered, arrival) + half;
  }
  Tag& tag = find(l.line, site.side, site.cpc, time);
  const double data = std::max(arrival, answer(tag, r, l, time + half));
  m = {.line = l.line,
       .until = std::max(data, arrival - more + p_.l2_merge_window),
       .answered = data,
       .sms = bit,
       .sectors = l.sectors};
  return data + bytes / p_.l2_sm_bytes_per_cycle + half;
}

void MemoryClock::drop_copies(uint64_t line, uint32_t home) {
  for (uint32_t side = 0; side < partitions_.count(); ++side)
    if (Tag* const copy = side == home ? nullptr : tags_.look_up(line, side)) tags_.drop(*copy);
}

// To the line's home; a write from far passes through the near partition too, and copies elsewhere are void.
double MemoryClock::write(const Request& r, const LineAccess& l, double time) {
  const uint32_t bytes = bytes_of(l.sectors), home = partitions_.home_of(l.line);
  const Site& site = sites_[r.sm];
  double& port = sm_write_free_[r.sm];
  port = std::max(port, time) + write_pieces(l) * sector_bytes / p_.l2_sm_write_bytes_per_cycle;
  const double arrival = port + p_.l2_latency / 2;
  double start = arrival;
  // It takes less of what reads need than a read does: together they do more than one after the other.
  const double passes = 2 - 1.0 / partitions_.count();  // of a write, on average: not all lines' home is near
  const double shared = (2 / p_.l2_mixed_bytes_per_cycle - 1 / p_.l2_bytes_per_cycle) / passes;
  for (uint32_t side : {site.side, home}) {
    start =
        std::max({start, slice_write(l.line, side, arrival, bytes),
                  slice_read(l.line, side, arrival, bytes * static_cast<double>(slices_.size()) * shared)});
    counters_.l2_write_sectors += bytes / sector_bytes;
    if (site.side == home) break;
  }
  drop_copies(l.line, home);
  Tag& tag = find(l.line, home, site.cpc, time);
  mark_dirty(tag, l.sectors, site.cpc, start);
  tag.sides = static_cast<uint8_t>(1U << site.side);
  // Dirty lines that leave occupy the bus; writers wait once it is far behind.
  return std::max(start, hbm_.accepts(site.cpc)) + p_.l2_latency / 2;
}

// Atomic units serve pairs of lines. Of a KiB two pairs share one, the others have their own; how evenly
// blocks are spread is chosen so that the most that one unit has of 8, 128 and 1024 lines is the chip's.
size_t MemoryClock::atomic_unit(uint64_t line) const {
  const uint64_t units = atomic_free_.size(), block = line / 8, turn = block / units, pair = line / 2 & 3;
  const uint64_t place = pair == 1 ? 29 * block + 17 : pair == 3 ? 41 * block + 71 : 5 * block;
  return (place + 5 * turn) % units;
}

// A request waits in the queue between its SM and a unit. When there is room for it.
double MemoryClock::queue_atomic(size_t queue, const LineAccess& l, double start) {
  if (turns_.empty()) turns_.assign(next_turn_.size() * queued_, 0);
  const uint32_t lanes = std::min(32U, static_cast<uint32_t>(std::popcount(l.words)) * l.alike);
  double room = 0;
  for (uint32_t i = 0; i < std::max(1U, lanes / lanes_queued); ++i) {
    room = std::exchange(turns_[queue * queued_ + next_turn_[queue]], start);
    next_turn_[queue] = static_cast<uint32_t>((next_turn_[queue] + 1) % queued_);
  }
  return room;
}

// Lanes that want the same word go one after the other.
double MemoryClock::atomic_start(Request& r, const LineAccess& l, double time) {
  const auto sectors = static_cast<uint32_t>(std::popcount(l.sectors));
  const size_t unit = atomic_unit(l.line);
  double& free = atomic_free_[unit];
  const double start = std::max(time, free);
  free = start + (l.words == ~0U && l.alike == 1 ? p_.l2_atomic_full_interval
                                                 : p_.l2_atomic_interval * (sectors + l.alike - 1));
  r.accepted =
      std::max(r.accepted, queue_atomic(r.sm * atomic_free_.size() + unit, l, start) - p_.l2_latency / 2);
  return start;
}

double MemoryClock::atomic(Request& r, const LineAccess& l, double time) {
  const auto sectors = static_cast<uint32_t>(std::popcount(l.sectors));
  const uint32_t cpc = sites_[r.sm].cpc, home = partitions_.home_of(l.line);
  const bool is_far = home != sites_[r.sm].side;
  double& port = sm_write_free_[r.sm];
  const double sent = std::max(port, time);
  port = sent + atomic_pieces(l) * sector_bytes / p_.l2_sm_write_bytes_per_cycle;
  double data = atomic_start(r, l, sent + p_.l2_latency / 2);
  drop_copies(l.line, home);
  Tag& tag = find(l.line, home, cpc, time);
  const auto missing = static_cast<uint8_t>(l.sectors & ~tag.valid);
  if (missing != 0) data = fill(tag, r, missing, data);
  mark_dirty(tag, l.sectors, cpc, data);
  tag.sides = static_cast<uint8_t>(1U << sites_[r.sm].side);
  counters_.l2_write_sectors += sectors * (is_far ? 2 : 1);
  return std::max(data, tag.filled) + p_.l2_atomic_latency - p_.l2_latency / 2 +
         (is_far ? p_.l2_spread : -p_.l2_spread);
}

}  // namespace palladion::sim::hardware
