#include "verify/check.h"

#include <algorithm>
#include <utility>

#include "verify/explore/answers.h"
#include "verify/explore/freedoms.h"
#include "verify/schedules/schedules.h"
#include "verify/values.h"

namespace palladion::verify {
namespace {

// States of the search after it has found a problem.
constexpr uint64_t states_after_problem = 20'000;

class Check {
 public:
  Check(const Job& job, const isa::ArchSpec& arch, const CheckRequest& request,
        const Progress<CheckReport>& progress)
      : request_(request),
        progress_(progress),
        setup_{.job = job, .arch = arch, .run = request.run, .checks = request.checks} {
    setup_.run.stop = progress.stop;
    report_.races_checked = request.checks.race;
  }

  tl::expected<CheckReport, isa::Diagnostics> run() {
    try_schedules();
    if (!refused_.empty()) return tl::make_unexpected(std::move(refused_));
    if (request_.other_values) examine_values(setup_, report_);
    if (request_.checks.race) examine_copies(setup_, report_);
    sort_findings(report_.findings);
    report_.interrupted = progress_.stopped();
    judge(report_);
    return std::move(report_);
  }

 private:
  void try_schedules() {
    const bool records = request_.explore || request_.checks.any();
    std::vector<sim::Observer*> more = request_.first;
    if (records) more.push_back(&data_);
    const FirstTrial first{records ? &recorder_ : nullptr, more};
    const auto named = request_.only ? std::vector{*request_.only} : adverse_conditions();
    bool goes_on = try_all(setup_, std::span(named).first(1), 1, take_, first);
    report_.data = data_.scope();
    report_.others_skipped = named.size() > 1 && others_cannot_differ();
    if (goes_on && named.size() > 1 && !report_.others_skipped)
      goes_on = try_all(setup_, std::span(named).subspan(1), request_.together, take_);
    if (!goes_on) return;
    if (!request_.only && !(try_answers() && try_random())) return;
    if (!request_.explore || progress_.stopped()) return;
    const sim::RunResult& usual = report_.trials.front().outcome.result;
    if (!request_.only && !try_freedoms(setup_, usual, request_.together, take_)) return;
    if (!progress_.stopped()) search();
  }

  // Where the first run decides for the answers that its requests to cancel launches got: for all answers?
  // False: nothing more is tried.
  bool try_answers() {
    const auto under = report_.assumptions();
    if (!under || !under->answers || progress_.stopped()) return true;
    if (request_.stop_at_problem && has_problem()) return true;
    bool more = true;
    report_.answers_open = other_answers(setup_, report_.trials.front(),
                                         [&](Trial trial) { return more = take(std::move(trial)); });
    report_.decided |= report_.answers_open->empty() && !under->warps_together;
    return more;
  }

  // All schedules are known, and have this one's outputs, too.
  bool others_cannot_differ() const {
    return report_.decided && request_.checks.race && report_.findings.empty() && !request_.explore &&
           !report_.data.depends_on_order;
  }

  // False: nothing more is tried.
  bool try_random() {
    if (std::ranges::any_of(report_.trials, [](const Trial& t) { return was_given_up(t.outcome.result); }))
      return false;
    if (report_.decided) {
      report_.others_skipped |= request_.random != 0;
      return true;
    }
    if (request_.stop_at_problem && has_problem()) return false;
    return try_all(setup_, random_conditions(request_.seed, request_.random), request_.together, take_);
  }

  // False: nothing more is tried.
  bool take(Trial trial) {
    const sim::RunResult& result = trial.outcome.result;
    if (!result.errors.empty()) {
      refused_ = result.errors;
      return false;
    }
    compare(trial);
    merge_findings(report_.findings, result.findings, trial.schedule);
    report_.decided |= trial.decides();
    const bool more = !request_.stop_at_problem || result.completed;
    report_.trials.push_back(std::move(trial));
    if (progress_.step) progress_.step(report_);
    return more;
  }

  void compare(Trial& trial) {
    if (!trial.outcome.result.completed) return;
    const Trial* const first = report_.first_completed();
    trial.same_outputs = first == nullptr || first->output_hashes == trial.output_hashes;
    if (request_.compare && (first == nullptr || !trial.same_outputs))
      for (OutputComparison& output : request_.compare(trial.outcome.outputs))
        report_.reference.push_back({trial.schedule, std::move(output)});
    if (first != nullptr) trial.outcome.outputs.clear();  // 23 copies may be too many
  }

  void search() {
    report_.explored = explore_run(
        recorder_.recorded(), {.budget = *request_.explore, .budget_after_problem = states_after_problem},
        setup_.run.threads);
    for (sim::Finding& f : report_.explored->findings) f.kernel = setup_.job.entry;
    merge_findings(report_.findings, report_.explored->findings, std::string(exploration));
  }

  bool has_problem() const {
    return report_.wrong_outputs() || report_.hangs() ||
           std::ranges::any_of(report_.findings, [&](const SeenFinding& s) {
             return request_.strict || s.finding.severity != sim::FindingSeverity::strict;
           });
  }

  const CheckRequest& request_;
  const Progress<CheckReport>& progress_;
  TrialSetup setup_;
  CheckReport report_;
  isa::Diagnostics refused_;
  sim::check::SkeletonObserver recorder_;  // of the first trial
  sim::check::DataObserver data_;
  TakeTrial take_ = [this](Trial trial) { return take(std::move(trial)); };
};

std::vector<std::string> incomplete_reasons_of(const CheckReport& report) {
  std::vector<std::string> all;
  const auto add = [&](const std::string& reason) {
    if (std::ranges::find(all, reason) == all.end()) all.push_back(reason);
  };
  for (const Trial& t : report.trials) {
    sim::RunResult result;
    result.interrupted = t.outcome.result.interrupted;
    result.completed = t.ended();
    for (const std::string& r : incomplete_reasons(result, t.watched ? &*t.watched : nullptr)) add(r);
  }
  if (report.explored && !report.explored->all_schedules) {
    const std::string& verdict = report.explored->verdict;
    add("exploration: " + verdict.substr(verdict.find(' ') + 1));  // without its first word, "incomplete:"
  }
  return all;
}

Verdict verdict_of(const CheckReport& report) {
  if (report.interrupted) return interrupted_verdict(report.findings);
  if (count_findings(report.findings).errors == 0 && report.wrong_outputs())
    return {Verdict::Word::errors, report.reference.empty() ? "outputs depend on the schedule"
                                                            : "outputs differ from the reference"};
  return verdict_of(report.findings, report.incomplete);
}

}  // namespace

const Trial* CheckReport::first_completed() const {
  const auto at = std::ranges::find_if(trials, [](const Trial& t) { return t.outcome.result.completed; });
  return at == trials.end() ? nullptr : &*at;
}

bool CheckReport::outputs_vary() const { return !std::ranges::all_of(trials, &Trial::same_outputs); }

bool CheckReport::wrong_outputs() const {
  if (reference.empty()) return !races_checked && outputs_vary();
  return !std::ranges::all_of(reference,
                              [](const ReferenceComparison& c) { return c.output.comparison.ok(); });
}

bool CheckReport::knows_all_schedules() const {
  return decided || (explored && explored->all_schedules && !explored->frozen);
}

std::optional<sim::check::Assumptions> CheckReport::assumptions() const {
  if (knows_all_schedules()) return sim::check::Assumptions{};
  if (trials.empty() || !trials.front().watched || !trials.front().watched->decision) return {};
  auto under = trials.front().watched->decision->under;
  if (under && answers_open && answers_open->empty()) under->answers = false;
  return under;
}

bool CheckReport::holds_for_smaller_grids() const {
  return knows_all_schedules() && races_checked && incomplete.empty() && findings.empty() &&
         !data.depends_on_grid;
}

std::vector<std::string> CheckReport::written_inputs() const {
  std::vector<std::string> out;
  for (const Trial& t : trials)
    for (const std::string& name : t.written_inputs)
      if (std::ranges::find(out, name) == out.end()) out.push_back(name);
  return out;
}

bool CheckReport::hangs() const { return !std::ranges::all_of(trials, &Trial::ended); }

void judge(CheckReport& report) {
  report.incomplete = incomplete_reasons_of(report);
  report.verdict = verdict_of(report);
  report.verdict.scope = {.all_schedules = report.knows_all_schedules(),
                          .under = report.assumptions(),
                          .tried = report.trials.size()};
}

tl::expected<CheckReport, isa::Diagnostics> check(const Job& job, const isa::ArchSpec& arch,
                                                  const CheckRequest& request,
                                                  const Progress<CheckReport>& progress) {
  return Check(job, arch, request, progress).run();
}

}  // namespace palladion::verify
