// How a program is started so that it finds the simulated device: `palladion exec`.
#pragma once

#include <cstdint>
#include <filesystem>
#include <string>
#include <vector>

#include "cuda/programs/watched.h"

namespace palladion::cuda::programs {

// What our libraries read in the program (cuda/driver/state.h): names as the options have them.
struct ExecSettings {
  std::string arch, schedule, checks;
  std::string schedules = "1";    // "all", or how many each launch is judged under
  bool on_clock = false;          // the schedule is the chip's
  bool torch = false;             // PyTorch's own operators are those of the host
  unsigned threads = 0;           // of the host; 0: all
  uint64_t max_instructions = 0;  // of a warp; 0: no limit
  bool fmad = true;
};

// The folder of our libraries: beside this program in the build, below lib in an installation; empty: none.
std::filesystem::path exec_folder();

// The program with its arguments, with the libraries of `folder` in front of others, and with the settings of
// compilers and frameworks that give machine code with its PTX; the user's own settings stay.
ProgramStart start_under_exec(std::vector<std::string> program, const ExecSettings& settings,
                              const std::filesystem::path& folder);

}  // namespace palladion::cuda::programs
