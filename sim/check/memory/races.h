#pragma once
// Data races: two accesses that overlap, of which one writes, that are not morally strong and not
// ordered by causality (PTX, "Conflict and Data-races"). The verdict depends on happens-before alone,
// never on when an asynchronous operation happened to land in this run.
#include <array>
#include <functional>

#include "sim/check/memory/shadow.h"
#include "sim/check/order/happens_before.h"

namespace palladion::sim::check {

// How an earlier access relates to a later one.
enum class Relation : uint8_t {
  ordered,
  other_proxy,   // ordered, but only for the generic proxy
  narrow_scope,  // ordered by an edge whose scope excludes one of the two
  of_warpgroup,  // a wgmma's read, ordered for the warp alone that wrote, not for the others of the warpgroup
  mixed_size,    // both are strong, but overlap in part: their elements have different sizes
  unordered,
};

// The actor of the current access.
struct Actor {
  const HappensBefore* order = nullptr;
  // Its view; of a strong read the one before what it acquires itself: in another execution it reads what was
  // there before.
  const View* view = nullptr;
  const View* acquired = nullptr;  // of a strong read: with that
  ClusterOfGrid cluster;
  WarpOfCluster warp = no_warp;  // a wgmma has no warp of its own
  CtaRank rank;                  // of the CTA whose shared memory is touched
  uint32_t lanes = 0;
  uint32_t own_async = 0;   // asynchronous: up to when the issuing lane's own accesses are fenced
  uint32_t own_shared = 0;  // the same by fences of shared memory, where global memory is accessed
  Visibility visibility = Visibility::generic;
  bool async = false, reads = false, writes = false, strong = false, reduces = false;
  bool shared = true;      // shared memory, else global
  bool observes = false;   // strong, and what it reads comes before what is behind it
  bool again = false;      // its record stands for an earlier access of the same instruction, too
  uint32_t unchanged = 0;  // lanes that write the values which are there already
  isa::Scope scope = isa::Scope::cta;
  uint8_t element = 0;  // as a record's
  uint64_t async_id = 0;
  uint64_t execution = 0;               // numbers accesses, from 1
  const AsyncRecord* tensor = nullptr;  // the operation, when tensor memory is touched
  uint32_t record = 0;                  // its own, in the table of the shadow memory
  static constexpr WarpOfCluster no_warp{~0U};
};

// Overlapping bytes of two accesses that are not ordered. `earlier` indexes the table of records.
struct Conflict {
  uint32_t earlier = 0;
  bool earlier_wrote = false;
  Relation relation = Relation::unordered;
  uint64_t address = 0, bytes = 0;
  uint32_t earlier_lanes = 0;  // lane that touched the first of the bytes; 0: an asynchronous operation
  uint32_t earlier_parts = 1;  // lane that issued it, of an asynchronous operation of which lanes issue parts
  Lane lane;                   // of the later access, at the first byte
  uint32_t lanes = 0;          // of the later access, at any of the bytes
  uint32_t first_lanes = 0;    // of the later access, at the first byte
  // Of the reading access, at any of the bytes; without lanes that read only what they themselves write.
  uint32_t readers = 0;
  bool equal = false;       // both write the same values there
  uint32_t written_by = 0;  // record of the last write there; 0: none, or several
  bool last = true;         // no other access has written there since the earlier one
  bool unwritten = false;   // nothing has written any of the bytes yet
};

// Values of global memory: those that the last store wrote to bytes, and those that this one writes there.
struct ValuesThere {
  const uint8_t* last = nullptr;  // null: not known
  const uint8_t* now = nullptr;
};

// The lanes of a record at a byte.
inline uint32_t lanes_at(const Record& r, Ref ref, uint32_t byte) {
  return size_of(ref) == every_lane ? r.lanes : 1U << lane_of(ref, byte);
}
// Of an asynchronous operation of which lanes issue parts: whose these bytes are.
inline uint32_t part_of(const Record& r, Ref ref, uint32_t byte) {
  return r.async->lane_exact && size_of(ref) != every_lane ? 1U << lane_of(ref, byte) : 1;
}

// Receives what a detector finds, in ascending order of addresses; adjacent conflicts are merged.
class ConflictSink {
 public:
  virtual ~ConflictSink() = default;
  virtual void conflict(const Actor& later, const Conflict& c) = 0;
  virtual void uninitialised(const Actor& reader, uint64_t address, uint64_t bytes, Lane lane) = 0;
  virtual void barrier_bytes(const Actor& origin, uint32_t init_record, uint64_t address, Lane lane) = 0;
  // Lanes read what a copy filled in for elements outside its tensor.
  virtual void fill_read(const Actor& reader, uint32_t writer_record, uint64_t address, Lane lane) = 0;
  // A reader and the last writer of bytes may disagree on their layout.
  virtual void read_after(const Actor& reader, uint32_t writer_record, uint64_t address) = 0;
  uint64_t next_execution() { return ++executions_; }

 private:
  uint64_t executions_ = 0;  // accesses that were judged
};

// Checks one access against the cells of one memory, and leaves it there.
class Detector {
 public:
  Detector(CellPool& pool, const Records& records, ConflictSink& sink)
      : pool_(pool), records_(records), sink_(sink) {}

  void begin(const Actor& actor, bool defined_at_start);
  // Bytes [first, first + count) of the granule at `address`, touched by the lanes that `pattern` (the
  // low 8 bits of a Ref) names.
  void touch(Cell& cell, uint64_t address, uint32_t first, uint32_t count, uint32_t pattern,
             const ValuesThere& values = {});
  // Consecutive whole granules, all touched alike.
  void touch_run(Cell* cells, uint64_t address, size_t count, uint32_t pattern) {
    const Ref mine = actor_.record << 8 | pattern;
    for (size_t i = 0; i < count;) {
      if (!find_step(cells[i], mine)) {
        touch(cells[i], address + i * granule, 0, granule, pattern);
        ++i;
        continue;
      }
      const Step step = steps_[last_step_];
      for (cells[i++] = step.after; i < count && cells[i] == step.before; ++i) cells[i] = step.after;
    }
  }
  void end() { flush(); }

 private:
  // True when a whole granule with this history was touched so; `last_step_` is it.
  bool find_step(const Cell& cell, Ref mine) {
    for (uint32_t k = 0; k < steps_.size(); ++k) {
      const uint32_t at = (last_step_ + k) % steps_.size();
      if (steps_[at].mine != mine || !(steps_[at].before == cell)) continue;
      last_step_ = at;
      return true;
    }
    return false;
  }
  void remember(const Cell& before, const Cell& after, Ref mine) {
    if (before.write != steps_[last_step_].before.write) steps_.fill({});
    last_step_ = (last_step_ + 1) % steps_.size();
    steps_[last_step_] = {before, after, mine};
  }
  void touch_cell(Cell& cell, uint64_t address, uint32_t first, uint32_t count, Ref mine);
  // True when they are in conflict. `last`: it left the values that are there.
  bool against(Ref earlier, bool wrote, bool last, uint64_t address, uint32_t first, uint32_t count,
               Ref mine);
  Relation relation(Ref earlier, bool wrote, uint32_t first, uint32_t count, Ref mine) const;
  Relation granule_relation(const Record& r, Ref earlier, bool wrote, Ref mine);
  bool strong_together(const Record& r) const;
  bool unknown_to_warpgroup(const Record& r) const;
  Relation async_relation(const Record& r, uint32_t parts, bool wrote, uint32_t lanes) const;
  Relation tensor_relation(const Record& r) const;
  Relation generic_relation(const Record& r, Ref earlier, uint32_t byte, Ref mine) const;
  Relation lane_relation(const Record& r, Lane lane, uint32_t my_lane, bool mine_all) const;
  uint32_t readers(Ref earlier, bool wrote, uint32_t first, uint32_t count, Ref mine) const;
  bool replaces(Ref old, Ref mine) const;
  bool writes(Ref r) const { return (records_[record_of(r)].flags & Record::writes) != 0; }
  bool same_warp(Ref a, Ref b) const;
  bool hides(Ref strong) const;
  void against_write(const Cell& cell, uint64_t address, uint32_t first, uint32_t count, Ref mine);
  void write(Cell& cell, uint64_t address, uint32_t first, uint32_t count, Ref mine);
  void add_read(Cell& cell, Ref mine);
  void note_overwritten(const std::shared_ptr<AsyncRecord>& before);
  void note(const Conflict& c);
  void flush();

  CellPool& pool_;
  const Records& records_;
  ConflictSink& sink_;
  Actor actor_;
  bool defined_ = false;
  ValuesThere values_;  // of the bytes from the granule's byte `values_from_` on
  uint32_t values_from_ = 0;
  // With different earlier accesses, which take turns from byte to byte.
  std::array<Conflict, 4> pending_;
  uint32_t pending_count_ = 0;
  // The last answers, by reference: neighbouring granules have the same history.
  struct Memo {
    Ref earlier = 0;
    Ref mine = 0;
    bool wrote = false;
    Relation relation = Relation::ordered;
  };
  mutable std::array<Memo, 8> memo_;
  mutable uint32_t memo_next_ = 0;
  // The last whole granules, before and after; by what they were touched, 0: none. All have the same last
  // write: what is noted when that changes (`overwrote`, `last_written_by_`) depends on the order of
  // granules.
  struct Step {
    Cell before, after;
    Ref mine = 0;
  };
  std::array<Step, 4> steps_;  // rows of 128 bytes, of which a product reads 32
  uint32_t last_step_ = 0;
  bool quiet_ = false;         // nothing was reported for this granule
  Ref last_write_ = 0;         // of the cell, before this access
  Ref conflicting_write_ = 0;  // the last write of the cell, where the access is in conflict with it
  std::vector<Ref> kept_;      // of one cell, while it is written
  uint64_t uninitialised_at_ = 0, uninitialised_bytes_ = 0;
  uint32_t uninitialised_lane_ = 0;
  Ref last_written_by_ = 0;
};

}  // namespace palladion::sim::check
