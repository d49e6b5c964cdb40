#include "verify/values.h"

#include <map>
#include <optional>
#include <utility>

#include "isa/core/hash.h"
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
  Rerun ask(OtherValues& other) {
    const auto left = run(other);
    return !left ? Rerun::no_end : left == usual_ ? Rerun::as_usual : Rerun::another_output;
  }

 private:
  // Nothing: it did not reach its end.
  std::optional<Left> run(OtherValues& other) {
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
    if (experiment.has_usual())
      examine(findings, [&](OtherValues& other) { return experiment.ask(other); });
    else
      for (SeenFinding* const s : findings)
        s->finding.notes.push_back(sim::say<sim::Phrase::reads_not_changed>());
  }
}

}  // namespace palladion::verify
