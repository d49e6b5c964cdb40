// Launches cases on the device, for a profiler that watches from outside.
#pragma once

#include <string>

namespace palladion::bench {

struct LaunchOptions {
  std::string cases;  // file
  std::string launches =
      "launches.txt";  // file: one line a launch, in order: "number;kernel;case;registers;local bytes"
  int repeat = 1;      // launches of each case, one behind the other
};

// Gives the number of cases that could not be launched; each is said on stderr.
int launch_cases(const LaunchOptions& options);

}  // namespace palladion::bench
