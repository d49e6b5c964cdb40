#pragma once
// Which operations are over: of each line the number of the last one. A line is a sequence of operations in
// their order: a stream, or a branch of a graph.
#include <cstdint>
#include <utility>
#include <vector>

namespace palladion::cuda::order {

using Line = uint32_t;

class Clock {
 public:
  uint64_t of(Line line) const;  // 0: none
  // The operations of `line` up to this one are over, too.
  void raise(Line line, uint64_t number);
  void join(const Clock& other);
  bool covers(const Clock& other) const;  // all that is over in `other` is so here
  bool empty() const { return last_.empty(); }

 private:
  std::vector<std::pair<Line, uint64_t>> last_;  // ascending lines
};

}  // namespace palladion::cuda::order
