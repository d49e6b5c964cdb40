#include "sim/check/memory/race_kinds.h"

#include <algorithm>
#include <bit>

namespace palladion::sim::check {
namespace {

bool stores_from_shared(const Record& r) { return r.async && r.async->group == isa::AsyncGroup::bulk; }

// Is the access of another lane of that warp, at that time, visible to the later actor?
bool knows_sibling(const Case& c) {
  for (Lane lane{0}; lane < 32; ++lane)
    if (c.later.view->knows(Visibility::generic, c.then.cluster, c.then.warp, lane, c.then.time)) return true;
  return false;
}

bool knows_issue(const Case& c) {
  const Lane lane = lowest_lane(c.then.lanes | 1U << 31);
  return c.later.view->knows(Visibility::generic, c.then.cluster, c.then.warp, lane, c.then.time);
}

// An earlier time of the same warp is visible: a signal was acquired, but it was released before the access.
bool knows_warp(const Case& c) {
  for (Lane lane{0}; lane < 32; ++lane)
    if (c.later.view->knows(Visibility::generic, c.then.cluster, c.then.warp, lane, 1)) return true;
  return false;
}

bool knows_cta(const Case& c, uint32_t warps_per_cta) {
  const uint32_t first = c.then.warp / warps_per_cta * warps_per_cta;
  for (uint32_t w = first; w < first + warps_per_cta; ++w)
    for (Lane lane{0}; lane < 32; ++lane)
      if (c.later.view->knows(Visibility::generic, c.then.cluster, WarpOfCluster(w), lane, 1)) return true;
  return false;
}

// Had an arrival and a wait not been relaxed, they would have ordered the two accesses.
bool relaxed_mbarrier(const Case& c) { return c.would_be_ordered(DroppedEdge::Why::relaxed); }

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

// The reader had waited for another copy; this copy overwrote its bytes without waiting for the reader. A
// reader that gives the bytes back between its wait and its read is not waited for either.
bool overwrote_what_was_read(const Case& c) {
  const auto& before = c.then.async->overwrote;
  if (before == nullptr) return false;
  const uint32_t readers = c.now.async ? c.now.lanes : c.conflict.lanes;
  for (const AsyncRecord::Released& r : c.then.async->released_by)
    if (before->cluster == c.now.cluster && r.warp == c.now.warp && (readers & ~r.lanes) == 0 &&
        (c.wait == nullptr || r.time < c.wait->time))
      return false;
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
  if (op.family == isa::AsyncFamily::cp_async) return Code::cp_async_of_other_thread;
  if (!c.conflict.earlier_wrote) return Code::overwritten_store_source;
  if (overwrote_what_was_read(c)) return Code::overwrite_in_use;
  if (c.wait != nullptr) return c.wait->code;
  if (c.same_warp() || !knows_issue(c) || c.now.async) return Code::read_before_copy_completion;
  return c.same_cta() ? Code::barrier_as_copy_completion : Code::cluster_barrier_as_copy_completion;
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
  if (op.is_tensor()) return Code::overwritten_product_operand;
  if (c.then_is_wgmma()) return op.committed ? Code::overwritten_wgmma_operand : Code::uncovered_wgmma;
  if (!stores_from_shared(c.then))
    return c.later.rank != c.order.cta_of(c.now.warp) ? Code::multicast_overwrite : Code::overwrite_in_use;
  if (c.two_names && !c.now.async) return Code::reuse_before_operation_end;
  return op.committed && c.order.issuer_waits(op) ? Code::overwritten_store_source
                                                  : Code::uncovered_bulk_store;
}

// tcgen05.mma and cp read what others have not finished to write.
Code unready_operand(const Case& c) {
  const bool of_peer = c.later.rank != c.order.cta_of(c.now.warp);
  if (c.conflict.relation == Relation::other_proxy) return Code::product_without_proxy_fence;
  if (of_peer) return Code::unordered_peer_operand;
  return c.then.async != nullptr ? unawaited_copy(c) : Code::unordered_copy_source;
}

// The accesses of the generic proxy, of threads or of cp.async and its like, are ordered, but for a fence.
Code without_proxy_fence(const Case& c) {
  if (!c.conflict.earlier_wrote || !c.later.reads) return Code::overwrite_without_proxy_fence;
  if (!c.later.shared) return Code::global_read_without_proxy_fence;
  return c.now_is_wgmma() ? Code::wgmma_without_proxy_fence : Code::read_without_proxy_fence;
}

Code shared_async_code(const Case& c) {
  if (c.now_is_tensor() && c.conflict.earlier_wrote) return unready_operand(c);
  if (c.conflict.relation == Relation::other_proxy) return without_proxy_fence(c);
  if (c.then.async != nullptr && !c.conflict.earlier_wrote) return overwritten_source(c);
  if (c.then.async != nullptr) {
    const bool duplicate = c.now.async && c.now.pc == c.then.pc && c.later.writes && !c.same_warp();
    if (duplicate) return Code::duplicate_copy;
    if (c.later.writes && c.now.async) return Code::overwrite_in_use;
    if (issued_behind(c)) return Code::overwritten_wgmma_operand;
    return unawaited_copy(c);
  }
  if (c.conflict.earlier_wrote && c.later.reads) return Code::unordered_copy_source;
  if (c.reads_ahead()) return Code::read_before_copy_completion;
  return c.later.rank != c.order.cta_of(c.now.warp) && !c.now_is_wgmma() ? Code::multicast_overwrite
                                                                         : Code::overwrite_in_use;
}

bool only_arrived(const isa::Effect* sync) {
  const auto* barrier = sync == nullptr ? nullptr : std::get_if<isa::CtaBarrier>(sync);
  return barrier != nullptr && barrier->action == isa::BarrierAction::arrive;
}

Code shared_code(const Case& c) {
  if (c.now.async != nullptr || c.then.async != nullptr) return shared_async_code(c);
  if (c.same_warp()) return Code::lane_race;
  if (knows_sibling(c)) return Code::release_by_one_lane;
  if (relaxed_mbarrier(c)) return Code::relaxed_arrival;
  if (!c.same_cta()) return Code::cluster_race;
  if (only_arrived(c.last_sync) || only_arrived(c.then_sync)) return Code::barrier_arrive_as_wait;
  return Code::shared_memory_race;
}

Code global_code(const Case& c) {
  const auto* load = c.now_effect == nullptr ? nullptr : std::get_if<isa::Load>(c.now_effect);
  if (load != nullptr && load->non_coherent) return Code::stale_read_only_path;
  const bool map_written = c.then_effect != nullptr && c.now_effect != nullptr;
  if (c.later.visibility == Visibility::tensormap) return Code::tensor_map_without_acquire;
  if (map_written && (c.then.flags & Record::tensormap) != 0) return Code::tensor_map_changed_in_use;
  const bool other_proxy = c.conflict.relation == Relation::other_proxy;
  if (other_proxy && c.then_is_generic()) return without_proxy_fence(c);
  if (c.then.async != nullptr) {
    if (!c.conflict.earlier_wrote) return Code::global_memory_race;
    const bool read_waited = std::ranges::any_of(c.then.async->published, &Publication::reads_only);
    if (read_waited && !other_proxy && c.now.async == nullptr) return Code::read_wait_for_completion;
    if (c.later.writes && !c.later.reads) return Code::overlapping_asynchronous_writes;
    return read_waited && !other_proxy ? Code::read_wait_for_completion : Code::read_before_store_completion;
  }
  if (c.now.async != nullptr && c.later.writes)
    return c.conflict.earlier_wrote ? Code::overlapping_asynchronous_writes : Code::global_memory_race;
  if (c.same_warp()) return Code::lane_race;
  const bool one_strong = ((c.then.flags & Record::strong) != 0) != c.later.strong;
  if (one_strong) return Code::unsynchronised_flag;
  if ((c.then.flags & Record::strong) != 0 && c.later.strong) return Code::narrow_scope;
  if (scope_dropped_here(c)) return Code::narrow_scope;
  const bool stores_only = c.conflict.earlier_wrote && !c.later.reads;  // nobody waits for data to come
  if (!c.same_cta() && knows_warp(c)) return stores_only ? Code::global_memory_race : Code::stale_flag;
  if (!c.same_cta() && knows_cta(c, c.order.warps_per_cta())) return Code::release_by_one_thread;
  if (stores_only) return Code::global_memory_race;
  const uint32_t cta = c.order.cta_of(c.now.warp);
  return c.order.strong().has_unacquired(CtaRank(cta), c.then.cluster, c.then.warp) || relaxed_flag(c)
             ? Code::unsynchronised_flag
             : Code::global_memory_race;
}

}  // namespace

bool Case::would_be_ordered(DroppedEdge::Why why) const {
  return std::ranges::any_of(order.dropped(), [&](const DroppedEdge& d) {
    if (d.why != why || d.unordered == nullptr ||
        !d.unordered->knows_any(Visibility::generic, then.cluster, then.warp, conflict.earlier_lanes,
                                then.time))
      return false;
    const WarpOfCluster waiter = order.index(d.acquirer);
    const bool waited_itself = waiter == now.warp && (d.acquirer.lanes & conflict.lanes) != 0;
    return (waited_itself && d.time <= now.time) ||
           later.view->knows_any(Visibility::generic, now.cluster, waiter, d.acquirer.lanes, d.time);
  });
}

Code code_of(const Case& c) {
  if (c.conflict.relation == Relation::of_warpgroup) return Code::operand_of_other_warp;
  if (c.conflict.relation == Relation::mixed_size) return Code::mixed_size_race;
  if (c.conflict.relation == Relation::narrow_scope)
    return c.later.shared ? Code::narrow_mbarrier_scope : Code::narrow_scope;
  return c.later.shared ? shared_code(c) : global_code(c);
}

}  // namespace palladion::sim::check
