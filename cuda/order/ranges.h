#pragma once
// Sets of bytes, and what an operation touches.
#include <cstdint>
#include <optional>
#include <vector>

namespace palladion::cuda::order {

struct Range {  // [begin, end)
  uint64_t begin = 0, end = 0;
  friend bool operator==(const Range&, const Range&) = default;
};

class Ranges {
 public:
  void add(uint64_t begin, uint64_t end);
  void add(const Ranges& more);
  void clear() { all_.clear(); }
  bool empty() const { return all_.empty(); }
  size_t size() const { return all_.size(); }
  // Ascending, without overlaps and neighbours. To be called before what follows, after the last `add`.
  void unite();
  const std::vector<Range>& all() const& { return all_; }
  void all() && = delete;                                  // it would be gone before a loop over it begins
  std::optional<Range> common(const Ranges& other) const;  // the first bytes that both have
  bool contains(uint64_t byte) const;
  uint64_t bytes() const;

 private:
  std::vector<Range> all_;
  size_t unite_at_ = 1024;
};

// What an operation touches. Strong accesses are atomic for all of the system or the device: two of them are
// no race (PTX, "Morally Strong Operations").
struct Touched {
  Ranges read, written, strong_read, strong_written;
  // Of the strong ones: stores that publish what came before, loads behind which it is visible. Operations
  // synchronise through such bytes (PTX, "Release and Acquire Patterns").
  Ranges released, acquired;
  bool incomplete = false;  // more was touched than is kept

  void unite();
  void add(const Touched& more);
  size_t size() const;
};

struct Meeting {  // two operations touch the same bytes, and at least one writes
  Range bytes;
  bool first_writes = false, second_writes = false;
};
// None: they may be in any order, or they order each other by releases and acquires.
std::optional<Meeting> meeting(const Touched& first, const Touched& second);

}  // namespace palladion::cuda::order
