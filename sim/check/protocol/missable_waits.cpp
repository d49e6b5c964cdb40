#include "sim/check/protocol/missable_waits.h"

#include "sim/launch/phrases/phrase.h"

namespace palladion::sim::check {

// A phase completed, and no order makes it wait for a thread that has observed the phase before: delayed for
// so long, that thread waits for ever, or passes for the phase after.
void MissableWaits::check(const MbarrierObject& b, const Observation& wait) {
  const Origin& waiter = b.users[wait.first.warp].last_origin;
  const FindingKey key{Code::ambiguous_phase, b.users[wait.first.warp].wait.pc, b.init.pc, 1};
  // Of a warp that only waits nothing depends on the wait: the exploration judges those.
  auto& spectators = held_back_[wait.first.warp];
  if (acts_[wait.first.warp] ? p_.reporter().seen(key, waiter) : spectators.contains(key)) return;
  Origin at = waiter;
  at.pc = b.users[wait.first.warp].wait.pc;
  Finding f =
      rules_.finding(b, say<Phrase::missable_phase>(b.last.number, p_.mbarrier(b.address), b.current.number),
                     FindingSeverity::strict);
  f.sites.push_back(p_.reporter().site(at, Part{.does = Does::waits, .phase = b.last.number}));
  for (const Signal& s : b.current.signals)
    if (f.sites.size() <= 2 && s.arrivals != 0) f.sites.push_back(rules_.signal_site(s));
  f.missing = say<Phrase::completion_without_waiter>(b.current.number);
  f.help = say<Phrase::wait_in_next_phase>();
  if (!acts_[wait.first.warp])
    spectators.emplace(key, HeldBack{waiter, std::move(f)});
  else
    p_.reporter().report(key, std::move(f));
}

// The warp arrives or copies: what it waited for before mattered.
void MissableWaits::note_act(WarpOfCluster warp) {
  if (acts_[warp]) return;
  acts_[warp] = true;
  for (auto& [key, held] : held_back_[warp])
    if (!p_.reporter().seen(key, held.waiter)) p_.reporter().report(key, std::move(held.finding));
  held_back_[warp].clear();
}

}  // namespace palladion::sim::check
