#pragma once
// A compiled kernel: every instruction decoded once into a MicroOp whose operands are offsets into a warp's
// register block or into the program's constants. compile/compile.h makes it.
#include <cstdint>
#include <deque>
#include <map>
#include <string>
#include <vector>

#include "isa/arch/arch.h"
#include "isa/core/footprint.h"
#include "isa/core/op.h"
#include "sim/machine/state/cluster.h"

namespace palladion::sim {

// Addresses of functions, as `mov` of a function's name gives them.
inline constexpr uint64_t function_addresses = 0x0300'0000'0000;

inline uint64_t align_up(uint64_t v, uint64_t a) { return (v + a - 1) / a * a; }

struct Exec;
struct MicroOp;

enum class Step : uint8_t {
  next,   // continue with the following instruction
  jump,   // pc was set
  split,  // the lane groups changed: select a group again
  block,  // the group waits; the instruction is tried again when the wait is over
  yield,  // continue after other groups have executed
  fault,  // the grid stops
};
using Handler = Step (*)(Exec&, const MicroOp&);

// The place of an operand's 32 lanes.
struct Slot {
  uint32_t offset = 0;
  bool constant = false;  // in Program::constants, else in the warp's registers
};

struct DecodedOperand {
  enum class Kind : uint8_t { none, lanes, address, vector, target, function, list };
  Kind kind = Kind::none;
  bool negated = false;      // !p
  uint8_t width = 0;         // bits of a lane; of an address: of its base (0 = constant)
  Slot slot;                 // lanes; of an address: its base
  int64_t offset = 0;        // of an address; a constant operand's value
  uint32_t id = isa::no_id;  // target: pc; function: index in the module; list: branch-target list
  std::vector<DecodedOperand> elements;  // vector, coordinates of an address

  // Element k of a vector operand, or the operand itself.
  const DecodedOperand& element(int k) const {
    return kind == Kind::vector ? elements[static_cast<size_t>(k)] : *this;
  }
};

// How a run without values executes an instruction (compile/drop_values.h).
enum class DataUse : uint8_t {
  full,     // as every run
  none,     // it computes tensor data: nothing happens
  checked,  // what it reads decides control, so it must be known
  noted,    // whether it moved its bytes is recorded
};

struct MicroOp {
  Handler handler = nullptr;  // set by the machine: sim/machine/exec/bind.h
  isa::LanesFn fn = nullptr;
  const isa::Effect* effect = nullptr;
  const isa::Instruction* instruction = nullptr;
  const DecodedOperand* operands = nullptr;  // as many as the instruction has
  int32_t guard = -1;                        // register offset of the predicate
  bool guard_negated = false;
  uint8_t destinations = 0, sources = 0;  // of a Pure, flattened
  Slot d[8], s[8];
  uint8_t negated_sources = 0;   // bit i: source i is !p
  bool dynamic_special = false;  // reads %clock and the like
  bool moves = true;             // false: tensor data, which a run without values does not touch
  DataUse data = DataUse::full;
  bool takes_fragment_at_issue = false;  // of a wgmma, see place_wgmma_copies
  bool copies_accumulator = false;       // a mov beside a wgmma, see place_wgmma_copies
  uint32_t function = 0;                 // index in Module::functions
  Pc pc;
};

// A value that each warp gets when it starts: special registers, addresses of shared variables.
struct InitialValue {
  enum class Kind : uint8_t { special, shared_address, parameter };
  Kind kind = Kind::special;
  isa::Special special = isa::Special::tid;
  int component = -1;
  uint64_t value = 0;   // offset in the window of shared memory, or in the parameters
  uint32_t offset = 0;  // of the register slot
  uint8_t width = 32;
};

// A function that may be on the call stack twice, or takes stack memory: each activation has a frame on the
// lane's stack, with the registers of the activation before it, and the function's variables.
struct Frame {
  static constexpr uint32_t links = 24;  // the stack's top, frame and charge before this one
  struct Saved {
    uint32_t offset = 0;  // of the register in the warp's block
    uint8_t width = 32;
  };
  // A register with the address of a variable, set when the frame is made.
  struct Place {
    uint32_t offset = 0;
    uint8_t width = 64;
    uint64_t value = 0;  // offset in the frame, with the window of its space
  };
  bool exists = false;
  uint32_t bytes = 0;
  uint32_t variables = 0;  // their place behind the links and the saved registers
  uint32_t charge = 0;     // bytes of stack that the function takes on a chip (program/stack_charge.h)
  std::vector<Saved> registers;
  std::vector<Place> places;
};

// An instruction that waits for products in flight before it executes.
struct InjectedWait {
  Handler handler = nullptr;       // what it does then; set by the machine
  std::vector<uint32_t> products;  // the wgmmas whose accumulators it touches, by pc, ascending
};

// A sum that takes its product in, as one fma: indices of `code`.
struct Contracted {
  uint32_t sum = 0, product = 0;
};

struct Program {
  const isa::Module* module = nullptr;
  const isa::Function* entry = nullptr;
  const isa::ArchSpec* arch = nullptr;  // that it was decoded for
  std::vector<MicroOp> code;
  Pc start;
  std::vector<Pc> function_start;  // by function index; no_id = not part of the program
  std::deque<isa::Effect> effects;
  std::vector<isa::Footprint> footprints;  // by pc
  std::deque<std::vector<DecodedOperand>> operands;
  std::vector<uint8_t> constants;  // 64-byte aligned lanes
  std::vector<InitialValue> initial_values;
  std::vector<InitialValue> dynamic_values;  // refreshed when read
  uint32_t register_bytes = 0;               // a warp's block
  uint32_t sink_offset = 0, carry_offset = 0;
  std::vector<uint32_t> register_offsets_base;  // by function index: index into register_offsets
  std::vector<uint32_t> register_offsets;
  std::vector<uint64_t> symbol_address;       // by SymbolId: global address, offset in shared or local
  std::vector<Frame> frames;                  // by function index
  std::vector<uint32_t> parameter_registers;  // by SymbolId: offset of a parameter that is a register
  bool allocates = false;                     // malloc or free is called
  uint32_t reserved_shared = 0;               // first bytes of a CTA's shared memory: the system's
  uint32_t static_shared = 0;                 // bytes, the reserved ones included
  uint32_t local_bytes = 0;                   // a thread
  uint32_t launch_registers = 0;              // registers a thread is given at launch (estimate)
  std::vector<std::vector<Pc>> branch_lists;  // by DecodedOperand::id
  std::vector<Contracted> contracted;         // by contraction/contract.h
  std::map<Pc, InjectedWait> injected_waits;  // by pc, see compile/injected_waits.h
  // By pc of a try_wait that asks early: the waits that its answer may skip, by pc. By early_waits.h.
  std::map<Pc, std::vector<Pc>> early_waits;
  uint32_t sums_across_passes = 0;  // not contracted: ptxas may, if it unrolls their loops
  // Without values: control reads this memory, so the machine tracks which bytes are not materialised.
  bool tracks_shared = false, tracks_global = false;
  bool local_unmaterialised = false;  // local memory may hold such data

  const isa::Footprint& footprint(const MicroOp& op) const { return footprints[op.pc]; }
  // Of a warpgroup.
  uint32_t mma_warps() const { return static_cast<uint32_t>(arch->mma_warps); }
};

}  // namespace palladion::sim
