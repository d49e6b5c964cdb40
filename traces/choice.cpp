#include "traces/choice.h"

#include <algorithm>
#include <charconv>

#include "sim/machine/state/cluster.h"

namespace palladion::traces {
namespace {

std::optional<uint64_t> number(std::string_view text) {
  uint64_t value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (text.empty() || error != std::errc() || end != text.data() + text.size()) return std::nullopt;
  return value;
}

}  // namespace

std::optional<Range> range_of(std::string_view text) {
  const size_t dots = text.find("..");
  const auto first = number(text.substr(0, dots));
  const auto last = dots == std::string_view::npos ? first : number(text.substr(dots + 2));
  if (!first || !last || *last < *first) return std::nullopt;
  return Range{*first, *last};
}

std::optional<CtaChoice> cta_choice(std::string_view text) {
  if (text == "all") return CtaChoice{.kind = CtaChoice::Kind::all};
  const bool sms = text.starts_with("sm:");
  const auto range = range_of(sms ? text.substr(3) : text);
  if (!range) return std::nullopt;
  return CtaChoice{sms ? CtaChoice::Kind::sms : CtaChoice::Kind::ctas, range->first, range->last};
}

bool CtaChoice::holds(const sim::ClusterState& cluster, const isa::Dim3& grid) const {
  if (kind == Kind::all) return true;
  return std::ranges::any_of(cluster.ctas, [&](const sim::CtaState& c) {
    const uint64_t linear = c.id.x + uint64_t{grid.x} * (c.id.y + uint64_t{grid.y} * c.id.z);
    const uint64_t at = kind == Kind::sms ? c.sm : linear;
    return at >= first && at <= last;
  });
}

}  // namespace palladion::traces
