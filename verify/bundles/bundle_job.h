// A launch that was captured on a GPU, as a job.
#pragma once

#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "cuda/bundle/bundle.h"
#include "isa/arch/arch.h"
#include "isa/host/outcome.h"
#include "verify/launch/job.h"
#include "verify/launch/outputs.h"

namespace palladion::verify {

struct Recorded {
  cuda::bundle::Manifest manifest;
  std::vector<std::optional<Array>> after;  // what the device left in each buffer of the job; none: unknown
};

// A bundle's program.
struct BundleProgram {
  std::string name;      // the folder's
  std::string ptx_path;  // what lines of PTX refer to
  std::string ptx;
  std::unique_ptr<isa::Module> module;  // linked with those that the program linked it with
  std::shared_ptr<Recorded> recorded;
};
// `chip`: what the PTX must be for; null: any.
host::Outcome<BundleProgram> open_bundle(const std::string& folder, const isa::ArchSpec* chip);

// Its launch and buffers: every buffer at the device's address. `job` has the program's module and entry; the
// result describes the contents of each buffer of the job.
host::Outcome<std::vector<std::string>> take_launch(const std::string& folder, const std::string& name,
                                                    Recorded& recorded, Job& job);

// Every byte of every buffer that the device left.
std::vector<OutputComparison> compare_with_recorded(const Recorded& recorded, const Job& job,
                                                    const std::vector<Array>& outputs);

}  // namespace palladion::verify
