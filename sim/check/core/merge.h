#pragma once
// Findings that differ in a range of bytes only become one.
#include <vector>

#include "sim/launch/finding.h"

namespace palladion::sim::check {

// Races of several instructions of one kind with one earlier access, for one missing edge: the first stays
// and tells the ranges and lines of the others.
std::vector<Finding> merged(std::vector<Finding> findings);

}  // namespace palladion::sim::check
