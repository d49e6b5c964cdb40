// The rules of mbarrier objects: each breaks a sentence of PTX in an execution that took place.
#include <algorithm>

#include "sim/check/protocol/mbarrier_rules.h"
#include "sim/launch/phrases/phrase.h"
#include "sim/machine/exec/place.h"

namespace palladion::sim::check {

Finding MbarrierRules::finding(const MbarrierObject& b, Statement message, FindingSeverity severity) const {
  Finding f;
  f.severity = severity;
  f.message = std::move(message);
  f.object = p_.mbarrier(b.address);
  return f;
}

Site MbarrierRules::init_site(const MbarrierObject& b) const {
  Site s = p_.reporter().site(b.init, Part{.does = Does::initialises, .number = b.count});
  s.occurrence = 0;
  return s;
}

Site MbarrierRules::signal_site(const Signal& s) const {
  Site site = p_.reporter().site(
      s.origin,
      Part{.does = Does::signals, .arrivals = s.arrivals, .expected = s.expected, .delivered = s.delivered});
  site.occurrence = s.nth;
  return site;
}

// --- what is known --------------------------------------------------------------------------------
bool MbarrierRules::known(const std::vector<Observation>& list, const Origin& origin) const {
  const WarpOfCluster warp = p_.causality.index(origin);
  for (const Observation& o : list)
    if (p_.causality.knows(warp, o.first)) return true;
  for (const Observation& o : list)
    if (p_.context.order.before(o.first, origin)) return true;
  return false;
}

// Several warps arrived once each.
bool MbarrierRules::by_several_warps(const MbarrierPhase& phase) const {
  if (std::ranges::any_of(phase.signals, &Signal::async) ||
      phase.signals.size() >= MbarrierPhase::signals_kept)
    return false;
  std::vector<uint32_t> warps;
  for (const Signal& s : phase.signals) warps.push_back(p_.causality.index(s.origin));
  std::ranges::sort(warps);
  return !warps.empty() && warps.front() != warps.back() && std::ranges::adjacent_find(warps) == warps.end();
}

bool MbarrierRules::knows_all(const Causality::Clock& arrived, const Origin& origin) const {
  const WarpOfCluster warp = p_.causality.index(origin);
  for (uint32_t w = 0; w < arrived.size(); ++w)
    if (!p_.causality.knows(warp, {.warp = WarpOfCluster(w), .time = arrived[w]})) return false;
  return true;
}

// Other barriers order all arrivals before `origin`: the phase is complete then without any wait for it.
bool MbarrierRules::known_complete(const MbarrierPhase& phase, const Origin& origin) const {
  return by_several_warps(phase) && knows_all(phase.arrived, origin);
}

// Do other warps wait, or have waited last, with the other parity?
bool MbarrierRules::others_wait_otherwise(const MbarrierObject& b, WarpOfCluster warp, bool parity) const {
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

// --- life -----------------------------------------------------------------------------------------
// Lanes of one warp execute one mbarrier.init, all with one count.
bool MbarrierRules::are_together(const MbarrierObject& b, const MbarrierEvent& e) const {
  const Origin& now = e.origin;
  return b.init.cta_rank == now.cta_rank && b.init.warp == now.warp && b.init.pc == now.pc &&
         b.count == e.count && b.arrivers.empty() && b.number == 0 && b.init_point.time == p_.now(now).time;
}

void MbarrierRules::check_reinit(const MbarrierObject& b, const Origin& origin, bool together) const {
  // Lanes of one warp and several warps are two mistakes: the first is strict, and must not hide the second.
  const FindingKey key{Code::repeated_mbarrier_init, origin.pc, b.init.pc,
                       uint64_t{together} << 32 | (b.address & shared_offset_mask)};
  if (p_.reporter().seen(key, origin)) return;
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

void MbarrierRules::check_init_known(MbarrierObject& b, const Origin& origin) const {
  const WarpOfCluster warp = p_.causality.index(origin);
  const bool ordered = p_.context.order.before(b.init_point, origin);
  if (ordered) return;
  const bool after = p_.causality.knows(warp, b.init_point);
  const bool remote = origin.cta_rank != b.init.cta_rank;
  const FindingKey key{remote ? Code::unordered_remote_mbarrier_init : Code::unordered_mbarrier_init,
                       origin.pc, b.init.pc, b.address & shared_offset_mask};
  if (p_.reporter().seen(key, origin)) return;
  Finding f = finding(b, say<Phrase::use_before_init>(p_.mbarrier(b.address)), FindingSeverity::error);
  f.sites = {p_.reporter().site(origin, Does::uses), init_site(b)};
  f.missing = after ? say<Phrase::barriers_without_memory_order>() : say<Phrase::no_order_after_init>();
  p_.reporter().report(key, std::move(f));
}

void MbarrierRules::check_uses_known(const MbarrierObject& b, const Origin& origin) const {
  const WarpOfCluster self = p_.causality.index(origin);
  for (uint32_t w = 0; w < b.users.size(); ++w) {
    const MbarrierUser& u = b.users[w];
    if (u.last_point.time == 0 || p_.causality.knows(self, u.last_point) ||
        p_.context.order.before(u.last_point, origin))
      continue;
    const FindingKey key{Code::mbarrier_inval_in_use, origin.pc, u.last_origin.pc,
                         b.address & shared_offset_mask};
    if (p_.reporter().seen(key, origin)) continue;
    // libcu++ ends its pipelines so: its lanes meet at match.sync, and one of them signals for all.
    const std::optional<Pc> met = p_.context.order.met_before(u.last_point, origin);
    Finding f = finding(b, say<Phrase::inval_in_use>(p_.mbarrier(b.address)),
                        met ? FindingSeverity::strict : FindingSeverity::error);
    if (met) f.notes.push_back(say<Phrase::lanes_met>(site_at(*p_.context.run.program, *met, {}, {}, 0)));
    f.sites = {p_.reporter().site(origin, Does::invalidates), p_.reporter().site(u.last_origin, Does::uses)};
    f.missing = say<Phrase::no_order_after_use>();
    p_.reporter().report(key, std::move(f));
  }
}

void MbarrierRules::check_waiters(const MbarrierObject& b, const Origin& origin) const {
  for (const CtaState& cta : p_.cluster().ctas) {
    for (const WarpState& warp : cta.warps) {
      for (const LaneGroup& g : warp.groups) {
        if (g.wait.kind != Wait::Kind::mbarrier || static_cast<uint32_t>(g.wait.object) != b.address)
          continue;
        const FindingKey key{Code::mbarrier_inval_in_use, origin.pc, g.pc, b.address & shared_offset_mask};
        if (p_.reporter().seen(key, origin)) continue;
        const Origin waiter{.cta_rank = cta.rank, .warp = warp.id, .lanes = g.mask, .pc = g.pc};
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
void MbarrierRules::check_leftover(const MbarrierObject& b, std::span<const Flight> flights,
                                   const Origin& origin) const {
  const auto report = [&](const Origin& copy, uint32_t nth, int64_t bytes, bool landed) {
    const FindingKey key{Code::phase_without_wait, origin.pc, copy.pc, b.address & shared_offset_mask};
    if (p_.reporter().seen(key, copy)) return;
    Finding f =
        finding(b, say<Phrase::inval_before_completion>(p_.mbarrier(b.address)), FindingSeverity::error);
    f.sites = {p_.reporter().site(origin, Does::invalidates),
               p_.reporter().site(copy, Part{.does = Does::signals, .delivered = bytes})};
    f.sites[1].occurrence = nth;
    f.missing = say<Phrase::wait_for_copy>();
    f.notes.push_back(landed ? say<Phrase::copy_had_landed>() : say<Phrase::copy_was_under_way>());
    p_.reporter().report(key, std::move(f));
  };
  for (const Flight& f : flights)
    if (f.serial == b.serial) report(f.origin, f.nth, f.bytes, false);
  check_commits(b, origin);
  for (const MbarrierPhase* phase : {&b.current, &b.last})
    for (const Signal& s : phase->signals)
      if (s.delivered != 0 && s.async && !phase->operations.empty())
        report(s.origin, s.nth, s.delivered, true);
}

// Arrivals of tcgen05.commit that have landed without a wait. Those of one thread land in their order here,
// as shipped kernels need it.
void MbarrierRules::check_commits(const MbarrierObject& b, const Origin& origin) const {
  for (const MbarrierPhase* phase : {&b.current, &b.last}) {
    if (known(phase->observers, origin)) continue;
    for (const Signal& s : phase->signals) {
      if (!s.async || !std::holds_alternative<isa::Tcgen05Commit>(*s.origin.effect)) continue;
      const FindingKey key{Code::inval_before_commit, origin.pc, s.origin.pc, b.address & shared_offset_mask};
      if (p_.reporter().seen(key, s.origin)) continue;
      Finding f =
          finding(b, say<Phrase::inval_before_commit>(p_.mbarrier(b.address)), FindingSeverity::strict);
      f.sites = {p_.reporter().site(origin, Does::invalidates), signal_site(s)};
      f.missing = say<Phrase::wait_for_commit>();
      p_.reporter().report(key, std::move(f));
    }
  }
}

// The object was invalidated: the machine stops at this use; this finding gives the reason.
void MbarrierRules::check_dead(const MbarrierObject& b, const MbarrierEvent& e) const {
  const FindingKey key{Code::invalid_mbarrier, e.origin.pc, b.end.pc, b.address & shared_offset_mask};
  if (p_.reporter().seen(key, e.origin)) return;
  Finding f = finding(b, say<Phrase::use_after_inval>(p_.mbarrier(b.address)), FindingSeverity::error);
  f.sites = {p_.reporter().site(e.origin, e.async_id != 0 ? Does::completes : Does::uses),
             p_.reporter().site(b.end, Does::invalidates), init_site(b)};
  f.missing = say<Phrase::new_init>();
  p_.reporter().report(key, std::move(f));
}

void MbarrierRules::check_overwritten(const MbarrierObject& b, const Origin& origin, const char* what) const {
  const FindingKey key{Code::data_over_mbarrier, origin.pc, b.init.pc, b.address & shared_offset_mask};
  if (p_.reporter().seen(key, origin)) return;
  Finding f = finding(b, say<Phrase::written_over>(what, p_.mbarrier(b.address)), FindingSeverity::error);
  f.sites = {p_.reporter().site(origin, Does::writes), init_site(b)};
  f.missing = say<Phrase::inval_before_other_use>();
  f.help = say<Phrase::check_address_or_inval>();
  p_.reporter().report(key, std::move(f));
}

}  // namespace palladion::sim::check
