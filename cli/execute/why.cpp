#include "cli/execute/why.h"

#include <fmt/format.h>

#include <memory>
#include <optional>

#include "cli/execute/execute.h"
#include "cli/support/output.h"
#include "cli/support/term.h"
#include "report/run/time_text.h"
#include "verify/arrays/words.h"
#include "verify/launch/timed_run.h"

namespace palladion::cli {
namespace {

// The kernel with one stage more, where the warps that multiply wait for full ones, else with one less.
std::vector<verify::Variant> variants_of(const Subject& subject, const RunRequest& request,
                                         const TimeReport& time) {
  constexpr double seldom = 0.02;  // of the consumers' time
  constexpr std::string_view name = "stages";
  const auto waits = sim::pipeline_waits(time.where);
  const auto now = subject.choice.settings.find(std::string(name));
  if (subject.kernel == nullptr || !waits || now == subject.choice.settings.end()) return {};
  const auto stages = number_in<int64_t>(now->second);
  if (!stages) return {};
  const bool fewer = waits->for_full < seldom;
  SubjectRequest other = request.subject;
  for (const kernels::Setting& s : subject.spec->settings)  // some defaults are no word that a user may write
    if (const std::string& word = subject.choice.word(s.name); word != s.fallback)
      other.settings[s.name] = word;
  other.settings[now->first] = std::to_string(*stages + (fewer ? -1 : 1));
  ClockSettings clock = *request.clock();
  clock.values = sim::Values::none;
  auto changed = load_subject(other, &clock);
  if (!changed) return {};  // too much shared memory
  const auto cycles = [changed = std::make_shared<Subject>(std::move(*changed))](
                          const sim::RunOptions& run) -> std::optional<uint64_t> {
    const sim::RunResult result = verify::timed_run(changed->job, *changed->arch, run);
    return result.completed ? std::optional(result.clock.cycles) : std::nullopt;
  };
  return {{fmt::format("{}={}", name, other.settings.at(now->first)), fewer, cycles}};
}

}  // namespace

WhyReport why_of(const Subject& subject, const Report& report, const RunRequest& request) {
  MachineRequest unlimited = request.machine;
  unlimited.max_instructions = 0;
  const sim::RunResult& result = report.sim->result;
  std::optional<Progress> progress;
  verify::WhyEvents events;
  events.planned = [&](const verify::WhyPlan& plan) {
    print_err(plan_text(plan));
    progress.emplace("what would help", plan.most);
  };
  events.done = [&](uint64_t done) { progress->update(done); };
  return verify::ask_why({.job = &subject.job,
                          .arch = subject.arch,
                          .run = run_options(subject, unlimited, request.clock()),
                          .clock = result.clock,
                          .registers = result.registers_per_thread,
                          .seconds = report.sim->seconds,
                          .variants = variants_of(subject, request, *report.time)},
                         events);
}

}  // namespace palladion::cli
