#include "cli/sweep/sweep.h"

#include <fmt/format.h>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <mutex>

#include "cli/execute/execute.h"
#include "cli/runs/time_report.h"
#include "cli/runs/timed_run.h"
#include "cli/support/program_name.h"
#include "cli/support/term.h"
#include "isa/text/print.h"
#include "report/json/document.h"
#include "sim/launch/codes.h"
#include "sim/schedule/worker_pool.h"

namespace palladion::cli {
namespace {

constexpr uint64_t most_combinations = 1'000'000;

// Words that are invalid for every configuration: reported once.
Outcome<kernels::Choice> check_words(const kernels::KernelSpec& spec, const isa::ArchSpec& arch,
                                     const SweepRequest& request) {
  const Pairs& sizes = request.subject.sizes;
  if (combinations(request.axes) > most_combinations)
    return user_error(fmt::format("more than {} combinations", most_combinations));
  for (const auto& [name, text] : sizes)
    if (text.find("..") != std::string::npos)
      return user_error(fmt::format("--shape {}={}: a sweep ranks configurations of one shape", name, text));
  try {
    for (const Axis& axis : request.axes) {  // names; which values can be is each configuration's own matter
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
  std::string text = fmt::format("{} {} {} {:016x} {} {} {} {}", version, subject.name, subject.arch->name,
                                 hash(clock.parameters), report::name(clock.l2), request.subject.seed,
                                 request.max_instructions, subject.registers.count);
  for (const auto& [name, value] : subject.choice.sizes) text += fmt::format(" {}={}", name, value);
  for (const auto& [name, value] : subject.choice.settings) text += fmt::format(" {}={}", name, value);
  text += isa::print(subject.program());
  return palladion::hash(std::as_bytes(std::span(text)));
}

void take_time(Timed& timed, const Subject& subject, const sim::RunResult& result,
               const ClockSettings& clock) {
  const NoTime none = why_no_time(result);
  timed.code = none.code;
  timed.reason = none.reason;
  if (!none.reason.empty()) return;
  const TimeReport time = time_report(subject, result, clock);
  timed.cycles = result.clock.cycles;
  timed.microseconds = result.clock.microseconds();
  timed.tflops = time.tflops();
  timed.gb_per_s = time.gb_per_s();
  const sim::Resource most = sim::critical(result.clock);
  timed.critical = sim::name(most);
  timed.busy = result.clock.busy[size_t(most)];
  timed.limit = sim::limit_text(result.clock);
}

class Sweep {
 public:
  Sweep(const SweepRequest& request, SweepReport& report, SweepState& state)
      : request_(request),
        report_(report),
        state_(state),
        progress_(report.spec->name, combinations(report.axes)) {}

  void run() {
    report_.all.resize(combinations(report_.axes));
    sim::WorkerPool(report_.threads).for_each(report_.all.size(), [&](size_t i, unsigned) {
      if (!interrupted() && !broken_) one(i);
    });
    report_.interrupted = interrupted();
  }
  const std::string& trouble() const { return trouble_; }

 private:
  void one(size_t i) {
    Timed& timed = report_.all[i];
    timed.settings = combination(report_.axes, i);
    SubjectRequest configuration = request_.subject;
    configuration.settings = timed.settings;
    ClockSettings clock = request_.clock;
    clock.values = sim::Values::none;
    auto subject = load_subject(configuration, &clock);
    if (!subject) {
      const NoTime none = no_time_of(subject.error());
      timed.code = none.code;
      timed.reason = none.reason;
      return finish(timed, false);
    }
    const uint64_t key = key_of(*subject, request_);
    if (const Timed* known = state_.find(key)) {
      timed = *known;
      return finish(timed, true);
    }
    timed.key = key;
    time_it(timed, *subject, configuration, clock);
  }

  void time_it(Timed& timed, Subject& subject, const SubjectRequest& configuration, ClockSettings& clock) {
    sim::RunResult result = timed_run(subject, clock, report_.threads, request_.max_instructions);
    if (refused_for_values(result)) {
      clock.values = sim::Values::full;
      auto filled = load_subject(configuration, &clock);
      if (filled) subject = std::move(*filled);
      result = timed_run(subject, clock, report_.threads, request_.max_instructions);
    }
    if (result.interrupted) return;
    timed.values = clock.values;
    take_time(timed, subject, result, clock);
    if (const auto kept = state_.append(timed); !kept) give_up(kept.error());
    finish(timed, false);
  }

  void finish(Timed& timed, bool taken_over) {
    const std::lock_guard lock(mutex_);
    timed.done = true;
    if (taken_over) ++report_.taken_over;
    progress_.update(++done_);
  }

  void give_up(const std::string& why) {
    const std::lock_guard lock(mutex_);
    trouble_ = why;
    broken_ = true;
  }

  const SweepRequest& request_;
  SweepReport& report_;
  SweepState& state_;
  Progress progress_;
  std::mutex mutex_;
  uint64_t done_ = 0;
  std::atomic<bool> broken_ = false;
  std::string trouble_;
};

}  // namespace

std::vector<size_t> SweepReport::ranking() const {
  std::vector<size_t> out;
  for (size_t i = 0; i < all.size(); ++i)
    if (all[i].done && all[i].cycles != 0) out.push_back(i);
  std::ranges::stable_sort(out, {}, [&](size_t i) { return all[i].cycles; });
  return out;
}

std::vector<size_t> SweepReport::without_time() const {
  std::vector<size_t> out;
  for (size_t i = 0; i < all.size(); ++i)
    if (all[i].done && all[i].cycles == 0) out.push_back(i);
  return out;
}

ExitCode SweepReport::exit_code() const {
  if (interrupted) return exit_interrupted;
  if (!ranking().empty()) return exit_clean;
  const auto any = [&](auto&& is) { return std::ranges::any_of(all, is); };
  const auto unsupported = [](const Timed& t) { return t.code == sim::Code::not_modelled; };
  const auto refused = [](const Timed& t) { return t.key == 0 || sim::is_refusal(t.code); };
  if (any([&](const Timed& t) { return !refused(t) && !unsupported(t); })) return exit_findings;
  return any(unsupported) ? exit_unsupported : exit_user_error;
}

Outcome<SweepReport> run_sweep(const SweepRequest& request) {
  const auto start = std::chrono::steady_clock::now();
  SweepReport report;
  const auto spec = find_spec(request.subject);
  if (!spec) return tl::make_unexpected(spec.error());
  report.spec = *spec;
  auto fixed = check_words(*report.spec, *request.subject.arch, request);
  if (!fixed) return tl::make_unexpected(fixed.error());
  report.fixed = std::move(*fixed);
  for (const Axis& axis : request.axes) report.fixed.settings.erase(axis.name);
  report.clock = request.clock;
  report.axes = request.axes;
  report.threads = request.threads;
  auto state = SweepState::open(request.state, request.resumes, report.notes);
  if (!state) return tl::make_unexpected(state.error());
  Sweep sweep(request, report, *state);
  sweep.run();
  if (!sweep.trouble().empty()) return user_error(sweep.trouble());
  report.seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
  return report;
}

}  // namespace palladion::cli
