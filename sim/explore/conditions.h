#pragma once
// The conditions of a run: its schedule, and the other choices that PTX leaves to the hardware.
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "sim/machine.h"

namespace palladion::sim::check {

struct Conditions {
  Schedule schedule;
  uint64_t resident = 0;                          // clusters at once; 0: as many as the SMs have room for
  StartOrder order;                               // of clusters
  uint64_t fail_waits = 0, elect = 0, lanes = 0;  // seeds, see RunOptions; 0: off
  uint32_t cancels = ~0U;                         // RunOptions::cancels

  void apply(RunOptions& options) const;
};

// "latest,resident=1,order=random:3,fail_waits=2,elect=1,cancels=0": the schedule, then what differs from the
// usual.
std::string name(const Conditions& conditions);
std::optional<Conditions> conditions_named(std::string_view text);

// try_waits that give up and other elected lanes.
std::vector<Conditions> hostile_waits_and_leaders();
// Numbers of resident clusters, each with all start orders to try: one; as many as there is room for (but the
// ascending order, which is the usual run's); the whole grid, unless it is too large for this machine's
// memory.
std::vector<std::vector<Conditions>> hostile_residencies(uint64_t clusters, uint64_t room);

}  // namespace palladion::sim::check
