#pragma once
// Where a program's values stand: registers and constants as the lanes of a warp, variables in the memory of
// a CTA, of a thread or of a frame.
#include <map>
#include <utility>
#include <vector>

#include "sim/program/compile/call_graph.h"
#include "sim/program/program.h"

namespace palladion::sim {

// A special register that is read anew each time.
bool is_clock(isa::Special s);

class Layout {
 public:
  // Places variables and registers of the functions that the entry reaches; fills in the program's tables.
  Layout(Program& program, const CallGraph& graph, const std::vector<uint64_t>& global_addresses);

  // A value of `width` bits in 32 lanes.
  Slot constant(uint64_t value, int width);
  // A value that each warp gets when it starts, or reads anew each time.
  Slot initial(InitialValue v);
  // The address of a variable, or one `value` that lies in it.
  Slot address(const isa::Symbol& variable, uint64_t value, int width);
  // After the last instruction: what a frame holds is known.
  void finish();

 private:
  uint32_t reserve(uint32_t size);
  bool is_used(isa::SymbolId id) const;
  Frame* frame_of(const isa::Symbol& s) const;
  void place_symbols(const std::vector<uint64_t>& global_addresses);
  uint64_t place_shared();
  void place_private(const isa::Symbol& s, isa::SymbolId id, uint64_t& local);
  void place_registers(uint32_t function);
  void finish_frame(uint32_t function);

  Program& p_;
  const isa::Module& module_;
  const CallGraph& graph_;
  std::map<std::pair<uint64_t, int>, Slot> constants_;  // by value and width
};

}  // namespace palladion::sim
