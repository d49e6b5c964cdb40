#include "sim/check/order/happens_before.h"

#include <algorithm>
#include <bit>
#include <utility>

namespace palladion::sim::check {
namespace {

constexpr size_t kept_generations = 16;   // a warp that is late to pass is not as late as this
constexpr size_t kept_unacquired = 1024;  // operations that relaxed waits of a warp saw complete

}  // namespace

HappensBefore::HappensBefore(const ClusterState& cluster, uint32_t mma_warps, Locations& global,
                             RareProxies proxies)
    : LaneViews(cluster, proxies),
      mma_warps_(mma_warps),
      strong_(*this, dropped_, global),
      operations_(warps()),
      stores_(warps()),
      tensor_(proxies.tensor_memory ? static_cast<uint32_t>(warps()) : 0),
      meetings_(warps()) {
  exits_.arrived.resize(warps());
  exits_.known.resize(warps());
}

// The strict part is acquired too when both scopes include both ends (PTX, "Scope", "Morally strong
// operations").
void HappensBefore::acquire_released(const Origin& origin, const std::vector<Released>& all,
                                     isa::Scope scope) {
  for (const Released& r : all) {
    const bool included =
        r.cta == origin.cta_rank || (r.scope >= isa::Scope::cluster && scope >= isa::Scope::cluster);
    if (!included)
      dropped_.add(r.scope < isa::Scope::cluster ? DroppedEdge::Why::release_scope : DroppedEdge::Why::scope,
                   origin, origin);
    acquire(index(origin), origin.lanes, *r.view, included);
  }
}

// --- queries --------------------------------------------------------------------------------------
namespace {
// Whether it tells of what the operation did in the shared memory of CTA `rank`. A load of .cta_group::2
// counts the bytes of both CTAs of a pair at one mbarrier.
bool tells_of(const Publication& p, const AsyncRecord& op, CtaRank rank) {
  if (p.rank == Publication::any_rank || p.rank == rank) return true;
  const auto is_there = [&](SharedAddress mbarrier) { return mbarrier >> cta_rank_shift == rank; };
  return (p.rank ^ 1U) == rank && !op.mbarriers.empty() && std::ranges::none_of(op.mbarriers, is_there);
}
}  // namespace

bool HappensBefore::done(const AsyncRecord& op, bool reads_only, const Asker& asker) const {
  if (op.stream != AsyncRecord::no_stream)
    return tensor_complete(op, *asker.view, asker.warp, asker.lanes, asker.time, false);
  for (const Publication& p : op.published) {
    if (p.reads_only && !reads_only) continue;
    if (!tells_of(p, op, asker.rank)) continue;
    if (op.lane_exact && (asker.parts & ~p.parts) != 0) continue;
    const uint32_t lanes = p.own_lanes ? asker.parts : p.lanes;
    const bool each = p.own_lanes && !std::has_single_bit(lanes);
    const auto is_known = [&](Visibility visibility) {
      return each ? op.cluster == cluster() && asker.view->time(visibility, p.warp) >= p.time
                  : asker.view->knows_any(visibility, op.cluster, p.warp, lanes, p.time);
    };
    const bool is_own = each ? (lanes & ~asker.lanes) == 0 : (lanes & asker.lanes) != 0;
    const bool by_itself = op.cluster == cluster() && p.warp == asker.warp && is_own;
    const uint32_t until = asker.visibility == Visibility::generic ? asker.time : asker.own_async;
    if (by_itself && p.time <= until) return true;
    if (is_known(asker.visibility)) return true;
    // Through a commit of the products that waited for it.
    if (tensor_memory() && asker.visibility == Visibility::generic && is_known(Visibility::tensor))
      return true;
  }
  return false;
}

// --- fences ---------------------------------------------------------------------------------------
void HappensBefore::on(const Fenced& event) {
  const Origin& origin = event.origin;
  if (const auto* wait = std::get_if<isa::TensorMemoryWait>(origin.effect))
    return wait_for_tensor_memory(origin, wait->stores);
  if (const auto* fence = std::get_if<isa::TensorMemoryFence>(origin.effect))
    return fence_tensor_memory(origin, fence->after);
  const auto* f = std::get_if<isa::Fence>(origin.effect);
  if (f == nullptr) return;  // wgmma.fence orders registers
  if (f->proxy || f->copy_from >= 0) return fence_proxy(origin, *f);
  publish_seen(origin);
  strong_.fence(origin, *f);
}

// Fences of the async proxy order both ways. Those of the tensormap proxy order one way each: what is written
// is released, and released writes are acquired (PTX, "membar/fence").
void HappensBefore::fence_proxy(const Origin& origin, const isa::Fence& f) {
  const WarpOfCluster warp = index(origin);
  const auto order = [&](Visibility from, Visibility to) { order_before(warp, origin.lanes, from, to); };
  if (f.copy_from >= 0 || (f.to == isa::Proxy::tensormap && f.order == isa::Order::release))
    order(Visibility::generic, Visibility::released_tensormap);
  else if (f.to == isa::Proxy::tensormap)
    order(Visibility::released_tensormap, Visibility::tensormap);
  if (f.to == isa::Proxy::async && f.window != isa::Space::global)
    order(Visibility::generic, Visibility::shared_async);
  if (f.to == isa::Proxy::async && f.window != isa::Space::shared_cta &&
      f.window != isa::Space::shared_cluster)
    order(Visibility::generic, Visibility::global_async);
  advance(warp, origin.pc);  // the fence does not cover later accesses
}

void HappensBefore::order_before(WarpOfCluster warp, uint32_t lanes, Visibility from, Visibility to) {
  for_each_view(warp, lanes, [&](const ViewRef& old, uint32_t same) {
    auto fenced = std::make_shared<View>(*old);
    if (fenced->fence(from, to)) set_view(warp, same, fenced);
  });
  if (from == Visibility::generic)
    fence_own(to, warp, lanes);
  else
    fence_own(from, to, warp, lanes);
}

void HappensBefore::on(const WarpSynced& event) {
  const Origin& origin = event.origin;
  const WarpOfCluster warp = index(origin);
  const ViewRef all = release(warp, origin.lanes, origin.pc);
  set_view(warp, origin.lanes, all);
}

void HappensBefore::step(WarpOfCluster warp) { advance(warp, release_site(warp, time(warp) - 1)); }

// The warp's time advances so that accesses before and behind it differ; it releases nothing.
void HappensBefore::on(const Executed& event) {
  const Origin& origin = event.origin;
  if (origin.effect == nullptr || !lanes_meet(*origin.effect)) return;
  const WarpOfCluster warp = index(origin);
  const uint32_t now = time(warp);
  if (!meetings_.separates(warp)) return;
  meetings_.add(warp, {now, origin.lanes, origin.pc});
  advance(warp, release_site(warp, now - 1));
}

const Meeting* HappensBefore::meeting(const Record& then, const Record& now, const View& later) const {
  if (then.cluster != cluster()) return nullptr;
  const auto any = [](const Meeting&) { return true; };
  if (now.cluster == cluster() && now.warp == then.warp && !now.async)
    return meetings_.find(then.warp, then.lanes | now.lanes, then.time, now.time, any);
  return meetings_.find(then.warp, then.lanes, then.time, time(then.warp), [&](const Meeting& m) {
    return later.knows_any(Visibility::generic, cluster(), then.warp, m.lanes, m.time + 1);
  });
}

std::optional<Pc> HappensBefore::met_before(const Point& p, const Origin& origin) const {
  const Meeting* const met = meetings_.find(p.warp, p.lanes, p.time, time(p.warp), [&](const Meeting& m) {
    return before({p.warp, m.lanes, m.time + 1}, origin);
  });
  return met == nullptr ? std::nullopt : std::optional(met->pc);
}

// --- barriers -------------------------------------------------------------------------------------
HappensBefore::Generation& HappensBefore::generation(std::deque<Generation>& of, uint64_t number) {
  for (Generation& g : of)
    if (g.number == number) return g;
  if (of.size() >= kept_generations) of.pop_front();
  of.push_back({number, nothing()});
  return of.back();
}

void HappensBefore::on(const CtaBarrierEvent& e) {
  const Origin& origin = e.origin;
  Generation& g = generation(barriers_[uint32_t{origin.cta_rank} << 4 | e.id], e.generation);
  if (e.step == CtaBarrierEvent::Step::arrive)
    join(g.joined, *release(index(origin), origin.lanes, origin.pc));
  else
    acquire(index(origin), origin.lanes, *g.joined);
}

void HappensBefore::on(const ClusterBarrierEvent& e) {
  const Origin& origin = e.origin;
  if (tensor_memory()) note_exits(e);
  Generation& g = generation(cluster_barrier_, e.generation);
  const auto* b = std::get_if<isa::ClusterBarrier>(origin.effect);
  const WarpOfCluster warp = index(origin);
  if (e.step == ClusterBarrierEvent::Step::pass) return acquire(warp, origin.lanes, *g.joined);
  if (b != nullptr && b->order == isa::Order::relaxed) {
    // Behind a fence a relaxed arrival releases what the fence did.
    strong_.for_each_fenced(warp, origin.lanes, [&](isa::Scope scope, const ViewRef& view) {
      if (scope >= isa::Scope::cluster) join(g.joined, *view);
    });
    if (tensor_memory())
      join(g.joined, release(warp, origin.lanes, origin.pc)->only(Visibility::tensor));
    else
      step(warp);
    return dropped_.add(DroppedEdge::Why::relaxed, origin, origin);
  }
  join(g.joined, *release(warp, origin.lanes, origin.pc));
}

// A generation is complete when all threads that have not exited have arrived. Those that exited behind their
// arrival are missing from the next one on.
void HappensBefore::on(const Exited& event) {
  if (!tensor_memory()) return;
  const Origin& origin = event.origin;
  const WarpOfCluster warp = index(origin);
  const uint32_t arrived = exits_.arrived[warp] & origin.lanes;
  const ViewRef view = release(warp, origin.lanes, origin.pc);
  if (arrived != origin.lanes) exits_.all.push_back({exits_.open, view});
  if (arrived != 0) exits_.all.push_back({exits_.open + 1, view});
}

void HappensBefore::note_exits(const ClusterBarrierEvent& e) {
  const WarpOfCluster warp = index(e.origin);
  if (e.step == ClusterBarrierEvent::Step::pass) {
    for (const Exits::Exit& exit : exits_.all)
      if (exit.from <= e.generation) {
        if (exits_.known[warp] == nullptr) exits_.known[warp] = nothing();
        join(exits_.known[warp], *exit.view);
      }
    return;
  }
  if (e.generation > exits_.open) {
    exits_.open = e.generation;
    std::ranges::fill(exits_.arrived, 0);
  }
  exits_.arrived[warp] |= e.origin.lanes;
}

// --- mbarriers ------------------------------------------------------------------------------------
namespace {
// Whose bytes complete there, where each lane issued its own.
uint32_t parts_at(const AsyncRecord& op, SharedAddress mbarrier) {
  if (!op.lane_exact || op.mbarriers.empty()) return ~0U;
  uint32_t parts = 0, lanes = op.issuer.lanes;
  for (const SharedAddress m : op.mbarriers) {
    if (m == mbarrier) parts |= lanes & (0 - lanes);
    lanes &= lanes - 1;
  }
  return parts;
}
}  // namespace

void HappensBefore::mbarrier(const MbarrierEvent& e) {
  const Origin& origin = e.origin;
  if (e.async_id == 0) accessed(index(origin));
  using A = isa::MbarrierAction;
  if (e.action == A::init || e.action == A::inval) {
    mbarriers_[e.address] = {};
    return;
  }
  if (e.action == A::test_wait || e.action == A::try_wait) return wait_on(e);
  Phase& phase = mbarriers_[e.address][e.phase];
  if (e.async_id != 0) {
    if (const auto op = in_flight_.find(e.async_id); op != in_flight_.end())
      phase.operations.push_back({op->second, parts_at(*op->second, e.address)});
    if (const auto all = deferred_.find(e.async_id); all != deferred_.end())
      phase.operations.insert(phase.operations.end(), all->second.begin(), all->second.end());
    if (const auto commit = commits_.find(e.async_id); commit != commits_.end())
      phase.commits.push_back(commit->second);
  } else if (const auto* m = std::get_if<isa::Mbarrier>(origin.effect)) {
    if (releases(m->order)) {
      add_release(phase.released, origin.cta_rank, m->scope, release(index(origin), origin.lanes, origin.pc));
    } else {
      arrive_relaxed(phase, origin, *m);
    }
  }
}

void HappensBefore::arrive_relaxed(Phase& phase, const Origin& origin, const isa::Mbarrier& m) {
  const WarpOfCluster warp = index(origin);
  auto& to = phase.released;
  if (phase.relaxed == nullptr) phase.relaxed = nothing();
  join(phase.relaxed, *released(warp, origin.lanes));
  phase.relaxed_by = origin;
  strong_.for_each_fenced(warp, origin.lanes, [&](isa::Scope scope, const ViewRef& view) {
    add_release(to, origin.cta_rank, std::min(m.scope, scope), view);
  });
  if (!tensor_memory()) return step(warp);
  add_release(to, origin.cta_rank, m.scope,
              std::make_shared<View>(release(warp, origin.lanes, origin.pc)->only(Visibility::tensor)));
}

void HappensBefore::wait_on(const MbarrierEvent& e) {
  const Origin& origin = e.origin;
  if (!e.succeeded) return;
  const auto at = mbarriers_.find(e.address);
  if (at == mbarriers_.end()) return;
  const Phase& phase = at->second[e.phase];
  const auto* m = std::get_if<isa::Mbarrier>(origin.effect);
  const isa::Scope scope = m != nullptr ? m->scope : isa::Scope::cta;
  const bool acquiring = m == nullptr || acquires(m->order);
  ViewRef unordered = phase.relaxed;
  if (acquiring) {
    acquire_released(origin, phase.released, scope);
  } else {
    for (const Released& r : phase.released) {
      strong_.note_release(index(origin), origin.lanes, r,
                           r.cta == origin.cta_rank ? isa::Scope::cta : isa::Scope::cluster);
      if (tensor_memory()) acquire(index(origin), origin.lanes, r.view->only(Visibility::tensor));
      if (unordered == nullptr) unordered = nothing();
      join(unordered, *r.view);
    }
  }
  if (unordered != nullptr) {
    step(index(origin));
    dropped_.add_unordered(DroppedEdge::Why::relaxed, phase.relaxed == nullptr ? origin : phase.relaxed_by,
                           origin, unordered, time(index(origin)));
  }
  const auto rank = static_cast<uint8_t>(e.address >> cta_rank_shift);
  if (!phase.commits.empty()) {
    const WarpOfCluster warp = index(origin);
    advance(warp, origin.pc);
    for (const Commit& c : phase.commits) {
      acquire(warp, origin.lanes, *c.known);
      tensor_.publish(c.stream, {c.before, warp, origin.lanes, time(warp)});
    }
  }
  if (phase.operations.empty()) return;
  const auto published = [&](const Completed& c) {
    return Publication{.lanes = origin.lanes, .rank = rank, .parts = c.parts};
  };
  if (!acquiring) {
    auto& seen = operations_[index(origin)].seen;
    for (const Completed& c : phase.operations) seen.emplace_back(c.op, published(c));
    while (seen.size() > kept_unacquired) seen.pop_front();
    return;
  }
  advance(index(origin), origin.pc);
  for (const Completed& c : phase.operations) {
    publish(*c.op, origin, published(c));
    if (c.op->known_to_asker != nullptr)
      dropped_.add_unordered(DroppedEdge::Why::request, c.op->issuer, origin, c.op->known_to_asker,
                             time(index(origin)));
  }
}

// What relaxed waits saw complete becomes visible at a fence.
void HappensBefore::publish_seen(const Origin& origin) {
  auto& seen = operations_[index(origin)].seen;
  if (seen.empty()) return;
  advance(index(origin), origin.pc);
  for (auto& [op, published] : seen) {
    if ((published.lanes & origin.lanes) == 0) continue;
    Publication now = published;
    now.lanes &= origin.lanes;
    published.lanes &= ~origin.lanes;
    publish(*op, origin, now);
  }
  std::erase_if(seen, [](const auto& s) { return s.second.lanes == 0; });
}

bool HappensBefore::issuer_waits(const AsyncRecord& op) const {
  if (op.group == isa::AsyncGroup::none || op.cluster != cluster()) return false;
  return (operations_[index(op.issuer)].waited[static_cast<size_t>(op.group) - 1] & op.issuer.lanes) != 0;
}

void HappensBefore::publish(AsyncRecord& op, const Origin& origin, const Publication& what) {
  const WarpOfCluster warp = index(origin);
  for (const Publication& p : op.published)
    if (p.warp == warp && (what.lanes & ~p.lanes) == 0 && p.rank == what.rank &&
        (what.parts & ~p.parts) == 0 && (!p.reads_only || what.reads_only))
      return;
  op.published.push_back(what);
  op.published.back().warp = warp;
  op.published.back().time = time(warp);
}

}  // namespace palladion::sim::check
