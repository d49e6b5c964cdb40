#pragma once
// Which CTAs are recorded, and which part of their time. A cluster is recorded whole when one of its CTAs is
// chosen.
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "isa/core/module.h"

namespace palladion::sim {
struct ClusterState;
}

namespace palladion::traces {

// Which part of the run is kept; times as the recorder counts them.
struct Window {
  uint64_t first = 0, last = ~0ULL;  // cycles, both included
};

struct CtaChoice {  // the CTAs that are recorded: the argument of --trace-ctas
  // All, some by number, those of some SMs.
  enum class Kind : uint8_t { all, ctas, sms };
  Kind kind = Kind::sms;         // which of them
  uint64_t first = 0, last = 0;  // linear ids in the grid, x first; or SMs

  // Whether a CTA of this cluster is recorded.
  bool holds(const sim::ClusterState& cluster, const isa::Dim3& grid) const;
};

// "all", "0..3", "7", "sm:0", "sm:0..1"; nothing for other words.
std::optional<CtaChoice> cta_choice(std::string_view text);
// "2..5" or "7": both ends belong to it.
struct Range {
  uint64_t first = 0, last = 0;  // both included
};
std::optional<Range> range_of(std::string_view text);  // of `3` or `1..4`; none: neither

}  // namespace palladion::traces
