#include "cuda/driver/order/written.h"

#include <algorithm>
#include <map>
#include <utility>
#include <vector>

namespace palladion::cuda::driver {
namespace {

// visit(index of a word, mask of its bits) until it returns false.
template <class Visit>
void for_each_word(uint64_t begin, uint64_t end, Visit&& visit) {
  while (begin < end) {
    const uint64_t first = begin % 64, count = std::min(64 - first, end - begin);
    const uint64_t mask = (count == 64 ? ~uint64_t{0} : (uint64_t{1} << count) - 1) << first;
    if (!visit(begin / 64, mask)) return;
    begin += count;
  }
}

auto& shadows() {
  static auto* const all = new std::map<Pointer, Shadow>;
  return *all;
}

}  // namespace

bool follows_writes() {
  static const bool on = [] {
    const auto checks = sim::check::options_named(state().settings.check, nullptr);
    return checks && checks->memory;
  }();
  return on;
}

Shadow::Shadow(Pointer base, size_t size)
    : base_(base),
      size_(size),
      written_(sim::zeroed_bytes(size / 8 + 8)),
      computed_(sim::zeroed_bytes(size / 8 + 8)) {}

void Shadow::write(Pointer at, uint64_t bytes) {
  const uint64_t begin = at - base_;
  for_each_word(begin, std::min(begin + bytes, size_), [&](uint64_t index, uint64_t mask) {
    const auto bits = word(written_, index);
    if ((bits.load(std::memory_order_relaxed) & mask) != mask) bits.fetch_or(mask, std::memory_order_relaxed);
    return true;
  });
}

bool Shadow::is_written(Pointer at, uint64_t bytes) const {
  bool all = true;
  const uint64_t begin = at - base_;
  for_each_word(begin, std::min(begin + bytes, size_), [&](uint64_t index, uint64_t mask) {
    return all = (word(written_, index).load(std::memory_order_relaxed) & mask) == mask;
  });
  return all;
}

bool Shadow::any_written(Pointer at, uint64_t bytes) const {
  bool none = true;
  const uint64_t begin = at - base_;
  for_each_word(begin, std::min(begin + bytes, size_), [&](uint64_t index, uint64_t mask) {
    return none = (word(written_, index).load(std::memory_order_relaxed) & mask) == 0;
  });
  return !none;
}

Shadow::State Shadow::state_of(uint64_t offset) const {
  const uint64_t bit = uint64_t{1} << offset % 64;
  if ((word(written_, offset / 64).load(std::memory_order_relaxed) & bit) != 0) return State::written;
  return (word(computed_, offset / 64).load(std::memory_order_relaxed) & bit) != 0 ? State::computed
                                                                                   : State::unwritten;
}

void Shadow::set(uint64_t offset, State state) {
  const uint64_t bit = uint64_t{1} << offset % 64;
  const auto put = [&](const sim::ZeroedBytes& bits, bool value) {
    value ? word(bits, offset / 64).fetch_or(bit) : word(bits, offset / 64).fetch_and(~bit);
  };
  put(written_, state == State::written);
  put(computed_, state == State::computed);
}

order::Ranges Shadow::unwritten(Pointer at, uint64_t bytes, bool computed) const {
  order::Ranges found;
  const uint64_t begin = at - base_;
  for_each_word(begin, std::min(begin + bytes, size_), [&](uint64_t index, uint64_t mask) {
    uint64_t holes = mask & ~word(written_, index).load(std::memory_order_relaxed);
    if (computed) holes &= word(computed_, index).load(std::memory_order_relaxed);
    while (holes != 0) {
      const auto first = static_cast<uint64_t>(std::countr_zero(holes));
      const auto count = static_cast<uint64_t>(std::countr_one(holes >> first));
      found.add(base_ + index * 64 + first, base_ + index * 64 + first + count);
      holes &= count == 64 ? 0 : ~(((uint64_t{1} << count) - 1) << first);
    }
    return true;
  });
  return found;
}

void Shadow::compute(Pointer at, uint64_t bytes, const std::string& kernel) {
  const uint64_t begin = at - base_;
  for (uint64_t o = begin; o < std::min(begin + bytes, size_); ++o) set(o, State::computed);
  computed_by_ = kernel;
}

// An overlapping copy moves the bits like the bytes.
void Shadow::copy(Pointer at, const Shadow& from, Pointer from_at, uint64_t bytes) {
  const uint64_t to = at - base_, source = from_at - from.base_;
  bytes = std::min({bytes, size_ - to, from.size_ - source});
  if (from.is_written(from_at, bytes)) return write(at, bytes);
  const bool down = &from != this || to <= source;
  for (uint64_t i = 0; i < bytes; ++i) {
    const uint64_t o = down ? i : bytes - 1 - i;
    set(to + o, from.state_of(source + o));
  }
  if (!from.computed_by_.empty()) computed_by_ = from.computed_by_;
}

Shadow* shadow_of(Pointer at) {
  auto after = shadows().upper_bound(at);
  if (after == shadows().begin()) return nullptr;
  Shadow& shadow = std::prev(after)->second;
  return shadow.covers(at) ? &shadow : nullptr;
}

void follow(Pointer base, size_t bytes) {
  if (follows_writes()) shadows().try_emplace(base, base, bytes);
}
void forget(Pointer base) { shadows().erase(base); }
void wrote(Pointer at, uint64_t bytes) {
  if (Shadow* const s = shadow_of(at)) s->write(at, bytes);
}
void moved(Pointer to, Pointer from, uint64_t bytes) {
  Shadow* const into = shadow_of(to);
  if (into == nullptr) return;
  const Shadow* const source = shadow_of(from);
  source != nullptr ? into->copy(to, *source, from, bytes) : into->write(to, bytes);
}

}  // namespace palladion::cuda::driver
