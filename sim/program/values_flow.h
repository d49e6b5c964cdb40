#pragma once
// Which registers of a program may hold tensor data, and which its control flow requires.
//
// Tensor data come from weak loads of GMEM, from other loads whose value control does not need, from
// ldmatrix, wgmma and mma. They propagate through arithmetic, local memory, shuffles and atomics. Parameters,
// constants and the results of atomics whose operands are no tensor data are known.
//
// Control needs guards (but those of pure instructions), branch indices, addresses, coordinates, descriptors,
// sizes, counts, parities, barrier numbers, member masks. A load of shared memory, or a strong one of GMEM,
// whose value gets there is performed, and checked while the program runs: what it reads must be
// materialised.
#include <cstdint>
#include <vector>

#include "sim/program/live_flow.h"
#include "sim/program/program.h"
#include "sim/program/registers.h"

namespace palladion::sim {

constexpr bool may_be_shared(isa::Space s) { return is_shared(s) || s == isa::Space::generic; }
constexpr bool may_be_global(isa::Space s) { return s == isa::Space::global || s == isa::Space::generic; }

class ValueFlow {
 public:
  explicit ValueFlow(const Program& program) : ValueFlow(program, isa::no_id) {}

  // The instruction needs a value that is not computed. `source`: the load, wgmma or mma that it comes from.
  struct Sink {
    Pc pc{isa::no_id};
    int operand = -1;  // of the instruction; -1: its guard
    bool address = false;
    uint32_t source = isa::no_id;
  };
  // In program order, one an operand.
  const std::vector<Sink>& sinks() const { return sinks_; }

  // What it writes, to registers or to memory, is tensor data.
  bool is_data(Pc pc) const { return data_[pc] != 0; }
  // Reads memory for control: to be checked.
  bool is_control(Pc pc) const { return control_[pc] != 0; }
  // Local memory may hold tensor data.
  bool local_data() const { return cell_cause(any_cell()) != 0; }

  // The first instruction that needs what the load or atomic at `pc` gives; its pc is no_id when none does.
  static Sink first_need(const Program& program, Pc pc);

 private:
  // By register of a function, the carry flag last. Causes: pc + 1 of the source, 0 for what is known. Needs:
  // bits, see below.
  using Causes = std::vector<uint32_t>;
  using Needs = std::vector<uint8_t>;
  // Control needs it; a store to shared memory that control reads needs it.
  static constexpr uint8_t needed = 1, broadcast = 2;

  ValueFlow(const Program& program, uint32_t pretended_source);
  struct Graph {
    uint32_t function;
    isa::Cfg cfg;
    Liveness live;
  };
  void find_graphs();
  template <class T, class Run>
  void for_each_function(Direction direction, const Run& run);

  void find_needs();
  void flow_back(const MicroOp& op, Needs& needs, uint32_t base);
  uint8_t needs_of_stored(const MicroOp& op) const;
  void note_load(const MicroOp& op, uint8_t results);
  void note_control(const MicroOp& op, uint8_t results);

  void find_data();
  void flow_over(const MicroOp& op, Causes& causes, uint32_t base);
  uint32_t cause_of_sources(const MicroOp& op, const Causes& causes, uint32_t base) const;
  uint32_t cause_of_load(const MicroOp& op) const;
  uint32_t cause_of_results(const MicroOp& op, uint32_t sources) const;
  void note_memory(const MicroOp& op, uint32_t sources);
  void find_sinks(const MicroOp& op, const Causes& causes, uint32_t base);

  // Local memory and parameters of calls: a cell for each symbol, and one for accesses through registers.
  uint32_t cell_of(const MicroOp& op, isa::Space space, int address) const;  // no_id: not in local memory
  uint32_t any_cell() const { return static_cast<uint32_t>(cell_causes_.size()) - 1; }
  uint32_t cell_cause(uint32_t cell) const;
  void raise_cause(uint32_t cell, uint32_t cause);
  void raise_needs(uint32_t cell, uint8_t needs);
  void pass_arguments(const MicroOp& op, const isa::Call& call);
  void pass_between(uint32_t caller, uint32_t callee, bool in);

  const Program& program_;
  uint32_t pretended_;         // a load whose value is treated as tensor data, although control needs it
  std::vector<Graph> graphs_;  // of the functions of the program
  std::vector<uint8_t> data_, control_;
  std::vector<uint32_t> cell_causes_;
  uint32_t first_cause_ = isa::no_id;  // the first cell that has one
  std::vector<uint8_t> cell_needs_;
  std::vector<Sink> sinks_;
  bool broadcasts_ = false;  // control reads shared memory
  bool changed_ = false;     // a cell was raised
};

}  // namespace palladion::sim
