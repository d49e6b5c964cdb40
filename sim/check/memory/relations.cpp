// How an earlier access relates to a later one.
#include <algorithm>
#include <bit>

#include "sim/check/memory/races.h"

namespace palladion::sim::check {
namespace {

Relation worse(Relation a, Relation b) { return std::max(a, b); }

// Lanes of one warp that issue one bulk store by one execution of an instruction.
bool same_store(const Record& a, const Record& b) {
  return a.async && b.async && a.async->operands != 0 && a.async->operands == b.async->operands &&
         a.pc == b.pc && a.warp == b.warp && a.cluster == b.cluster &&
         a.async->occurrence == b.async->occurrence;
}

// Accesses are aligned to their elements: those of one size overlap completely or not at all.
bool same_size(const Record& r, const Actor& a) {
  return r.element == 0 || a.element == 0 || r.element == a.element;
}

}  // namespace

// `my_lane`: of accesses of single lanes, parts of a cp.async among them. An access of all lanes is an
// asynchronous one that one of them issues, or meets at its instruction.
Relation Detector::lane_relation(const Record& r, Lane lane, uint32_t my_lane, bool mine_all) const {
  const Actor& a = actor_;
  const bool same_lane = r.cluster == a.cluster && r.warp == a.warp &&
                         (mine_all ? a.async && (a.lanes >> lane & 1) != 0 : lane == my_lane);
  if (same_lane && (a.visibility == Visibility::generic || a.own_async >= r.time)) return Relation::ordered;
  if (a.view->knows(a.visibility, r.cluster, r.warp, lane, r.time)) {
    if (a.visibility != Visibility::generic ||
        a.view->knows(Visibility::strict, r.cluster, r.warp, lane, r.time))
      return Relation::ordered;
    return Relation::narrow_scope;
  }
  if (same_lane) return Relation::other_proxy;
  const bool known = a.visibility != Visibility::generic &&
                     a.view->knows(Visibility::generic, r.cluster, r.warp, lane, r.time);
  return known ? Relation::other_proxy : Relation::unordered;
}

Relation Detector::generic_relation(const Record& r, Ref earlier, uint32_t byte, Ref mine) const {
  const bool mine_all = size_of(mine) == every_lane;
  Relation worst = Relation::ordered;
  for (uint32_t m = lanes_at(r, earlier, byte); m != 0; m &= m - 1) {
    const Lane lane = lowest_lane(m);
    if (mine_all && !actor_.async && r.warp == actor_.warp && r.cluster == actor_.cluster) {
      for (uint32_t k = actor_.lanes; k != 0; k &= k - 1)
        worst = worse(worst, lane_relation(r, lane, static_cast<uint32_t>(std::countr_zero(k)), false));
    } else {
      worst = worse(worst, lane_relation(r, lane, mine_all ? 0 : lane_of(mine, byte), mine_all));
    }
  }
  return worst;
}

// Between two operations on tensor memory: fences are missing where it is not order itself.
Relation Detector::tensor_relation(const Record& r) const {
  using T = HappensBefore::TensorRelation;
  const T t = actor_.order->tensor_relation(*r.async, r, *actor_.tensor, records_[actor_.record]);
  if (t == T::ordered) return Relation::ordered;
  return t == T::unordered ? Relation::unordered : Relation::other_proxy;
}

// `parts`: of which lanes, of an operation of which lanes issue parts. `lanes`: of the later access.
Relation Detector::async_relation(const Record& r, uint32_t parts, bool wrote, uint32_t lanes) const {
  const AsyncRecord& op = *r.async;
  const Actor& a = actor_;
  if (op.id == a.async_id && op.cluster == a.cluster) return Relation::ordered;
  if (a.tensor != nullptr) return tensor_relation(r);
  if (op.reduces && (a.reduces || a.strong)) return Relation::ordered;
  if (same_store(r, records_[a.record])) return Relation::ordered;
  HappensBefore::Asker asker{.view = a.view, .rank = a.rank, .parts = parts, .warp = a.warp, .lanes = lanes};
  asker.time = records_[a.record].time;
  if (!a.order->done(op, !wrote, asker)) return Relation::unordered;
  // What an operation of the generic proxy did, and an asynchronous one of another CTA in GMEM, is known to
  // the generic proxy.
  const bool far = op.cluster != a.cluster || op.issuer.cta_rank != a.rank;
  const bool crosses = op.async_proxy ? a.visibility == Visibility::global_async && far && !a.writes
                                      : a.visibility != Visibility::generic;
  if (!crosses) return Relation::ordered;
  asker.visibility = a.visibility;
  asker.own_async = a.own_async;
  return a.order->done(op, !wrote, asker) ? Relation::ordered : Relation::other_proxy;
}

// Both are strong, and the scope of each includes the other one's thread.
bool Detector::strong_together(const Record& r) const {
  const Actor& a = actor_;
  if ((r.flags & Record::strong) == 0 || (!a.strong && !a.reduces)) return false;
  const isa::Scope needed = r.cluster != a.cluster                               ? isa::Scope::gpu
                            : a.order->cta_of(r.warp) != a.order->cta_of(a.warp) ? isa::Scope::cluster
                                                                                 : isa::Scope::cta;
  return r.scope >= needed && a.scope >= needed;
}

// A warp of the warpgroup issued its part of the product without knowing what another one had stored.
bool Detector::unknown_to_warpgroup(const Record& r) const {
  const AsyncRecord* const op = actor_.async ? records_[actor_.record].async.get() : nullptr;
  if (op == nullptr || !op->apart || r.cluster != actor_.cluster) return false;
  return r.warp / op->joined.size() == op->warpgroup &&
         !std::ranges::all_of(op->joined, [&](const auto& j) { return j.knows(r.warp, r.time); });
}

Relation Detector::relation(Ref earlier, bool wrote, uint32_t first, uint32_t count, Ref mine) const {
  const Record& r = records_[record_of(earlier)];
  const Actor& a = actor_;
  if (r.async != nullptr)
    return async_relation(r, part_of(r, earlier, first), wrote,
                          size_of(mine) == every_lane ? a.lanes : 1U << lane_of(mine, first));
  const bool strong = strong_together(r);
  if (strong && same_size(r, a)) return Relation::ordered;
  // Each lane touches what it has touched before.
  if (!a.async && a.visibility == Visibility::generic && r.cluster == a.cluster && r.warp == a.warp &&
      size_of(mine) != every_lane && (earlier & 0xFF) == (mine & 0xFF))
    return Relation::ordered;
  // The usual case: the whole warp is known, whatever the lanes.
  if (r.cluster == a.cluster && a.view->time(a.visibility, r.warp) >= r.time &&
      (a.visibility != Visibility::generic || a.view->time(Visibility::strict, r.warp) >= r.time))
    return unknown_to_warpgroup(r) ? Relation::of_warpgroup : Relation::ordered;
  const uint32_t step = size_of(earlier) == every_lane && size_of(mine) == every_lane ? count : 1;
  Relation worst = Relation::ordered;
  for (uint32_t b = first; b < first + count; b += step)
    worst = worse(worst, generic_relation(r, earlier, b, mine));
  if (worst == Relation::ordered && unknown_to_warpgroup(r)) return Relation::of_warpgroup;
  return worst == Relation::unordered && strong ? Relation::mixed_size : worst;
}

// From the last answers. Between asynchronous operations it is mostly the same for the parts of all lanes:
// what a lane knows by its own wait alone, is asked lane by lane.
Relation Detector::granule_relation(const Record& r, Ref earlier, bool wrote, Ref mine) {
  const bool both_async = actor_.async && r.async != nullptr;
  const Ref then = both_async ? earlier | 0xFF : earlier, now = both_async ? mine | 0xFF : mine;
  for (const Memo& m : memo_)
    if ((m.earlier == then || m.earlier == earlier) && (m.mine == now || m.mine == mine) && m.wrote == wrote)
      return m.relation;
  const auto remember = [&](const Memo& m) {
    memo_[memo_next_++ % memo_.size()] = m;
    return m.relation;
  };
  const bool by_parts = both_async && (r.async->lane_exact || size_of(mine) != every_lane);
  if (by_parts) {
    const uint32_t parts = r.async->lane_exact ? r.lanes : 1;
    const uint32_t lanes = size_of(mine) == every_lane ? actor_.lanes : 0;
    if (async_relation(r, parts, wrote, lanes) == Relation::ordered)
      return remember({then, now, wrote, Relation::ordered});
  }
  const Relation rel = relation(earlier, wrote, 0, granule, mine);
  return by_parts ? remember({earlier, mine, wrote, rel}) : remember({then, now, wrote, rel});
}

}  // namespace palladion::sim::check
