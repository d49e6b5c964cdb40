#include "verify/explore/answers.h"

#include "sim/explore/answers.h"
#include "sim/explore/data_dependence.h"

namespace palladion::verify {
namespace {

using sim::check::Assumptions;

// Half as many runs are needed, each of the whole grid.
constexpr uint64_t most_clusters = 64;

// Why the run does not decide for the answers that it got; empty: it does.
std::string undecided(const Trial& trial, const Assumptions& allowed, const sim::check::DataScope& data) {
  if (!trial.outcome.result.completed) return "a run with other answers does not end";
  if (!trial.watched || !trial.watched->decision) return "nothing was recorded";
  const auto& decision = *trial.watched->decision;
  if (!decision.under || (decision.under->warps_together && !allowed.warps_together)) return decision.reason;
  if (!data.dependences.empty() || !data.in_bounds.empty()) return "what is executed depends on data";
  return {};
}

}  // namespace

std::string other_answers(const TrialSetup& setup, const Trial& usual, const TakeTrial& take) {
  const uint64_t clusters = setup.job.grid.count() / setup.job.cluster.count();
  if (clusters == 1) return {};  // nothing is left to cancel
  if (clusters > most_clusters) return "the grid has too many clusters to try all numbers of answers";
  const Assumptions allowed = usual.watched->decision->under.value_or(Assumptions{});
  sim::check::AnswerProof proof(clusters);
  for (const sim::check::Answers& answers : sim::check::all_answers(static_cast<uint32_t>(clusters))) {
    sim::check::SkeletonObserver recorder;
    sim::check::DataObserver data;
    sim::check::WorkObserver work;
    sim::Observer* const more[] = {&data, &work};
    Trial trial = try_under(setup, conditions_of(answers), &recorder, more);
    std::string why = undecided(trial, allowed, data.scope());
    proof.add(work.scope());
    if (why.empty()) why = work.scope().obstacle;
    if (!take(std::move(trial))) return "it was stopped";
    if (!why.empty()) return why;
  }
  return proof.missing();
}

}  // namespace palladion::verify
