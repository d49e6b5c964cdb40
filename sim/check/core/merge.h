#pragma once
// One mistake of the source is one finding, whichever lanes, CTAs, unrolled copies, warps or schedules showed
// it.
#include <vector>

#include "sim/launch/finding.h"

namespace palladion::sim::check {

// Of findings of one mistake the first stays; it gets the ranges, places and counts of the others. These are
// of one mistake, if code, severity and missing edge agree:
//  - findings of the same lines of the author's; deadlocks whose first waits are there;
//  - misuses of one barrier or array by instructions of one kind;
//  - accesses of one array: several instructions of one kind and one other instruction; instructions that
//    race with themselves; those of two stretches of the text, between which one barrier would order all;
//    lanes of a warp, at however many places; the same two lines in either order, and by lanes of one warp as
//    by threads of several;
//  - a warp that arrives twice at named barriers, with the races and the mixed rounds that come of it.
//  - operations that an exit of their CTA does not wait for;
//  - sums that depend on an order.
// `part_of`, if given: in which of the result each of the findings is.
std::vector<Finding> merge(std::vector<Finding> findings, std::vector<size_t>* part_of = nullptr);

// No mistake by itself: reports show it last, and once.
bool is_remark(const Finding& finding);

}  // namespace palladion::sim::check
