// Bounded history of global memory: what later accesses cannot tell apart is kept once.
#include <tuple>

#include "sim/check/memory/global_memory.h"

namespace palladion::sim::check {
namespace {

constexpr uint64_t most_bytes = 1U << 30;  // of one run

uint64_t instruction_of(const Record& r) {
  return uint64_t{r.pc} << 32 | uint64_t{r.flags} << 24 | uint64_t{static_cast<uint8_t>(r.scope)} << 16 |
         uint64_t{r.valued};
}

// The run of `b` goes on where that of `a` ends, and its lanes do.
bool continues(const GlobalTouch& a, const GlobalTouch& b) {
  if (a.count != 1 || b.count != 1 || a.pattern >> 5 != b.pattern >> 5) return false;
  if (a.address + a.bytes != b.address || uint64_t{a.bytes} + b.bytes > most_bytes) return false;
  const uint32_t size = a.pattern >> 5;
  return size == every_lane || ((a.pattern & 31) + (a.bytes >> size)) % 32 == (b.pattern & 31U);
}

}  // namespace

void GlobalMemoryChecks::retired(ClusterOfGrid cluster, bool released_to_others) {
  if (silent_.size() <= cluster) silent_.resize(cluster + 1);
  silent_[cluster] = !released_to_others;
}

// --- records --------------------------------------------------------------------------------------------
void GlobalMemoryChecks::collect() {
  records_.collect(
      [&](auto&& visit) { shadow_.for_each_cell([&](Cell& c) { pool_.for_each_ref(c, visit); }); });
  recent_.clear();
}

// False when all records are needed.
bool GlobalMemoryChecks::make_room() {
  collect();
  if (records_.size() >= collect_at_ / 2) summarise();
  collect_at_ = std::clamp(2 * records_.size(), first_records(budget_), budget_.records);
  return records_.size() < budget_.records;
}

uint32_t GlobalMemoryChecks::summary_of(const Record& r, Summaries& summaries) {
  const auto [at, fresh] = summaries.try_emplace(instruction_of(r), 0);
  if (fresh) {
    Record summary = r;
    summary.flags |= Record::summarised;
    at->second = records_.add(std::move(summary));
  }
  return at->second;
}

void GlobalMemoryChecks::summarise(Cell& cell, Summaries& summaries) {
  const auto replace = [&](Ref& ref) {
    if (ref == 0 || !is_silent(records_[record_of(ref)])) return;
    const Record r = records_[record_of(ref)];
    ref = make_ref(summary_of(r, summaries), every_lane, Lane(0));
  };
  pool_.for_each_ref(cell, replace);
  const auto unite_reads = [&](Cell& c) {
    if (c.read[0] == 0) return;
    const uint32_t writes = c.more & Cell::writes_bit;
    std::vector<Ref> reads;
    pool_.for_each_read(c, [&](Ref r) { reads.push_back(r); });
    std::ranges::sort(reads);
    reads.erase(std::ranges::unique(reads).begin(), reads.end());
    pool_.clear_reads(c);
    for (const Ref r : reads) pool_.add_read(c, r);
    c.more |= writes;
  };
  if (!cell.split()) return unite_reads(cell);
  CellPool::Block& block = pool_.block(cell);
  for (Cell& byte : block) unite_reads(byte);
  const Cell first = block[0];
  if (std::ranges::any_of(block, [&](const Cell& c) { return c.has_list() || !(c == first); })) return;
  pool_.unite(cell, first.write);
  cell.read[0] = first.read[0];
  cell.read[1] = first.read[1];
  cell.more = first.more;
}

void GlobalMemoryChecks::summarise() {
  Summaries summaries;
  shadow_.for_each_cell([&](Cell& c) { summarise(c, summaries); });
  collect();
}

// --- reads of arrays that nothing has written -----------------------------------------------------------
void GlobalMemoryChecks::defer(Area& area, const Record& record, const GlobalTouch& touch) {
  if (area.reads.size() >= std::max(budget_.deferred, area.compact_at)) {
    compact(area);
    area.compact_at = 2 * area.reads.size();
    if (area.reads.size() >= 8 * budget_.deferred) {
      overflowed_ = true;
      return;
    }
  }
  area.reads.push_back({record, touch});
}

// Runs of one record that follow each other become one; of silent clusters all runs of one instruction do.
void GlobalMemoryChecks::compact(Area& area) {
  for (Deferred& d : area.reads) {
    if (!is_silent(d.record)) continue;
    d.record.flags |= Record::summarised;
    d.touch.pattern = every_lane << 5;
  }
  const auto whose = [](const Deferred& d) {
    const bool one = (d.record.flags & Record::summarised) != 0;
    return std::tuple(one, instruction_of(d.record), one ? 0 : d.record.cluster, one ? 0 : d.record.warp,
                      one ? 0 : d.record.time, one ? 0 : d.record.lanes, d.record.async.get());
  };
  std::ranges::stable_sort(area.reads, [&](const Deferred& a, const Deferred& b) {
    const auto x = whose(a), y = whose(b);
    return x != y ? x < y : a.touch.address < b.touch.address;
  });
  std::vector<Deferred> kept;
  for (Deferred& d : area.reads) {
    if (!kept.empty() && whose(kept.back()) == whose(d)) {
      GlobalTouch& last = kept.back().touch;
      const GlobalTouch& t = d.touch;
      const bool again = last.address == t.address && last.bytes == t.bytes && last.count == t.count &&
                         last.stride == t.stride && last.pattern == t.pattern;
      const bool inside = last.count == 1 && t.count == 1 && last.pattern == t.pattern &&
                          t.pattern >> 5 == every_lane && t.address >= last.address &&
                          t.address + t.bytes <= last.address + last.bytes;
      if (again || inside) continue;
      if (continues(last, t)) {
        last.bytes += t.bytes;
        continue;
      }
    }
    kept.push_back(std::move(d));
  }
  area.reads = std::move(kept);
}

}  // namespace palladion::sim::check
