#pragma once
// Which checks are on.
#include <optional>
#include <string>
#include <string_view>

namespace palladion::sim::check {

// How much history of global memory is kept before it is summarised.
struct GlobalBudget {
  size_t log = 1U << 11;       // runs of bytes that a cluster accessed and that are not judged yet
  size_t records = 1U << 23;   // at most 2^24 - 1: references have 24 bits for them
  size_t pages = 1U << 16;     // of shadow memory, 4 KiB each
  size_t deferred = 1U << 20;  // reads of an array that nothing has written
};
// Which checkers run, and how much they keep.
struct Options {
  bool race = true;            // data races over every proxy
  bool barrier = true;         // protocols: mbarriers, barriers, groups, lifetime
  bool memory = true;          // uninitialised memory and registers, layouts, descriptors
  bool numerics = true;        // overflow, NaN, order-dependent results
  size_t max_findings = 1000;  // different ones; more are counted
  GlobalBudget global;         // how much of global memory's history is kept
  // Whether anything is checked.
  bool any() const { return race || barrier || memory || numerics; }
};

// "all", "none", or a list: "race,barrier". Nothing for other words; the first of them in `unknown`.
std::optional<Options> options_named(std::string_view words, std::string* unknown);

}  // namespace palladion::sim::check
