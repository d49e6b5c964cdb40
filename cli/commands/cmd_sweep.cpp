#include <fmt/format.h>

#include "cli/execute/execute.h"
#include "cli/options/command.h"
#include "cli/support/output.h"
#include "cli/support/program_name.h"
#include "cli/support/term.h"
#include "cli/sweep/sweep_run.h"
#include "isa/host/interrupt.h"
#include "report/html/page.h"
#include "report/run/sweep_text.h"

namespace palladion::cli {
namespace {

class WordsOfSweep {
 public:
  void state(Words& words);
  Outcome<SweepRequest> request(const Invocation& invocation) const;

 private:
  Outcome<SubjectRequest> subject(const Invocation& invocation) const;

  SweepRequest given_;  // what needs no second look
  std::string kernel_, resume_;
  std::vector<std::string> axes_;
  const isa::ArchSpec* arch_ = nullptr;
  ClockWords clock_;
  unsigned threads_ = 0;
};

void WordsOfSweep::state(Words& words) {
  words.text("KERNEL", kernel_,
             fmt::format("a name from `{} list`, or a file of kernels, add.cpp", program_name()),
             Value::kernel);
  words.pairs("--shape", given_.subject.sizes, "sizes: m=4096,n=4096,k=4096");
  words.texts("--set", axes_, "values to combine: tile_m=128,256 or stages=2..6 or sms=64..128:32");
  state_arch(words, arch_);
  words.number("--seed", given_.subject.seed, 0, any_number,
               "seed of random inputs, where the time depends on them");
  clock_.state(words);
  state_codegen(words, given_.codegen);
  words.number("--top", given_.top, 0, most_lines, "configurations to list (20); 0: all");
  words.text("--json", given_.output.json, "a file for the results as JSON", Value::output);
  state_report(words, given_.output.report);
  words.text("--state", given_.state, "a file that keeps the results; a sweep continues an existing one",
             Value::output);
  words.text("--resume", resume_, "continue the sweep of this --state file", Value::continued);
  state_threads(words, threads_);
  words.number("--max-instructions", given_.max_instructions, 0, any_number,
               "give up a configuration when a warp has executed N instructions (2^30), or N/16 in a row "
               "without a store, a barrier or a copy; 0: never");
}

Outcome<SubjectRequest> WordsOfSweep::subject(const Invocation& invocation) const {
  if (kernel_.empty())
    return user_error("a kernel is missing", fmt::format("`{} list` names them", program_name()));
  SubjectRequest request = given_.subject;
  request.what = NamedKernel{kernel_};
  if (const auto file = kernel_file_word(kernel_)) request.what = *file;
  request.kernels = invocation.kernels;
  request.names_arch = arch_ != nullptr;
  const auto chip = chip_for(request, arch_);
  if (!chip) return tl::make_unexpected(chip.error());
  request.arch = *chip;
  return request;
}

Outcome<SweepRequest> WordsOfSweep::request(const Invocation& invocation) const {
  SweepRequest request = given_;
  auto axes = verify::axes_in(axes_);
  if (!axes) return user_error(axes.error());
  request.axes = std::move(*axes);
  if (!request.state.empty() && !resume_.empty())
    return user_error("--state and --resume cannot both be given");
  auto subject = this->subject(invocation);
  if (!subject) return tl::make_unexpected(subject.error());
  request.subject = std::move(*subject);
  if (request.axes.empty())
    return user_error("a sweep needs settings to combine: --set NAME=value,value or NAME=first..last",
                      fmt::format("`{} list {}` shows them", program_name(), kernel_));
  auto clock = clock_.settings(*request.subject.arch);
  if (!clock) return tl::make_unexpected(clock.error());
  request.clock = std::move(*clock);
  request.threads = host_threads(threads_);
  request.resumes = !resume_.empty();
  if (request.resumes) request.state = resume_;
  return request;
}

Outcome<void> write_sweep_page(const SweepRun& run, const std::string& report, const std::string& file) {
  if (file.empty()) return {};
  PageParts page;
  page.title = run.swept.kernel + ", sweep";
  page.report = report;
  page.more = {{"folder", current_folder()}};
  const auto written = write_text(file, page_text(page));
  return written ? Outcome<void>{} : not_written(written.error());
}

Outcome<ExitCode> sweep(const SweepRequest& request) {
  const Polled polled;
  const auto run = run_sweep(request);
  if (!run) return tl::make_unexpected(run.error());
  const ExitCode code = exit_code_of(run->report);
  print_out(sweep_text(run->swept, run->report, request.top, wants_color(stdout)));
  const auto json = [&] { return sweep_json(run->swept, run->report, code); };
  Deliveries deliveries;
  deliveries.take(write_if_named(request.output.json, json));
  deliveries.take_page(write_sweep_page(*run, json(), request.output.report), request.output.report);
  return deliveries.code(code);
}

}  // namespace

Command sweep_command() {
  return {"sweep", "run all combinations of a kernel's settings and rank them by simulated time",
          stated<WordsOfSweep, sweep>};
}

}  // namespace palladion::cli
