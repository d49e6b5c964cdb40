#include <fcntl.h>
#include <fmt/format.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <filesystem>

#include "cli/runs/run_request.h"
#include "cli/support/output.h"
#include "cli/support/program_name.h"

namespace palladion::cli {
namespace {

namespace fs = std::filesystem;

constexpr int could_not_run = 127;  // as a shell says it

// The folder of our libraries: beside the program in the build, below lib in an installation.
fs::path driver_folder() {
  std::error_code failed;
  const fs::path here = fs::read_symlink("/proc/self/exe", failed).parent_path();
  for (const char* place : {"exec", "../lib/palladion/exec"})
    if (fs::exists(here / place / "libcuda.so.1", failed)) return fs::weakly_canonical(here / place);
  return {};
}

struct ExecRequest {
  const isa::ArchSpec* arch = &isa::default_arch();
  sim::Schedule schedule;
  sim::check::Options checks = no_checks;
  std::string schedules = "1";  // "all", or how many each launch is judged under
  unsigned threads = 0;
  uint64_t max_instructions = usual_max_instructions;  // of a warp
  bool fmad = true;
  std::string json;                  // a file for the table of launches
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
    words.text("--json", given.json, "a file for the table of launches as JSON", Value::output);
  }
  Outcome<ExecRequest> request(const Invocation& invocation) const {
    if (invocation.program.empty())
      return user_error("exec takes a program",
                        fmt::format("{} exec -- ./program arguments", program_name()));
    if (given.json.find(';') != std::string::npos) return user_error("--json: a name without `;`");
    if (given.schedules != "all" && !is_count(given.schedules))
      return user_error("--schedules is a number from 1 on, or all");
    ExecRequest request = given;
    request.program = invocation.program;
    return request;
  }
};

std::string settings_text(const ExecRequest& o, int report) {
  std::error_code failed;
  return fmt::format(
      "v1;arch={};schedule={};schedules={};check={};threads={};max={};fmad={:d};report={};json={}",
      o.arch->name, sim::name(o.schedule), o.schedules, name(o.checks), o.threads, o.max_instructions, o.fmad,
      report, o.json.empty() ? std::string() : fs::absolute(o.json, failed).string());
}

// In front of what the variable holds.
void put_first(const char* variable, std::string text) {
  const char* const before = std::getenv(variable);
  if (before != nullptr && *before != '\0') text += std::string(":") + before;
  ::setenv(variable, text.c_str(), 1);
}

[[noreturn]] void become(const ExecRequest& o, const fs::path& folder, int report) {
  put_first("LD_LIBRARY_PATH", folder.string());
  put_first("LD_PRELOAD", (folder / "libpalladion_exec.so").string());
  ::setenv("PALLADION_EXEC", settings_text(o, report).c_str(), 1);
  std::vector<char*> words;
  for (const std::string& word : o.program) words.push_back(const_cast<char*>(word.c_str()));
  words.push_back(nullptr);
  ::execvp(words[0], words.data());
  fmt::print(stderr, "error: {} cannot be run: {}\n", o.program.front(), std::strerror(errno));
  ::_exit(could_not_run);
}

// What the libraries write into the pipe: a byte for each program that launched a kernel, and for each in
// which a launch had an error (cuda/driver/state.cpp).
struct Noted {
  bool launched = false, errors = false;
};

Noted read_notes(int pipe) {
  Noted noted;
  char byte = 0;
  while (::read(pipe, &byte, 1) == 1) (byte == 'e' ? noted.errors : noted.launched) = true;
  return noted;
}

// The program's own exit code, 128 + the signal that ended it; when it ends with 0 although a launch had
// errors: 1.
Outcome<ExitCode> exec_program(const ExecRequest& request) {
  const fs::path folder = driver_folder();
  if (folder.empty()) return unsupported("this build has no exec/libcuda.so.1 beside the program");
  int report[2];
  if (::pipe(report) != 0) return user_error(fmt::format("no pipe: {}", std::strerror(errno)));
  ::fcntl(report[0], F_SETFL, O_NONBLOCK);  // what the program started may hold the other end
  const pid_t child = ::fork();
  if (child < 0) return user_error(fmt::format("no process: {}", std::strerror(errno)));
  if (child == 0) {
    ::close(report[0]);
    become(request, folder, report[1]);
  }
  ::close(report[1]);
  int status = 0;
  while (::waitpid(child, &status, 0) < 0 && errno == EINTR) {
  }
  const Noted noted = read_notes(report[0]);
  ::close(report[0]);
  if (WIFSIGNALED(status)) return static_cast<ExitCode>(128 + WTERMSIG(status));
  const int code = WEXITSTATUS(status);
  if (!noted.launched && !noted.errors && code != could_not_run)
    print_err(fmt::format("{} launched no kernel: nothing was simulated\n", request.program.front()));
  return static_cast<ExitCode>(code == 0 && noted.errors ? exit_findings : code);
}

}  // namespace

Command exec_command() {
  return {.name = "exec",
          .doc = "run an unmodified CUDA program without a GPU: exec [options] -- ./program args",
          .state = stated<WordsOfExec, exec_program>,
          .takes_program = true};
}

}  // namespace palladion::cli
