#pragma once
// What SMs ask of L2: filled in during a quantum, answered at its end.
#include <cstdint>
#include <vector>

#include "sim/clock/memory/cycles.h"
#include "sim/clock/memory/lines.h"

namespace palladion::sim::hardware {

struct Request {
  enum class Kind : uint8_t { read, write, atomic };
  Kind kind = Kind::read;
  bool tma = false;
  bool pairs_of_lines = false;    // what HBM must give comes with the other line of its 256 bytes
  bool scattered = false;         // lines of more than 128 KiB, from end to end
  Cycle time;                     // in which the first line leaves the SM
  Cycles step = 0;                // between its lines
  uint32_t first = 0, lines = 0;  // in Batch::lines
  uint32_t sm = 0;
  double bytes_per_cycle = 0;  // that its SM takes in; 0: what loads do
  // Multicast: the receivers, by CTA of the cluster whose first SM this is; 0: its SM alone.
  uint32_t receivers = 0, first_sm = 0;
  Cycle done = never;   // out: everything is back at the SM, or written in L2
  Cycles accepted = 0;  // out: the SM sends nothing more before; too many of its reductions wait
};

// What one group of SMs asked for since the last quantum boundary.
struct Batch {
  std::vector<Request> requests;
  std::vector<LineAccess> lines;
  void clear() {
    requests.clear();
    lines.clear();
  }
};

}  // namespace palladion::sim::hardware
