#include "cuda/order/ranges.h"

#include <algorithm>

namespace palladion::cuda::order {

void Ranges::add(uint64_t begin, uint64_t end) {
  if (begin >= end) return;
  if (!all_.empty() && begin >= all_.back().begin && begin <= all_.back().end) {
    all_.back().end = std::max(all_.back().end, end);
    return;
  }
  all_.push_back({begin, end});
  if (all_.size() < unite_at_) return;
  unite();
  unite_at_ = std::max<size_t>(1024, 2 * all_.size());
}

void Ranges::add(const Ranges& more) {
  for (const Range& r : more.all_) add(r.begin, r.end);
}

void Ranges::unite() {
  std::ranges::sort(all_, {}, &Range::begin);
  size_t kept = 0;
  for (const Range& r : all_)
    if (kept != 0 && r.begin <= all_[kept - 1].end)
      all_[kept - 1].end = std::max(all_[kept - 1].end, r.end);
    else
      all_[kept++] = r;
  all_.resize(kept);
}

std::optional<Range> Ranges::common(const Ranges& other) const {
  auto a = all_.begin(), b = other.all_.begin();
  while (a != all_.end() && b != other.all_.end()) {
    const Range both{std::max(a->begin, b->begin), std::min(a->end, b->end)};
    if (both.begin < both.end) return both;
    ++(a->end < b->end ? a : b);
  }
  return std::nullopt;
}

bool Ranges::contains(uint64_t byte) const {
  const auto after = std::ranges::upper_bound(all_, byte, {}, &Range::begin);
  return after != all_.begin() && byte < std::prev(after)->end;
}

uint64_t Ranges::bytes() const {
  uint64_t sum = 0;
  for (const Range& r : all_) sum += r.end - r.begin;
  return sum;
}

void Touched::unite() {
  for (Ranges* r : {&read, &written, &strong_read, &strong_written, &released, &acquired}) r->unite();
}

void Touched::add(const Touched& more) {
  read.add(more.read);
  written.add(more.written);
  strong_read.add(more.strong_read);
  strong_written.add(more.strong_written);
  released.add(more.released);
  acquired.add(more.acquired);
  incomplete |= more.incomplete;
}

size_t Touched::size() const {
  return read.size() + written.size() + strong_read.size() + strong_written.size() + released.size() +
         acquired.size();
}

std::optional<Meeting> meeting(const Touched& first, const Touched& second) {
  struct Pair {
    const Ranges &a, &b;
    bool a_writes, b_writes;
  };
  const Pair pairs[] = {
      {first.written, second.written, true, true},        {first.written, second.read, true, false},
      {first.read, second.written, false, true},          {first.written, second.strong_written, true, true},
      {first.strong_written, second.written, true, true}, {first.written, second.strong_read, true, false},
      {first.strong_read, second.written, false, true},   {first.strong_written, second.read, true, false},
      {first.read, second.strong_written, false, true},
  };
  for (const Pair& p : pairs)
    if (const auto bytes = p.a.common(p.b)) {
      if (first.released.common(second.acquired) || second.released.common(first.acquired))
        return std::nullopt;
      return Meeting{*bytes, p.a_writes, p.b_writes};
    }
  return std::nullopt;
}

}  // namespace palladion::cuda::order
