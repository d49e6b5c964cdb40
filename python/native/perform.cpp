#include "python/native/perform.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstring>
#include <thread>

#include "isa/host/files.h"
#include "report/html/error_map.h"
#include "report/html/recording.h"
#include "report/html/run_page.h"
#include "report/run/check_text.h"
#include "report/run/run_json.h"
#include "report/run/time_report.h"
#include "report/text/finding_text.h"
#include "verify/check.h"

namespace palladion::python {

std::atomic<bool> stopped = false;

namespace {

using report::NamedComparison;
using report::SeenFinding;

struct Asked {
  sim::check::Conditions conditions;
  bool one_schedule = false;  // of a check: the one that was named
  sim::check::Options checks;
  sim::RunOptions run;
  bool clock = false;  // the hardware schedule
  const isa::ClockParameters* parameters = nullptr;
  bool why = false, strict = false, page = false;
  Tolerance tolerance;
};

unsigned all_threads(int64_t given) {
  return given > 0 ? unsigned(given) : std::max(1U, std::thread::hardware_concurrency());
}

Outcome<void> take_schedule(Asked& asked, const Request& request, const isa::ArchSpec& arch) {
  asked.one_schedule = request.has("schedule");
  const std::string word = request.text("schedule", "functional");
  const auto conditions = sim::check::conditions_named(word);
  if (!conditions)
    return host::user_error(fmt::format("there is no schedule `{}`", word),
                            "functional, hardware, seeded:N, latest, earliest");
  asked.conditions = *conditions;
  asked.clock = conditions->schedule.kind == sim::Schedule::Kind::hardware;
  if (!asked.clock) return {};
  asked.parameters = isa::find_clock(arch.name);
  if (asked.parameters == nullptr)
    return host::unsupported(fmt::format("the clock has no parameters of {}", arch.name));
  asked.run.parameters = asked.parameters;
  asked.run.l2 = request.text("l2", "cold") == "warm" ? sim::L2Start::warm : sim::L2Start::cold;
  asked.run.values = request.text("values", "full") == "none" ? sim::Values::none : sim::Values::full;
  return {};
}

Outcome<Asked> asked_in(const Request& request, const isa::ArchSpec& arch) {
  Asked asked;
  if (const auto taken = take_schedule(asked, request, arch); !taken)
    return tl::make_unexpected(taken.error());
  std::string unknown;
  const auto checks = sim::check::options_named(request.text("checks", "all"), &unknown);
  if (!checks)
    return host::user_error(fmt::format("there is no check `{}`", unknown),
                            "all, none, or some of race, barrier, memory, numerics");
  asked.checks = *checks;
  asked.run.threads = all_threads(request.number("threads"));
  asked.run.max_warp_instructions = uint64_t(request.number("max_instructions", int64_t{1} << 30));
  asked.run.fmad = request.flag("fmad", true);
  asked.run.stop = &stopped;
  asked.why = request.flag("why");
  asked.strict = request.flag("strict");
  asked.page = request.flag("page");
  asked.tolerance = {request.real("relative"), request.real("absolute")};
  return asked;
}

std::shared_ptr<report::PageRecording> recording_of(const LaunchedJob& launched, const Asked& asked) {
  if (!asked.page) return nullptr;
  traces::RecorderOptions options;
  options.unit = asked.clock ? traces::TimeUnit::sm_cycles : traces::TimeUnit::warp_instructions;
  if (!asked.clock) options.ctas = {traces::CtaChoice::Kind::ctas, 0, 0};
  traces::Header header{.title = fmt::format("{}, {}, {}", launched.program->name,
                                             launched.program->arch->name, name(asked.conditions)),
                        .unit = options.unit};
  if (asked.parameters != nullptr) header.sm_clock_mhz = asked.parameters->sm_clock;
  return std::make_shared<report::PageRecording>(header, options);
}

report::FindingView view_of(const Program& program) {
  report::FindingView view;
  view.ptx_name = program.path;
  view.ptx = program.ptx;
  view.folder = host::current_folder();
  view.source_line = [&program](const std::string& file, uint32_t line) {
    return shows_source(program, file) ? report::read_source_line(file, line) : std::string();
  };
  return view;
}

// What an answer is made of.
struct Performed {
  std::string report;  // JSON
  std::vector<SeenFinding> findings;
  std::vector<NamedComparison> comparisons;
  std::vector<std::string> written_inputs;
  std::shared_ptr<report::PageRecording> recording;
};

std::string page_of(const LaunchedJob& launched, const Asked& asked, const Performed& done) {
  const Program& program = *launched.program;
  std::vector<const NamedComparison*> comparisons;
  for (const NamedComparison& c : done.comparisons) comparisons.push_back(&c);
  const auto read = [&](const std::string& file, uint64_t most) -> std::optional<std::string> {
    if (!shows_source(program, file)) return std::nullopt;
    auto text = host::read_text(file, most);
    return text ? std::optional(std::move(*text)) : std::nullopt;
  };
  return report::run_page({.launched = launched.launched(!comparisons.empty()),
                           .report = done.report,
                           .recording = done.recording.get(),
                           .findings = done.findings,
                           .comparisons = comparisons,
                           .clock = asked.parameters,
                           .folder = host::current_folder(),
                           .read_source = read});
}

std::string answer(const LaunchedJob& launched, const Asked& asked, const Performed& done) {
  const report::FindingView view = view_of(*launched.program);
  json::object rest = {{"texts", report::array_of(done.findings, [&](const SeenFinding& seen) {
                          return report::finding_text(seen, view);
                        })}};
  if (asked.page) rest.emplace("page", page_of(launched, asked, done));
  std::string text = report::json_line(rest);
  return text.insert(1, fmt::format("\"report\":{},", done.report));
}

// ---- outputs ----

std::vector<size_t> output_buffers(const Job& job) {
  std::vector<size_t> out;
  for (size_t i = 0; i < job.buffers.size(); ++i)
    if (job.is_output(i)) out.push_back(i);
  return out;
}

void give_outputs(const LaunchedJob& launched, const std::vector<Array>& outputs, void* const* into) {
  if (into == nullptr || outputs.empty()) return;
  const std::vector<size_t> buffers = output_buffers(launched.job);
  for (size_t i = 0; i < buffers.size(); ++i)
    if (buffers[i] < launched.arrays && into[buffers[i]] != nullptr)
      std::memcpy(into[buffers[i]], outputs[i].bytes.data(), outputs[i].bytes.size());
}

// Of the outputs that have a wanted array, or of all that a device left.
std::vector<NamedComparison> comparisons_of(const LaunchedJob& launched, const Asked& asked,
                                            const std::vector<Array>& outputs, const void* const* wanted) {
  std::vector<NamedComparison> out;
  if (outputs.empty()) return out;
  if (launched.program->recorded) {
    for (auto& c : verify::compare_with_recorded(*launched.program->recorded, launched.job, outputs))
      out.push_back({std::move(c)});
    return out;
  }
  if (wanted == nullptr) return out;
  const std::vector<size_t> buffers = output_buffers(launched.job);
  std::vector<Array> references = outputs;
  for (size_t i = 0; i < buffers.size(); ++i)
    if (wanted[buffers[i]] != nullptr)
      std::memcpy(references[i].bytes.data(), wanted[buffers[i]], references[i].bytes.size());
  auto all = verify::compare_outputs(launched.job, outputs, references, asked.tolerance);
  for (size_t i = 0; i < all.size(); ++i) {
    if (wanted[buffers[i]] == nullptr) continue;
    out.push_back({std::move(all[i])});
    if (asked.page)
      out.back().map = report::error_map(outputs[i], references[i], asked.tolerance, out.back().comparison);
  }
  return out;
}

// ---- run ----

int exit_code_of(const std::vector<SeenFinding>& findings, bool completed, bool wrong, bool strict) {
  const verify::FindingCounts n = verify::count_findings(findings);
  if (n.errors != 0 || wrong || (strict && n.strict != 0)) return 1;
  if (n.unknown != 0 || n.unsupported != 0) return 3;
  return completed ? 0 : 1;
}

void take_time(report::Report& report, const LaunchedJob& launched, const Asked& asked) {
  const sim::RunResult& result = report.sim->result;
  if (!asked.clock || result.clock.cycles == 0 || !result.completed) return;
  const isa::ArchSpec& arch = *launched.program->arch;
  report.time = report::time_report(launched.job, arch, {}, asked.run.l2, asked.run.values, result);
  if (!asked.why) return;
  sim::RunOptions unlimited = asked.run;
  unlimited.max_warp_instructions = 0;
  report.time->why = verify::ask_why({.job = &launched.job,
                                      .arch = &arch,
                                      .run = unlimited,
                                      .clock = result.clock,
                                      .registers = result.registers_per_thread,
                                      .seconds = report.sim->seconds,
                                      .variants = {}});
}

Outcome<Performed> run(LaunchedJob& launched, const Asked& asked, void* const* outputs,
                       const void* const* wanted) {
  Performed done;
  done.recording = recording_of(launched, asked);
  std::vector<sim::Observer*> observers;
  if (done.recording) std::ranges::copy(done.recording->observers(), std::back_inserter(observers));
  sim::RunOptions options = asked.run;
  asked.conditions.apply(options);
  const Job& job = launched.job;
  const uint64_t clusters = job.grid.count() / std::max<uint64_t>(1, job.cluster.count());
  options.threads = unsigned(std::clamp<uint64_t>(clusters, 1, options.threads));  // more would only wait
  report::Report report;
  report.command = "run";
  report.schedule = name(asked.conditions);
  report.threads = options.threads;
  report.strict = asked.strict;
  verify::CheckedRun ran =
      verify::run_checked(launched.job, *launched.program->arch, options, asked.checks, nullptr, observers);
  if (!ran.outcome.result.errors.empty())
    return host::failure_of(ran.outcome.result.errors, launched.program->ptx);
  merge_findings(done.findings, ran.outcome.result.findings, report.schedule);
  sort_findings(done.findings);
  report.findings = done.findings;
  done.written_inputs = launched.written_inputs();
  report.sim = std::move(ran.outcome);
  report.watched = std::move(ran.watched);
  if (done.recording) done.recording->finish(nullptr);
  take_time(report, launched, asked);
  const bool completed = report.sim->result.completed;
  if (completed) {
    give_outputs(launched, report.sim->outputs, outputs);
    done.comparisons = comparisons_of(launched, asked, report.sim->outputs, wanted);
  }
  report.reference = done.comparisons;
  const bool wrong = std::ranges::any_of(done.comparisons, [](const auto& c) { return !c.comparison.ok(); });
  report.exit_code = exit_code_of(done.findings, completed, wrong, asked.strict);
  done.report = report::run_json(launched.launched(wanted != nullptr), report);
  return done;
}

// ---- check ----

verify::CheckRequest check_request(const Request& request, const Asked& asked) {
  verify::CheckRequest out{.checks = asked.checks, .run = asked.run};
  if (asked.one_schedule) out.only = asked.conditions;
  if (request.has("explore")) out.explore = uint64_t(request.number("explore"));
  out.seed = uint64_t(request.number("seed"));
  out.random = unsigned(request.number("seeds", out.random));
  out.strict = asked.strict;
  return out;
}

Outcome<Performed> check(LaunchedJob& launched, const Request& request, const Asked& asked,
                         const void* const* wanted) {
  Performed done;
  done.recording = recording_of(launched, asked);
  verify::CheckRequest engine = check_request(request, asked);
  if (done.recording) std::ranges::copy(done.recording->observers(), std::back_inserter(engine.first));
  if (wanted != nullptr || launched.program->recorded)
    engine.compare = [&](const std::vector<Array>& outputs) {
      auto compared = comparisons_of(launched, asked, outputs, wanted);
      done.comparisons.insert(done.comparisons.end(), compared.begin(), compared.end());
      return std::vector<verify::OutputComparison>(compared.begin(), compared.end());
    };
  const auto checked =
      verify::check(launched.job, *launched.program->arch, engine, {.stop = &stopped, .step = {}});
  if (!checked) return host::failure_of(checked.error(), launched.program->ptx);
  if (done.recording) done.recording->finish(nullptr);
  done.findings = checked->findings;
  done.written_inputs = checked->written_inputs();
  const int code = exit_code_of(done.findings, !checked->hangs(), checked->wrong_outputs(), asked.strict);
  done.report = report::check_json(launched.launched(wanted != nullptr), *checked,
                                   {.seed = engine.seed,
                                    .explore = engine.explore.value_or(0),
                                    .threads = asked.run.threads,
                                    .exit_code = code == 0 && !checked->incomplete.empty() ? 3 : code});
  return done;
}

std::string writes_input(const std::string& name) {
  return fmt::format(
      "the kernel writes `{}`, which was given to be read alone (In, or an array that is read only)", name);
}

}  // namespace

Outcome<std::string> perform(LaunchedJob& launched, const Request& request, void* const* outputs,
                             const void* const* wanted) {
  const auto asked = asked_in(request, *launched.program->arch);
  if (!asked) return tl::make_unexpected(asked.error());
  const auto done = request.text("command") == "check" ? check(launched, request, *asked, wanted)
                                                       : run(launched, *asked, outputs, wanted);
  if (!done) return tl::make_unexpected(done.error());
  if (!done->written_inputs.empty()) return host::user_error(writes_input(done->written_inputs.front()));
  return answer(launched, *asked, *done);
}

}  // namespace palladion::python
