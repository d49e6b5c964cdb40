#include "verify/launch/timed_run.h"

#include <algorithm>

#include "sim/launch/codes.h"

namespace palladion::verify {

sim::RunResult timed_run(const Job& job, const isa::ArchSpec& arch, sim::RunOptions run) {
  Job copy = job;
  sim::Machine machine(arch);
  run.schedule.kind = sim::Schedule::Kind::hardware;
  run.threads = std::max(1U, run.threads);
  return palladion::run(copy, machine, run).result;
}

bool refused_for_values(const sim::RunResult& result) {
  const auto refuses = [](const auto& error) { return error.code == sim::Code::values_needed; };
  return std::ranges::any_of(result.errors, refuses) || std::ranges::any_of(result.findings, refuses);
}

WhyReport ask_why(const Job& job, const isa::ArchSpec& arch, const sim::RunOptions& asked,
                  const sim::ClockReport& clock,
                  const std::function<void(uint64_t done, uint64_t all)>& progress) {
  sim::RunOptions plain = asked;
  plain.values = sim::Values::none;
  WhyReport why;
  why.cycles = clock.cycles;
  if (asked.values == sim::Values::full) {  // once without values: is it possible?
    const sim::RunResult probe = timed_run(job, arch, plain);
    if (refused_for_values(probe))
      plain.values = sim::Values::full;
    else if (probe.completed)
      why.cycles = probe.clock.cycles;
  }
  why.values = plain.values;
  sim::ClockReport base = clock;
  base.cycles = why.cycles;
  const auto runs = static_cast<uint64_t>(std::ranges::count_if(
      sim::relaxations(), [&](const sim::Relaxation& r) { return sim::can_matter(r, base); }));
  if (progress) progress(0, runs);
  const auto run = [&](const isa::ClockParameters& parameters) -> std::optional<uint64_t> {
    sim::RunOptions relaxed = plain;
    relaxed.parameters = &parameters;
    const sim::RunResult result = timed_run(job, arch, relaxed);
    return result.completed ? std::optional(result.clock.cycles) : std::nullopt;
  };
  why.gains =
      sim::try_relaxations(*asked.parameters, base, run, {.threads = plain.threads, .progress = progress});
  why.interrupted = plain.stop != nullptr && plain.stop->load();
  return why;
}

}  // namespace palladion::verify
