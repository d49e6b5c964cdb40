// The rules of mbarrier objects: each breaks a sentence of PTX in an execution that took place.
#include "sim/check/catalogue/phrase.h"
#include "sim/check/protocol/mbarrier.h"

namespace palladion::sim::check {

Finding MbarrierLedger::finding(const MbarrierObject& b, Statement message, FindingSeverity severity) const {
  Finding f;
  f.severity = severity;
  f.message = std::move(message);
  f.object = p_.mbarrier(b.address);
  return f;
}

Site MbarrierLedger::init_site(const MbarrierObject& b) const {
  Site s = p_.reporter().site(b.init, Part{.does = Does::initialises, .number = b.count});
  s.occurrence = 0;
  return s;
}

Site MbarrierLedger::signal_site(const Signal& s) const {
  Site site = p_.reporter().site(
      s.origin,
      Part{.does = Does::signals, .arrivals = s.arrivals, .expected = s.expected, .delivered = s.delivered});
  site.occurrence = s.nth;
  return site;
}

// --- life -----------------------------------------------------------------------------------------
void MbarrierLedger::check_reinit(const MbarrierObject& b, const Origin& origin, bool together) {
  // Lanes of one warp and several warps are two mistakes: the first is strict, and must not hide the second.
  const FindingKey key{Code::repeated_mbarrier_init, origin.pc, b.init.pc,
                       uint64_t{together} << 32 | (b.address & shared_offset_mask)};
  if (p_.reporter().seen(key)) return;
  Finding f = finding(
      b,
      say<Phrase::repeated_init>(p_.mbarrier(b.address), b.number, b.count - b.current.arrivals(), b.count),
      FindingSeverity::error);
  f.sites = {p_.reporter().site(origin, Does::initialises), init_site(b)};
  f.missing = say<Phrase::inval_between>();
  if (together) {  // ThunderKittens' kernels do, and are right on the chip
    f.severity = FindingSeverity::strict;
    f.message = say<Phrase::init_by_several_lanes>(p_.mbarrier(b.address));
    f.missing = say<Phrase::init_by_one_lane>();
    f.help = say<Phrase::elect_initialiser>();
  }
  p_.reporter().report(key, std::move(f));
}

void MbarrierLedger::check_init_known(MbarrierObject& b, const Origin& origin) {
  const WarpOfCluster warp = p_.causality.index(origin);
  const bool ordered = p_.context.order.before(b.init_point, origin);
  if (ordered) return;
  const bool after = p_.causality.knows(warp, b.init_point);
  const bool remote = origin.cta_rank != b.init.cta_rank;
  const FindingKey key{remote ? Code::unordered_remote_mbarrier_init : Code::unordered_mbarrier_init,
                       origin.pc, b.init.pc, b.address & shared_offset_mask};
  if (p_.reporter().seen(key)) return;
  Finding f = finding(b, say<Phrase::use_before_init>(p_.mbarrier(b.address)), FindingSeverity::error);
  f.sites = {p_.reporter().site(origin, Does::uses), init_site(b)};
  f.missing = after ? say<Phrase::barriers_without_memory_order>() : say<Phrase::no_order_after_init>();
  p_.reporter().report(key, std::move(f));
}

void MbarrierLedger::check_uses_known(const MbarrierObject& b, const Origin& origin) {
  const WarpOfCluster self = p_.causality.index(origin);
  for (uint32_t w = 0; w < b.users.size(); ++w) {
    const MbarrierUser& u = b.users[w];
    if (u.last_point.time == 0 || p_.causality.knows(self, u.last_point) ||
        p_.context.order.before(u.last_point, origin))
      continue;
    const FindingKey key{Code::mbarrier_inval_in_use, origin.pc, u.last_origin.pc,
                         b.address & shared_offset_mask};
    if (p_.reporter().seen(key)) continue;
    Finding f = finding(b, say<Phrase::inval_in_use>(p_.mbarrier(b.address)), FindingSeverity::error);
    f.sites = {p_.reporter().site(origin, Does::invalidates), p_.reporter().site(u.last_origin, Does::uses)};
    f.missing = say<Phrase::no_order_after_use>();
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
        const Origin waiter{
            .cta_rank = CtaRank(cta.rank), .warp = WarpOfCta(warp.id), .lanes = g.mask, .pc = g.pc};
        Finding f =
            finding(b, say<Phrase::inval_during_wait>(p_.mbarrier(b.address)), FindingSeverity::error);
        f.sites = {p_.reporter().site(origin, Does::invalidates), p_.reporter().site(waiter, Does::waits)};
        f.missing = say<Phrase::no_order_after_wait>();
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
    Finding f =
        finding(b, say<Phrase::inval_before_completion>(p_.mbarrier(b.address)), FindingSeverity::error);
    f.sites = {p_.reporter().site(origin, Does::invalidates),
               p_.reporter().site(copy, Part{.does = Does::signals, .delivered = bytes})};
    f.sites[1].occurrence = nth;
    f.missing = say<Phrase::wait_for_copy>();
    f.notes.push_back(landed ? say<Phrase::copy_had_landed>() : say<Phrase::copy_was_under_way>());
    p_.reporter().report(key, std::move(f));
  };
  for (const Flight& f : flights_)
    if (f.serial == b.serial) report(f.origin, f.nth, f.bytes, false);
  check_commits(b, origin);
  for (const MbarrierPhase* phase : {&b.current, &b.last})
    for (const Signal& s : phase->signals)
      if (s.delivered != 0 && s.async && !phase->operations.empty())
        report(s.origin, s.nth, s.delivered, true);
}

// Arrivals of tcgen05.commit that have landed without a wait. Those of one thread land in their order here,
// as shipped kernels need it.
void MbarrierLedger::check_commits(const MbarrierObject& b, const Origin& origin) {
  for (const MbarrierPhase* phase : {&b.current, &b.last}) {
    if (known(phase->observers, origin)) continue;
    for (const Signal& s : phase->signals) {
      if (!s.async || !std::holds_alternative<isa::Tcgen05Commit>(*s.origin.effect)) continue;
      const FindingKey key{Code::inval_before_commit, origin.pc, s.origin.pc, b.address & shared_offset_mask};
      if (p_.reporter().seen(key)) continue;
      Finding f =
          finding(b, say<Phrase::inval_before_commit>(p_.mbarrier(b.address)), FindingSeverity::strict);
      f.sites = {p_.reporter().site(origin, Does::invalidates), signal_site(s)};
      f.missing = say<Phrase::wait_for_commit>();
      p_.reporter().report(key, std::move(f));
    }
  }
}

// The object was invalidated: the machine stops at this use; this finding gives the reason.
void MbarrierLedger::check_dead(const MbarrierEvent& e) {
  const auto at = objects_.find(e.address);
  if (at == objects_.end()) return;
  const MbarrierObject& b = at->second;
  const FindingKey key{Code::invalid_mbarrier, e.origin.pc, b.end.pc, b.address & shared_offset_mask};
  if (p_.reporter().seen(key)) return;
  Finding f = finding(b, say<Phrase::use_after_inval>(p_.mbarrier(b.address)), FindingSeverity::error);
  f.sites = {p_.reporter().site(e.origin, e.async_id != 0 ? Does::completes : Does::uses),
             p_.reporter().site(b.end, Does::invalidates), init_site(b)};
  f.missing = say<Phrase::new_init>();
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
    Finding f = finding(b, say<Phrase::written_over>(what, p_.mbarrier(b.address)), FindingSeverity::error);
    f.sites = {p_.reporter().site(origin, Does::writes), init_site(b)};
    f.missing = say<Phrase::inval_before_other_use>();
    f.help = say<Phrase::check_address_or_inval>();
    p_.reporter().report(key, std::move(f));
  }
}

}  // namespace palladion::sim::check
