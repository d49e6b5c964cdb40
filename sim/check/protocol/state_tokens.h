#pragma once
// The states that arrivals at mbarriers returned, in the registers of each warp, and the rule of waits for
// them.
#include <array>
#include <map>
#include <utility>

#include "sim/check/protocol/mbarrier_rules.h"

namespace palladion::sim::check {

class StateTokens {
 public:
  StateTokens(const Protocol& protocol, const MbarrierRules& rules) : p_(protocol), rules_(rules) {}

  // An arrival that returns the state of its phase.
  void note(const MbarrierObject& b, const MbarrierEvent& e);
  // A wait for the state in a register has returned true.
  void check(const MbarrierObject& b, const Origin& origin) const;

 private:
  struct Token {
    SharedAddress address;
    uint32_t serial = 0;
    int64_t phase = 0;
    std::array<uint64_t, 32> values{};
  };

  const Protocol& p_;
  const MbarrierRules& rules_;
  std::map<std::pair<WarpOfCluster, uint32_t>, Token> tokens_;  // by warp and offset of the register
};

}  // namespace palladion::sim::check
