#include "cli/check/mutate.h"
#include "cli/support/output.h"

#include <fmt/format.h>

#include <chrono>

#include "cli/support/interrupt.h"
#include "cli/support/program_name.h"
#include "cli/support/term.h"

namespace palladion::cli {
namespace {

struct SmallShape {
  std::string_view kernel;
  std::string_view setting, word;  // for this choice alone; empty: for any
  std::map<std::string, std::string> sizes, settings;
};

// A CTA passes through its ring of slots at least twice, so that every wait sees both parities, and a
// persistent CTA has two tiles.
const SmallShape small_shapes[] = {
    {"matmul_pipelined", "", "", {{"m", "128"}, {"n", "128"}, {"k", "640"}}, {}},
    {"matmul_ws", "cluster", "m", {{"m", "1024"}, {"n", "128"}, {"k", "384"}}, {{"sms", "2"}}},
    {"matmul_ws", "cluster", "n", {{"m", "512"}, {"n", "256"}, {"k", "384"}}, {{"sms", "2"}}},
    {"matmul_ws", "", "", {{"m", "512"}, {"n", "128"}, {"k", "384"}}, {{"sms", "1"}}},
    {"transpose", "", "", {{"m", "256"}, {"n", "192"}}, {}},
};

bool fits(const SmallShape& shape, const Options& options) {
  if (shape.kernel != options.kernel) return false;
  if (shape.setting.empty()) return true;
  const auto chosen = options.settings.find(std::string(shape.setting));
  return chosen != options.settings.end() && chosen->second == shape.word;
}

verify::MutationRequest mutation_request(const Options& options) {
  verify::MutationRequest request{.checks = checks_of(options).value(),
                                  .seed = options.seed,
                                  .threads = host_threads(options),
                                  .strict = options.strict};
  if (options.seeds) request.random = *options.seeds;
  if (!options.schedule.empty()) request.only = schedule_of(options).value();
  return request;
}

tl::unexpected<Failure> no_mutation(const verify::NoMutation& none, const Subject& subject) {
  using Why = verify::NoMutation::Why;
  if (none.why == Why::refused) return failure_of(none.errors, subject.job.ptx);
  if (none.why == Why::interrupted)
    return tl::make_unexpected(Failure{exit_interrupted, "interrupted: no mutant has run\n"});
  return user_error("--mutate needs a program without findings, and this one has some",
                    fmt::format("`{} check` without --mutate prints its findings", program_name()));
}

}  // namespace

Options with_small_shape(const Options& options) {
  Options small = options;
  if (!options.sizes.empty()) return small;
  for (const SmallShape& shape : small_shapes) {
    if (!fits(shape, options)) continue;
    small.sizes.insert(shape.sizes.begin(), shape.sizes.end());
    small.settings.insert(shape.settings.begin(), shape.settings.end());
    break;
  }
  return small;
}

Outcome<MutationReport> run_mutation(const Subject& subject, const Options& options) {
  const auto start = std::chrono::steady_clock::now();
  std::optional<Progress> progress;
  auto mutated = verify::mutate(subject.job, *subject.arch, mutation_request(options),
                                {.stop = &interrupt_flag(), .step = [&](const verify::MutationStep& step) {
                                   if (!progress) progress.emplace(subject.name, step.mutants);
                                   progress->update(step.done);
                                 }});
  if (!mutated) return no_mutation(mutated.error(), subject);
  MutationReport report{std::move(*mutated)};
  report.seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
  const bool found = report.survivors() != 0 || report.contradicted();
  report.exit_code = report.interrupted ? exit_interrupted : found ? exit_findings : exit_clean;
  return report;
}

Outcome<ExitCode> check_by_mutation(const Options& given) {
  const Options options = with_small_shape(given);
  auto subject = load_subject(options);
  if (!subject) return tl::make_unexpected(subject.error());
  print_out(describe_subject(*subject));
  const Polled polled;
  const auto report = run_mutation(*subject, options);
  if (!report) return tl::make_unexpected(report.error());
  print_mutation(*subject, *report);
  Deliveries deliveries;
  deliveries.take(write_json(options, [&] { return mutation_json(*subject, options, *report); }));
  return deliveries.code(report->exit_code);
}

}  // namespace palladion::cli
