#pragma once
// What a CTA needs of an SM: registers (an estimate, where there is no ptxas) and named barriers.
#include <cstdint>
#include <optional>

#include "sim/program/program.h"

namespace palladion::sim::sass {

// 32-bit registers a thread: the most that are live at once in the entry function, and what ptxas takes
// besides; no more than the launch bounds allow. ptxas may need fewer, or more where it moves loads ahead.
uint32_t estimated_registers(const Program& program);

// Where in the entry function most registers are live, compared with those that a thread has there: what the
// launch bounds and setmaxnreg give, 255 at most. Of those that are missing ptxas keeps some in local memory,
// unless it computes values again.
struct RegisterPeak {
  enum class Limit : uint8_t { launch, setmaxnreg, encoding };  // of what is given
  Pc at;                                                        // the instruction
  uint32_t live = 0, given = 0;                                 // registers of 32 bits
  Limit limit = Limit::launch;
};
// None of a function without registers.
std::optional<RegisterPeak> register_peak(const Program& program);

// As ptxas counts them: up to the highest that is named, all of them when a register names one.
uint32_t named_barriers(const Program& program);

}  // namespace palladion::sim::sass
