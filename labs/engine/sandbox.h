// Limits for code that is not ours: a compiler that reads a learner's file, and the recording of the kernel
// in it. They are taken on by the process itself, before it touches that file, and hold until it ends.
#pragma once

#include <cstdint>
#include <filesystem>
#include <string>
#include <vector>

namespace palladion::labs {

struct Limits {
  unsigned cpu_seconds = 0, wall_seconds = 0;
  uint64_t memory = 0;                                    // bytes of address space; 0: not limited
  uint64_t file_bytes = 0;                                // of a file that it writes; 0: it writes none
  std::vector<std::filesystem::path> readable, writable;  // files and folders, with what is below
  bool may_start_programs = false;
};

// What this kernel and this build offer of it. Landlock: the paths; seccomp: no process, no network, no
// signal.
struct Confined {
  bool paths = false, calls = false;
};
Confined confine(const Limits& limits);

// Limits the address space of this process, in bytes, and of those that it starts. Builds with a sanitizer
// have no such limit.
void limit_memory(uint64_t bytes);

// What programs need of the system: their libraries and settings.
std::vector<std::filesystem::path> system_folders();

}  // namespace palladion::labs
