// --registers: how many registers a thread of the kernel takes. They limit how many CTAs an SM holds.
#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "cli/options/options.h"
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

// Refuses words that do not exist, and ptxas where there is none.
Outcome<void> check_registers(const Options& options);
// With ptxas' result where it was requested.
Outcome<Registers> registers_of(const Options& options, const isa::ArchSpec& arch, const Job& job);

}  // namespace palladion::cli
