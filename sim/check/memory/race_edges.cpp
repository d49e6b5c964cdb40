#include "sim/check/memory/race_edges.h"

#include <algorithm>

#include "sim/launch/phrases/phrase.h"
#include "sim/machine/exec/exec.h"
#include "sim/machine/exec/place.h"

namespace palladion::sim::check {
namespace {

// Some warp has waited for the operation, and nothing orders that wait before the later access.
Statement unreleased_completion(const ClusterContext& x, const Case& c, const Publication& seen) {
  const AsyncRecord& op = *c.then.async;
  WarpLanes actor{.cta = {}, .warp = c.order.in_cta(seen.warp), .lanes = seen.lanes};
  const uint32_t rank = c.order.cta_of(seen.warp);
  if (op.cluster != c.now.cluster || rank != c.order.cta_of(c.now.warp))
    actor.cta = x.run.launch->cta_id(op.cluster, rank);
  return say<Phrase::completion_not_released>(actor, op.name);
}

// No wait for the operation's completion lies before the later access.
Statement missing_wait(const ClusterContext& x, const AsyncRecord& op, CtaRank rank) {
  if (op.is_tensor()) return say<Phrase::no_wait_for_commit>(op.name);
  for (const uint32_t b : op.mbarriers)
    if (b >> cta_rank_shift == rank)
      return say<Phrase::no_wait_for_mbarrier>(op.name, mbarrier_object(x.run, x.cluster, SharedAddress(b)));
  switch (op.group) {
    case isa::AsyncGroup::bulk:
      return op.committed ? say<Phrase::no_wait_for_bulk_group>(op.name)
                          : say<Phrase::no_bulk_commit>(op.name);
    case isa::AsyncGroup::cp_async:
      return op.committed ? say<Phrase::no_wait_for_cp_async>(op.name)
                          : say<Phrase::no_cp_async_commit>(op.name);
    case isa::AsyncGroup::wgmma:
      return op.committed ? say<Phrase::no_wait_for_wgmma_group>(op.name)
                          : say<Phrase::no_wgmma_commit>(op.name);
    default:
      return say<Phrase::no_wait_at_all>(op.name);
  }
}

// The read lies before the copy, as far as anything orders them.
Statement missing_wait_of_reader(const ClusterContext& x, const AsyncRecord& op) {
  return op.mbarriers.empty()
             ? say<Phrase::read_ahead_of_copy>(op.name)
             : say<Phrase::read_ahead_of_mbarrier>(
                   op.name, mbarrier_object(x.run, x.cluster, SharedAddress(op.mbarriers.front())));
}

}  // namespace

Site instruction_at(const ClusterContext& x, Pc pc) { return site_at(*x.run.program, pc, {}, {}, 0); }

const Publication* completion_of(const Case& c) {
  if (c.then.async == nullptr) return nullptr;
  const auto& all = c.then.async->published;
  const auto at = std::ranges::find_if(
      all, [&](const Publication& p) { return !p.reads_only && (c.conflict.earlier_parts & ~p.parts) == 0; });
  return at == all.end() ? nullptr : &*at;
}

Statement missing_edge(const ClusterContext& x, const Case& c) {
  if (c.reads_ahead() && c.conflict.relation == Relation::unordered)
    return missing_wait_of_reader(x, *c.now.async);
  if (c.conflict.relation == Relation::other_proxy) return say<Phrase::no_proxy_fence>();
  if (c.conflict.relation == Relation::narrow_scope) return say<Phrase::order_of_cta_scope>();
  if (c.conflict.relation == Relation::of_warpgroup) return say<Phrase::no_barrier_of_warpgroup>();
  if (c.conflict.relation == Relation::mixed_size)
    return say<Phrase::overlap_in_part>(uint32_t{c.then.element}, uint32_t{c.now.element});
  if (c.then.async != nullptr && c.conflict.earlier_wrote && !c.then.async->is_tensor())
    if (const Publication* const seen = completion_of(c)) return unreleased_completion(x, c, *seen);
  if (c.then.async != nullptr) return missing_wait(x, *c.then.async, c.later.rank);
  const auto* load = c.now_effect == nullptr ? nullptr : std::get_if<isa::Load>(c.now_effect);
  if (load != nullptr && load->non_coherent) return say<Phrase::read_only_path>();
  if (c.same_warp()) return say<Phrase::no_warp_sync>();
  if (c.now.cluster != c.then.cluster) return say<Phrase::no_release_acquired>();
  const uint32_t known = c.later.view->time(Visibility::generic, c.then.warp);
  const Pc pc = known == 0 ? Pc(isa::no_id) : c.order.release_site(c.then.warp, known);
  if (pc == isa::no_id) return say<Phrase::never_synchronised>();
  return say<Phrase::released_before_access>(instruction_at(x, pc));
}

Statement missing_scope(const Case& c) {
  const bool both_strong = (c.then.flags & Record::strong) != 0 && c.later.strong;
  return both_strong ? say<Phrase::not_morally_strong>() : say<Phrase::flag_of_narrow_scope>();
}

void note_waits(Finding& f, const ClusterContext& x, const Case& c, const MbarrierLedger& ledger) {
  std::vector<SharedAddress> told;
  for (const Record* r : {&c.now, &c.then}) {
    if (r->cluster != x.cluster.index) continue;
    const SharedAddress at = ledger.last_waited(r->warp);
    if (at == 0 || std::ranges::find(told, at) != told.end()) continue;
    told.push_back(at);
    WarpLanes actor{.cta = {}, .warp = c.order.in_cta(r->warp)};
    if (c.order.cta_of(r->warp) != c.order.cta_of(c.now.warp))
      actor.cta = x.run.launch->cta_id(r->cluster, c.order.cta_of(r->warp));
    f.notes.push_back(say<Phrase::last_waited>(actor, mbarrier_object(x.run, x.cluster, at)));
  }
}

}  // namespace palladion::sim::check
