#pragma once
// Fence-SC order (PTX, "Fence-SC Order", "Memory synchronization"): a fence.sc synchronises with a later one
// that is morally strong with it. Which one is later is determined at run time. It is known where the other
// order would contradict what was read: X is before Y where a strong read before Y observed a write behind X,
// "before" and "behind" in causality order. This order holds in every execution that reads this value, so it
// is an edge; no other order of two fences is.
#include <memory>
#include <vector>

#include "sim/check/order/view.h"

namespace palladion::sim::check {

// One execution of a memory fence by lanes that knew the same.
struct FenceInstance {
  isa::Scope scope = isa::Scope::cta;
  ClusterOfGrid cluster;
  CtaRank cta;  // rank in the cluster
  WarpOfCluster warp;
  uint32_t time = 0;
  uint32_t lanes = 0;      // 0: all that it released is meant, by whichever lanes
  bool strict = true;      // no edge of too narrow a scope lies behind it
  ViewRef before;          // what its lanes knew
  std::vector<Times> own;  // by lane: its own accesses before the fence
  ViewRef released;        // by all its lanes

  static constexpr ClusterOfGrid several{~0U};  // as `cluster`: instances of several clusters, as one
  // What some of its lanes released.
  ViewRef of(uint32_t some) const;
};
using FenceRef = std::shared_ptr<const FenceInstance>;
using Fences = std::vector<FenceRef>;

// The fewest of these that say the same, where they are many; all of them are meant whole.
void unite(Fences& fences);

// What a point in the execution knows of instances of fence.sc.
class ScOrder {
 public:
  const Fences& passed() const { return passed_; }  // they are before it
  // A read before it has shown that they are before whatever fence.sc is behind it.
  const Fences& seen() const { return seen_; }

  // A lane executes `fence`, which acquires those of `seen` for which `acquired` holds.
  template <class Acquired>
  void pass(const FenceRef& fence, Acquired&& acquired) {
    std::erase_if(passed_, [&](const FenceRef& f) { return covers(*fence, *f); });
    std::erase_if(seen_, acquired);
    passed_.push_back(fence);
  }
  void add_seen(const FenceRef& fence) {
    if (!has_seen(*fence, true)) seen_.push_back(fence);
  }
  // Does `other` say anything that this one does not, for an actor of that cluster? `strict`: the edge from
  // there to here is.
  bool lacks(const ScOrder& other, ClusterOfGrid cluster, bool strict) const;
  void join(const ScOrder& other, const View& here, bool strict);

 private:
  static bool covers(const FenceInstance& later, const FenceInstance& earlier);
  bool has_passed(const FenceInstance& f) const;
  bool has_seen(const FenceInstance& f, bool strict) const;

  Fences passed_, seen_;
};

// The instances that are before what the lane does next, each as far as it is known to the lane.
Fences fences_before(const View& view, WarpOfCluster warp, Lane lane);

}  // namespace palladion::sim::check
