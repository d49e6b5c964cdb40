#pragma once
// The lowering of a program to SASS: what ptxas makes of each PTX instruction, as far as the clock has to
// know. No cycles stand here; sim/clock/sm/instruction_cost.h prices it.
#include <cstdint>
#include <span>
#include <string_view>
#include <vector>

#include "isa/arch/clock.h"
#include "isa/core/op.h"
#include "sim/program/program.h"

namespace palladion::sim::sass {

// How an instruction meets memory or waits.
enum class Path : uint8_t {
  plain,         // registers alone
  shared_load,   // ld.shared, ldmatrix, atom.shared
  shared_store,  // st.shared, stmatrix, red.shared
  cluster_load,  // of a peer's shared memory
  cluster_store,
  global_load,
  global_store,
  global_atomic,
  async,  // issues asynchronous operations
  waits,  // barriers, groups, mbarriers: others may go on after it
  fence,
  exit,
};

// Why nothing is left of an instruction.
enum class Fold : uint8_t {
  none,      // it is an instruction of its own
  renamed,   // a move or an address conversion: another name of a register
  known,     // ptxas knows its operands, so its result
  copied,    // x + 0, x * 1: its result is an operand
  offset,    // a constant offset of the accesses that use it
  half,      // the lower or the upper half of a register pair
  sign,      // -x, |x| at the operands that use it
  imad,      // the sum of IMAD
  lea,       // the shift of LEA
  third,     // the third input of IADD3, LOP3
  compared,  // logic on predicates within ISETP
  unrolled,  // once in four iterations of an unrolled loop
  marked,    // a commit: a mark of the wgmma in front of it
};
// "part of an address"
std::string_view name(Fold fold);

// An atomic whose address is the same in all lanes: ptxas adds the lanes' values up and lets one lane do it.
enum class Gather : uint8_t {
  none,
  again,   // the block has the sum
  count,   // equal values: POPC of the active lanes, and a product
  reduce,  // REDUX
  scan,    // SHFL.UP in five steps: each lane wants the sum of those before it
};

// Scoreboards that loads have for themselves.
inline constexpr uint32_t scoreboard_count = 4;
inline constexpr uint32_t no_pc = ~0U;
inline constexpr uint16_t no_row = 0xFFFF;  // the end of a function

struct LoweredInstruction {
  Path path = Path::plain;
  Fold fold = Fold::none;
  isa::Unit unit = isa::Unit::alu;  // as the op's definition says
  isa::Unit pipe =
      isa::Unit::alu;     // that executes it: the unit, unless ptxas moves it to the uniform datapath
  uint16_t row = no_row;  // of the architecture's table of ops: isa::ClockParameters::ops
  uint8_t halves = 1;     // 64 bits half by half: the row's work so many times
  uint32_t slots = 1;     // SASS instructions, each an issue slot
  uint32_t into = no_pc;  // the instruction that it became a part of

  uint8_t scoreboard = 0;  // of a load of GMEM, from 1
  int32_t address = -1;    // operand with the address, of memory instructions
  uint32_t lanes = ~0U;    // whose addresses count (ldmatrix, stmatrix)
  uint32_t bytes = 0;      // a lane
  isa::Space space = isa::Space::generic;
  uint32_t columns = 0;    // of a wgmma
  uint32_t registers = 1;  // of a lane: a load or store of tensor memory takes the row's interval for each
  Gather gather = Gather::none;
  bool scatters = false;    // of a gathered atomic: its result is given to all lanes
  bool atomic = false;      // atom, red
  bool serialised = false;  // lanes that name the same word go one after the other
  bool rows = false;        // each address is a row of 16 bytes: ldmatrix, stmatrix
  bool past_l1 = false;     // a load that L1 neither answers nor keeps
  bool loops = false;       // ptxas makes a loop of it, around a compare-and-swap
  bool defers = false;      // ptxas moves others in front of it while its operands are on their way
  bool branches = false;
  bool early = false;  // done as early in its block as its operands allow: predicates of branches, addresses
  bool spins = false;  // a branch back to a wait for an mbarrier
  bool unrolled = false;  // a branch back whose loop ptxas unrolls by four
  bool releases = false;  // at cluster scope or above: ptxas puts a fence in front of it
  bool acquires = false;  // at cluster scope or above: drops what L1 holds
  bool drains = false;    // reads a clock, or a fence: everything before it has its operands
  bool holds = false;     // the warp's next of its kind issues an interval later: mbarrier arrivals

  uint32_t first_read = 0, reads = 0;  // in Lowered::registers
  uint32_t first_write = 0, writes = 0;

  bool is_folded() const { return fold != Fold::none; }
  void fold_as(Fold why, uint32_t by = no_pc) {
    fold = why;
    into = by;
    slots = 0;
  }
};

struct Lowered {
  std::vector<LoweredInstruction> code;  // by pc
  std::vector<uint32_t> registers;       // by number, dense from 0
  uint32_t register_count = 0;
  uint32_t thread_registers = 0;  // of 32 bits, that ptxas allocates a thread: an estimate (pressure.h)

  std::span<const uint32_t> reads(const LoweredInstruction& i) const {
    return {registers.data() + i.first_read, i.reads};
  }
  std::span<const uint32_t> writes(const LoweredInstruction& i) const {
    return {registers.data() + i.first_write, i.writes};
  }
};

// Slots and latencies of `isa::OpCost` are whole.
uint32_t whole(double cycles);

// `parameters` say how many SASS instructions each op becomes.
Lowered lower(const Program& program, const isa::ClockParameters& parameters);

}  // namespace palladion::sim::sass
