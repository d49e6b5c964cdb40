// The rules of mbarrier objects: each breaks a sentence of PTX in an execution that took place.
#include <fmt/format.h>

#include "sim/check/protocol/mbarrier.h"

namespace palladion::sim::check {

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
  Site site = p_.reporter().site(s.origin, std::move(what));
  site.occurrence = s.nth;
  return site;
}

// --- life -----------------------------------------------------------------------------------------
void MbarrierLedger::check_reinit(const MbarrierObject& b, const Origin& origin, bool together) {
  const FindingKey key{Code::repeated_mbarrier_init, origin.pc, b.init.pc, b.address & shared_offset_mask};
  if (p_.reporter().seen(key)) return;
  Finding f =
      finding(b,
              fmt::format("mbarrier.init of {}, which is a valid mbarrier: phase {}, {} of {} arrivals "
                          "pending",
                          p_.mbarrier(b.address), b.number, b.count - b.current.arrivals(), b.count),
              FindingSeverity::error);
  f.sites = {p_.reporter().site(origin, "initialises it again"), init_site(b)};
  f.missing = "mbarrier.inval between the two";
  if (together) {  // ThunderKittens' kernels do, and are right on the chip
    f.severity = FindingSeverity::strict;
    f.message =
        fmt::format("several lanes of a warp initialise {} at once, with one count", p_.mbarrier(b.address));
    f.missing = "one lane that does it alone";
    f.help = "let one lane initialise it, such as that of elect.sync";
  }
  p_.reporter().report(key, std::move(f));
}

void MbarrierLedger::check_init_known(MbarrierObject& b, const Origin& origin) {
  const uint32_t warp = p_.causality.index(origin);
  const bool ordered = p_.context.order.before(b.init_point, origin);
  if (ordered) return;
  const bool after = p_.causality.knows(warp, b.init_point);
  const bool remote = origin.cta_rank != b.init.cta_rank;
  const FindingKey key{remote ? Code::unordered_remote_mbarrier_init : Code::unordered_mbarrier_init,
                       origin.pc, b.init.pc, b.address & shared_offset_mask};
  if (p_.reporter().seen(key)) return;
  Finding f = finding(b,
                      fmt::format("{} is used by a thread that its initialisation is not ordered before",
                                  p_.mbarrier(b.address)),
                      FindingSeverity::error);
  f.sites = {p_.reporter().site(origin, "uses it"), init_site(b)};
  f.missing = after ? "barriers put the use after the init, but none of them orders memory between the two"
                    : "nothing orders the use after the init";
  p_.reporter().report(key, std::move(f));
}

void MbarrierLedger::check_uses_known(const MbarrierObject& b, const Origin& origin) {
  const uint32_t self = p_.causality.index(origin);
  for (uint32_t w = 0; w < b.users.size(); ++w) {
    const MbarrierUser& u = b.users[w];
    if (u.last_point.time == 0 || p_.causality.knows(self, u.last_point) ||
        p_.context.order.before(u.last_point, origin))
      continue;
    const FindingKey key{Code::mbarrier_inval_in_use, origin.pc, u.last_origin.pc,
                         b.address & shared_offset_mask};
    if (p_.reporter().seen(key)) continue;
    Finding f =
        finding(b, fmt::format("mbarrier.inval of {} while others may still use it", p_.mbarrier(b.address)),
                FindingSeverity::error);
    f.sites = {p_.reporter().site(origin, "invalidates it"), p_.reporter().site(u.last_origin, "uses it")};
    f.missing = "nothing orders the inval after that use";
    p_.reporter().report(key, std::move(f));
  }
}

void MbarrierLedger::check_waiters(const MbarrierObject& b, const Origin& origin) {
  for (const CtaState& cta : p_.cluster().ctas) {
    for (const WarpState& warp : cta.warps) {
      for (const LaneGroup& g : warp.groups) {
        if (g.wait.kind != Wait::Kind::mbarrier || static_cast<uint32_t>(g.wait.object) != b.address)
          continue;
        const FindingKey key{Code::mbarrier_inval_in_use, origin.pc, g.pc, b.address & shared_offset_mask};
        if (p_.reporter().seen(key)) continue;
        const Origin waiter{.cta_rank = static_cast<uint16_t>(cta.rank),
                            .warp = static_cast<uint16_t>(warp.id),
                            .lanes = g.mask,
                            .pc = g.pc};
        Finding f =
            finding(b, fmt::format("mbarrier.inval of {} while a thread waits on it", p_.mbarrier(b.address)),
                    FindingSeverity::error);
        f.sites = {p_.reporter().site(origin, "invalidates it"), p_.reporter().site(waiter, "waits on it")};
        f.missing = "nothing orders the inval after that wait";
        p_.reporter().report(key, std::move(f));
      }
    }
  }
}

// Copies that complete on it are in flight, or have completed without a wait.
void MbarrierLedger::check_leftover(const MbarrierObject& b, const Origin& origin) {
  const auto report = [&](const Origin& copy, uint32_t nth, int64_t bytes, bool landed) {
    const FindingKey key{Code::phase_without_wait, origin.pc, copy.pc, b.address & shared_offset_mask};
    if (p_.reporter().seen(key)) return;
    Finding f = finding(b,
                        fmt::format("mbarrier.inval of {} before any wait has observed that a copy which "
                                    "completes on it is done",
                                    p_.mbarrier(b.address)),
                        FindingSeverity::error);
    f.sites = {p_.reporter().site(origin, "invalidates it"),
               p_.reporter().site(copy, fmt::format("delivers {} bytes", bytes))};
    f.sites[1].occurrence = nth;
    f.missing = "a wait for the phase of the copy";
    f.notes.emplace_back(landed ? "in this run the copy had landed by then"
                                : "in this run the copy was still under way");
    p_.reporter().report(key, std::move(f));
  };
  for (const Flight& f : flights_)
    if (f.serial == b.serial) report(f.origin, f.nth, f.bytes, false);
  for (const MbarrierPhase* phase : {&b.current, &b.last})
    for (const Signal& s : phase->signals)
      if (s.delivered != 0 && s.async && !phase->operations.empty())
        report(s.origin, s.nth, s.delivered, true);
}

// The object was invalidated: the machine stops at this use; this finding gives the reason.
void MbarrierLedger::check_dead(const MbarrierEvent& e) {
  const auto at = objects_.find(e.address);
  if (at == objects_.end()) return;
  const MbarrierObject& b = at->second;
  const FindingKey key{Code::invalid_mbarrier, e.origin.pc, b.end.pc, b.address & shared_offset_mask};
  if (p_.reporter().seen(key)) return;
  Finding f = finding(b, fmt::format("{} is used after mbarrier.inval", p_.mbarrier(b.address)),
                      FindingSeverity::error);
  f.sites = {p_.reporter().site(e.origin, e.async_id != 0 ? "completes on it" : "uses it"),
             p_.reporter().site(b.end, "invalidates it"), init_site(b)};
  f.missing = "a new mbarrier.init, or an end of all uses before the inval";
  p_.reporter().report(key, std::move(f));
}

void MbarrierLedger::check_overwritten(const Origin& origin, uint32_t address, uint32_t bytes,
                                       const char* what) {
  for (auto at = objects_.lower_bound(address < 7 ? 0 : address - 7);
       at != objects_.end() && at->first < address + bytes; ++at) {
    const MbarrierObject& b = at->second;
    if (!b.alive) continue;
    const FindingKey key{Code::data_over_mbarrier, origin.pc, b.init.pc, b.address & shared_offset_mask};
    if (p_.reporter().seen(key)) continue;
    Finding f =
        finding(b, fmt::format("{} writes over {}, which is a valid mbarrier", what, p_.mbarrier(b.address)),
                FindingSeverity::error);
    f.sites = {p_.reporter().site(origin, "writes " + p_.shared(address, bytes)), init_site(b)};
    f.missing = "mbarrier.inval before its memory is used for something else";
    f.help = "check the address, or invalidate the mbarrier first";
    p_.reporter().report(key, std::move(f));
  }
}

}  // namespace palladion::sim::check
