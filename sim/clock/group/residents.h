#pragma once
// The clusters that share a group's SMs, and their warps. Both have numbers, which are free again when a
// cluster has left.
#include <cstdint>
#include <span>
#include <vector>

#include "sim/clock/group/events.h"
#include "sim/clock/sm/sm.h"
#include "sim/clock/sm/warp.h"

namespace palladion::sim::hardware {

class Residents {
 public:
  // The first instructions of the cluster's warps issue at `time`; its CTAs exist. A warpgroup has so many
  // warps.
  void start(ClusterState& cluster, Cycle time, std::span<Sm> sms, const InstructionCosts& costs,
             uint32_t warpgroup, Events& events);
  // It has been taken away; its number.
  ClusterOfGroup remove(const ClusterState& cluster);
  // The clusters' state was put back from a snapshot: clusters stay in their slots, what is in them may move.
  void rebind();
  // The host's caches have forgotten the warps since the last quantum.
  void prefetch() const;
  // The resident CTAs of each of so many SMs share its tensor memory.
  void share_tensor_memory(uint32_t sms) const;

  ClusterState& cluster(ClusterOfGroup number) const { return *clusters_[number]; }
  std::span<ClusterState* const> clusters() const { return clusters_; }  // null: the number is free
  Warp& warp(uint32_t index) { return warps_[index]; }
  std::span<Warp> warps() { return warps_; }

 private:
  ClusterOfGroup add(ClusterState& cluster);
  Warp& free_warp();

  std::vector<ClusterState*> clusters_;
  std::vector<Warp> warps_;
  std::vector<uint32_t> free_warps_;
};

}  // namespace palladion::sim::hardware
