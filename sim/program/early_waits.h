#pragma once
// try_waits that ask early: the result says only whether a later wait can be skipped. Software pipelines ask
// for the next stage, do other work, and wait if the answer was no. The result of the last stage's question
// decides nothing.
#include <map>
#include <vector>

#include "sim/program/program.h"

namespace palladion::sim {

// By pc of a try_wait that asks early: the waits that its answer may skip, by pc; none where nothing uses it.
// Each acquires as it does.
std::map<Pc, std::vector<Pc>> find_early_waits(const Program& program);

}  // namespace palladion::sim
