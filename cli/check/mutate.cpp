#include "cli/check/mutate.h"

#include <fmt/format.h>

#include <chrono>

#include "cli/support/output.h"
#include "cli/support/program_name.h"
#include "cli/support/term.h"
#include "isa/host/interrupt.h"
#include "report/run/mutation_text.h"
#include "report/run/run_text.h"

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

bool fits(const SmallShape& shape, std::string_view kernel, const Pairs& settings) {
  if (shape.kernel != kernel) return false;
  if (shape.setting.empty()) return true;
  const auto chosen = settings.find(std::string(shape.setting));
  return chosen != settings.end() && chosen->second == shape.word;
}

verify::MutationRequest mutation_request(const CheckRequest& asked) {
  verify::MutationRequest request{.checks = asked.run.machine.checks,
                                  .seed = asked.run.subject.seed,
                                  .threads = asked.run.machine.threads,
                                  .strict = asked.run.findings.strict};
  if (asked.seeds) request.random = *asked.seeds;
  if (asked.run.conditions) request.only = asked.run.conditions->schedule;
  return request;
}

tl::unexpected<Failure> no_mutation(const verify::NoMutation& none, const Subject& subject) {
  using Why = verify::NoMutation::Why;
  if (none.why == Why::refused) return failure_of(none.errors, subject.job.ptx);
  if (none.why == Why::interrupted) return interruption("interrupted: no mutant has run\n");
  return user_error("--mutate needs a program without findings, and this one has some",
                    fmt::format("`{} check` without --mutate prints its findings", program_name()));
}

}  // namespace

void take_small_shape(SubjectRequest& request) {
  const auto* const kernel = std::get_if<NamedKernel>(&request.what);
  if (kernel == nullptr || !request.sizes.empty()) return;
  for (const SmallShape& shape : small_shapes) {
    if (!fits(shape, kernel->name, request.settings)) continue;
    request.sizes.insert(shape.sizes.begin(), shape.sizes.end());
    request.settings.insert(shape.settings.begin(), shape.settings.end());
    break;
  }
}

Outcome<MutationReport> run_mutation(const Subject& subject, const CheckRequest& request) {
  const auto start = std::chrono::steady_clock::now();
  std::optional<Progress> progress;
  auto mutated = verify::mutate(subject.job, *subject.arch, mutation_request(request),
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

Outcome<ExitCode> check_by_mutation(CheckRequest request) {
  take_small_shape(request.run.subject);
  auto subject = load_subject(request.run.subject, request.run.clock());
  if (!subject) return tl::make_unexpected(subject.error());
  print_out(launched_text(launched(*subject)));
  const Polled polled;
  const auto report = run_mutation(*subject, request);
  if (!report) return tl::make_unexpected(report.error());
  print_out(mutation_text(launched(*subject), *report, report->seconds));
  Deliveries deliveries;
  deliveries.take(write_if_named(request.run.output.json, [&] {
    return mutation_json(launched(*subject), *report,
                         {.seed = request.run.subject.seed,
                          .threads = request.run.machine.threads,
                          .seconds = report->seconds,
                          .exit_code = report->exit_code});
  }));
  return deliveries.code(report->exit_code);
}

}  // namespace palladion::cli
