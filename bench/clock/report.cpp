#include "bench/clock/report.h"

#include <fmt/format.h>

#include <algorithm>

namespace palladion::bench {
namespace {

std::string percent(double share) { return fmt::format("{:.1f} %", 100 * share); }
std::string signed_percent(double share) { return fmt::format("{:+.1f} %", 100 * share); }

double error_of(const Judged& j, sim::L2Start l2) {
  return relative_error(static_cast<double>(replayed(j, l2).clock.cycles), measured(j, l2).cycles);
}

// "52840  51234  -3.0 %", or why there is none.
std::string side(const Judged& j, sim::L2Start l2) {
  const Replayed& r = replayed(j, l2);
  if (r.clock.cycles == 0) return fmt::format("{:>9.0f} {:>9} {:>8}", measured(j, l2).cycles, "-", "-");
  return fmt::format("{:>9.0f} {:>9} {:>8}", measured(j, l2).cycles, r.clock.cycles,
                     signed_percent(error_of(j, l2)));
}

std::string refusals(std::span<const Judged> cases) {
  std::string out;
  for (const Judged& j : cases)
    for (const Replayed* r : {&j.cold, &j.warm})
      if (!r->refused.empty()) out += fmt::format("no cycles of {}: {}\n", j.text, r->refused);
  return out;
}

std::string summary_line(const std::string& name, const ErrorSummary& s) {
  if (s.cases == 0) return "";
  return fmt::format("{:<44} {:>4} {:>8} {:>8} {:>8} {:>8}\n", name, s.cases, percent(s.mean),
                     percent(s.median), percent(s.p95), percent(s.worst));
}

std::string summary_head(const std::string& what) {
  return fmt::format("\n{:<44} {:>4} {:>8} {:>8} {:>8} {:>8}\n", what, "n", "mean", "median", "p95", "worst");
}

std::string sweep_text(const Verdict& v, sim::L2Start l2, std::string_view cache) {
  const SweepVerdict s = judge_sweep(v.sweep, l2);
  if (s.device_best.empty()) return "";
  return fmt::format(
      "sweep, {}: the clock's choice `{}` costs {} over the best `{}`; rank correlation {:.3f}\n", cache,
      s.simulated_best, percent(s.lost), s.device_best, s.correlation);
}

}  // namespace

std::string line_of(const Judged& j) {
  return fmt::format("{}  {}  {:6.1f}s{} {}", side(j, sim::L2Start::cold), side(j, sim::L2Start::warm),
                     j.cold.seconds + j.warm.seconds, j.cold.values ? " values" : "", j.text);
}

std::string text_of(const Verdict& v) {
  std::string out = refusals(v.cases) + refusals(v.sweep);
  out += summary_head("cycles, absolute error");
  for (const Family& f : families(v.cases)) {
    out += summary_line(f.name + ", cold", f.cold);
    out += summary_line(f.name + ", warm", f.warm);
    if (f.warm.cases > 0) out += summary_line(f.name, f.both);
  }
  out += summary_head("counters, cold, absolute error");
  for (const CounterErrors& c : counter_errors(v.cases))
    out += summary_line(fmt::format("{} >= {:.0g}", c.name, c.least), c.errors);
  if (v.sweep.empty()) return out;
  return out + "\n" + sweep_text(v, sim::L2Start::cold, "cold") + sweep_text(v, sim::L2Start::warm, "warm");
}

}  // namespace palladion::bench
