// What a command works on: a kernel of ours or a foreign one, with its arrays, ready to launch.
#pragma once

#include <map>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "cli/options/clock_settings.h"
#include "cli/options/subject_request.h"
#include "cli/support/exit_code.h"
#include "kernels/frame/spec.h"
#include "kernels/zoo/zoo.h"
#include "report/run/launched.h"
#include "verify/arrays/npy_files.h"
#include "verify/bundles/bundle_job.h"
#include "verify/launch/job.h"

namespace palladion::cli {

struct Subject {
  std::string name;  // "matmul_ws", "saxpy.ptx"
  const isa::ArchSpec* arch = nullptr;
  const kernels::KernelSpec* spec = nullptr;  // a kernel by name
  const kernels::zoo::Pair* pair = nullptr;   // a twin of the zoo
  kernels::Choice choice;
  std::string settings_from;                   // which table gave settings that nobody named; empty: none did
  std::unique_ptr<plgpu::Kernel> kernel;       // ours
  std::unique_ptr<isa::Module> module;         // foreign
  std::shared_ptr<const void> specimen;        // what a twin's job points to
  std::shared_ptr<verify::Recorded> recorded;  // a bundle's
  std::string ptx_name;                        // of the text that PTX lines refer to; empty: none
  std::vector<std::string> sources;            // of a foreign kernel: the folders whose files are shown
  Job job;
  Registers registers;                           // for the clock
  std::vector<std::string> contents;             // of each buffer of the job: "randn(7)", "a.npy", ""
  std::map<std::string, std::string> out_files;  // buffer's name -> .npy
  double record_seconds = 0, input_seconds = 0;

  bool is_foreign() const { return module != nullptr; }
  const isa::Module& program() const;
};

// Whether the lines of a source may be shown: a stranger's PTX names any file of this machine as its own.
bool shows_source(const Subject& subject, const std::string& file);

// As reports name it; it points into the subject.
Launched launched(const Subject& subject);

// Records or parses, makes or reads the inputs. `clock`: of the hardware schedule, which may need no values;
// null: another schedule.
Outcome<Subject> load_subject(const SubjectRequest& request, const ClockSettings* clock);
// Without arrays: for the PTX alone.
Outcome<Subject> load_program(const SubjectRequest& request);

// The kernel by its name, of the program or of a file, which is compiled when it has changed.
Outcome<const kernels::KernelSpec*> find_spec(const SubjectRequest& request);

// A twin of the zoo (subject_zoo.cpp).
Outcome<void> take_twin(Subject& subject, const TwinWord& twin, bool keep_arch);

}  // namespace palladion::cli
