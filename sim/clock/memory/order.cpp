#include "sim/clock/memory/order.h"

#include <algorithm>
#include <limits>
#include <numeric>

namespace palladion::sim::hardware {

std::span<const LineOrder::Entry> LineOrder::of(std::span<Batch* const> batches) {
  entries_.clear();
  for (Batch* b : batches)
    for (Request& r : b->requests)
      for (uint32_t i = 0; i < r.lines; ++i)
        entries_.push_back({time_of(r.time) + r.step * i, &r, b->lines[r.first + i]});
  sort();
  return order_;
}

// From `entries_` into `order_`. Most of them leave within a few hundred cycles: by quarters of a cycle
// first, then the few of a quarter among themselves.
void LineOrder::sort() {
  constexpr size_t quarters = 4096;
  Cycles first = std::numeric_limits<Cycles>::max();
  for (const Entry& e : entries_) first = std::min(first, e.time);
  const auto quarter = [&](const Entry& e) {
    return static_cast<size_t>(std::min(4 * (e.time - first), quarters - 1.0));
  };
  begins_.assign(quarters + 1, 0);
  for (const Entry& e : entries_) ++begins_[quarter(e) + 1];
  std::partial_sum(begins_.begin(), begins_.end(), begins_.begin());
  order_.resize(entries_.size());
  for (const Entry& e : entries_) order_[begins_[quarter(e)]++] = e;
  size_t begin = 0;  // now each quarter's entry of `begins_` is its end
  for (const uint32_t end : begins_) {
    if (end > begin + 1)
      std::ranges::stable_sort(order_.begin() + begin, order_.begin() + end, {}, &Entry::time);
    begin = end;
  }
}

}  // namespace palladion::sim::hardware
