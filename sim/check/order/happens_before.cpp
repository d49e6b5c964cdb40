#include "sim/check/order/happens_before.h"

#include <algorithm>
#include <bit>
#include <utility>

namespace palladion::sim::check {
namespace {

constexpr size_t kept_generations = 16;   // a warp that is late to pass is not as late as this
constexpr size_t kept_unacquired = 1024;  // operations that relaxed waits of a warp saw complete
constexpr size_t kept_drops = 64;

bool acquires(isa::Order o) {
  return o == isa::Order::acquire || o == isa::Order::acq_rel || o == isa::Order::sc;
}
bool releases(isa::Order o) {
  return o == isa::Order::release || o == isa::Order::acq_rel || o == isa::Order::sc;
}

}  // namespace

HappensBefore::HappensBefore(const ClusterState& cluster, uint32_t mma_warps, Locations& global,
                             bool tensor_memory)
    : cluster_(cluster.index),
      warps_per_cta_(static_cast<uint32_t>(cluster.ctas.front().warps.size())),
      mma_warps_(mma_warps),
      tensor_memory_(tensor_memory),
      warps_(warps_per_cta_ * cluster.ctas.size()),
      tensor_(tensor_memory ? static_cast<uint32_t>(warps_.size()) : 0),
      meetings_(warps_.size()),
      global_locations_(global) {
  const ViewRef nothing = empty();
  for (size_t i = 0; i < warps_.size(); ++i) {
    warps_[i].all = nothing;
    warps_[i].initial = cluster.ctas[i / warps_per_cta_].warps[i % warps_per_cta_].alive;
  }
}

// --- views ----------------------------------------------------------------------------------------
std::shared_ptr<View> HappensBefore::release(WarpOfCluster warp, uint32_t lanes, uint32_t pc) {
  WarpViews& w = warps_[warp];
  std::shared_ptr<View> out;
  for_each_view(warp, lanes, [&](const ViewRef& view, uint32_t) {
    if (out == nullptr)
      out = std::make_shared<View>(*view);
    else
      out->join(*view);
  });
  const auto times_of = [&](uint32_t lane) {
    Times t{};
    for (size_t r = 0; r < visibility_count; ++r) t[r] = w.own[r][lane];
    t[static_cast<size_t>(Visibility::generic)] = t[static_cast<size_t>(Visibility::strict)] = w.time;
    return t;
  };
  const auto first = static_cast<uint32_t>(std::countr_zero(lanes));
  const Times times = times_of(first);
  bool equal = lanes == w.initial;
  for (uint32_t m = lanes; m != 0 && equal; m &= m - 1)
    equal = times_of(static_cast<uint32_t>(std::countr_zero(m))) == times;
  if (equal) {
    out->learn(warp, times);
  } else {
    for (uint32_t m = lanes; m != 0; m &= m - 1) {
      const auto lane = static_cast<uint32_t>(std::countr_zero(m));
      out->learn(warp, lane, times_of(lane));
    }
  }
  advance(warp, pc);
  return out;
}

void HappensBefore::set_view(WarpOfCluster warp, uint32_t lanes, const ViewRef& to) {
  WarpViews& w = warps_[warp];
  if (lanes == w.initial) {
    w.all = to;
    w.split.reset();
    return;
  }
  if (w.split == nullptr) {
    w.split = std::make_unique<std::array<ViewRef, 32>>();
    w.split->fill(w.all);
  }
  for (uint32_t m = lanes; m != 0; m &= m - 1) (*w.split)[static_cast<size_t>(std::countr_zero(m))] = to;
}

void HappensBefore::acquire(WarpOfCluster warp, uint32_t lanes, const View& what, bool strict) {
  for_each_view(warp, lanes, [&](const ViewRef& old, uint32_t same) {
    if (!old->would_learn(what, strict)) return;
    auto joined = std::make_shared<View>(*old);
    joined->join(what, strict);
    set_view(warp, same, joined);
  });
  unite(warp);
}

// Lanes that know the same have one view again, as after a barrier that all of them took part in.
void HappensBefore::unite(WarpOfCluster warp) {
  WarpViews& w = warps_[warp];
  if (w.split == nullptr) return;
  const ViewRef first = w.view(static_cast<uint32_t>(std::countr_zero(w.initial)));
  for (uint32_t m = w.initial; m != 0; m &= m - 1) {
    const ViewRef& v = w.view(static_cast<uint32_t>(std::countr_zero(m)));
    if (v != first && *v != *first) return;
  }
  set_view(warp, w.initial, first);
}

// The strict part is acquired too when both scopes include both ends (PTX, "Scope", "Morally strong
// operations").
void HappensBefore::acquire(const Origin& origin, const std::vector<Released>& all, isa::Scope scope) {
  for (const Released& r : all) {
    const bool included =
        r.cta == origin.cta_rank || (r.scope >= isa::Scope::cluster && scope >= isa::Scope::cluster);
    if (!included)
      drop(r.scope < isa::Scope::cluster ? DroppedEdge::Why::release_scope : DroppedEdge::Why::scope, origin,
           origin);
    acquire(index(origin), origin.lanes, *r.view, included);
  }
}

void HappensBefore::add_release(std::vector<Released>& to, uint32_t cta, isa::Scope scope, ViewRef view) {
  for (Released& r : to)
    if (r.cta == cta && r.scope == scope) return join(r.view, *view);
  to.push_back({cta, scope, std::move(view)});
}

// --- queries --------------------------------------------------------------------------------------
Point HappensBefore::now(const Origin& origin) const {
  const WarpOfCluster w = index(origin);
  return {w, origin.lanes, warps_[w].time};
}

bool HappensBefore::before(const Point& p, const Origin& origin) const {
  const WarpOfCluster w = index(origin);
  for (uint32_t m = origin.lanes; m != 0; m &= m - 1) {
    const auto lane = static_cast<uint32_t>(std::countr_zero(m));
    if (p.warp == w && (p.lanes >> lane & 1) != 0) continue;
    if (!view(w, lane).knows_any(Visibility::generic, cluster_, p.warp, p.lanes, p.time)) return false;
  }
  return true;
}

namespace {
// Whether it tells of what the operation did in the shared memory of CTA `rank`. A load of .cta_group::2
// counts the bytes of both CTAs of a pair at one mbarrier.
bool tells_of(const Publication& p, const AsyncRecord& op, uint32_t rank) {
  if (p.rank == Publication::any_rank || p.rank == rank) return true;
  const auto is_there = [&](uint32_t mbarrier) { return mbarrier >> cta_rank_shift == rank; };
  return (p.rank ^ 1U) == rank && !op.mbarriers.empty() && std::ranges::none_of(op.mbarriers, is_there);
}
}  // namespace

bool HappensBefore::done(const AsyncRecord& op, bool reads_only, const Asker& asker) const {
  if (op.stream != AsyncRecord::no_stream)
    return tensor_complete(op, *asker.view, asker.warp, asker.lanes, asker.time, false);
  for (const Publication& p : op.published) {
    if (p.reads_only && !reads_only) continue;
    if (!tells_of(p, op, asker.rank)) continue;
    const uint32_t lanes = p.own_lanes ? p.lanes & 1U << asker.lane : p.lanes;
    const bool by_itself = op.cluster == cluster_ && p.warp == asker.warp && (lanes & asker.lanes) != 0;
    if (by_itself && p.time <= asker.time && asker.visibility == Visibility::generic) return true;
    if (asker.view->knows_any(asker.visibility, op.cluster, p.warp, lanes, p.time)) return true;
    // Through a commit of the products that waited for it.
    if (tensor_memory_ && asker.visibility == Visibility::generic &&
        asker.view->knows_any(Visibility::tensor, op.cluster, p.warp, lanes, p.time))
      return true;
  }
  return false;
}

uint32_t HappensBefore::release_site(WarpOfCluster warp, uint32_t time) const {
  const auto& sites = warps_[warp].release_sites;
  return time < sites.size() ? sites[time] : isa::no_id;
}

void HappensBefore::drop(DroppedEdge::Why why, const Origin& releaser, const Origin& acquirer,
                         bool in_global_memory) {
  for (const DroppedEdge& d : dropped_)
    if (d.why == why && d.releaser.pc == releaser.pc && d.acquirer.pc == acquirer.pc) return;
  if (dropped_.size() < kept_drops) dropped_.push_back({why, releaser, acquirer, in_global_memory});
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
  if (!f->proxy && f->copy_from < 0) return fence_memory(origin, *f);
  const WarpOfCluster warp = index(origin);
  WarpViews& w = warps_[warp];
  std::vector<Visibility> to;
  if (f->to == isa::Proxy::tensormap || f->copy_from >= 0) to.push_back(Visibility::tensormap);
  if (f->to == isa::Proxy::async && f->window != isa::Space::global) to.push_back(Visibility::shared_async);
  if (f->to == isa::Proxy::async && f->window != isa::Space::shared_cta &&
      f->window != isa::Space::shared_cluster)
    to.push_back(Visibility::global_async);
  for_each_view(warp, origin.lanes, [&](const ViewRef& old, uint32_t same) {
    auto fenced = std::make_shared<View>(*old);
    bool news = false;
    for (const Visibility r : to) news |= fenced->fence(r);
    if (news) set_view(warp, same, fenced);
  });
  for (const Visibility r : to)
    for (uint32_t m = origin.lanes; m != 0; m &= m - 1)
      w.own[static_cast<size_t>(r)][static_cast<size_t>(std::countr_zero(m))] = w.time;
  advance(warp, origin.pc);  // the fence does not cover later accesses
}

// The fence's half of a release pattern and of an acquire pattern.
void HappensBefore::fence_memory(const Origin& origin, const isa::Fence& f) {
  const WarpOfCluster warp = index(origin);
  WarpViews& w = warps_[warp];
  const isa::Scope scope = f.mbarrier_init ? isa::Scope::cluster : f.scope;
  std::erase_if(w.seen, [&](const Seen& s) {
    const uint32_t lanes = s.lanes & origin.lanes;
    if (lanes == 0) return false;
    if (scope < s.needed) {
      drop(DroppedEdge::Why::scope, origin, origin);
      return false;
    }
    acquire(warp, lanes, *s.view);
    return true;
  });
  publish_seen(origin);
  w.fenced = release(warp, origin.lanes, origin.pc);
  w.fenced_lanes = origin.lanes;
  w.fenced_scope = scope;
}

void HappensBefore::on(const WarpSynced& event) {
  const Origin& origin = event.origin;
  const WarpOfCluster warp = index(origin);
  const ViewRef all = release(warp, origin.lanes, origin.pc);
  set_view(warp, origin.lanes, all);
}

void HappensBefore::step(WarpOfCluster warp) {
  const uint32_t time = warps_[warp].time;
  if (meetings_.separates(warp, time)) meetings_.accessed(warp, time + 1);
  advance(warp, release_site(warp, time - 1));
}

// The warp's time advances so that accesses before and behind it differ; it releases nothing.
void HappensBefore::on(const Executed& event) {
  const Origin& origin = event.origin;
  if (origin.effect == nullptr || !lanes_meet(*origin.effect)) return;
  const WarpOfCluster warp = index(origin);
  const uint32_t time = warps_[warp].time;
  if (!meetings_.separates(warp, time)) return;
  meetings_.add(warp, {time, origin.lanes, origin.pc});
  advance(warp, release_site(warp, time - 1));
}

const Meeting* HappensBefore::meeting(const Record& then, const Record& now, const View& later) const {
  if (then.cluster != cluster_) return nullptr;
  const auto any = [](const Meeting&) { return true; };
  if (now.cluster == cluster_ && now.warp == then.warp && !now.async)
    return meetings_.find(then.warp, then.lanes | now.lanes, then.time, now.time, any);
  return meetings_.find(then.warp, then.lanes, then.time, warps_[then.warp].time, [&](const Meeting& m) {
    return later.knows_any(Visibility::generic, cluster_, then.warp, m.lanes, m.time + 1);
  });
}

// --- barriers -------------------------------------------------------------------------------------
HappensBefore::Generation& HappensBefore::generation(std::deque<Generation>& of, uint64_t number) {
  for (Generation& g : of)
    if (g.number == number) return g;
  if (of.size() >= kept_generations) of.pop_front();
  of.push_back({number, empty()});
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
  Generation& g = generation(cluster_barrier_, e.generation);
  const auto* b = std::get_if<isa::ClusterBarrier>(origin.effect);
  const WarpOfCluster warp = index(origin);
  if (e.step == ClusterBarrierEvent::Step::pass) return acquire(warp, origin.lanes, *g.joined);
  if (b != nullptr && b->order == isa::Order::relaxed) {
    // Behind a fence a relaxed arrival releases what the fence did.
    const WarpViews& w = warps_[warp];
    if (w.fenced != nullptr && w.fenced_scope >= isa::Scope::cluster) join(g.joined, *w.fenced);
    step(warp);
    return drop(DroppedEdge::Why::relaxed, origin, origin);
  }
  join(g.joined, *release(warp, origin.lanes, origin.pc));
}

// --- mbarriers ------------------------------------------------------------------------------------
void HappensBefore::mbarrier(const MbarrierEvent& e) {
  const Origin& origin = e.origin;
  using A = isa::MbarrierAction;
  if (e.action == A::init || e.action == A::inval) {
    mbarriers_[e.address] = {};
    return;
  }
  if (e.action == A::test_wait || e.action == A::try_wait) return wait_on(e);
  Mbarrier& b = mbarriers_[e.address];
  Phase& phase = b.phases[e.phase];
  if (e.async_id != 0) {
    if (const auto op = in_flight_.find(e.async_id); op != in_flight_.end())
      phase.operations.push_back(op->second);
    if (const auto all = deferred_.find(e.async_id); all != deferred_.end())
      phase.operations.insert(phase.operations.end(), all->second.begin(), all->second.end());
    if (const auto commit = commits_.find(e.async_id); commit != commits_.end())
      phase.commits.push_back(commit->second);
  } else if (const auto* m = std::get_if<isa::Mbarrier>(origin.effect)) {
    if (releases(m->order)) {
      add_release(phase.released, origin.cta_rank, m->scope, release(index(origin), origin.lanes, origin.pc));
    } else {
      const WarpViews& w = warps_[index(origin)];
      if (w.fenced != nullptr && (w.fenced_lanes & origin.lanes) != 0)
        add_release(phase.released, origin.cta_rank, std::min(m->scope, w.fenced_scope), w.fenced);
      if (!tensor_memory_)
        step(index(origin));
      else
        add_release(phase.released, origin.cta_rank, m->scope,
                    std::make_shared<View>(
                        release(index(origin), origin.lanes, origin.pc)->only(Visibility::tensor)));
      b.any_relaxed = true;
      b.last_relaxed = origin;
    }
  }
}

void HappensBefore::wait_on(const MbarrierEvent& e) {
  const Origin& origin = e.origin;
  if (!e.succeeded) return;
  const auto at = mbarriers_.find(e.address);
  if (at == mbarriers_.end()) return;
  Mbarrier& b = at->second;
  const Phase& phase = b.phases[e.phase];
  const auto* m = std::get_if<isa::Mbarrier>(origin.effect);
  const isa::Scope scope = m != nullptr ? m->scope : isa::Scope::cta;
  const bool acquiring = m == nullptr || acquires(m->order);
  if (b.any_relaxed) drop(DroppedEdge::Why::relaxed, b.last_relaxed, origin);
  if (acquiring) {
    acquire(origin, phase.released, scope);
  } else {
    for (const Released& r : phase.released) {
      see(warps_[index(origin)], origin.lanes, r,
          r.cta == origin.cta_rank ? isa::Scope::cta : isa::Scope::cluster);
      if (tensor_memory_) acquire(index(origin), origin.lanes, r.view->only(Visibility::tensor));
    }
    drop(DroppedEdge::Why::relaxed, origin, origin);
  }
  const auto rank = static_cast<uint8_t>(e.address >> cta_rank_shift);
  if (!phase.commits.empty()) {
    const WarpOfCluster warp = index(origin);
    advance(warp, origin.pc);
    for (const Commit& c : phase.commits) {
      acquire(warp, origin.lanes, *c.known);
      tensor_.publish(c.stream, {c.before, warp, origin.lanes, warps_[warp].time});
    }
  }
  if (phase.operations.empty()) return;
  const Publication published{.lanes = origin.lanes, .rank = rank};
  if (!acquiring) {
    auto& seen = warps_[index(origin)].seen_operations;
    for (const auto& op : phase.operations) seen.emplace_back(op, published);
    while (seen.size() > kept_unacquired) seen.pop_front();
    return;
  }
  advance(index(origin), origin.pc);
  for (const auto& op : phase.operations) publish(*op, origin, published);
}

// One entry a set of lanes and scope: a spin reads the same flag again and again.
void HappensBefore::see(WarpViews& w, uint32_t lanes, const Released& r, isa::Scope needed) {
  for (Seen& s : w.seen)
    if (s.lanes == lanes && s.needed == needed) return join(s.view, *r.view);
  w.seen.push_back({lanes, needed, r.view});
}

// What relaxed waits saw complete becomes visible at a fence.
void HappensBefore::publish_seen(const Origin& origin) {
  auto& seen = warps_[index(origin)].seen_operations;
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
  if (op.group == isa::AsyncGroup::none || op.cluster != cluster_) return false;
  return (warps_[index(op.issuer)].waited[static_cast<size_t>(op.group) - 1] & op.issuer.lanes) != 0;
}

bool HappensBefore::has_unacquired(uint32_t cta, uint32_t cluster, WarpOfCluster warp) const {
  for (uint32_t w = cta * warps_per_cta_; w < (cta + 1) * warps_per_cta_; ++w)
    for (const Seen& s : warps_[w].seen)
      if (s.view->knows_any(Visibility::generic, cluster, warp, ~0U, 1)) return true;
  return false;
}

bool HappensBefore::knows_unacquired(uint32_t cta, uint32_t cluster, WarpOfCluster warp, uint32_t lane,
                                     uint32_t when) const {
  for (uint32_t w = cta * warps_per_cta_; w < (cta + 1) * warps_per_cta_; ++w)
    for (const Seen& s : warps_[w].seen)
      if (s.view->knows(Visibility::generic, cluster, warp, lane, when)) return true;
  return false;
}

void HappensBefore::publish(AsyncRecord& op, const Origin& origin, const Publication& what) {
  const WarpOfCluster warp = index(origin);
  for (const Publication& p : op.published)
    if (p.warp == warp && (what.lanes & ~p.lanes) == 0 && p.rank == what.rank &&
        (!p.reads_only || what.reads_only))
      return;
  op.published.push_back(what);
  op.published.back().warp = warp;
  op.published.back().time = warps_[warp].time;
}

// Later accesses have a later time than earlier ones.
void HappensBefore::advance(WarpOfCluster warp, uint32_t pc) {
  WarpViews& w = warps_[warp];
  w.release_sites.resize(w.time + 1, isa::no_id);
  w.release_sites[w.time] = pc;
  ++w.time;
}

// --- strong accesses ------------------------------------------------------------------------------
void HappensBefore::strong(const Access& a, uint64_t address, uint32_t lanes, bool shared) {
  const Origin& origin = a.origin;
  Locations& all = shared ? shared_locations_ : global_locations_;
  const WarpOfCluster warp = index(origin);
  WarpViews& w = warps_[warp];
  const bool reads = a.kind != Access::Kind::write, writes = a.kind != Access::Kind::read;
  const auto needed = [&](const Location& l, const Released& r) {
    return l.cluster != cluster_      ? isa::Scope::gpu
           : r.cta != origin.cta_rank ? isa::Scope::cluster
                                      : isa::Scope::cta;
  };
  const auto at = all.find(address);
  if (reads && at != all.end()) {
    if (at->second.relaxed) drop(DroppedEdge::Why::relaxed, at->second.relaxed_by, origin, !shared);
    for (const Released& r : at->second.released) {
      const isa::Scope both = needed(at->second, r);
      if (std::min(r.scope, a.scope) < both)
        drop(DroppedEdge::Why::scope, origin, origin);
      else if (acquires(a.order))
        acquire(warp, lanes, *r.view);
      else
        see(w, lanes, r, both);
    }
  }
  if (!writes) return;
  const bool fence_covers = w.fenced != nullptr && (w.fenced_lanes & lanes) == lanes;
  Location& l = at != all.end() ? at->second : all[address];
  if (a.kind == Access::Kind::write)
    l.released.clear();  // a read-modify-write continues the release sequence
  l.relaxed = !releases(a.order) && !fence_covers;
  if (l.relaxed) {
    if (l.released.empty()) l.cluster = cluster_;
    l.relaxed_by = origin;
    return;
  }
  released_globally_ |= !shared;
  const ViewRef view = releases(a.order) ? release(warp, lanes, origin.pc) : w.fenced;
  const isa::Scope scope = releases(a.order) ? a.scope : std::min(a.scope, w.fenced_scope);
  if (l.cluster != cluster_ && !l.released.empty()) {
    // Several clusters release here: ranks no longer identify CTAs.
    for (Released& r : l.released) r.cta = ~0U;
    l.released.push_back({~0U, scope, view});
    l.cluster = ~0U;
    return;
  }
  l.cluster = l.released.empty() ? cluster_ : l.cluster;
  l.released.push_back({origin.cta_rank, scope, view});
  if (l.released.size() > 16) {  // one for all: joined by scope
    std::vector<Released> joined;
    for (const Released& r : l.released) add_release(joined, r.cta, r.scope, r.view);
    l.released = std::move(joined);
  }
}

}  // namespace palladion::sim::check
