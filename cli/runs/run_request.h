// What `run`, `compare` and `check` are asked for: one launch, how the machine and a device run it, what is
// shown of its findings and its time, and where all of it is written.
#pragma once

#include <chrono>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "cli/options/clock_settings.h"
#include "cli/options/run_words.h"
#include "cli/options/subject_request.h"
#include "cli/options/trace_request.h"
#include "report/text/suppress.h"
#include "verify/codegen/codegen.h"

namespace palladion::cli {

inline constexpr uint64_t usual_max_instructions = uint64_t{1} << 30;  // of a warp

// How the machine runs a launch.
struct MachineRequest {
  sim::check::Options checks = no_checks;
  std::optional<ClockSettings> clock;                  // under the hardware schedule
  unsigned threads = 1;                                // of the host
  uint64_t max_instructions = usual_max_instructions;  // of a warp; 0: no limit
  bool fmad = true;                                    // contract products and sums as ptxas does by default
};

struct DeviceRequest {
  bool on_sim = true, on_device = false;
  int repeats = 20;                         // timed runs
  std::chrono::milliseconds limit{10'000};  // of a run
};

struct FindingsRequest {
  bool strict = false;  // findings of severity strict count as errors
  size_t limit = 20;    // printed in full
  std::optional<Suppressions> suppressions;
};

// Files; empty: none is written.
struct OutputRequest {
  std::string json, sarif, report;
};

struct RunRequest {
  std::string_view command;        // "run", "compare", "check"
  std::vector<std::string> words;  // behind it, for commands to repeat
  SubjectRequest subject;
  std::optional<sim::check::Conditions> conditions;  // --schedule; none: the command's usual
  MachineRequest machine;
  DeviceRequest device;
  TraceRequest trace;
  FindingsRequest findings;
  OutputRequest output;
  bool reference = true;                                 // the outputs are compared with it
  bool why = false;                                      // run again with parts of the chip relaxed
  size_t lines = 10;                                     // source lines of the time report
  verify::Codegen codegen = verify::Codegen::automatic;  // who says what ptxas does to the kernel

  sim::check::Conditions usual_conditions() const { return conditions.value_or(sim::check::Conditions{}); }
  const ClockSettings* clock() const { return machine.clock ? &*machine.clock : nullptr; }
  bool with_values() const { return !machine.clock || machine.clock->values == sim::Values::full; }
};

class RunWords {
 public:
  explicit RunWords(std::string_view command) : command_(command) {}
  void state(Words& words);
  Outcome<RunRequest> request(const Invocation& invocation) const;

 private:
  enum class On : uint8_t { sim, device, both };

  bool on_hardware() const;
  Outcome<void> check_trace() const;
  Outcome<void> check_scopes() const;
  Outcome<void> check_values() const;
  Outcome<std::optional<ClockSettings>> clock_settings(const isa::ArchSpec& arch) const;
  Outcome<std::optional<Suppressions>> suppressions() const;

  std::string_view command_;
  SubjectWords subject_;
  ClockWords clock_;
  std::optional<sim::check::Conditions> schedule_;
  std::optional<sim::check::Options> checks_;
  On on_ = On::sim;
  unsigned threads_ = 0;
  std::string suppress_;
  RunRequest given_;  // what needs no second look
};

// --codegen.
void state_codegen(Words& words, verify::Codegen& codegen);

// What --threads means: 0 is all of the host.
unsigned host_threads(unsigned given);

}  // namespace palladion::cli
