#pragma once
// Where lanes of a warp met without an order of memory: shfl.sync, vote.sync, wgmma.fence and their like make
// lanes wait for each other, but only bar.warp.sync orders their accesses (PTX, "bar.warp.sync"). Shipped
// kernels rely on it, and a chip executes the loads and stores of a warp in order. Accesses that nothing else
// orders are a race, of lesser severity. ldmatrix and stmatrix are such a place, too, where they are one of
// the two accesses (race_report.cpp).
#include <cstdint>
#include <deque>
#include <vector>

#include "sim/launch/event.h"

namespace palladion::sim::check {

bool lanes_meet(const isa::Effect& effect);

struct Meeting {
  uint32_t time = 0;  // of the warp: accesses up to then came before it
  uint32_t lanes = 0;
  Pc pc;
};

class Meetings {
 public:
  explicit Meetings(size_t warps) : warps_(warps) {}

  void accessed(WarpOfCluster warp, uint32_t time) { warps_[warp].accessed = time; }
  // Has the warp touched memory since its last meeting? Else one separates nothing.
  bool separates(WarpOfCluster warp) const {
    const Warp& w = warps_[warp];
    return w.accessed > (w.met.empty() ? 0 : w.met.back().time);
  }
  void add(WarpOfCluster warp, const Meeting& m) {
    auto& met = warps_[warp].met;
    if (met.size() >= kept) met.pop_front();
    met.push_back(m);
  }
  // The first meeting of all these lanes in [from, to) for which `good` holds; null: none that is kept.
  template <class Good>
  const Meeting* find(WarpOfCluster warp, uint32_t lanes, uint32_t from, uint32_t to, Good&& good) const {
    for (const Meeting& m : warps_[warp].met)
      if (m.time >= from && m.time < to && (lanes & ~m.lanes) == 0 && good(m)) return &m;
    return nullptr;
  }

 private:
  static constexpr size_t kept = 256;
  struct Warp {
    uint32_t accessed = 0;  // the time of its last access; 0: none
    std::deque<Meeting> met;
  };
  std::vector<Warp> warps_;
};

}  // namespace palladion::sim::check
