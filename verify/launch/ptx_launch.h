// A file of PTX with its arguments as a job.
#pragma once

#include <map>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "isa/arch/arch.h"
#include "isa/host/outcome.h"
#include "verify/launch/arg_spec.h"
#include "verify/launch/job.h"

namespace palladion::verify {

// The text of a file, parsed and verified for a chip; null: for any. The error has places in the text.
host::Outcome<std::unique_ptr<isa::Module>> module_of_ptx(const std::string& text, const std::string& path,
                                                          const isa::ArchSpec* chip);
// The same of the objects of a linked program.
host::Outcome<std::unique_ptr<isa::Module>> module_of_objects(std::span<const std::string> texts,
                                                              const std::string& path,
                                                              const isa::ArchSpec* chip);

// What is bound to a .texref, .surfref or .samplerref variable.
struct Binding {
  std::string name;  // of the variable
  std::string text;  // as the user wrote it
  ArgSpec spec;      // what the text means
};
// A launch of a kernel in PTX, as the user words it.
struct PtxLaunch {
  std::string entry;                              // empty: the only one
  std::optional<isa::Dim3> grid, block, cluster;  // none: as the entry requires
  uint32_t dynamic_shared = 0;                    // bytes
  std::vector<ArgSpec> args;                      // of the entry's parameters, in their order
  std::vector<Binding> binds;                     // of the module's variables
};
// The arrays of a launch, beside the job.
struct BoundArrays {
  std::vector<std::string> contents;             // of each buffer of the job: "randn(7)", "a.npy", ""
  std::map<std::string, std::string> out_files;  // buffer's name -> .npy
};

// Makes or reads the arrays; `job` has `module`, whose variables are bound. The errors name the options of
// the command line.
host::Outcome<BoundArrays> bind_arguments(Job& job, isa::Module& module, const PtxLaunch& launch);

}  // namespace palladion::verify
