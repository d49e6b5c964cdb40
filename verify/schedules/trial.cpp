#include "verify/schedules/trial.h"

#include <algorithm>

#include "sim/launch/codes.h"

namespace palladion::verify {

CheckedRun run_checked(Job& job, const isa::ArchSpec& arch, sim::RunOptions run,
                       const sim::check::Options& checks, sim::check::SkeletonObserver* recorder,
                       std::span<sim::Observer* const> more) {
  std::vector<sim::Observer*> others(more.begin(), more.end());
  if (recorder != nullptr) others.insert(others.begin(), recorder);
  Watch watch(checks, others);
  run.observer = watch.observer();
  sim::Machine machine(arch);
  CheckedRun out{palladion::run(job, machine, run), {}};
  if (const sim::check::Coverage* coverage = watch.coverage()) {
    out.watched = Watched{*coverage, {}};
    if (recorder != nullptr) out.watched->decision = decide_run(recorder->recorded(), *coverage);
  }
  return out;
}

bool Trial::decides() const { return watched && watched->decision && watched->decision->decided; }

bool Trial::hangs_by_letter() const {
  const sim::RunResult& r = outcome.result;
  return r.deadlocked && std::ranges::none_of(r.findings, [](const sim::Finding& f) {
           return f.fatal && f.severity != sim::FindingSeverity::strict;
         });
}

Trial try_under(const TrialSetup& setup, const sim::check::Conditions& conditions,
                sim::check::SkeletonObserver* recorder, std::span<sim::Observer* const> more) {
  Job job = setup.job;
  sim::RunOptions run = setup.run;
  conditions.apply(run);
  CheckedRun done = run_checked(job, setup.arch, std::move(run), setup.checks, recorder, more);
  std::vector<uint64_t> hashes = hashes_of(done.outcome.outputs);
  return {name(conditions), std::move(done.outcome), std::move(done.watched), std::move(hashes),
          written_inputs(setup.job, job)};
}

std::vector<std::string> written_inputs(const Job& before, const Job& after) {
  std::vector<std::string> out;
  for (size_t i = 0; i < before.buffers.size(); ++i)
    if (before.buffers[i].role == Role::in &&
        before.buffers[i].initial.bytes != after.buffers[i].initial.bytes)
      out.push_back(before.buffers[i].name);
  return out;
}

std::vector<uint64_t> hashes_of(const std::vector<Array>& arrays) {
  std::vector<uint64_t> out;
  out.reserve(arrays.size());
  for (const Array& array : arrays) out.push_back(hash(array));
  return out;
}

bool was_given_up(const sim::RunResult& result) {
  return std::ranges::any_of(result.findings,
                             [](const sim::Finding& f) { return f.code == sim::Code::gave_up; });
}

}  // namespace palladion::verify
