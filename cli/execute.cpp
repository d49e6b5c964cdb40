#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <chrono>
#include <thread>

#include "cli/arg_words.h"
#include "cli/commands.h"
#include "cli/files.h"
#include "cli/term.h"

namespace palladion::cli {
namespace {

// Always on: without them a run would have no meaning.
constexpr CheckWord checks[] = {
    {"fault", "bad addresses, misaligned accesses, illegal instructions and operands"},
    {"deadlock", "a run in which nothing can move any more: who waits on what"},
};
constexpr std::string_view later_checks[] = {"race", "barrier", "init", "resource"};

Outcome<void> check_check_words(const std::string& text) {
  for (const std::string_view word : split(text, ",")) {
    if (word == "all" || word == "none") continue;
    if (std::ranges::find(checks, word, &CheckWord::name) != std::end(checks)) continue;
    if (std::ranges::find(later_checks, word) != std::end(later_checks))
      return not_in_this_version(fmt::format("--check {}", word));
    return user_error(fmt::format("there is no check `{}`", word), "there are all, none, fault, deadlock");
  }
  return {};
}

// Outputs are compared bit by bit where the kernel computes exactly what its reference does.
kernels::Tolerance tolerance_of(const Subject& subject) {
  return subject.spec->tolerance ? subject.spec->tolerance(subject.choice) : kernels::Tolerance{};
}

std::vector<kernels::Array> inputs_of(const Subject& subject) {
  std::vector<kernels::Array> inputs;
  for (size_t i = 0; i < subject.kernel->launch.inputs.size(); ++i)
    inputs.push_back(subject.job.buffers[i].initial);
  return inputs;
}

Outcome<void> run_on_device(Report& report, const Subject& subject, const Options& options) {
  auto device = native::Device::open();
  if (!device) return tl::make_unexpected(Failure{exit_unsupported, isa::render(device.error())});
  report.device_facts = device->facts();
  report.device = kernels::run(subject.job, *device, {.repeats = options.repeats});
  return {};
}

}  // namespace

std::span<const CheckWord> check_words() { return checks; }

Outcome<sim::Schedule> schedule_of(const Options& options) {
  if (const auto schedule = sim::schedule_named(options.schedule)) return *schedule;
  if (options.schedule == "hardware")
    return not_in_this_version("--schedule hardware", "there are functional, seeded:N, latest, earliest");
  return user_error(fmt::format("there is no schedule `{}`", options.schedule),
                    "there are functional, seeded:N, latest, earliest");
}

Outcome<void> check_run_options(const Options& o) {
  if (!o.trace.empty()) return not_in_this_version("--trace");
  if (!o.report.empty()) return not_in_this_version("--report");
  if (o.values == "none") return not_in_this_version("--values none");
  if (o.values != "full") return user_error(fmt::format("--values is `full`, not `{}`", o.values));
  if (o.on != "sim" && o.on != "device" && o.on != "both")
    return user_error(fmt::format("--on is sim, device or both, not `{}`", o.on));
  if (o.repeats < 0) return user_error("--repeats cannot be negative");
  if (const auto schedule = schedule_of(o); !schedule) return tl::make_unexpected(schedule.error());
  return check_check_words(o.check);
}

unsigned host_threads(const Options& options) {
  return options.threads != 0 ? options.threads : std::max(1u, std::thread::hardware_concurrency());
}

namespace {

bool same_place(const sim::Finding& a, const sim::Finding& b) {
  if (a.sites.empty() || b.sites.empty()) return a.sites.empty() == b.sites.empty();
  const sim::Site &x = a.sites.front(), &y = b.sites.front();
  return x.ptx_line == y.ptx_line && x.instruction == y.instruction && x.source.file == y.source.file &&
         x.source.line == y.source.line;
}

// Every CTA makes the same mistake: it is told once, with the number of times.
void merge_repeated(std::vector<sim::Finding>& findings) {
  std::vector<sim::Finding> kept;
  for (sim::Finding& f : findings) {
    const auto same = [&](const sim::Finding& k) {
      return k.code == f.code && k.message == f.message && same_place(k, f);
    };
    const auto at = std::ranges::find_if(kept, same);
    if (at == kept.end()) {
      kept.push_back(std::move(f));
    } else {
      at->count += f.count;
    }
  }
  findings = std::move(kept);
}

}  // namespace

kernels::SimOutcome run_on_machine(Subject& subject, const Options& options, const sim::Schedule& schedule) {
  sim::Machine machine(*subject.arch);
  const uint64_t clusters = subject.job.grid.count() / std::max<uint64_t>(1, subject.job.cluster.count());
  Progress progress(subject.name, clusters);
  sim::RunOptions run;
  run.schedule = schedule;
  run.threads = host_threads(options);
  run.max_instructions = options.max_instructions;
  run.stop = &interrupt_flag();
  run.progress = [&](uint64_t done, uint64_t) { progress.update(done); };
  kernels::SimOutcome outcome = kernels::run(subject.job, machine, run);
  merge_repeated(outcome.result.findings);
  return outcome;
}

std::vector<NamedComparison> compare_outputs(const Subject& subject, const std::vector<kernels::Array>& got,
                                             const std::vector<kernels::Array>& wanted,
                                             kernels::Tolerance tolerance) {
  std::vector<std::string> names;
  for (size_t i = 0; i < subject.job.buffers.size(); ++i)
    if (subject.job.is_output(i)) names.push_back(subject.job.buffers[i].name);
  std::vector<NamedComparison> out;
  for (size_t i = 0; i < std::min({names.size(), got.size(), wanted.size()}); ++i)
    out.push_back({names[i], got[i].dtype(), tolerance, kernels::compare(got[i], wanted[i], tolerance)});
  return out;
}

std::vector<NamedComparison> compare_with_reference(const Subject& subject,
                                                    const std::vector<kernels::Array>& outputs) {
  if (subject.spec == nullptr || !subject.spec->reference) return {};
  return compare_outputs(subject, outputs, subject.spec->reference(subject.choice, inputs_of(subject)),
                         tolerance_of(subject));
}

Outcome<Report> execute(Subject& subject, const Options& options, bool on_sim, bool on_device) {
  const auto schedule = schedule_of(options);
  if (!schedule) return tl::make_unexpected(schedule.error());
  Report report;
  report.schedule = sim::name(*schedule);
  report.seed = options.seed;
  report.threads = host_threads(options);
  if (on_device)  // first: it leaves the inputs as they are, whatever the kernel does
    if (const auto ran = run_on_device(report, subject, options); !ran)
      return tl::make_unexpected(ran.error());
  if (on_sim) report.sim = run_on_machine(subject, options, *schedule);
  const bool whole =
      report.sim ? report.sim->result.completed : report.device && report.device->errors.empty();
  if (whole && options.reference) {
    const auto start = std::chrono::steady_clock::now();
    report.reference = compare_with_reference(subject, outputs_of(report));
    report.reference_seconds =
        std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
  }
  if (whole && report.sim && report.device)
    report.device_against_sim = compare_outputs(subject, report.device->outputs, report.sim->outputs, {});
  report.exit_code = exit_code_of(report);
  return report;
}

Outcome<ExitCode> deliver(const Subject& subject, Report& report, const Options& options) {
  const auto& outputs = outputs_of(report);
  size_t next = 0;
  for (size_t i = 0; i < subject.job.buffers.size() && next < outputs.size(); ++i) {
    if (!subject.job.is_output(i)) continue;
    const kernels::Array& array = outputs[next++];
    const auto file = subject.out_files.find(subject.job.buffers[i].name);
    if (file == subject.out_files.end()) continue;
    if (const auto written = write_array(file->second, array); !written)
      return tl::make_unexpected(written.error());
    report.written.push_back(*file);
  }
  print_report(subject, report);
  if (!options.json.empty())
    if (const auto written = write_text(options.json, json_report(subject, report)); !written)
      return user_error(written.error());
  return report.exit_code;
}

}  // namespace palladion::cli
