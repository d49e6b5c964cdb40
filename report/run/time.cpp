#include "report/run/time.h"

namespace palladion::report {

double TimeReport::tflops() const {
  const double us = clock.microseconds();
  return us > 0 ? where.tensor_flops / us * 1e-6 : 0;
}

double TimeReport::gb_per_s() const {
  const double us = clock.microseconds();
  return us > 0 ? array_bytes / us * 1e-3 : 0;
}

std::string_view name(Registers::From from) {
  return from == Registers::From::estimate ? "estimate" : from == Registers::From::ptxas ? "ptxas" : "given";
}
std::string_view name(sim::L2Start l2) { return l2 == sim::L2Start::warm ? "warm" : "cold"; }
std::string_view name(sim::Values values) { return values == sim::Values::none ? "none" : "full"; }

}  // namespace palladion::report
