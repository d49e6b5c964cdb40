#include "sim/mutate/reduced_order.h"

#include <algorithm>
#include <utility>

#include "sim/machine/state/tensor_memory.h"

namespace palladion::sim::check {
namespace {

constexpr uint64_t place = 16;  // bytes
// Places of tensor memory, and operations on it that have no number of their own.
constexpr uint64_t of_tensor_memory = 1ULL << 62, quarter = 128;

void join_clock(std::vector<uint32_t>& into, const std::vector<uint32_t>& from) {
  if (into.size() < from.size()) into.resize(from.size());
  for (size_t i = 0; i < from.size(); ++i) into[i] = std::max(into[i], from[i]);
}

uint32_t at(const std::vector<uint32_t>& clock, uint32_t warp) {
  return warp < clock.size() ? clock[warp] : 0;
}

}  // namespace

void ReducedOrder::Knowledge::join(const Knowledge& other) {
  join_clock(warps, other.warps);
  join_clock(async_proxy, other.async_proxy);
  done.insert(other.done.begin(), other.done.end());
  read.insert(other.read.begin(), other.read.end());
}

// Its own clock begins with 1.
ReducedOrder::Knowledge& ReducedOrder::of(uint32_t warp) {
  Knowledge& mine = warps_[warp];
  if (mine.warps.size() <= warp) mine.warps.resize(warp + 1);
  mine.warps[warp] = std::max(mine.warps[warp], 1U);
  return mine;
}

bool ReducedOrder::before(const Record& record, const Knowledge& knowledge, bool by_async) const {
  if (record.tensor) return knowledge.tensor.contains(record.operation);
  if (record.async)
    return knowledge.done.contains(record.operation) ||
           (!record.writes && knowledge.read.contains(record.operation));
  return at(by_async ? knowledge.async_proxy : knowledge.warps, record.warp) >= record.time;
}

// In tensor memory a warp's operations are those of one thread, or of all lanes together: no barrier orders
// them.
void ReducedOrder::touch_place(uint64_t place, const Record& record) {
  const Knowledge& mine = of(record.warp);
  std::vector<Record>& earlier = places_[place];
  for (const Record& r : earlier) {
    const bool own = r.tensor  ? r.warp == record.warp
                     : r.async ? record.async && r.operation == record.operation
                               : r.warp == record.warp && !record.async;
    if (!own && (r.writes || record.writes) && !before(r, mine, record.async)) complete_ = false;
  }
  if (record.writes) earlier.clear();
  const bool known = std::ranges::any_of(earlier, [&](const Record& r) {
    return r.async == record.async && r.warp == record.warp && r.time == record.time &&
           r.operation == record.operation && r.writes == record.writes;
  });
  if (!known) earlier.push_back(record);
}

void ReducedOrder::touch(uint64_t byte, uint64_t bytes, const Record& record) {
  const uint64_t unit = record.tensor ? quarter : place, base = record.tensor ? of_tensor_memory : 0;
  for (uint64_t p = byte / unit; p <= (byte + bytes - 1) / unit; ++p) touch_place(base + p, record);
}

// Atomics and strong accesses order one another: that is not examined.
void ReducedOrder::accessed(uint32_t warp, uint64_t byte, uint64_t bytes, const Access& access) {
  if (access.kind == Access::Kind::atomic || access.order != isa::Order::weak) complete_ = false;
  if (complete_)
    touch(byte, bytes,
          {.writes = access.kind != Access::Kind::read, .warp = warp, .time = of(warp).warps[warp]});
}

void ReducedOrder::issued(uint32_t warp, const AsyncIssue& issue, uint64_t shared_bytes) {
  if (!complete_) return;
  if (issue.group != isa::AsyncGroup::none && issue.group != isa::AsyncGroup::wgmma)
    open_[{warp, issue.group}].push_back(issue.id);
  if (issue.family == isa::AsyncFamily::tcgen05) {
    products_[warp].push_back(issue.id);
    known_[warp] = of(warp).done;
  }
  for (const SharedAddress mbarrier : issue.mbarriers) check_initialised(warp, mbarrier);
  const auto all = [&](std::span<const Piece> pieces, bool writes) {
    for (const Piece& p : pieces) {
      touch(p.shared() ? shared_bytes + uint32_t(p.address) : p.address, p.bytes,
            {.async = true,
             .writes = writes,
             .tensor = p.space == isa::Space::tensor,
             .warp = warp,
             .operation = issue.id});
    }
  };
  all(issue.reads, false);
  all(issue.writes, true);
}

void ReducedOrder::committed(uint32_t warp, isa::AsyncGroup kind) {
  groups_[{warp, kind}].push_back(std::exchange(open_[{warp, kind}], {}));
}

void ReducedOrder::waited(uint32_t warp, isa::AsyncGroup kind, uint64_t allowed, bool read_only) {
  auto& groups = groups_[{warp, kind}];
  Knowledge& mine = of(warp);
  for (size_t i = 0; i + allowed < groups.size(); ++i)
    (read_only ? mine.read : mine.done).insert(groups[i].begin(), groups[i].end());
}

void ReducedOrder::deferred(uint64_t id, std::span<const uint64_t> awaited) {
  deferred_[id].assign(awaited.begin(), awaited.end());
}

// It covers all products and copies to tensor memory that the warp has issued, and what these came after.
void ReducedOrder::committed_products(uint32_t warp, uint64_t id) {
  deferred_[id] = products_[warp];
  known_to_[id] = known_[warp];
  if (products_[warp].size() > most_products) complete_ = false;
}

// Bytes that arrive are checked where the copy is issued.
void ReducedOrder::check_initialised(uint32_t warp, SharedAddress mbarrier) {
  const auto init = inits_.find(mbarrier);
  if (init != inits_.end() && init->second.warp != warp && !before(init->second, of(warp), false))
    complete_ = false;
}

void ReducedOrder::mbarrier(uint32_t warp, const MbarrierEvent& event) {
  const Origin& origin = event.origin;
  using A = isa::MbarrierAction;
  NewestPhases<Knowledge>& phases = mbarriers_[event.address];
  if (event.action == A::init || event.action == A::inval) {
    inits_[event.address] = {.writes = true, .warp = warp, .time = of(warp).warps[warp]};
    return phases = {}, void();
  }
  if (event.async_id == 0) check_initialised(warp, event.address);
  if (event.action == A::test_wait || event.action == A::try_wait) {
    if (event.succeeded) of(warp).join(phases[event.phase]);
    return;
  }
  Knowledge& arrived = phases[event.phase];
  if (event.async_id != 0) {
    const auto copies = deferred_.find(event.async_id);
    if (copies == deferred_.end())
      arrived.done.insert(event.async_id);
    else
      arrived.done.insert(copies->second.begin(), copies->second.end());
    if (const auto known = known_to_.find(event.async_id); known != known_to_.end())
      arrived.done.insert(known->second.begin(), known->second.end());
  } else if (const auto* m = std::get_if<isa::Mbarrier>(origin.effect);
             m != nullptr && (!m->expect_tx || without_ != ~0u)) {
    Knowledge& mine = of(warp);
    arrived.join(mine);
    ++mine.warps[warp];
  }
}

void ReducedOrder::barrier(uint32_t warp, Pc pc, std::array<uint64_t, 3> generation, bool pass) {
  if (pc == without_) return;
  Knowledge& mine = of(warp);
  Knowledge& all = barriers_[generation];
  if (pass) return mine.join(all);
  all.join(mine);
  ++mine.warps[warp];
}

void ReducedOrder::fenced(uint32_t warp, const isa::Fence& fence) {
  if (!fence.proxy || fence.to != isa::Proxy::async) return;
  Knowledge& mine = of(warp);
  join_clock(mine.async_proxy, mine.warps);
  ++mine.warps[warp];
}

void ReducedOrder::accessed(uint32_t warp, const TensorAccess& access) {
  if (!complete_) return;
  const uint64_t id = of_tensor_memory + tensor_accesses_++;
  TensorAccesses& mine = tensor_[warp];
  (access.writes ? mine.stores : mine.loads).push_back(id);
  for (uint32_t c = access.column; c < access.column + access.columns; ++c)
    touch(tensor_byte(access.origin.cta_rank, access.lane, c), uint64_t{access.lanes} * 4,
          {.async = true, .writes = access.writes, .tensor = true, .warp = warp, .operation = id});
}

void ReducedOrder::waited_for_tensor_memory(uint32_t warp, bool stores) {
  TensorAccesses& mine = tensor_[warp];
  std::vector<uint64_t>& pending = stores ? mine.stores : mine.loads;
  mine.awaited.insert(mine.awaited.end(), pending.begin(), pending.end());
  pending.clear();
}

void ReducedOrder::fenced_tensor_memory(uint32_t warp, bool after) {
  Knowledge& mine = of(warp);
  if (after) return mine.tensor.insert(mine.done.begin(), mine.done.end()), void();
  std::vector<uint64_t>& awaited = tensor_[warp].awaited;
  mine.done.insert(awaited.begin(), awaited.end());
  awaited.clear();
}

// It needs no fence behind the barrier: nothing in flight is ordered, all must be done.
void ReducedOrder::freed(uint32_t warp, CtaRank rank, const TensorAllocated& columns) {
  const Knowledge& mine = of(warp);
  const uint64_t first = tensor_byte(rank, 0, columns.column) / quarter,
                 last = tensor_byte(rank, 0, columns.column + columns.columns) / quarter;
  for (uint64_t p = first; p < last; ++p)
    for (const Record& r : places_[of_tensor_memory + p])
      if (r.warp != warp && !mine.done.contains(r.operation)) complete_ = false;
}

}  // namespace palladion::sim::check
