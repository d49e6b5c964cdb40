#pragma once
// Checks of global memory: the clusters' accesses since the last quantum boundary are applied to one shadow
// memory.
#include <map>

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

// An access of GMEM that is judged at the quantum boundary.
struct GlobalAccess {
  Record record;
  ViewRef view;
  Actor actor;  // without view and record
  uint32_t first_touch = 0, touches = 0;
};

struct GlobalLog {
  std::vector<GlobalAccess> accesses;
  std::vector<GlobalTouch> touches;
  void clear() {
    accesses.clear();
    touches.clear();
  }
};

// The shadow of GMEM, shared by all clusters of a run; used between quanta, by one thread.
class GlobalMemoryChecks {
 public:
  explicit GlobalMemoryChecks(const GlobalMemory& memory) : memory_(memory) {}
  // Judges a cluster's accesses since the last quantum boundary.
  void judge(GlobalLog& log, ConflictSink& sink);
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
  };
  void materialise(Area& area);
  void judge_touch(Detector& detector, const GlobalTouch& t);

  const GlobalMemory& memory_;
  GlobalShadow shadow_;
  CellPool pool_;
  Records records_;
  std::map<uint64_t, Area> areas_;  // by the allocation's base
  bool overflowed_ = false;
};

}  // namespace palladion::sim::check
