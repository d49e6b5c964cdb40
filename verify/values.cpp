#include "verify/values.h"

#include <algorithm>
#include <array>
#include <iterator>

#include "sim/check/catalogue/code.h"
#include "sim/check/catalogue/phrase.h"
#include "sim/check/values/other_values.h"
#include "verify/schedules/schedules.h"

namespace palladion::verify {
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
  Experiment(const TrialSetup& setup, const sim::check::Conditions& conditions, const Trial& usual)
      : setup_(setup), conditions_(conditions), usual_(usual) {
    setup_.checks = no_checks;
    // One warp does not execute more than all did; with other values it may loop for ever.
    setup_.run.max_warp_instructions = 2 * usual.outcome.result.instructions + 100'000;
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
      if (stopped(setup_.run)) return false;
      sim::check::OtherValues other(reads, shared, pattern);
      sim::Observer* const observers[] = {&other};
      const Trial trial = try_under(setup_, conditions_, nullptr, observers);
      return trial.outcome.result.completed && trial.output_hashes == usual_.output_hashes;
    });
  }

 private:
  TrialSetup setup_;
  const sim::check::Conditions& conditions_;
  const Trial& usual_;
};

void drop_to_strict(SeenFinding& s) {
  s.finding.severity = sim::FindingSeverity::strict;
  s.finding.notes.push_back(sim::say<sim::Phrase::no_output_depends>(patterns.size()));
}

}  // namespace

void examine_values(const TrialSetup& setup, const sim::check::Conditions& conditions, CheckReport& report) {
  const Trial* const usual = report.first_completed();
  if (usual == nullptr || usual->output_hashes.empty()) return;
  if (report.outputs_vary()) return;  // they depend on more than the values
  std::vector<SeenFinding*> all;
  for (SeenFinding& f : report.findings)
    if (can_be_examined(f)) all.push_back(&f);
  if (all.empty()) return;
  Experiment experiment(setup, conditions, *usual);
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

}  // namespace palladion::verify
