// Limits for code that is not ours: a compiler that reads a learner's file, and the recording of the kernel
// in it. They are taken on by the process itself, before it touches that file, and hold until it ends.
#pragma once

#include <cstdint>
#include <filesystem>
#include <string>
#include <vector>

namespace palladion::labs {

struct Limits {
  unsigned cpu_seconds = 0, wall_seconds = 0;  // of each process; of all together
  uint64_t memory = 0;  // bytes of address space, and resident of all together (`processes`); 0: not limited
  unsigned processes = 0;   // and threads of all together, in a control group with `memory`; 0: without one
  uint64_t file_bytes = 0;  // of a file that it writes; 0: it writes none
  std::vector<std::filesystem::path> readable, writable;  // files and folders, with what is below
  std::filesystem::path submission;                       // is readable too, unless it is a link
  bool may_start_programs = false;
  bool is_ours = false;  // reads and writes as we do: only the limits of time and memory
};

// What confines a process: "paths" (Landlock), "calls" (seccomp); namespaces: "users", "processes",
// "network", "mounts"; limits of a control group: "memory", "pids".
using Confined = std::vector<std::string>;

// Paths and calls hold. A build with a sanitizer, which needs calls of its own, does without these.
bool is_enough(const Confined& held);

// Limits the address space of this process, in bytes, and of those that it starts. Builds with a sanitizer
// have no such limit.
void limit_memory(uint64_t bytes);
// Also processor time and sizes of files.
void limit_resources(const Limits& limits);

// The limits of resources, and all that this kernel offers for the paths and calls; adds to `held` what does.
void confine(const Limits& limits, Confined& held);

// For the judge, which has one thread now: from here on it reads what `limits` names, writes what is open,
// and starts no program. False: this kernel does not offer that.
bool confine_judge(const Limits& limits);

// What programs need of the system: their libraries and settings.
std::vector<std::filesystem::path> system_folders();

}  // namespace palladion::labs
