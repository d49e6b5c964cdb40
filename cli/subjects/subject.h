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
#include "isa/host/outcome.h"
#include "cuda/bundle/bundle.h"
#include "kernels/frame/spec.h"
#include "kernels/zoo/zoo.h"
#include "report/run/launched.h"
#include "verify/launch/job.h"

namespace palladion::cli {

// A launch that was captured on a device.
struct Recorded {
  cuda::bundle::Manifest manifest;
  std::vector<std::optional<Array>> after;  // what the device left in each buffer of the job; none: unknown
};

struct Subject {
  std::string name;  // "matmul_ws", "saxpy.ptx"
  const isa::ArchSpec* arch = nullptr;
  const kernels::KernelSpec* spec = nullptr;  // a kernel by name
  const kernels::zoo::Pair* pair = nullptr;   // a twin of the zoo
  kernels::Choice choice;
  std::unique_ptr<plgpu::Kernel> kernel;  // ours
  std::unique_ptr<isa::Module> module;    // foreign
  std::shared_ptr<const void> specimen;   // what a twin's job points to
  std::shared_ptr<Recorded> recorded;     // a bundle's
  std::string ptx_name;                   // of the text that PTX lines refer to; empty: none
  Job job;
  Registers registers;                           // for the clock
  std::vector<std::string> contents;             // of each buffer of the job: "randn(7)", "a.npy", ""
  std::map<std::string, std::string> out_files;  // buffer's name -> .npy
  double record_seconds = 0, input_seconds = 0;

  bool is_foreign() const { return module != nullptr; }
  const isa::Module& program() const;
};

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

// A bundle (subject_bundle.cpp): its program, then its launch and buffers.
Outcome<void> open_bundle(Subject& subject, const BundleFolder& bundle, bool any_chip);
Outcome<void> take_bundle(Subject& subject, const BundleFolder& bundle);
// "u32 0x3f800000, f32 1, f16 ..." of the word around byte `at`.
std::string guesses(std::span<const std::byte> bytes, size_t at);

// Parses and verifies the text of a file.
Outcome<void> take_ptx(Subject& subject, std::string text, const std::string& path, bool any_chip);
// The job's part of it, for a file of PTX (subject_ptx.cpp).
Outcome<void> bind_arguments(Subject& subject, const PtxFile& file);

// Refuses arrays that would not fit this machine's memory, before they are made.
Outcome<void> check_memory(double bytes);
double bytes_of(const pl::ShapeDtype& type);

// "f16[512,256]"
std::string describe(const pl::ShapeDtype& type);
// Reads an array of this type from a .npy file.
Outcome<Array> read_array(const std::string& file, const pl::ShapeDtype& type);
// Writes one; bf16 and fp8 as ml_dtypes does.
Outcome<void> write_array(const std::string& file, const Array& array);

}  // namespace palladion::cli
