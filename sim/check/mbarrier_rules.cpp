// The rules of mbarrier objects: each breaks a sentence of PTX in an execution that took place.
#include <fmt/format.h>

#include <bit>

#include "sim/check/mbarrier.h"

namespace palladion::sim::check {
namespace {

constexpr size_t partners_shown = 4;

const char* phase_rule = "Phase of the mbarrier object";
const char* lifetime_rule = "Lifetime of the mbarrier object";

}  // namespace

Finding MbarrierLedger::finding(const MbarrierObject& b, std::string message,
                                FindingSeverity severity) const {
  Finding f;
  f.severity = severity;
  f.message = std::move(message);
  f.object = p_.mbarrier(b.address);
  return f;
}

Site MbarrierLedger::init_site(const MbarrierObject& b) const {
  Site s = p_.reporter().site(b.init, fmt::format("mbarrier.init with count {}", b.count));
  s.occurrence = 0;
  return s;
}

Site MbarrierLedger::signal_site(const Signal& s) const {
  std::string what;
  const auto add = [&](const std::string& text) { what += what.empty() ? text : ", " + text; };
  if (s.arrivals != 0) add(s.arrivals == 1 ? "arrives" : fmt::format("arrives {} times", s.arrivals));
  if (s.expected != 0) add(fmt::format("expects {} bytes", s.expected));
  if (s.delivered != 0) add(fmt::format("delivers {} bytes", s.delivered));
  Site site = p_.reporter().site(s.who, std::move(what));
  site.occurrence = s.nth;
  return site;
}

// --- life -----------------------------------------------------------------------------------------
void MbarrierLedger::check_reinit(const MbarrierObject& b, const Origin& who) {
  const FindingKey key{4109, who.pc, b.init.pc, b.address & shared_offset_mask};
  if (p_.reporter().seen(key)) return;
  Finding f =
      finding(b,
              fmt::format("mbarrier.init of {}, which is a valid mbarrier: phase {}, {} of {} arrivals "
                          "pending",
                          p_.mbarrier(b.address), b.number, b.count - b.current.arrivals(), b.count),
              FindingSeverity::error);
  f.sites = {p_.reporter().site(who, "initialises it again"), init_site(b)};
  f.missing = "mbarrier.inval between the two";
  f.rule = lifetime_rule;
  f.help =
      "initialise once and follow the phases by parity, or mbarrier.inval (ordered after every use) first";
  p_.reporter().report(key, std::move(f));
}

void MbarrierLedger::check_init_known(MbarrierObject& b, const Origin& who) {
  const uint32_t warp = p_.causality.index(who);
  const bool ordered = p_.context.order.before(b.init_point, who);
  if (ordered) return;
  const bool after = p_.causality.knows(warp, p_.causality.index(b.init), b.init_time);
  const bool remote = who.cta_rank != b.init.cta_rank;
  const FindingKey key{remote ? 4107U : 4106U, who.pc, b.init.pc, b.address & shared_offset_mask};
  if (p_.reporter().seen(key)) return;
  Finding f = finding(b,
                      fmt::format("{} is used by a thread that its initialisation is not ordered before",
                                  p_.mbarrier(b.address)),
                      after ? FindingSeverity::strict : FindingSeverity::error);
  f.sites = {p_.reporter().site(who, "uses it"), init_site(b)};
  f.missing = after ? "barriers put the use after the init, but none of them orders memory between the two"
                    : "nothing orders the use after the init";
  f.rule = "mbarrier.init";
  f.help = remote
               ? "after the inits: fence.mbarrier_init.release.cluster, barrier.cluster.arrive and .wait by "
                 "all threads of the cluster"
               : "put a barrier of all users (bar.sync) between the inits and the first use";
  p_.reporter().report(key, std::move(f));
}

void MbarrierLedger::check_uses_known(const MbarrierObject& b, const Origin& who) {
  const uint32_t self = p_.causality.index(who);
  for (uint32_t w = 0; w < b.users.size(); ++w) {
    const MbarrierUser& u = b.users[w];
    if (u.last_use == 0 || w == self || p_.causality.knows(self, w, u.last_use) ||
        p_.context.order.before(u.last_point, who))
      continue;
    const FindingKey key{4111, who.pc, u.last_who.pc, b.address & shared_offset_mask};
    if (p_.reporter().seen(key)) continue;
    Finding f =
        finding(b, fmt::format("mbarrier.inval of {} while others may still use it", p_.mbarrier(b.address)),
                FindingSeverity::error);
    f.sites = {p_.reporter().site(who, "invalidates it"), p_.reporter().site(u.last_who, "uses it")};
    f.missing = "nothing orders the inval after that use";
    f.rule = lifetime_rule;
    f.help = "join all users (a barrier) before mbarrier.inval";
    p_.reporter().report(key, std::move(f));
  }
}

void MbarrierLedger::check_waiters(const MbarrierObject& b, const Origin& who) {
  for (const CtaState& cta : p_.cluster().ctas) {
    for (const WarpState& warp : cta.warps) {
      for (const LaneGroup& g : warp.groups) {
        if (g.wait.kind != Wait::Kind::mbarrier || static_cast<uint32_t>(g.wait.object) != b.address)
          continue;
        const FindingKey key{4111, who.pc, g.pc, b.address & shared_offset_mask};
        if (p_.reporter().seen(key)) continue;
        const Origin waiter{.cta_rank = static_cast<uint16_t>(cta.rank),
                            .warp = static_cast<uint16_t>(warp.id),
                            .lanes = g.mask,
                            .pc = g.pc};
        Finding f =
            finding(b, fmt::format("mbarrier.inval of {} while a thread waits on it", p_.mbarrier(b.address)),
                    FindingSeverity::error);
        f.sites = {p_.reporter().site(who, "invalidates it"), p_.reporter().site(waiter, "waits on it")};
        f.missing = "nothing orders the inval after that wait";
        f.rule = lifetime_rule;
        f.help = "join all users (a barrier) before mbarrier.inval";
        p_.reporter().report(key, std::move(f));
      }
    }
  }
}

void MbarrierLedger::check_flights(const MbarrierObject& b, const Origin& who) {
  for (const Flight& flight : flights_) {
    if (flight.serial != b.serial) continue;
    const FindingKey key{4111, who.pc, flight.who.pc, b.address & shared_offset_mask};
    if (p_.reporter().seen(key)) continue;
    Finding f = finding(b,
                        fmt::format("mbarrier.inval of {} while a copy that completes on it is under way",
                                    p_.mbarrier(b.address)),
                        FindingSeverity::error);
    f.sites = {p_.reporter().site(who, "invalidates it"),
               p_.reporter().site(flight.who, fmt::format("will deliver {} bytes", flight.bytes))};
    f.missing = "no wait has observed that the copy completed";
    f.rule = lifetime_rule;
    f.help = "wait for the phase of every copy before mbarrier.inval";
    p_.reporter().report(key, std::move(f));
  }
}

void MbarrierLedger::check_overwritten(const Origin& who, uint32_t address, uint32_t bytes,
                                       const char* what) {
  for (auto at = objects_.lower_bound(address < 7 ? 0 : address - 7);
       at != objects_.end() && at->first < address + bytes; ++at) {
    const MbarrierObject& b = at->second;
    if (!b.alive) continue;
    const FindingKey key{4110, who.pc, b.init.pc, b.address & shared_offset_mask};
    if (p_.reporter().seen(key)) continue;
    Finding f =
        finding(b, fmt::format("{} writes over {}, which is a valid mbarrier", what, p_.mbarrier(b.address)),
                FindingSeverity::error);
    f.sites = {p_.reporter().site(who, "writes " + p_.shared(address, bytes)), init_site(b)};
    f.missing = "mbarrier.inval before its memory is used for something else";
    f.rule = lifetime_rule;
    f.help = "check the address, or invalidate the mbarrier first";
    p_.reporter().report(key, std::move(f));
  }
}

// --- phases ---------------------------------------------------------------------------------------
namespace {

struct Overrun {
  uint32_t code;
  std::string message, help;
};

// Why a phase was overrun, as far as who arrived tells.
Overrun overrun(const MbarrierObject& b, const Origin& who, uint32_t nth, const std::string& name) {
  bool same_instruction = false, arrived_before = false, twice = false;
  const auto& signals = b.last.signals;
  for (const Signal& s : signals) {
    if (s.arrivals == 0) continue;
    const bool same_warp = s.who.warp == who.warp && s.who.cta_rank == who.cta_rank;
    arrived_before |= same_warp;
    same_instruction |= same_warp && s.who.pc == who.pc && s.nth == nth;
    for (const Signal& t : signals)
      twice |= &s < &t && t.arrivals != 0 && t.who.pc == s.who.pc && t.who.warp == s.who.warp &&
               t.who.cta_rank == s.who.cta_rank && t.nth != s.nth;
  }
  if (same_instruction)
    return {
        4104,
        fmt::format("several lanes of one instruction arrive at {}, whose count is {}: they run through its "
                    "phases",
                    name, b.count),
        "mbarrier.arrive counts threads: let one lane arrive (elect.sync), or count all of them in the init"};
  if (twice)
    return {
        4126,
        fmt::format(
            "phase {} of {} mixes arrivals of several rounds of one warp, and the next arrives before "
            "any wait has observed it",
            b.last.number, name),
        "one mbarrier serves one round at a time: use as many as rounds can be open, or wait every round"};
  if (!arrived_before)
    return {
        4102,
        fmt::format("{} expects {} arrivals, phase {} is complete with them, and another warp arrives before "
                    "any wait has observed it",
                    name, b.count, b.last.number),
        "the count of mbarrier.init must be the number of arrivals of all participants in a phase"};
  return {4112,
          fmt::format("arrival in phase {} of {} before any wait has observed phase {}", b.number, name,
                      b.last.number),
          "wait for the phase before arriving in the next one: is the pipeline deeper than its barriers?"};
}

}  // namespace

void MbarrierLedger::check_overrun(MbarrierObject& b, const Origin& who, uint32_t nth) {
  if (b.number == 0 || !b.last.observers.empty() || b.overrun) return;
  b.overrun = true;
  const Overrun o = overrun(b, who, nth, p_.mbarrier(b.address));
  const FindingKey key{o.code, who.pc, b.init.pc, b.address & shared_offset_mask};
  if (p_.reporter().seen(key)) return;
  Finding f = finding(b, o.message, FindingSeverity::error);
  f.sites.push_back(p_.reporter().site(who, fmt::format("arrives in phase {}", b.number)));
  for (const Signal& s : b.last.signals) {
    if (f.sites.size() > partners_shown) break;
    Site site = signal_site(s);
    site.what += fmt::format(" in phase {}", b.last.number);
    f.sites.push_back(std::move(site));
  }
  f.sites.push_back(init_site(b));
  f.missing = fmt::format("a test_wait or try_wait that returns true for phase {} before this arrival",
                          b.last.number);
  f.rule = phase_rule;
  f.help = o.help;
  p_.reporter().report(key, std::move(f));
}

// An operation delivers its bytes in a later phase than the one in which it was issued.
void MbarrierLedger::check_landing(const MbarrierObject& b, const Flight& flight) {
  const bool known = b.last.number == flight.phase;
  const int64_t expected = known ? b.last.expected() : 0;
  const uint32_t code = expected == 0 ? 4201 : 4203;
  const FindingKey key{code, flight.who.pc, b.init.pc, b.address & shared_offset_mask};
  if (p_.reporter().seen(key)) return;
  Finding f = finding(b,
                      fmt::format("phase {} of {} completed while a copy issued in it was under way: {}; its "
                                  "{} bytes land in phase {}",
                                  flight.phase, p_.mbarrier(b.address),
                                  expected == 0 ? std::string("no bytes were expected")
                                                : fmt::format("only {} bytes were expected", expected),
                                  flight.bytes, b.number),
                      FindingSeverity::error);
  Site site = p_.reporter().site(flight.who, fmt::format("delivers {} bytes", flight.bytes));
  site.occurrence = flight.nth;
  f.sites.push_back(std::move(site));
  for (const Signal& s : b.last.signals)
    if (known && f.sites.size() <= partners_shown) f.sites.push_back(signal_site(s));
  f.missing = "an expect_tx of these bytes before the last arrival of the phase";
  f.rule = "Tracking asynchronous operations by the mbarrier object";
  f.help = "arrive with mbarrier.arrive.expect_tx and the bytes of all copies of the phase";
  p_.reporter().report(key, std::move(f));
}

void MbarrierLedger::check_placement(const MbarrierObject& b, const Origin& who) {
  if (b.address >> cta_rank_shift == who.cta_rank) return;
  const FindingKey key{4124, who.pc, b.init.pc, b.address & shared_offset_mask};
  if (p_.reporter().seen(key)) return;
  Finding f = finding(b, fmt::format("a thread waits on {}, which is in another CTA", p_.mbarrier(b.address)),
                      FindingSeverity::error);
  f.sites = {p_.reporter().site(who, "waits on it"), init_site(b)};
  f.rule = "mbarrier.test_wait, mbarrier.try_wait";
  f.help =
      "test_wait and try_wait work on mbarriers of the own CTA (.shared::cta); arrive at the waiter's CTA "
      "instead";
  p_.reporter().report(key, std::move(f));
}

void MbarrierLedger::check_special_forms(const MbarrierObject& b, const Origin& who, const MbarrierEvent& e) {
  const auto* form = who.effect == nullptr ? nullptr : std::get_if<isa::Mbarrier>(who.effect);
  if (form == nullptr) return;
  const bool ends = form->no_complete && e.completed;
  const bool empty = form->drop && MbarrierState::decode(e.after).expected == 0;
  if (!ends && !empty) return;
  const FindingKey key{4123, who.pc, b.init.pc, b.address & shared_offset_mask};
  if (p_.reporter().seen(key)) return;
  Finding f =
      finding(b,
              ends ? fmt::format("an arrival with .noComplete completes phase {} of {}", b.number,
                                 p_.mbarrier(b.address))
                   : fmt::format("arrive_drop leaves {} with an expected count of 0", p_.mbarrier(b.address)),
              ends ? FindingSeverity::error : FindingSeverity::strict);
  f.sites = {p_.reporter().site(who, "arrives"), init_site(b)};
  f.rule = ends ? "mbarrier.arrive" : "mbarrier.arrive_drop";
  f.help = ends ? ".noComplete promises that the arrival does not complete the phase"
                : "the count must stay 1 or more";
  p_.reporter().report(key, std::move(f));
}

// At the end of the cluster nothing is under way: bytes that are not balanced never will be.
void MbarrierLedger::check_balance(const MbarrierObject& b) {
  const int64_t expected = b.current.expected(), delivered = b.current.delivered();
  if (expected == delivered) return;
  const uint32_t code = expected == 0 ? 4201 : 4203;
  const FindingKey key{code, b.current.signals.front().who.pc, b.init.pc, b.address & shared_offset_mask};
  if (p_.reporter().seen(key)) return;
  Finding f = finding(b,
                      fmt::format("at the end, phase {} of {} has {} bytes expected and {} delivered",
                                  b.number, p_.mbarrier(b.address), expected, delivered),
                      delivered > expected ? FindingSeverity::error : FindingSeverity::strict);
  for (const Signal& s : b.current.signals)
    if (f.sites.size() <= partners_shown) f.sites.push_back(signal_site(s));
  f.missing = delivered > expected ? "an expect_tx of the bytes that were delivered"
                                   : "copies of the bytes that were expected";
  f.rule = "Tracking asynchronous operations by the mbarrier object";
  f.help = "expect exactly the bytes that the copies of a phase deliver; a tensor copy counts its whole box";
  p_.reporter().report(key, std::move(f));
}

}  // namespace palladion::sim::check
