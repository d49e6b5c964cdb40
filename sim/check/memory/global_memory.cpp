#include "sim/check/memory/global_memory.h"

namespace palladion::sim::check {
namespace {

template <class Visit>
void for_each_granule_of(const GlobalTouch& t, Visit&& visit) {
  for (uint32_t i = 0; i < t.count; ++i)
    for_each_granule(t.address + i * t.stride, t.bytes, t.pattern >> 5, t.pattern & 31, visit);
}

}  // namespace

void GlobalMemoryChecks::judge_touch(Detector& detector, const GlobalTouch& t) {
  for_each_granule_of(t, [&](uint64_t g, uint32_t first, uint32_t count, uint32_t pattern) {
    detector.touch(shadow_.cell(g), g, first, count, pattern);
  });
}

// Reads from before the first write: nothing to check them against, but the write will be.
void GlobalMemoryChecks::materialise(Area& area) {
  area.written = true;
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

void GlobalMemoryChecks::judge(GlobalLog& log, ConflictSink& sink) {
  constexpr size_t most_records = 1U << 23, most_deferred = 1U << 23;
  Detector detector(pool_, records_, sink);
  for (GlobalAccess& g : log.accesses) {
    uint32_t record = 0;
    bool defined = true;
    for (uint32_t i = 0; i < g.touches; ++i) {
      const GlobalTouch& t = log.touches[g.first_touch + i];
      const Allocation* allocation = memory_.lookup(t.address);
      if (allocation == nullptr) continue;
      Area& area = areas_[allocation->base];
      if (!g.actor.writes && !area.written && !allocation->undefined) {
        if (area.reads.size() < most_deferred)
          area.reads.push_back({g.record, t});
        else
          overflowed_ = true;
        continue;
      }
      if (g.actor.writes && !area.written) materialise(area);
      if (record != 0 && allocation->undefined == defined) {
        detector.end();
        detector.begin(g.actor, defined = !allocation->undefined);
      }
      if (record == 0) {
        if (records_.size() >= most_records)
          records_.collect(
              [&](auto&& visit) { shadow_.for_each_cell([&](Cell& c) { pool_.for_each_ref(c, visit); }); });
        if (records_.size() >= most_records) {
          overflowed_ = true;
          break;
        }
        g.actor.record = record = records_.add(g.record);
        g.actor.view = g.view.get();
        detector.begin(g.actor, defined = !allocation->undefined);
      }
      judge_touch(detector, t);
    }
    if (record != 0) detector.end();
  }
  log.clear();
}

}  // namespace palladion::sim::check
