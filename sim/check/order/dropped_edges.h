#pragma once
// Edges that were not made, kept to explain a race.
#include <cstdint>
#include <deque>

#include "sim/check/order/order.h"

namespace palladion::sim::check {

struct DroppedEdge {
  // release_scope: the release itself was of .cta scope; scope: only the acquire was. request: a wait has
  // seen the answer to a request, which comes after the request; PTX does not say that it makes visible what
  // the asking thread knew.
  enum class Why : uint8_t { relaxed, scope, release_scope, request } why = Why::relaxed;
  Origin releaser, acquirer;
  bool in_global_memory = false;  // what they wrote and read
  // Of relaxed operations on an mbarrier, and of requests: what they would have ordered before all that the
  // acquirer does from this time of its warp on. Else null.
  ViewRef unordered;
  uint32_t time = 0;
};

class DroppedEdges {
 public:
  void add(DroppedEdge::Why why, const Origin& releaser, const Origin& acquirer,
           bool in_global_memory = false) {
    for (const DroppedEdge& d : all_)
      if (d.why == why && d.releaser.pc == releaser.pc && d.acquirer.pc == acquirer.pc) return;
    if (all_.size() < kept) all_.push_back({why, releaser, acquirer, in_global_memory, nullptr});
  }
  // Of each warp's wait the last one is kept.
  void add_unordered(DroppedEdge::Why why, const Origin& releaser, const Origin& acquirer,
                     const ViewRef& unordered, uint32_t time) {
    const DroppedEdge edge{why, releaser, acquirer, false, unordered, time};
    for (DroppedEdge& d : all_)
      if (d.unordered != nullptr && d.why == why && d.releaser.pc == releaser.pc &&
          d.acquirer.pc == acquirer.pc && d.acquirer.cta_rank == acquirer.cta_rank &&
          d.acquirer.warp == acquirer.warp) {
        d = edge;
        return;
      }
    if (all_.size() < kept) all_.push_back(edge);
  }
  const std::deque<DroppedEdge>& all() const { return all_; }

 private:
  static constexpr size_t kept = 64;
  std::deque<DroppedEdge> all_;
};

}  // namespace palladion::sim::check
