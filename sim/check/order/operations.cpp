// Asynchronous operations: who issued them, and the groups and arrivals that cover them.
#include <algorithm>
#include <bit>

#include "sim/check/order/happens_before.h"

namespace palladion::sim::check {

std::shared_ptr<AsyncRecord> HappensBefore::record(uint64_t id) {
  auto& op = in_flight_[id];
  if (op == nullptr) {
    op = std::make_shared<AsyncRecord>();
    op->id = id;
    op->cluster = cluster();
    op->published.reserve(8);  // a wait by each warp of two warpgroups
  }
  return op;
}

// Up to when the view knows what the warp has stored to shared memory.
uint32_t HappensBefore::known_stores(WarpOfCluster of, const View& view) const {
  const uint32_t whole = view.time(Visibility::generic, of);
  if (whole >= stores_[of].time) return whole;
  uint32_t least = ~0U;
  for (uint32_t m = stores_[of].lanes; m != 0; m &= m - 1)
    least = std::min(least, view.known(Visibility::generic, cluster(), of, lowest_lane(m)));
  return least;
}

// Each warp of the warpgroup has the wgmma in its journal from its own issue on.
void HappensBefore::on(const AsyncJoined& event) {
  const Origin& origin = event.origin;
  const WarpOfCluster warp = index(origin);
  AsyncRecord::Joined joined{.warp = warp, .stored = stores_[warp].time};
  for (uint32_t i = 0; i < mma_warps_; ++i)
    joined.known[i] = known_stores(WarpOfCluster(warp / mma_warps_ * mma_warps_ + i),
                                   view(warp, lowest_lane(origin.lanes)));
  std::shared_ptr<View>& all = joining_[event.id];
  if (all == nullptr)
    all = release(index(origin), origin.lanes, origin.pc);
  else
    all->join(*release(index(origin), origin.lanes, origin.pc));
  const std::shared_ptr<AsyncRecord> op = record(event.id);
  joined.time = time(warp);
  op->joined.push_back(joined);
  op->warpgroup = index(origin) / mma_warps_;
  operations_[index(origin)].groups[static_cast<size_t>(isa::AsyncGroup::wgmma) - 1].push_back(
      {op, origin.lanes});
}

ViewRef HappensBefore::issuers_view(const Origin& origin, AsyncRecord& op) {
  for (const AsyncRecord::Joined& j : op.joined)
    for (const AsyncRecord::Joined& other : op.joined) op.apart |= !j.knows(other.warp, other.stored);
  if (op.group != isa::AsyncGroup::wgmma) return view_ref(index(origin), lowest_lane(origin.lanes));
  const auto at = joining_.find(op.id);
  ViewRef view = at != joining_.end() ? at->second : nothing();
  if (at != joining_.end()) joining_.erase(at);
  return view;
}

void HappensBefore::issued(const Origin& origin, const std::shared_ptr<AsyncRecord>& op) {
  if (op->is_tensor()) {
    op->stream = TensorOrder::thread_stream(index(origin), lowest_lane(origin.lanes));
    tensor_.issued(op->stream);
  }
  if (op->family == isa::AsyncFamily::cluster_launch) {
    op->known_to_asker = released(index(origin), origin.lanes);
    step(index(origin));
  }
  if (op->group == isa::AsyncGroup::none || op->group == isa::AsyncGroup::wgmma) return;
  operations_[index(origin)].groups[static_cast<size_t>(op->group) - 1].push_back({op, origin.lanes});
}

// All copies that these lanes have issued and not waited for, landed or not.
void HappensBefore::on(const ArrivalDeferred& event) {
  const Origin& origin = event.origin;
  if (std::holds_alternative<isa::Tcgen05Commit>(*origin.effect)) return commit(event);
  auto& all = deferred_[event.id];
  for (const Issued& i :
       operations_[index(origin)].groups[static_cast<size_t>(isa::AsyncGroup::cp_async) - 1])
    if (i.op != nullptr && (i.lanes & origin.lanes) != 0) all.push_back({i.op, i.lanes & origin.lanes});
}

void HappensBefore::on(const AsyncLanded& event) {
  if (const auto op = in_flight_.find(event.id); op != in_flight_.end()) {
    op->second->landed = true;
    in_flight_.erase(op);
  }
  deferred_.erase(event.id);
  commits_.erase(event.id);
}

void HappensBefore::on(const GroupCommitted& event) {
  const Origin& origin = event.origin;
  auto& journal = operations_[index(origin)].groups[static_cast<size_t>(event.group) - 1];
  for (Issued& i : journal)
    if (i.op != nullptr && (i.lanes & origin.lanes) != 0) i.op->committed = true;
  if (!journal.empty()) journal.push_back({nullptr, origin.lanes});
}

// The newest `allowed` groups of each lane may be incomplete, all older ones are done for it.
void HappensBefore::on(const GroupWaited& event) {
  const Origin& origin = event.origin;
  auto& journal = operations_[index(origin)].groups[static_cast<size_t>(event.group) - 1];
  operations_[index(origin)].waited[static_cast<size_t>(event.group) - 1] |= origin.lanes;
  std::array<uint64_t, 32> commits{};
  advance(index(origin), origin.pc);
  for (auto i = journal.rbegin(); i != journal.rend(); ++i) {
    uint32_t done = 0;
    for (uint32_t m = i->lanes & origin.lanes; m != 0; m &= m - 1) {
      const auto lane = static_cast<size_t>(std::countr_zero(m));
      if (i->op == nullptr)
        ++commits[lane];
      else if (commits[lane] > event.allowed)
        done |= 1U << lane;
    }
    if (i->op == nullptr || done == 0) continue;
    publish(*i->op, origin,
            {.lanes = done,
             .reads_only = event.read_only,
             .own_lanes = event.group == isa::AsyncGroup::cp_async,
             .parts = done});
    if (!event.read_only) i->lanes &= ~done;
  }
  std::erase_if(journal, [](const Issued& i) { return i.op != nullptr && i.lanes == 0; });
  while (!journal.empty() && journal.front().op == nullptr) journal.pop_front();
}

}  // namespace palladion::sim::check
