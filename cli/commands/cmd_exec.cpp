#include <fcntl.h>
#include <fmt/format.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <filesystem>

#include "cli/commands/commands.h"
#include "cli/options/paths.h"
#include "cli/support/program_name.h"
#include "isa/arch/arch.h"
#include "sim/check/core/options.h"
#include "sim/launch/schedule.h"

namespace palladion::cli {
namespace {

namespace fs = std::filesystem;

// The folder of our libraries: beside the program in the build, below lib in an installation.
fs::path driver_folder() {
  std::error_code failed;
  const fs::path here = fs::read_symlink("/proc/self/exe", failed).parent_path();
  for (const char* place : {"exec", "../lib/palladion/exec"})
    if (fs::exists(here / place / "libcuda.so.1", failed)) return fs::weakly_canonical(here / place);
  return {};
}

Outcome<void> check_words_of(const Options& o) {
  if (isa::find_arch(o.arch) == nullptr) return user_error(fmt::format("there is no chip `{}`", o.arch));
  if (!o.schedule.empty() && !sim::schedule_named(o.schedule))
    return user_error(fmt::format("there is no schedule `{}`", o.schedule),
                      "functional, hardware, seeded:N, latest, earliest");
  std::string unknown;
  if (!o.check.empty() && !sim::check::options_named(o.check, &unknown))
    return user_error(fmt::format("there is no check `{}`", unknown),
                      "valid names: all, none, race, barrier, memory, numerics");
  if (o.json.find(';') != std::string::npos) return user_error("--json: a name without `;`");
  return {};
}

std::string settings_text(const Options& o, int report) {
  std::error_code failed;
  return fmt::format("v1;arch={};schedule={};check={};threads={};max={};fmad={:d};report={};json={}", o.arch,
                     o.schedule.empty() ? "functional" : o.schedule, o.check.empty() ? "none" : o.check,
                     o.threads, o.max_instructions, o.fmad, report,
                     o.json.empty() ? std::string() : fs::absolute(o.json, failed).string());
}

// In front of what the variable holds.
void put_first(const char* variable, std::string text) {
  const char* const before = std::getenv(variable);
  if (before != nullptr && *before != '\0') text += std::string(":") + before;
  ::setenv(variable, text.c_str(), 1);
}

[[noreturn]] void become(const Options& o, const fs::path& folder, int report) {
  put_first("LD_LIBRARY_PATH", folder.string());
  put_first("LD_PRELOAD", (folder / "libpalladion_exec.so").string());
  ::setenv("PALLADION_EXEC", settings_text(o, report).c_str(), 1);
  std::vector<char*> words;
  for (const std::string& word : o.command_line) words.push_back(const_cast<char*>(word.c_str()));
  words.push_back(nullptr);
  ::execvp(words[0], words.data());
  fmt::print(stderr, "error: {} cannot be run: {}\n", o.command_line.front(), std::strerror(errno));
  ::_exit(127);
}

}  // namespace

// The program's own exit code, 128 + the signal that ended it; when it ends with 0 although a launch had
// errors: 1.
Outcome<ExitCode> cmd_exec(const Options& options) {
  if (options.command_line.empty())
    return user_error("exec takes a program", fmt::format("{} exec -- ./program arguments", program_name()));
  if (const auto ok = check_words_of(options); !ok) return tl::make_unexpected(ok.error());
  const fs::path folder = driver_folder();
  if (folder.empty()) return unsupported("this build has no exec/libcuda.so.1 beside the program");
  int report[2];
  if (::pipe(report) != 0) return user_error(fmt::format("no pipe: {}", std::strerror(errno)));
  ::fcntl(report[0], F_SETFL, O_NONBLOCK);  // what the program started may hold the other end
  const pid_t child = ::fork();
  if (child < 0) return user_error(fmt::format("no process: {}", std::strerror(errno)));
  if (child == 0) {
    ::close(report[0]);
    become(options, folder, report[1]);
  }
  ::close(report[1]);
  int status = 0;
  while (::waitpid(child, &status, 0) < 0 && errno == EINTR) {
  }
  char byte = 0;
  const bool errors = ::read(report[0], &byte, 1) == 1;
  ::close(report[0]);
  if (WIFSIGNALED(status)) return static_cast<ExitCode>(128 + WTERMSIG(status));
  const int code = WEXITSTATUS(status);
  return static_cast<ExitCode>(code == 0 && errors ? exit_findings : code);
}

}  // namespace palladion::cli
