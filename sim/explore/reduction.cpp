#include "sim/explore/reduction.h"

#include <algorithm>

#include "sim/machine/state/mbarrier.h"

namespace palladion::sim::check {
namespace {

// Operations that no other one can disturb: once enabled they stay enabled, and their order has no effect.
bool always_independent(const SyncOp& op) {
  return op.kind == SyncKind::nothing || op.kind == SyncKind::bar_pass || op.kind == SyncKind::registers_dec;
}

bool is_arrival(const SyncOp& op) { return op.kind == SyncKind::arrive && op.count != 0; }
bool is_contribution(const SyncOp& op) { return op.kind == SyncKind::arrive || op.kind == SyncKind::defer; }
bool is_wait(const SyncOp& op) { return op.kind == SyncKind::wait; }
bool is_reset(const SyncOp& op) { return op.kind == SyncKind::init || op.kind == SyncKind::inval; }
uint64_t magnitude(int64_t tx) { return static_cast<uint64_t>(tx < 0 ? -tx : tx); }

}  // namespace

std::vector<uint32_t> Reduction::choose(const SyncState& s, const std::vector<uint32_t>& enabled,
                                        uint32_t last) {
  if (enabled.size() == 1) return enabled;
  for (const uint32_t t : enabled)
    if (always_independent(model_.next(s, t))) return {t};
  const auto begin = static_cast<size_t>(std::ranges::find(enabled, last) - enabled.begin()) % enabled.size();
  std::vector<uint32_t> best = enabled;
  for (size_t i = 0; i < enabled.size(); ++i) {
    const uint32_t t = enabled[(begin + i) % enabled.size()];
    std::vector<uint32_t> set{t};
    if (!grow(s, enabled, set) || set.size() >= best.size()) continue;
    if (set.size() == 1) return set;
    best = std::move(set);
  }
  return best;
}

bool Reduction::grow(const SyncState& s, const std::vector<uint32_t>& enabled, std::vector<uint32_t>& set) {
  while (set.size() < enabled.size()) {
    reach_.run(s, set);
    blamed_.clear();
    for (const uint32_t t : set) independent(s, t);
    if (blamed_.empty()) return true;
    // A culprit that is not enabled now cannot be added to the blocked threads: others may enable it.
    bool grown = false;
    for (const uint32_t t : blamed_) {
      if (!std::ranges::binary_search(enabled, t) || std::ranges::binary_search(set, t)) continue;
      set.insert(std::ranges::upper_bound(set, t), t);
      grown = true;
    }
    if (!grown) return false;
  }
  return true;
}

template <class Predicate>
bool Reduction::blame(uint32_t object, Predicate culprit) {
  const size_t before = blamed_.size();
  for (const Possible& p : reach_.at(object).uses)
    if (culprit(*p.op)) blamed_.push_back(p.thread);
  if (blamed_.size() == before) blamed_.push_back(no_thread);
  return false;
}

bool Reduction::independent(const SyncState& s, uint32_t thread) {
  const SyncOp& op = model_.next(s, thread);
  if (always_independent(op)) return true;
  const ObjectState& o = s.objects[op.object];
  const PossibleUse& u = reach_.at(op.object);
  switch (op.kind) {
    case SyncKind::init:
    case SyncKind::inval:
      return u.uses.empty() || blame(op.object, [](const SyncOp&) { return true; });
    case SyncKind::registers_inc:
      return u.wanted + op.count <= o.pending ||
             blame(op.object, [](const SyncOp& p) { return p.kind == SyncKind::registers_inc; });
    case SyncKind::bar_arrive:
      return barrier_independent(o, op);
    default:
      break;
  }
  if (u.reset) return blame(op.object, is_reset);
  if (!o.valid) return true;  // it fails, whatever happens
  return op.kind == SyncKind::wait ? wait_independent(o, op) : arrival_independent(o, op);
}

bool Reduction::barrier_independent(const ObjectState& o, const SyncOp& op) {
  const PossibleUse& u = reach_.at(op.object);
  const bool agree = !u.other_threads && (o.pending == 0 || o.expected == op.needed) &&
                     (u.least_needed == 0 || u.least_needed == op.needed);
  if (agree && o.pending + u.arrivals + op.count <= op.needed) return true;
  return blame(op.object, [](const SyncOp& p) { return p.kind == SyncKind::bar_arrive; });
}

// A wait that returns now must not be able to miss its phase, nor to be the first to observe it or not.
bool Reduction::wait_independent(const ObjectState& o, const SyncOp& op) {
  if (reach_.may_complete(op.object)) return blame(op.object, is_contribution);
  if (o.observed || reach_.at(op.object).arrivals == 0) return true;
  return blame(op.object, is_arrival);
}

// An arrival, expect_tx or complete_tx: it and all the others that are possible must fall into this phase
// in every order. Either the phase cannot complete, or it needs every one of them.
bool Reduction::arrival_independent(const ObjectState& o, const SyncOp& op) {
  const PossibleUse& u = reach_.at(op.object);
  if (std::ranges::none_of(u.uses, [](const Possible& p) { return is_contribution(*p.op); })) {
    const bool completes = op.kind == SyncKind::arrive && op.count == o.pending && o.tx + op.tx == 0;
    return !completes || !u.waits_now || blame(op.object, is_wait);
  }
  const uint64_t range = magnitude(o.tx) + u.announced + u.delivered + magnitude(op.tx);
  if (range > uint64_t{MbarrierState::max_tx}) return blame(op.object, is_contribution);
  if (op.kind == SyncKind::defer) {
    if (u.arrivals < o.pending) return true;
    return blame(op.object, is_contribution);
  }
  const uint64_t arrivals = u.arrivals + op.count;
  if (arrivals < o.pending) return true;
  const bool bare = op.count == 0 && op.tx > 0;
  if (arrivals > o.pending || bare || u.bare_expect) return blame(op.object, is_contribution);
  if (u.waits_now) return blame(op.object, is_wait);
  const int64_t left = o.tx + op.tx + static_cast<int64_t>(u.announced) - static_cast<int64_t>(u.delivered);
  return left >= 0 || blame(op.object, is_contribution);
}

}  // namespace palladion::sim::check
