#include "sim/check/deadlock/deadlock_graph.h"

#include <algorithm>
#include <cstring>
#include <deque>
#include <functional>
#include <set>

#include "sim/program/reach.h"
#include "sim/schedule/blocked.h"

namespace palladion::sim::check {
namespace {

using K = Wait::Kind;

const isa::Footprint& at_pc(const Program& p, Pc pc) { return p.footprints[pc]; }

bool has_arrived(const MbarrierObject* b, uint32_t warp) {
  if (b == nullptr) return false;
  const auto at = b->arrivers.lower_bound(uint64_t{warp} << 32);
  return at != b->arrivers.end() && at->first >> 32 == warp;
}

// Has it arrived in the phase that is open?
bool arrives_now(const MbarrierObject* b, const Origin& origin) {
  return b != nullptr && std::ranges::any_of(b->current.signals, [&](const Signal& s) {
           return s.arrivals != 0 && s.origin.warp == origin.warp && s.origin.cta_rank == origin.cta_rank &&
                  (s.origin.lanes & origin.lanes) != 0;
         });
}

bool same_warp(const Waiter& a, const Waiter& b) {
  return a.origin.warp == b.origin.warp && a.origin.cta_rank == b.origin.cta_rank;
}

// Whether the loop has a strong access or something that synchronises: a plain load is moved out by
// compilers.
bool loop_looks(const Program& p, Pc pc) {
  const std::vector<bool> loop = loop_through(p, pc);
  for (uint32_t at = 0; at < loop.size(); ++at) {
    const isa::Footprint& f = at_pc(p, Pc(at));
    if (loop[at] && (f.order != isa::Order::weak || !f.at(isa::Sync::Object::none))) return true;
  }
  return std::ranges::none_of(loop, std::identity{});
}

}  // namespace

WaitGraph::WaitGraph(const RunView& run, const Ledger& ledger) : run_(run), ledger_(ledger) {
  for (const CtaState& cta : cluster().ctas)
    for (const WarpState& warp : cta.warps)
      for (const LaneGroup& g : warp.groups)
        if (g.mask != 0) add(cta, warp, g);
  for (Waiter& w : waiters_) connect(w);
}

void WaitGraph::add(const CtaState& cta, const WarpState& warp, const LaneGroup& g) {
  const MicroOp& op = run_.program->code[g.pc];
  Waiter w;
  w.origin = {.cta_rank = CtaRank(cta.rank),
              .warp = WarpOfCta(warp.id),
              .lanes = g.mask,
              .pc = g.pc,
              .instruction = op.instruction,
              .effect = op.effect};
  w.wait = g.wait;
  if (w.wait.kind == K::none || w.wait.kind == K::poll || w.wait.kind == K::quantum_boundary)
    find_spin(w, warp);
  if (!reach_.contains(w.origin.pc)) {
    std::vector<Pc> starts = g.calls;
    starts.push_back(g.pc);
    reach_.emplace(w.origin.pc, reachable(*run_.program, starts));
  }
  read_object(w);
  waiters_.push_back(std::move(w));
}

// Lanes that spin test an mbarrier, or memory: the last test that failed decides which.
void WaitGraph::find_spin(Waiter& w, const WarpState& warp) const {
  w.spins = true;
  const uint32_t index = ledger_.causality().index(w.origin.cta_rank, WarpOfCta(warp.id));
  const std::vector<bool> ahead = reachable(*run_.program, {w.origin.pc});
  for (const auto& [address, b] : ledger_.mbarriers().objects()) {
    const LastWait& last = b.users[index].wait;
    if (!b.alive || !last.any || last.succeeded || !ahead[last.pc]) continue;
    w.spins = false;
    w.wait = {.kind = K::mbarrier, .object = address, .value = last.parity ? 1U : 0U};
  }
  if (!w.spins) return;
  const std::optional<Pc> read = polling_read(*run_.program, w.origin.pc, ahead);
  if (!read) {
    w.looks = loop_looks(*run_.program, w.origin.pc);
    return;
  }
  w.origin.pc = *read;
  w.polled = polled_value(*run_.program, *read, *run_.memory, cluster(), cluster().ctas[w.origin.cta_rank],
                          warp, w.origin.lanes);
  w.origin.instruction = run_.program->code[w.origin.pc].instruction;
  w.origin.effect = run_.program->code[w.origin.pc].effect;
}

void WaitGraph::read_object(Waiter& w) const {
  if (w.wait.kind != K::mbarrier) return;
  const auto address = static_cast<uint32_t>(w.wait.object);
  w.object = ledger_.mbarriers().find(SharedAddress(address));
  uint64_t word = 0;
  std::memcpy(&word, cluster().ctas[address >> cta_rank_shift].shared.data() + (address & shared_offset_mask),
              8);
  w.state = MbarrierState::decode(word);
}

void WaitGraph::connect(Waiter& w) {
  switch (w.wait.kind) {
    case K::mbarrier:
      return connect_mbarrier(w);
    case K::cta_barrier:
      return connect_barrier(w, false);
    case K::cluster_barrier:
      return connect_barrier(w, true);
    case K::convergence:
      return connect_warp(w);
    case K::wgmma_group:
      return connect_warpgroup(w);
    case K::registers:
      return connect_registers(w);
    default:
      return;
  }
}

template <class Match>
bool WaitGraph::reaches_any(const Waiter& w, Match match) const {
  const std::vector<bool>& reach = reach_.at(w.origin.pc);
  for (Pc pc{0}; pc < reach.size(); ++pc)
    if (reach[pc] && match(pc)) return true;
  return false;
}

bool WaitGraph::reaches_copy(const Waiter& w) const {
  return reaches_any(w, [&](Pc pc) {
    const isa::Footprint& f = at_pc(*run_.program, pc);
    return f.sync.expects_bytes || f.issues(isa::AsyncFamily::bulk) || f.issues(isa::AsyncFamily::tensor);
  });
}

bool WaitGraph::may_end(const Waiter& other, const Waiter& spin) const {
  const isa::MemoryUse* const read = at_pc(*run_.program, spin.origin.pc).read();
  const std::vector<bool> ahead = reachable(*run_.program, {other.origin.pc}, spin.origin.pc);
  for (Pc pc{0}; pc < ahead.size(); ++pc) {
    if (!ahead[pc]) continue;
    const isa::MemoryUse* const written = at_pc(*run_.program, pc).written();
    if (written == nullptr || (read != nullptr && !may_share(spin.origin.pc, pc))) continue;
    if (read == nullptr || read->space == isa::Space::generic || written->space == isa::Space::generic)
      return true;
    if (is_shared(read->space) == is_shared(written->space) &&
        (written->bytes == 0 || written->bytes == read->bytes))
      return true;
  }
  return false;
}

bool WaitGraph::may_share(Pc a, Pc b) const {
  if (!arrays_) arrays_.emplace(*run_.program);
  return arrays_->may_share(a, b);
}

// Instructions that have signalled at this object, or its twins in other CTAs; when there are none,
// instructions that have signalled nowhere.
std::vector<Pc> WaitGraph::signal_pcs(SharedAddress address) const {
  std::set<Pc> here, anywhere;
  for (const auto& [other, b] : ledger_.mbarriers().objects()) {
    for (const auto& [key, origin] : b.arrivers) {
      anywhere.insert(origin.pc);
      if ((other & shared_offset_mask) == (address & shared_offset_mask)) here.insert(origin.pc);
    }
  }
  if (!here.empty()) return {here.begin(), here.end()};
  std::vector<Pc> unknown;
  for (Pc pc{0}; pc < run_.program->code.size(); ++pc)
    if (at_pc(*run_.program, pc).signals_mbarrier() && !anywhere.contains(pc)) unknown.push_back(pc);
  return unknown;
}

void WaitGraph::connect_mbarrier(Waiter& w) {
  if (w.state.pending == 0) return;  // only bytes are missing, no arrival
  const SharedAddress address(w.wait.object);
  const std::vector<Pc> pcs = signal_pcs(address);
  bool remote = w.object == nullptr || w.object->arrivers.empty();
  if (!remote)
    for (const auto& [key, origin] : w.object->arrivers)
      remote |= origin.cta_rank != address >> cta_rank_shift;
  for (uint32_t i = 0; i < waiters_.size(); ++i) {
    const Waiter& v = waiters_[i];
    if (!remote && v.origin.cta_rank != address >> cta_rank_shift) continue;
    // A warp that never arrived there and waits for the same phase is no arriver: its remaining code only
    // looks as if it arrived.
    const uint32_t warp = ledger_.causality().index(v.origin);
    const bool waits_too = v.wait.kind == K::mbarrier && v.wait.object == w.wait.object;
    if ((waits_too && !has_arrived(w.object, warp)) || arrives_now(w.object, v.origin)) continue;
    if (std::ranges::any_of(pcs, [&](Pc pc) { return reaches(v, pc); })) w.arrivers.push_back(i);
  }
}

void WaitGraph::connect_barrier(Waiter& w, bool of_cluster) {
  const BarrierGeneration* g = of_cluster ? ledger_.cluster_barriers().find(w.wait.value)
                                          : ledger_.named()
                                                .find(w.origin.cta_rank, static_cast<uint32_t>(w.wait.object))
                                                .current(w.wait.value);
  const auto arrives = [&](Pc pc) {
    const isa::Sync& s = at_pc(*run_.program, pc).sync;
    if (of_cluster) return s.object == isa::Sync::Object::cluster_barrier && s.arrives;
    if (s.object != isa::Sync::Object::cta_barrier) return false;
    if (s.operand < 0) return w.wait.object == 0;
    const DecodedOperand& id = run_.program->code[pc].operands[s.operand];
    return !id.slot.constant || static_cast<uint64_t>(id.offset) == w.wait.object;
  };
  for (uint32_t i = 0; i < waiters_.size(); ++i) {
    const Waiter& v = waiters_[i];
    if (!of_cluster && v.origin.cta_rank != w.origin.cta_rank) continue;
    bool arrived = false;
    if (g != nullptr)
      for (const BarrierArrival& a : g->arrivals)
        arrived |= a.origin.warp == v.origin.warp && a.origin.cta_rank == v.origin.cta_rank &&
                   (a.origin.lanes & v.origin.lanes) != 0;
    if (!arrived && reaches_any(v, arrives)) w.arrivers.push_back(i);
  }
}

void WaitGraph::connect_warp(Waiter& w) {
  for (uint32_t i = 0; i < waiters_.size(); ++i)
    if (same_warp(w, waiters_[i]) && (waiters_[i].origin.lanes & w.wait.object) != 0) w.arrivers.push_back(i);
}

void WaitGraph::connect_warpgroup(Waiter& w) {
  const CtaState& cta = cluster().ctas[w.origin.cta_rank];
  const uint32_t mma_warps = run_.program->mma_warps(), group = w.origin.warp / mma_warps;
  if (group >= cta.warpgroups.size()) return;
  const auto& issued = cta.warpgroups[group].issued;
  const uint64_t most = *std::ranges::max_element(issued);
  for (uint32_t i = 0; i < waiters_.size(); ++i) {
    const Waiter& v = waiters_[i];
    if (v.origin.cta_rank == w.origin.cta_rank && v.origin.warp / mma_warps == group &&
        issued[v.origin.warp % mma_warps] < most)
      w.arrivers.push_back(i);
  }
}

void WaitGraph::connect_registers(Waiter& w) {
  const auto gives_back = [&](Pc pc) {
    const isa::Footprint& f = at_pc(*run_.program, pc);
    return f.at(isa::Sync::Object::registers) && f.sync.arrives;
  };
  for (uint32_t i = 0; i < waiters_.size(); ++i)
    if (waiters_[i].origin.cta_rank == w.origin.cta_rank && !same_warp(waiters_[i], w) &&
        reaches_any(waiters_[i], gives_back))
      w.arrivers.push_back(i);
}

std::vector<uint32_t> WaitGraph::shortest_cycle() const {
  std::vector<uint32_t> best;
  const auto n = static_cast<uint32_t>(waiters_.size());
  for (uint32_t start = 0; start < n; ++start) {
    std::vector<uint32_t> from(n, isa::no_id);
    std::deque<uint32_t> work{start};
    bool closed = false;
    while (!work.empty() && !closed) {
      const uint32_t at = work.front();
      work.pop_front();
      for (const uint32_t next : waiters_[at].arrivers) {
        closed = next == start;
        if (closed) {
          from[start] = at;
          break;
        }
        if (from[next] != isa::no_id) continue;
        from[next] = at;
        work.push_back(next);
      }
    }
    if (!closed) continue;
    std::vector<uint32_t> cycle{start};
    for (uint32_t at = from[start]; at != start; at = from[at]) cycle.push_back(at);
    std::reverse(cycle.begin() + 1, cycle.end());
    if (best.empty() || cycle.size() < best.size()) best = std::move(cycle);
    if (best.size() == 1) break;
  }
  return best;
}

// --- values ---------------------------------------------------------------------------------------
WarpLanes WaitGraph::actor(const Waiter& w) const {
  const CtaState& cta = cluster().ctas[w.origin.cta_rank];
  WarpLanes out{.cta = {}, .warp = w.origin.warp, .lanes = w.origin.lanes};
  if (w.origin.lanes == cta.warps[w.origin.warp].alive) out.lanes = 0;
  if (cluster().ctas.size() > 1) out.cta = cta.id;
  return out;
}

BlockedWait WaitGraph::blocked(const Waiter& w) const {
  BlockedWait b = blocked_wait(cluster(), cluster().ctas[w.origin.cta_rank], w.wait);
  b.examined = !w.spins;
  if (w.wait.kind == K::mbarrier) b.object = mbarrier_object(run_, cluster(), SharedAddress(w.wait.object));
  if (b.kind == BlockedWait::Kind::memory) {
    b.object = w.polled.bytes != 0 && w.polled.shared
                   ? shared_object(run_, cluster(), SharedAddress(w.polled.address), w.polled.bytes)
                   : w.polled.object;
    b.value = w.polled.value;
  }
  if (w.object == nullptr) return b;
  b.phase = w.object->number;
  const int64_t expected = w.object->current.expected(), delivered = w.object->current.delivered();
  if (expected != 0 || delivered != 0) b.expected_bytes = expected, b.delivered_bytes = delivered;
  return b;
}

}  // namespace palladion::sim::check
