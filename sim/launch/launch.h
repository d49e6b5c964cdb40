#pragma once
// The inputs of a run (Launch, RunOptions) and its result (RunResult).
#include <array>
#include <atomic>
#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "isa/arch/arch.h"
#include "isa/arch/clock.h"
#include "isa/core/module.h"
#include "sim/launch/clock.h"
#include "sim/launch/finding.h"
#include "sim/launch/index.h"
#include "sim/launch/observer.h"
#include "sim/launch/schedule.h"

namespace palladion::sim {

struct Launch {  // one launch: what cuLaunchKernelEx takes, and what the machine must know of the process
  const isa::Module* module = nullptr;  // the program
  std::string entry;                    // empty: the module's only entry
  isa::Dim3 grid, block;                // CTAs, threads
  isa::Dim3 cluster;                    // CTAs; must divide the grid
  uint32_t dynamic_shared = 0;          // bytes a CTA
  std::vector<uint8_t> params;          // the parameter block, laid out as isa::param_layout says
  // %envreg0 to 31, which the driver fills: %envreg1 and 2 hold the high and low half of the address of a
  // cooperative launch's workspace.
  std::array<uint32_t, 32> environment{};
  uint64_t stack_bytes = 64 << 10;  // a thread, for recursion and alloca (cudaLimitStackSize)
  uint64_t heap_bytes = 8 << 20;    // for malloc in kernels (cudaLimitMallocHeapSize); fixed by the first use
  // A device ran this launch without an error: what is missing here (device heap of earlier launches,
  // textures) was not recorded, and its use is unsupported instead of a fault.
  bool recorded = false;
  std::vector<Address> written;  // arrays that the kernel is known to write: a warm L2 holds them dirty
};

// In which order the clusters of a grid start. PTX promises none; `ascending` is what an H200 does.
struct StartOrder {
  // Of clusters, by their numbers in the grid.
  enum class Kind : uint8_t { ascending, descending, random };
  Kind kind = Kind::ascending;  // which of them
  uint64_t seed = 0;            // of a random one
};
// How a launch is run: schedule, limits, observer.
struct RunOptions {
  Schedule schedule;              // functional
  unsigned threads = 0;           // host threads; 0 = all cores
  uint64_t max_instructions = 0;  // warp instructions after which the run is stopped; 0 = no limit
  // Of one warp: a warp that executes more, or a sixteenth of them in a row without an effect, is taken for
  // one that loops for ever (PLD3002); 0 = no limit. sim/schedule/endless.h
  uint64_t max_warp_instructions = 0;
  uint64_t quantum = 0;  // warp instructions of a cluster up to a boundary, without a clock; 0: 4 Mi
  Observer* observer = nullptr;
  bool fmad =
      true;  // products and sums without a rounding become one fma, as ptxas does; false: --fmad=false
  const std::atomic<bool>* stop = nullptr;  // set from outside: the run ends early with its results so far
  std::function<void(uint64_t done, uint64_t all)> progress;  // clusters finished

  // Choices that PTX leaves to the hardware, for checks; the defaults are what an H200 does.
  uint64_t resident_clusters = 0;  // at once; 0: as many as the SMs have room for
  StartOrder order;
  uint64_t fail_waits = 0;  // seed: some try_waits time out at once; 0: none does
  uint64_t elect = 0;       // seed: elect.sync elects another lane than the first; 0: the first
  uint64_t lanes = 0;       // seed: the order of the lanes of an atomic; 0: the lowest first

  // Of the `hardware` schedule.
  L2Start l2 = L2Start::cold;
  Values values = Values::full;
  const isa::ClockParameters* parameters = nullptr;  // null: the architecture's own
  uint32_t registers = 0;  // a thread, which limit the CTAs of an SM; 0: estimated (sim/sass/pressure.h)
  // Launches that are cancelled at most for each cluster that has started (clusterlaunchcontrol): a choice
  // that PTX leaves to the hardware, too.
  uint32_t cancels = ~0U;
};
// What a run left beside the contents of memory.
struct RunResult {
  isa::Diagnostics errors;            // errors of a launch that was refused
  std::vector<Finding> findings;      // of the checkers, most important first
  uint64_t instructions = 0;          // warp instructions executed
  uint64_t ctas = 0;                  // finished
  uint32_t resident_ctas_per_sm = 0;  // of the kernel's resources
  uint32_t registers_per_thread = 0;  // as they were counted for that
  uint64_t resident_clusters = 0;     // the SMs have room for
  bool completed = false;             // every CTA ran to its end
  bool deadlocked = false;            // nothing could proceed
  bool interrupted = false;           // by RunOptions::stop
  std::string printed;                // vprintf, in cluster order
  std::string asserted;               // failed assertions, a line a thread, as the device prints them
  ClockReport clock;                  // of the `hardware` schedule
  // Ran to its end without errors and findings.
  bool clean() const { return errors.empty() && findings.empty() && completed; }
};

}  // namespace palladion::sim
