// A process that handles a submission, watched by another one: it ends with its limit, or with who asked for
// it, and nothing that it started stays.
#pragma once

#include <sys/types.h>

#include <filesystem>
#include <string>
#include <vector>

#include "labs/engine/sandbox.h"

namespace palladion::labs {

// The first words behind the name of such a process' command.
struct Orders {
  pid_t asker = 0;                  // it ends with this process
  std::filesystem::path temporary;  // a folder that is removed when it is ended from outside
  bool unconfined = false;          // runs also where confinement is not complete

  std::vector<std::string> words() const;
};
// Takes them off the front of `words`; asker 0: they are not there.
Orders take_orders(std::vector<std::string>& words);

// Returns in a new process, the payload, with the namespaces and the control group that hold it; nothing of
// it runs with a wider view than `limits`. The calling process stays to watch and ends as the payload does;
// by SIGALRM when the limit of wall time is reached. It must have one thread.
Confined supervise(const Orders& orders, const Limits& limits);

}  // namespace palladion::labs
