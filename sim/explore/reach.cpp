#include "sim/explore/reach.h"

#include <algorithm>

namespace palladion::sim::check {

void Reachability::run(const SyncState& s, const std::vector<uint32_t>& frozen) {
  state_ = &s;
  position_ = s.position;
  use_.resize(s.objects.size());
  for (PossibleUse& u : use_) {
    std::vector<Possible> uses = std::move(u.uses);
    uses.clear();
    u = {};
    u.uses = std::move(uses);
  }
  movers_.clear();
  const auto moves = [&](uint32_t t) {
    return s.halted[t] == 0 && !std::ranges::binary_search(frozen, t) && !model_.finished(s, t);
  };
  for (uint32_t t = 0; t < model_.lanes(); ++t)
    if (moves(t)) movers_.push_back(t);
  for (const uint32_t t : s.flying)
    if (moves(t)) movers_.push_back(t);
  for (bool moved = true; moved;) {
    moved = false;
    for (size_t i = 0; i < movers_.size(); ++i) moved |= advance(movers_[i]);
  }
}

bool Reachability::advance(uint32_t thread) {
  const auto& ops = model_.skeleton().threads[thread].ops;
  bool moved = false;
  while (position_[thread] < ops.size() && may(thread, ops[position_[thread]])) {
    take(thread, ops[position_[thread]]);
    ++position_[thread];
    moved = true;
    if (thread >= model_.lanes()) continue;
    for (const uint32_t agent : model_.begun(thread, position_[thread])) movers_.push_back(agent);
  }
  return moved;
}

bool Reachability::may(uint32_t thread, const SyncOp& op) const {
  for (const Prerequisite& p : op.after)
    if (position_[p.thread] < p.position) return false;
  if (state_->objects.empty()) return true;
  const ObjectState& o = state_->objects[op.object];
  switch (op.kind) {
    case SyncKind::wait:
      return !o.valid || use_[op.object].reset || o.parity != op.parity || completions(op.object) != 0;
    case SyncKind::bar_pass:
      return o.phase + completions(op.object) > generation_of(thread, op);
    case SyncKind::registers_inc:
      return o.pending + use_[op.object].freed >= op.count;
    default:
      return true;
  }
}

// The earliest generation in which the thread can have arrived before it passes.
uint32_t Reachability::generation_of(uint32_t thread, const SyncOp& pass) const {
  const auto& ops = model_.skeleton().threads[thread].ops;
  for (uint32_t i = position_[thread]; i > state_->position[thread]; --i)
    if (ops[i - 1].kind == SyncKind::bar_arrive && ops[i - 1].object == pass.object)
      return state_->objects[pass.object].phase;
  return state_->generation[model_.slot(thread, pass.object)];
}

void Reachability::take(uint32_t thread, const SyncOp& op) {
  if (op.kind == SyncKind::nothing) return;
  PossibleUse& u = use_[op.object];
  const ObjectState& o = state_->objects[op.object];
  u.uses.push_back({thread, &op});
  switch (op.kind) {
    case SyncKind::init:
    case SyncKind::inval:
      u.reset = true;
      break;
    case SyncKind::arrive:
      u.arrivals += op.count;
      (op.tx > 0 ? u.announced : u.delivered) += static_cast<uint64_t>(op.tx > 0 ? op.tx : -op.tx);
      u.bare_expect |= op.count == 0 && op.tx > 0;
      u.dropped |= op.drop;
      break;
    case SyncKind::defer:
      u.deferred += op.count;
      u.bare_expect = true;
      break;
    case SyncKind::wait:
      u.waits_now |= !o.valid || o.parity != op.parity;
      break;
    case SyncKind::bar_arrive:
      u.arrivals += op.count;
      u.other_threads |=
          (o.pending != 0 && o.expected != op.needed) || (u.least_needed != 0 && u.least_needed != op.needed);
      u.least_needed = u.least_needed == 0 ? op.needed : std::min(u.least_needed, op.needed);
      break;
    case SyncKind::registers_dec:
      u.freed += op.count;
      break;
    case SyncKind::registers_inc:
      u.wanted += op.count;
      break;
    default:
      break;
  }
}

// An upper bound of the phases or generations that can complete.
uint64_t Reachability::completions(uint32_t object) const {
  const ObjectState& o = state_->objects[object];
  const PossibleUse& u = use_[object];
  if (model_.skeleton().objects[object].kind != SyncObject::Kind::mbarrier) {
    uint32_t needed = u.least_needed;
    if (o.expected != 0) needed = needed == 0 ? o.expected : std::min(needed, o.expected);
    return needed == 0 ? 0 : (o.pending + u.arrivals) / needed;
  }
  if (!o.valid || u.arrivals < o.pending || u.uses.empty()) return 0;
  const auto tx = static_cast<uint64_t>(o.tx < 0 ? -o.tx : o.tx);
  if (o.tx > 0 && u.delivered < tx) return 0;
  if (o.tx < 0 && u.announced < tx) return 0;
  if (o.pending == 0 && u.arrivals + u.delivered + u.announced == 0) return 0;
  return 2;  // more than one is as good as many: both parities are possible
}

}  // namespace palladion::sim::check
