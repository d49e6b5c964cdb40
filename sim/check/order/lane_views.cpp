#include "sim/check/order/lane_views.h"

namespace palladion::sim::check {

LaneViews::LaneViews(const ClusterState& cluster, RareProxies proxies)
    : cluster_(cluster.index),
      warps_per_cta_(static_cast<uint32_t>(cluster.ctas.front().warps.size())),
      proxies_(proxies),
      warps_(warps_per_cta_ * cluster.ctas.size()) {
  const ViewRef none = nothing();
  for (size_t i = 0; i < warps_.size(); ++i) {
    warps_[i].all = none;
    warps_[i].initial = cluster.ctas[i / warps_per_cta_].warps[i % warps_per_cta_].alive;
  }
}

Times LaneViews::own_times(WarpOfCluster warp, Lane lane) const {
  const Warp& w = warps_[warp];
  Times t{};
  for (size_t r = 0; r < visibility_count; ++r) t[r] = w.own[r][lane];
  t[static_cast<size_t>(Visibility::generic)] = t[static_cast<size_t>(Visibility::strict)] = w.time;
  return t;
}

bool LaneViews::agree(WarpOfCluster warp, uint32_t lanes) const {
  uint32_t differing = 0;
  for (size_t r = 0; r < visibility_count; ++r) {
    if (r == static_cast<size_t>(Visibility::generic) || r == static_cast<size_t>(Visibility::strict))
      continue;
    const auto& own = warps_[warp].own[r];
    const uint32_t first = own[lowest_lane(lanes)];
    for (uint32_t lane = 0; lane < 32; ++lane) differing |= static_cast<uint32_t>(own[lane] != first) << lane;
  }
  return (differing & lanes) == 0;
}

std::shared_ptr<View> LaneViews::released(WarpOfCluster warp, uint32_t lanes) const {
  std::shared_ptr<View> out;
  for_each_view(warp, lanes, [&](const ViewRef& view, uint32_t) {
    if (out == nullptr)
      out = std::make_shared<View>(*view);
    else
      out->join(*view);
  });
  if (lanes == warps_[warp].initial && agree(warp, lanes)) {
    out->learn(warp, own_times(warp, lowest_lane(lanes)));
  } else {
    for (uint32_t m = lanes; m != 0; m &= m - 1) {
      const Lane lane = lowest_lane(m);
      out->learn(warp, lane, own_times(warp, lane));
    }
  }
  return out;
}

std::shared_ptr<View> LaneViews::release(WarpOfCluster warp, uint32_t lanes, Pc pc) {
  std::shared_ptr<View> out = released(warp, lanes);
  advance(warp, pc);
  return out;
}

void LaneViews::set_view(WarpOfCluster warp, uint32_t lanes, const ViewRef& to) {
  Warp& w = warps_[warp];
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

void LaneViews::acquire(WarpOfCluster warp, uint32_t lanes, const View& what, bool strict) {
  for_each_view(warp, lanes, [&](const ViewRef& old, uint32_t same) {
    if (!old->would_learn(what, strict)) return;
    auto joined = std::make_shared<View>(*old);
    joined->join(what, strict);
    set_view(warp, same, joined);
  });
  unite(warp);
}

// Lanes that know the same have one view again, as after a barrier that all of them took part in.
void LaneViews::unite(WarpOfCluster warp) {
  Warp& w = warps_[warp];
  if (w.split == nullptr) return;
  const ViewRef first = w.view(lowest_lane(w.initial));
  for (uint32_t m = w.initial; m != 0; m &= m - 1) {
    const ViewRef& v = w.view(lowest_lane(m));
    if (v != first && *v != *first) return;
  }
  set_view(warp, w.initial, first);
}

void LaneViews::fence_own(Visibility visibility, WarpOfCluster warp, uint32_t lanes) {
  Warp& w = warps_[warp];
  for (uint32_t m = lanes; m != 0; m &= m - 1)
    w.own[static_cast<size_t>(visibility)][static_cast<size_t>(std::countr_zero(m))] = w.time;
}

void LaneViews::fence_own(Visibility from, Visibility to, WarpOfCluster warp, uint32_t lanes) {
  auto& own = warps_[warp].own;
  for (uint32_t m = lanes; m != 0; m &= m - 1) {
    const auto lane = static_cast<size_t>(std::countr_zero(m));
    own[static_cast<size_t>(to)][lane] = own[static_cast<size_t>(from)][lane];
  }
}

void LaneViews::advance(WarpOfCluster warp, Pc pc) {
  Warp& w = warps_[warp];
  w.release_sites.resize(w.time + 1, Pc(isa::no_id));
  w.release_sites[w.time] = pc;
  ++w.time;
}

Point LaneViews::now(const Origin& origin) const {
  const WarpOfCluster w = index(origin);
  return {w, origin.lanes, warps_[w].time};
}

bool LaneViews::before(const Point& p, const Origin& origin) const {
  const WarpOfCluster w = index(origin);
  for (uint32_t m = origin.lanes; m != 0; m &= m - 1) {
    const Lane lane = lowest_lane(m);
    if (p.warp == w && (p.lanes >> lane & 1) != 0) continue;
    if (!view(w, lane).knows_any(Visibility::generic, cluster_, p.warp, p.lanes, p.time)) return false;
  }
  return true;
}

}  // namespace palladion::sim::check
