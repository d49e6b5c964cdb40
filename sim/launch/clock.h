#pragma once
// Settings and results of a run under the `hardware` schedule: cycles, counters, and where the time went.
// Cycles are those of the SM clock. They depend on the program, the launch and the architecture's parameters
// alone: not on host threads, observers or traces.
#include <array>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "sim/launch/index.h"

namespace palladion::sim {

// What L2 holds when the kernel starts: nothing, or what a run of the same kernel just before left there.
enum class L2Start : uint8_t { cold, warm };

// `none`: the clock runs without the tensors' contents. Refused when control flow or addresses depend on
// them (see sim/machine/exec/values_checked.h).
enum class Values : uint8_t { full, none };

// Why a warp did not issue an instruction in a cycle: Nsight Compute's warp states. Waits for mbarriers
// and asynchronous groups, which it counts among the scoreboards, have names of their own.
enum class Stall : uint8_t {
  selected,            // it issued
  not_selected,        // ready, but another warp of its sub-core issued
  wait,                // a fixed-latency instruction before it
  short_scoreboard,    // shared memory, MUFU, shuffles
  long_scoreboard,     // GMEM and local memory
  math_pipe_throttle,  // its execution pipe is occupied
  mio_throttle,        // the shared-memory queue is occupied
  lg_throttle,         // the queue of global loads and stores is occupied
  tma_throttle,        // the TMA unit's queue is occupied
  branch_resolving,    // a taken branch
  no_instruction,      // its instructions are not in the instruction cache yet
  barrier,             // bar.sync and its kin
  cluster_barrier,     // barrier.cluster.wait
  membar,              // a fence
  mbarrier,            // try_wait
  gmma,                // wgmma.wait_group, or the tensor core's queue
  async_group,         // cp.async and bulk groups
  convergence,         // lanes of the warp that are elsewhere
  registers,           // setmaxnreg.inc
  sleeping,            // nanosleep
  drain,               // exit, stores on their way
};
inline constexpr size_t stall_count = 21;  // reasons of a stall
// "long scoreboard"
std::string_view name(Stall stall);

// What can be the bottleneck.
enum class Resource : uint8_t { issue, alu, fma, fp64, sfu, smem, tensor, tma, l1, l2, hbm };
inline constexpr size_t resource_count = 11;
// "tensor core"
std::string_view name(Resource resource);

// Warp-cycles of one instruction (index in Program::code), by reason; `issued` warp instructions.
struct LineTime {
  Pc pc;                // of the instruction
  uint32_t warps = 0;   // warps of the CTAs that executed it: bit w is warp w; 0: not recorded
  uint64_t issued = 0;  // warp instructions
  std::array<uint64_t, stall_count> cycles{};  // of warps that stood there, by reason
};

// As Nsight Compute counts them, over the whole chip.
struct ClockCounters {
  uint64_t instructions = 0;   // smsp__inst_executed.sum: the instructions that ptxas would make of the PTX
  uint64_t tensor_cycles = 0;  // summed over SMs: the tensor core is occupied
  uint64_t tcgen05_products = 0;     // multiplications, whose number a tcgen05.mma states when it runs
  uint64_t smem_bank_conflicts = 0;  // extra passes of loads and stores
  uint64_t l2_read_sectors = 0;      // of 32 bytes
  uint64_t l2_write_sectors = 0;     // of 32 bytes, written to L2
  uint64_t l2_hit_sectors = 0;       // of the reads
  uint64_t dram_read_bytes = 0;      // from HBM
  uint64_t dram_write_bytes = 0;     // to HBM
};
// What the clock measured of a run under the `hardware` schedule.
struct ClockReport {
  uint64_t cycles = 0;      // of the SM clock, launch included: sm__cycles_elapsed.max; 0: no clock ran
  double sm_clock_mhz = 0;  // at which microseconds are computed
  ClockCounters counters;   // sums over the chip
  // Share of the time from the first CTA's start to the last one's end in which a resource is occupied,
  // 0..1, averaged over the SMs.
  std::array<double, resource_count> busy{};
  // Only instructions with a record have an entry; ascending pc.
  std::vector<LineTime> lines;
  double microseconds() const { return sm_clock_mhz > 0 ? static_cast<double>(cycles) / sm_clock_mhz : 0; }
};

}  // namespace palladion::sim
