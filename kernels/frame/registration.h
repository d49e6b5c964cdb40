#pragma once
// PALLADION_KERNELS: the kernels of a file, for the program that the file is linked into or that loads it.
#include <array>
#include <cstdint>
#include <string>
#include <vector>

#include "frontend/plgpu.h"
#include "kernels/frame/spec.h"

namespace palladion::kernels {

// Sizes of what a file of kernels and its program share. They differ when one was compiled against other
// headers, or by a compiler with another layout.
using Layout = std::array<uint32_t, 12>;
inline constexpr Layout layout = {1,  // of this list
                                  sizeof(KernelSpec),
                                  sizeof(Choice),
                                  sizeof(Array),
                                  sizeof(plgpu::Kernel),
                                  sizeof(plgpu::Ref),
                                  sizeof(plgpu::Array),
                                  sizeof(pl::Scalar),
                                  sizeof(plgpu::KernelOptions),
                                  sizeof(isa::Module),
                                  sizeof(std::string),
                                  sizeof(isa::Diagnostic)};

// One file's kernels. Plain data: a program reads `layout` before it calls `kernels`.
struct KernelFile {
  Layout layout;                                   // of the types that file and program share
  void (*kernels)(std::vector<KernelSpec>& into);  // adds the file's specs
  const KernelFile* next = nullptr;                // set by register_file
};

// Called when the file is loaded; the program keeps the pointer.
void register_file(KernelFile& file);
// The files registered so far, the latest first; null: none.
const KernelFile* registered_files();

// The kernels of all files registered so far, in the order of registration.
std::vector<KernelSpec> registered_kernels();

}  // namespace palladion::kernels

// At namespace scope, once a file: PALLADION_KERNELS(add_spec(), Spec(...), ...), each a KernelSpec or a
// Spec.
#define PALLADION_KERNELS(...)                                                                 \
  static void palladion_kernels_of_file(std::vector<::palladion::kernels::KernelSpec>& into) { \
    into = std::vector<::palladion::kernels::KernelSpec>{__VA_ARGS__};                         \
  }                                                                                            \
  static ::palladion::kernels::KernelFile palladion_file{::palladion::kernels::layout,         \
                                                         &palladion_kernels_of_file, nullptr}; \
  [[maybe_unused]] static const bool palladion_file_is_registered =                            \
      (::palladion::kernels::register_file(palladion_file), true)
