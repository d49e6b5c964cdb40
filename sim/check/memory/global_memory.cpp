#include "sim/check/memory/global_memory.h"

#include <algorithm>
#include <cstring>
#include <span>

namespace palladion::sim::check {
namespace {

template <class Visit>
void for_each_granule_of(const GlobalTouch& t, Visit&& visit) {
  for (uint32_t i = 0; i < t.count; ++i)
    for_each_granule(t.address + i * t.stride, t.bytes, t.pattern >> 5, Lane(t.pattern & 31), visit);
}

uint64_t warp_of(const Record& r) { return uint64_t{r.cluster} << 16 | r.warp; }

bool alike(const Record& a, const Record& b) {
  return a.pc == b.pc && a.time == b.time && a.lanes == b.lanes && a.flags == b.flags && a.scope == b.scope &&
         a.valued == b.valued && a.cluster == b.cluster && a.warp == b.warp && !a.async && !b.async;
}

Actor actor_of(const GlobalAccess& g, const HappensBefore& order) {
  const Record& r = g.record;
  Actor a;
  a.order = &order;
  a.view = g.view.get();
  a.acquired = g.acquired.get();
  a.cluster = r.cluster;
  if (g.of_warp) a.warp = r.warp;
  a.rank = g.rank;
  a.lanes = r.lanes;
  a.own_async = g.own_async;
  a.own_shared = g.own_shared;
  a.unchanged = g.unchanged;
  a.visibility = g.visibility;
  a.reads = (r.flags & Record::reads) != 0;
  a.writes = (r.flags & Record::writes) != 0;
  a.observes = g.observes;
  a.strong = (r.flags & Record::strong) != 0;
  a.shared = false;
  a.scope = r.scope;
  a.element = r.element;
  if (r.async == nullptr) return a;
  a.async = true;
  a.async_id = r.async->id;
  a.reduces = r.async->reduces;
  return a;
}

}  // namespace

// A run of bytes that all lanes touch alike: whole granules a page at a time.
void GlobalMemoryChecks::judge_run(Detector& detector, uint64_t begin, uint64_t end) {
  constexpr uint32_t pattern = every_lane << 5;
  for (uint64_t at = begin; at < end;) {
    const uint64_t first = at % granule, g = at - first;
    const std::span<Cell> cells = shadow_.cells(g);
    if (first != 0 || end - g < granule) {
      const uint64_t count = std::min(granule - first, end - at);
      detector.touch(cells.front(), g, static_cast<uint32_t>(first), static_cast<uint32_t>(count), pattern);
      at += count;
    } else {
      const uint64_t count = std::min<uint64_t>(cells.size(), (end - g) / granule);
      detector.touch_run(cells.data(), g, count, pattern);
      at += count * granule;
    }
  }
}

void GlobalMemoryChecks::judge_touch(Detector& detector, const GlobalTouch& t, const uint8_t* values) {
  if (values == nullptr && t.pattern >> 5 == every_lane) {
    for (uint32_t i = 0; i < t.count; ++i) {
      const uint64_t begin = t.address + i * t.stride;
      judge_run(detector, begin, begin + t.bytes);
    }
    return;
  }
  for_each_granule_of(t, [&](uint64_t g, uint32_t first, uint32_t count, uint32_t pattern) {
    Cell& cell = shadow_.cell(g);
    if (values == nullptr) return detector.touch(cell, g, first, count, pattern);
    uint8_t* const written = shadow_.values(g) + first;
    detector.touch(cell, g, first, count, pattern, {written, values});
    std::memcpy(written, values, count);
    values += count;
  });
}

// Reads from before the first write: nothing to check them against, but the write will be.
void GlobalMemoryChecks::materialise(Area& area) {
  area.written = true;
  compact(area);
  for (Deferred& d : area.reads) {
    const Ref record = records_.add(d.record) << 8;
    for_each_granule_of(d.touch, [&](uint64_t g, uint32_t first, uint32_t count, uint32_t pattern) {
      Cell& c = shadow_.cell(g);
      if (count != granule && !c.split()) pool_.split(c);
      if (!c.split()) return pool_.add_read(c, record | pattern);
      for (uint32_t b = first; b < first + count; ++b) pool_.add_read(pool_.block(c)[b], record | pattern);
    });
  }
  area.reads = {};
}

// One of the warp's last records where it says the same; `again`: it stands for an earlier access too.
uint32_t GlobalMemoryChecks::add_record(const GlobalAccess& g, bool& again) {
  again = false;
  if (g.record.async != nullptr || g.touches != 1) return records_.add(g.record);
  Recent& recent = recent_[warp_of(g.record)];
  for (const uint32_t r : recent.records)
    if (r != 0 && alike(records_[r], g.record)) {
      again = true;
      return r;
    }
  return recent.records[recent.next++ % 4] = records_.add(g.record);
}

void GlobalMemoryChecks::judge(GlobalLog& log, const HappensBefore& order, ConflictSink& sink) {
  if (shadow_.pages() >= unite_at_) {
    summarise();
    shadow_.unite_pages();
    unite_at_ = std::max(budget_.pages, 2 * shadow_.pages());
  }
  Detector detector(pool_, records_, sink);
  for (const GlobalAccess& g : log.accesses) {
    Actor actor = actor_of(g, order);
    uint32_t record = 0;
    bool defined = true;
    const uint8_t* next = g.record.valued ? log.values.data() + g.first_value : nullptr;
    for (uint32_t i = 0; i < g.touches; ++i) {
      const GlobalTouch& t = log.touches[g.first_touch + i];
      const uint8_t* const values = next;
      if (next != nullptr) next += uint64_t{t.bytes} * t.count;
      const Allocation* allocation = memory_.lookup(Address(t.address));
      if (allocation == nullptr) continue;
      Area& area = areas_[allocation->base];
      if (!actor.writes && !area.written && !allocation->undefined) {
        defer(area, g.record, t);
        continue;
      }
      if (actor.writes && !area.written) materialise(area);
      if (record != 0 && allocation->undefined == defined) {
        detector.end();
        detector.begin(actor, defined = !allocation->undefined);
      }
      if (record == 0) {
        if (records_.size() >= collect_at_ && !make_room()) {
          overflowed_ = true;
          break;
        }
        actor.record = record = add_record(g, actor.again);
        detector.begin(actor, defined = !allocation->undefined);
      }
      judge_touch(detector, t, values);
    }
    if (record != 0) detector.end();
  }
  log.clear();
}

}  // namespace palladion::sim::check
