#include "sim/check/order/strong_accesses.h"

#include <algorithm>
#include <utility>

namespace palladion::sim::check {

void add_release(std::vector<Released>& to, uint32_t cta, isa::Scope scope, ViewRef view) {
  for (Released& r : to)
    if (r.cta == cta && r.scope == scope) return join(r.view, *view);
  to.push_back({cta, scope, std::move(view)});
}

void StrongAccesses::fence(const Origin& origin, const isa::Fence& f) {
  const WarpOfCluster warp = views_.index(origin);
  Warp& w = warps_[warp];
  const isa::Scope scope = f.mbarrier_init ? isa::Scope::cluster : f.scope;
  std::erase_if(w.seen, [&](const Seen& s) {
    const uint32_t lanes = s.lanes & origin.lanes;
    if (lanes == 0) return false;
    if (scope < s.needed) {
      dropped_.add(DroppedEdge::Why::scope, origin, origin);
      return false;
    }
    views_.acquire(warp, lanes, *s.view);
    return true;
  });
  w.fenced = {views_.release(warp, origin.lanes, origin.pc), origin.lanes, scope};
}

// One entry a set of lanes and scope: a spin reads the same flag again and again.
void StrongAccesses::see(WarpOfCluster warp, uint32_t lanes, const Released& r, isa::Scope needed) {
  auto& seen = warps_[warp].seen;
  for (Seen& s : seen)
    if (s.lanes == lanes && s.needed == needed) return join(s.view, *r.view);
  seen.push_back({lanes, needed, r.view});
}

bool StrongAccesses::has_unacquired(uint32_t cta, uint32_t cluster, WarpOfCluster warp) const {
  const uint32_t per_cta = views_.warps_per_cta();
  for (uint32_t w = cta * per_cta; w < (cta + 1) * per_cta; ++w)
    for (const Seen& s : warps_[w].seen)
      if (s.view->knows_any(Visibility::generic, cluster, warp, ~0U, 1)) return true;
  return false;
}

bool StrongAccesses::knows_unacquired(uint32_t cta, uint32_t cluster, WarpOfCluster warp, uint32_t lane,
                                      uint32_t when) const {
  const uint32_t per_cta = views_.warps_per_cta();
  for (uint32_t w = cta * per_cta; w < (cta + 1) * per_cta; ++w)
    for (const Seen& s : warps_[w].seen)
      if (s.view->knows(Visibility::generic, cluster, warp, lane, when)) return true;
  return false;
}

void StrongAccesses::access(const Access& a, uint64_t address, uint32_t lanes, bool shared) {
  Locations& all = shared ? shared_ : global_;
  const auto at = all.find(address);
  if (a.kind != Access::Kind::write && at != all.end()) read(a, lanes, at->second, shared);
  if (a.kind != Access::Kind::read) write(a, lanes, at != all.end() ? at->second : all[address], shared);
}

void StrongAccesses::read(const Access& a, uint32_t lanes, const Location& l, bool shared) {
  const Origin& origin = a.origin;
  const WarpOfCluster warp = views_.index(origin);
  if (l.relaxed) dropped_.add(DroppedEdge::Why::relaxed, l.relaxed_by, origin, !shared);
  for (const Released& r : l.released) {
    const isa::Scope both = needed(l.cluster, r.cta, origin);
    if (std::min(r.scope, a.scope) < both)
      dropped_.add(DroppedEdge::Why::scope, origin, origin);
    else if (acquires(a.order))
      views_.acquire(warp, lanes, *r.view);
    else
      see(warp, lanes, r, both);
  }
}

void StrongAccesses::write(const Access& a, uint32_t lanes, Location& l, bool shared) {
  const Origin& origin = a.origin;
  const WarpOfCluster warp = views_.index(origin);
  const Fenced& fenced = warps_[warp].fenced;
  const bool fence_covers = fenced.view != nullptr && (fenced.lanes & lanes) == lanes;
  if (a.kind == Access::Kind::write)
    l.released.clear();  // a read-modify-write continues the release sequence
  l.relaxed = !releases(a.order) && !fence_covers;
  if (l.relaxed) {
    if (l.released.empty()) l.cluster = views_.cluster();
    l.relaxed_by = origin;
    return;
  }
  released_globally_ |= !shared;
  if (releases(a.order))
    leave(l, {origin.cta_rank, a.scope, views_.release(warp, lanes, origin.pc)});
  else
    leave(l, {origin.cta_rank, std::min(a.scope, fenced.scope), fenced.view});
}

void StrongAccesses::leave(Location& l, const Released& r) const {
  const uint32_t cluster = views_.cluster();
  if (l.cluster != cluster && !l.released.empty()) {
    // Several clusters release here: ranks no longer identify CTAs.
    for (Released& other : l.released) other.cta = ~0U;
    l.released.push_back({~0U, r.scope, r.view});
    l.cluster = ~0U;
    return;
  }
  l.cluster = l.released.empty() ? cluster : l.cluster;
  l.released.push_back(r);
  if (l.released.size() > 16) {  // one for all: joined by scope
    std::vector<Released> joined;
    for (const Released& one : l.released) add_release(joined, one.cta, one.scope, one.view);
    l.released = std::move(joined);
  }
}

}  // namespace palladion::sim::check
