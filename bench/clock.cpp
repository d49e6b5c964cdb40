// How well does the clock foretell an H200?
//   bench_clock --device CASES.txt [--repeat N] [--launches FILE]
#include <CLI/CLI.hpp>

#include "bench/clock/launch_cases.h"

using namespace palladion;

int main(int argc, char** argv) {
  CLI::App app{"The machine's clock against cycles that were measured on a device"};
  bench::LaunchOptions launch;
  app.add_option("--device", launch.cases, "launch the cases of this file on a GPU, for a profiler to watch");
  app.add_option("--repeat", launch.repeat, "launches of each case")->check(CLI::PositiveNumber);
  app.add_option("--launches", launch.launches, "file that says which launch was which case")
      ->default_str("launches.txt");
  CLI11_PARSE(app, argc, argv);
  return bench::launch_cases(launch) == 0 ? 0 : 1;
}
