#include "cli/lab/judge.h"

#include <fmt/format.h>

#include <boost/json/parse.hpp>

#include "cli/execute/execute.h"
#include "cli/lab/lab_report.h"
#include "cli/support/output.h"
#include "cli/support/program_name.h"
#include "cli/support/term.h"
#include "report/lab/verdict_text.h"

namespace palladion::cli {

labs::JudgeOrder judge_order(const std::filesystem::path& file, const labs::Lab& lab,
                             const LabRequest& request) {
  return {.file = file,
          .lab = &lab,
          .program = program_name(),
          .seconds = request.seconds,
          .threads = host_threads(request.threads),
          .unconfined = request.unconfined};
}

std::optional<json::object> answer_in(const Ended& judge) {
  if (judge.code != 0) return std::nullopt;
  const std::string_view text =
      std::string_view(judge.output).substr(0, judge.output.find_last_not_of('\n') + 1);
  boost::system::error_code failed;
  const json::value all = json::parse(text.substr(text.rfind('\n') + 1), failed);
  return failed || !all.is_object() ? std::nullopt : std::optional(all.as_object());
}

std::string too_late(const LabRequest& request) {
  return fmt::format("no verdict within the limit of {} seconds", request.seconds);
}

Outcome<ExitCode> lab_judge(LabRequest request) {
  const labs::Orders orders = labs::take_orders(request.args);
  if (request.args.size() != 3) return user_error("judge ORDERS FILE LAB PROGRAM");
  const labs::Lab* const lab = labs::find_lab(request.args[1]);
  if (lab == nullptr) return user_error(fmt::format("there is no lab `{}`", request.args[1]));
  const std::filesystem::path file = request.args[0];
  const labs::Enter enter = labs::begin_judging(orders, file, request.seconds, request.threads);
  const Polled polled;
  const auto verdict = labs::judge_file(*lab, file,
                                        {.threads = request.threads,
                                         .program = request.args[2],
                                         .stop = &interrupt_flag(),
                                         .unconfined = orders.unconfined,
                                         .note = print_err,
                                         .enter = enter});
  if (!verdict) return tl::make_unexpected(verdict.error());
  json::object answer{
      {"verdict", verdict_json(*verdict)},
      {"text", verdict_text(*verdict, {.folder = current_folder(), .color = wants_color(stdout)})}};
  if (!request.report.empty()) {
    auto page = lab_page(*verdict, request);
    answer.emplace(page ? "page" : "no_page", page ? std::move(*page) : page.error().text);
  }
  write_out(json_line(answer) + "\n");
  return exit_clean;
}

}  // namespace palladion::cli
