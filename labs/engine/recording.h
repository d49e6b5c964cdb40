// The kernel of a learner's file, recorded by a confined process for each case of a lab. What comes back is
// text; nothing of the file is ever called by the process that judges it.
#pragma once

#include <filesystem>
#include <functional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "frontend/core/launch.h"
#include "isa/host/outcome.h"
#include "kernels/files/object.h"
#include "labs/engine/sandbox.h"
#include "labs/judge.h"

namespace palladion::labs {

// How one set of sizes and settings was recorded.
struct Recording {
  plgpu::Kernel kernel;
  Values sizes, settings;          // of the values, those that the kernel has: --shape and --set
  std::vector<SeenCode> refusals;  // not empty: there is no kernel
  std::string text;                // the refusals, as they are printed
};

struct Recordings {
  std::string compiler_error;  // the first one; not empty: there is nothing else
  std::vector<Recording> all;  // one for each set of values
  Confined confined;           // what confined both the compiler and the recording
  double compile_seconds = 0;
};

// Confines this process before it parses what a submission made; a failure ends the judging.
using Enter = std::function<host::Outcome<void>()>;

struct RecordRequest {
  bool unconfined = false;  // also where the kernel does not confine enough
  kernels::Note note = {};
  Enter enter = {};
};

// The error: there is no compiler, the process ended before it was done, or it took too long; unsupported
// where it cannot be confined.
host::Outcome<Recordings> record_file(const Lab& lab, const std::filesystem::path& file,
                                      const std::vector<Values>& all_values, const RecordRequest& request);

// The program whose `lab` command these processes are; without a call it is the running one.
void set_confined_program(std::string path);
const std::string& confined_program();

// What the confined processes do, which are commands of that program: `lab record-confined ORDERS OBJECT FILE
// KERNEL ARCH VALUES...`, and `lab compile-confined ORDERS OUTPUT SOURCE HEADERS -- g++ ...`. ORDERS:
// supervisor.h. The first line of their output is `confined_by` and what holds them.
inline constexpr std::string_view confined_by = "confined by ";
host::Outcome<void> record_confined(std::vector<std::string> words);
host::Outcome<void> compile_confined(std::vector<std::string> words, const std::vector<std::string>& command);

}  // namespace palladion::labs
