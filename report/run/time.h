// The clock's report of a run: cycles, rates, where the time went, what would help.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "cuda/native/jit_log.h"
#include "sim/clock/report/where.h"
#include "verify/launch/why.h"

namespace palladion::report {

// How many registers a thread takes. They limit how many CTAs an SM holds.
struct Registers {
  enum class From : uint8_t { estimate, ptxas, given };
  From from = From::estimate;
  uint32_t count = 0;                              // 32-bit registers a thread; 0: the machine estimates them
  std::optional<cuda::native::ResourceUse> ptxas;  // its whole output
};

using verify::WhyReport;  // of `run --why`

struct TimeReport {
  sim::ClockReport clock;
  bool measured = true;  // the clock was compared with such a chip
  sim::L2Start l2 = sim::L2Start::cold;
  sim::Values values = sim::Values::full;
  sim::Where where;
  double array_bytes = 0;  // of inputs and outputs, each once
  uint32_t warps = 1;      // of a CTA
  uint32_t ctas_per_sm = 0;
  Registers registers;  // that this was counted with
  std::optional<WhyReport> why;
  std::vector<std::string> slower;  // what ptxas does to the kernel and its cycles do not show

  // Of the work that the tensor cores were given; 0 without any.
  double tflops() const;
  // Of array_bytes.
  double gb_per_s() const;
};

std::string_view name(Registers::From from);  // "estimate"
std::string_view name(sim::L2Start l2);       // "cold"
std::string_view name(sim::Values values);    // "none"

}  // namespace palladion::report
