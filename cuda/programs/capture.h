// How a program is started so that its launches on a GPU are recorded: `palladion capture`.
#pragma once

#include <cstdint>
#include <filesystem>
#include <string>
#include <vector>

#include "isa/host/outcome.h"

namespace palladion::cuda::programs {

// What the capture library reads in the program (cuda/capture/recorder.h).
struct CaptureSettings {
  std::string folder;               // gets the bundles
  std::string kernel;               // a regular expression; empty: all kernels
  uint64_t skip = 0, launches = 1;  // of each kernel
  uint64_t max_bytes = uint64_t{4} << 30;
  bool strip = false;  // seeds stand for the memory's contents
};

// Runs the program with its arguments to its end. Its exit code; 128 + N when signal N ended it. Unsupported
// where the capture library is neither beside this program nor where it is installed.
host::Outcome<int> run_captured(const std::vector<std::string>& program, const CaptureSettings& settings);

}  // namespace palladion::cuda::programs
