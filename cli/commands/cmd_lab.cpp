#include <fmt/format.h>
#include <fmt/ranges.h>

#include <stdexcept>

#include "cli/lab/lab_commands.h"
#include "cli/options/command.h"
#include "labs/engine/recording.h"
#include "labs/lab.h"
#include "verify/arrays/words.h"

namespace palladion::cli {
namespace {

struct AskedLab : LabRequest {
  std::string subcommand;
  std::vector<std::string> program;  // behind `--`
};

struct WordsOfLab {
  AskedLab given;
  std::vector<std::string> words;
  std::chrono::milliseconds limit{60'000};

  void state(Words& options) {
    options.texts(
        "WORDS", words,
        "list; start LAB [DIR]: a folder with the text and the file to complete; check [LAB|FILE]: "
        "judge the file here; hint [LAB]: the next one; solution [LAB]; progress; reset LAB; grade "
        "DIR: judge all submissions STUDENT/LAB.cpp below a folder; pack DIR: all labs for learners, "
        "without solutions, and a syllabus");
    options.text("--json", given.json, "a file for the verdict, or the grades, as JSON", Value::output);
    options.text("--report", given.report,
                 "check: a file for an HTML report of the run that the verdict is about", Value::output);
    options.seconds(
        "--seconds", limit, most_seconds,
        "check, grade: limit of a submission (60): so much processor time a thread, three times as much "
        "wall time, in which waiting for a busy processor does not count");
    options.flag("--unconfined", given.unconfined,
                 "check, grade: run submissions also where the kernel cannot confine them");
    state_threads(options, given.threads);
  }
  Outcome<AskedLab> request(const Invocation& invocation) const {
    AskedLab request = given;
    request.subcommand = words.empty() ? "list" : words.front();
    if (!words.empty()) request.args.assign(words.begin() + 1, words.end());
    request.seconds = static_cast<unsigned>(std::chrono::ceil<std::chrono::seconds>(limit).count());
    request.program = invocation.program;
    if (!request.report.empty() && request.subcommand != "check" && request.subcommand != "judge")
      return user_error("--report belongs to `lab check`: it shows a run of the file that is judged");
    return request;
  }
};

struct Subcommand {
  std::string_view name;
  Outcome<ExitCode> (*run)(const AskedLab&);
  bool for_people = true;  // else a process that the program starts for itself (cli/lab/README.md)
};
// Of a process that ends by itself, unless it could not begin.
Outcome<ExitCode> ended(const Outcome<void>& process) {
  return process.map([] { return exit_clean; });
}

constexpr Subcommand subcommands[] = {
    {"list", [](const AskedLab&) { return lab_list(); }},
    {"start", [](const AskedLab& r) { return lab_start(r); }},
    {"check", [](const AskedLab& r) { return lab_check(r); }},
    {"hint", [](const AskedLab& r) { return lab_hint(r); }},
    {"solution", [](const AskedLab& r) { return lab_solution(r); }},
    {"progress", [](const AskedLab&) { return lab_progress(); }},
    {"reset", [](const AskedLab& r) { return lab_reset(r); }},
    {"grade", [](const AskedLab& r) { return lab_grade(r); }},
    {"variants", [](const AskedLab& r) { return lab_variants(r); }},
    {"pack", [](const AskedLab& r) { return lab_pack(r); }},
    {"judge", [](const AskedLab& r) { return lab_judge(r); }, false},
    {"record-confined", [](const AskedLab& r) { return ended(labs::record_confined(r.args)); }, false},
    {"compile-confined", [](const AskedLab& r) { return ended(labs::compile_confined(r.args, r.program)); },
     false},
};

Outcome<ExitCode> lab(const AskedLab& request) {
  try {
    (void)labs::all_labs();
  } catch (const std::runtime_error& e) {  // of a teacher's folder
    return user_error(e.what(),
                      "PALLADION_LABS names a folder of labs; labs/TEACHERS.md states their syntax");
  }
  std::vector<std::string> known;
  for (const Subcommand& subcommand : subcommands) {
    if (subcommand.name == request.subcommand) return subcommand.run(request);
    if (subcommand.for_people) known.emplace_back(subcommand.name);
  }
  const std::string near = nearest(request.subcommand, known);
  return user_error(
      fmt::format("`lab {}` is no command", request.subcommand),
      near.empty() ? fmt::format("{}", fmt::join(known, ", ")) : fmt::format("did you mean `{}`?", near));
}

}  // namespace

Command lab_command() {
  return {.name = "lab",
          .doc =
              "learn by exercises: lab list, start LAB [DIR], check, hint, solution, progress, reset LAB, "
              "grade DIR, pack DIR",
          .state = stated<WordsOfLab, lab>,
          .takes_program = true};
}

}  // namespace palladion::cli
