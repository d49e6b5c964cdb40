#pragma once
// What a group of SMs asks of L2 in a quantum, and what waits for the answers. SMs are numbered in the group.
#include <cstdint>
#include <span>
#include <vector>

#include "sim/clock/memory/request.h"
#include "sim/clock/sm/answers.h"

namespace palladion::sim::hardware {

struct Requests {
  explicit Requests(uint32_t first) : first_sm(first) {}

  // Lines that are added to the batch from now on are the next request's, from this number.
  uint32_t next_line() const { return static_cast<uint32_t>(batch.lines.size()); }
  std::span<LineAccess> lines_from(uint32_t first) { return std::span(batch.lines).subspan(first); }
  // A request for the lines from `first`, which leave the SM from `time` on, one in `step`. Its number.
  uint32_t add(Request::Kind kind, uint32_t sm, Cycles time, Cycles step, uint32_t first) {
    batch.requests.push_back({.kind = kind,
                              .time = cycle_of(time),
                              .step = step,
                              .first = first,
                              .lines = next_line() - first,
                              .sm = first_sm + sm});
    return static_cast<uint32_t>(batch.requests.size() - 1);
  }
  void clear() {
    batch.clear();
    answers.clear();
    writes.clear();
  }

  uint32_t first_sm = 0;  // of the chip: that of number 0
  Batch batch;
  Answers answers;            // of loads and copies into shared memory
  std::vector<Write> writes;  // stores and copies to GMEM
};

}  // namespace palladion::sim::hardware
