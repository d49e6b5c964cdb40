#include <fmt/format.h>

#include <algorithm>

#include "cli/check/check_run.h"
#include "cli/findings/findings_json.h"
#include "cli/support/term.h"

namespace palladion::cli {
namespace {

std::string findings_row(const CheckReport& report) {
  const FindingCounts n = count_findings(report.findings);
  const std::string text = n.told() == 0 ? "none" : fmt::format("{}, see above", n.told());
  return n.suppressed == 0 ? text : fmt::format("{}; {} suppressed", text, n.suppressed);
}

// The run that saw most: schedules differ in how often a warp polls, hardly in more.
const Watched* widest(const CheckReport& report) {
  const Watched* best = nullptr;
  for (const Trial& t : report.trials)
    if (t.watched && (best == nullptr || t.watched->coverage.accesses > best->coverage.accesses))
      best = &*t.watched;
  return best;
}

// Why one run does not speak for all schedules; empty when nobody looked.
std::string undecided_text(const CheckReport& report) {
  if (report.trials.empty() || !report.trials.front().watched) return {};
  const auto& decision = report.trials.front().watched->decision;
  return decision && !decision->decided ? "; not decided for all others: " + decision->reason : std::string();
}

std::string explored_text(const sim::check::ExploreReport& e) {
  return fmt::format("{}; {}", e.verdict, e.coverage);
}

void write_exploration(JsonWriter& json, const Options& options, const sim::check::ExploreReport& e) {
  json.key("exploration").begin_object().member("budget", *options.explore);
  json.member("verdict", e.verdict).member("all_schedules", e.all_schedules).member("frozen", e.frozen);
  json.member("clusters", e.clusters).member("skeletons", e.skeletons).member("forced", e.forced);
  json.member("states", e.states).member("classes", e.classes).member("findings", e.findings.size());
  json.member("coverage", e.coverage).end_object();
}

std::string schedules_text(const CheckReport& report) {
  const size_t n = report.trials.size();
  std::string text = fmt::format("{} schedule{}", n, n == 1 ? "" : "s");
  text += report.decided ? "; decided for all schedules by one run" : undecided_text(report);
  if (report.seeds_skipped) text += " (random ones with --seeds)";
  return text;
}

void print_reference(const CheckReport& report, bool color) {
  for (const auto& [schedule, c] : report.reference) {
    const Style style = c.comparison.ok() ? Style::green : Style::red;
    const std::string who = report.reference.size() > 1 ? fmt::format("{}, {}: ", c.output, schedule) : "";
    fmt::print("{}", row("reference", paint(who + describe_comparison(c), style, color)));
  }
}

void write_trial(JsonWriter& json, const Trial& trial) {
  const sim::RunResult& r = trial.outcome.result;
  json.begin_object().member("schedule", trial.schedule).member("completed", r.completed);
  json.member("interrupted", r.interrupted).member("instructions", r.instructions);
  json.member("findings", r.findings.size()).member("same_outputs", trial.same_outputs);
  json.key("output_hashes").begin_array();
  for (const std::string& hash : trial.output_hashes) json.value(hash);
  json.end_array();
  if (trial.watched) write_coverage(json, *trial.watched);
  json.end_object();
}

void write_wall(JsonWriter& json, const Options& options, const CheckReport& report) {
  json.key("wall").begin_object().member("threads", host_threads(options));
  json.key("sim_seconds").begin_array();
  for (const Trial& trial : report.trials) json.value(trial.outcome.seconds);
  json.end_array().end_object();
}

}  // namespace

void print_check(const Subject& subject, const Options& options, const CheckReport& report) {
  const bool color = wants_color(stdout);
  FindingView view = view_of(subject, options, stderr);
  view.schedules = report.trials.size();
  std::fflush(stdout);
  fmt::print(stderr, "{}{}", findings_text(report.findings, view), report.unused_suppressions);
  print_reference(report, color);
  fmt::print("{}", row("findings", findings_row(report)));
  fmt::print("{}", row("schedules", schedules_text(report)));
  if (report.explored) fmt::print("{}", row(exploration, explored_text(*report.explored)));
  if (const Watched* watched = widest(report))
    fmt::print("{}", row("coverage", coverage_text(watched->coverage)));
  fmt::print("{}", row("verdict", verdict_text(report.verdict, color)));
}

std::string check_json(const Subject& subject, const Options& options, const CheckReport& report) {
  JsonWriter json;
  json.begin_object().member("command", "check");
  write_subject(json, subject);
  json.member("seed", options.seed).member("exit_code", int(report.exit_code));
  write_verdict(json, report.verdict);
  json.member("decided_by_one_run", report.decided).key("findings");
  write_findings(json, report.findings);
  if (!report.trials.empty()) write_outputs(json, subject, report.trials.front().outcome.outputs);
  json.key("schedules").begin_array();
  for (const Trial& trial : report.trials) write_trial(json, trial);
  json.end_array().key("reference").begin_array();
  for (const auto& [schedule, c] : report.reference) write_comparison(json, c, schedule);
  json.end_array();
  if (report.explored) write_exploration(json, options, *report.explored);
  write_wall(json, options, report);
  json.end_object();
  return json.text();
}

}  // namespace palladion::cli
