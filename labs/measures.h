#pragma once
// What a lab may measure of a run of the clock.
#include <span>
#include <string_view>

#include "sim/launch/clock.h"

namespace palladion::labs {

struct Quantity {
  std::string_view name, unit;
  double (*of)(const sim::ClockReport& clock);
};
std::span<const Quantity> quantities();
bool is_quantity(std::string_view name);
double measured(std::string_view quantity, const sim::ClockReport& clock);

}  // namespace palladion::labs
