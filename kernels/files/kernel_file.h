// Kernels from a file of C++ that ends with PALLADION_KERNELS(...), or from a shared object made of one.
#pragma once

#include <span>
#include <string>

#include "isa/host/outcome.h"
#include "kernels/files/object.h"
#include "kernels/frame/spec.h"

namespace palladion::kernels {

// Compiles the file when it has changed, loads it once; it stays loaded until the program ends.
host::Outcome<std::span<const KernelSpec>> kernels_of_file(const std::string& file, const Note& note = {});

// The kernel of this name, or, of an empty one, the file's only one.
host::Outcome<const KernelSpec*> kernel_of_file(const std::string& file, const std::string& kernel,
                                                const Note& note = {});

}  // namespace palladion::kernels
