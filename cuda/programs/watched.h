// A program with our libraries in front, from its start to its end.
#pragma once

#include <functional>
#include <string>
#include <string_view>
#include <vector>

#include "isa/host/outcome.h"
#include "report/json/exec_record.h"

namespace palladion::cuda::programs {

inline constexpr int could_not_run = 126, not_there = 127;  // as a shell says it

struct ProgramEnd {
  int code = 0;    // of its exit; 128 + the signal that ended it
  int signal = 0;  // 0: none
};

struct ProgramStart {
  std::vector<std::string> words;
  // In the new process: sets the environment. `pipe` names the pipe as PALLADION_EXEC does:
  // "FILE:INODE:PROCESS".
  std::function<void(const std::string& pipe)> prepare;
};
using TakeRecord = std::function<void(uint64_t sender, const report::ExecKey& key, std::string text)>;

// Runs it to its end and gives each record that it, or a program that it started, writes. SIGINT, SIGTERM,
// SIGHUP, SIGQUIT, SIGUSR1 and SIGUSR2 are the program's: they are passed on. What it started and left behind
// is not waited for.
host::Outcome<ProgramEnd> run_to_its_end(const ProgramStart& start, const TakeRecord& take);

}  // namespace palladion::cuda::programs
