// A judge in a process of its own: what an error of ours does with PTX of a submission ends there.
#pragma once

#include <filesystem>
#include <string>
#include <vector>

#include "isa/host/process.h"
#include "labs/engine/recording.h"
#include "labs/engine/supervisor.h"
#include "labs/lab.h"

namespace palladion::labs {

struct JudgeOrder {
  std::filesystem::path file;
  const Lab* lab = nullptr;
  std::string program;               // LabVerdict::program
  unsigned seconds = 60;             // of processor time a thread; three times as much of wall time
  unsigned threads = 1;              // of the host
  bool unconfined = false;           // also where the kernel does not confine enough
  bool passes_errors = false;        // its standard error is ours; else a part of its output
  std::vector<std::string> options;  // of its command, besides
};

// Runs `lab judge ORDERS FILE LAB PROGRAM --seconds N --threads N OPTIONS...` of `confined_program` to its
// end: by SIGALRM or SIGXCPU at the limit. Its temporary files are gone then.
host::Ended run_judge(const JudgeOrder& order);
bool was_late(const host::Ended& judge);

// In that process, while it has one thread: takes on the limits; its supervisor stays behind. What comes back
// confines it, for JudgeRequest.
Enter begin_judging(const Orders& orders, const std::filesystem::path& file, unsigned seconds,
                    unsigned threads);

}  // namespace palladion::labs
