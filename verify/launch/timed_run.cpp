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

}  // namespace palladion::verify
