#pragma once
// The views of a cluster's lanes, and the times of its warps: what releases, acquires and fences work on.
#include <array>
#include <bit>

#include "sim/check/order/view.h"
#include "sim/machine/state/cluster.h"

namespace palladion::sim::check {

// Which of the visibilities that most programs lack a program needs.
struct RareProxies {
  bool tensor_memory = false;
  bool tensormap = false;  // it has fence.proxy.tensormap
  bool any() const { return tensor_memory || tensormap; }
};

class LaneViews : public OrderQueries {
 public:
  LaneViews(const ClusterState& cluster, RareProxies proxies);

  ClusterOfGrid cluster() const { return cluster_; }
  uint32_t warps_per_cta() const { return warps_per_cta_; }
  size_t warps() const { return warps_.size(); }
  bool tensor_memory() const { return proxies_.tensor_memory; }
  WarpOfCluster index(const Origin& origin) const {
    return WarpOfCluster(origin.cta_rank * warps_per_cta_ + origin.warp);
  }
  CtaRank cta_of(WarpOfCluster warp) const { return CtaRank(warp / warps_per_cta_); }
  WarpOfCta in_cta(WarpOfCluster warp) const { return WarpOfCta(warp % warps_per_cta_); }

  uint32_t time(WarpOfCluster warp) const { return warps_[warp].time; }
  const View& view(WarpOfCluster warp, Lane lane) const { return *view_ref(warp, lane); }
  const ViewRef& view_ref(WarpOfCluster warp, Lane lane) const { return warps_[warp].view(lane); }
  ViewRef nothing() const {
    return std::make_shared<View>(cluster_, static_cast<uint32_t>(warps_.size()), proxies_.any());
  }
  // Calls visit(view, those of the lanes whose view it is) for each view among them.
  template <class Visit>
  void for_each_view(WarpOfCluster warp, uint32_t lanes, Visit&& visit) const {
    const Warp& w = warps_[warp];
    if (w.split == nullptr) return visit(ViewRef(w.all), lanes);
    for (uint32_t left = lanes; left != 0;) {
      const ViewRef view = (*w.split)[static_cast<size_t>(std::countr_zero(left))];
      uint32_t same = 0;
      for (uint32_t m = left; m != 0; m &= m - 1)
        if ((*w.split)[static_cast<size_t>(std::countr_zero(m))] == view) same |= m & (0 - m);
      left &= ~same;
      visit(view, same);
    }
  }
  // Up to when the lane's own accesses are ordered before its asynchronous ones.
  uint32_t own(Visibility visibility, WarpOfCluster warp, Lane lane) const {
    return warps_[warp].own[static_cast<size_t>(visibility)][lane];
  }
  // What the lane's own accesses up to now are to those that acquire them.
  Times own_times(WarpOfCluster warp, Lane lane) const;
  // Where the warp released or synchronised last before `time`; no_id when it never did.
  Pc release_site(WarpOfCluster warp, uint32_t time) const {
    const auto& sites = warps_[warp].release_sites;
    return time < sites.size() ? sites[time] : Pc(isa::no_id);
  }

  Point now(const Origin& origin) const override;
  bool before(const Point& p, const Origin& origin) const override;

  // What the lanes release: their views and their own accesses.
  std::shared_ptr<View> released(WarpOfCluster warp, uint32_t lanes) const;
  // The same; advances the warp's time.
  std::shared_ptr<View> release(WarpOfCluster warp, uint32_t lanes, Pc pc);
  void acquire(WarpOfCluster warp, uint32_t lanes, const View& what, bool strict = true);
  void set_view(WarpOfCluster warp, uint32_t lanes, const ViewRef& to);
  // The lanes' own accesses up to now are ordered before their asynchronous ones of this visibility.
  void fence_own(Visibility visibility, WarpOfCluster warp, uint32_t lanes);
  // Those that are ordered before the one visibility are ordered before the other.
  void fence_own(Visibility from, Visibility to, WarpOfCluster warp, uint32_t lanes);
  // Later accesses have a later time than earlier ones.
  void advance(WarpOfCluster warp, Pc pc);

 private:
  struct Warp {
    uint32_t time = 1;
    uint32_t initial = 0;  // lanes that began
    ViewRef all;           // of every lane, while they agree
    std::unique_ptr<std::array<ViewRef, 32>> split;
    std::array<std::array<uint32_t, 32>, visibility_count> own{};
    std::vector<Pc> release_sites;  // by time

    const ViewRef& view(Lane lane) const { return split ? (*split)[lane] : all; }
  };
  void unite(WarpOfCluster warp);
  bool agree(WarpOfCluster warp, uint32_t lanes) const;  // own_times() of these lanes are equal

  ClusterOfGrid cluster_;
  uint32_t warps_per_cta_;
  RareProxies proxies_;
  std::vector<Warp> warps_;
};

}  // namespace palladion::sim::check
