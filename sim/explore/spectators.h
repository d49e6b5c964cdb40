#pragma once
// Threads that from some point on only wait have no effect on other threads. Explored together they multiply
// the states; one at a time they add to them.
#include <vector>

#include "sim/explore/skeleton.h"

namespace palladion::sim::check {

// The skeleton once for each spectator, with the waits of the others left out; the skeleton itself when it
// has none or one. Threads and positions keep their numbers. What can happen in the skeleton can happen in
// one of these, and the reverse.
std::vector<Skeleton> without_other_spectators(const Skeleton& skeleton);

}  // namespace palladion::sim::check
