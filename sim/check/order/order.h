#pragma once
// Happens-before inside one cluster: which accesses are visible to which lane. Each warp has one logical
// clock; a lane's accesses become visible to another through a view that is passed from release to acquire
// (PTX, "Memory Consistency Model").
//
// A warp's time advances when it releases. An access carries the time it was made in; a view says, for every
// warp, up to which time the accesses of all its lanes are visible, with exceptions for single lanes.
#include <cstdint>
#include <memory>
#include <optional>
#include <vector>

#include "sim/launch/event.h"

namespace palladion::sim::check {

// A point in the execution of some lanes of a warp.
struct Point {
  WarpOfCluster warp;
  uint32_t lanes = 0;
  uint32_t time = 0;
};

class View;  // immutable once shared
using ViewRef = std::shared_ptr<const View>;

// The queries that protocol checks make of happens-before.
class OrderQueries {
 public:
  virtual ~OrderQueries() = default;
  // The current point of the lanes of `origin`.
  virtual Point now(const Origin& origin) const = 0;
  // True when everything that the lanes of `p` did up to then happens before the next step of any lane of
  // `origin`. (Several lanes at a point: it is enough that one of them is visible, since they acted
  // together.)
  virtual bool before(const Point& p, const Origin& origin) const = 0;
  // Where the lanes of `p` met others of their warp, which orders no memory, when one of those comes before
  // `origin` behind that meeting.
  virtual std::optional<Pc> met_before(const Point& p, const Origin& origin) const = 0;
};

}  // namespace palladion::sim::check
