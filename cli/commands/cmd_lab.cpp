#include <fmt/format.h>
#include <fmt/ranges.h>

#include <stdexcept>

#include "cli/commands/commands.h"
#include "cli/lab/lab_commands.h"
#include "cli/lab/recording.h"
#include "labs/lab.h"
#include "verify/arrays/words.h"

namespace palladion::cli {
namespace {

std::vector<std::string> words_after(const std::vector<std::string>& words) {
  return {words.begin() + 1, words.end()};
}

}  // namespace

Outcome<ExitCode> cmd_lab(const Options& options) {
  try {
    (void)labs::all_labs();
  } catch (const std::runtime_error& e) {  // of a teacher's folder
    return user_error(e.what(),
                      "PALLADION_LABS names a folder of labs; labs/TEACHERS.md states their syntax");
  }
  const std::string word = options.topics.empty() ? "list" : options.topics.front();
  if (!options.report.empty() && word != "check")
    return user_error("--report belongs to `lab check`: it shows a run of the file that is judged");
  if (word == "list") return lab_list();
  if (word == "start") return lab_start(options);
  if (word == "check") return lab_check(options);
  if (word == "hint") return lab_hint(options);
  if (word == "solution") return lab_solution(options);
  if (word == "progress") return lab_progress();
  if (word == "reset") return lab_reset(options);
  if (word == "grade") return lab_grade(options);
  if (word == "variants") return lab_variants(options);
  // Processes that the program starts for itself (cli/lab/README.md).
  if (word == "grade-one") return lab_grade_one(options);
  if (word == "record-confined") return record_confined(words_after(options.topics));
  if (word == "compile-confined") return compile_confined(words_after(options.topics), options.command_line);
  const std::vector<std::string> known = {"list",     "start", "check", "hint",    "solution",
                                          "progress", "reset", "grade", "variants"};
  const std::string near = nearest(word, known);
  return user_error(
      fmt::format("`lab {}` is no command", word),
      near.empty() ? fmt::format("{}", fmt::join(known, ", ")) : fmt::format("did you mean `{}`?", near));
}

}  // namespace palladion::cli
