// The stages of an asynchronous operation, whatever its family.
#include <algorithm>

#include "sim/machine/exec/exec.h"

namespace palladion::sim {
namespace {

// An operation whose family runs in order waits for those before it.
bool is_next(const ClusterState& cluster, size_t index, uint32_t mma_warps) {
  const AsyncOp& op = cluster.pending[index];
  if (!traits(op.family()).in_order) return true;
  const auto begin = cluster.pending.begin();
  return std::none_of(begin, begin + static_cast<std::ptrdiff_t>(index),
                      [&](const AsyncOp& earlier) { return run_in_order(earlier, op, mma_warps); });
}

// Marks it in the journals of the warps that have issued it.
void mark(ClusterState& cluster, const AsyncOp& op, uint32_t mma_warps, bool done) {
  if (op.group == isa::AsyncGroup::none) return;
  std::vector<WarpState>& warps = cluster.ctas[op.cta_rank].warps;
  const bool together = traits(op.family()).participants == isa::Participants::warpgroup;
  const uint32_t issuers = together ? mma_warps : 1, first = op.warp / issuers * issuers;
  for (uint32_t w = first; w < first + issuers; ++w) {
    Journal& journal = journal_of(warps[w], op.group);
    journal_mark(journal, op.id, done);
    if (done) journal_prune(journal);
  }
}

}  // namespace

bool advance(const ClusterRun& run, size_t index) {
  ClusterState& cluster = run.cluster;
  AsyncOp& op = cluster.pending[index];
  if (!op.ready(run)) return false;
  if (op.stage == AsyncOp::Stage::read && op.lands_at_boundary() && !run.at_boundary) return false;
  const uint32_t mma_warps = run.program.mma_warps();
  if (!is_next(cluster, index, mma_warps)) return false;
  ++cluster.progress;
  if (op.stage == AsyncOp::Stage::issued) {
    std::visit([&](auto& payload) { payload.read(run, op); }, op.payload);
    op.stage = AsyncOp::Stage::read;
    mark(cluster, op, mma_warps, false);
    run.emit(AsyncRead{op.id});
    return true;
  }
  AsyncOp finished = std::move(op);
  cluster.pending.erase(cluster.pending.begin() + static_cast<std::ptrdiff_t>(index));
  cluster.acting = finished.id;
  std::visit([&](auto& payload) { payload.land(run, finished); }, finished.payload);
  cluster.acting = 0;
  mark(cluster, finished, mma_warps, true);
  run.emit(AsyncLanded{finished.id});
  return true;
}

bool advance_operation(const ClusterRun& run, uint64_t id) {
  const auto& pending = run.cluster.pending;
  const auto found = std::ranges::lower_bound(pending, id, {}, &AsyncOp::id);
  return advance(run, static_cast<size_t>(found - pending.begin()));
}

}  // namespace palladion::sim
