// Loads, stores and atomics: of the SM's own shared memory, of GMEM, of the shared memory of other CTAs.
#include <algorithm>
#include <bit>

#include "sim/clock/group/group.h"

namespace palladion::sim::hardware {
namespace {

uint32_t rank_at(uint64_t address) { return static_cast<uint32_t>(address) >> cta_rank_shift; }
uint32_t words_of(const InstructionCost& cost) { return std::max(1U, cost.bytes / 4); }

}  // namespace

// ldmatrix and stmatrix: each address is a row of 16 bytes, eight make a pass.
uint32_t SmGroup::passes_of(const InstructionCost& cost) const {
  const uint32_t passes = cost.serialised ? atomic_passes(access_.addresses, access_.lanes, cost.bytes)
                                          : shared_passes(access_.addresses, access_.lanes, cost.bytes);
  return p_->bank_conflicts ? passes : std::min(passes, ideal_passes(access_.lanes, cost.bytes));
}

void SmGroup::access_shared(Warp& w, const InstructionCost& cost, uint64_t now) {
  if (access_.empty()) return;
  Sm& unit = sm_of(w);
  const auto time = static_cast<double>(now);
  const uint32_t passes = passes_of(cost), ideal = ideal_passes(access_.lanes, cost.bytes),
                 cycles = passes * cost.port;
  bank_conflicts_ += passes > ideal ? passes - ideal : 0;
  if (unit.lsu.stores_taken() > time) unit.network.queue(unit.lsu.stores_taken());
  const double issued = unit.lsu.take_behind_stores(time, p_->smem_lsu_interval);
  const double start = unit.smem.take(issued, cycles, unit.tensor);
  unit.lsu.hold(unit.smem.opens());  // instructions queue in front of the port
  unit.book(Resource::smem, cycles);
  // Each further pass takes two cycles to come back, each further word of a lane one.
  const uint32_t wide = !cost.rows && cost.bytes > 4 ? cost.bytes / 4 - 1 : 0;
  const double beside = unit.tensor.is_reading(start) ? p_->smem_beside_wgmma : 0;
  if (cost.path == Path::shared_load || cost.path == Path::cluster_load)
    w.registers.set_ready(cost,
                          static_cast<uint64_t>(start + beside) + cost.latency + 2 * (passes - 1) + wide);
  // One sub-core alone gets half of the port; the words of a store take two cycles more to get there.
  const uint32_t words = cost.path == Path::shared_store && cost.bytes > 4 ? 2 : 0;
  sub_core_of(w).pipes.take(Resource::smem, time,
                            std::max<double>({cost.interval, 2.0 * cycles, 2.0 * ideal + words}));
  if (cost.loops) spin_in_shared(w, cost, now);
  if (gathered_ != 0 && cost.scattering != 0) {
    w.next = static_cast<uint64_t>(start) + gathered_ + cost.latency + cost.scattering;
    w.registers.set_ready(cost, w.next);
  }
}

// A loop around a compare-and-swap.
void SmGroup::spin_in_shared(Warp& w, const InstructionCost& cost, uint64_t now) {
  const double round = cost.latency + 2 * (shared_passes(access_.addresses, access_.lanes, cost.bytes) - 1);
  const uint64_t cta = uint64_t{w.cluster->index} << 40 ^ uint64_t { w.cta->rank } << 36;
  const auto time = static_cast<double>(now);
  const double end = sm_of(w).cas_loops.done(cta, access_.addresses, access_.lanes, round, time);
  w.wait_until(Stall::short_scoreboard, static_cast<uint64_t>(end));
  instructions_ += static_cast<uint64_t>((end - time) / round - 0.5) * cost.slots;
  w.registers.set_ready(cost, w.next);
}

uint32_t SmGroup::add_request(Request::Kind kind, uint32_t sm, double time, double step, uint32_t first) {
  batch.requests.push_back({.kind = kind,
                            .time = static_cast<uint64_t>(time),
                            .step = step,
                            .first = first,
                            .lines = static_cast<uint32_t>(batch.lines.size()) - first,
                            .sm = sms_[sm].id});
  return static_cast<uint32_t>(batch.requests.size() - 1);
}

void SmGroup::access_global(Warp& w, const InstructionCost& cost, uint64_t now) {
  if (access_.empty()) return;
  const isa::Space space = space_of(cost.space, access_.first());
  if (is_shared(space)) return access_shared(w, cost, now);
  Sm& unit = sm_of(w);
  const auto time = static_cast<double>(now);
  if (space == isa::Space::local) {
    const double start = unit.lsu.take_behind_stores(time, p_->smem_lsu_interval);
    return w.registers.set_ready(cost, static_cast<uint64_t>(start + p_->l1_hit_latency));
  }
  const auto first = static_cast<uint32_t>(batch.lines.size());
  const uint32_t count = touched_lines(access_.addresses, access_.lanes, cost.bytes, batch.lines);
  const double start = unit.lsu.take_behind_stores(time, p_->smem_lsu_interval * count);
  unit.fences.accesses_gmem();
  // One memory instruction of a sub-core after the other.
  sub_core_of(w).pipes.take(Resource::smem, time, cost.interval);
  if (cost.path != Path::global_store) return load(w, cost, start, first);
  store(unit, false, first, start);
  for (uint32_t i = first; i < batch.lines.size(); ++i) unit.l1.invalidate(batch.lines[i]);
  writes_.push_back(
      {.request = add_request(Request::Kind::write, w.sm, start, p_->smem_lsu_interval, first), .sm = w.sm});
}

// Of lines from `first`, which L1 may have, or have asked for.
void SmGroup::load(Warp& w, const InstructionCost& cost, double start, uint32_t first) {
  Sm& unit = sm_of(w);
  const auto next = static_cast<uint32_t>(batch.requests.size());
  const L1::Served found = unit.l1.load(batch.lines, first, next, start, cost.past_l1);
  unit.book(Resource::l1, found.cycles);
  const bool all = batch.lines.size() == first;
  const auto ready = static_cast<uint64_t>(found.ready);
  if (all && found.also == no_request) {
    w.registers.set_ready(cost, ready);
  } else {
    const uint32_t request =
        all ? found.also : add_request(Request::Kind::read, w.sm, start, p_->smem_lsu_interval, first);
    const auto index = static_cast<uint32_t>(&w - warps_.data());
    w.registers.set_unanswered(
        cost, answers_.wait({.request = request, .also = found.also, .warp = index, .not_before = ready}), 0);
  }
  w.registers.share_scoreboard(cost, w.since, answers_);
}

// Stores to lines from `first` are on their way. What waits for its way holds up those behind it.
void SmGroup::store(Sm& unit, bool atomic, uint32_t first, double start) {
  const double left = unit.stores.take(std::span(batch.lines).subspan(first), atomic, start);
  unit.lsu.hold(unit.stores.holds_until());
  unit.fences.stored(static_cast<uint64_t>(left + p_->l2_latency));
}

// Of each line from `first`: how many lanes of an atomic want the same word.
void SmGroup::count_alike(uint32_t first, uint32_t lanes) {
  for (uint32_t i = first; i < batch.lines.size(); ++i) {
    uint32_t mine = 0;
    for (uint32_t m = lanes; m != 0; m &= m - 1)
      if (access_.addresses[std::countr_zero(m)] / line_bytes == batch.lines[i].line) mine |= m & (0 - m);
    batch.lines[i].alike = static_cast<uint8_t>(most_alike(access_.addresses, mine));
  }
}

// A strong access of GMEM goes to L2; it is performed here, in the order of its time over all groups.
void SmGroup::perform(const StrongAccess& strong) {
  Warp& w = warps_[strong.warp];
  if (w.cluster == nullptr || w.cluster->faulted) return;
  auto& groups = w.warp->groups;
  const auto g = std::ranges::find_if(
      groups, [](const LaneGroup& l) { return l.wait.kind == Wait::Kind::quantum_boundary; });
  if (g == groups.end()) return;
  const uint32_t pc = g->pc;
  const InstructionCost& cost = (*costs_)[pc];
  Exec x = exec(w);
  x.group = static_cast<uint32_t>(g - groups.begin());
  take_addresses(x, pc, g->mask);
  const uint32_t lanes = access_.lanes;
  x.at_boundary = true;
  w.cluster->now = strong.time;
  run_warp(x, 1);
  if (w.cluster->faulted) return retire(w.cluster_number, strong.time);
  w.state = Warp::State::queued;
  w.next = strong.issued + cost.slots + gathered_;
  events_.add(w.next, Event::Kind::warp, strong.warp);
  if (lanes == 0) return;
  Sm& unit = sm_of(w);
  unit.fences.accesses_gmem();
  if (cost.acquires) unit.l1.drop();
  const auto first = static_cast<uint32_t>(batch.lines.size());
  const uint32_t count = touched_lines(access_.addresses, lanes, cost.bytes, batch.lines);
  const double start = unit.lsu.take(static_cast<double>(strong.issued), p_->smem_lsu_interval * count);
  const bool atomic = cost.path == Path::global_atomic, loads = cost.path == Path::global_load;
  if (atomic) count_alike(first, lanes);
  if (!loads) store(unit, atomic, first, start);
  const auto kind = atomic ? Request::Kind::atomic : loads ? Request::Kind::read : Request::Kind::write;
  const uint32_t request = add_request(kind, w.sm, start, p_->smem_lsu_interval, first);
  if (cost.writes == 0) {
    writes_.push_back({.request = request, .sm = w.sm});
    return;
  }
  const uint32_t later = gathered_ != 0 ? gathered_ + cost.scattering : 0;
  w.registers.set_unanswered(cost, answers_.wait({.request = request, .warp = strong.warp}), later);
  if (later != 0) w.registers.drain_answers();
}

// Through the cluster's network, but for the SM's own shared memory.
void SmGroup::access_cluster(Warp& w, const InstructionCost& cost, uint64_t now) {
  if (access_.empty()) return;
  Sm& unit = sm_of(w);
  const uint32_t rank = rank_at(access_.first()), words = words_of(cost);
  const bool loads = cost.path == Path::cluster_load && !cost.atomic;
  const auto time = static_cast<double>(now);
  if (rank == w.cta->rank) {
    access_shared(w, cost, now);
    if (!loads) unit.lsu.extend(1);  // the upper half of the addresses
  }
  if (!loads) sub_core_of(w).pipes.hold(Resource::smem, time + cost.interval + 2.0 * (words - 1));
  if (rank == w.cta->rank) return;
  Sm& peer = sms_[rank];
  if (cost.path == Path::cluster_store)
    return unit.network.ends(store_to(unit, peer, cost, now) + p_->dsm_store_done);
  unit.lsu.take_behind_stores(time, loads ? words : words + 1);
  const Packets t = packets_of(access_.addresses, access_.lanes, cost.bytes);
  const uint32_t passes = shared_passes(access_.addresses, access_.lanes, cost.bytes);
  const uint32_t request = loads ? t.lines : t.atomic;
  const double asked = unit.network.send(peer.network, time, request);
  const double back = std::max(asked, peer.network.send(unit.network, time, t.sectors));
  constexpr double packet_bytes = 32;
  const double first = static_cast<double>(request) / t.lines * packet_bytes / p_->dsm_bytes_per_cycle;
  const double latency = p_->dsm_latency + first + (loads ? 0 : p_->dsm_atomic) + (passes - 1) + (words - 1);
  w.registers.set_ready(cost, static_cast<uint64_t>(back + latency));
  unit.network.ends(back + latency - cost.latency);
}

// A store waits in a queue until the network takes it; what the load-store unit is asked for after it waits
// behind it, and warps when the queue is full. Returns when its last packet has come through.
double SmGroup::store_to(Sm& unit, Sm& peer, const InstructionCost& cost, uint64_t now) {
  const auto time = static_cast<double>(now);
  const double leaves = std::max(unit.lsu.take(time, 1 + words_of(cost)), unit.network.opens());
  unit.lsu.store_waits(leaves);
  unit.network.queue_store(leaves, cost.bytes);
  const Packets t = packets_of(access_.addresses, access_.lanes, cost.bytes);
  return unit.network.write(peer.network, time, cost.atomic ? t.atomic : t.written);
}

// At an mbarrier that is named by its place in the cluster.
void SmGroup::arrive_remote(Warp& w, uint64_t now) {
  if (access_.empty()) return;
  Sm& unit = sm_of(w);
  const double start = unit.lsu.take(static_cast<double>(now), p_->mbarrier_remote_interval);
  const auto mbarrier = static_cast<uint32_t>(access_.first());
  if (w.last_mbarrier == mbarrier)  // its address is at hand
    w.arrive_free = now + static_cast<uint64_t>(p_->mbarrier_remote_again);
  w.last_mbarrier = mbarrier;
  if (rank_at(mbarrier) == w.cta->rank) return;
  const uint64_t known = now + static_cast<uint64_t>(p_->dsm_arrive_done);
  unit.fences.arrived(known);
  w.last_store = std::max(w.last_store, known);
  remote_arrivals_.add(w.cluster_number, mbarrier, static_cast<uint64_t>(start + p_->mbarrier_remote));
}

// Cycles from now until a warp goes on that waits for an mbarrier of its CTA to which arrivals are on the
// way.
uint64_t SmGroup::remote_delay(const Warp& w, uint64_t mbarrier, uint64_t now) const {
  const auto address = (static_cast<uint32_t>(mbarrier) & shared_offset_mask) | w.cta->rank << cta_rank_shift;
  const uint64_t there = remote_arrivals_.arrives(w.cluster_number, address, now);
  return there == 0 ? 0 : there - now + static_cast<uint64_t>(p_->mbarrier_wake);
}

}  // namespace palladion::sim::hardware
