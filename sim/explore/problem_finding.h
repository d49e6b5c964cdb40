#pragma once
// Problems of a skeleton as findings.
#include "sim/explore/explore.h"

namespace palladion::sim::check {

// The code's severity is `unknown` when the skeleton has frozen what another schedule may decide otherwise.
Finding to_finding(const Skeleton& skeleton, const Problem& problem);
Site site_of(const Skeleton& skeleton, const OpRef& op, const Part& part = {});

// "31" of the PTX text, "matmul.cpp:113" when the author's line is known.
std::string line_of(const Site& site);

}  // namespace palladion::sim::check
