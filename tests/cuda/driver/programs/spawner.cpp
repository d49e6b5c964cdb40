// Starts a program (the second word) with `--version` in the way that the first word names.
#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <string>

extern char** environ;

int main(int, char** words) {
  const std::string way = words[1], path = words[2];
  char version[] = "--version";
  char* const given[] = {words[2], version, nullptr};
  const char *const file = words[2], *const none = nullptr;
  int status = 1;
  if (way == "execve") execve(file, given, environ);
  if (way == "execv") execv(file, given);
  if (way == "execvp") execvp(file, given);
  if (way == "execvpe") execvpe(file, given, environ);
  if (way == "execl") execl(file, file, version, none);
  if (way == "execlp") execlp(file, file, version, none);
  if (way == "execle") execle(file, file, version, none, environ);
  pid_t process = 0;
  if (way == "posix_spawn" && posix_spawn(&process, file, nullptr, nullptr, given, environ) != 0) return 2;
  if (way == "posix_spawnp" && posix_spawnp(&process, file, nullptr, nullptr, given, environ) != 0) return 2;
  if (way == "vfork" && (process = vfork()) == 0) {
    execve(file, given, environ);
    _exit(2);
  }
  if (process != 0) return waitpid(process, &status, 0) == process ? WEXITSTATUS(status) : 2;
  if (way == "system") return WEXITSTATUS(std::system((path + " --version").c_str()));
  if (way == "popen") {
    char line[256];
    FILE* const in = popen((path + " --version").c_str(), "r");
    while (std::fgets(line, sizeof line, in) != nullptr) std::fputs(line, stdout);
    return WEXITSTATUS(pclose(in));
  }
  return 2;
}
