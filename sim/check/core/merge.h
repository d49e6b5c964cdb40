#pragma once
// Findings that differ in a range of bytes or registers only become one.
#include <vector>

#include "sim/launch/finding.h"

namespace palladion::sim::check {

// Races of several instructions of one kind with one earlier access, for one missing edge, or of one line of
// the source with another one, or of two stretches of the text, between which one barrier would order all:
// the first stays and tells the ranges, or registers, and lines of the others.
std::vector<Finding> merged(std::vector<Finding> findings);

}  // namespace palladion::sim::check
