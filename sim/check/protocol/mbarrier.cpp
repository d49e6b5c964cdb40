#include "sim/check/protocol/mbarrier.h"

#include <algorithm>
#include <bit>

#include "sim/check/protocol/ledger_flow.h"
#include "sim/launch/phrases/phrase.h"
#include "sim/machine/exec/exec.h"

namespace palladion::sim::check {
namespace {

constexpr size_t issued_kept = 4096;  // operations that a race can still be explained by

bool same_execution(const Signal& s, const Origin& origin, uint32_t nth) {
  return s.origin.pc == origin.pc && s.origin.warp == origin.warp && s.origin.cta_rank == origin.cta_rank &&
         s.nth == nth;
}

void note(std::vector<Observation>& list, const Point& now) {
  const auto known = std::ranges::find(list, now.warp, [](const Observation& o) { return o.first.warp; });
  if (known != list.end())
    known->latest = now.time;
  else
    list.push_back({now, now.time});
}

bool covers(const Causality::Clock& clock, const Observation& o) {
  return o.first.warp < clock.size() && clock[o.first.warp] >= o.latest;
}

}  // namespace

const MbarrierObject* MbarrierLedger::find(SharedAddress address) const {
  const auto at = objects_.find(address);
  return at == objects_.end() ? nullptr : &at->second;
}

// The machine stops at the use of an object that was invalidated; the finding gives the reason.
void MbarrierLedger::dead(const MbarrierEvent& e) const {
  if (const MbarrierObject* b = find(e.address)) rules_.check_dead(*b, e);
}

// Bytes are written where live objects lie.
void MbarrierLedger::overwritten(const Origin& origin, SharedAddress address, uint32_t bytes,
                                 const char* what) const {
  for (auto at = objects_.lower_bound(SharedAddress(address < 7 ? 0 : address - 7));
       at != objects_.end() && at->first < address + bytes; ++at)
    if (at->second.alive) rules_.check_overwritten(at->second, origin, what);
}

MbarrierObject* MbarrierLedger::live(SharedAddress address) {
  const auto at = objects_.find(address);
  return at == objects_.end() || !at->second.alive ? nullptr : &at->second;
}

void MbarrierLedger::on(const MbarrierEvent& e) {
  using A = isa::MbarrierAction;
  switch (e.action) {
    case A::init:
      return init(e);
    case A::inval:
      return invalidate(e);
    case A::arrive:
    case A::expect_tx:
    case A::complete_tx:
      return signal(e);
    case A::test_wait:
    case A::try_wait:
      return wait(e);
    case A::pending_count:
      return;
  }
}

void MbarrierLedger::init(const MbarrierEvent& e) {
  const Origin& origin = e.origin;
  MbarrierObject& b = objects_[e.address];
  if (b.alive && b.serial != 0) {
    const bool together = rules_.are_together(b, e);
    rules_.check_reinit(b, origin, together);
    if (together) {
      b.init.lanes |= origin.lanes;
      b.init_point.lanes |= origin.lanes;
      return;
    }
  }
  b = {};
  b.address = e.address;
  b.serial = ++serials_;
  b.init = origin;
  b.init_point = p_.now(origin);
  b.count = e.count;
  b.current.begin(e.phase);
  b.users.resize(p_.causality.warps());
  const uint32_t offset = e.address & shared_offset_mask;
  lowest_ = std::min(lowest_, offset);
  highest_ = std::max(highest_, offset);
}

void MbarrierLedger::invalidate(const MbarrierEvent& e) {
  const Origin& origin = e.origin;
  MbarrierObject* b = live(e.address);
  if (b == nullptr) return;
  rules_.check_waiters(*b, origin);
  rules_.check_leftover(*b, flights_, origin);
  rules_.check_uses_known(*b, origin);
  b->alive = false;
  b->end = origin;
  if (observed_) {  // they have been reported
    observed_(b->last.operations, CtaRank(b->address >> cta_rank_shift), p_.now(origin));
    observed_(b->current.operations, CtaRank(b->address >> cta_rank_shift), p_.now(origin));
  }
  std::erase_if(flights_, [&](const Flight& f) { return f.serial == b->serial; });
}

void MbarrierLedger::use(MbarrierObject& b, const Origin& origin) {
  MbarrierUser& u = b.users[p_.causality.index(origin)];
  if (!u.knows_init) rules_.check_init_known(b, origin);
  u.knows_init = true;
  u.last_point = p_.now(origin);
  u.last_origin = origin;
}

// --- arrivals and bytes ---------------------------------------------------------------------------
void MbarrierLedger::signal(const MbarrierEvent& e) {
  const Origin& origin = e.origin;
  MbarrierObject* b = live(e.address);
  if (b == nullptr) return dead(e);
  const bool async = e.async_id != 0;
  uint32_t inside = 0;
  const uint32_t nth = async ? land(*b, e, inside) : p_.nth(origin);
  if (!async) use(*b, origin);
  if (!async) missable_.note_act(p_.causality.index(origin));
  if (e.action == isa::MbarrierAction::arrive && rules_.is_early(*b, origin, async))
    rules_.check_early(*b, origin, nth, async, stale_wait(origin));
  rules_.check_special_forms(*b, e);
  if (!async) judge_forced(*b, origin);
  note_signal(*b, e, nth, inside);
  if (!async && e.action == isa::MbarrierAction::arrive) tokens_.note(*b, e);
  if (!async && e.action == isa::MbarrierAction::expect_tx) note(b->current.announcements, p_.now(origin));
  if (!async && e.action != isa::MbarrierAction::expect_tx) p_.arrive(origin, b->current.arrived);
  if (e.completed) complete(*b, e.phase);
}

void MbarrierLedger::note_signal(MbarrierObject& b, const MbarrierEvent& e, uint32_t nth, uint32_t inside) {
  const Origin& origin = e.origin;
  auto& signals = b.current.signals;
  const bool async = e.async_id != 0;
  const bool merged =
      !signals.empty() && (signals.size() >= MbarrierPhase::signals_kept ||
                           (same_execution(signals.back(), origin, nth) && signals.back().async == async));
  if (!merged) signals.push_back({.origin = origin, .nth = nth, .async = async});
  Signal& s = signals.back();
  s.origin.lanes |= e.lanes;
  s.arrivals += e.count;
  s.inside += inside;
  (e.tx > 0 ? s.expected : s.delivered) += e.tx > 0 ? e.tx : -e.tx;
  if (!merged) b.arrivers.try_emplace(uint64_t{p_.causality.index(origin)} << 32 | origin.pc, origin);
}

// An asynchronous operation signals; returns the n of its issue.
uint32_t MbarrierLedger::land(MbarrierObject& b, const MbarrierEvent& e, uint32_t& inside) {
  const Origin& origin = e.origin;
  const auto at = std::ranges::find_if(
      flights_, [&](const Flight& f) { return f.id == e.async_id && f.address == e.address; });
  if (at == flights_.end()) {  // cp.async.mbarrier.arrive
    p_.causality.release(p_.now(origin), b.current.arrived);
    return p_.nth(origin);
  }
  if (at->bytes != 0 && at->phase < b.number) rules_.check_landing(b, *at);
  const uint32_t nth = at->nth;
  inside = at->inside;
  Causality::join(b.current.arrived, at->clock);
  b.current.operations.push_back(e.async_id);
  *at = std::move(flights_.back());
  flights_.pop_back();
  return nth;
}

void MbarrierLedger::complete(MbarrierObject& b, int64_t phase) {
  MbarrierPhase& done = b.current;
  for (const Observation& o : b.last.observers)
    if (!covers(done.arrived, o)) {
      unforced(done, b, b.users[o.first.warp].last_origin, Phrase::unforced_missed);
      missable_.check(b, o);
    }
  for (const Observation& a : done.announcements)
    if (!covers(done.arrived, a)) {
      unforced(done, b, b.users[a.first.warp].last_origin, Phrase::unforced_bytes);
      rules_.check_late_announcement(b, a.first.warp);
    }
  ++(done.forced ? forced_.forced : forced_.unforced);
  std::swap(b.before_last, b.last);
  std::swap(b.last, b.current);
  b.number = phase + 1;
  b.current.begin(b.number);
}

void MbarrierLedger::on(const AsyncIssue& e) {
  const Origin& origin = e.origin;
  missable_.note_act(p_.causality.index(origin));
  for (const Piece& piece : e.writes)
    if (piece.shared()) overwritten(origin, SharedAddress(piece.address), piece.bytes, e.name);
  if (e.mbarriers.empty()) return;
  uint32_t inside = 0;
  for (const Piece& piece : e.reads) inside += piece.bytes;
  Causality::Clock clock;
  p_.causality.release(p_.now(origin), clock);
  for (size_t i = 0; i < e.mbarriers.size(); ++i)
    fly(origin, {.id = e.id,
                 .address = e.mbarriers[i],
                 .bytes = e.mbarrier_bytes[i],
                 .inside = inside,
                 .origin = origin,
                 .clock = clock});
}

// tcgen05.commit: it arrives when what its thread has issued is complete.
void MbarrierLedger::on(const ArrivalDeferred& e) {
  if (e.mbarriers.empty()) return;
  Causality::Clock clock;
  p_.causality.release(p_.now(e.origin), clock);
  for (const SharedAddress address : e.mbarriers)
    fly(e.origin, {.id = e.id, .address = address, .origin = e.origin, .clock = clock});
}

// An operation that will signal at an mbarrier is issued.
void MbarrierLedger::fly(const Origin& origin, const Flight& flight) {
  MbarrierObject* b = live(flight.address);
  if (b == nullptr) return;
  use(*b, origin);
  judge_forced(*b, origin);
  flights_.push_back(flight);
  Flight& f = flights_.back();
  f.serial = b->serial;
  f.nth = p_.nth(origin);
  f.phase = b->number;
  if (issued_.size() >= issued_kept) issued_.pop_front();
  issued_.push_back({flight.id, b->address, b->number});
}

// The mbarrier at which the warp waited last, when that wait passed for a phase that it had seen before.
const MbarrierObject* MbarrierLedger::stale_wait(const Origin& origin) const {
  const WarpOfCluster warp = p_.causality.index(origin);
  const MbarrierObject* b = find(last_waits_[warp].address);
  if (b == nullptr || !b->alive) return nullptr;
  const LastWait& w = b->users[warp].wait;
  return w.any && w.succeeded && w.repeated ? b : nullptr;
}

// --- waits ----------------------------------------------------------------------------------------
void MbarrierLedger::wait(const MbarrierEvent& e) {
  const Origin& origin = e.origin;
  MbarrierObject* b = live(e.address);
  if (b == nullptr) return dead(e);
  use(*b, origin);
  if (!e.parity_known && e.succeeded) tokens_.check(*b, origin);
  last_waits_[p_.causality.index(origin)] = {b->address, p_.now(origin).time};
  MbarrierUser& u = b->users[p_.causality.index(origin)];
  u.wait = {.any = true,
            .succeeded = e.succeeded,
            .parity = e.parity,
            .phase = e.phase,
            .ignored = !result_used(origin.pc),
            .by_state = !e.parity_known,
            .repeated = e.succeeded && u.observed == e.phase && (u.observed_lanes & e.lanes) != 0,
            .pc = origin.pc,
            .nth = p_.nth(origin)};
  if (!e.succeeded) return;
  observe(*b, origin);
  u.observed_lanes = e.lanes | (u.observed == e.phase ? u.observed_lanes : 0);
  u.observed = e.phase;
}

void MbarrierLedger::observe(MbarrierObject& b, const Origin& origin) {
  const WarpOfCluster warp = p_.causality.index(origin);
  if (b.last.number > 0 && b.users[warp].observed != b.last.number &&
      !rules_.known(b.before_last.observers, origin) && !rules_.known_complete(b.before_last, origin)) {
    unforced(b.last, b, origin, Phrase::unforced_wait);
    rules_.check_skipped(b, origin);
  }
  p_.causality.acquire(warp, b.last.arrived);
  const Point now = p_.now(origin);
  note(b.last.observers, now);
  if (observed_ && !b.last.operations.empty())
    observed_(b.last.operations, CtaRank(b.address >> cta_rank_shift), now);
}

// A signal is bound to its phase when its issuer is ordered after a wait that observed the last phase
// complete.
void MbarrierLedger::judge_forced(MbarrierObject& b, const Origin& origin) {
  if (b.number != 0 && !rules_.known(b.last.observers, origin) && !rules_.known_complete(b.last, origin))
    unforced(b.current, b, origin, Phrase::unforced_signal);
}

void MbarrierLedger::unforced(MbarrierPhase& phase, const MbarrierObject& b, const Origin& origin,
                              Phrase why) {
  phase.forced = false;
  if (forced_.reason) return;
  const Site s = plain_site(p_.context.run, p_.cluster(), origin);
  forced_.reason = {.phrase = why, .values = {phase.number, p_.mbarrier(b.address), s}};
}

void MbarrierLedger::on(const Access& a) {
  if (a.kind == Access::Kind::read || lowest_ > highest_) return;
  if (a.space != isa::Space::generic && !is_shared(a.space)) return;
  for (uint32_t m = a.lanes; m != 0; m &= m - 1) {
    const uint64_t whole = a.addresses[std::countr_zero(m)];
    if (!is_shared(space_of(a.space, whole))) continue;
    const SharedAddress address(whole);
    const uint32_t offset = address & shared_offset_mask;
    if (offset + a.size > lowest_ && offset < highest_ + 8) overwritten(a.origin, address, a.size, "a store");
  }
}

void MbarrierLedger::on(const ClusterEnded&) {
  for (const auto& [address, b] : objects_) {
    if (!b.alive) continue;
    rules_.check_balance(b);
    if (b.current.arrivals() != 0) continue;
    for (const Observation& a : b.current.announcements) rules_.check_late_announcement(b, a.first.warp);
  }
}

bool MbarrierLedger::result_used(Pc pc) const { return used_results_.contain(*p_.context.run.program, pc); }

std::optional<WaitVerdict> MbarrierLedger::explain_wait(uint64_t id, const Origin& origin) const {
  const WarpOfCluster warp = p_.causality.index(origin);
  for (auto i = issued_.rbegin(); i != issued_.rend() && i->id >= id; ++i) {
    const MbarrierObject* b = find(i->address);
    if (i->id != id || b == nullptr || i->address >> cta_rank_shift != origin.cta_rank) continue;
    const LastWait& w = b->users[warp].wait;
    if (!w.any || (w.succeeded && !w.ignored && w.phase >= i->phase)) continue;
    WaitVerdict v;
    v.wait = origin;
    v.wait.pc = w.pc;
    v.time = last_waits_[warp].time;
    const MicroOp& op = p_.context.run.program->code[w.pc];
    v.wait.instruction = op.instruction;
    v.wait.effect = op.effect;
    const Object name = p_.mbarrier(b->address);
    const int parity = static_cast<int>(w.parity);
    if (w.ignored || !w.succeeded) {
      v.code = Code::ignored_wait_result;
      v.message = say<Phrase::ignored_timeout>();
      v.note = w.ignored ? say<Phrase::wait_result_ignored>(name) : say<Phrase::wait_returned_false>(name);
    } else if (w.phase < 0) {
      v.code = Code::wrong_first_parity;
      v.message = say<Phrase::wait_passed_at_once>();
      v.help = say<Phrase::wait_for_parity_0>();
      v.note = say<Phrase::no_phase_completed>(parity, name, 1 - parity);
    } else {
      const bool skips = rules_.others_wait_otherwise(*b, warp, w.parity);
      v.code = w.by_state ? Code::misused_mbarrier_form : skips ? Code::ambiguous_phase : Code::wrong_parity;
      v.message = say<Phrase::wait_passed_for_earlier>();
      if (v.code == Code::wrong_parity) v.help = say<Phrase::flip_parity>();
      v.note = w.repeated ? say<Phrase::wait_passed_again>(parity, name, w.phase, i->phase)
                          : say<Phrase::wait_passed_for_phase>(parity, name, w.phase, i->phase);
    }
    return v;
  }
  return std::nullopt;
}

}  // namespace palladion::sim::check
