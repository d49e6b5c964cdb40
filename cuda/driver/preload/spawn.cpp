// Whoever starts NVIDIA's assembler or linker starts ours (cuda/compilers): by any path, as a program of any
// name that the C library has for that. nvcc keeps its own tools: what it makes is for other chips, too.
#include <dlfcn.h>
#include <spawn.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <cstdarg>
#include <cstdlib>
#include <cstring>
#include <string>
#include <string_view>
#include <vector>

#include "cuda/driver/preload/folder.h"

namespace palladion::cuda::preload {
namespace {

constexpr const char* own_tools = "PALLADION_OWN_TOOLS";  // below nvcc

// Known before a process is forked: between `vfork` and `execve` nothing may be computed.
struct Tools {
  char ptxas[4096] = "", nvlink[4096] = "";
  int (*spawn)(pid_t*, const char*, const posix_spawn_file_actions_t*, const posix_spawnattr_t*,
               char* const[], char* const[]) = nullptr;
  decltype(spawn) spawn_by_path = nullptr;
  int (*execute_by_path)(const char*, char* const[], char* const[]) = nullptr;
};
Tools tools;

template <class F>
void find(F& function, const char* name) {
  function = reinterpret_cast<F>(::dlsym(RTLD_NEXT, name));
}

void set(char (&place)[4096], const std::string& path) {
  if (path.size() < sizeof place && ::access(path.c_str(), X_OK) == 0) std::strcpy(place, path.c_str());
}

__attribute__((constructor)) void find_tools(int, char** words, char** environment) {
  find(tools.spawn, "posix_spawn");
  find(tools.spawn_by_path, "posix_spawnp");
  find(tools.execute_by_path, "execvpe");
  ::environ = environment;  // as in redirect.cpp
  const std::string_view name = words[0] == nullptr ? "" : words[0];
  if (name.substr(name.rfind('/') + 1) == "nvcc") ::setenv(own_tools, "1", 1);
  if (::getenv(own_tools) != nullptr) return;
  set(tools.ptxas, own_folder() + "/ptxas");
  set(tools.nvlink, own_folder() + "/nvlink");
}

// In place of this file; null: it is none of these tools.
const char* tool_for(const char* file) {
  if (file == nullptr) return nullptr;
  const char* const slash = std::strrchr(file, '/');
  const char* const name = slash != nullptr ? slash + 1 : file;
  const char* const found = std::strcmp(name, "ptxas") == 0 || std::strcmp(name, "ptxas-blackwell") == 0
                                ? tools.ptxas
                            : std::strcmp(name, "nvlink") == 0 ? tools.nvlink
                                                               : "";
  return *found != '\0' ? found : nullptr;
}

int execute(const char* path, char* const words[], char* const environment[]) {
  const char* const ours = tool_for(path);
  return static_cast<int>(::syscall(SYS_execve, ours != nullptr ? ours : path, words, environment));
}

int execute_by_path(const char* file, char* const words[], char* const environment[]) {
  if (tool_for(file) != nullptr) return execute(file, words, environment);
  return tools.execute_by_path(file, words, environment);
}

// The words of execl and its like, up to the null; behind it execle has the environment.
std::vector<char*> words_of(const char* first, va_list& more) {
  std::vector<char*> out{const_cast<char*>(first)};
  while (out.back() != nullptr) out.push_back(va_arg(more, char*));
  return out;
}

}  // namespace
}  // namespace palladion::cuda::preload

using namespace palladion::cuda::preload;
#define PLD_EXPORT extern "C" __attribute__((visibility("default"))) int

PLD_EXPORT execve(const char* path, char* const words[], char* const environment[]) {
  return execute(path, words, environment);
}
PLD_EXPORT execv(const char* path, char* const words[]) { return execute(path, words, ::environ); }
PLD_EXPORT execvp(const char* file, char* const words[]) { return execute_by_path(file, words, ::environ); }
PLD_EXPORT execvpe(const char* file, char* const words[], char* const environment[]) {
  return execute_by_path(file, words, environment);
}
PLD_EXPORT execl(const char* path, const char* first, ...) {
  va_list more;
  va_start(more, first);
  const std::vector<char*> words = words_of(first, more);
  va_end(more);
  return execute(path, words.data(), ::environ);
}
PLD_EXPORT execlp(const char* file, const char* first, ...) {
  va_list more;
  va_start(more, first);
  const std::vector<char*> words = words_of(first, more);
  va_end(more);
  return execute_by_path(file, words.data(), ::environ);
}
PLD_EXPORT execle(const char* path, const char* first, ...) {
  va_list more;
  va_start(more, first);
  const std::vector<char*> words = words_of(first, more);
  char** const environment = va_arg(more, char**);
  va_end(more);
  return execute(path, words.data(), environment);
}
PLD_EXPORT posix_spawn(pid_t* process, const char* path, const posix_spawn_file_actions_t* actions,
                       const posix_spawnattr_t* attributes, char* const words[], char* const environment[]) {
  const char* const ours = tool_for(path);
  return tools.spawn(process, ours != nullptr ? ours : path, actions, attributes, words, environment);
}
PLD_EXPORT posix_spawnp(pid_t* process, const char* file, const posix_spawn_file_actions_t* actions,
                        const posix_spawnattr_t* attributes, char* const words[], char* const environment[]) {
  const char* const ours = tool_for(file);
  if (ours != nullptr) return tools.spawn(process, ours, actions, attributes, words, environment);
  return tools.spawn_by_path(process, file, actions, attributes, words, environment);
}
