// The edges of tensor memory: tcgen05.wait, tcgen05.fence, commits that threads have waited for.
#include <bit>

#include "sim/check/order/happens_before.h"

namespace palladion::sim::check {

std::shared_ptr<AsyncRecord> HappensBefore::accessed(const TensorAccess& a) {
  auto op = std::make_shared<AsyncRecord>();
  const WarpOfCluster warp = index(a.origin);
  op->id = tensor_.next_access();
  op->cluster = cluster();
  op->issuer = a.origin;
  op->name = a.writes ? "tcgen05.st" : "tcgen05.ld";
  op->family = isa::AsyncFamily::tcgen05;
  (a.writes ? op->tensor_store : op->tensor_load) = true;
  op->stream = a.writes ? TensorOrder::store_stream(warp) : TensorOrder::load_stream(warp);
  return op;
}

// A commit is no release of its thread's accesses. But what its products waited for is complete when they
// are, as the copies that brought their operands.
void HappensBefore::commit(const ArrivalDeferred& event) {
  const Origin& origin = event.origin;
  const WarpOfCluster warp = index(origin);
  const uint32_t stream = TensorOrder::thread_stream(warp, lowest_lane(origin.lanes));
  const std::shared_ptr<View> known = release(warp, origin.lanes, origin.pc);
  known->fence(Visibility::generic, Visibility::tensor);
  commits_[event.id] = {stream, event.id, std::make_shared<View>(known->only(Visibility::tensor))};
  tensor_.committed(stream, event.id, origin);
}

void HappensBefore::loads_read(const Origin& origin, uint64_t before) {
  const WarpOfCluster warp = index(origin);
  tensor_.publish(TensorOrder::read_stream(warp), {before, warp, origin.lanes, time(warp)});
}

// The warp's loads, or its stores, up to now are complete.
void HappensBefore::wait_for_tensor_memory(const Origin& origin, bool stores) {
  const WarpOfCluster warp = index(origin);
  advance(warp, origin.pc);
  tensor_.publish(stores ? TensorOrder::store_stream(warp) : TensorOrder::load_stream(warp),
                  {tensor_.end_of_accesses(), warp, origin.lanes, time(warp)});
}

// Before a thread synchronises: what it did and knows to be complete is what others may rely on. After it:
// its later accesses come after what it knows now.
void HappensBefore::fence_tensor_memory(const Origin& origin, bool after) {
  const WarpOfCluster warp = index(origin);
  if (after) {
    for_each_view(warp, origin.lanes,
                  [&](const ViewRef& view, uint32_t same) { tensor_.fence(warp, same, view, time(warp)); });
  } else {
    fence_own(Visibility::tensor, warp, origin.lanes);
  }
  advance(warp, origin.pc);
}

// Does a thread with this view know that the operation is complete? `fenced`: through
// fence::before_thread_sync of the thread that waited for it; a commit implies that fence.
bool HappensBefore::tensor_complete(const AsyncRecord& op, const View& view, WarpOfCluster warp,
                                    uint32_t lanes, uint32_t time, bool fenced) const {
  const bool of_thread = TensorOrder::is_thread(op.stream);
  return tensor_.complete(op, [&](const TensorOrder::Publication& p) {
    if (p.warp == warp && (p.lanes & lanes) != 0 && p.time <= time) return true;
    return (!(fenced && !of_thread) &&
            view.knows_any(Visibility::generic, cluster(), p.warp, p.lanes, p.time)) ||
           view.knows_any(Visibility::tensor, cluster(), p.warp, p.lanes, p.time);
  });
}

bool HappensBefore::over_by_exits(const AsyncRecord& op, WarpOfCluster warp) const {
  const ViewRef& known = exits_.known[warp];
  return known != nullptr && tensor_complete(op, *known, warp, 0, 0, false);
}

HappensBefore::TensorRelation HappensBefore::tensor_relation(const AsyncRecord& earlier, const Record& then,
                                                             const AsyncRecord& later,
                                                             const Record& now) const {
  const WarpOfCluster warp = now.warp;
  const Lane first = lowest_lane(now.lanes);
  const bool same_warp = then.warp == now.warp, by_thread = TensorOrder::is_thread(earlier.stream);
  // A warp's own loads and stores need its wait alone.
  if (same_warp && !by_thread)
    return tensor_.complete(earlier, [&](const auto& p) { return p.warp == warp; })
               ? TensorRelation::ordered
               : TensorRelation::unordered;
  const bool in_order = pipelined(earlier, later);
  if (in_order && same_warp && then.lanes == now.lanes) return TensorRelation::ordered;
  const auto knows = [&](const View& view, uint32_t time, bool fenced) {
    if (tensor_complete(earlier, view, warp, now.lanes, time, fenced)) return true;
    return in_order &&
           (view.knows_any(Visibility::tensor, cluster(), then.warp, then.lanes, then.time) ||
            (!fenced && view.knows_any(Visibility::generic, cluster(), then.warp, then.lanes, then.time)));
  };
  bool after = false;
  const View* judged = nullptr;
  for (uint32_t m = now.lanes; m != 0; m &= m - 1) {
    const Lane lane = lowest_lane(m);
    const TensorOrder::Fence& fence = tensor_.last_fence(warp, lane);
    if (fence.view == nullptr || fence.view.get() == judged) continue;
    judged = fence.view.get();
    if (knows(*fence.view, fence.time, true)) return TensorRelation::ordered;
    after |= knows(*fence.view, fence.time, false);
  }
  if (after) return TensorRelation::unfenced_before;
  return knows(view(warp, first), now.time, false) ? TensorRelation::unfenced_after
                                                   : TensorRelation::unordered;
}

}  // namespace palladion::sim::check
