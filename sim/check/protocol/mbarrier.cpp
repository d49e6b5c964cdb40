#include "sim/check/protocol/mbarrier.h"

#include <fmt/format.h>

#include <algorithm>
#include <bit>

#include "sim/check/protocol/ledger_flow.h"
#include "sim/machine/exec/exec.h"

namespace palladion::sim::check {
namespace {

constexpr size_t signals_kept = 256;  // of a phase; more are added to the last one
constexpr size_t issued_kept = 4096;  // operations that a race can still be explained by

bool same_execution(const Signal& s, const Origin& who, uint32_t nth) {
  return s.who.pc == who.pc && s.who.warp == who.warp && s.who.cta_rank == who.cta_rank && s.nth == nth;
}

void note(std::vector<Observation>& list, uint32_t warp, uint32_t time, const Point& point) {
  for (Observation& o : list) {
    if (o.warp != warp) continue;
    o.latest = time;
    return;
  }
  list.push_back({warp, time, time, point});
}

bool covers(const Causality::Clock& clock, const Observation& o) {
  return o.warp < clock.size() && clock[o.warp] >= o.latest;
}

}  // namespace

int64_t MbarrierPhase::expected() const {
  int64_t sum = 0;
  for (const Signal& s : signals) sum += s.expected;
  return sum;
}

int64_t MbarrierPhase::delivered() const {
  int64_t sum = 0;
  for (const Signal& s : signals) sum += s.delivered;
  return sum;
}

uint32_t MbarrierPhase::arrivals() const {
  uint32_t sum = 0;
  for (const Signal& s : signals) sum += s.arrivals;
  return sum;
}

const MbarrierObject* MbarrierLedger::find(uint32_t address) const {
  const auto at = objects_.find(address);
  return at == objects_.end() ? nullptr : &at->second;
}

MbarrierObject* MbarrierLedger::live(uint32_t address) {
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
  const Origin& who = e.origin;
  MbarrierObject& b = objects_[e.address];
  if (b.alive && b.serial != 0) check_reinit(b, who);
  b = {};
  b.address = e.address;
  b.serial = ++serials_;
  b.init = who;
  b.init_time = p_.causality.time(p_.causality.index(who));
  b.init_point = p_.context.order.now(who);
  b.count = e.count;
  b.current.number = 0;
  b.users.resize(p_.causality.warps());
  const uint32_t offset = e.address & shared_offset_mask;
  lowest_ = std::min(lowest_, offset);
  highest_ = std::max(highest_, offset);
}

void MbarrierLedger::invalidate(const MbarrierEvent& e) {
  const Origin& who = e.origin;
  MbarrierObject* b = live(e.address);
  if (b == nullptr) return;
  check_waiters(*b, who);
  check_leftover(*b, who);
  check_uses_known(*b, who);
  b->alive = false;
  b->end = who;
  if (observed_) {  // they have been reported
    observed_(b->last.operations, b->address >> cta_rank_shift, p_.causality.index(who));
    observed_(b->current.operations, b->address >> cta_rank_shift, p_.causality.index(who));
  }
  std::erase_if(flights_, [&](const Flight& f) { return f.serial == b->serial; });
}

void MbarrierLedger::use(MbarrierObject& b, const Origin& who) {
  const uint32_t warp = p_.causality.index(who);
  MbarrierUser& u = b.users[warp];
  if (!u.knows_init) check_init_known(b, who);
  u.knows_init = true;
  u.last_use = p_.causality.time(warp);
  u.last_point = p_.context.order.now(who);
  u.last_who = who;
}

// --- arrivals and bytes ---------------------------------------------------------------------------
void MbarrierLedger::signal(const MbarrierEvent& e) {
  const Origin& who = e.origin;
  MbarrierObject* b = live(e.address);
  if (b == nullptr) return check_dead(e);
  const bool async = e.async_id != 0;
  uint32_t inside = 0;
  const uint32_t nth = async ? land(*b, e, inside) : p_.reporter().occurrence(who.cta_rank, who.warp, who.pc);
  if (!async) use(*b, who);
  if (e.action == isa::MbarrierAction::arrive) check_overrun(*b, who, nth, async);
  check_special_forms(*b, e);
  if (!async) judge_forced(*b, who);
  note_signal(*b, e, nth, inside);
  if (!async && e.action == isa::MbarrierAction::arrive) note_token(*b, e);
  const uint32_t warp = p_.causality.index(who);
  if (!async && e.action == isa::MbarrierAction::expect_tx)
    note(b->current.announcements, warp, p_.causality.time(warp), {});
  if (!async && e.action != isa::MbarrierAction::expect_tx) p_.causality.release(warp, b->current.arrived);
  if (e.completed) complete(*b);
}

void MbarrierLedger::note_signal(MbarrierObject& b, const MbarrierEvent& e, uint32_t nth, uint32_t inside) {
  const Origin& who = e.origin;
  auto& signals = b.current.signals;
  const bool async = e.async_id != 0;
  const bool merged =
      !signals.empty() && (signals.size() >= signals_kept ||
                           (same_execution(signals.back(), who, nth) && signals.back().async == async));
  if (!merged) signals.push_back({.who = who, .nth = nth, .async = async});
  Signal& s = signals.back();
  s.who.lanes |= e.lanes;
  s.arrivals += e.count;
  s.inside += inside;
  (e.tx > 0 ? s.expected : s.delivered) += e.tx > 0 ? e.tx : -e.tx;
  if (!merged) b.arrivers.try_emplace(uint64_t{p_.causality.index(who)} << 32 | who.pc, who);
}

// An asynchronous operation signals; returns the n of its issue.
uint32_t MbarrierLedger::land(MbarrierObject& b, const MbarrierEvent& e, uint32_t& inside) {
  const Origin& who = e.origin;
  const auto at = std::ranges::find_if(
      flights_, [&](const Flight& f) { return f.id == e.async_id && f.address == e.address; });
  if (at == flights_.end()) {  // cp.async.mbarrier.arrive
    p_.causality.join(b.current.arrived, p_.causality.clock(p_.causality.index(who)));
    return p_.reporter().occurrence(who.cta_rank, who.warp, who.pc);
  }
  if (at->phase < b.number) check_landing(b, *at);
  const uint32_t nth = at->nth;
  inside = at->inside;
  Causality::join(b.current.arrived, at->clock);
  b.current.operations.push_back(e.async_id);
  *at = std::move(flights_.back());
  flights_.pop_back();
  return nth;
}

void MbarrierLedger::complete(MbarrierObject& b) {
  MbarrierPhase& done = b.current;
  for (const Observation& o : b.last.observers)
    if (!covers(done.arrived, o))
      unforced(done, b, b.users[o.warp].last_who, "a wait for the phase before it may miss it");
  for (const Observation& a : done.announcements)
    if (!covers(done.arrived, a)) {
      unforced(done, b, b.users[a.warp].last_who, "it may complete before bytes are announced");
      check_late_announcement(b, a.warp);
    }
  ++(done.forced ? forced_.forced : forced_.unforced);
  std::swap(b.observers_before_last, b.last.observers);
  std::swap(b.last, b.current);
  MbarrierPhase& next = b.current;
  next.number = ++b.number;
  next.signals.clear();
  next.observers.clear();
  next.announcements.clear();
  next.operations.clear();
  next.arrived.assign(next.arrived.size(), 0);
  next.forced = true;
}

void MbarrierLedger::on(const AsyncIssue& e) {
  const Origin& who = e.origin;
  uint32_t inside = 0;
  for (const Piece& piece : e.reads) inside += piece.bytes;
  for (const Piece& piece : e.writes)
    if (piece.shared()) check_overwritten(who, static_cast<uint32_t>(piece.address), piece.bytes, e.name);
  if (e.mbarriers.empty()) return;
  const Causality::Clock clock = p_.causality.issue(p_.causality.index(who));
  for (size_t i = 0; i < e.mbarriers.size(); ++i) {
    MbarrierObject* b = live(e.mbarriers[i]);
    if (b == nullptr) continue;
    use(*b, who);
    judge_forced(*b, who);
    Flight f{.id = e.id,
             .address = b->address,
             .serial = b->serial,
             .bytes = e.mbarrier_bytes[i],
             .nth = p_.reporter().occurrence(who.cta_rank, who.warp, who.pc),
             .inside = inside,
             .phase = b->number,
             .who = who,
             .clock = clock};
    flights_.push_back(std::move(f));
    if (issued_.size() >= issued_kept) issued_.pop_front();
    issued_.push_back({e.id, b->address, b->number});
  }
}

// --- state tokens ---------------------------------------------------------------------------------
void MbarrierLedger::note_token(const MbarrierObject& b, const MbarrierEvent& e) {
  const Origin& who = e.origin;
  const auto* form = who.effect == nullptr ? nullptr : std::get_if<isa::Mbarrier>(who.effect);
  if (form == nullptr || form->dst < 0) return;
  const DecodedOperand& dst = p_.context.run.program->code[who.pc].operands[form->dst];
  if (dst.kind != DecodedOperand::Kind::lanes || dst.width != 64) return;
  Token& token = tokens_[{p_.causality.index(who), dst.slot.offset}];
  token.address = b.address;
  token.serial = b.serial;
  token.phase = b.number;
  token.values[static_cast<size_t>(std::countr_zero(e.lanes))] = e.before;
}

// --- waits ----------------------------------------------------------------------------------------
void MbarrierLedger::wait(const MbarrierEvent& e) {
  const Origin& who = e.origin;
  MbarrierObject* b = live(e.address);
  if (b == nullptr) return check_dead(e);
  use(*b, who);
  check_placement(*b, who);
  if (!e.parity_known && e.succeeded) check_token(*b, who);
  last_waits_[p_.causality.index(who)] = b->address;
  MbarrierUser& u = b->users[p_.causality.index(who)];
  u.wait = {.any = true,
            .succeeded = e.succeeded,
            .parity = e.parity,
            .phase = e.succeeded ? b->number - 1 : b->number,
            .ignored = !result_used(who.pc),
            .by_state = !e.parity_known,
            .repeated = e.succeeded && u.observed == b->number - 1,
            .pc = who.pc,
            .nth = p_.reporter().occurrence(who.cta_rank, who.warp, who.pc)};
  if (!e.succeeded) return;
  observe(*b, who);
  u.observed = b->number - 1;
}

bool MbarrierLedger::known(const std::vector<Observation>& list, const Origin& who) const {
  const uint32_t warp = p_.causality.index(who);
  for (const Observation& o : list)
    if (p_.causality.knows(warp, o.warp, o.first)) return true;
  for (const Observation& o : list)
    if (p_.context.order.before(o.point, who)) return true;
  return false;
}

void MbarrierLedger::observe(MbarrierObject& b, const Origin& who) {
  const uint32_t warp = p_.causality.index(who);
  if (b.last.number > 0 && b.users[warp].observed != b.last.number && !known(b.observers_before_last, who)) {
    unforced(b.last, b, who, "a wait for it may return for the phase two before it");
    check_skipped(b, who);
  }
  p_.causality.acquire(warp, b.last.arrived);
  note(b.last.observers, warp, p_.causality.time(warp), p_.context.order.now(who));
  if (observed_ && !b.last.operations.empty())
    observed_(b.last.operations, b.address >> cta_rank_shift, warp);
}

// A signal is bound to its phase when who gives it knows that somebody has seen the last one complete.
void MbarrierLedger::judge_forced(MbarrierObject& b, const Origin& who) {
  if (b.number != 0 && !known(b.last.observers, who))
    unforced(b.current, b, who, "a signal may come a phase earlier");
}

void MbarrierLedger::unforced(MbarrierPhase& phase, const MbarrierObject& b, const Origin& who,
                              const char* why) {
  phase.forced = false;
  if (!forced_.reason.empty()) return;
  const Site s = plain_site(p_.context.run, p_.cluster(), who);
  forced_.reason = fmt::format("phase {} of {}: {} (CTA ({},{},{}) warp {}, {})", phase.number,
                               p_.mbarrier(b.address), why, s.cta.x, s.cta.y, s.cta.z, s.warp, s.instruction);
}

void MbarrierLedger::on(const Access& a) {
  if (a.kind == Access::Kind::read || lowest_ > highest_) return;
  if (a.space != isa::Space::generic && !is_shared(a.space)) return;
  for (uint32_t m = a.lanes; m != 0; m &= m - 1) {
    const uint64_t whole = a.addresses[std::countr_zero(m)];
    if (!is_shared(space_of(a.space, whole))) continue;
    const auto address = static_cast<uint32_t>(whole);
    const uint32_t offset = address & shared_offset_mask;
    if (offset + a.size > lowest_ && offset < highest_ + 8)
      check_overwritten(a.origin, address, a.size, "a store");
  }
}

void MbarrierLedger::on(const ClusterEnded&) {
  for (const auto& [address, b] : objects_) {
    if (!b.alive) continue;
    check_balance(b);
    if (b.current.arrivals() != 0) continue;
    for (const Observation& a : b.current.announcements) check_late_announcement(b, a.warp);
  }
}

bool MbarrierLedger::result_used(uint32_t pc) const {
  const auto at = result_used_.find(pc);
  if (at != result_used_.end()) return at->second;
  return result_used_[pc] = wait_result_used(*p_.context.run.program, pc);
}

// Do other warps wait, or have waited last, with the other parity?
bool MbarrierLedger::others_wait_otherwise(const MbarrierObject& b, uint32_t warp, bool parity) const {
  for (uint32_t w = 0; w < b.users.size(); ++w)
    if (w != warp && b.users[w].wait.any && b.users[w].wait.parity != parity) return true;
  for (const CtaState& cta : p_.cluster().ctas)
    for (const WarpState& other : cta.warps)
      for (const LaneGroup& g : other.groups)
        if (g.wait.kind == Wait::Kind::mbarrier && static_cast<uint32_t>(g.wait.object) == b.address &&
            (g.wait.value != 0) != parity)
          return true;
  return false;
}

std::optional<WaitVerdict> MbarrierLedger::explain_wait(uint64_t id, const Origin& who) const {
  const uint32_t warp = p_.causality.index(who);
  for (auto i = issued_.rbegin(); i != issued_.rend() && i->id >= id; ++i) {
    const MbarrierObject* b = find(i->address);
    if (i->id != id || b == nullptr || i->address >> cta_rank_shift != who.cta_rank) continue;
    const LastWait& w = b->users[warp].wait;
    if (!w.any || (w.succeeded && !w.ignored && w.phase >= i->phase)) continue;
    WaitVerdict v;
    v.wait = who;
    v.wait.pc = w.pc;
    const MicroOp& op = p_.context.run.program->code[w.pc];
    v.wait.instruction = op.instruction;
    v.wait.effect = op.effect;
    const std::string name = p_.mbarrier(b->address);
    const int parity = static_cast<int>(w.parity);
    if (w.ignored || !w.succeeded) {
      v.code = 4116;
      v.message = "the wait for the copy timed out, and its result was not looked at";
      v.text = fmt::format(
          "the wait for {} may return false, and does not make the thread wait: nobody looks at its result",
          name);
      if (!w.ignored) v.text = fmt::format("the wait for {} returned false, the thread went on", name);
    } else if (w.phase < 0) {
      v.code = 4113;
      v.message = "the wait for the copy passed on the phase before the first";
      v.help = "a fresh mbarrier's first phase completes with parity 0: wait for 0 first";
      v.text = fmt::format(
          "the wait for parity {} of {} passed at once: no phase had ever completed (parity {} awaits the "
          "first)",
          parity, name, 1 - parity);
    } else {
      const bool skips = others_wait_otherwise(*b, warp, w.parity);
      v.code = w.by_state ? Code(4123) : skips ? Code(4115) : Code(4114);
      v.message = "the wait for the copy passed on an earlier phase";
      if (v.code == Code(4114))
        v.help = "the parity to wait for flips once each time the barrier is used: (use / stages) & 1";
      v.text =
          fmt::format("the wait for parity {} of {} passed for phase {}{}; the copy belongs to phase {}",
                      parity, name, w.phase, w.repeated ? ", which the warp had seen before" : "", i->phase);
    }
    return v;
  }
  return std::nullopt;
}

}  // namespace palladion::sim::check
