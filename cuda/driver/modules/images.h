#pragma once
// Images of programs: what they are given as, and how they become one module.
#include <span>
#include <string_view>

#include <tl/expected.hpp>

#include "cuda/driver/state.h"
#include "cuda/fatbin/program.h"

namespace palladion::cuda::driver {

// Of a fatbin in memory, for the chip; the text says why there is none.
tl::expected<fatbin::Program, std::string> program_of(const void* fatbin);
// PTX text, a cubin that carries its PTX, a fatbin or a wrapper of one. A library may be large and unused:
// its PTX is parsed when it is needed.
Status load_image(Image*& out, const void* data);
Status load_file(Image*& out, const char* name);
// The texts, parsed, linked where there are several, and verified. What is wrong goes to `log`.
// `newer`: PTX for a newer chip runs where it uses nothing that this one lacks.
std::unique_ptr<isa::Module> compile(std::span<const std::string> texts, std::string& log,
                                     bool newer = false);
// The logs among the options of a compiler or linker (CUjit_option).
void write_logs(const int* options, void** values, unsigned count, std::string_view errors);

}  // namespace palladion::cuda::driver
