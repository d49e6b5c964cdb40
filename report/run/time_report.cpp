#include "report/run/time_report.h"

#include <algorithm>

#include "verify/launch/timed_run.h"
#include "cli/support/term.h"

namespace palladion::cli {
namespace {

double bytes_in_and_out(const Job& job) {
  double bytes = 0;
  for (const Buffer& b : job.buffers) {
    if (b.role == Role::scratch) continue;
    bytes += bytes_of(b.type) * (b.role == Role::inout ? 2 : 1);
  }
  return bytes;
}

}  // namespace

TimeReport time_report(const Subject& subject, const sim::RunResult& result, const ClockSettings& settings) {
  TimeReport time;
  time.clock = result.clock;
  time.measured = subject.arch->measured;
  time.ctas_per_sm = result.resident_ctas_per_sm;
  time.registers = subject.registers;
  time.registers.count = result.registers_per_thread;
  time.l2 = settings.l2;
  time.values = settings.values;
  time.where = sim::where_time_went(subject.program(), subject.job.entry, *subject.arch, result.clock);
  time.array_bytes = bytes_in_and_out(subject.job);
  time.warps = static_cast<uint32_t>((subject.job.block.count() + 31) / 32);
  return time;
}

WhyReport ask_why(const Subject& subject, const sim::ClockReport& clock, const ClockSettings& settings,
                  unsigned threads) {
  ClockSettings plain = settings;
  plain.values = sim::Values::none;
  WhyReport why;
  why.cycles = clock.cycles;
  if (settings.values == sim::Values::full) {  // once without values: is it possible?
    const sim::RunResult probe = timed_run(subject, plain, threads, 0);
    if (refused_for_values(probe))
      plain.values = sim::Values::full;
    else if (probe.completed)
      why.cycles = probe.clock.cycles;
  }
  why.values = plain.values;
  sim::ClockReport base = clock;
  base.cycles = why.cycles;
  const auto runs = std::ranges::count_if(sim::relaxations(),
                                          [&](const sim::Relaxation& r) { return sim::can_matter(r, base); });
  Progress progress("what would help", static_cast<uint64_t>(runs));
  const auto run = [&](const isa::ClockParameters& parameters) -> std::optional<uint64_t> {
    ClockSettings relaxed = plain;
    relaxed.parameters = parameters;
    const sim::RunResult result = timed_run(subject, relaxed, threads, 0);
    return result.completed ? std::optional(result.clock.cycles) : std::nullopt;
  };
  why.gains = sim::try_relaxations(
      settings.parameters, base, run,
      {.threads = threads, .progress = [&](uint64_t done, uint64_t) { progress.update(done); }});
  why.interrupted = interrupted();
  return why;
}

}  // namespace palladion::cli
