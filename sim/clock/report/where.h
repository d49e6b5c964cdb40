#pragma once
// Where a kernel's time went: the clock's account of every instruction, gathered by the author's lines and by
// the warps that do the same work.
#include <array>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "isa/arch/arch.h"
#include "isa/arch/clock.h"
#include "isa/core/module.h"
#include "sim/launch/clock.h"

namespace palladion::sim {

struct Program;

using StallCycles = std::array<uint64_t, stall_count>;

// Warp-cycles, over the whole grid.
struct WarpTime {
  uint32_t warps = 0;  // of a CTA: bit w is warp w; 0: unknown
  uint64_t issued = 0;
  StallCycles cycles{};
  uint64_t total() const;
  // The reasons that were seen, what took longest first; `selected`, which is no stall, is left out.
  std::vector<Stall> reasons() const;
};

// What a line costs in a function that is called, directly or not, at `at`.
struct CallerWhere : WarpTime {
  isa::SourceLoc at;
};

struct LineWhere : WarpTime {
  isa::SourceLoc source;             // the author's line; unknown in PTX without .loc
  uint32_t ptx_line = 0;             // of its costliest instruction
  std::string instruction;           // that one's text
  std::vector<CallerWhere> callers;  // of inlined functions, most cycles first: each has all of its share
};

struct RoleWhere : WarpTime {
  std::string
      operations;  // "wgmma", "TMA loads, TMA stores": what these warps do and others do not; may be empty
};

struct Where {
  uint64_t warp_cycles = 0;
  double tensor_flops = 0;       // of the wgmma, mma and tcgen05.mma instructions that were issued
  int operand_bits = 0;          // of the narrowest operand that they multiply; 0: there are none
  bool atomics = false;          // in global memory, or in memory of a space that the program does not name
  std::vector<LineWhere> lines;  // most cycles first
  std::vector<RoleWhere> roles;  // the sets of warps that share code, most cycles first; empty: unknown
};

// `entry` empty: the module's only one. What the report names must come of this module.
Where where_time_went(const isa::Module& module, std::string_view entry, const isa::ArchSpec& arch,
                      const ClockReport& report);

// Bits of the narrowest operand that a tensor core multiplies; 0: none does.
int operand_bits_of(const Program& program);
// The FLOP/s of all tensor cores with operands of so many bits, in units of 10^12.
double peak_tflops(const isa::ArchSpec& arch, const isa::ClockParameters& clock, int operand_bits);

// A ring of stages between warps that fetch and warps that multiply.
struct PipelineWaits {
  uint32_t consumers = 0, producers = 0;  // their warps, a bit each
  // Shares of the cycles of each in which it waits at mbarriers: for stages that are full, for free ones.
  double for_full = 0, for_free = 0;
  isa::SourceLoc line;    // where the consumers wait most; unknown in PTX without .loc
  uint32_t ptx_line = 0;  // its line of PTX
};
// Of the warps that multiply and those that issue copies; none where these are the same, or there are none.
std::optional<PipelineWaits> pipeline_waits(const Where& where);

// "warps 0-7", "warp 8", "warps 0, 4", "all warps" of a CTA with so many.
std::string warps_text(uint32_t warps, uint32_t of_cta);

// What limits the kernel: the resource that is occupied for the largest share. Below `busy_enough` none is
// the limit, and the time goes in waiting.
inline constexpr double busy_enough = 0.6;
Resource critical(const ClockReport& report);
// The longest wait of all warps; `selected` when there is none.
Stall longest_wait(const ClockReport& report);
// "tensor core", or "waiting: mbarrier".
std::string limit_text(const ClockReport& report);

}  // namespace palladion::sim
