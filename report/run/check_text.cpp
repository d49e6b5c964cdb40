#include "report/run/check_text.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <iterator>

#include "report/json/findings_json.h"
#include "report/run/run_json.h"
#include "report/text/paint.h"
#include "report/text/scope.h"

namespace palladion::report {
namespace {

using verify::CheckReport;

// The run with the largest coverage: schedules differ in how often a warp polls, hardly in more.
const Watched* widest(const CheckReport& report) {
  const Watched* best = nullptr;
  for (const verify::Trial& t : report.trials)
    if (t.watched && (best == nullptr || t.watched->coverage.accesses > best->coverage.accesses))
      best = &*t.watched;
  return best;
}

std::vector<std::string> sentences(const sim::check::Assumptions& under) {
  std::vector<std::string> out;
  if (under.warps_together) out.emplace_back("lanes of a warp that return from one wait go on together");
  if (under.answers) out.emplace_back("requests to cancel launches get the answers that they got here");
  return out;
}

// Why one run does not decide for all schedules; empty when this was not examined.
std::string undecided_text(const CheckReport& report) {
  if (report.trials.empty() || !report.trials.front().watched) return {};
  const auto& decision = report.trials.front().watched->decision;
  if (!decision || decision->decided) return {};
  const auto under = report.assumptions();
  if (!under) return "; not decided for all others: " + decision->reason;
  std::string why = decision->reason;
  if (under->answers && report.answers_open) why += "; " + *report.answers_open;
  return fmt::format("; decided for all in which {}; not for the others: {}",
                     fmt::join(sentences(*under), " and "), why);
}

std::string explored_text(const sim::check::ExploreReport& e) {
  return fmt::format("{}; {}", e.verdict, e.coverage);
}

json::object exploration_json(uint64_t budget, const sim::check::ExploreReport& e) {
  return {{"budget", budget},
          {"verdict", e.verdict},
          {"all_schedules", e.all_schedules},
          {"frozen", e.frozen},
          {"clusters", e.clusters},
          {"skeletons", e.skeletons},
          {"forced", e.forced},
          {"states", e.states},
          {"classes", e.classes},
          {"findings", e.findings.size()},
          {"coverage", e.coverage}};
}

std::string schedules_text(const CheckReport& report) {
  const size_t n = report.trials.size();
  std::string text = fmt::format("{} schedule{}", n, n == 1 ? "" : "s");
  // A race's outputs vary, also where one run shows which findings there are.
  const bool vary = report.outputs_vary();
  if (report.decided)
    text += fmt::format("; {}decided for all schedules by {}", vary ? "findings " : "",
                        report.answers_open ? "a run for each number of cancelled launches" : "one run");
  else
    text += undecided_text(report);
  if (report.others_skipped && vary)
    text += " (random ones cannot add any, but give other outputs)";
  else if (report.others_skipped)
    text += n == 1 ? " (others cannot differ)" : " (random ones cannot differ)";
  return text;
}

std::string reference_text(const Launched& launched, const CheckReport& report, bool color) {
  const std::string_view label_of_row =
      launched.reference == Launched::Reference::device ? "device" : "reference";
  std::string text;
  for (const auto& [schedule, c] : report.reference) {
    const Style style = c.comparison.ok() ? Style::green : Style::red;
    const std::string label = report.reference.size() > 1 ? fmt::format("{}, {}: ", c.output, schedule) : "";
    text += row(label_of_row, paint(label + describe_comparison(c), style, color));
  }
  if (launched.reference == Launched::Reference::missing)
    text += row("reference", "no reference: outputs are compared between schedules alone");
  return text;
}

json::object scope_json(const CheckReport& report) {
  const auto under = report.assumptions();
  std::string schedules = under ? "all" : "these";
  if (under && under->warps_together) schedules += " that keep warps together";
  if (under && under->answers) schedules += under->warps_together ? " and" : " that";
  if (under && under->answers) schedules += " cancel no other launches";
  return {{"schedules", schedules},
          {"data", under ? scope_name(report.data) : "these data"},
          {"grid", report.holds_for_smaller_grids() ? "this grid and smaller ones" : "this grid"}};
}

constexpr std::string_view elected =
    "elect.sync elects the lowest of its members, as an H200 does; PTX leaves open which one, `--explore` "
    "tries others";

// What the scope rests on, and why it is no wider.
std::vector<std::string> assumptions(const Launched& launched, const CheckReport& report) {
  if (const auto under = report.assumptions()) {
    std::vector<std::string> all = sentences(*under);
    if (under->answers && report.answers_open) all.back() += " (" + *report.answers_open + ")";
    if (report.data.elects) all.emplace_back(elected);
    std::ranges::move(scope_reasons(report.data, launched.ptx_name), std::back_inserter(all));
    return all;
  }
  if (report.trials.empty() || !report.trials.front().watched) return {};
  const auto& decision = report.trials.front().watched->decision;
  return decision ? std::vector{decision->reason} : std::vector<std::string>();
}

json::object trial_json(const verify::Trial& trial) {
  const sim::RunResult& r = trial.outcome.result;
  json::object out = {{"schedule", trial.schedule},
                      {"completed", r.completed},
                      {"interrupted", r.interrupted},
                      {"instructions", r.instructions},
                      {"findings", r.findings.size()},
                      {"same_outputs", trial.same_outputs},
                      {"output_hashes", array_of(trial.output_hashes, hash_text)}};
  if (trial.watched) out.emplace("coverage", coverage_json(*trial.watched));
  return out;
}

json::object wall_json(unsigned threads, const CheckReport& report) {
  const auto seconds = [](const verify::Trial& trial) { return trial.outcome.seconds; };
  return {{"threads", threads}, {"sim_seconds", array_of(report.trials, seconds)}};
}

}  // namespace

std::vector<Part> check_text(const Launched& launched, const CheckReport& report, const CheckView& view) {
  std::string text = reference_text(launched, report, view.color);
  text += row("findings", findings_count_text(report.findings));
  text += row("schedules", schedules_text(report));
  if (report.assumptions()) text += row("data", scope_text(report.data, launched.ptx_name));
  if (report.explored) text += row(verify::exploration, explored_text(*report.explored));
  if (const Watched* watched = widest(report)) text += row("coverage", coverage_text(watched->coverage));
  text += row("verdict", verdict_text(report.verdict, view.color));
  FindingView findings = view.findings;
  findings.schedules = report.trials.size();
  return {{Part::To::err, findings_text(report.findings, findings) + view.unused_suppressions},
          {Part::To::out, std::move(text)}};
}

std::string check_json(const Launched& launched, const CheckReport& report, const Checked& checked) {
  json::object out = {{"command", "check"}};
  append(out, launched_json(launched));
  append(out, {{"seed", checked.seed}, {"exit_code", checked.exit_code}});
  append(out, verdict_json(report.verdict));
  append(out, {{"decided_by_one_run", report.decided},
               {"decided", report.knows_all_schedules()},
               {"scope", scope_json(report)},
               {"assumptions", array_of(assumptions(launched, report))},
               {"findings", findings_json(report.findings)}});
  if (!report.trials.empty())
    out.emplace("outputs", outputs_json(*launched.job, report.trials.front().outcome.outputs));
  const auto comparison = [](const auto& c) { return comparison_json(c.output, c.schedule); };
  append(out, {{"schedules", array_of(report.trials, trial_json)},
               {"reference", array_of(report.reference, comparison)}});
  if (report.explored) out.emplace("exploration", exploration_json(checked.explore, *report.explored));
  out.emplace("wall", wall_json(checked.threads, report));
  return json_text(out);
}

}  // namespace palladion::report
