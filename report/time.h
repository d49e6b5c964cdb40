// The clock's report of a run: cycles, rates, where the time went, what would help.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "cli/options/clock_settings.h"
#include "cli/subjects/subject.h"
#include "cli/support/json.h"
#include "sim/clock/report/relax.h"
#include "sim/clock/report/where.h"

namespace palladion::cli {

// `run --why`: the kernel again, with parts of the chip relaxed.
struct WhyReport {
  uint64_t cycles = 0;  // without any of them
  sim::Values values = sim::Values::none;
  std::vector<sim::Gain> gains;  // what saves most first
  bool interrupted = false;
};

struct TimeReport {
  sim::ClockReport clock;
  bool measured = true;  // the clock was compared with such a chip
  sim::L2Start l2 = sim::L2Start::cold;
  sim::Values values = sim::Values::full;
  sim::Where where;
  double array_bytes = 0;  // of inputs and outputs, each once
  uint32_t warps = 1;      // of a CTA
  uint32_t ctas_per_sm = 0;
  Registers registers;  // that this was counted with
  std::optional<WhyReport> why;

  // Of the work that the tensor cores were given; 0 without any.
  double tflops() const;
  // Of array_bytes.
  double gb_per_s() const;
};

TimeReport time_report(const Subject& subject, const sim::RunResult& result, const ClockSettings& settings);
// Runs it again and again, `threads` at once.
WhyReport ask_why(const Subject& subject, const sim::ClockReport& clock, const ClockSettings& settings,
                  unsigned threads);

struct TimeView {
  std::string folder;    // paths below it are printed relative to it
  std::string ptx_name;  // of the file that PTX lines refer to
  size_t lines = 10;     // of the source
  bool color = false;
};
// What to think of a chip's cycles: that power throttling is not modelled, and that nothing was measured.
std::string clock_caveat(bool measured);
// The rows of `run` about the time, and the section "where the time went".
std::string time_rows(const TimeReport& time);
std::string where_text(const TimeReport& time, const TimeView& view);
std::string why_text(const WhyReport& why, bool color);
// "#####-----", `share` of 0..1.
std::string bar(double share, int columns);
// "45 210", exact, for people.
std::string grouped(uint64_t number);

// The member "clock".
json::object time_json(const TimeReport& time);

}  // namespace palladion::cli
