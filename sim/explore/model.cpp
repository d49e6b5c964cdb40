#include "sim/explore/model.h"

#include <algorithm>

namespace palladion::sim::check {
namespace {

// A life of an mbarrier begins in an even phase.
void begin_life(ObjectState& o) {
  const uint32_t first = (o.phase + 2) & ~1U;
  o = {};
  o.phase = o.first = first;
}

SyncError error_of(MbarrierState::Refusal refusal) {
  switch (refusal) {
    case MbarrierState::Refusal::tx_range:
      return SyncError::tx_range;
    case MbarrierState::Refusal::too_many_arrivals:
      return SyncError::too_many_arrivals;
    case MbarrierState::Refusal::none:
      break;
  }
  return SyncError::none;
}

StepResult init(ObjectState& o, const SyncOp& op) {
  const StepResult r{.label = o.phase};
  if (o.valid) begin_life(o);
  o.first = o.phase;
  o.pending = o.expected = op.count;
  o.valid = true;
  return r;
}

StepResult inval(ObjectState& o) {
  const StepResult r{.error = o.valid ? SyncError::none : SyncError::uninitialised, .label = o.phase};
  if (o.valid) begin_life(o);
  return r;
}

StepResult arrive(ObjectState& o, const SyncOp& op) {
  StepResult r{.label = o.phase};
  if (!o.valid) return r.error = SyncError::uninitialised, r;
  r.error = error_of(o.signal(op.count, op.tx));
  if (r.error != SyncError::none) return r;
  r.overrun = op.count != 0 && !o.observed;
  if (op.drop) o.expected -= std::min(op.count, o.expected);
  r.completed = o.complete_if_done();
  if (!r.completed) return r;
  ++o.phase;
  o.observed = false;
  return r;
}

StepResult bar_arrive(ObjectState& o, const SyncOp& op) {
  StepResult r{.label = o.phase};
  if (o.pending != 0 && o.expected != op.needed) return r.error = SyncError::barrier_threads, r;
  if (o.pending + op.count > op.needed) return r.error = SyncError::barrier_overflow, r;
  o.pending += op.count;
  o.expected = op.needed;
  r.completed = o.pending == o.expected;
  if (r.completed) {
    ++o.phase;
    o.pending = o.expected = 0;
  }
  return r;
}

}  // namespace

Model::Model(const Skeleton& skeleton) : skeleton_(skeleton), begun_(skeleton.threads.size()) {
  for (uint32_t t = 0; t < threads(); ++t) {
    if (!skeleton_.threads[t].agent) {
      lanes_ = t + 1;
      continue;
    }
    const Prerequisite& issue = skeleton_.threads[t].ops[0].after[0];
    auto& list = begun_[issue.thread];
    if (list.size() <= issue.position) list.resize(issue.position + 1);
    list[issue.position].push_back(t);
  }
}

const std::vector<uint32_t>& Model::begun(uint32_t thread, uint32_t position) const {
  const auto& list = begun_[thread];
  return position < list.size() ? list[position] : none_;
}

SyncState Model::initial() const {
  SyncState s;
  s.position.resize(threads());
  s.halted.resize(threads());
  s.generation.resize(size_t{lanes_} * 2);
  for (const SyncObject& o : skeleton_.objects) {
    ObjectState state;
    state.pending = o.initial;
    if (o.kind == SyncObject::Kind::mbarrier) {
      state.expected = o.initial;
      state.valid = o.initial != 0;
    }
    s.objects.push_back(state);
  }
  return s;
}

bool Model::met(const SyncState& s, const SyncOp& op) const {
  return std::ranges::all_of(op.after,
                             [&](const Prerequisite& p) { return s.position[p.thread] >= p.position; });
}

bool Model::enabled(const SyncState& s, uint32_t thread) const {
  if (s.halted[thread] != 0 || finished(s, thread)) return false;
  const SyncOp& op = next(s, thread);
  if (!met(s, op)) return false;
  const ObjectState* o = s.objects.empty() ? nullptr : &s.objects[op.object];
  switch (op.kind) {
    case SyncKind::wait:
      return !o->valid || o->parity != op.parity;
    case SyncKind::bar_pass:
      return o->phase > s.generation[slot(thread, op.object)];
    case SyncKind::registers_inc:
      return o->pending >= op.count;
    default:
      return true;
  }
}

StepResult Model::step(SyncState& s, uint32_t thread) const {
  const SyncOp& op = next(s, thread);
  StepResult r;
  ObjectState* o = s.objects.empty() ? nullptr : &s.objects[op.object];
  switch (op.kind) {
    case SyncKind::nothing:
      break;
    case SyncKind::init:
      r = init(*o, op);
      break;
    case SyncKind::inval:
      r = inval(*o);
      break;
    case SyncKind::arrive:
      r = arrive(*o, op);
      break;
    case SyncKind::defer:
      r = {.error = o->valid ? SyncError::none : SyncError::uninitialised, .label = o->phase};
      if (o->valid) o->pending += op.count;
      break;
    case SyncKind::wait:
      r = {.error = o->valid ? SyncError::none : SyncError::uninitialised, .label = o->phase};
      o->observed = true;
      break;
    case SyncKind::bar_arrive:
      r = bar_arrive(*o, op);
      if (r.error == SyncError::none) s.generation[slot(thread, op.object)] = r.label;
      break;
    case SyncKind::bar_pass:
      r.label = s.generation[slot(thread, op.object)];
      s.generation[slot(thread, op.object)] = 0;  // no longer observable: equal states otherwise
      break;
    case SyncKind::registers_dec:
      o->pending += op.count;
      break;
    case SyncKind::registers_inc:
      o->pending -= op.count;
      break;
  }
  if (r.error != SyncError::none) {
    s.halted[thread] = 1;
    return r;
  }
  ++s.position[thread];
  if (skeleton_.threads[thread].agent) {
    s.flying.erase(std::ranges::lower_bound(s.flying, thread));
    return r;
  }
  for (const uint32_t agent : begun(thread, s.position[thread]))
    s.flying.insert(std::ranges::upper_bound(s.flying, agent), agent);
  return r;
}

Undo Model::before_step(const SyncState& s, uint32_t thread) const {
  Undo u{.thread = thread};
  if (s.objects.empty()) return u;
  const SyncOp& op = next(s, thread);
  u.object = s.objects[op.object];
  if (thread < lanes_) u.generation = s.generation[slot(thread, op.object)];
  return u;
}

void Model::undo(SyncState& s, const Undo& u) const {
  const bool agent = u.thread >= lanes_;
  if (s.halted[u.thread] != 0) {
    s.halted[u.thread] = 0;
  } else {
    if (agent)
      s.flying.insert(std::ranges::upper_bound(s.flying, u.thread), u.thread);
    else
      for (const uint32_t a : begun(u.thread, s.position[u.thread]))
        s.flying.erase(std::ranges::lower_bound(s.flying, a));
    --s.position[u.thread];
  }
  if (s.objects.empty()) return;
  const SyncOp& op = next(s, u.thread);
  s.objects[op.object] = u.object;
  if (!agent) s.generation[slot(u.thread, op.object)] = u.generation;
}

}  // namespace palladion::sim::check
