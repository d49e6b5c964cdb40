#include "cli/sweep/sweep_run.h"

#include <fmt/format.h>

#include <algorithm>

#include "cli/execute/execute.h"
#include "cli/support/term.h"
#include "isa/text/print.h"
#include "report/run/time_report.h"
#include "sim/launch/codes.h"
#include "verify/launch/timed_run.h"

namespace palladion::cli {
namespace {

constexpr uint64_t most_combinations = 1'000'000;

// Words that are invalid for every configuration: reported once.
Outcome<kernels::Choice> check_words(const kernels::KernelSpec& spec, const isa::ArchSpec& arch,
                                     const SweepRequest& request) {
  const Pairs& sizes = request.subject.sizes;
  if (verify::combinations(request.axes) > most_combinations)
    return user_error(fmt::format("more than {} combinations", most_combinations));
  for (const auto& [name, text] : sizes)
    if (text.find("..") != std::string::npos)
      return user_error(fmt::format("--shape {}={}: a sweep ranks configurations of one shape", name, text));
  try {
    for (const verify::Axis& axis :
         request.axes) {  // names; which values can be is each configuration's own matter
      const auto known = std::ranges::find(spec.settings, axis.name, &kernels::Setting::name);
      const bool is_known = known != spec.settings.end();
      kernels::choose(spec, sizes, {{axis.name, is_known ? known->fallback : axis.values.front()}}, &arch);
    }
    return kernels::choose(spec, sizes, {}, &arch);
  } catch (const isa::Error& e) {
    return failure_of(e.diagnostics());
  }
}

// The reason is the text behind "error[PLD5001]: "
NoTime no_time_of(const Failure& failure) {
  std::string line = failure.text.substr(0, failure.text.find('\n'));
  const size_t colon = line.find(": ");
  return {failure.why, colon == std::string::npos ? line : line.substr(colon + 2)};
}

uint64_t key_of(const Subject& subject, const SweepRequest& request) {
  const ClockSettings& clock = request.clock;
  std::string text = fmt::format("{} {} {} {:016x} {} {} {} {} {}", version, subject.name, subject.arch->name,
                                 hash(clock.parameters), report::name(clock.l2), request.subject.seed,
                                 request.max_instructions, subject.registers.count,
                                 verify::codegen_identity(request.codegen));
  for (const auto& [name, value] : subject.choice.sizes) text += fmt::format(" {}={}", name, value);
  for (const auto& [name, value] : subject.choice.settings) text += fmt::format(" {}={}", name, value);
  text += isa::print(subject.program());
  return palladion::hash(std::as_bytes(std::span(text)));
}

void take_time(verify::Timed& timed, const Subject& subject, const sim::RunResult& result,
               const ClockSettings& clock) {
  const NoTime none = why_no_time(result);
  timed.code = none.code;
  timed.reason = none.reason;
  if (!none.reason.empty()) return;
  const TimeReport time =
      time_report(subject.job, *subject.arch, subject.registers, clock.l2, clock.values, result);
  timed.cycles = result.clock.cycles;
  timed.microseconds = result.clock.microseconds();
  timed.tflops = time.tflops();
  timed.gb_per_s = time.gb_per_s();
  const sim::Resource most = sim::critical(result.clock);
  timed.critical = sim::name(most);
  timed.busy = result.clock.busy[size_t(most)];
  timed.limit = sim::limit_text(result.clock);
}

// Why it is slower than its cycles.
Outcome<void> take_codegen(verify::Timed& timed, const Subject& subject, verify::Codegen who) {
  const auto findings = verify::examine_codegen(subject.job, *subject.arch, who);
  if (!findings) return tl::make_unexpected(findings.error());
  for (const sim::Finding& f : *findings) timed.slow.push_back({f.code, message_text(f)});
  return {};
}

// The time of a subject; without the arrays' contents where it does not depend on them.
sim::RunResult run_for_time(Subject& subject, const SubjectRequest& configuration, ClockSettings& clock,
                            const SweepRequest& request) {
  const MachineRequest machine{.threads = request.threads, .max_instructions = request.max_instructions};
  sim::RunResult result =
      verify::timed_run(subject.job, *subject.arch, run_options(subject, machine, &clock));
  if (!verify::refused_for_values(result)) return result;
  clock.values = sim::Values::full;
  auto filled = load_subject(configuration, &clock);
  if (filled) subject = std::move(*filled);
  return verify::timed_run(subject.job, *subject.arch, run_options(subject, machine, &clock));
}

void leave_out(verify::Timed& timed, const Failure& why) {
  const NoTime none = no_time_of(why);
  timed.code = none.code;
  timed.reason = none.reason;
  timed.cycles = 0;
}

void time_one(verify::Timed& timed, const SweepRequest& request, const verify::KnownTime& known) {
  SubjectRequest configuration = request.subject;
  configuration.settings = timed.settings;
  configuration.tunes = false;
  ClockSettings clock = request.clock;
  clock.values = sim::Values::none;
  auto subject = load_subject(configuration, &clock);
  if (!subject) {
    leave_out(timed, subject.error());
    timed.done = true;
    return;
  }
  const uint64_t key = key_of(*subject, request);
  if (const verify::Timed* before = known(key)) {
    timed = *before;
    timed.done = true;
    return;
  }
  timed.key = key;
  const sim::RunResult result = run_for_time(*subject, configuration, clock, request);
  if (result.interrupted) return;
  timed.values = clock.values;
  take_time(timed, *subject, result, clock);
  if (timed.cycles != 0)
    if (const auto asked = take_codegen(timed, *subject, request.codegen); !asked)
      leave_out(timed, asked.error());
  timed.done = true;
}

Swept swept(const kernels::KernelSpec& spec, const kernels::Choice& fixed, const SweepRequest& request) {
  Swept out{.kernel = spec.name,
            .sizes = fixed.sizes,
            .settings = fixed.settings,
            .arch = fixed.arch,
            .l2 = request.clock.l2,
            .sm_clock = request.clock.parameters.sm_clock,
            .state = request.state};
  for (const verify::Axis& axis : request.axes) out.settings.erase(axis.name);
  for (const kernels::SizeParam& p : spec.sizes)
    out.fixed.push_back(fmt::format("{}={}", p.name, fixed.size(p.name)));
  for (const kernels::Setting& s : spec.settings)
    if (out.settings.contains(s.name)) out.fixed.push_back(fmt::format("{}={}", s.name, fixed.word(s.name)));
  return out;
}

}  // namespace

ExitCode exit_code_of(const verify::SweepReport& report) {
  if (report.interrupted) return exit_interrupted;
  if (!report.ranking().empty()) return exit_clean;
  const auto any = [&](auto&& is) { return std::ranges::any_of(report.all, is); };
  const auto unsupported = [](const verify::Timed& t) { return t.code == sim::Code::not_modelled; };
  const auto refused = [](const verify::Timed& t) { return t.key == 0 || sim::is_refusal(t.code); };
  if (any([&](const verify::Timed& t) { return !refused(t) && !unsupported(t); })) return exit_findings;
  return any(unsupported) ? exit_unsupported : exit_user_error;
}

Outcome<SweepRun> run_sweep(const SweepRequest& request) {
  const auto spec = find_spec(request.subject);
  if (!spec) return tl::make_unexpected(spec.error());
  const auto fixed = check_words(**spec, *request.subject.arch, request);
  if (!fixed) return tl::make_unexpected(fixed.error());
  Progress progress((*spec)->name, verify::combinations(request.axes));
  auto report = verify::sweep(
      {.axes = request.axes, .threads = request.threads, .state = request.state, .resumes = request.resumes},
      [&](verify::Timed& timed, const verify::KnownTime& known) { time_one(timed, request, known); },
      {.stop = &interrupt_flag(), .step = [&](const uint64_t& done) { progress.update(done); }});
  if (!report) return tl::make_unexpected(report.error());
  return SweepRun{swept(**spec, *fixed, request), std::move(*report)};
}

}  // namespace palladion::cli
