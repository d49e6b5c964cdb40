#include "cli/runs/timed_run.h"

#include <algorithm>

#include "cli/support/term.h"
#include "sim/launch/codes.h"

namespace palladion::cli {

sim::RunResult timed_run(const Subject& subject, const ClockSettings& settings, unsigned threads,
                         uint64_t max_instructions) {
  Job copy = subject.job;
  sim::Machine machine(*subject.arch);
  sim::RunOptions run;
  run.schedule.kind = sim::Schedule::Kind::hardware;
  run.threads = std::max(1U, threads);
  run.max_warp_instructions = max_instructions;
  run.stop = &interrupt_flag();
  run.registers = subject.registers.count;
  settings.apply(run);
  return palladion::run(copy, machine, run).result;
}

bool refused_for_values(const sim::RunResult& result) {
  const auto refuses = [](const auto& error) { return error.code == sim::Code::values_needed; };
  return std::ranges::any_of(result.errors, refuses) || std::ranges::any_of(result.findings, refuses);
}

NoTime why_no_time(const sim::RunResult& result) {
  if (!result.errors.empty()) return {result.errors.front().code, result.errors.front().message};
  const auto ends = [](const sim::Finding& f) { return f.fatal; };
  auto at = std::ranges::find_if(result.findings, ends);
  if (at == result.findings.end() && !result.completed) at = result.findings.begin();
  if (at != result.findings.end()) return {at->code, report::message_text(*at)};
  if (result.interrupted) return {{}, "interrupted"};
  if (!result.completed) return {{}, "it did not come to its end"};
  return result.clock.cycles == 0 ? NoTime{{}, "the clock did not run"} : NoTime{};
}

}  // namespace palladion::cli
