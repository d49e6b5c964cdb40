#pragma once
// The decisions by which lanes can go around an instruction that the whole warp executes together: branches
// with a way past it, and guards. Found once a program; a decision is known by its pc.
#include <cstdint>
#include <deque>
#include <map>
#include <memory>
#include <optional>
#include <vector>

#include "sim/program/loops.h"
#include "sim/program/program.h"

namespace palladion::sim::check {

// All lanes of the warp, or those of its member mask, execute it together: barriers with .aligned, and what
// has .sync. A shuffle is judged by its values: PLD4704.
bool needs_whole_warp(const MicroOp& op);

class BypassAnalysis {
 public:
  explicit BypassAnalysis(const Program& program);

  bool decides(Pc pc) const { return !decides_.empty() && decides_[pc]; }
  // Those that say whether the instruction is executed.
  std::vector<Pc> decisions_before(Pc pc) const;
  // Lanes that `decision` sends to `side` come to where the lanes go on that execute `meeting`, but without
  // it. No: they leave a loop, or have ended on the way; `exit`: where, when they have.
  bool goes_around(Pc decision, Pc side, Pc meeting, std::optional<Pc> exit) const;
  // What comes behind `meeting`, for lanes that went around it by `decision`, can depend on its order: it
  // reads memory, or synchronises. Else they only store, as lanes do that return in front of it.
  bool matters_behind(Pc decision, Pc meeting) const;

 private:
  struct Function {
    Pc start, end;  // [start, end)
    isa::Cfg cfg;
    std::vector<std::vector<uint32_t>>
        deciders;                          // by block: those whose last instruction says whether it runs
    mutable std::unique_ptr<Loops> loops;  // made when it is asked for

    uint32_t block_of(Pc pc) const { return cfg.block_of[pc - start]; }
    Pc last(uint32_t block) const { return start + cfg.blocks[block].last - 1; }
    bool holds(Pc pc) const { return start <= pc && pc < end; }
  };

  void add_function(uint32_t index);
  void find_decisions();
  std::vector<Pc> calls_of(uint32_t function) const;
  const Function& function_of(Pc pc) const { return functions_.at(program_.code[pc].function); }

  const Program& program_;
  std::map<uint32_t, Function> functions_;  // by index in the module; empty: nothing needs a whole warp
  std::vector<bool> decides_;               // by pc
};

}  // namespace palladion::sim::check
