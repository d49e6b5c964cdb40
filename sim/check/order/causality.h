#pragma once
// The order of execution that barriers alone imply, whatever their memory order: up to which point of each
// warp another warp's execution is ordered after it. Lifetimes and forced phases are judged by it; races are
// not.
#include <algorithm>
#include <cstdint>
#include <vector>

#include "sim/check/core/context.h"
#include "sim/machine/state/cluster.h"

namespace palladion::sim::check {

class Causality {
 public:
  using Clock = std::vector<uint32_t>;  // by warp of the cluster: rank * warps of a CTA + warp

  Causality(uint32_t warps_of_cta, uint32_t ctas)
      : warps_of_cta_(warps_of_cta),
        clocks_(size_t{warps_of_cta} * ctas, Clock(size_t{warps_of_cta} * ctas)),
        arrivals_(clocks_.size()) {
    for (size_t w = 0; w < clocks_.size(); ++w) clocks_[w][w] = 1;
  }

  uint32_t warps() const { return static_cast<uint32_t>(clocks_.size()); }
  uint32_t warps_of_cta() const { return warps_of_cta_; }
  uint32_t index(uint16_t cta_rank, uint16_t warp) const { return cta_rank * warps_of_cta_ + warp; }
  uint32_t index(const Origin& origin) const { return index(origin.cta_rank, origin.warp); }
  uint16_t rank_of(uint32_t warp) const { return static_cast<uint16_t>(warp / warps_of_cta_); }

  uint32_t time(uint32_t warp) const { return clocks_[warp][warp]; }
  bool knows(uint32_t warp, uint32_t other, uint32_t time) const { return clocks_[warp][other] >= time; }
  // Is it known to any warp of the CTA? Exited warps keep their entries.
  bool cta_knows(uint32_t rank, uint32_t other, uint32_t time) const {
    for (uint32_t w = rank * warps_of_cta_; w < (rank + 1) * warps_of_cta_; ++w)
      if (knows(w, other, time)) return true;
    return false;
  }
  const Clock& clock(uint32_t warp) const { return clocks_[warp]; }

  // `into` receives everything that the warp has done up to now; later steps are not included.
  void release(uint32_t warp, Clock& into) {
    join(into, clocks_[warp]);
    ++clocks_[warp][warp];
  }
  // An arrival of the n-th execution of an instruction. Lanes of one execution arrive together, at however
  // many mbarriers: `resume`, before the event is judged, goes back to the time at which the first of them
  // did.
  void arrive(uint32_t warp, uint32_t pc, uint32_t nth, Clock& into) {
    release(warp, into);
    arrivals_[warp] = {pc, nth, time(warp)};
  }
  void resume(uint32_t warp, uint32_t pc, uint32_t nth) {
    if (arrivals_[warp] == Arrival{pc, nth, time(warp)}) --clocks_[warp][warp];
  }
  // The same, kept for an operation that the warp issues now.
  Clock issue(uint32_t warp) {
    Clock now;
    release(warp, now);
    return now;
  }
  void acquire(uint32_t warp, const Clock& from) { join(clocks_[warp], from); }

  static void join(Clock& into, const Clock& from) {
    if (into.size() < from.size()) into.resize(from.size());
    for (size_t i = 0; i < from.size(); ++i) into[i] = std::max(into[i], from[i]);
  }

 private:
  struct Arrival {
    uint32_t pc = 0, nth = 0, time = 0;  // of the warp, after it
    bool operator==(const Arrival&) const = default;
  };
  uint32_t warps_of_cta_;
  std::vector<Clock> clocks_;
  std::vector<Arrival> arrivals_;  // the last one of each warp
};

// What the protocol parts of one cluster share.
struct Protocol {
  const ClusterContext& context;
  Causality& causality;

  Reporter& reporter() const { return context.reporter; }
  ClusterState& cluster() const { return context.cluster; }
  std::string mbarrier(uint32_t address) const {
    return mbarrier_name(context.run, context.cluster, address);
  }
  std::string shared(uint32_t address, uint64_t bytes) const {
    return shared_name(context.run, context.cluster, address, bytes);
  }
  bool exited(uint32_t rank) const { return context.cluster.ctas[rank].alive_threads == 0; }
};

}  // namespace palladion::sim::check
