#pragma once
// Operations that the host does not know to be over, with what they touch: who meets them without an order?
#include <deque>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "cuda/order/ranges.h"
#include "cuda/order/streams.h"

namespace palladion::cuda::order {

struct Operation {  // as findings name it
  enum class Does : uint8_t { kernel, copy, fill, allocate, free, free_pinned };
  Does does = Does::copy;
  std::string text;          // "kernel `scale`", "copy of 256 bytes to the host"
  std::string stream;        // "stream 3 (non-blocking)"
  std::vector<void*> calls;  // return addresses of the call, the innermost first
  bool triggers = false;     // a kernel: executes griddepcontrol.launch_dependents
};
using OperationRef = std::shared_ptr<const Operation>;

struct Conflict {
  OperationRef earlier;  // of the two calls
  Line earlier_line = 0;
  uint64_t earlier_number = 0;
  Line earlier_stream = 0;
  Range bytes;
  bool earlier_writes = false, later_writes = false;
};

class InFlight {
 public:
  // Of a part of the operation at `place`, which begins when `before` is over: at most one with each other
  // operation.
  std::vector<Conflict> meetings(const Place& place, const Clock& before, const Touched& touched) const;
  // An access of the host to one byte. One that reads what was published by strong accesses alone waits for
  // it: `over` tells what it knows then.
  std::optional<Conflict> host_meets(uint64_t byte, bool writes, const Clock& host, Clock& over) const;
  void keep(OperationRef operation, const Place& place, Touched touched);
  void forget(const Clock& over);  // those that are over
  template <class Visit>
  void for_each(Visit&& visit) const {
    for (const auto& [line, all] : lines_)
      for (const Record& r : all) visit(r.touched);
  }
  // More was touched than is kept: some conflicts may be missed.
  bool incomplete() const { return incomplete_; }

 private:
  static constexpr size_t most_ranges = 1 << 23;
  struct Record {
    OperationRef operation;
    Line stream = 0;
    uint64_t number = 0;
    Clock before;
    Touched touched;
  };
  void make_room();

  std::map<Line, std::deque<Record>> lines_;  // ascending numbers
  size_t ranges_ = 0;
  bool incomplete_ = false;
};

}  // namespace palladion::cuda::order
