#include "cuda/order/clock.h"

#include <algorithm>

namespace palladion::cuda::order {

using Entry = std::pair<Line, uint64_t>;

uint64_t Clock::of(Line line) const {
  const auto at = std::ranges::lower_bound(last_, line, {}, &Entry::first);
  return at != last_.end() && at->first == line ? at->second : 0;
}

void Clock::raise(Line line, uint64_t number) {
  const auto at = std::ranges::lower_bound(last_, line, {}, &Entry::first);
  if (at == last_.end() || at->first != line)
    last_.insert(at, {line, number});
  else
    at->second = std::max(at->second, number);
}

void Clock::join(const Clock& other) {
  for (const auto& [line, number] : other.last_) raise(line, number);
}

bool Clock::covers(const Clock& other) const {
  return std::ranges::all_of(other.last_, [this](const Entry& e) { return of(e.first) >= e.second; });
}

}  // namespace palladion::cuda::order
