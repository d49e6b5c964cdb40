// Another program, run without a shell.
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "isa/host/outcome.h"

namespace palladion::host {

struct Ended {
  int code = -1;       // exit code; -1: it did not start, or a signal ended it
  int signal = 0;      // the signal that ended it
  std::string output;  // of run_quietly
};

// `command[0]` is found on PATH when it names no folder. Standard input is empty.
// Its streams are ours.
Ended run_process(const std::vector<std::string>& command);
// Its output is returned, of both streams.
struct QuietRun {
  size_t most = SIZE_MAX;                                    // bytes of output: who prints more is ended
  int ended_by = 9;                                          // with this signal (SIGKILL)
  unsigned cpu_seconds = 0;                                  // of processor time, then SIGKILL; 0: no limit
  std::optional<std::vector<std::string>> environment = {};  // "NAME=value"; none: ours
  bool passes_errors = false;                                // its standard error is ours
};
Ended run_quietly(const std::vector<std::string>& command, const QuietRun& options = {});
// Our environment with these variables, for QuietRun.
std::vector<std::string> environment_with(const std::map<std::string, std::string>& variables);

// As a shell takes it: quoted where it must be.
std::string shell_word(std::string_view word);

// Runs `command` with these variables added to the environment and our three streams, to its end. Its exit
// code; 128 + N when signal N ended it. A user's error when it cannot be started.
Outcome<int> run_with(const std::vector<std::string>& command,
                      const std::map<std::string, std::string>& variables);

}  // namespace palladion::host
