// The words of `sweep --set`: which values of which settings are combined.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <tl/expected.hpp>
#include <vector>

namespace palladion::verify {

struct Axis {
  std::string name;
  std::vector<std::string> values;  // no value twice
};

// "tile_m=64,128", "stages=2..6", "sms=64..128:32", "cluster=none,m", several of them behind commas. A name
// that comes again gains values. The error is a sentence.
tl::expected<std::vector<Axis>, std::string> axes_in(const std::vector<std::string>& texts);

// How many combinations; saturates.
uint64_t combinations(const std::vector<Axis>& axes);
// The i-th, the last axis changing fastest.
std::map<std::string, std::string> combination(const std::vector<Axis>& axes, uint64_t i);

}  // namespace palladion::verify
