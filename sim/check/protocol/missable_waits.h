#pragma once
// Waits for a phase of an mbarrier that another schedule may miss.
#include <map>
#include <vector>

#include "sim/check/protocol/mbarrier_rules.h"

namespace palladion::sim::check {

class MissableWaits {
 public:
  MissableWaits(const Protocol& protocol, const MbarrierRules& rules)
      : p_(protocol),
        rules_(rules),
        held_back_(protocol.causality.warps()),
        acts_(protocol.causality.warps()) {}

  // The current phase completes without an order after `wait`, which observed the phase before.
  void check(const MbarrierObject& b, const Observation& wait);
  // The warp arrives or copies.
  void note_act(WarpOfCluster warp);

 private:
  const Protocol& p_;
  const MbarrierRules& rules_;
  struct HeldBack {
    Origin waiter;
    Finding finding;
  };
  std::vector<std::map<FindingKey, HeldBack>> held_back_;  // by warp that has not acted yet
  std::vector<bool> acts_;  // by warp: it has arrived or copied, not only waited
};

}  // namespace palladion::sim::check
