// Which kernel a command works on, with its sizes and arrays, or with the launch of a foreign one.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <variant>
#include <vector>

#include "cli/options/command.h"
#include "cli/options/kernel_word.h"
#include "isa/arch/arch.h"
#include "isa/core/module.h"
#include "verify/launch/ptx_launch.h"

namespace palladion::cli {

struct NamedKernel {
  std::string name;
};
struct TwinWord {           // zoo/NAME, zoo/NAME:good
  std::string pair, which;  // "broken", "good"
};
struct BundleFolder {
  std::string path;
};
struct PtxFile : verify::PtxLaunch {
  std::string path;
};
using SubjectWord = std::variant<NamedKernel, KernelFileWord, TwinWord, BundleFolder, PtxFile>;

struct SubjectRequest {
  SubjectWord what;
  std::span<const kernels::KernelSpec> kernels;  // by name
  Pairs sizes, settings;                         // --shape, --set: the kernel itself parses them
  bool tunes = true;                             // settings that are not given may come of a table
  Pairs in, out;                                 // array's name -> file
  uint64_t seed = 0;                             // of random inputs
  const isa::ArchSpec* arch = &isa::default_arch();
  bool names_arch = false;           // --arch was given
  std::vector<std::string> sources;  // --source: folders whose files are shown, besides that of the PTX
  bool any_chip = false;             // PTX that is only printed may be for another chip
};

// What KERNEL is.
SubjectWord subject_word(const std::string& word);
// "h200"
Outcome<const isa::ArchSpec*> arch_named(const std::string& name);

struct SubjectWords {
  std::string kernel, ptx, entry;
  Pairs sizes, settings, in, out;
  std::optional<isa::Dim3> grid, block, cluster;
  uint32_t smem = 0;
  std::vector<std::string> args, binds, sources;
  uint64_t seed = 0;
  const isa::ArchSpec* arch = nullptr;

  void state(Words& words);
  Outcome<SubjectRequest> request(const Invocation& invocation) const;

 private:
  bool names_launch() const;
  Outcome<void> check() const;
  Outcome<PtxFile> ptx_file() const;
};

// `arch`: what --arch gave; without it the chip that the kernel is for, or that can run the PTX.
void state_arch(Words& words, const isa::ArchSpec*& arch);
// `arch` where that is given. Of a file of kernels, which it loads: an error where that fails.
Outcome<const isa::ArchSpec*> chip_for(const SubjectRequest& request, const isa::ArchSpec* arch);

}  // namespace palladion::cli
