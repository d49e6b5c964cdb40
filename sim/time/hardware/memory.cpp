#include "sim/time/hardware/memory.h"

#include <algorithm>
#include <bit>
#include <utility>

namespace palladion::sim::hardware {
namespace {

// Spreads lines over slices and sets: neighbours go to different slices, power-of-two strides too.
uint64_t mixed(uint64_t line) {
  line ^= line >> 7;
  line *= 0x9E3779B97F4A7C15ULL;
  return line ^ (line >> 29);
}

// GPCs lie on one side of the chip or the other; each side has a partition of L2. One bit a side, by SM.
std::vector<uint8_t> sides_of(uint32_t sms, uint32_t gpcs) {
  std::vector<uint8_t> sides;
  for (uint32_t g = 0; g < gpcs; ++g)
    sides.resize(sides.size() + 2 * (sms / 2 / gpcs + (g < sms / 2 % gpcs ? 1 : 0)),
                 static_cast<uint8_t>(1U << g % 2));
  sides.resize(sms, 1);
  return sides;
}

}  // namespace

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

MemoryClock::MemoryClock(const isa::ClockParameters& parameters, uint32_t sms, uint32_t gpcs)
    : p_(parameters), sides_(sides_of(sms, gpcs)) {
  sets_ = std::max<uint64_t>(1, static_cast<uint64_t>(p_.l2_bytes) / line_bytes / ways);
  tags_.resize(sets_ * ways);
  slice_free_.assign(std::max<size_t>(1, static_cast<size_t>(p_.l2_slices)), 0);
  atomic_free_.assign(std::max<size_t>(1, slice_free_.size() / 2), 0);
  waiting_.resize(sms * atomic_free_.size());
  sm_free_.assign(sms, 0);
  sm_write_free_.assign(sms, 0);
}

void MemoryClock::warm_up(const GlobalMemory& memory) {
  memory.for_each([&](const Allocation& a) {
    for (uint64_t line = a.base / line_bytes; line <= (a.base + a.size - 1) / line_bytes; ++line) {
      bool hit = false;
      find(line, hit).valid = 0xF;
    }
  });
}

void MemoryClock::serve(std::span<Batch* const> batches) {
  struct Entry {
    uint64_t time;
    Request* request;
    const LineAccess* lines;
  };
  std::vector<Entry> order;
  for (Batch* b : batches)
    for (Request& r : b->requests) order.push_back({r.time, &r, b->lines.data() + r.first});
  std::ranges::stable_sort(order, {}, &Entry::time);
  for (const Entry& e : order) serve(*e.request, e.lines);
}

void MemoryClock::serve(Request& r, const LineAccess* lines) {
  double last = static_cast<double>(r.time);
  for (uint32_t i = 0; i < r.lines; ++i) {
    const double time = static_cast<double>(r.time) + r.step * i;
    const LineAccess& l = lines[i];
    const double done = r.kind == Request::Kind::read    ? read(r, l, time)
                        : r.kind == Request::Kind::write ? write(r, l, time)
                                                         : atomic(r, l, time);
    last = std::max(last, done);
  }
  r.done = static_cast<uint64_t>(last + 0.5);
}

// The set's entry of a line; a missing one takes the place of another, whose dirty sectors go to HBM.
MemoryClock::Tag& MemoryClock::find(uint64_t line, bool& hit) {
  Tag* const set = tags_.data() + mixed(line) % sets_ * ways;
  Tag* oldest = set;
  for (size_t w = 0; w < ways; ++w) {
    if (set[w].line == line) {
      hit = true;
      return set[w];
    }
    if (set[w].used < oldest->used || set[w].line == never) oldest = &set[w];
    if (oldest->line == never) break;
  }
  hit = false;
  if (oldest->dirty != 0) {
    const uint32_t bytes = static_cast<uint32_t>(std::popcount(oldest->dirty)) * sector_bytes;
    dirty_bytes_ -= bytes;
    hbm(0, bytes, true);
  }
  *oldest = {.line = line};
  return *oldest;
}

// L2 keeps only so much that HBM does not have: what was written first goes first.
void MemoryClock::soil(Tag& tag, uint8_t sectors) {
  if (tag.dirty == 0) dirty_.push_back(tag.line);
  dirty_bytes_ +=
      static_cast<uint64_t>(std::popcount(static_cast<uint8_t>(sectors & ~tag.dirty))) * sector_bytes;
  tag.dirty |= sectors;
  while (static_cast<double>(dirty_bytes_) > p_.l2_dirty_bytes && !dirty_.empty()) {
    const uint64_t line = dirty_.front();
    dirty_.pop_front();
    Tag* const set = tags_.data() + mixed(line) % sets_ * ways;
    Tag* const end = set + ways;
    Tag* const found = std::find_if(set, end, [&](const Tag& t) { return t.line == line; });
    if (found == end || found->dirty == 0) continue;  // it has left already
    const uint32_t bytes = static_cast<uint32_t>(std::popcount(found->dirty)) * sector_bytes;
    dirty_bytes_ -= bytes;
    found->dirty = 0;
    hbm(0, bytes, true);
  }
}

// Sectors as the counters show them.
uint64_t MemoryClock::shown(uint32_t sectors) {
  const double all = sectors * p_.l2_far_sectors + shown_rest_;
  const auto whole = static_cast<uint64_t>(all);
  shown_rest_ = all - static_cast<double>(whole);
  return whole;
}

// One answer for several SMs: not the slice, but what hands it out is occupied.
double MemoryClock::merge(double time, uint32_t bytes) {
  const double start = std::max(time, merge_free_);
  merge_free_ = start + bytes / p_.l2_shared_bytes_per_cycle;
  return start;
}

double MemoryClock::slice_start(uint64_t line, double time, double cost) {
  double& free = slice_free_[(mixed(line) >> 20) % slice_free_.size()];
  const double start = std::max(time, free);
  free = start + cost;
  l2_busy_ += cost / static_cast<double>(slice_free_.size());
  return start;
}

// When the bytes have moved. The bus turns around between reads and writes: a mixture has a rate of its own.
double MemoryClock::hbm(double time, uint32_t bytes, bool is_write) {
  write_share_ += ((is_write ? 1.0 : 0.0) - write_share_) / 512;
  const double pure = is_write ? p_.hbm_write : p_.hbm_read;
  const double even = 2 / (1 / p_.hbm_read + 1 / p_.hbm_write);
  const double mixture = 1 - (1 - std::min(1.0, p_.hbm_mixed / even)) * 4 * write_share_ * (1 - write_share_);
  const double cost = bytes * p_.sm_clock / (pure * mixture * 1000);
  hbm_free_ = std::max(time, hbm_free_) + cost;
  hbm_busy_ += cost;
  (is_write ? counters_.dram_write_bytes : counters_.dram_read_bytes) += bytes;
  return hbm_free_;
}

// Pages of HBM answer sooner or later, as their bank happens to be: as far apart for every page, whoever
// asks.
double MemoryClock::hbm_latency(uint64_t line) const {
  constexpr uint64_t page_lines = 1024 / line_bytes;
  const auto chance = static_cast<double>(mixed(line / page_lines + 0x51ED) >> 32 & 0xFFFF) / 65535;
  return p_.hbm_latency + p_.hbm_spread * (2 * chance - 1);
}

// Half of the slices are on the SM's side of the chip.
double MemoryClock::distance(uint32_t sm, uint64_t line) const {
  return ((mixed(line) >> 19) & 1) == (sm & 1) ? -p_.l2_spread : p_.l2_spread;
}

double MemoryClock::read(const Request& r, const LineAccess& l, double time) {
  const uint32_t sectors = static_cast<uint32_t>(std::popcount(l.sectors)), bytes = sectors * sector_bytes;
  bool hit = false;
  Tag& tag = find(l.line, hit);
  // Requests of several SMs for a line that is on its way or has just been read are merged on the way.
  const bool merged = hit && tag.sm != r.sm && static_cast<double>(tag.used) + p_.l2_latency > time;
  const double half = p_.l2_latency / 2;
  double data = merged ? merge(time + half, bytes)
                       : slice_start(l.line, time + half,
                                     bytes * static_cast<double>(slice_free_.size()) / p_.l2_bytes_per_cycle);
  const auto missing = static_cast<uint8_t>(l.sectors & ~(hit ? tag.valid : 0));
  if (missing != 0) {
    const auto count = static_cast<uint32_t>(std::popcount(missing));
    data = hbm(data, count * sector_bytes, false) + hbm_latency(l.line);
    tag.valid |= missing;
    tag.filled = std::max(tag.filled, static_cast<uint64_t>(data));
  } else {
    data = std::max(data, static_cast<double>(tag.filled));
  }
  if (const uint8_t side = sides_[r.sm]; (tag.sides & side) == 0) {
    data += p_.l2_written_far;
    tag.sides |= side;
  }
  tag.used = std::max(tag.used, static_cast<uint64_t>(time));
  tag.sm = r.sm;
  counters_.l2_read_sectors += shown(sectors);
  counters_.l2_hit_sectors += shown(sectors - static_cast<uint32_t>(std::popcount(missing)));
  double& port = sm_free_[r.sm];
  port = std::max(port, data) + bytes / p_.l2_sm_bytes_per_cycle;
  return port + half + distance(r.sm, l.line);
}

double MemoryClock::write(const Request& r, const LineAccess& l, double time) {
  const uint32_t sectors = static_cast<uint32_t>(std::popcount(l.sectors)), bytes = sectors * sector_bytes;
  double& port = sm_write_free_[r.sm];
  port = std::max(port, time) + write_pieces(l) * sector_bytes / p_.l2_sm_write_bytes_per_cycle;
  const double slices = static_cast<double>(slice_free_.size());
  const double start =
      slice_start(l.line, port + p_.l2_latency / 2, bytes / (p_.l2_write_bytes_per_cycle / slices));
  bool hit = false;
  Tag& tag = find(l.line, hit);
  tag.valid |= l.sectors;
  soil(tag, l.sectors);
  tag.used = std::max(tag.used, static_cast<uint64_t>(time));
  tag.sm = r.sm;
  tag.sides = sides_[r.sm];
  counters_.l2_write_sectors += shown(sectors);
  // Dirty lines that leave occupy the bus; who writes waits once it is far behind.
  return std::max(start, hbm_free_ - 4 * p_.hbm_latency) + p_.l2_latency / 2;
}

// An atomic unit serves two slices. Neighbouring KiB go to different units, each KiB to two of them, by turns
// of two lines.
size_t MemoryClock::atomic_unit(uint64_t line) const {
  const uint64_t pairs = std::max<uint64_t>(1, atomic_free_.size() / 2), block = line / 8;
  const uint64_t pair = (7 * block + 5 * (block / pairs)) % pairs;
  return (2 * pair + (line / 2 & 1)) % atomic_free_.size();
}

// Lanes that want the same word go one after the other.
double MemoryClock::atomic_start(Request& r, const LineAccess& l, double time) {
  const auto sectors = static_cast<uint32_t>(std::popcount(l.sectors));
  const size_t unit = atomic_unit(l.line);
  double& free = atomic_free_[unit];
  const double start = std::max(time, free);
  free = start + (l.words == ~0U && l.alike == 1 ? p_.l2_atomic_full_interval
                                                 : p_.l2_atomic_interval * (sectors + l.alike - 1));
  Waiting& w = waiting_[r.sm * atomic_free_.size() + unit];
  r.accepted = std::max(r.accepted, std::exchange(w.turns[w.next], start));
  w.next = static_cast<uint8_t>((w.next + 1) % w.turns.size());
  return start;
}

double MemoryClock::atomic(Request& r, const LineAccess& l, double time) {
  const auto sectors = static_cast<uint32_t>(std::popcount(l.sectors));
  bool hit = false;
  double& port = sm_write_free_[r.sm];
  const double sent = std::max(port, time);
  port = sent + atomic_pieces(l) * sector_bytes / p_.l2_sm_write_bytes_per_cycle;
  const double start = atomic_start(r, l, sent + p_.l2_latency / 2);
  Tag& tag = find(l.line, hit);
  double data = start;
  const auto missing = static_cast<uint8_t>(l.sectors & ~(hit ? tag.valid : 0));
  if (missing != 0) {
    data =
        hbm(start, static_cast<uint32_t>(std::popcount(missing)) * sector_bytes, false) + hbm_latency(l.line);
    tag.filled = std::max(tag.filled, static_cast<uint64_t>(data));
  }
  tag.valid |= l.sectors;
  soil(tag, l.sectors);
  tag.used = std::max(tag.used, static_cast<uint64_t>(time));
  tag.sm = r.sm;
  tag.sides = sides_[r.sm];
  counters_.l2_write_sectors += shown(sectors);
  return std::max(data, static_cast<double>(tag.filled)) + p_.l2_atomic_latency - p_.l2_latency / 2 +
         distance(r.sm, l.line);
}

}  // namespace palladion::sim::hardware
