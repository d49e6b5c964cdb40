#include "sim/check/order/strong_accesses.h"

#include <algorithm>
#include <utility>

namespace palladion::sim::check {
namespace {

constexpr CtaRank no_cta{~0U};
constexpr size_t most_kept = 16;  // writes of one location: more are joined

bool same_write(const Written& a, const Written& b) {
  return a.cluster == b.cluster && a.cta == b.cta && a.scope == b.scope &&
         std::ranges::equal(a.fences, b.fences, {}, &FenceInstance::released, &FenceInstance::released);
}

void add_fences(std::vector<Written>& to, const Written& w, bool by_scope) {
  for (Written& other : to) {
    const bool same_place = other.cluster == w.cluster && other.cta == w.cta;
    if (other.scope != w.scope || !(same_place || by_scope)) continue;
    if (!same_place) other.cluster = FenceInstance::several;
    other.fences.insert(other.fences.end(), w.fences.begin(), w.fences.end());
    return unite(other.fences);
  }
  to.push_back(w);
}

void join_writes(std::vector<Written>& all, bool by_scope) {
  std::vector<Written> joined;
  for (const Written& w : all) add_fences(joined, w, by_scope);
  all = std::move(joined);
}

}  // namespace

bool observes(const Access& a) {
  if (a.kind != Access::Kind::atomic) return a.kind == Access::Kind::read && a.order != isa::Order::weak;
  const auto* atomic = std::get_if<isa::Atomic>(a.origin.effect);
  return atomic == nullptr || atomic->dst >= 0;
}

void add_release(std::vector<Released>& to, CtaRank cta, isa::Scope scope, ViewRef view) {
  for (Released& r : to)
    if (r.cta == cta && r.scope == scope) return join(r.view, *view);
  to.push_back({cta, scope, std::move(view)});
}

// --- fences ---------------------------------------------------------------------------------------
void StrongAccesses::fence(const Origin& origin, const isa::Fence& f) {
  const isa::Scope scope = f.mbarrier_init ? isa::Scope::cluster : f.scope;
  acquire_seen(origin, scope);
  if (f.order == isa::Order::sc) acquire_fences(origin, scope);
  release_fence(origin, scope, f.order == isa::Order::sc);
}

void StrongAccesses::acquire_seen(const Origin& origin, isa::Scope scope) {
  const WarpOfCluster warp = views_.index(origin);
  std::erase_if(warps_[warp].seen, [&](Seen& s) {
    const uint32_t lanes = s.lanes & origin.lanes;
    if (lanes == 0) return false;
    if (scope < s.needed) {
      dropped_.add(DroppedEdge::Why::scope, origin, origin);
      return false;
    }
    views_.acquire(warp, lanes, *s.view);
    s.lanes &= ~lanes;
    return s.lanes == 0;
  });
}

// The fence.sc that the lanes execute is behind those of which their reads have shown it.
void StrongAccesses::acquire_fences(const Origin& origin, isa::Scope scope) {
  const WarpOfCluster warp = views_.index(origin);
  std::vector<std::pair<uint32_t, ViewRef>> all;
  views_.for_each_view(warp, origin.lanes, [&](const ViewRef& view, uint32_t same) {
    if (view->sc() != nullptr && !view->sc()->seen().empty()) all.emplace_back(same, view);
  });
  for (const auto& [lanes, view] : all)
    for (const FenceRef& f : view->sc()->seen()) {
      if (synchronises(*f, origin, scope))
        views_.acquire(warp, lanes, *f->released, f->strict);
      else
        dropped_.add(DroppedEdge::Why::scope, origin, origin);
    }
}

void StrongAccesses::release_fence(const Origin& origin, isa::Scope scope, bool sc) {
  const WarpOfCluster warp = views_.index(origin);
  auto& fenced = warps_[warp].fenced;
  for (Fenced& f : fenced)
    if (f.fence.scope <= scope) f.lanes &= ~origin.lanes;
  std::erase_if(fenced, [](const Fenced& f) { return f.lanes == 0; });
  const size_t first = fenced.size();
  views_.for_each_view(warp, origin.lanes, [&](const ViewRef& view, uint32_t same) {
    FenceInstance fence;
    fence.scope = scope;
    fence.cluster = views_.cluster();
    fence.cta = origin.cta_rank;
    fence.warp = warp;
    fence.time = views_.time(warp);
    fence.lanes = same;
    fence.before = view;
    fence.own.resize(32);
    for (Lane lane{0}; lane < 32; ++lane) fence.own[lane] = views_.own_times(warp, lane);
    fence.released = views_.released(warp, same);
    fenced.push_back({.lanes = same, .fence = std::move(fence)});
  });
  views_.advance(warp, origin.pc);
  if (sc)
    for (size_t i = first; i < fenced.size(); ++i) pass(fenced[i].fence, origin);
}

// Its lanes know that they have passed it. What it released does not contain other fences: they would be
// kept for ever.
void StrongAccesses::pass(const FenceInstance& fence, const Origin& origin) {
  const auto plain = [](const ViewRef& view) {
    if (view->sc() == nullptr) return view;
    auto out = std::make_shared<View>(*view);
    out->set_sc(nullptr);
    return ViewRef(std::move(out));
  };
  auto instance = std::make_shared<FenceInstance>(fence);
  instance->before = plain(fence.before);
  instance->released = plain(fence.released);
  auto sc = fence.before->sc() == nullptr ? std::make_shared<ScOrder>()
                                          : std::make_shared<ScOrder>(*fence.before->sc());
  sc->pass(instance, [&](const FenceRef& f) { return synchronises(*f, origin, fence.scope); });
  auto view = std::make_shared<View>(*fence.before);
  view->set_sc(std::move(sc));
  views_.set_view(fence.warp, fence.lanes, view);
}

ViewRef StrongAccesses::Fenced::of(uint32_t some) {
  if (some == fence.lanes || (some & (some - 1)) != 0) return fence.of(some);
  ViewRef& one = by_lane[static_cast<size_t>(std::countr_zero(some))];
  if (one == nullptr) one = fence.of(some);
  return one;
}

// One entry a set of lanes and scope: a spin reads the same flag again and again.
void StrongAccesses::note_release(WarpOfCluster warp, uint32_t lanes, const Released& r, isa::Scope needed) {
  auto& seen = warps_[warp].seen;
  for (Seen& s : seen)
    if (s.lanes == lanes && s.needed == needed) return join(s.view, *r.view);
  seen.push_back({lanes, needed, r.view});
}

bool StrongAccesses::has_unacquired(CtaRank cta, ClusterOfGrid cluster, WarpOfCluster warp) const {
  const uint32_t per_cta = views_.warps_per_cta();
  for (uint32_t w = cta * per_cta; w < (cta + 1) * per_cta; ++w)
    for (const Seen& s : warps_[w].seen)
      if (s.view->knows_any(Visibility::generic, cluster, warp, ~0U, 1)) return true;
  return false;
}

bool StrongAccesses::knows_unacquired(CtaRank cta, ClusterOfGrid cluster, WarpOfCluster warp, Lane lane,
                                      uint32_t when) const {
  const uint32_t per_cta = views_.warps_per_cta();
  for (uint32_t w = cta * per_cta; w < (cta + 1) * per_cta; ++w)
    for (const Seen& s : warps_[w].seen)
      if (s.view->knows(Visibility::generic, cluster, warp, lane, when)) return true;
  return false;
}

// --- accesses -------------------------------------------------------------------------------------
void StrongAccesses::access(const Access& a, uint64_t address, uint32_t lanes, bool shared) {
  Locations& all = shared ? shared_ : global_;
  const auto at = all.find(address);
  if (at != all.end() && observes(a)) read(a, lanes, at->second, shared);
  if (a.kind != Access::Kind::read) write(a, lanes, at != all.end() ? at->second : all[address], shared);
}

void StrongAccesses::read_fences(const Access& a, uint32_t lanes, const Location& l) {
  if (l.written.empty()) return;
  const WarpOfCluster warp = views_.index(a.origin);
  ScOrder observed;
  for (const Written& one : l.written)
    if (std::min(one.scope, a.scope) >= needed(one.cluster, one.cta, a.origin))
      for (const FenceRef& f : one.fences) observed.add_seen(f);
  views_.for_each_view(warp, lanes, [&](const ViewRef& old, uint32_t same) {
    if (!old->would_learn(observed)) return;
    auto view = std::make_shared<View>(*old);
    view->learn(observed);
    views_.set_view(warp, same, view);
  });
}

void StrongAccesses::publish_fences(const Access& a, uint32_t lanes, Location& l) {
  const Origin& origin = a.origin;
  Warp& w = warps_[views_.index(origin)];
  const Lane lane = lowest_lane(lanes);
  const ViewRef& view = views_.view_ref(views_.index(origin), lane);
  if (view->sc() == nullptr) return;
  if (w.view != view || w.lane != lane) {
    w.view = view;
    w.lane = lane;
    w.before = fences_before(*view, views_.index(origin), lane);
  }
  const Written now{views_.cluster(), origin.cta_rank, a.scope, w.before};
  if (now.fences.empty() || (!l.written.empty() && same_write(l.written.back(), now))) return;
  ++l.changes;
  l.written.push_back(now);
  if (l.written.size() > most_kept) join_writes(l.written, false);
  if (l.written.size() > most_kept) join_writes(l.written, true);
}

void StrongAccesses::read(const Access& a, uint32_t lanes, const Location& l, bool shared) {
  const WarpOfCluster warp = views_.index(a.origin);
  if (l.relaxed) dropped_.add(DroppedEdge::Why::relaxed, l.relaxed_by, a.origin, !shared);
  if (l.written.empty() && l.released.empty()) return;
  Warp& w = warps_[warp];
  const auto all_know = [&](const ViewRef& known) {
    bool same = true;
    views_.for_each_view(warp, lanes, [&](const ViewRef& view, uint32_t) { same &= view == known; });
    return same;
  };
  if (w.read == &l && w.changes == l.changes && w.lanes == lanes && w.order == a.order &&
      w.scope == a.scope && all_know(w.known))
    return;
  read_fences(a, lanes, l);
  const bool whole = read_released(a, lanes, l);
  const ViewRef& known = views_.view_ref(warp, lowest_lane(lanes));
  w.read = whole && all_know(known) ? &l : nullptr;
  w.changes = l.changes;
  w.lanes = lanes;
  w.order = a.order;
  w.scope = a.scope;
  w.known = known;
}

// False when scopes are too narrow for some of it.
bool StrongAccesses::read_released(const Access& a, uint32_t lanes, const Location& l) {
  const WarpOfCluster warp = views_.index(a.origin);
  bool whole = true;
  for (const Released& r : l.released) {
    const isa::Scope both = needed(l.cluster, r.cta, a.origin);
    if (std::min(r.scope, a.scope) < both) {
      dropped_.add(DroppedEdge::Why::scope, a.origin, a.origin);
      whole = false;
    } else if (acquires(a.order)) {
      views_.acquire(warp, lanes, *r.view);
    } else {
      note_release(warp, lanes, r, both);
    }
  }
  return whole;
}

void StrongAccesses::write(const Access& a, uint32_t lanes, Location& l, bool shared) {
  const Origin& origin = a.origin;
  const WarpOfCluster warp = views_.index(origin);
  if (a.kind == Access::Kind::write) {  // a read-modify-write continues the release sequence
    l.released.clear();
    l.written.clear();
    ++l.changes;
  }
  publish_fences(a, lanes, l);
  const bool released_before = !l.released.empty();
  bool released = releases(a.order);
  if (released)
    publish(l, {origin.cta_rank, a.scope, views_.release(warp, lanes, origin.pc)});
  else
    for_each_fenced(warp, lanes, [&](isa::Scope scope, const ViewRef& view) {
      publish(l, {origin.cta_rank, std::min(a.scope, scope), view});
      released = true;
    });
  released_globally_ |= !shared && (released || !l.written.empty());
  l.relaxed = !released;
  if (released) return;
  if (!released_before) l.cluster = views_.cluster();
  l.relaxed_by = origin;
}

void StrongAccesses::publish(Location& l, const Released& r) const {
  const ClusterOfGrid cluster = views_.cluster();
  ++l.changes;
  if (l.cluster != cluster && !l.released.empty()) {
    // Several clusters release here: ranks no longer identify CTAs.
    for (Released& other : l.released) other.cta = no_cta;
    l.released.push_back({no_cta, r.scope, r.view});
    l.cluster = FenceInstance::several;
    return;
  }
  l.cluster = l.released.empty() ? cluster : l.cluster;
  l.released.push_back(r);
  if (l.released.size() > most_kept) {  // one for all: joined by scope
    std::vector<Released> joined;
    for (const Released& one : l.released) add_release(joined, one.cta, one.scope, one.view);
    l.released = std::move(joined);
  }
}

}  // namespace palladion::sim::check
