// What a command works on: a kernel of ours or a foreign one, with its arrays, ready to launch.
#pragma once

#include <map>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "cli/options/options.h"
#include "cli/options/registers.h"
#include "cli/support/outcome.h"
#include "cuda/bundle/bundle.h"
#include "isa/arch/arch.h"
#include "kernels/frame/spec.h"
#include "kernels/zoo/zoo.h"
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

// Records or parses, makes or reads the inputs.
Outcome<Subject> load_subject(const Options& options);
// Without arrays: for the PTX alone.
Outcome<Subject> load_program(const Options& options);

// The kernel that the command names, of the program or of a file, which is compiled when it has changed.
Outcome<const kernels::KernelSpec*> find_spec(const Options& options, const std::string& word);

// Without --arch: the chip that the kernel is for, or that can run the PTX file.
void choose_chip(Options& options);
Outcome<const isa::ArchSpec*> find_architecture(const std::string& name);

// "zoo/NAME", the broken twin, or "zoo/NAME:good" (subject_zoo.cpp).
bool names_twin(std::string_view kernel);
Outcome<void> take_twin(Subject& subject, const Options& options);

// The folder of a bundle (subject_bundle.cpp): its program, then its launch and buffers.
bool names_bundle(const std::string& word);
Outcome<void> open_bundle(Subject& subject, const Options& options);
Outcome<void> take_bundle(Subject& subject, const Options& options);
// "u32 0x3f800000, f32 1, f16 ..." of the word around byte `at`.
std::string guesses(std::span<const std::byte> bytes, size_t at);

// Parses and verifies the text of a file.
Outcome<void> take_ptx(Subject& subject, const Options& options, std::string text, const std::string& path);
// The job's part of it, for a file of PTX (subject_ptx.cpp).
Outcome<void> bind_arguments(Subject& subject, const Options& options);

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
