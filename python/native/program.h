// A program that is launched from Python: PTX, or what a recorded launch holds.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "isa/arch/arch.h"
#include "python/native/request.h"
#include "verify/bundles/bundle_job.h"

namespace palladion::python {

struct Program {
  const isa::ArchSpec* arch = nullptr;
  std::string name;                  // as reports say it
  std::string path, ptx;             // what lines of PTX refer to
  std::string bundle;                // the folder of a recorded launch; empty: none
  std::vector<std::string> sources;  // folders whose files are shown
  std::unique_ptr<isa::Module> module;
  std::shared_ptr<verify::Recorded> recorded;  // of a bundle
};

Outcome<const isa::ArchSpec*> arch_named(const std::string& name);
Outcome<std::unique_ptr<Program>> open_program(const Request& request);
// Its entries with their parameters, for the answer.
json::object describe(const Program& program);

// A line or a text of a source, if it lies in a folder whose files may be shown: a stranger's PTX names any
// file of this machine as its own.
bool shows_source(const Program& program, const std::string& file);

}  // namespace palladion::python
