#pragma once
// The order of execution that barriers alone imply, whatever their memory order: up to which time of each
// warp the execution of another warp comes after it. Lifetimes and forced phases are judged by it; races are
// not. Its times are those of happens-before (Point::time).
#include <algorithm>
#include <cstdint>
#include <vector>

#include "sim/check/order/order.h"

namespace palladion::sim::check {

class Causality {
 public:
  using Clock = std::vector<uint32_t>;  // by warp of the cluster: up to which time of it

  Causality(uint32_t warps_of_cta, uint32_t ctas)
      : warps_of_cta_(warps_of_cta),
        known_(size_t{warps_of_cta} * ctas, Clock(size_t{warps_of_cta} * ctas)),
        arrivals_(known_.size()) {}

  uint32_t warps() const { return static_cast<uint32_t>(known_.size()); }
  uint32_t warps_of_cta() const { return warps_of_cta_; }
  WarpOfCluster index(CtaRank cta_rank, WarpOfCta warp) const {
    return WarpOfCluster(cta_rank * warps_of_cta_ + warp);
  }
  WarpOfCluster index(const Origin& origin) const { return index(origin.cta_rank, origin.warp); }
  CtaRank rank_of(WarpOfCluster warp) const { return CtaRank(warp / warps_of_cta_); }

  // Does what the warp does next come after `p`?
  bool knows(WarpOfCluster warp, const Point& p) const {
    return warp == p.warp || known_[warp][p.warp] >= p.time;
  }
  // The same of any warp of the CTA. Exited warps keep their entries.
  bool cta_knows(CtaRank rank, const Point& p) const {
    for (uint32_t w = rank * warps_of_cta_; w < (rank + 1) * warps_of_cta_; ++w)
      if (knows(WarpOfCluster(w), p)) return true;
    return false;
  }

  // `into` receives everything that the warp has done up to `now`.
  void release(const Point& now, Clock& into) const {
    join(into, known_[now.warp]);
    into[now.warp] = std::max(into[now.warp], now.time);
  }
  void acquire(WarpOfCluster warp, const Clock& from) { join(known_[warp], from); }

  static void join(Clock& into, const Clock& from) {
    if (into.size() < from.size()) into.resize(from.size());
    for (size_t i = 0; i < from.size(); ++i) into[i] = std::max(into[i], from[i]);
  }

  // The last arrival of a warp at an mbarrier: the times at which the first lane of this execution arrived,
  // and the newest one.
  struct Arrival {
    Pc pc{isa::no_id};
    uint32_t nth = 0, first = 0, newest = 0;
  };
  Arrival& last_arrival(WarpOfCluster warp) { return arrivals_[warp]; }

 private:
  uint32_t warps_of_cta_;
  std::vector<Clock> known_;       // by warp
  std::vector<Arrival> arrivals_;  // by warp
};

}  // namespace palladion::sim::check
