#pragma once
// Which mistake a conflict is: the entry of the taxonomy, from what the two accesses are and what their
// actors knew.
#include "sim/check/catalogue/code.h"
#include "sim/check/memory/races.h"
#include "sim/check/protocol/mbarrier_record.h"

namespace palladion::sim::check {

// A conflict with everything that distinguishes the kinds of mistake.
struct Case {
  const HappensBefore& order;  // of the later access's cluster
  const Actor& later;
  const Record& now;   // the later access
  const Record& then;  // the earlier one
  const Conflict& conflict;
  const isa::Effect* now_effect = nullptr;
  const isa::Effect* then_effect = nullptr;
  const isa::Effect* last_sync = nullptr;  // of the later access's warp
  const isa::Effect* then_sync = nullptr;  // of the earlier access's warp, before that access
  bool two_names = false;                  // the bytes belong to several arrays
  const WaitVerdict* wait = nullptr;       // what was wrong with its wait for the earlier operation

  bool same_warp() const { return now.cluster == then.cluster && now.warp == then.warp; }
  bool same_cta() const {
    return now.cluster == then.cluster && order.cta_of(now.warp) == order.cta_of(then.warp);
  }
  // An access of threads, or one of cp.async, st.async or red.async.
  bool then_is_generic() const { return !then.async || !then.async->async_proxy; }
  bool then_is_wgmma() const { return then.async && then.async->group == isa::AsyncGroup::wgmma; }
  bool now_is_wgmma() const { return now.async && now.async->group == isa::AsyncGroup::wgmma; }
  // A thread reads what nothing has written: it means what the copy brings, and does not wait for it.
  bool reads_ahead() const {
    return later.shared && later.writes && now.async && !then.async && !conflict.earlier_wrote &&
           conflict.unwritten;
  }
  // An edge that was not made, for this reason, would order the two.
  bool would_be_ordered(DroppedEdge::Why why) const;
  bool now_is_tensor() const { return now.async && now.async->is_tensor(); }
};

Code code_of(const Case& c);

}  // namespace palladion::sim::check
