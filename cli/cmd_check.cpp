#include <fmt/format.h>

#include <algorithm>

#include "cli/commands.h"
#include "cli/files.h"
#include "cli/json.h"
#include "cli/term.h"

namespace palladion::cli {
namespace {

struct Trial {
  std::string schedule;
  kernels::SimOutcome outcome;
  bool same_outputs = true;  // as the first schedule's
};

// One schedule when the user names it.
std::vector<sim::Schedule> schedules_of(const Options& options) {
  using Kind = sim::Schedule::Kind;
  if (const auto named = schedule_of(options); named && named->kind != Kind::functional) return {*named};
  std::vector<sim::Schedule> out = {{Kind::functional, 0}, {Kind::earliest, 0}, {Kind::latest, 0}};
  for (unsigned i = 0; i < options.explore; ++i) out.push_back({Kind::seeded, options.seed + i});
  return out;
}

// The command that shows the same again, for a shell.
std::string replay_command(const Options& options, const std::string& schedule) {
  std::string text = "palladion run";
  for (size_t i = 0; i < options.words.size(); ++i) {
    const std::string& word = options.words[i];
    const std::string option = word.substr(0, word.find('='));
    if (option == "--explore" || option == "--json" || option == "--schedule") {
      i += option == word;
      continue;
    }
    const bool plain = word.find_first_of(" ()[]*?$&|;<>'\"\\") == std::string::npos;
    text += plain ? " " + word : fmt::format(" '{}'", word);
  }
  return text + " --schedule " + schedule;
}

bool equal_outputs(const std::vector<kernels::Array>& a, const std::vector<kernels::Array>& b) {
  return std::ranges::equal(
      a, b, [](const kernels::Array& x, const kernels::Array& y) { return x.bytes == y.bytes; });
}

std::string verdict(const Trial& trial) {
  const sim::RunResult& r = trial.outcome.result;
  if (!r.errors.empty()) return "refused";
  std::string text = r.findings.empty()
                         ? "no findings"
                         : fmt::format("{} finding{}", r.findings.size(), r.findings.size() == 1 ? "" : "s");
  if (r.interrupted) return text + ", interrupted";
  if (!r.completed) return text + ", not completed";
  return text + (trial.same_outputs ? ", the same outputs" : ", other outputs");
}

ExitCode code_of(const std::vector<Trial>& trials) {
  ExitCode code = exit_clean;
  for (const Trial& trial : trials) {
    Report report;
    report.sim.emplace();
    report.sim->result = trial.outcome.result;
    const ExitCode one = exit_code_of(report);
    if (code == exit_clean || one == exit_findings) code = one;
    if (code == exit_clean && !trial.same_outputs) code = exit_findings;
  }
  return code;
}

// A finding is shown where it is first seen; later schedules that see it again only count it.
void print_new_findings(const Trial& trial, const Options& options, std::vector<std::string>& seen) {
  for (const sim::Finding& f : trial.outcome.result.findings) {
    if (std::ranges::find(seen, f.code + f.message) != seen.end()) continue;
    seen.push_back(f.code + f.message);
    std::fflush(stdout);
    fmt::print(stderr, "{}   = replay: {}\n", sim::render(f), replay_command(options, trial.schedule));
  }
}

std::string json_text(const Subject& subject, const Options& options, const std::vector<Trial>& trials,
                      ExitCode code) {
  JsonWriter json;
  json.begin_object().member("command", "check");
  write_subject(json, subject);
  json.member("seed", options.seed).member("exit_code", int(code)).key("schedules").begin_array();
  for (const Trial& trial : trials) {
    const sim::RunResult& r = trial.outcome.result;
    json.begin_object()
        .member("schedule", trial.schedule)
        .member("completed", r.completed)
        .member("instructions", r.instructions);
    json.member("same_outputs", trial.same_outputs).key("errors");
    write_diagnostics(json, r.errors);
    json.key("findings");
    write_findings(json, r.findings);
    write_outputs(json, subject, trial.outcome.outputs);
    json.end_object();
  }
  json.end_array()
      .key("wall")
      .begin_object()
      .member("threads", host_threads(options))
      .key("sim_seconds")
      .begin_array();
  for (const Trial& trial : trials) json.value(trial.outcome.seconds);
  json.end_array().end_object().end_object();
  return json.text();
}

}  // namespace

Outcome<ExitCode> cmd_check(const Options& options) {
  if (const auto ok = check_run_options(options); !ok) return tl::make_unexpected(ok.error());
  if (options.on != "sim") return user_error("checks run on the simulator alone");
  auto subject = load_subject(options);
  if (!subject) return tl::make_unexpected(subject.error());
  fmt::print("{}", describe_subject(*subject));
  std::vector<Trial> trials;
  std::vector<std::string> seen;
  for (const sim::Schedule& schedule : schedules_of(options)) {
    Trial trial{sim::name(schedule), run_on_machine(*subject, options, schedule)};
    if (!trial.outcome.result.errors.empty())
      return failure_of(trial.outcome.result.errors, subject->job.ptx);
    if (!trials.empty() && trial.outcome.result.completed && trials.front().outcome.result.completed)
      trial.same_outputs = equal_outputs(trials.front().outcome.outputs, trial.outcome.outputs);
    fmt::print("{}", row(trial.schedule, verdict(trial)));
    print_new_findings(trial, options, seen);
    trials.push_back(std::move(trial));
    if (interrupted()) break;
  }
  ExitCode code = code_of(trials);
  if (options.reference && trials.front().outcome.result.completed)
    for (const NamedComparison& c : compare_with_reference(*subject, trials.front().outcome.outputs)) {
      fmt::print("{}", row("reference", describe_comparison(c)));
      if (!c.comparison.ok() && code == exit_clean) code = exit_findings;
    }
  if (!options.json.empty())
    if (const auto written = write_text(options.json, json_text(*subject, options, trials, code)); !written)
      return user_error(written.error());
  return code;
}

}  // namespace palladion::cli
