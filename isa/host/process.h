// Another program, run without a shell.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

namespace palladion::cli {

struct Ended {
  int code = -1;       // exit code; -1: it did not start, or a signal ended it
  int signal = 0;      // the signal that ended it
  std::string output;  // of run_quietly: both streams
};

// `command[0]` is found on PATH when it names no folder. Standard input is empty.
// Its streams are ours.
Ended run_process(const std::vector<std::string>& command);
// Its output is returned. One that prints more than `most` bytes is ended, with SIGKILL.
Ended run_quietly(const std::vector<std::string>& command, size_t most = SIZE_MAX);

}  // namespace palladion::cli
