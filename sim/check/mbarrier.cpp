#include "sim/check/mbarrier.h"

#include <fmt/format.h>

#include <bit>

namespace palladion::sim::check {
namespace {

constexpr size_t signals_kept = 256;  // of a phase; more are added to the last one

bool same_execution(const Signal& s, const Origin& who, uint32_t nth) {
  return s.who.pc == who.pc && s.who.warp == who.warp && s.who.cta_rank == who.cta_rank && s.nth == nth;
}

void note(std::vector<Observation>& list, uint32_t warp, uint32_t time) {
  for (Observation& o : list) {
    if (o.warp != warp) continue;
    o.latest = time;
    return;
  }
  list.push_back({warp, time, time});
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

void MbarrierLedger::mbarrier(const Origin& who, const MbarrierEvent& e) {
  using A = isa::MbarrierAction;
  switch (e.action) {
    case A::init:
      return init(who, e);
    case A::inval:
      return invalidate(who, e);
    case A::arrive:
    case A::expect_tx:
    case A::complete_tx:
      return signal(who, e);
    case A::test_wait:
    case A::try_wait:
      return wait(who, e);
    case A::pending_count:
      return;
  }
}

void MbarrierLedger::init(const Origin& who, const MbarrierEvent& e) {
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

void MbarrierLedger::invalidate(const Origin& who, const MbarrierEvent& e) {
  MbarrierObject* b = live(e.address);
  if (b == nullptr) return;
  check_waiters(*b, who);
  check_flights(*b, who);
  check_uses_known(*b, who);
  b->alive = false;
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
void MbarrierLedger::signal(const Origin& who, const MbarrierEvent& e) {
  MbarrierObject* b = live(e.address);
  if (b == nullptr) return;
  const bool async = e.async_id != 0;
  const uint32_t nth = async ? land(*b, who, e) : p_.reporter().occurrence(who.cta_rank, who.warp, who.pc);
  if (!async) use(*b, who);
  if (e.action == isa::MbarrierAction::arrive) check_overrun(*b, who, nth);
  check_special_forms(*b, who, e);
  if (!async) judge_forced(*b, who);
  note_signal(*b, who, e, nth);
  const uint32_t warp = p_.causality.index(who);
  if (!async && e.action == isa::MbarrierAction::expect_tx)
    note(b->current.announcements, warp, p_.causality.time(warp));
  if (!async && e.action != isa::MbarrierAction::expect_tx) p_.causality.release(warp, b->current.arrived);
  if (e.completed) complete(*b);
}

void MbarrierLedger::note_signal(MbarrierObject& b, const Origin& who, const MbarrierEvent& e, uint32_t nth) {
  auto& signals = b.current.signals;
  const bool async = e.async_id != 0;
  const bool merged =
      !signals.empty() && (signals.size() >= signals_kept ||
                           (same_execution(signals.back(), who, nth) && signals.back().async == async));
  if (!merged) signals.push_back({.who = who, .nth = nth, .async = async});
  Signal& s = signals.back();
  s.who.lanes |= e.lanes;
  s.arrivals += e.count;
  (e.tx > 0 ? s.expected : s.delivered) += e.tx > 0 ? e.tx : -e.tx;
  if (!merged) b.arrivers.try_emplace(uint64_t{p_.causality.index(who)} << 32 | who.pc, who);
}

// An asynchronous operation signals; returns the n of its issue.
uint32_t MbarrierLedger::land(MbarrierObject& b, const Origin& who, const MbarrierEvent& e) {
  const auto at = std::ranges::find_if(
      flights_, [&](const Flight& f) { return f.id == e.async_id && f.address == e.address; });
  if (at == flights_.end()) {  // cp.async.mbarrier.arrive
    p_.causality.join(b.current.arrived, p_.causality.clock(p_.causality.index(who)));
    return p_.reporter().occurrence(who.cta_rank, who.warp, who.pc);
  }
  if (at->phase < b.number) check_landing(b, *at);
  const uint32_t nth = at->nth;
  Causality::join(b.current.arrived, at->clock);
  b.current.operations.push_back(e.async_id);
  *at = std::move(flights_.back());
  flights_.pop_back();
  return nth;
}

void MbarrierLedger::complete(MbarrierObject& b) {
  MbarrierPhase& done = b.current;
  for (const Observation& o : b.last.observers)
    if (!covers(done.arrived, o)) unforced(done, b, b.init, "a wait for the phase before it may miss it");
  for (const Observation& a : done.announcements)
    if (!covers(done.arrived, a)) unforced(done, b, b.init, "it may complete before bytes are announced");
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

void MbarrierLedger::issued(const Origin& who, const AsyncIssue& e) {
  for (const Piece& piece : e.writes)
    if (piece.shared) check_overwritten(who, static_cast<uint32_t>(piece.address), piece.bytes, e.name);
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
             .phase = b->number,
             .who = who,
             .clock = p_.causality.clock(p_.causality.index(who))};
    flights_.push_back(std::move(f));
  }
}

// --- waits ----------------------------------------------------------------------------------------
void MbarrierLedger::wait(const Origin& who, const MbarrierEvent& e) {
  MbarrierObject* b = live(e.address);
  if (b == nullptr) return;
  use(*b, who);
  check_placement(*b, who);
  MbarrierUser& u = b->users[p_.causality.index(who)];
  u.wait = {.any = true,
            .succeeded = e.succeeded,
            .parity = e.parity,
            .phase = e.succeeded ? b->number - 1 : b->number,
            .pc = who.pc,
            .nth = p_.reporter().occurrence(who.cta_rank, who.warp, who.pc)};
  if (!e.succeeded) return;
  observe(*b, who);
  u.observed = b->number - 1;
}

void MbarrierLedger::observe(MbarrierObject& b, const Origin& who) {
  const uint32_t warp = p_.causality.index(who);
  const auto knew = [&](const Observation& o) { return p_.causality.knows(warp, o.warp, o.first); };
  if (b.last.number > 0 && std::ranges::none_of(b.observers_before_last, knew))
    unforced(b.last, b, who, "a wait for it may return for the phase two before it");
  p_.causality.acquire(warp, b.last.arrived);
  note(b.last.observers, warp, p_.causality.time(warp));
  if (observed_ && !b.last.operations.empty())
    observed_(b.last.operations, b.address >> cta_rank_shift, warp);
}

// A signal is bound to its phase when who gives it knows that somebody has seen the last one complete.
void MbarrierLedger::judge_forced(MbarrierObject& b, const Origin& who) {
  if (b.number == 0) return;
  const uint32_t warp = p_.causality.index(who);
  for (const Observation& o : b.last.observers)
    if (p_.causality.knows(warp, o.warp, o.first)) return;
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

void MbarrierLedger::accessed(const Origin& who, const Access& a) {
  if (a.kind == Access::Kind::read || lowest_ > highest_) return;
  const bool generic = a.space == isa::Space::generic;
  if (!generic && a.space != isa::Space::shared_cta && a.space != isa::Space::shared_cluster) return;
  for (uint32_t m = a.lanes; m != 0; m &= m - 1) {
    const uint64_t whole = a.addresses[std::countr_zero(m)];
    if (generic && whole - shared_window >= window_size) continue;
    const auto address = static_cast<uint32_t>(whole);
    const uint32_t offset = address & shared_offset_mask;
    if (offset + a.size > lowest_ && offset < highest_ + 8)
      check_overwritten(who, address, a.size, "a store");
  }
}

void MbarrierLedger::ended() {
  for (const auto& [address, b] : objects_)
    if (b.alive) check_balance(b);
}

std::string MbarrierLedger::wait_history(uint32_t address, const Origin& who) const {
  const MbarrierObject* b = find(address);
  if (b == nullptr) return {};
  const LastWait& w = b->users[p_.causality.index(who)].wait;
  if (!w.any) return {};
  std::string out = fmt::format("warp {} waited for parity {} of {} (execution {})", who.warp,
                                static_cast<int>(w.parity), p_.mbarrier(address), w.nth);
  if (!w.succeeded)
    return out + ": the wait returned false, phase " + std::to_string(w.phase) + " was not complete";
  if (w.phase < 0) return out + ": it passed at once, no phase had ever completed";
  return out + fmt::format(": it passed for phase {}", w.phase);
}

}  // namespace palladion::sim::check
