#pragma once
// Races for tensor memory: every tcgen05.mma, cp, ld and st is an operation of its own, and tcgen05.dealloc
// ends what its columns held (PTX, "tcgen05 Memory Consistency Model").
#include <vector>

#include "sim/check/core/context.h"
#include "sim/check/memory/races.h"

namespace palladion::sim::check {

// A number that the products which the tensor core performs in order have in common; 0: not a product.
uint64_t pipeline_of(const AsyncIssue& e);

// One cluster's accesses of tensor memory. Happens-before sees each event first.
class TensorMemoryChecks {
 public:
  // Costs nothing where the program has no tensor memory.
  TensorMemoryChecks(const ClusterContext& context, HappensBefore& order, ConflictSink& sink, bool used);

  void on(const TensorAccess& a);
  void on(const TensorAllocated& e);
  void issued(const AsyncIssue& e, const std::shared_ptr<AsyncRecord>& op);
  const Records& records() const { return records_; }

 private:
  Actor actor_of(const Origin& origin, const AsyncRecord* op, bool writes) const;
  uint32_t record(const Origin& origin, const std::shared_ptr<AsyncRecord>& op, bool writes);
  void operate(const Origin& origin, const std::shared_ptr<AsyncRecord>& op, std::span<const Piece> pieces,
               bool writes);
  void touch(const Piece& p);
  void clear(CtaRank rank, uint32_t column, uint32_t columns);
  void collect_records();

  const ClusterContext& context_;
  HappensBefore& order_;
  std::vector<SharedShadow> cells_;  // by rank
  CellPool pool_;
  Records records_;
  Detector detector_;
  size_t collect_at_ = 1U << 16;
};

}  // namespace palladion::sim::check
