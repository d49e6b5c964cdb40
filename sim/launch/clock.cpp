#include "sim/launch/clock.h"

namespace palladion::sim {

std::string_view name(Stall stall) {
  constexpr std::string_view names[stall_count] = {"selected",
                                                   "not selected",
                                                   "wait",
                                                   "short scoreboard",
                                                   "long scoreboard",
                                                   "math pipe throttle",
                                                   "mio throttle",
                                                   "lg throttle",
                                                   "tma throttle",
                                                   "branch resolving",
                                                   "no instruction",
                                                   "barrier",
                                                   "cluster barrier",
                                                   "membar",
                                                   "mbarrier",
                                                   "gmma",
                                                   "async group",
                                                   "convergence",
                                                   "registers",
                                                   "sleeping",
                                                   "drain"};
  return names[static_cast<size_t>(stall)];
}

std::string_view name(Resource resource) {
  constexpr std::string_view names[resource_count] = {"issue slots", "ALU", "FMA", "FP64", "MUFU", "SMEM",
                                                      "tensor core", "TMA", "L1",  "L2",   "HBM"};
  return names[static_cast<size_t>(resource)];
}

}  // namespace palladion::sim
