#include "sim/explore/forced.h"

#include <algorithm>
#include <limits>
#include <map>

#include "sim/machine/state/mbarrier.h"

namespace palladion::sim::check {
namespace {

// By thread: operations of it that come before; by thread that commits: arrivals of its tcgen05.commit that
// have landed; by object: 1 + its phase known to have begun, 0: not even that it was initialised.
using Clock = std::vector<uint32_t>;

void join(Clock& into, const Clock& from) {
  for (size_t i = 0; i < into.size(); ++i) into[i] = std::max(into[i], from[i]);
}

struct Increase {
  OpRef op;
  uint64_t available = 0;  // registers that were free at first or had been released when it was executed
  uint64_t later = 0;      // that increases after it want
};

// A contribution that is no arrival: expect_tx, defer.
struct Loose {
  OpRef op;
  int64_t delivered = 0;  // bytes of the phase that can be delivered without it; of a defer no matter
};

struct ObjectClocks {
  Clock in;                                     // all that contributed to the current phase
  Clock plain;                                  // of these the arrivals that the phase counts
  Clock done;                                   // the phase before, complete
  bool agents = false, done_by_agents = false;  // landings contributed that have no component in clocks
  std::vector<Clock> generations;               // of a CTA or cluster barrier, all of them
  std::vector<OpRef> waits;                     // that returned during the current phase
  std::vector<Loose> loose;
  int64_t announced = 0, delivered = 0;
  int64_t with_arrivals = 0;        // announced by arrivals that the phase counts
  int64_t deferred = 0;             // arrivals that a defer announced and that have not been executed
  std::vector<Increase> increases;  // of a register pool
  uint64_t wanted = 0, released = 0;
};

constexpr int64_t unbounded = std::numeric_limits<int64_t>::max();

class Decision {
 public:
  explicit Decision(const Skeleton& skeleton)
      : model_(skeleton), state_(model_.initial()), ordered_(model_.lanes()) {
    for (const SyncThread& t : skeleton.threads)
      if (t.commit != 0) committers_.try_emplace(t.committer, model_.lanes() + committers_.size());
    ordered_ += committers_.size();
    Clock start(ordered_ + skeleton.objects.size());
    for (uint32_t i = 0; i < skeleton.objects.size(); ++i) {
      const SyncObject& o = skeleton.objects[i];
      known(start, i) = o.kind != SyncObject::Kind::mbarrier || o.initial != 0;
    }
    clocks_.assign(model_.lanes(), start);
    objects_.resize(skeleton.objects.size());
    for (ObjectClocks& o : objects_) o.in = o.plain = o.done = Clock(start.size());
    for (const SyncThread& t : skeleton.threads)
      for (const SyncOp& op : t.ops)
        for (const Prerequisite& p : op.after) snapshots_.try_emplace({p.thread, p.position}, start);
  }

  ForcedVerdict run() {
    while (result_.reason == Unforced::nothing && (round(false) || round(true))) {
    }
    if (result_.reason == Unforced::nothing) end();
    result_.forced = result_.reason == Unforced::nothing;
    return result_;
  }

 private:
  // Every thread as far as it can go; increases of the register pool only when nothing else is enabled.
  bool round(bool increases) {
    bool moved = false;
    for (uint32_t t = 0; t < model_.lanes(); ++t) {
      while (result_.reason == Unforced::nothing && model_.enabled(state_, t)) {
        if (!increases && model_.next(state_, t).kind == SyncKind::registers_inc) break;
        execute(t);
        moved = true;
      }
      while (result_.reason == Unforced::nothing && !state_.flying.empty()) execute(state_.flying.front());
    }
    return moved;
  }

  void fail(Unforced why) {
    if (result_.reason != Unforced::nothing) return;
    result_.reason = why;
    result_.op = now_;
    result_.phase = phase_;
  }

  void execute(uint32_t t) {
    ++result_.steps;
    now_ = {t, state_.position[t]};
    const SyncOp& op = model_.next(state_, t);
    const bool agent = t >= model_.lanes();
    Clock clock = agent ? Clock(ordered_ + objects_.size()) : std::move(clocks_[t]);
    for (const Prerequisite& p : op.after) join(clock, snapshots_.at({p.thread, p.position}));
    if (!agent) clock[t] = now_.position + 1;
    const SyncThread& thread = model_.skeleton().threads[t];
    if (thread.commit != 0) clock[committers_.at(thread.committer)] = thread.commit;
    const ObjectState before = state_.objects.empty() ? ObjectState{} : state_.objects[op.object];
    phase_ = before.phase;
    const StepResult r = model_.step(state_, t);
    if (r.error != SyncError::none)
      fail(Unforced::fails);
    else
      judge(op, before, r, clock);
    if (agent) return;
    const auto snapshot = snapshots_.find({t, now_.position + 1});
    if (snapshot != snapshots_.end()) snapshot->second = clock;
    clocks_[t] = std::move(clock);
  }

  uint32_t& known(Clock& clock, uint32_t object) const { return clock[ordered_ + object]; }
  static bool covers(const Clock& clock, const OpRef& op) { return clock[op.thread] > op.position; }
  bool covers(const Clock& clock, const Clock& earlier) const {
    return std::equal(earlier.begin(), earlier.begin() + ordered_, clock.begin(), std::less_equal{});
  }

  void judge(const SyncOp& op, const ObjectState& before, const StepResult& r, Clock& clock) {
    switch (op.kind) {
      case SyncKind::nothing:
        return;
      case SyncKind::init:
      case SyncKind::inval:
        return reset(op, before, clock);
      case SyncKind::arrive:
      case SyncKind::defer:
        return contribute(op, before, r, clock);
      case SyncKind::wait:
        return wait(op, before, clock);
      case SyncKind::bar_arrive:
        return bar_arrive(op, r, clock);
      case SyncKind::bar_pass:
        return join(clock, objects_[op.object].generations[r.label]);
      case SyncKind::registers_dec:
        objects_[op.object].released += op.count;
        return;
      case SyncKind::registers_inc:
        return increase(op, clock);
    }
  }

  void increase(const SyncOp& op, const Clock& clock) {
    ObjectClocks& o = objects_[op.object];
    for (Increase& i : o.increases)
      if (covers(clock, i.op)) i.later += op.count;
    o.wanted += op.count;
    o.increases.push_back({now_, model_.skeleton().objects[op.object].initial + o.released});
  }

  void reset(const SyncOp& op, const ObjectState& before, Clock& clock) {
    ObjectClocks& o = objects_[op.object];
    if ((before.phase != 0 || before.valid) && known(clock, op.object) < 1 + before.phase &&
        (before.phase == before.first || o.done_by_agents || !covers(clock, o.done)))
      fail(Unforced::reset);
    bool ordered = !o.agents && covers(clock, o.in);
    for (const OpRef& w : o.waits) ordered &= covers(clock, w);
    if (!ordered) fail(Unforced::reset);
    clear(o);
    known(clock, op.object) = 1 + state_.objects[op.object].phase;
  }

  static void clear(ObjectClocks& o) {
    std::ranges::fill(o.in, 0);
    std::ranges::fill(o.plain, 0);
    o.waits.clear();
    o.loose.clear();
    o.announced = o.delivered = o.with_arrivals = o.deferred = 0;
    o.agents = false;
  }

  void contribute(const SyncOp& op, const ObjectState& before, const StepResult& r, Clock& clock) {
    ObjectClocks& o = objects_[op.object];
    if (known(clock, op.object) < 1 + before.phase) fail(Unforced::early_arrival);
    join(o.in, clock);
    o.agents |= now_.thread >= model_.lanes() && model_.skeleton().threads[now_.thread].commit == 0;
    const bool counted = op.kind == SyncKind::arrive && op.count != 0;
    if (counted && !op.deferred) join(o.plain, clock);
    if (op.kind == SyncKind::defer) o.deferred += op.count;
    if (counted && op.deferred) o.deferred -= op.count;
    if (!counted && op.tx >= 0) {
      if (now_.thread >= model_.lanes()) return fail(Unforced::loose_expect);
      o.loose.push_back({now_, op.kind == SyncKind::defer ? unbounded : o.delivered});
    }
    if (counted && !op.deferred && op.tx > 0) o.with_arrivals += op.tx;
    for (Loose& e : o.loose)
      if (op.tx < 0 && e.delivered != unbounded && !covers(clock, e.op)) e.delivered -= op.tx;
    (op.tx > 0 ? o.announced : o.delivered) += op.tx > 0 ? op.tx : -op.tx;
    if (std::max(o.announced, o.delivered) > MbarrierState::max_tx) fail(Unforced::surplus_bytes);
    if (r.completed) complete(op.object, before.phase);
  }

  void complete(uint32_t object, uint32_t phase) {
    ObjectClocks& o = objects_[object];
    for (const OpRef& w : o.waits) {
      if (covers(o.in, w)) continue;
      now_ = w;
      return fail(Unforced::missed_wait);
    }
    check_loose(o);
    o.done = o.in;
    o.done_by_agents = o.agents;
    known(o.done, object) = 1 + phase + 1;
    clear(o);
  }

  void check_loose(const ObjectClocks& o) {
    for (const Loose& e : o.loose) {
      if (covers(o.plain, e.op) || o.with_arrivals > e.delivered) continue;
      now_ = e.op;
      return fail(Unforced::loose_expect);
    }
    if (o.deferred != 0) fail(Unforced::loose_expect);
  }

  void wait(const SyncOp& op, const ObjectState& before, Clock& clock) {
    ObjectClocks& o = objects_[op.object];
    const bool after_first = before.phase > before.first;
    const uint32_t needed = after_first ? before.phase - 1 : before.first;
    if (known(clock, op.object) < 1 + needed) fail(Unforced::early_wait);
    // Before the first phase there is nothing that a wait could observe: it returned for phase -1.
    if (after_first) join(clock, o.done);
    o.waits.push_back(now_);
  }

  void bar_arrive(const SyncOp& op, const StepResult& r, Clock& clock) {
    ObjectClocks& o = objects_[op.object];
    if (known(clock, op.object) < 1 + r.label) fail(Unforced::recycled_early);
    join(o.in, clock);
    if (!r.completed) return;
    known(o.in, op.object) = 1 + r.label + 1;
    o.generations.push_back(o.in);
    std::ranges::fill(o.in, 0);
  }

  // Nothing is enabled: is that so in every schedule?
  void end() {
    for (uint32_t t = 0; t < model_.lanes(); ++t) {
      if (model_.finished(state_, t)) continue;
      result_.deadlocks = true;
      const SyncOp& op = model_.next(state_, t);
      now_ = {t, state_.position[t]};
      if (!model_.met(state_, op)) continue;
      if (op.kind == SyncKind::registers_inc && !objects_[op.object].increases.empty())
        fail(Unforced::registers);
      if (op.kind != SyncKind::wait) continue;
      Clock clock = clocks_[t];
      for (const Prerequisite& p : op.after) join(clock, snapshots_.at({p.thread, p.position}));
      phase_ = state_.objects[op.object].phase;
      if (known(clock, op.object) < 1 + phase_) fail(Unforced::early_wait);
    }
    for (const ObjectClocks& o : objects_) {
      for (const Increase& i : o.increases) {
        if (i.available >= o.wanted - i.later) continue;
        now_ = i.op;
        fail(Unforced::registers);
      }
    }
    for (uint32_t i = 0; i < objects_.size(); ++i) {
      const ObjectState& o = state_.objects[i];
      if (model_.skeleton().objects[i].kind != SyncObject::Kind::mbarrier || !o.valid) continue;
      phase_ = o.phase;
      if (o.pending == 0 && o.tx < 0) fail(Unforced::surplus_bytes);
      const bool defers = std::ranges::any_of(objects_[i].loose, [&](const Loose& e) {
        return model_.skeleton().threads[e.op.thread].ops[e.op.position].kind == SyncKind::defer;
      });
      if (o.pending == 0 || defers) check_loose(objects_[i]);
    }
  }

  Model model_;
  SyncState state_;
  std::map<uint32_t, size_t> committers_;  // threads that commit: their component of clocks
  size_t ordered_;                         // components before those of the objects
  std::vector<Clock> clocks_;
  std::vector<ObjectClocks> objects_;
  std::map<std::pair<uint32_t, uint32_t>, Clock> snapshots_;
  OpRef now_;
  uint32_t phase_ = 0;
  ForcedVerdict result_;
};

}  // namespace

ForcedVerdict decide_forced(const Skeleton& skeleton) { return Decision(skeleton).run(); }

std::string describe(Unforced reason) {
  switch (reason) {
    case Unforced::nothing:
      return "the phases are forced";
    case Unforced::fails:
      return "an operation fails";
    case Unforced::early_arrival:
      return "it can come before the phase that precedes its own has completed";
    case Unforced::loose_expect:
      return "the phase can complete without it";
    case Unforced::surplus_bytes:
      return "more bytes are delivered to the phase than it expects";
    case Unforced::early_wait:
      return "it may return for an earlier phase of the same parity";
    case Unforced::missed_wait:
      return "the phase after the one it awaits can complete before it is executed";
    case Unforced::recycled_early:
      return "it can arrive before the barrier's previous use is over";
    case Unforced::reset:
      return "it is not ordered with the other uses of the mbarrier";
    case Unforced::registers:
      return "increases of the register count compete for the CTA's pool";
  }
  return "";
}

}  // namespace palladion::sim::check
