#include <fmt/format.h>

#include "cli/check/check_run.h"
#include "cli/check/mutate.h"
#include "cli/options/command.h"
#include "cli/support/output.h"
#include "isa/host/interrupt.h"
#include "report/run/run_text.h"

namespace palladion::cli {
namespace {

struct AskedCheck : CheckRequest {
  bool mutate = false;  // breaks the program instead
};

class WordsOfCheck {
 public:
  void state(Words& words) {
    run_.state(words);
    words.number("--seeds", seeds_, 0, 1'000'000,
                 "number of random schedules (20); none run if one run decides for all schedules");
    words.number("--explore", explore_, 1, any_number,
                 "search all orders of synchronisation, up to N states; vary elected lanes, waits that time "
                 "out, resident CTAs and their start order");
    words.flag("--mutate", mutate_,
               "break one synchronisation instruction at a time, and list the broken programs that the "
               "checks miss");
  }

  Outcome<AskedCheck> request(const Invocation& invocation) const {
    auto run = run_.request(invocation);
    if (!run) return tl::make_unexpected(run.error());
    if (run->device.on_device) return user_error("checks run on the simulator alone");
    if (mutate_ && !run->output.report.empty())
      return user_error("--report shows one program; --mutate runs many: --json lists them");
    return AskedCheck{{.run = std::move(*run), .seeds = seeds_, .explore = explore_}, mutate_};
  }

 private:
  RunWords run_{"check"};
  std::optional<unsigned> seeds_;
  std::optional<uint64_t> explore_;
  bool mutate_ = false;
};

Outcome<void> write_check_page(const Subject& subject, const CheckRequest& request,
                               const CheckReport& report) {
  if (request.run.output.report.empty()) return {};
  std::vector<const NamedComparison*> comparisons;
  for (const NamedComparison& c : report.comparisons) comparisons.push_back(&c);
  return write_page(subject, request.run, check_json_of(subject, request, report), report.page.get(),
                    report.findings, comparisons);
}

Outcome<ExitCode> check_schedules(const AskedCheck& request) {
  if (request.mutate) return check_by_mutation(request);
  auto subject = load_subject(request.run.subject, request.run.clock());
  if (!subject) return tl::make_unexpected(subject.error());
  print_out(launched_text(launched(*subject)));
  const Polled polled;
  const auto report = run_check(*subject, request);
  if (!report) return tl::make_unexpected(report.error());
  print_check(*subject, request, *report);
  const OutputRequest& files = request.run.output;
  Deliveries deliveries;
  deliveries.take(write_sarif(*subject, request.run, report->findings, report->exit_code));
  deliveries.take(write_if_named(files.json, [&] { return check_json_of(*subject, request, *report); }));
  deliveries.take_page(write_check_page(*subject, request, *report), files.report);
  return deliveries.code(report->exit_code);
}

}  // namespace

Command check_command() {
  return {"check", "run under several schedules with all checks: races, barriers, memory, numerics",
          stated<WordsOfCheck, check_schedules>};
}

}  // namespace palladion::cli
