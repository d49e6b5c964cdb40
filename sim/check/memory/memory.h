#pragma once
// Memory checks of one cluster: every access is applied to the shadow memory. Shared memory is judged at
// once, global memory between quanta, because other clusters touch it too.
#include "sim/check/core/context.h"
#include "sim/check/memory/global_memory.h"
#include "sim/check/protocol/ledger_flow.h"

namespace palladion::sim::check {

// One cluster's accesses. Happens-before sees each event first.
class MemoryChecks {
 public:
  MemoryChecks(const ClusterContext& context, HappensBefore& order, ConflictSink& sink);

  void on(const Access& a);
  void issued(const AsyncIssue& e, const std::shared_ptr<AsyncRecord>& op, const ViewRef& view);
  void on(const MbarrierEvent& e);
  GlobalLog& log() { return log_; }
  const GlobalLog& log() const { return log_; }
  const Records& records() const { return records_; }
  uint64_t accesses() const { return accesses_; }

 private:
  // Runs of bytes that consecutive lanes touch, as granules see them.
  template <class Emit>
  static void for_each_run(const Access& a, uint32_t lanes, Emit&& emit);
  bool touch_granules(const Piece& p);  // false: it is not made of whole granules of shared memory
  void touch_shared(uint64_t address, uint64_t bytes, Lane lane, uint32_t size_log2);
  Actor actor_of(const Access& a, uint32_t lanes);  // of shared memory
  void access_strongly(const Access& a, uint32_t lanes, bool shared);
  ViewRef view_before(const Access& a, uint32_t lanes) const;
  void access_shared(const Access& a, uint32_t lanes);
  void access_global(const Access& a, uint32_t lanes);
  struct Operation;
  Operation operation(const AsyncIssue& e, const std::shared_ptr<AsyncRecord>& op, const ViewRef& view,
                      uint32_t lanes) const;
  void issued(const AsyncIssue& e, const std::shared_ptr<AsyncRecord>& op, const ViewRef& view,
              uint32_t lanes);
  void aim(Operation& o, Visibility visibility, bool writes, uint8_t flags) const;
  void operate(Operation& o, std::span<const Piece> pieces, bool writes);
  void operate_shared(Operation& o, std::span<const Piece> pieces);
  void operate_global(const Operation& o, std::span<const Piece> pieces);
  uint32_t content_of(const Access& a, uint32_t lanes) const;
  uint32_t generic_record(const Access& a, uint32_t lanes, uint32_t content = 0, bool* again = nullptr);
  // It reads a value that the program uses: what it observed is before what is behind it.
  bool observes(const Access& a);
  void collect_records();

  const ClusterContext& context_;
  HappensBefore& order_;
  std::vector<SharedShadow> shared_;  // by rank
  CellPool pool_;
  Records records_;
  Detector detector_;
  GlobalLog log_;
  UsedResults used_results_;  // of atomics
  uint64_t accesses_ = 0;
  size_t collect_at_ = 1U << 16;
  // The last record of a warp: one instruction in one interval is one record.
  struct Last {
    Pc pc{isa::no_id};
    uint32_t time = 0, lanes = 0, content = 0, record = 0;
  };
  std::vector<Last> last_;  // by warp
};

}  // namespace palladion::sim::check
