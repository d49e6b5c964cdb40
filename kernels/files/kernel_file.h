// Kernels from a file of C++ that ends with PALLADION_KERNELS(...), or from a shared object made of one.
#pragma once

#include <span>

#include "cli/options/kernel_word.h"
#include "isa/host/outcome.h"
#include "kernels/frame/spec.h"

namespace palladion::cli {

// Compiles the file when it has changed, loads it once; it stays loaded until the program ends.
Outcome<std::span<const kernels::KernelSpec>> kernels_of_file(const std::string& file);

// The kernel that the word names, or the file's only one.
Outcome<const kernels::KernelSpec*> kernel_of_file(const KernelFileWord& word);

}  // namespace palladion::cli
