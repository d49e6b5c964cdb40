#pragma once
// The order in which L2 gets the lines of a quantum's requests: by time, over all SMs.
#include <cstdint>
#include <span>
#include <vector>

#include "sim/clock/memory/request.h"

namespace palladion::sim::hardware {

class LineOrder {
 public:
  // A line of a request.
  struct Entry {
    Cycles time = 0;
    Request* request = nullptr;
    LineAccess line;
  };
  // Lines of the same time stand as they were asked for. Valid until the next call.
  std::span<const Entry> of(std::span<Batch* const> batches);

 private:
  void sort();

  std::vector<Entry> entries_, order_;
  std::vector<uint32_t> begins_;  // in `order_`, while it is sorted
};

}  // namespace palladion::sim::hardware
