#pragma once
// Checks of global memory: the clusters' accesses since the last quantum boundary are applied to one shadow
// memory.
#include <map>
#include <unordered_map>

#include "sim/check/core/options.h"
#include "sim/check/memory/races.h"
#include "sim/machine/state/global_memory.h"

namespace palladion::sim::check {

// Bytes of GMEM that one access touches: `count` runs of `bytes`, `stride` apart.
struct GlobalTouch {
  uint64_t address = 0;
  uint32_t bytes = 0, count = 1;
  uint64_t stride = 0;
  uint8_t pattern = every_lane << 5;
};

// An access of GMEM that is judged at the next quantum boundary or pause: what differs from its record's
// actor.
struct GlobalAccess {
  Record record;
  ViewRef view, acquired;  // Actor::view, acquired
  uint32_t first_touch = 0, touches = 0;
  uint32_t own_async = 0, own_shared = 0;
  uint32_t unchanged = 0;  // lanes that write the values which are there already
  size_t first_value = 0;  // where its record is valued: of the bytes of its touches, one after the other
  CtaRank rank;
  Visibility visibility = Visibility::generic;
  bool observes = false;  // Actor::observes
  bool of_warp = true;    // its lanes know what their own warp did before
};

// The accesses of one cluster.
struct GlobalLog {
  std::vector<GlobalAccess> accesses;
  std::vector<GlobalTouch> touches;
  std::vector<uint8_t> values;                    // that stores write
  size_t size() const { return touches.size(); }  // an access has one at least
  // Adds a touch to the access under way: equal runs at equal distances become one.
  void append(GlobalAccess& access, const GlobalTouch& t) {
    if (access.touches != 0) {
      GlobalTouch& last = touches.back();
      const uint64_t distance = t.address - last.address;
      const bool joins = last.pattern == t.pattern && t.pattern >> 5 == every_lane && last.bytes == t.bytes &&
                         (last.count == 1 || distance == last.stride * last.count);
      if (joins && t.address > last.address) {
        if (last.count == 1) last.stride = distance;
        ++last.count;
        return;
      }
    }
    touches.push_back(t);
    ++access.touches;
  }
  void clear() {
    accesses.clear();
    touches.clear();
    values.clear();
  }
};

// The shadow of GMEM, shared by all clusters of a run; used between quanta, by one thread.
//
// Its size is bounded by what can still be distinguished. A cluster that has ended and released nothing to
// others is *silent*: no later access can be ordered after its own. So one record stands for all accesses of
// such clusters by one instruction, a page of equal cells is one cell, and their reads are ranges.
class GlobalMemoryChecks {
 public:
  explicit GlobalMemoryChecks(const GlobalMemory& memory, const GlobalBudget& budget = {})
      : memory_(memory), budget_(budget), unite_at_(budget.pages), collect_at_(first_records(budget)) {}
  // Judges a cluster's accesses, and forgets the log.
  void judge(GlobalLog& log, const HappensBefore& order, ConflictSink& sink);
  // A cluster has ended.
  void retired(ClusterOfGrid cluster, bool released_to_others);
  const Records& records() const { return records_; }
  bool overflowed() const { return overflowed_; }

 private:
  // Reads of an allocation without writes are only recorded.
  struct Deferred {
    Record record;
    GlobalTouch touch;
  };
  struct Area {
    bool written = false;
    std::vector<Deferred> reads;
    size_t compact_at = 0;
  };
  // The last records of a warp: accesses of one instruction in one interval of the warp's time share one.
  struct Recent {
    uint32_t records[4] = {};
    uint32_t next = 0;
  };
  // Room is made at a quarter of the budget, then when the records have doubled.
  static size_t first_records(const GlobalBudget& budget) { return budget.records / 4; }
  void defer(Area& area, const Record& record, const GlobalTouch& touch);
  void compact(Area& area);
  void materialise(Area& area);
  // `values`: what it writes, null where that is not known.
  void judge_touch(Detector& detector, const GlobalTouch& t, const uint8_t* values);
  void judge_run(Detector& detector, uint64_t begin, uint64_t end);
  bool is_silent(const Record& r) const { return r.cluster < silent_.size() && silent_[r.cluster]; }
  uint32_t add_record(const GlobalAccess& g, bool& again);
  bool make_room();
  void collect();
  void summarise();
  using Summaries = std::map<uint64_t, uint32_t>;  // by instruction
  void summarise(Cell& cell, Summaries& summaries);
  uint32_t summary_of(const Record& r, Summaries& summaries);

  const GlobalMemory& memory_;
  GlobalBudget budget_;
  size_t unite_at_, collect_at_;
  GlobalShadow shadow_;
  CellPool pool_;
  Records records_;
  std::map<uint64_t, Area> areas_;               // by the allocation's base
  std::unordered_map<uint64_t, Recent> recent_;  // by cluster and warp
  std::vector<bool> silent_;                     // by cluster
  bool overflowed_ = false;
};

}  // namespace palladion::sim::check
