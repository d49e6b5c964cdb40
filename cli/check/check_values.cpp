// Findings about arbitrary values: of loads that race, of shared memory that nothing has written. The launch
// runs again with other values in their place; where no output changes, the finding is strict.

#include <algorithm>
#include <array>
#include <iterator>

#include "cli/check/check_run.h"
#include "sim/check/catalogue/code.h"
#include "sim/check/catalogue/phrase.h"
#include "sim/check/values/other_values.h"

namespace palladion::cli {
namespace {

constexpr size_t most_findings = 16;  // examined one by one
// Inverted, halved or doubled exponents of floats, neighbours of integers.
constexpr std::array<uint8_t, 3> patterns{0xFF, 0x40, 0x01};

bool of_shared_memory(const SeenFinding& s) {
  return s.finding.code == sim::check::Code::uninitialised_shared_memory;
}

bool can_be_examined(const SeenFinding& s) {
  const sim::Finding& f = s.finding;
  if (f.severity != sim::FindingSeverity::error || f.fatal) return false;
  const auto* const race = std::get_if<sim::Race>(&f.what);
  return of_shared_memory(s) || (race != nullptr && race->every_read && !race->reads.empty());
}

class Experiment {
 public:
  Experiment(CheckSession& session, const Trial& usual)
      : s_(session), usual_(usual), options_(session.options) {
    options_.check = "none";
    // One warp does not execute more than all did; with other values it may loop for ever.
    options_.max_instructions = 2 * usual.outcome.result.instructions + 100'000;
  }

  // True when the outputs are the usual ones with every pattern.
  bool no_output_changes(std::span<SeenFinding* const> findings) {
    std::vector<sim::RacingRead> reads;
    bool shared = false;
    for (const SeenFinding* f : findings) {
      if (const auto* const race = std::get_if<sim::Race>(&f->finding.what))
        std::ranges::copy(race->reads, std::back_inserter(reads));
      shared |= of_shared_memory(*f);
    }
    return std::ranges::all_of(patterns, [&](uint8_t pattern) {
      if (interrupted()) return false;
      sim::check::OtherValues other(reads, shared, pattern);
      sim::Observer* const observers[] = {&other};
      Job job = s_.subject.job;
      const MachineRun run =
          run_on_machine(s_.subject, job, options_, *conditions_of(s_.options), nullptr, observers);
      return run.outcome.result.completed && hash_texts(run.outcome.outputs) == usual_.output_hashes;
    });
  }

 private:
  CheckSession& s_;
  const Trial& usual_;
  Options options_;
};

void drop_to_strict(SeenFinding& s) {
  s.finding.severity = sim::FindingSeverity::strict;
  s.finding.notes.push_back(sim::say<sim::Phrase::no_output_depends>(patterns.size()));
}

}  // namespace

void examine_values(CheckSession& s) {
  const auto usual =
      std::ranges::find_if(s.report.trials, [](const Trial& t) { return t.outcome.result.completed; });
  if (usual == s.report.trials.end() || usual->output_hashes.empty()) return;
  // Outputs that differ between schedules depend on more than the values.
  if (std::ranges::any_of(s.report.trials, [](const Trial& t) { return !t.same_outputs; })) return;
  std::vector<SeenFinding*> all;
  for (SeenFinding& f : s.report.findings)
    if (can_be_examined(f)) all.push_back(&f);
  if (all.empty()) return;
  Experiment experiment(s, *usual);
  if (experiment.no_output_changes(all)) {
    std::ranges::for_each(all, [](SeenFinding* f) { drop_to_strict(*f); });
    return;
  }
  // Shared memory is filled once for all findings about it.
  const auto fills =
      std::ranges::stable_partition(all, [](const SeenFinding* f) { return of_shared_memory(*f); });
  const size_t filled = all.size() - fills.size();
  std::vector<std::span<SeenFinding* const>> groups;
  if (filled != 0) groups.emplace_back(all.data(), filled);
  for (size_t i = filled; i < std::min(all.size(), filled + most_findings); ++i)
    groups.emplace_back(&all[i], 1);
  if (groups.size() < 2) return;
  for (const auto& group : groups)
    if (experiment.no_output_changes(group))
      std::ranges::for_each(group, [](SeenFinding* f) { drop_to_strict(*f); });
}

}  // namespace palladion::cli
