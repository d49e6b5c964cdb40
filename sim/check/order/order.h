#pragma once
// Happens-before inside one cluster: who knows of what. One logical clock a warp; what a lane did is known
// to another by a view that travelled from release to acquire (PTX, "Memory Consistency Model").
//
// A warp's time advances when it releases. An access carries the time it was made in; a view says, for
// every warp, up to which time it knows what all its lanes did, with exceptions for single lanes.
#include <cstdint>
#include <memory>
#include <vector>

#include "sim/launch/event.h"

namespace palladion::sim::check {

// A moment in the life of some lanes of a warp. `warp` counts through the cluster: rank * warps of a
// CTA + warp.
struct Point {
  uint16_t warp = 0;
  uint32_t lanes = 0;
  uint32_t time = 0;
};

class View;  // immutable once shared
using ViewRef = std::shared_ptr<const View>;

// What protocols ask of happens-before.
class OrderQueries {
 public:
  virtual ~OrderQueries() = default;
  // Now, for the lanes of `who`.
  virtual Point now(const Origin& who) const = 0;
  // True when what the lanes of `p` did up to then happens before what comes next in any lane of `who`.
  // (Several lanes at a point: it is enough that one of them is known, they did it together.)
  virtual bool before(const Point& p, const Origin& who) const = 0;
};

}  // namespace palladion::sim::check
