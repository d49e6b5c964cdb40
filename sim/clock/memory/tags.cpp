#include "sim/clock/memory/tags.h"

#include <algorithm>

namespace palladion::sim::hardware {

Tags::Tags(uint64_t bytes, Partitions partitions)
    : partitions_(partitions),
      a_side_(std::max<uint64_t>(1, bytes / line_bytes / ways / partitions.count())),
      sets_(partitions.count() * a_side_),
      tags_(sets_.size() * ways) {}

// By hand: a set is a few words in one place; no container of Boost replaces the least recently used.
Tag* Tags::look_up(uint64_t line, uint32_t side) {
  const size_t set = set_of(line, side);
  size_t found = ways;
  for (size_t i = 0; i < ways; ++i) found = sets_[set].lines[i] == line + 1 ? i : found;
  return found == ways ? nullptr : &tags_[set * ways + found];
}

Tag& Tags::touch(Tag& tag) {
  const size_t place = place_of(tag);
  sets_[place / ways].used[place % ways] = ++accesses_;
  return tag;
}

Tag& Tags::oldest(uint64_t line, uint32_t side) {
  const size_t set = set_of(line, side);
  const auto& used = sets_[set].used;
  return tags_[set * ways + static_cast<size_t>(std::ranges::min_element(used) - used.begin())];
}

Tag& Tags::replace(Tag& old, uint64_t line) {
  enter(place_of(old), line, Cycle(++accesses_));
  old = {.line = line};
  return old;
}

void Tags::drop(Tag& tag) {
  enter(place_of(tag), never, Cycle());
  tag = {};
}

void Tags::enter(size_t place, uint64_t line, Cycle used) {
  sets_[place / ways].lines[place % ways] = line + 1;
  sets_[place / ways].used[place % ways] = used;
}

void Tags::prefetch(uint64_t line, uint32_t side) const {
  const auto* const set = reinterpret_cast<const char*>(&sets_[set_of(line, side)]);
  for (size_t at = 0; at < sizeof(Set); at += 64) __builtin_prefetch(set + at);
}

}  // namespace palladion::sim::hardware
