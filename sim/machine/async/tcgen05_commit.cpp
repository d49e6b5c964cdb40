// The order of tcgen05 operations, and tcgen05.commit.
#include <algorithm>
#include <optional>

#include "sim/launch/phrases/phrase.h"
#include "sim/machine/async/tcgen05.h"

namespace palladion::sim {

bool are_pipelined(const AsyncOp& earlier, const AsyncOp& later) {
  if (earlier.cta_rank != later.cta_rank || earlier.warp != later.warp || earlier.lanes != later.lanes)
    return false;
  // Of a CTA, or of a pair: one tensor core, or two that work together.
  const auto leader = [](const AsyncOp& op) -> std::optional<uint32_t> {
    if (const auto* const product = std::get_if<TensorProduct>(&op.payload)) return product->leader;
    if (const auto* const copy = std::get_if<TensorCopyIn>(&op.payload)) return copy->leader;
    return std::nullopt;
  };
  return leader(earlier) && leader(earlier) == leader(later);
}

bool TensorCommit::ready(const ClusterRun& run, const AsyncOp&) const {
  return std::ranges::none_of(awaited, [&](uint64_t id) { return is_pending(run.cluster, id); });
}

void TensorCommit::land(const ClusterRun& run, const AsyncOp& op) {
  const auto arrive = [&](uint32_t address) {
    Statement why;
    if (!mbarrier_arrive(run, origin_of(run, op), SharedAddress(address), 1, 0, &why))
      async_fault(run, op, Code::mbarrier_range, say<Phrase::commit_not_counted>(std::move(why)),
                  say<Phrase::one_arrival_a_commit>());
  };
  if (ctas == 0) return arrive(mbarrier);
  for_each_rank(ctas, [&](CtaRank rank) { arrive(at_rank(mbarrier, rank)); });
}

namespace {

// The tcgen05 operations of this thread that have not landed, and its commits: PTX does not say that these
// arrive in their order, but Triton's kernels invalidate the mbarriers of all when they have waited for the
// last.
std::vector<uint64_t> operations_under_way(const Exec& x) {
  using F = isa::AsyncFamily;
  std::vector<uint64_t> ids;
  for (const AsyncOp& o : x.cluster.pending)
    if ((o.family() == F::tcgen05 || o.family() == F::tcgen05_commit) && o.cta_rank == x.cta->rank &&
        o.warp == x.warp->id && (o.lanes & x.active) != 0)
      ids.push_back(o.id);
  return ids;
}

void announce_commit(Exec& x, const AsyncOp& op) {
  if (!x.wants<ArrivalDeferred>()) return;
  const auto& commit = std::get<TensorCommit>(op.payload);
  std::vector<SharedAddress> mbarriers;
  if (commit.ctas == 0) mbarriers.push_back(commit.mbarrier);
  for_each_rank(commit.ctas, [&](CtaRank rank) { mbarriers.push_back(at_rank(commit.mbarrier, rank)); });
  x.emit(ArrivalDeferred{x.origin(), op.id, commit.awaited, mbarriers});
}

}  // namespace

Step exec(Exec& x, const MicroOp& op, const isa::Tcgen05Commit& e) {
  if (!check_one_thread(x, "tcgen05.commit")) return Step::fault;
  uint32_t leader = 0;
  if (!find_pair(x, e.ctas, "tcgen05.commit", leader)) return Step::fault;
  const uint64_t at = x.address_of_lane(op.operands[e.mbar], std::countr_zero(x.active));
  if (!check_mbarrier(x, at, at, "tcgen05.commit")) return Step::fault;
  TensorCommit commit;
  commit.mbarrier = Exec::shared_address(at);
  if (e.cta_mask >= 0) {
    commit.ctas = static_cast<uint32_t>(x.uniform_value(op.operands[e.cta_mask])) & 0xFFFF;
    if (!check_multicast(x, commit.ctas, "tcgen05.commit")) return Step::fault;
  }
  commit.awaited = operations_under_way(x);
  announce_commit(x, x.issue(std::move(commit), x.active));
  return Step::next;
}

}  // namespace palladion::sim
