#include <fmt/format.h>

#include <algorithm>
#include <cstring>
#include <filesystem>

#include "cli/execute/execute.h"
#include "cli/runs/checks.h"
#include "cli/runs/run_request.h"
#include "cli/support/output.h"
#include "cli/support/program_name.h"
#include "cli/support/term.h"
#include "cuda/programs/exec.h"
#include "isa/host/files.h"
#include "isa/host/process.h"
#include "report/json/findings_json.h"
#include "report/run/exec_report.h"

namespace palladion::cli {
namespace {

namespace fs = std::filesystem;
using namespace cuda::programs;

struct ExecRequest {
  const isa::ArchSpec* arch = &isa::default_arch();
  sim::Schedule schedule;
  sim::check::Options checks = no_checks;
  std::string schedules = "1";  // "all", or how many each launch is judged under
  unsigned threads = 0;
  uint64_t max_instructions = usual_max_instructions;  // of a warp
  bool fmad = true, torch = false;
  std::string json, sarif;  // files: the table of launches with the findings; these alone
  std::string command_line;
  std::vector<std::string> program;  // with its arguments
};

bool is_count(std::string_view text) {
  constexpr size_t digits = 6;
  return !text.empty() && text.size() <= digits && text.front() != '0' &&
         text.find_first_not_of("0123456789") == std::string_view::npos;
}

struct WordsOfExec {
  ExecRequest given;

  void state(Words& words) {
    state_arch(words, given.arch);
    words
        .parsed("--schedule", given.schedule, schedule_in,
                "functional, hardware (with the clock), seeded:N, latest, earliest")
        .one_of(names_of(schedule_words()));
    words
        .parsed("--check", given.checks, checks_in,
                "all, none (the default), or some of race, barrier, memory, numerics")
        .one_of(names_of(check_words()));
    words.text("--schedules", given.schedules,
               "judge each launch under N schedules, or all: from the memory that it finds; the program goes "
               "on with the outputs of --schedule (1)");
    state_threads(words, given.threads);
    words.number("--max-instructions", given.max_instructions, 0, any_number,
                 "end a kernel when a warp has executed N instructions (2^30); 0: never");
    state_fmad(words, given.fmad);
    words.flag("--torch", given.torch,
               "a Python program: PyTorch's own operators, which are machine code, are computed by those of "
               "the host, not checked; its Python needs the package palladion");
    words.text("--json", given.json, "a file for the table of launches and the findings as JSON",
               Value::output);
    words.text("--sarif", given.sarif, "a file for the findings as SARIF 2.1.0", Value::output);
  }
  Outcome<ExecRequest> request(const Invocation& invocation) const {
    if (invocation.program.empty())
      return user_error("exec takes a program",
                        fmt::format("{} exec -- ./program arguments", program_name()));
    if (given.schedules != "all" && !is_count(given.schedules))
      return user_error("--schedules is a number from 1 on, or all");
    ExecRequest request = given;
    request.program = invocation.program;
    request.command_line = command_line(invocation.words, "exec", {}, "--");
    for (const std::string& word : invocation.program) request.command_line += " " + host::shell_word(word);
    return request;
  }
};

ProgramStart start_of(const ExecRequest& request, const fs::path& folder) {
  return start_under_exec(request.program,
                          {.arch = std::string(request.arch->name),
                           .schedule = sim::name(request.schedule),
                           .checks = name(request.checks),
                           .schedules = request.schedules,
                           .on_clock = request.schedule.kind == sim::Schedule::Kind::hardware,
                           .torch = request.torch,
                           .threads = request.threads,
                           .max_instructions = request.max_instructions,
                           .fmad = request.fmad},
                          folder);
}

std::string manner_of(const ProgramEnd& end) {
  if (end.signal != 0) return fmt::format("by signal {} ({})", end.signal, ::strsignal(end.signal));
  return end.code == 0 ? "" : fmt::format("with exit code {}", end.code);
}

// `python train.py`: what a finding without a source line is of.
std::string subject_of(const std::vector<std::string>& program) {
  std::error_code failed;
  const auto is_own = [&](const std::string& word) {
    return fs::is_regular_file(word, failed) && fs::relative(word, failed).native().find("..") != 0;
  };
  const auto own = std::ranges::find_if(program, is_own);
  return own != program.end() ? *own : program.front();
}

SarifRun sarif_run(const ExecRequest& request, ExitCode code) {
  return {.command_line = request.command_line,
          .subject = subject_of(request.program),
          .folder = current_folder(),
          .exit_code = code};
}

// The program's own exit code; when that is 0 although a launch had errors: 1.
Outcome<ExitCode> exec_program(const ExecRequest& request) {
  const fs::path folder = exec_folder();
  if (folder.empty()) return unsupported("this build has no exec/libpalladion_exec.so beside the program");
  ExecReport report({std::string(request.arch->name), sim::name(request.schedule), name(request.checks),
                     name(request.checks) != name(no_checks)});
  const auto take = [&](uint64_t sender, const ExecKey& key, std::string text) {
    report.take(sender, key, std::move(text));
  };
  const auto ended = run_to_its_end(start_of(request, folder), take);
  if (!ended) return tl::unexpected(ended.error());
  const auto code =
      static_cast<ExitCode>(ended->code == 0 && report.errors() != 0 ? exit_findings : ended->code);
  const ExecReport::End end{manner_of(*ended), code};
  print_err(report.text(end, wants_color(stderr)));
  if (!report.launched() && report.errors() == 0 && code != could_not_run && code != not_there)
    print_err(fmt::format("{} launched no kernel: nothing was simulated\n", request.program.front()));
  Deliveries deliveries;
  deliveries.take(write_if_named(request.json, [&] { return report.json(end); }));
  deliveries.take(
      write_if_named(request.sarif, [&] { return sarif_text(report.findings(), sarif_run(request, code)); }));
  return code == exit_clean || code == exit_findings ? deliveries.code(code) : code;
}

}  // namespace

Command exec_command() {
  return {.name = "exec",
          .doc = "run an unmodified CUDA program without a GPU: exec [options] -- ./program args",
          .state = stated<WordsOfExec, exec_program>,
          .takes_program = true};
}

}  // namespace palladion::cli
