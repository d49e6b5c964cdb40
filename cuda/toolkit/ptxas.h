// ptxas of the CUDA toolkit, where there is one: which resources a kernel takes on the chip. It needs no GPU.
#pragma once

#include <filesystem>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "cuda/native/jit_log.h"
#include "isa/host/outcome.h"

namespace palladion::cuda::toolkit {

// A program of the toolkit: in CUDA_HOME, on PATH, or where the toolkit's installer puts it.
std::optional<std::filesystem::path> find_tool(std::string_view name);

// Unsupported where there is no ptxas.
host::Outcome<void> need_ptxas();
// What `ptxas -v` says of an entry.
struct PtxasAnswer {
  cuda::native::ResourceUse use;
  std::vector<cuda::native::CompilerRemark> remarks;  // of all functions of the text
};
// Of an entry for a target ("sm_90a"). Its output is cached by the text, the target and the ptxas itself, in
// $XDG_CACHE_HOME/palladion/ptxas (else ~/.cache; without either nowhere), so is its refusal: a user's error
// with its words. It is ended, and a user's error says so, when it takes more than a minute of processor time
// or writes more than a megabyte.
host::Outcome<PtxasAnswer> ask_ptxas(std::string_view ptx, std::string_view entry, std::string_view target);
// The machine code that ptxas makes of a text for a target, as nvdisasm prints it, with the lines of the PTX
// (`## File "...ptx...", line N`). Unsupported where a tool is missing; a user's error when one rejects its
// input.
host::Outcome<std::string> ask_machine_code(std::string_view ptx, std::string_view target);

}  // namespace palladion::cuda::toolkit
