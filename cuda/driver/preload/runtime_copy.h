#pragma once
// Where a copy of NVIDIA's runtime library lies in an ELF file.
#include <string>
#include <vector>

#include "cuda/driver/preload/elf_file.h"

namespace palladion::cuda::preload {

inline constexpr std::string_view first_call = "__cudaRegisterFatBinary";  // of each program with kernels

struct RuntimeFunction {
  std::string name;
  uint64_t address = 0;  // as the file says
  size_t bytes = 0;
};

bool is_function(const Elf64_Sym& s);

// Those of the runtime library that a table of symbols names.
std::vector<RuntimeFunction> functions_by_symbol(const ElfFile& file, uint32_t table);

// Those in a file without symbols. Each function of the API names itself to profilers, so that its name is a
// text that this function alone refers to; where functions begin, .eh_frame_hdr says. Empty: there is no
// runtime library.
std::vector<RuntimeFunction> functions_by_own_name(const ElfFile& file);

// Those that have no such text, which register kernels: by their bytes, as they are in an archive of the
// runtime library (libcudart_static.a) of any version. `known` are those by name: the others lie around them.
std::vector<RuntimeFunction> functions_by_bytes(const ElfFile& file,
                                                const std::vector<RuntimeFunction>& known,
                                                const std::string& archive);

}  // namespace palladion::cuda::preload
