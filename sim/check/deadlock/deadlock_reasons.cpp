#include "sim/check/deadlock/deadlock_reasons.h"

#include <algorithm>
#include <bit>
#include <set>

#include "sim/launch/phrases/phrase.h"

namespace palladion::sim::check {
namespace {

using K = Wait::Kind;
using Weight = Reason::Weight;

template <class E>
const E* effect_of(const Origin& origin) {
  return origin.effect == nullptr ? nullptr : std::get_if<E>(origin.effect);
}

Reason reason(Code code, Weight weight, uint32_t root, Statement message) {
  Reason r;
  r.code = code;
  r.weight = weight;
  r.root = root;
  r.message = std::move(message);
  return r;
}

// --- bytes ----------------------------------------------------------------------------------------
Reason bytes_differ(const WaitGraph& g, uint32_t i) {
  const Waiter& w = g.waiters()[i];
  const MbarrierPhase& p = w.object->current;
  const int64_t expected = p.expected(), delivered = p.delivered();
  const Code code = bytes_code(p);
  Reason r = reason(code, Weight::certain, i,
                    say<Phrase::bytes_of_phase_differ>(w.object->number, g.object(w), expected, delivered));
  r.missing = expected > delivered ? say<Phrase::undelivered_bytes>(expected - delivered)
                                   : say<Phrase::expect_tx_of_more>(delivered - expected);
  r.help = code == Code::duplicate_copy      ? say<Phrase::issue_copy_once>()
           : code == Code::missing_expect_tx ? say<Phrase::announce_bytes>()
                                             : say<Phrase::expect_delivered_bytes>();
  for (const Signal& s : p.signals) r.culprits.push_back(s.origin);
  return r;
}

// --- arrivals -------------------------------------------------------------------------------------
bool foreign_bytes_only(const Waiter& w) {
  const MbarrierPhase& p = w.object->current;
  if (p.expected() != 0 || p.delivered() == 0 || p.arrivals() != 0) return false;
  return std::ranges::all_of(p.signals, [&](const Signal& s) {
    return s.delivered == 0 || s.origin.cta_rank != w.object->address >> cta_rank_shift;
  });
}

// Lanes of a warp that have arrived in the phase.
uint32_t arrived_lanes(const MbarrierPhase& p, const Origin& of) {
  uint32_t out = 0;
  for (const Signal& s : p.signals)
    if (s.arrivals != 0 && s.origin.warp == of.warp && s.origin.cta_rank == of.cta_rank)
      out |= s.origin.lanes;
  return out;
}

// A thread has announced bytes, and has not arrived.
bool announced_alone(const Waiter& w) {
  const MbarrierPhase& p = w.object->current;
  if (w.state.tx != 0 || p.expected() == 0 || p.announcements.empty()) return false;
  return std::ranges::any_of(p.signals, [&](const Signal& s) {
    return s.expected != 0 && (s.origin.lanes & ~arrived_lanes(p, s.origin)) != 0;
  });
}

bool deferred_places(const Waiter& w) {
  bool increments = false;
  for (const Signal& s : w.object->current.signals) {
    const auto* e = effect_of<isa::CpAsyncMbarrierArrive>(s.origin);
    increments |= e != nullptr && !e->noinc;
  }
  return increments;
}

// An instance of the same mbarrier in another CTA that completed a phase for which no warp there waits.
const MbarrierObject* surplus_elsewhere(const WaitGraph& g, const Waiter& w) {
  for (const auto& [address, b] : g.ledger().mbarriers().objects()) {
    const bool twin = address != w.object->address &&
                      (address & shared_offset_mask) == (w.object->address & shared_offset_mask);
    if (!twin || !b.alive) continue;
    const bool unobserved = b.last.number >= 0 && b.last.observers.empty() && b.last.arrivals() != 0;
    const bool awaited = std::ranges::any_of(b.users, [](const MbarrierUser& u) { return u.wait.any; });
    if ((unobserved || (!awaited && b.current.arrivals() != 0)) && b.number >= w.object->number) return &b;
  }
  return nullptr;
}

Reason wrong_instance(const WaitGraph& g, uint32_t i, const MbarrierObject& other) {
  const Waiter& w = g.waiters()[i];
  const Object there = mbarrier_object(g.run(), g.cluster(), other.address);
  const auto& signals = other.current.arrivals() != 0 ? other.current.signals : other.last.signals;
  const bool mapped = std::ranges::all_of(signals, [](const Signal& s) {
    const auto* e = effect_of<isa::Mbarrier>(s.origin);
    return e != nullptr && e->space == isa::Space::shared_cluster;
  });
  Reason r = reason(mapped && w.object->arrivers.empty() ? Code::wrong_cta_rank : Code::arrival_at_wrong_cta,
                    Weight::certain, i,
                    say<Phrase::arrivals_at_other>(g.object(w), w.state.pending, w.state.expected, there));
  r.missing = say<Phrase::arrivals_belong_to>(there, g.object(w));
  for (const Signal& s : signals) r.culprits.push_back(s.origin);
  return r;
}

// A tcgen05.commit that arrives at the same mbarrier of another CTA, when none arrives at this one.
const Origin* commit_elsewhere(const WaitGraph& g, const Waiter& w) {
  const auto commits = [](const auto& arriver) { return effect_of<isa::Tcgen05Commit>(arriver.second); };
  if (w.object == nullptr || std::ranges::any_of(w.object->arrivers, commits)) return nullptr;
  for (const auto& [address, b] : g.ledger().mbarriers().objects()) {
    if (address == w.object->address ||
        (address & shared_offset_mask) != (w.object->address & shared_offset_mask))
      continue;
    const auto at = std::ranges::find_if(b.arrivers, commits);
    if (at != b.arrivers.end()) return &at->second;
  }
  return nullptr;
}

Reason commit_for_one(const WaitGraph& g, uint32_t i, const Origin& commit) {
  const Waiter& w = g.waiters()[i];
  Reason r = reason(Code::commit_without_peer, Weight::certain, i,
                    say<Phrase::commit_in_other_cta>(g.actor(w), g.object(w)));
  r.missing = say<Phrase::arrival_of_commit>(g.object(w));
  r.culprits = {commit};
  return r;
}

Reason same_parity_again(const WaitGraph& g, uint32_t i, int64_t observed) {
  const Waiter& w = g.waiters()[i];
  bool others = false;
  for (const Waiter& v : g.waiters()) others |= v.object == w.object && v.wait.value != w.wait.value;
  for (const MbarrierUser& u : w.object->users) others |= u.wait.any && u.wait.parity != (w.wait.value != 0);
  const auto* form = effect_of<isa::Mbarrier>(w.origin);
  const bool by_state = form != nullptr && !form->parity;
  Reason r =
      reason(by_state ? Code::misused_mbarrier_form
             : others ? Code::ambiguous_phase
                      : Code::wrong_parity,
             Weight::certain, i,
             say<Phrase::same_parity_again>(g.actor(w), w.wait.value, g.object(w), observed, observed + 1));
  r.missing = say<Phrase::wait_that_passes>(observed + 1, 1 - w.wait.value);
  r.help = say<Phrase::count_rounds>();
  return r;
}

uint32_t lanes_alive(const WaitGraph& g, const Origin& origin) {
  return g.cluster().ctas[origin.cta_rank].warps[origin.warp].alive;
}

// Did those lanes of the warp ever signal there?
bool ever_arrived(const MbarrierObject& b, uint32_t warp, uint32_t lanes) {
  return std::ranges::any_of(
      b.arrivers, [&](const auto& a) { return a.first >> 32 == warp && (a.second.lanes & lanes) != 0; });
}

// Warps that exited at an instruction which the waiter cannot reach: they returned early.
std::vector<Origin> early_leavers(const WaitGraph& g, const Waiter& w) {
  std::vector<Origin> out;
  const Causality& c = g.ledger().causality();
  for (uint32_t warp = 0; warp < c.warps(); ++warp) {
    const Origin* exit = g.ledger().lifetime().exit_of(WarpOfCluster(warp));
    if (exit == nullptr || exit->cta_rank != w.origin.cta_rank || g.reaches(w, exit->pc)) continue;
    if (w.object == nullptr || !ever_arrived(*w.object, warp, exit->lanes)) out.push_back(*exit);
  }
  return out;
}

// Threads that exited without an arrival in this phase, when they are as many as the arrivals that are
// missing, and were to arrive: their warps' other lanes have, or every thread of the CTA is counted.
std::vector<Origin> exited_participants(const WaitGraph& g, const Waiter& w) {
  std::vector<Origin> out;
  const uint64_t threads = g.run().launch->block.count();
  uint64_t absent = 0;
  for (uint32_t warp = 0; warp < g.ledger().causality().warps(); ++warp) {
    const Origin* exit = g.ledger().lifetime().exit_of(WarpOfCluster(warp));
    if (exit == nullptr || exit->cta_rank != w.origin.cta_rank) continue;
    const uint64_t first = uint64_t{warp % g.cluster().ctas[exit->cta_rank].warps.size()} * 32;
    const uint32_t all = threads - first >= 32 ? ~0U : (1U << (threads - first)) - 1;
    const uint32_t arrived = arrived_lanes(w.object->current, *exit);
    const uint32_t gone = all & ~lanes_alive(g, *exit) & ~arrived;
    if (gone == 0 || (arrived == 0 && w.object->count != threads)) continue;
    absent += static_cast<uint64_t>(std::popcount(gone));
    out.push_back(*exit);
    out.back().lanes = gone;
  }
  if (absent != w.state.pending) out.clear();
  return out;
}

// Some lanes of a warp arrived and the rest, as many as are missing, did not: a condition at the arrival.
bool partial_arrival(const WaitGraph& g, const Waiter& w) {
  uint32_t missing = 0;
  for (const Signal& s : w.object->current.signals) {
    const auto arrived = static_cast<uint32_t>(std::popcount(s.origin.lanes));
    const auto of = static_cast<uint32_t>(std::popcount(lanes_alive(g, s.origin)));
    if (s.arrivals == arrived && arrived > 1 && arrived < of) missing += of - arrived;
  }
  return missing != 0 && missing == w.state.pending;
}

// The message, with those that have exited behind its own values.
Reason left_early(const WaitGraph& g, uint32_t i, const std::vector<Origin>& leavers, Statement message) {
  const CtaRank home = g.waiters()[i].origin.cta_rank;
  for (const Origin& o : leavers) {
    WarpLanes who{.cta = {}, .warp = o.warp, .lanes = o.lanes};
    if (o.cta_rank != home) who.cta = g.cluster().ctas[o.cta_rank].id;
    message.values.emplace_back(who);
  }
  Reason r = reason(Code::exited_arriver, Weight::orphan, i, std::move(message));
  r.missing = say<Phrase::arrivals_of_returned>();
  r.culprits = leavers;
  return r;
}

Reason no_arrival(const WaitGraph& g, uint32_t i) {
  const Waiter& w = g.waiters()[i];
  Code code = Code::missing_arrival;
  Statement help;
  if (w.object != nullptr)
    if (const auto leavers = exited_participants(g, w); !leavers.empty())
      return left_early(g, i, leavers,
                        say<Phrase::participants_exited>(w.state.pending, w.state.expected, g.object(w)));
  if (announced_alone(w)) {
    code = Code::expect_tx_without_arrival;
  } else if (deferred_places(w)) {
    code = Code::miscounted_deferred_arrival;
    help = say<Phrase::without_noinc>();
  } else if (foreign_bytes_only(w)) {
    code = Code::unexpected_multicast;
  } else if (w.object != nullptr && partial_arrival(g, w)) {
    code = Code::differing_step_counts;
    help = say<Phrase::count_lanes>();
  } else if (w.object != nullptr && w.object->number > 0 && w.object->current.signals.empty()) {
    code = Code::differing_step_counts;
  } else if (const auto leavers = early_leavers(g, w); !leavers.empty()) {
    return left_early(g, i, leavers,
                      say<Phrase::arrivers_returned>(w.state.pending, w.state.expected, g.object(w)));
  }
  if (code == Code::missing_arrival && w.object != nullptr && w.object->current.signals.empty())
    help = say<Phrase::arrive_in_phase>();
  Reason r =
      reason(code, Weight::orphan, i,
             say<Phrase::no_thread_can_arrive>(w.state.pending, std::max(w.state.expected, w.state.pending),
                                               w.object == nullptr ? 0 : w.object->number, g.object(w)));
  r.missing = say<Phrase::arrivals_at>(w.state.pending, g.object(w));
  r.help = std::move(help);
  if (w.object != nullptr)
    for (const Signal& s : w.object->current.signals) r.culprits.push_back(s.origin);
  return r;
}

// The waiter has never seen a phase here; one is complete, and it waits for the next.
Reason first_parity(const WaitGraph& g, uint32_t i) {
  const Waiter& w = g.waiters()[i];
  const bool deferred = std::ranges::any_of(w.object->last.signals, [](const Signal& s) {
    return effect_of<isa::CpAsyncMbarrierArrive>(s.origin) != nullptr;
  });
  const auto* form = effect_of<isa::Mbarrier>(w.origin);
  const bool by_state = form != nullptr && !form->parity;
  Reason r = reason(deferred   ? Code::miscounted_deferred_arrival
                    : by_state ? Code::misused_mbarrier_form
                               : Code::wrong_first_parity,
                    Weight::certain, i,
                    say<Phrase::skipped_first_phase>(g.actor(w), w.wait.value, g.object(w), w.object->number,
                                                     w.object->number - 1));
  r.missing = say<Phrase::wait_that_passes>(w.object->number - 1, 1 - w.wait.value);
  r.help = deferred ? say<Phrase::count_each_arrival_once>() : say<Phrase::consumer_begins_with_0>();
  for (const Signal& s : w.object->last.signals) r.culprits.push_back(s.origin);
  return r;
}

Reason of_mbarrier(const WaitGraph& g, uint32_t i) {
  const Waiter& w = g.waiters()[i];
  if (w.object == nullptr) return w.arrivers.empty() ? no_arrival(g, i) : Reason{};
  if (w.state.pending == 0 && w.state.tx != 0) return bytes_differ(g, i);
  const int64_t observed = w.object->users[g.ledger().causality().index(w.origin)].observed;
  if (observed >= 0 && (observed & 1) == static_cast<int64_t>(w.wait.value) &&
      w.object->number >= observed + 2)
    return same_parity_again(g, i, observed);
  if (observed == -2 && w.object->number > 0 && w.object->current.signals.empty() &&
      static_cast<int64_t>(w.wait.value) == (w.object->number & 1))
    return first_parity(g, i);
  if (const Origin* commit = commit_elsewhere(g, w)) return commit_for_one(g, i, *commit);
  if (w.object->current.arrivals() < w.object->count)
    if (const MbarrierObject* other = surplus_elsewhere(g, w)) return wrong_instance(g, i, *other);
  if (foreign_bytes_only(w) || w.arrivers.empty()) return no_arrival(g, i);
  return {};
}

// --- the other barriers ---------------------------------------------------------------------------
// One id, used in this generation by call sites that never shared one before.
bool mixes_roles(const NamedBarrierRecord& r, uint64_t generation) {
  const auto sites = [](const BarrierGeneration& g) {
    std::set<uint32_t> pcs;
    for (const BarrierArrival& a : g.arrivals) pcs.insert(a.origin.pc);
    return pcs.size();
  };
  bool mixed = false, apart = false;
  for (const BarrierGeneration& g : r.generations) {
    if (g.number == generation) mixed = sites(g) > 1;
    if (g.number < generation) apart |= sites(g) == 1;
    if (g.number < generation && sites(g) > 1) return false;
  }
  return mixed && apart;
}

// "barrier 1: 32 of 64 threads have arrived, and ..."
template <Phrase phrase>
Statement threads_arrived(const WaitGraph& g, const Waiter& w) {
  const BlockedWait b = g.blocked(w);
  return say<phrase>(b.object, *b.expected_arrivals - *b.pending_arrivals, *b.expected_arrivals);
}

Reason of_cta_barrier(const WaitGraph& g, uint32_t i) {
  const Waiter& w = g.waiters()[i];
  const auto id = static_cast<uint32_t>(w.wait.object);
  const NamedBarrierRecord& record = g.ledger().named().find(w.origin.cta_rank, id);
  const bool mixed = mixes_roles(record, w.wait.value);
  if (!w.arrivers.empty() && !mixed) return {};
  const NamedBarrier& b = g.cluster().ctas[w.origin.cta_rank].barriers[id];
  Reason r = reason(Code::missing_barrier_threads, Weight::orphan, i,
                    threads_arrived<Phrase::no_warp_can_arrive>(g, w));
  r.missing = say<Phrase::remaining_threads>();
  if (mixed) {
    r.code = Code::barrier_of_two_groups;
    r.message = say<Phrase::mixed_roles>(id);
    r.missing = say<Phrase::id_for_each_group>();
    r.help = say<Phrase::barrier_for_each_role>();
  } else if (w.origin.lanes != lanes_alive(g, w.origin)) {
    r.code = Code::barrier_by_part_of_warp;
  } else if (b.expected == 0) {
    r.code = Code::divergent_barrier;
  } else if (const auto leavers = early_leavers(g, w); !leavers.empty()) {
    return left_early(g, i, leavers, threads_arrived<Phrase::warps_returned>(g, w));
  }
  if (const BarrierGeneration* now = record.current(w.wait.value))
    for (const BarrierArrival& a : now->arrivals) r.culprits.push_back(a.origin);
  return r;
}

Reason of_cluster_barrier(const WaitGraph& g, uint32_t i) {
  const Waiter& w = g.waiters()[i];
  const BarrierGeneration* now = g.ledger().cluster_barriers().find(w.wait.value);
  const bool arrived = now != nullptr && std::ranges::any_of(now->arrivals, [&](const BarrierArrival& a) {
                         return a.origin.warp == w.origin.warp && a.origin.cta_rank == w.origin.cta_rank &&
                                (a.origin.lanes & w.origin.lanes) != 0;
                       });
  if (!arrived) {
    Reason r = reason(Code::unpaired_cluster_barrier, Weight::certain, i,
                      say<Phrase::cluster_wait_without_arrival>(g.actor(w)));
    r.missing = say<Phrase::cluster_arrival_before>();
    return r;
  }
  if (!w.arrivers.empty()) return {};
  Reason r = reason(Code::missing_cluster_arrival, Weight::orphan, i,
                    threads_arrived<Phrase::no_thread_can_arrive_at_cluster>(g, w));
  r.missing = say<Phrase::cluster_arrival_of_all>();
  return r;
}

Reason of_registers(const WaitGraph& g, uint32_t i) {
  const Waiter& w = g.waiters()[i];
  if (!w.arrivers.empty()) return {};
  const CtaState& cta = g.cluster().ctas[w.origin.cta_rank];
  uint64_t held = 0;
  const size_t mma_warps = g.run().program->mma_warps();
  Statement pool{.phrase = Phrase::registers_of_warpgroups, .values = {}};
  for (size_t warp = 0; warp < cta.warps.size(); ++warp) {
    if (warp % mma_warps == 0) pool.values.emplace_back(int64_t{cta.warps[warp].register_limit});
    held += cta.warps[warp].register_limit * 32ULL;
  }
  Reason r = reason(Code::unreleased_registers, Weight::orphan, i,
                    say<Phrase::unreleased_pool>(w.wait.value, held, cta.free_registers));
  r.missing =
      say<Phrase::dec_that_frees>(w.wait.object - std::min<uint64_t>(w.wait.object, cta.free_registers));
  r.notes.push_back(std::move(pool));
  return r;
}

// All other threads wait, so that none frees columns.
Reason of_tensor_memory(const WaitGraph& g, uint32_t i) {
  Reason r = reason(Code::unsatisfiable_tensor_allocation, Weight::orphan, i,
                    say<Phrase::alloc_waits>(g.waiters()[i].wait.value));
  r.missing = say<Phrase::dealloc_by_other>();
  return r;
}

Reason of_waiter(const WaitGraph& g, uint32_t i) {
  switch (g.waiters()[i].wait.kind) {
    case K::mbarrier:
      return of_mbarrier(g, i);
    case K::cta_barrier:
      return of_cta_barrier(g, i);
    case K::cluster_barrier:
      return of_cluster_barrier(g, i);
    case K::registers:
      return of_registers(g, i);
    case K::tensor_memory:
      return of_tensor_memory(g, i);
    default:
      return {};
  }
}

// --- cycles ---------------------------------------------------------------------------------------
// The statement, with the waits of the cycle behind its own values.
Statement with_path(Statement out, const WaitGraph& g, const std::vector<uint32_t>& cycle) {
  for (const uint32_t i : cycle) out.values.emplace_back(g.step(i));
  return out;
}

bool fresh(const Waiter& w) {
  return w.object != nullptr && w.object->number == 0 && w.wait.value == 0 &&
         w.object->current.signals.empty();
}

// In a cycle of fresh mbarriers the producer should have passed its first wait.
const Waiter* should_pass(const WaitGraph& g, const std::vector<uint32_t>& cycle) {
  const Waiter* found = nullptr;
  for (const uint32_t i : cycle) {
    const Waiter& w = g.waiters()[i];
    if (!fresh(w)) return nullptr;
    if (!g.reaches_copy(w)) continue;
    if (found != nullptr) return nullptr;
    found = &w;
  }
  return found;
}

// The producer waits for a slot; the consumer that holds the slot has seen it filled and waits for the next.
bool too_shallow(const WaitGraph& g, const std::vector<uint32_t>& cycle) {
  bool filler = false, holder = false;
  for (const uint32_t i : cycle) {
    const Waiter& w = g.waiters()[i];
    if (w.object == nullptr) return false;
    filler |= g.reaches_copy(w);
    holder |= !g.reaches_copy(w) && w.object->number > 0 &&
              w.object->users[g.ledger().causality().index(w.origin)].observed == w.object->number - 1;
  }
  return filler && holder;
}

Reason of_cycle(const WaitGraph& g, std::vector<uint32_t> cycle) {
  const auto& waiters = g.waiters();
  bool one_warp = true, named = true, aligned = false, collective = false;
  for (const uint32_t i : cycle) {
    const Waiter& w = waiters[i];
    one_warp &= w.origin.warp == waiters[cycle[0]].origin.warp &&
                w.origin.cta_rank == waiters[cycle[0]].origin.cta_rank;
    named &= w.wait.kind == K::cta_barrier;
    const bool meets = w.wait.kind == K::convergence;
    aligned |= meets && effect_of<isa::CtaBarrier>(w.origin) != nullptr;
    collective |= meets && effect_of<isa::WarpSync>(w.origin) == nullptr;
  }
  Reason r = reason(Code::wait_cycle, Weight::cycle, cycle[0],
                    with_path(say<Phrase::cycle_of_waits>(g.actor(waiters[cycle[0]])), g, cycle));
  if (named) {
    r.code = Code::missing_first_arrival;
  } else if (one_warp) {
    r.code = aligned      ? Code::barrier_by_part_of_warp
             : collective ? Code::divergent_collective
                          : Code::spin_on_own_warp;
    if (aligned)
      r.help = say<Phrase::all_lanes_at_barrier>();
    else if (!collective)
      r.help = say<Phrase::signal_before_branch>();
  } else if (const Waiter* first = should_pass(g, cycle)) {
    r.code = Code::wrong_first_parity;
    r.root = static_cast<uint32_t>(first - waiters.data());
    r.message = with_path(say<Phrase::producer_waits_first>(g.actor(*first), g.object(*first)), g, cycle);
    r.help = say<Phrase::producer_begins_with_1>();
  } else if (too_shallow(g, cycle)) {
    r.code = Code::too_few_stages;
  }
  r.missing = say<Phrase::signal_before_waits>(g.object(waiters[r.root]));
  r.cycle = std::move(cycle);
  return r;
}

// --- spins ----------------------------------------------------------------------------------------
Reason of_spin(const WaitGraph& g, uint32_t i, bool more_clusters) {
  const Waiter& w = g.waiters()[i];
  const bool siblings = std::ranges::any_of(g.waiters(), [&](const Waiter& v) {
    return &v != &w && !v.spins && v.origin.warp == w.origin.warp && v.origin.cta_rank == w.origin.cta_rank &&
           g.may_end(v, w);
  });
  const Object where = g.object(w);
  Reason r;
  if (!w.looks) {
    r = reason(Code::none, Weight::residency, i, say<Phrase::loop_without_look>(g.actor(w)));
    r.missing = say<Phrase::look_in_loop>();
    r.help = say<Phrase::look_by_strong_access>();
    return r;
  }
  if (w.polled.of_the_host) {
    r = reason(Code::none, Weight::spin, i, {});
    r.waits_for_host = true;
  } else if (siblings) {
    r = reason(Code::spin_on_own_warp, Weight::spin, i, say<Phrase::spin_beside_lanes>(g.actor(w), where));
    r.help = say<Phrase::signal_before_spin>();
  } else if (more_clusters && !w.polled.shared) {
    r = reason(Code::spin_on_absent_cta, Weight::residency, i,
               say<Phrase::spin_before_room>(g.actor(w), where));
    r.help = say<Phrase::fewer_ctas>();
  } else {
    r = reason(Code::none, Weight::spin, i, say<Phrase::spin_of_all>(g.actor(w), where));
    r.help = say<Phrase::write_by_other>();
  }
  r.missing = say<Phrase::write_that_ends_spin>();
  return r;
}

}  // namespace

Reason find_reason(const WaitGraph& graph, bool more_clusters) {
  Reason best;
  const auto take = [&](Reason r) {
    if (r.weight > best.weight) best = std::move(r);
  };
  for (uint32_t i = 0; i < graph.waiters().size(); ++i) take(of_waiter(graph, i));
  if (best.weight >= Weight::orphan) return best;
  std::vector<uint32_t> cycle = graph.shortest_cycle();
  if (!cycle.empty()) take(of_cycle(graph, std::move(cycle)));
  for (uint32_t i = 0; i < graph.waiters().size(); ++i)
    if (graph.waiters()[i].spins) take(of_spin(graph, i, more_clusters));
  return best;
}

}  // namespace palladion::sim::check
