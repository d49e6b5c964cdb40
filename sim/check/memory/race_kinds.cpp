#include "sim/check/memory/race_kinds.h"

#include <algorithm>
#include <bit>

namespace palladion::sim::check {
namespace {

bool stores_from_shared(const Record& r) { return r.async && r.async->group == GroupKind::bulk; }

// Does the later actor know any lane of the warp at that time, if not the one that it should?
bool knows_sibling(const Case& c) {
  for (uint32_t lane = 0; lane < 32; ++lane)
    if (c.later.view->knows(Reach::generic, c.then.cluster, c.then.warp, lane, c.then.time)) return true;
  return false;
}

bool knows_issue(const Case& c) {
  const uint32_t lane = static_cast<uint32_t>(std::countr_zero(c.then.lanes | 1U << 31));
  return c.later.view->knows(Reach::generic, c.then.cluster, c.then.warp, lane, c.then.time);
}

// Knows an earlier moment of the same warp: a signal was acquired, but one from before the access.
bool knows_warp(const Case& c) {
  for (uint32_t lane = 0; lane < 32; ++lane)
    if (c.later.view->knows(Reach::generic, c.then.cluster, c.then.warp, lane, 1)) return true;
  return false;
}

bool knows_cta(const Case& c, uint32_t warps_per_cta) {
  const uint32_t first = c.then.warp / warps_per_cta * warps_per_cta;
  for (uint32_t w = first; w < first + warps_per_cta; ++w)
    for (uint32_t lane = 0; lane < 32; ++lane)
      if (c.later.view->knows(Reach::generic, c.then.cluster, w, lane, 1)) return true;
  return false;
}

bool dropped(const Case& c, DroppedEdge::Why why, bool mbarrier) {
  return std::ranges::any_of(c.order.dropped(), [&](const DroppedEdge& d) {
    return d.why == why && std::holds_alternative<isa::Mbarrier>(*d.releaser.effect) == mbarrier;
  });
}

// The reader had waited, for a copy whose bytes this one overwrote without waiting for the reader.
bool overwrote_what_was_read(const Case& c) {
  const auto& before = c.then.async->overwrote;
  if (before == nullptr) return false;
  return c.order.done(*before, false,
                      {.view = c.later.view,
                       .rank = c.later.rank,
                       .warp = c.now.warp,
                       .lanes = c.now.lanes,
                       .time = c.now.time});
}

// What an asynchronous write met that was not waited for: the state of the reader's own waits tells.
uint32_t unawaited_copy(const Case& c) {
  const AsyncRecord& op = *c.then.async;
  if (op.lane_exact) return 4322;
  if (!c.conflict.earlier_wrote) return 4312;
  if (overwrote_what_was_read(c)) return 4307;
  if (c.wait_verdict != 0) return c.wait_verdict;
  if (c.same_warp() || !knows_issue(c) || c.now.async) return 4306;
  return c.same_cta() ? 4610 : 4806;
}

// The copy was issued by a thread that had already issued its part of the wgmma: it is the copy that
// comes too early.
bool issued_behind(const Case& c) {
  return c.now_is_wgmma() && std::ranges::any_of(c.now.async->joined, [&](const auto& j) {
           return c.then.cluster == c.now.cluster && j.time != 0 && j.warp == c.then.warp &&
                  j.time <= c.then.time;
         });
}

// The source of a bulk store, or the operand of a wgmma, is overwritten.
uint32_t overwritten_source(const Case& c) {
  const AsyncRecord& op = *c.then.async;
  if (c.then_is_wgmma()) return op.committed ? 4406 : 4405;
  if (!stores_from_shared(c.then)) return c.later.rank != c.order.cta_of(c.now.warp) ? 4317 : 4307;
  if (c.two_names && !c.now.async) return 6105;
  return op.committed && c.order.issuer_waits(op) ? 4312 : 4311;
}

uint32_t shared_async_code(const Case& c) {
  if (c.then.async != nullptr && !c.conflict.earlier_wrote) return overwritten_source(c);
  if (c.then.async != nullptr) {
    const bool duplicate = c.now.async && c.now.pc == c.then.pc && c.later.writes && !c.same_warp();
    if (duplicate) return 4208;
    if (c.later.writes && c.now.async) return 4307;
    if (issued_behind(c)) return 4406;
    return unawaited_copy(c);
  }
  if (c.conflict.relation == Relation::other_proxy)
    return c.conflict.earlier_wrote && c.later.reads ? (c.now_is_wgmma() ? 4407 : 4309) : 4308;
  if (c.conflict.earlier_wrote && c.later.reads) return 4310;
  return c.later.rank != c.order.cta_of(c.now.warp) && !c.now_is_wgmma() ? 4317 : 4307;
}

bool only_arrived(const isa::Effect* sync) {
  const auto* barrier = sync == nullptr ? nullptr : std::get_if<isa::CtaBarrier>(sync);
  return barrier != nullptr && barrier->action == isa::BarrierAction::arrive;
}

uint32_t shared_code(const Case& c) {
  if (c.now.async != nullptr || c.then.async != nullptr) return shared_async_code(c);
  if (c.same_warp()) return 4611;
  if (knows_sibling(c)) return 4105;
  if (dropped(c, DroppedEdge::Why::relaxed, true)) return 4119;
  if (!c.same_cta()) return 4805;
  if (only_arrived(c.last_sync) || only_arrived(c.then_sync)) return 4609;
  return 4001;
}

uint32_t global_code(const Case& c) {
  const auto* load = c.now_effect == nullptr ? nullptr : std::get_if<isa::Load>(c.now_effect);
  if (load != nullptr && load->non_coherent) return 6007;
  const bool map_written = c.then_effect != nullptr && c.now_effect != nullptr;
  if (c.later.reach == Reach::tensormap) return 4320;
  if (map_written && (c.then.flags & Record::tensormap) != 0) return 4319;
  if (c.then.async != nullptr) {
    if (c.conflict.relation == Relation::other_proxy) return 6005;
    const bool read_waited = std::ranges::any_of(c.then.async->published, &Publication::reads_only);
    if (c.now.async != nullptr && c.later.writes) return 4315;
    return read_waited ? 4313 : 6005;
  }
  if (c.conflict.relation == Relation::other_proxy) return c.later.reads ? 4316 : 4308;
  if (c.now.async != nullptr && c.later.writes) return 4315;
  if (c.same_warp()) return 4611;
  const bool one_strong = ((c.then.flags & Record::strong) != 0) != c.later.strong;
  if (one_strong) return 6002;
  if ((c.then.flags & Record::strong) != 0 && c.later.strong) return 6004;
  if (dropped(c, DroppedEdge::Why::scope, false)) return 6004;
  if (!c.same_cta() && knows_warp(c)) return 6006;
  if (!c.same_cta() && knows_cta(c, c.order.warps_per_cta())) return 6003;
  if (c.order.has_unacquired() || dropped(c, DroppedEdge::Why::relaxed, false)) return 6002;
  return 6001;
}

}  // namespace

uint32_t code_of(const Case& c) {
  if (c.conflict.relation == Relation::narrow_scope) return c.later.shared ? 4120 : 6004;
  return c.later.shared ? shared_code(c) : global_code(c);
}

// --- texts ----------------------------------------------------------------------------------------
namespace {

constexpr std::string_view conflicts = "Conflict and Data-races";
constexpr std::string_view proxies = "Proxies; membar/fence: fence.proxy.async";
constexpr std::string_view completion = "Completion Mechanisms for Asynchronous Copy Operations";
constexpr std::string_view wgmma_wait = "wgmma.wait_group";
constexpr std::string_view mbarrier_wait = "mbarrier.test_wait, mbarrier.try_wait";

constexpr CodeNote notes[] = {
    {4001, "threads race on shared memory", conflicts,
     "put a barrier (bar.sync, mbarrier, bar.warp.sync) between the two"},
    {4105, "an elected lane publishes what other lanes of its warp wrote", "mbarrier.arrive",
     "arrive.release orders the arriving thread's own accesses: bar.warp.sync before the arrive"},
    {4113, "the wait for the copy passed on the phase before the first", mbarrier_wait,
     "a fresh mbarrier's first phase completes with parity 0: wait for 0 first"},
    {4114, "the wait for the copy passed on an earlier phase", mbarrier_wait,
     "the parity to wait for flips once each time the barrier is used: (use / stages) & 1"},
    {4116, "the wait for the copy timed out, and its result was not looked at", mbarrier_wait,
     "try_wait may return false: repeat it until it returns true"},
    {4119, "what was published by a relaxed operation is read", "mbarrier.arrive",
     ".relaxed orders nothing: use .release and .acquire, or fences"},
    {4120, "the scope of the synchronisation leaves out one of the two", "Scope; Morally strong operations",
     "use .cluster scope on both the arrive (.release.cluster) and the wait (.acquire.cluster)"},
    {4208, "several warps issue the same copy", "cp.async.bulk.tensor",
     "elect one thread of the CTA, not one of each warp"},
    {4306, "the destination of a copy is read before its completion was observed", completion,
     "wait on the mbarrier that the copy completes on"},
    {4307, "a copy overwrites shared memory that is still in use", conflicts,
     "the consumer must arrive on an `empty` barrier after its last use, and the producer wait for it"},
    {4308, "a copy overwrites what the generic proxy used, without a proxy fence", proxies,
     "fence.proxy.async after the generic accesses, before the arrival that frees the buffer"},
    {4309, "a copy reads what the generic proxy wrote, without a proxy fence", proxies,
     "fence.proxy.async (commit_smem) after the writes, before the barrier in front of the copy"},
    {4310, "a copy reads shared memory while another thread's write is not ordered before it",
     "membar/fence: fence.proxy.async",
     "proxy fences act within a thread: every writer fences, then a barrier joins them with the issuer"},
    {4311, "no wait_group of the issuing thread covers the store", "cp.async.bulk.commit_group",
     "bulk async-groups belong to the thread: the one that issues must commit, and wait"},
    {4312, "the source of a store is overwritten while the store may still read it",
     "cp.async.bulk.wait_group", "wait_group.read with fewer pending groups before the buffer is reused"},
    {4313, "a wait for the source's reads is taken for the completion of the store",
     "cp.async.bulk.wait_group", "wait_group without .read before the result is published"},
    {4315, "asynchronous writes to global memory overlap", conflicts,
     "each tile has one writer; or use cp.reduce, which is atomic element by element"},
    {4316, "a copy reads global memory that the generic proxy wrote, without a proxy fence", proxies,
     "fence.proxy.async.global after the acquire, before the copy is issued"},
    {4317, "a multicast overwrites shared memory that a CTA of the cluster still uses", conflicts,
     "the issuer must have arrivals of the consumers in every destination CTA"},
    {4319, "a tensor map is changed while a copy may still read it", "tensormap.replace",
     "wait for the copies that use the map before it is replaced"},
    {4320, "a tensor map is used without having been acquired", "membar/fence: fence.proxy.tensormap",
     "fence.proxy.tensormap::generic.acquire on the map, by the thread that issues the copy"},
    {4322, "cp.async of one thread is read by another", "cp.async.wait_group",
     "wait_group makes a thread's copies visible to itself: a barrier must follow"},
    {4405, "wait_group does not cover a wgmma that was not committed", wgmma_wait,
     "wgmma.commit_group before wgmma.wait_group"},
    {4406, "a wgmma's operand is overwritten while the wgmma may still read it", wgmma_wait,
     "release the buffer only when wgmma.wait_group has retired the wgmma that reads it"},
    {4407, "a wgmma reads what the generic proxy wrote, without a proxy fence", proxies,
     "fence.proxy.async (commit_smem) after the writes, before the barrier in front of the wgmma"},
    {4609, "bar.arrive is taken for a wait", "bar, barrier",
     "arrive only releases: use bar.sync where the other side's data is read"},
    {4610, "a barrier is taken for the completion of a copy", completion,
     "barriers do not order asynchronous operations: wait on the copy's mbarrier"},
    {4611, "lanes of a warp race", "bar.warp.sync", "bar.warp.sync between the two: lockstep is not a rule"},
    {4805, "CTAs of a cluster race on shared memory", "barrier.cluster",
     "barrier.cluster.arrive.release and wait.acquire, or an mbarrier with .cluster scope, between the two"},
    {4806, "a cluster barrier is taken for the completion of a copy", "barrier.cluster",
     "barriers do not order asynchronous operations: wait on the copy's mbarrier"},
    {6105, "shared memory is reused while an asynchronous operation still reads it",
     "cp.async.bulk.wait_group", "wait for the operation before the bytes serve another array"},
    {6001, "threads race on global memory", conflicts,
     "give each element one owner, use atomics, or order the two by release and acquire"},
    {6002, "a flag in global memory synchronises nothing", "Release and Acquire Patterns",
     "write it with st.release or red.release, read it with ld.acquire, both at .gpu scope"},
    {6003, "only the signalling thread is ordered", "Causality order",
     "join the writers with a barrier before one of them signals"},
    {6004, "the scope of an atomic or a flag is too narrow", "Scope; Morally strong operations",
     "use .gpu scope between CTAs, .sys between devices"},
    {6005, "a store to global memory is read before it was complete", completion,
     "cp.async.bulk.wait_group 0 (not .read), then release the flag; the reader acquires it"},
    {6006, "the signal that was waited for is an earlier one", "Causality order",
     "count on with each use of a semaphore, or reset it before it is used again"},
    {6007, "the read-only path reads what this kernel writes", "ld.global.nc",
     "ld.global.nc is for data that nobody writes while the kernel runs: use ld.global"},
    {4002, "asynchronous operations race", conflicts, "order the two by a completion that is waited for"},
};

}  // namespace

const CodeNote& note_of(uint32_t code) {
  const auto* at = std::ranges::find(notes, code, &CodeNote::code);
  return at != std::end(notes) ? *at : notes[std::size(notes) - 1];
}

}  // namespace palladion::sim::check
