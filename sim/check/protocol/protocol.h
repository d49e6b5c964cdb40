#pragma once
// What the protocol parts of one cluster share.
#include "sim/check/core/context.h"
#include "sim/check/order/causality.h"
#include "sim/machine/state/cluster.h"

namespace palladion::sim::check {

struct Protocol {
  const ClusterContext& context;
  Causality& causality;

  Reporter& reporter() const { return context.reporter; }
  ClusterState& cluster() const { return context.cluster; }
  Object mbarrier(SharedAddress address) const {
    return mbarrier_object(context.run, context.cluster, address);
  }
  Object shared(SharedAddress address, uint64_t bytes) const {
    return shared_object(context.run, context.cluster, address, bytes);
  }
  // Where these lanes are. The lanes of one execution arrive together, at however many mbarriers: at the time
  // of the first of them.
  Point now(const Origin& origin) const {
    Point p = context.order.now(origin);
    const Causality::Arrival& last = causality.last_arrival(p.warp);
    if (last.pc == origin.pc && last.newest + 1 == p.time && last.nth == nth(origin)) p.time = last.first;
    return p;
  }
  // `into` receives what the warp has done up to this arrival at an mbarrier; happens-before advances the
  // warp's time by 1 behind it.
  void arrive(const Origin& origin, Causality::Clock& into) const {
    const Point step = now(origin);
    causality.release(step, into);
    causality.last_arrival(step.warp) = {origin.pc, nth(origin), step.time, context.order.now(origin).time};
  }
  uint32_t nth(const Origin& origin) const {
    return reporter().occurrence(origin.cta_rank, origin.warp, origin.pc);
  }
  bool exited(CtaRank rank) const { return context.cluster.ctas[rank].alive_threads == 0; }
};

}  // namespace palladion::sim::check
