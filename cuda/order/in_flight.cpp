#include "cuda/order/in_flight.h"

#include <algorithm>

namespace palladion::cuda::order {

std::vector<Conflict> InFlight::meetings(const Place& place, const Clock& before,
                                         const Touched& touched) const {
  std::vector<Conflict> out;
  for (const auto& [other, all] : lines_) {
    const uint64_t over = before.of(other);
    for (auto r = all.rbegin(); r != all.rend() && r->number > over; ++r) {
      if (other == place.line && r->number == place.number) continue;  // launched by the same kernel
      if (const auto m = meeting(r->touched, touched))
        out.push_back(
            {r->operation, other, r->number, r->stream, m->bytes, m->first_writes, m->second_writes});
    }
  }
  return out;
}

std::optional<Conflict> InFlight::host_meets(uint64_t byte, bool writes, const Clock& host,
                                             Clock& over) const {
  for (const auto& [line, all] : lines_)
    for (auto r = all.rbegin(); r != all.rend() && r->number > host.of(line); ++r) {
      const Touched& t = r->touched;
      const bool written = t.written.contains(byte);
      if (written || (writes && t.read.contains(byte)))
        return Conflict{r->operation, line, r->number, r->stream, {byte, byte + 1}, written, writes};
      if (!writes && t.strong_written.contains(byte)) {
        over = r->before;
        over.raise(line, r->number);
      }
    }
  return std::nullopt;
}

void InFlight::keep(OperationRef operation, const Place& place, Touched touched) {
  ranges_ += touched.size();
  incomplete_ |= touched.incomplete;
  lines_[place.line].push_back(
      {std::move(operation), place.stream, place.number, place.before, std::move(touched)});
  if (ranges_ > most_ranges) make_room();
}

// The longest record goes.
void InFlight::make_room() {
  Record* longest = nullptr;
  for (auto& [line, all] : lines_)
    for (Record& r : all)
      if (longest == nullptr || r.touched.size() > longest->touched.size()) longest = &r;
  ranges_ -= longest->touched.size();
  longest->touched = {};
  incomplete_ = true;
}

void InFlight::forget(const Clock& over) {
  for (auto& [line, all] : lines_)
    while (!all.empty() && all.front().number <= over.of(line)) {
      ranges_ -= all.front().touched.size();
      all.pop_front();
    }
  std::erase_if(lines_, [](const auto& line) { return line.second.empty(); });
}

}  // namespace palladion::cuda::order
