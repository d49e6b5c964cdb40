#include "cuda/driver/launch/other_schedules.h"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>

#include "sim/explore/decide.h"
#include "sim/explore/report.h"
#include "verify/verdict/watch.h"

namespace palladion::cuda::driver {
namespace {

// As `palladion check` has them.
constexpr size_t random_schedules = 20;
constexpr uint64_t states = 100'000, states_after_problem = 20'000;

// `number` schedules, those first that differ most, without the one that ran.
std::vector<sim::Schedule> others_than(const sim::Schedule& own, size_t number) {
  using Kind = sim::Schedule::Kind;
  std::vector<sim::Schedule> out;
  for (const Kind kind : {Kind::functional, Kind::latest, Kind::earliest}) out.push_back({kind, 0});
  for (uint64_t seed = 0; out.size() <= number; ++seed) out.push_back({Kind::seeded, seed});
  std::erase_if(out, [&](const sim::Schedule& s) { return s.kind == own.kind && s.seed == own.seed; });
  out.resize(std::min(out.size(), number));
  return out;
}

}  // namespace

SchedulesAsked schedules_asked(const std::string& text) {
  SchedulesAsked asked{.all = text == "all"};
  std::from_chars(text.data(), text.data() + text.size(), asked.number);
  return asked;
}

OtherSchedules::OtherSchedules(const SchedulesAsked& asked, const sim::check::Options& checks)
    : asked_(asked), checks_(checks) {}

void OtherSchedules::begin(sim::Machine& machine) {
  if (asked_.several()) before_ = machine.memory().image();
}

Judged OtherSchedules::judge(sim::Machine& machine, const sim::Launch& launch, const sim::RunOptions& options,
                             const sim::check::Coverage* coverage) {
  Judged judged;
  if (coverage != nullptr) judged.decided = decide_run(recorder_.recorded(), *coverage).decided;
  if (!before_) return judged;
  const sim::MemoryImage after = machine.memory().image();
  try_schedules(machine, launch, options, after, judged);
  machine.memory().restore(after);
  if (asked_.all && !judged.decided && coverage != nullptr) search(launch.entry, judged);
  return judged;
}

// One run that decides makes random schedules needless.
void OtherSchedules::try_schedules(sim::Machine& machine, const sim::Launch& launch,
                                   const sim::RunOptions& options, const sim::MemoryImage& after,
                                   Judged& judged) const {
  constexpr size_t adverse = 3;
  size_t number = asked_.all ? adverse + random_schedules : asked_.number;
  if (judged.decided) number = std::min(number, adverse);
  for (const sim::Schedule& schedule : others_than(options.schedule, number - 1)) {
    machine.memory().restore(*before_);
    verify::Watch watch(checks_);
    sim::RunOptions other = options;
    other.schedule = schedule;
    other.observer = watch.observer();
    const sim::RunResult result = machine.run(launch, other);
    verify::merge_findings(judged.findings, result.findings, sim::name(schedule));
    judged.outputs_vary |= result.completed && !(machine.memory().image() == after);
    ++judged.tried;
  }
}

void OtherSchedules::search(const std::string& entry, Judged& judged) const {
  auto found =
      explore_run(recorder_.recorded(), {.budget = states, .budget_after_problem = states_after_problem});
  for (sim::Finding& f : found.findings) f.kernel = entry;
  verify::merge_findings(judged.findings, found.findings, std::string(verify::exploration));
  judged.decided = found.all_schedules && !found.frozen;
}

}  // namespace palladion::cuda::driver
