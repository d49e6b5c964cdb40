#include "sim/check/memory/race_kinds.h"

#include <algorithm>
#include <bit>

namespace palladion::sim::check {
namespace {

bool stores_from_shared(const Record& r) { return r.async && r.async->group == isa::AsyncGroup::bulk; }

// Is the access of another lane of that warp, at that time, visible to the later actor?
bool knows_sibling(const Case& c) {
  for (uint32_t lane = 0; lane < 32; ++lane)
    if (c.later.view->knows(Visibility::generic, c.then.cluster, c.then.warp, lane, c.then.time)) return true;
  return false;
}

bool knows_issue(const Case& c) {
  const uint32_t lane = static_cast<uint32_t>(std::countr_zero(c.then.lanes | 1U << 31));
  return c.later.view->knows(Visibility::generic, c.then.cluster, c.then.warp, lane, c.then.time);
}

// An earlier time of the same warp is visible: a signal was acquired, but it was released before the access.
bool knows_warp(const Case& c) {
  for (uint32_t lane = 0; lane < 32; ++lane)
    if (c.later.view->knows(Visibility::generic, c.then.cluster, c.then.warp, lane, 1)) return true;
  return false;
}

bool knows_cta(const Case& c, uint32_t warps_per_cta) {
  const uint32_t first = c.then.warp / warps_per_cta * warps_per_cta;
  for (uint32_t w = first; w < first + warps_per_cta; ++w)
    for (uint32_t lane = 0; lane < 32; ++lane)
      if (c.later.view->knows(Visibility::generic, c.then.cluster, WarpOfCluster(w), lane, 1)) return true;
  return false;
}

bool relaxed_mbarrier(const Case& c) {
  return std::ranges::any_of(c.order.dropped(), [](const DroppedEdge& d) {
    return d.why == DroppedEdge::Why::relaxed && std::holds_alternative<isa::Mbarrier>(*d.releaser.effect);
  });
}

// Some flag in global memory was written and read by relaxed accesses alone.
bool relaxed_flag(const Case& c) {
  return std::ranges::any_of(c.order.dropped(), [](const DroppedEdge& d) {
    return d.why == DroppedEdge::Why::relaxed && d.in_global_memory;
  });
}

// The later access's own warp has read a flag whose scope is too narrow for it.
bool scope_dropped_here(const Case& c) {
  return std::ranges::any_of(c.order.dropped(), [&](const DroppedEdge& d) {
    return d.why == DroppedEdge::Why::scope && !std::holds_alternative<isa::Mbarrier>(*d.releaser.effect) &&
           d.acquirer.cta_rank == c.order.cta_of(c.now.warp);
  });
}

// The reader had waited for another copy; this copy overwrote its bytes without waiting for the reader.
bool overwrote_what_was_read(const Case& c) {
  const auto& before = c.then.async->overwrote;
  if (before == nullptr) return false;
  const uint32_t readers = c.now.async ? c.now.lanes : c.conflict.lanes;
  for (const AsyncRecord::Released& r : c.then.async->released_by)
    if (before->cluster == c.now.cluster && r.warp == c.now.warp && (readers & ~r.lanes) == 0) return false;
  return c.order.done(*before, false,
                      {.view = c.later.view,
                       .rank = c.later.rank,
                       .warp = c.now.warp,
                       .lanes = c.now.lanes,
                       .time = c.now.time});
}

// The kind of race with an asynchronous write that was not waited for, from the state of the reader's own
// waits.
Code unawaited_copy(const Case& c) {
  const AsyncRecord& op = *c.then.async;
  if (op.lane_exact) return 4322;
  if (!c.conflict.earlier_wrote) return 4312;
  if (overwrote_what_was_read(c)) return 4307;
  if (c.wait_verdict) return c.wait_verdict;
  if (c.same_warp() || !knows_issue(c) || c.now.async) return 4306;
  return c.same_cta() ? Code(4610) : Code(4806);
}

// The copy was issued by a thread that had already issued its part of the wgmma: the copy is issued too
// early.
bool issued_behind(const Case& c) {
  return c.now_is_wgmma() && std::ranges::any_of(c.now.async->joined, [&](const auto& j) {
           return c.then.cluster == c.now.cluster && j.warp == c.then.warp && j.time <= c.then.time;
         });
}

// The source of a bulk store, or the operand of a wgmma, is overwritten.
Code overwritten_source(const Case& c) {
  const AsyncRecord& op = *c.then.async;
  if (op.is_tensor()) return 4520;
  if (c.then_is_wgmma()) return op.committed ? Code(4406) : Code(4405);
  if (!stores_from_shared(c.then))
    return c.later.rank != c.order.cta_of(c.now.warp) ? Code(4317) : Code(4307);
  if (c.two_names && !c.now.async) return 6105;
  return op.committed && c.order.issuer_waits(op) ? Code(4312) : Code(4311);
}

// tcgen05.mma and cp read what others have not finished to write.
Code unready_operand(const Case& c) {
  const bool of_peer = c.later.rank != c.order.cta_of(c.now.warp);
  if (c.conflict.relation == Relation::other_proxy) return 4521;
  if (of_peer) return 4525;
  return c.then.async != nullptr ? unawaited_copy(c) : Code(4310);
}

Code shared_async_code(const Case& c) {
  if (c.now_is_tensor() && c.conflict.earlier_wrote) return unready_operand(c);
  if (c.then.async != nullptr && !c.conflict.earlier_wrote) return overwritten_source(c);
  if (c.then.async != nullptr) {
    const bool duplicate = c.now.async && c.now.pc == c.then.pc && c.later.writes && !c.same_warp();
    if (duplicate) return 4208;
    if (c.later.writes && c.now.async) return 4307;
    if (issued_behind(c)) return 4406;
    return unawaited_copy(c);
  }
  if (c.conflict.relation == Relation::other_proxy)
    return c.conflict.earlier_wrote && c.later.reads ? (c.now_is_wgmma() ? Code(4407) : Code(4309))
                                                     : Code(4308);
  if (c.conflict.earlier_wrote && c.later.reads) return 4310;
  return c.later.rank != c.order.cta_of(c.now.warp) && !c.now_is_wgmma() ? Code(4317) : Code(4307);
}

bool only_arrived(const isa::Effect* sync) {
  const auto* barrier = sync == nullptr ? nullptr : std::get_if<isa::CtaBarrier>(sync);
  return barrier != nullptr && barrier->action == isa::BarrierAction::arrive;
}

Code shared_code(const Case& c) {
  if (c.now.async != nullptr || c.then.async != nullptr) return shared_async_code(c);
  if (c.same_warp()) return 4611;
  if (knows_sibling(c)) return 4105;
  if (relaxed_mbarrier(c)) return 4119;
  if (!c.same_cta()) return 4805;
  if (only_arrived(c.last_sync) || only_arrived(c.then_sync)) return 4609;
  return 4001;
}

Code global_code(const Case& c) {
  const auto* load = c.now_effect == nullptr ? nullptr : std::get_if<isa::Load>(c.now_effect);
  if (load != nullptr && load->non_coherent) return 6007;
  const bool map_written = c.then_effect != nullptr && c.now_effect != nullptr;
  if (c.later.visibility == Visibility::tensormap) return 4320;
  if (map_written && (c.then.flags & Record::tensormap) != 0) return 4319;
  if (c.then.async != nullptr) {
    if (!c.conflict.earlier_wrote) return 6001;
    const bool other_proxy = c.conflict.relation == Relation::other_proxy;
    const bool read_waited = std::ranges::any_of(c.then.async->published, &Publication::reads_only);
    if (read_waited && !other_proxy && c.now.async == nullptr) return 4313;
    if (c.later.writes && !c.later.reads) return 4315;
    return read_waited && !other_proxy ? Code(4313) : Code(6005);
  }
  if (c.conflict.relation == Relation::other_proxy) return c.later.reads ? Code(4316) : Code(4308);
  if (c.now.async != nullptr && c.later.writes) return c.conflict.earlier_wrote ? Code(4315) : Code(6001);
  if (c.same_warp()) return 4611;
  const bool one_strong = ((c.then.flags & Record::strong) != 0) != c.later.strong;
  if (one_strong) return 6002;
  if ((c.then.flags & Record::strong) != 0 && c.later.strong) return 6004;
  if (scope_dropped_here(c)) return 6004;
  const bool stores_only = c.conflict.earlier_wrote && !c.later.reads;  // nobody waits for data to come
  if (!c.same_cta() && knows_warp(c)) return stores_only ? Code(6001) : Code(6006);
  if (!c.same_cta() && knows_cta(c, c.order.warps_per_cta())) return 6003;
  if (stores_only) return 6001;
  const uint32_t cta = c.order.cta_of(c.now.warp);
  return c.order.has_unacquired(cta, c.then.cluster, c.then.warp) || relaxed_flag(c) ? Code(6002)
                                                                                     : Code(6001);
}

}  // namespace

Code code_of(const Case& c) {
  if (c.conflict.relation == Relation::narrow_scope) return c.later.shared ? Code(4120) : Code(6004);
  return c.later.shared ? shared_code(c) : global_code(c);
}

}  // namespace palladion::sim::check
