#include "verify/sweep/axes.h"

#include <fmt/format.h>

#include <algorithm>
#include <optional>

#include "verify/arrays/words.h"

namespace palladion::verify {
namespace {

constexpr int64_t most_values = 10'000;  // of one range

struct Range {
  int64_t first = 0, last = 0, step = 1;
};

// "2..6", "64..128:32"; nothing for other words.
std::optional<Range> range_in(std::string_view text) {
  const size_t dots = text.find("..");
  if (dots == std::string_view::npos) return std::nullopt;
  const size_t colon = text.find(':', dots);
  const auto first = number_in<int64_t>(text.substr(0, dots));
  const auto last = number_in<int64_t>(text.substr(dots + 2, colon - std::min(colon, dots + 2)));
  const auto step = colon == std::string_view::npos ? std::optional<int64_t>(1)
                                                    : number_in<int64_t>(text.substr(colon + 1));
  if (!first || !last || !step || *step <= 0 || *last < *first) return std::nullopt;
  return (*last - *first) / *step < most_values ? std::optional(Range{*first, *last, *step}) : std::nullopt;
}

void add(Axis& axis, std::string value) {
  if (std::ranges::find(axis.values, value) == axis.values.end()) axis.values.push_back(std::move(value));
}

tl::expected<void, std::string> take(Axis& axis, std::string_view word) {
  if (word.find("..") == std::string_view::npos) {
    add(axis, std::string(word));
    return {};
  }
  const auto range = range_in(word);
  if (!range)
    return tl::make_unexpected(fmt::format(
        "--set {}={}: a range is FIRST..LAST or FIRST..LAST:STEP, ascending, of at most {} values", axis.name,
        word, most_values));
  for (int64_t v = range->first; v <= range->last; v += range->step) add(axis, std::to_string(v));
  return {};
}

Axis& axis_of(std::vector<Axis>& axes, std::string_view name) {
  const auto at = std::ranges::find(axes, name, &Axis::name);
  return at != axes.end() ? *at : axes.emplace_back(Axis{std::string(name), {}});
}

}  // namespace

tl::expected<std::vector<Axis>, std::string> axes_in(const std::vector<std::string>& texts) {
  std::vector<Axis> axes;
  for (const std::string& text : texts) {
    std::string name;
    for (std::string_view word : split(text, ",")) {
      const size_t equals = word.find('=');
      if (equals != std::string_view::npos) {
        name = word.substr(0, equals);
        word.remove_prefix(equals + 1);
      }
      if (name.empty())
        return tl::make_unexpected(
            fmt::format("--set {}: expected NAME=value,value or NAME=first..last", text));
      if (const auto taken = take(axis_of(axes, name), word); !taken)
        return tl::make_unexpected(taken.error());
    }
  }
  return axes;
}

uint64_t combinations(const std::vector<Axis>& axes) {
  uint64_t n = 1;
  for (const Axis& axis : axes)
    if (__builtin_mul_overflow(n, axis.values.size(), &n)) return ~uint64_t{0};
  return n;
}

std::map<std::string, std::string> combination(const std::vector<Axis>& axes, uint64_t i) {
  std::map<std::string, std::string> out;
  for (size_t a = axes.size(); a-- > 0;) {
    out[axes[a].name] = axes[a].values[i % axes[a].values.size()];
    i /= axes[a].values.size();
  }
  return out;
}

}  // namespace palladion::verify
