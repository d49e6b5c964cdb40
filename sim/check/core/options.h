#pragma once
// Which checks are on.
#include <optional>
#include <string>
#include <string_view>

namespace palladion::sim::check {

struct Options {
  bool race = true;      // data races over every proxy
  bool barrier = true;   // protocols: mbarriers, barriers, groups, lifetime
  bool memory = true;    // uninitialised memory and registers, layouts, descriptors
  bool numerics = true;  // overflow, NaN, order-dependent results
  size_t max_findings = 1000;
  bool any() const { return race || barrier || memory || numerics; }
};

// "all", "none", or a list: "race,barrier". Nothing for other words; the first of them in `unknown`.
std::optional<Options> options_named(std::string_view words, std::string* unknown);

}  // namespace palladion::sim::check
