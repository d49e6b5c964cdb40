// The rules of an mbarrier's phases: arrivals, bytes, waits.

#include <algorithm>
#include <bit>
#include <cstring>
#include <set>

#include "sim/check/protocol/mbarrier_rules.h"
#include "sim/launch/phrases/phrase.h"
#include "sim/machine/exec/exec.h"
#include "sim/machine/state/mbarrier.h"

namespace palladion::sim::check {
namespace {

constexpr size_t partners_shown = 4;

}  // namespace

// --- phases ---------------------------------------------------------------------------------------
namespace {

struct Overrun {
  Code code;
  Statement message;
};

bool deferred(const Signal& s) {
  return s.async && s.origin.effect != nullptr &&
         std::holds_alternative<isa::CpAsyncMbarrierArrive>(*s.origin.effect);
}

// The arrivals in the overrun phase show why.
Overrun overrun(const MbarrierObject& b, const Origin& origin, uint32_t nth, const Object& name) {
  bool same_instruction = false, arrived_before = false, twice = false, others = false, copies = false;
  const auto& signals = b.last.signals;
  for (const Signal& s : signals) {
    if (s.arrivals == 0) continue;
    const bool same_warp = s.origin.warp == origin.warp && s.origin.cta_rank == origin.cta_rank;
    (same_warp ? arrived_before : others) = true;
    same_instruction |= same_warp && s.origin.pc == origin.pc && s.nth == nth;
    copies |= deferred(s);
    for (const Signal& t : signals)
      twice |= &s < &t && t.arrivals != 0 && t.origin.pc == s.origin.pc && t.origin.warp == s.origin.warp &&
               t.origin.cta_rank == s.origin.cta_rank && t.nth != s.nth;
  }
  if (copies ||
      (origin.effect != nullptr && std::holds_alternative<isa::CpAsyncMbarrierArrive>(*origin.effect)))
    return {Code::miscounted_deferred_arrival, say<Phrase::deferred_arrivals_count>(name, b.count)};
  if (same_instruction) return {Code::arrival_by_all_lanes, say<Phrase::arrival_by_lanes>(name, b.count)};
  if (twice || (arrived_before && others))
    return {Code::shared_stage_mbarrier, say<Phrase::mixed_rounds>(b.last.number, name)};
  if (!arrived_before)
    return {Code::surplus_arrival, say<Phrase::surplus_arrival_in_phase>(name, b.count, b.last.number)};
  return {Code::unobserved_phase, say<Phrase::arrival_before_observation>(b.number, name, b.last.number)};
}

}  // namespace

// "For each phase at least one wait must return true before an arrive-on in the next one": in the order
// that barriers make, or else another schedule arrives a phase too early.
bool MbarrierRules::is_early(const MbarrierObject& b, const Origin& origin, bool async) const {
  if (b.number == 0 || b.overrun) return false;
  return b.last.observers.empty() || !(async || known(b.last.observers, origin));
}

void MbarrierRules::check_early(MbarrierObject& b, const Origin& origin, uint32_t nth, bool async,
                                const MbarrierObject* waited) const {
  const bool observed = !b.last.observers.empty();
  // Other barriers order the phase's arrivals before this one: no schedule mixes rounds.
  const bool complete = !async && known_complete(b.last, origin);
  b.overrun = waited != nullptr || !complete;
  if (waited != nullptr) return report_stale_wait(b, *waited, origin);
  const Overrun o = overrun(b, origin, nth, p_.mbarrier(b.address));
  const uint64_t object = b.address & shared_offset_mask;
  const FindingKey key{o.code, origin.pc, b.init.pc, object | uint64_t{complete} << 32};
  if (p_.reporter().seen(key, origin)) return;
  Finding f = finding(b, o.message, complete ? FindingSeverity::strict : FindingSeverity::error);
  if (complete) f.notes.push_back(say<Phrase::complete_by_other_barriers>());
  f.sites.push_back(p_.reporter().site(origin, Part{.does = Does::arrives, .phase = b.number}));
  std::vector<uint32_t> shown{origin.pc};
  std::vector<const Signal*> others;
  for (const Signal& s : b.last.signals) {  // other instructions first
    const bool known_pc = std::ranges::find(shown, s.origin.pc) != shown.end();
    if (!known_pc) shown.push_back(s.origin.pc);
    others.insert(known_pc ? others.end() : others.begin() + static_cast<ptrdiff_t>(shown.size() - 2), &s);
  }
  for (const Signal* s : others) {
    if (f.sites.size() > partners_shown) break;
    Site site = signal_site(*s);
    site.part.phase = b.last.number;
    f.sites.push_back(std::move(site));
  }
  f.sites.push_back(init_site(b));
  f.missing = observed ? say<Phrase::no_order_after_observation>(b.last.number)
                       : say<Phrase::no_observation>(b.last.number);
  p_.reporter().report(key, std::move(f));
}

// A warp started its next round too early, because its wait passed for a phase of the round before.
void MbarrierRules::report_stale_wait(const MbarrierObject& b, const MbarrierObject& waited,
                                      const Origin& origin) const {
  const WarpOfCluster warp = p_.causality.index(origin);
  const LastWait& w = waited.users[warp].wait;
  const bool others = others_wait_otherwise(waited, warp, w.parity);
  const Code code = w.by_state ? Code::misused_mbarrier_form
                    : others   ? Code::ambiguous_phase
                               : Code::wrong_parity;
  const FindingKey key{code, w.pc, origin.pc, waited.address & shared_offset_mask};
  if (p_.reporter().seen(key, origin)) return;
  Finding f = finding(waited,
                      say<Phrase::stale_wait>(w.parity, p_.mbarrier(waited.address), w.phase,
                                              p_.mbarrier(b.address), b.last.number),
                      FindingSeverity::error);
  Origin wait = origin;
  wait.pc = w.pc;
  f.sites = {p_.reporter().site(wait, Does::passes_early),
             p_.reporter().site(origin, Part{.does = Does::arrives, .phase = b.number})};
  for (const MbarrierPhase* phase : {&waited.current, &waited.last})
    for (const Signal& s : phase->signals)
      if (f.sites.size() <= partners_shown && s.delivered != 0) f.sites.push_back(signal_site(s));
  f.missing = say<Phrase::wait_for_phase>(w.phase + 1, 1 - static_cast<int>(w.parity));
  if (w.by_state) f.help = say<Phrase::count_rounds>();
  p_.reporter().report(key, std::move(f));
}

// expect_tx apart from the arrival, and no arrival of the phase is ordered after it.
void MbarrierRules::check_late_announcement(const MbarrierObject& b, WarpOfCluster warp) const {
  for (const Signal& s : b.current.signals) {
    if (s.async || s.expected == 0 || s.arrivals != 0 || p_.causality.index(s.origin) != warp) continue;
    const FindingKey key{Code::late_expect_tx, s.origin.pc, b.init.pc, b.address & shared_offset_mask};
    if (p_.reporter().seen(key, s.origin)) return;
    Finding f = finding(
        b, say<Phrase::completion_before_expect_tx>(b.current.number, p_.mbarrier(b.address), s.expected),
        FindingSeverity::error);
    f.sites.push_back(signal_site(s));
    for (const MbarrierPhase* phase : {&b.current, &b.last})
      for (const Signal& other : phase->signals)
        if (other.arrivals != 0 && f.sites.size() < partners_shown) f.sites.push_back(signal_site(other));
    f.missing = say<Phrase::no_arrival_after_expect_tx>();
    p_.reporter().report(key, std::move(f));
    return;
  }
}

// A wait returned for a phase; if no order ensures that the phase before had completed when the wait began,
// the wait may also return for the phase two before, which has the same parity.
void MbarrierRules::check_skipped(const MbarrierObject& b, const Origin& origin) const {
  const FindingKey key{Code::ambiguous_phase, origin.pc, b.init.pc, b.address & shared_offset_mask};
  if (p_.reporter().seen(key, origin)) return;
  const int64_t seen = b.users[p_.causality.index(origin)].observed;
  Finding f = finding(
      b, say<Phrase::indistinguishable_phase>(b.last.number, p_.mbarrier(b.address), b.last.number - 2),
      FindingSeverity::error);
  f.notes.push_back(seen < -1 ? say<Phrase::observed_none>() : say<Phrase::observed_last>(seen));
  f.sites.push_back(p_.reporter().site(origin, Part{.does = Does::waits, .phase = b.last.number}));
  for (const bool bytes : {true, false})
    for (const Signal& s : b.last.signals)
      if (f.sites.size() <= 2 && (s.delivered != 0) == bytes) f.sites.push_back(signal_site(s));
  f.missing = say<Phrase::no_order_before_wait>(b.last.number - 1);
  p_.reporter().report(key, std::move(f));
}

// An operation delivers its bytes in a later phase than the one in which it was issued.
void MbarrierRules::check_landing(const MbarrierObject& b, const Flight& flight) const {
  const bool known = b.last.number == flight.phase;
  const int64_t expected = known ? b.last.expected() : 0;
  const Code code = expected == 0 ? Code::missing_expect_tx : Code::wrong_expected_bytes;
  const FindingKey key{code, flight.origin.pc, b.init.pc, b.address & shared_offset_mask};
  if (p_.reporter().seen(key, flight.origin)) return;
  Finding f = finding(b,
                      say<Phrase::completion_before_copy>(flight.phase, p_.mbarrier(b.address), expected,
                                                          flight.bytes, b.number),
                      FindingSeverity::error);
  Site site = p_.reporter().site(flight.origin, Part{.does = Does::signals, .delivered = flight.bytes});
  site.occurrence = flight.nth;
  f.sites.push_back(std::move(site));
  for (const Signal& s : b.last.signals)
    if (known && f.sites.size() <= partners_shown) f.sites.push_back(signal_site(s));
  f.missing = say<Phrase::expect_tx_before_arrival>();
  f.help = say<Phrase::arrive_with_all_bytes>();
  p_.reporter().report(key, std::move(f));
}

void MbarrierRules::check_special_forms(const MbarrierObject& b, const MbarrierEvent& e) const {
  const Origin& origin = e.origin;
  const auto* form = origin.effect == nullptr ? nullptr : std::get_if<isa::Mbarrier>(origin.effect);
  if (form == nullptr) return;
  const bool ends = form->no_complete && e.completed;
  const bool empty = form->drop && MbarrierState::decode(e.after).expected == 0;
  if (!ends && !empty) return;
  const FindingKey key{Code::misused_mbarrier_form, origin.pc, b.init.pc, b.address & shared_offset_mask};
  if (p_.reporter().seen(key, origin)) return;
  Finding f = finding(b,
                      ends ? say<Phrase::completing_no_complete>(b.number, p_.mbarrier(b.address))
                           : say<Phrase::arrive_drop_to_zero>(p_.mbarrier(b.address)),
                      ends ? FindingSeverity::error : FindingSeverity::strict);
  f.sites = {p_.reporter().site(origin, Does::arrives), init_site(b)};
  f.rule = ends ? "mbarrier.arrive" : "mbarrier.arrive_drop";
  f.help = ends ? say<Phrase::no_complete_promises>() : say<Phrase::count_stays_positive>();
  p_.reporter().report(key, std::move(f));
}

// At the end of the cluster no operation is in flight: bytes that are not balanced never will be.
void MbarrierRules::check_balance(const MbarrierObject& b) const {
  const int64_t expected = b.current.expected(), delivered = b.current.delivered();
  if (expected == delivered) return;
  const Code code = bytes_code(b.current);
  const FindingKey key{code, b.current.signals.front().origin.pc, b.init.pc, b.address & shared_offset_mask};
  if (p_.reporter().seen(key, b.current.signals.front().origin)) return;
  Finding f = finding(b, say<Phrase::unbalanced_bytes>(b.number, p_.mbarrier(b.address), expected, delivered),
                      delivered > expected ? FindingSeverity::error : FindingSeverity::strict);
  for (const Signal& s : b.current.signals)
    if (f.sites.size() <= partners_shown) f.sites.push_back(signal_site(s));
  // Bytes that landed too late for their phase: the arrivals that let it complete without them.
  for (const Signal& s : b.last.signals)
    if (s.arrivals != 0 && f.sites.size() <= 2 * partners_shown) f.sites.push_back(signal_site(s));
  f.missing =
      delivered > expected ? say<Phrase::expect_tx_of_delivered>() : say<Phrase::copies_of_expected>();
  f.help = say<Phrase::expect_delivered_bytes>();
  p_.reporter().report(key, std::move(f));
}

}  // namespace palladion::sim::check
