// --registers: how many registers a thread of the kernel takes. They limit how many CTAs an SM holds.
#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "cli/support/outcome.h"
#include "cuda/native/jit_log.h"
#include "isa/arch/arch.h"
#include "verify/launch/job.h"

namespace palladion::cli {

struct Registers {
  enum class From : uint8_t { estimate, ptxas, given };
  From from = From::estimate;
  uint32_t count = 0;                              // 32-bit registers a thread; 0: the machine estimates them
  std::optional<cuda::native::ResourceUse> ptxas;  // its whole output
};
std::string_view name(Registers::From from);

// What --registers says: "estimate" or nothing, "ptxas" where there is one, or a number.
Outcome<Registers> registers_named(const std::string& word, const isa::ArchSpec& arch);
// With ptxas' result where it was requested.
Outcome<Registers> registers_of(const Registers& wanted, const isa::ArchSpec& arch, const Job& job);

}  // namespace palladion::cli
