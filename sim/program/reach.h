#pragma once
// The instructions that control can still reach from another one, for reports of deadlocks.
#include <cstdint>
#include <functional>
#include <vector>

#include "sim/program/program.h"

namespace palladion::sim {

// Calls visit(pc) for every instruction that may follow the one at `pc`; `into_calls`: bodies of callees too,
// of indirect calls every function's.
void visit_successors(const Program& program, Pc pc, bool into_calls, const std::function<void(Pc)>& visit);

// By pc: whether control can reach it from `starts`, the starts themselves included, without executing
// `without`. Calls are followed and returned from; indirect ones reach every function.
std::vector<bool> reachable(const Program& program, const std::vector<Pc>& starts,
                            Pc without = Pc(isa::no_id));

// By pc: what control can reach from `pc`, and from which it can return there.
std::vector<bool> loop_through(const Program& program, Pc pc);

}  // namespace palladion::sim
