#include "verify/values.h"

#include <algorithm>
#include <map>
#include <optional>
#include <set>
#include <utility>

#include "isa/core/hash.h"
#include "sim/check/values/stored_terms.h"
#include "sim/launch/phrases/phrase.h"
#include "verify/schedules/schedules.h"
#include "verify/verdict/arbitrary.h"

namespace palladion::verify {
namespace {

using sim::check::OtherValues;

constexpr size_t most_experiments = 16;

// What a run leaves that the host can see.
struct Left {
  std::multimap<std::string, uint64_t> memory;
  std::string printed;
  bool operator==(const Left&) const = default;
};

// A hash of each array of global memory, by name, when the run is over.
class MemoryHashes final : public sim::Observer {
 public:
  void start(const sim::RunView& run) override { run_ = run; }
  void observe(sim::ClusterState&, sim::ClusterEvents&) override {}
  void finish(std::vector<sim::Finding>&) override {
    run_.memory->for_each([&](const sim::Allocation& a) {
      hashes.emplace(a.name, isa::Fnv1a().add(std::as_bytes(std::span(a.bytes, a.size))).value());
    });
  }
  std::multimap<std::string, uint64_t> hashes;

 private:
  sim::RunView run_;
};

// Runs of a launch with other values, under the conditions of one schedule.
class Experiment {
 public:
  Experiment(const TrialSetup& setup, sim::check::Conditions conditions)
      : setup_(setup), conditions_(std::move(conditions)) {
    setup_.checks = no_checks;
    OtherValues same({}, 0);
    usual_ = run(same);
  }

  bool has_usual() const { return usual_.has_value(); }
  Rerun ask(sim::Observer& other) {
    const auto left = run(other);
    return !left ? Rerun::no_end : left == usual_ ? Rerun::as_usual : Rerun::another_output;
  }

 private:
  // Nothing: it did not reach its end.
  std::optional<Left> run(sim::Observer& other) {
    MemoryHashes memory;
    sim::Observer* const observers[] = {&other, &memory};
    Trial trial = try_under(setup_, conditions_, nullptr, observers);
    sim::RunResult& result = trial.outcome.result;
    // One warp does not execute more than all did; with other values it may loop for ever.
    if (!usual_) setup_.run.max_warp_instructions = 2 * result.instructions + 100'000;
    if (!result.completed) return std::nullopt;
    Left left{std::move(memory.hashes), std::move(result.printed)};
    for (const Buffer& b : setup_.job.buffers)
      if (b.role == Role::scratch || b.role == Role::profile) left.memory.erase(b.name);
    return left;
  }

  TrialSetup setup_;
  sim::check::Conditions conditions_;
  std::optional<Left> usual_;
};

// The findings of each schedule that showed one first; of those beyond `most_experiments` it is not decided.
std::map<std::string, std::vector<SeenFinding*>> by_schedule(CheckReport& report,
                                                             bool (*is_examined)(const SeenFinding&)) {
  std::map<std::string, std::vector<SeenFinding*>> all;
  size_t experiments = 0;
  for (SeenFinding& s : report.findings) {
    if (!is_examined(s)) continue;
    if (is_about_stores(s) || experiments++ < most_experiments)
      all[s.schedules.front()].push_back(&s);
    else
      s.finding.notes.push_back(sim::say<sim::Phrase::too_many_experiments>(uint64_t{most_experiments}));
  }
  return all;
}

void examine_some(const TrialSetup& setup, CheckReport& report, bool (*is_examined)(const SeenFinding&)) {
  for (const auto& [schedule, findings] : by_schedule(report, is_examined)) {
    const auto conditions = sim::check::conditions_named(schedule);
    if (!conditions || stopped(setup.run)) continue;  // of the search: no run showed it
    Experiment experiment(setup, *conditions);
    if (experiment.has_usual())
      examine(findings, [&](sim::Observer& other) { return experiment.ask(other); });
    else if (is_examined == is_about_reads)
      for (SeenFinding* const s : findings)
        s->finding.notes.push_back(sim::say<sim::Phrase::reads_not_changed>());
  }
}

}  // namespace

void examine_values(const TrialSetup& setup, CheckReport& report) {
  const Trial* const usual = report.first_completed();
  if (usual == nullptr) return;
  examine_some(setup, report, is_about_stores);
  // Outputs that vary depend on more than the values that are read.
  if (!usual->output_hashes.empty() && !report.outputs_vary()) examine_some(setup, report, is_about_reads);
}

// Where all threads that store at one place store copies of one value for all data, the run is still one for
// all data.
void examine_copies(const TrialSetup& setup, CheckReport& report) {
  using sim::check::StoredTerms;
  const Trial* const usual = report.first_completed();
  if (usual == nullptr || !usual->watched || !report.assumptions() || stopped(setup.run)) return;
  std::set<sim::SourcePlace> places, known;  // known: a finding says it
  for (const SeenFinding& s : report.findings) {
    if (std::ranges::any_of(s.finding.notes, [](const sim::Statement& note) {
          return note.phrase == sim::Phrase::same_terms;
        }))
      known.merge(places_of_stores(s.finding));
    if (const auto* race = std::get_if<sim::Race>(&s.finding.what); race != nullptr && race->equal_values)
      places.merge(places_of_stores(s.finding));
  }
  std::set<sim::Pc> pcs = usual->watched->coverage.copies;
  if (places.empty() && pcs.empty()) return;
  const auto conditions = sim::check::conditions_named(usual->schedule);
  if (!conditions) return;
  StoredTerms terms(places, std::move(pcs));
  sim::Observer* const observers[] = {&terms};
  TrialSetup unchecked = setup;
  unchecked.checks = no_checks;
  if (!try_under(unchecked, *conditions, nullptr, observers).outcome.result.completed) return;
  using Kind = sim::check::DataDependence::Kind;
  for (const auto& [pc, store] : terms.stores())
    if (store.copies != StoredTerms::Copies::one &&
        (store.copies != StoredTerms::Copies::reordered || !known.contains(place_of(store.site))))
      report.data.dependences.push_back({Kind::value, store.load, store.site});
}

}  // namespace palladion::verify
