#include "verify/values.h"

#include <algorithm>
#include <iterator>
#include <map>
#include <optional>
#include <utility>

#include "sim/check/catalogue/code.h"
#include "sim/check/catalogue/phrase.h"
#include "sim/check/values/other_values.h"
#include "verify/schedules/schedules.h"

namespace palladion::verify {
namespace {

using sim::check::Arbitrary;
using sim::check::OtherValues;

constexpr size_t most_experiments = 16;

bool of_shared_memory(const SeenFinding& s) {
  return s.finding.code == sim::check::Code::uninitialised_shared_memory;
}

bool can_be_examined(const SeenFinding& s) {
  const sim::Finding& f = s.finding;
  if (f.severity != sim::FindingSeverity::error || f.fatal) return false;
  const auto* const race = std::get_if<sim::Race>(&f.what);
  return of_shared_memory(s) || (race != nullptr && race->every_read && !race->reads.empty());
}

void add(Arbitrary& what, const sim::Finding& f) {
  if (const auto* const race = std::get_if<sim::Race>(&f.what))
    std::ranges::copy(race->reads, std::back_inserter(what.reads));
  else
    what.unwritten_reads.push_back(f.sites.front());
}

// What a run leaves that the host can see.
struct Left {
  std::multimap<std::string, uint64_t> memory;
  std::string printed;
  bool operator==(const Left&) const = default;
};

enum class Answer : uint8_t { no_output_changes, an_output_changes, reads_not_changed };

// Runs of a launch with other values, under the conditions of one schedule.
class Experiment {
 public:
  Experiment(const TrialSetup& setup, sim::check::Conditions conditions)
      : setup_(setup), conditions_(std::move(conditions)) {
    setup_.checks = no_checks;
    OtherValues same({}, 0);
    usual_ = run(same);
  }

  // Whether what the run leaves is the usual in every series of other values.
  Answer ask(const Arbitrary& what) {
    if (!usual_) return Answer::reads_not_changed;
    for (uint32_t series = 0; series < OtherValues::series; ++series) {
      OtherValues other(what, series);
      if (run(other) != usual_) return Answer::an_output_changes;
      if (!other.changed_every_read()) return Answer::reads_not_changed;
    }
    return Answer::no_output_changes;
  }

 private:
  // Nothing: it did not reach its end.
  std::optional<Left> run(OtherValues& other) {
    sim::Observer* const observers[] = {&other};
    Trial trial = try_under(setup_, conditions_, nullptr, observers);
    sim::RunResult& result = trial.outcome.result;
    // One warp does not execute more than all did; with other values it may loop for ever.
    if (!usual_) setup_.run.max_warp_instructions = 2 * result.instructions + 100'000;
    if (!result.completed) return std::nullopt;
    Left left{other.memory(), std::move(result.printed)};
    for (const Buffer& b : setup_.job.buffers)
      if (b.role == Role::scratch || b.role == Role::profile) left.memory.erase(b.name);
    return left;
  }

  TrialSetup setup_;
  sim::check::Conditions conditions_;
  std::optional<Left> usual_;
};

void drop_to_strict(sim::Finding& f) {
  f.severity = sim::FindingSeverity::strict;
  f.notes.push_back(sim::say<sim::Phrase::no_output_depends>(uint64_t{OtherValues::series}));
}

// Those that one schedule showed first, one after the other: values of several findings may cancel out. Then
// all that nothing depends on at once: an output may depend on any of several.
void examine(Experiment& experiment, std::span<SeenFinding* const> findings) {
  std::vector<SeenFinding*> unused;
  Arbitrary all;
  for (SeenFinding* const s : findings) {
    Arbitrary one;
    add(one, s->finding);
    const Answer answer = experiment.ask(one);
    if (answer == Answer::reads_not_changed)
      s->finding.notes.push_back(sim::say<sim::Phrase::reads_not_changed>());
    if (answer != Answer::no_output_changes) continue;
    unused.push_back(s);
    add(all, s->finding);
  }
  if (unused.size() > 1 && experiment.ask(all) != Answer::no_output_changes) return;
  for (SeenFinding* const s : unused) drop_to_strict(s->finding);
}

}  // namespace

void examine_values(const TrialSetup& setup, CheckReport& report) {
  const Trial* const usual = report.first_completed();
  if (usual == nullptr || usual->output_hashes.empty()) return;
  if (report.outputs_vary()) return;  // they depend on more than the values
  std::map<std::string, std::vector<SeenFinding*>> by_schedule;
  size_t experiments = 0;
  for (SeenFinding& s : report.findings) {
    if (!can_be_examined(s)) continue;
    if (experiments++ < most_experiments)
      by_schedule[s.schedules.front()].push_back(&s);
    else
      s.finding.notes.push_back(sim::say<sim::Phrase::too_many_experiments>(uint64_t{most_experiments}));
  }
  for (const auto& [schedule, findings] : by_schedule) {
    const auto conditions = sim::check::conditions_named(schedule);
    if (!conditions || stopped(setup.run)) continue;  // of the search: no run showed it
    Experiment experiment(setup, *conditions);
    examine(experiment, findings);
  }
}

}  // namespace palladion::verify
