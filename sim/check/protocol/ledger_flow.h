#pragma once
// What the code behind a wait or an atomic does with its result.
#include <unordered_map>

#include "sim/program/program.h"

namespace palladion::sim::check {

// False when no instruction reads the result of the test_wait, try_wait or atom at `pc` before it is
// overwritten.
bool result_used(const Program& program, Pc pc);

// The same of one program, looked for once an instruction.
class UsedResults {
 public:
  bool contain(const Program& program, Pc pc) {
    const auto [at, is_new] = used_.try_emplace(pc);
    if (is_new) at->second = result_used(program, pc);
    return at->second;
  }

 private:
  std::unordered_map<Pc, bool> used_;
};

}  // namespace palladion::sim::check
