#pragma once
// Findings that another one explains.
#include <vector>

#include "sim/launch/finding.h"

namespace palladion::sim::check {

// Reads of shared memory that nothing had written yet, by an instruction that races with the writing of these
// bytes: the race alone stays, with a note. `part_of`: where each of the original findings is; kept so.
void drop_consequences(std::vector<Finding>& findings, std::vector<size_t>* part_of);

}  // namespace palladion::sim::check
