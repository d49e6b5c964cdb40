// What would help a launch: the launch again, with one change at a time.
#pragma once

#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "sim/clock/report/relax.h"
#include "sim/clock/report/residency.h"
#include "verify/launch/runner.h"

namespace palladion::verify {

// The same kernel with another value of one setting.
struct Variant {
  std::string setting;  // "stages=5"
  bool fewer = false;   // it takes less of the chip
  // Records and runs it: its cycles; nothing when there is no such kernel.
  std::function<std::optional<uint64_t>(const sim::RunOptions&)> cycles;
};

// A launch that has run under the clock, and what may be changed of it.
struct WhyQuestion {
  const Job* job = nullptr;             // the launch
  const isa::ArchSpec* arch = nullptr;  // the chip
  sim::RunOptions run;                  // of the run that is explained; its parameters must be there
  sim::ClockReport clock;               // that it left
  uint32_t registers = 0;               // a thread, as they were counted
  double seconds = 0;                   // that it took
  std::vector<Variant> variants;        // of its settings
};

// Known before the first run.
struct WhyPlan {
  uint64_t least = 0, most = 0;  // runs
  double seconds = 0;            // that one takes, as the first did
};

// What one change did.
struct Changed {
  std::string change;   // "stages=5"
  bool fewer = false;   // it takes less of the chip
  uint64_t cycles = 0;  // with it
  double saved = 0;     // of the time without it, 0..1
};

// What would help, each gain from a run of its own.
struct WhyReport {
  uint64_t cycles = 0;                     // without any change
  sim::Values values = sim::Values::none;  // with which the launch ran again
  WhyPlan plan;                            // as it was announced
  uint64_t runs = 0;                       // that were made
  sim::Relaxed relaxed;                    // gains of parts of the chip
  sim::Residency residency;                // of CTAs on SMs
  std::optional<Changed> one_more;         // CTA an SM, where the launch has CTAs that wait for room
  std::vector<Changed> variants;           // those that ran
  double peak_tflops = 0;                  // of the tensor cores with the kernel's operands; 0: it has none
  double hbm_gb_per_s = 0;                 // that HBM can read
  double input_bytes = 0;                  // of the arrays that the kernel reads
  bool interrupted = false;                // by Ctrl-C: gains are missing
};

// Who asks may follow the runs.
struct WhyEvents {
  std::function<void(const WhyPlan& plan)> planned;  // before the first run
  std::function<void(uint64_t done)> done;           // from any thread, one call at a time
};
// Runs the launch again with one change at a time, on the threads that `question.run` allows.
WhyReport ask_why(const WhyQuestion& question, const WhyEvents& events = {});

}  // namespace palladion::verify
