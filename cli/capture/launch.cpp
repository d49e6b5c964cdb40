#include "cli/capture/launch.h"

#include <fmt/format.h>
#include <spawn.h>
#include <sys/wait.h>

#include <cerrno>
#include <csignal>
#include <cstring>

#include "isa/host/interrupt.h"

extern char** environ;

namespace palladion::cli {
namespace {

namespace fs = std::filesystem;

std::vector<std::string> environment_with(const std::map<std::string, std::string>& variables) {
  std::vector<std::string> out;
  for (char** entry = environ; *entry != nullptr; ++entry) {
    const std::string text = *entry;
    if (!variables.contains(text.substr(0, text.find('=')))) out.push_back(text);
  }
  for (const auto& [name, value] : variables) out.push_back(name + "=" + value);
  return out;
}

std::vector<char*> pointers_to(const std::vector<std::string>& texts) {
  std::vector<char*> out;
  for (const std::string& text : texts) out.push_back(const_cast<char*>(text.c_str()));
  out.push_back(nullptr);
  return out;
}

}  // namespace

std::optional<fs::path> capture_library() {
  std::error_code failed;
  const fs::path here = fs::read_symlink("/proc/self/exe", failed).parent_path();
  for (const char* folder : {".", "../lib", "../lib64", "../lib/x86_64-linux-gnu"}) {
    const fs::path path = here / folder / "libpalladion_capture.so";
    if (fs::exists(path, failed)) return fs::weakly_canonical(path, failed);
  }
  return std::nullopt;
}

Outcome<int> run_with(const std::vector<std::string>& command,
                      const std::map<std::string, std::string>& variables) {
  const std::vector<std::string> environment = environment_with(variables);
  const std::vector<char*> words = pointers_to(command), entries = pointers_to(environment);
  posix_spawnattr_t attributes;
  ::posix_spawnattr_init(&attributes);
  sigset_t usual;
  sigemptyset(&usual);
  for (const int signal : {SIGPIPE, SIGINT, SIGTERM}) sigaddset(&usual, signal);
  ::posix_spawnattr_setsigdefault(&attributes, &usual);
  ::posix_spawnattr_setflags(&attributes, POSIX_SPAWN_SETSIGDEF);
  pid_t child = 0;
  const int error = ::posix_spawnp(&child, words[0], nullptr, &attributes, words.data(), entries.data());
  ::posix_spawnattr_destroy(&attributes);
  if (error != 0)
    return user_error(fmt::format("{} cannot be started: {}", command.front(), std::strerror(error)));
  {
    const Child ends_with_us(child);
    siginfo_t info;
    while (::waitid(P_PID, id_t(child), &info, WEXITED | WNOWAIT) < 0 && errno == EINTR) continue;
  }
  int status = 0;
  while (::waitpid(child, &status, 0) < 0 && errno == EINTR) continue;
  return WIFSIGNALED(status) ? 128 + WTERMSIG(status) : WEXITSTATUS(status);
}

}  // namespace palladion::cli
