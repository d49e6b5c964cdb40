// What the user asked for, as data. Only options.cpp uses the parser's library.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "cli/options/sweep_axes.h"
#include "cli/support/outcome.h"
#include "kernels/frame/spec.h"

namespace palladion::cli {

enum class Command : uint8_t {
  list,
  run,
  sweep,
  ptx,
  check,
  compare,
  explain,
  doctor,
  lab,
  new_project,
  capture,
  exec
};

struct Options {
  Command command = Command::list;

  std::span<const kernels::KernelSpec> kernels;  // that the program has by name

  // What to run: a kernel by name, a file of kernels (cli/options/kernel_word.h), or a file of PTX with its
  // launch.
  std::string kernel, ptx;
  std::map<std::string, std::string> sizes, settings;  // --shape, --set
  std::string entry, grid, block, cluster;
  uint32_t smem = 0;
  std::vector<std::string> args, binds;
  std::map<std::string, std::string> in, out;  // array name -> file

  // How.
  bool names_arch = false;  // --arch was given
  std::string arch = "h200", schedule, values = "full", on = "sim";
  std::string check;  // words of --check; empty: what the command usually does
  uint64_t seed = 0;
  unsigned threads = 0;                           // 0: all cores
  uint64_t max_instructions = uint64_t{1} << 30;  // of a warp
  std::optional<unsigned> seeds;                  // check: random schedules, 20 when absent
  std::optional<uint64_t> explore;                // check: states to search at most
  bool mutate = false;                            // check: mutate the program
  bool strict = false;                            // findings of severity strict count as errors
  int repeats = 20;                               // timed runs on a device
  uint64_t device_limit = 10;                     // seconds of a run on a device
  bool reference = true;
  bool fmad = true;  // contract products and sums as ptxas does by default

  // Of the hardware schedule (cli/options/clock_settings.h).
  std::string l2, clock;           // cold or warm; a file of parameters
  std::optional<double> sm_clock;  // MHz
  std::string registers;           // estimate, ptxas or a number (cli/options/registers.h)
  bool lowered = false;            // ptx: what ptxas makes of it
  bool why = false;                // run again with parts of the chip relaxed
  size_t lines = 10;               // number of source lines reported

  // sweep
  std::vector<Axis> axes;     // --set, in the order given
  size_t top = 20;            // configurations reported; 0: all
  std::string state, resume;  // a file that keeps what is done

  // capture
  bool strip = false;
  uint64_t skip = 0, launches = 1, max_bytes = uint64_t{4} << 30;
  std::vector<std::string> ptx_dirs, command_line;  // folders; what stood behind `--`

  // lab
  std::optional<unsigned> seconds;  // grade: of a submission

  // Where results go.
  std::string json, sarif, trace, report, output;
  std::string trace_ctas, trace_cycles, trace_limit;  // cli/report/trace.h
  std::string device_trace;                           // cli/runs/scopes.h
  std::string suppress;                               // a file of accepted findings
  size_t limit = 20;                                  // findings printed in full

  std::vector<std::string> topics;  // explain, lab, list
  std::vector<std::string> words;   // what stood behind the command
};

struct ParsedOptions {
  Options options;
  std::optional<std::string> text;  // --help, --version: print this and end
};

Outcome<ParsedOptions> parse_options(int argc, const char* const* argv);

}  // namespace palladion::cli
