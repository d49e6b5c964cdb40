#include "isa/host/process.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <spawn.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <csignal>
#include <cstring>
#include <optional>
#include <utility>

#include "isa/host/interrupt.h"

extern char** environ;

namespace palladion::host {
namespace {

std::vector<char*> pointers_to(const std::vector<std::string>& texts) {
  std::vector<char*> out;
  for (const std::string& text : texts) out.push_back(const_cast<char*>(text.c_str()));
  out.push_back(nullptr);
  return out;
}

// posix_spawn's settings: no input, signals as usual, and both streams into `into` when it is a file, or
// standard output alone.
class Settings {
 public:
  explicit Settings(int into, bool passes_errors = false) {
    ::posix_spawn_file_actions_init(&actions_);
    ::posix_spawnattr_init(&attributes_);
    ::posix_spawn_file_actions_addopen(&actions_, STDIN_FILENO, "/dev/null", O_RDONLY, 0);
    if (into >= 0) {
      ::posix_spawn_file_actions_adddup2(&actions_, into, STDOUT_FILENO);
      if (!passes_errors) ::posix_spawn_file_actions_adddup2(&actions_, into, STDERR_FILENO);
    } else {
      ::posix_spawn_file_actions_adddup2(&actions_, STDERR_FILENO, STDOUT_FILENO);
    }
    sigset_t usual;
    sigemptyset(&usual);
    for (const int number : {SIGPIPE, SIGXFSZ}) sigaddset(&usual, number);
    ::posix_spawnattr_setsigdefault(&attributes_, &usual);
    ::posix_spawnattr_setflags(&attributes_, POSIX_SPAWN_SETSIGDEF);
  }
  ~Settings() {
    ::posix_spawn_file_actions_destroy(&actions_);
    ::posix_spawnattr_destroy(&attributes_);
  }
  Settings(const Settings&) = delete;
  Settings& operator=(const Settings&) = delete;

  int start(pid_t* child, const std::vector<std::string>& command, char** environment) const {
    const std::vector<char*> words = pointers_to(command);
    return ::posix_spawnp(child, words[0], &actions_, &attributes_, words.data(), environment);
  }

 private:
  posix_spawn_file_actions_t actions_{};
  posix_spawnattr_t attributes_{};
};

// Its number is its own until waitpid.
Ended wait_for(pid_t child, std::optional<Child>& ends_with_us) {
  Ended ended;
  siginfo_t info;
  while (::waitid(P_PID, id_t(child), &info, WEXITED | WNOWAIT) < 0 && errno == EINTR) continue;
  ends_with_us.reset();
  int status = 0;
  while (::waitpid(child, &status, 0) < 0)
    if (errno != EINTR) return ended;
  if (WIFEXITED(status)) ended.code = WEXITSTATUS(status);
  if (WIFSIGNALED(status)) ended.signal = WTERMSIG(status);
  return ended;
}

// Up to `options.most` bytes: the writer of more is ended.
std::string read_all(int file, const QuietRun& options, pid_t writer) {
  std::string text;
  std::array<char, 4096> buffer{};
  for (;;) {
    const ssize_t got = ::read(file, buffer.data(), buffer.size());
    if (got < 0 && errno == EINTR) continue;
    if (got <= 0) return text;
    text.append(buffer.data(), size_t(got));
    if (text.size() <= options.most) continue;
    ::kill(writer, options.ended_by);
    return text;
  }
}

}  // namespace

std::vector<std::string> environment_with(const std::map<std::string, std::string>& variables) {
  std::vector<std::string> out;
  for (char** entry = environ; *entry != nullptr; ++entry) {
    const std::string text = *entry;
    if (!variables.contains(text.substr(0, text.find('=')))) out.push_back(text);
  }
  for (const auto& [name, value] : variables) out.push_back(name + "=" + value);
  return out;
}

Ended run_process(const std::vector<std::string>& command) {
  std::optional<Child> ends_with_us(std::in_place);
  pid_t child = 0;
  if (const int error = Settings(-1).start(&child, command, environ); error != 0)
    return {.output = std::strerror(error)};
  ends_with_us->started(child);
  return wait_for(child, ends_with_us);
}

Ended run_quietly(const std::vector<std::string>& command, const QuietRun& options) {
  int ends[2];
  if (::pipe2(ends, O_CLOEXEC) != 0) return {.output = std::strerror(errno)};
  std::optional<Child> ends_with_us(std::in_place);
  pid_t child = 0;
  std::vector<char*> variables;
  if (options.environment) variables = pointers_to(*options.environment);
  const int error = Settings(ends[1], options.passes_errors)
                        .start(&child, command, options.environment ? variables.data() : environ);
  if (error == 0) ends_with_us->started(child);
  if (error == 0 && options.cpu_seconds != 0) {
    const rlimit limit{options.cpu_seconds, options.cpu_seconds};
    ::prlimit(child, RLIMIT_CPU, &limit, nullptr);
  }
  ::close(ends[1]);
  std::string output = error != 0 ? std::strerror(error) : read_all(ends[0], options, child);
  ::close(ends[0]);
  Ended ended = error != 0 ? Ended{} : wait_for(child, ends_with_us);
  ended.output = std::move(output);
  return ended;
}

std::string shell_word(std::string_view word) {
  const bool is_plain =
      !word.empty() && word.find_first_of(" ()[]{}*?!#~$&|;<>`'\"\\\t\n") == std::string_view::npos;
  if (is_plain) return std::string(word);
  std::string out = "'";
  for (const char c : word) out += c == '\'' ? std::string("'\\''") : std::string(1, c);
  return out + "'";
}

Outcome<int> run_with(const std::vector<std::string>& command,
                      const std::map<std::string, std::string>& variables) {
  const std::vector<std::string> environment = environment_with(variables);
  const std::vector<char*> words = pointers_to(command), entries = pointers_to(environment);
  posix_spawnattr_t attributes;
  ::posix_spawnattr_init(&attributes);
  sigset_t usual;
  sigemptyset(&usual);
  for (const int signal : {SIGPIPE, SIGXFSZ, SIGINT, SIGTERM}) sigaddset(&usual, signal);
  ::posix_spawnattr_setsigdefault(&attributes, &usual);
  ::posix_spawnattr_setflags(&attributes, POSIX_SPAWN_SETSIGDEF);
  std::optional<Child> ends_with_us(std::in_place);
  pid_t child = 0;
  const int error = ::posix_spawnp(&child, words[0], nullptr, &attributes, words.data(), entries.data());
  ::posix_spawnattr_destroy(&attributes);
  if (error != 0)
    return user_error(fmt::format("{} cannot be started: {}", command.front(), std::strerror(error)));
  ends_with_us->started(child);
  const Ended ended = wait_for(child, ends_with_us);
  return ended.signal != 0 ? 128 + ended.signal : ended.code;
}

}  // namespace palladion::host
