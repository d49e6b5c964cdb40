#pragma once
// Findings that another one explains: they become notes of their cause.
#include <vector>

#include "sim/launch/finding.h"

namespace palladion::sim::check {

// What explains what: an mbarrier whose phases are off, all that relies on its waits; a copy that nothing
// waits for, the exit of its CTA before its end; an unpaired arrival at the cluster barrier, what that
// barrier orders; a race, reads of what was not written yet. `part_of`: where each of the original findings
// is; kept so.
void drop_consequences(std::vector<Finding>& findings, std::vector<size_t>* part_of);

}  // namespace palladion::sim::check
