#include "sim/clock/sm/memory_pipe.h"

#include <algorithm>
#include <bit>

namespace palladion::sim::hardware {
namespace {

uint32_t words_of(const InstructionCost& cost) { return std::max(1U, cost.bytes / 4); }

// Of each line: how many lanes of an atomic want the same word.
void count_alike(std::span<LineAccess> lines, const LaneAddresses& access) {
  for (LineAccess& line : lines) {
    uint32_t mine = 0;
    for (uint32_t m = access.lanes; m != 0; m &= m - 1)
      if (access.addresses[std::countr_zero(m)] / line_bytes == line.line) mine |= m & (0 - m);
    line.alike = static_cast<uint8_t>(most_alike(access.addresses, mine));
  }
}

}  // namespace

MemoryPipe::MemoryPipe(const isa::ClockParameters& p, Cycles fence_interval, uint64_t l1_bytes)
    : p_(&p),
      lsu_(p),
      stores_(p),
      smem_(p),
      cas_loops_(p),
      l1_(p, l1_bytes),
      network_(p),
      fences_(p, fence_interval) {}

void MemoryPipe::hold_up(const InstructionCost& cost, Opening& opening) const {
  const bool shared = cost.path == Path::shared_load || cost.path == Path::shared_store;
  if (const Cycles opens = lsu_.opens(time_of(opening.at)); opens > 0)
    opening.free = cycle_of(opens), opening.why = shared ? Stall::mio_throttle : Stall::lg_throttle;
  if (cost.path == Path::cluster_store || cost.path == Path::cluster_load || cost.path == Path::async)
    opening.wait_for(network_.store_opens(), Stall::lg_throttle);
}

// ldmatrix and stmatrix: each address is a row of 16 bytes, eight make a pass.
uint32_t MemoryPipe::passes_of(const InstructionCost& cost, const LaneAddresses& access) const {
  const uint32_t passes = cost.serialised ? atomic_passes(access.addresses, access.lanes, cost.bytes)
                                          : shared_passes(access.addresses, access.lanes, cost.bytes);
  return p_->bank_conflicts ? passes : std::min(passes, ideal_passes(access.lanes, cost.bytes));
}

void MemoryPipe::shared(const MemoryInstruction& i) {
  const InstructionCost& cost = i.cost;
  const Cycles time = time_of(i.now);
  const uint32_t passes = passes_of(cost, i.access), ideal = ideal_passes(i.access.lanes, cost.bytes),
                 cycles = passes * cost.port;
  i.usage.bank_conflicts += passes > ideal ? passes - ideal : 0;
  if (lsu_.stores_taken() > time) network_.queue(lsu_.stores_taken());
  const Cycles issued = lsu_.take_behind_stores(time, p_->smem_lsu_interval);
  const Cycles start = smem_.take(issued, cycles, i.tensor);
  lsu_.hold(smem_.opens());  // instructions queue in front of the port
  i.usage.book(Resource::smem, cycles);
  // Each further pass takes two cycles to come back, each further word of a lane one.
  const uint32_t wide = !cost.rows && cost.bytes > 4 ? cost.bytes / 4 - 1 : 0;
  const Cycles beside = i.tensor.is_reading(start) ? p_->smem_beside_wgmma : 0;
  WarpRegisters& registers = i.warp.registers;
  if (cost.path == Path::shared_load || cost.path == Path::cluster_load)
    registers.set_ready(cost, cycle_of(start + beside) + cost.latency + 2 * (passes - 1) + wide);
  // One sub-core alone gets half of the port; the words of a store take two cycles more to get there.
  const uint32_t words = cost.path == Path::shared_store && cost.bytes > 4 ? 2 : 0;
  i.pipes.take(Resource::smem, time, std::max<Cycles>({cost.interval, 2.0 * cycles, 2.0 * ideal + words}));
  if (cost.loops) spin(i);
  if (i.access.gathered != 0 && cost.scattering != 0) {
    i.warp.next = cycle_of(start) + i.access.gathered + cost.latency + cost.scattering;
    registers.set_ready(cost, i.warp.next);
  }
}

// A loop around a compare-and-swap.
void MemoryPipe::spin(const MemoryInstruction& i) {
  const LaneAddresses& a = i.access;
  const Cycles round = i.cost.latency + 2 * (shared_passes(a.addresses, a.lanes, i.cost.bytes) - 1);
  const Cycles time = time_of(i.now);
  const uint64_t cta = uint64_t{i.warp.cluster_number} << 40;  // one of each cluster is on the SM
  const Cycles end = cas_loops_.done(cta, a.addresses, a.lanes, round, time);
  i.warp.wait_until(Stall::short_scoreboard, cycle_of(end));
  i.usage.instructions += static_cast<uint64_t>((end - time) / round - 0.5) * i.cost.slots;
  i.warp.registers.set_ready(i.cost, i.warp.next);
}

void MemoryPipe::global(const MemoryInstruction& i, Requests& requests) {
  const isa::Space space = space_of(i.cost.space, i.access.first());
  if (is_shared(space)) return shared(i);
  const Cycles time = time_of(i.now);
  if (space == isa::Space::local) {
    const Cycles start = lsu_.take_behind_stores(time, p_->smem_lsu_interval);
    return i.warp.registers.set_ready(i.cost, cycle_of(start + p_->l1_hit_latency));
  }
  const uint32_t first = requests.next_line();
  const uint32_t count =
      touched_lines(i.access.addresses, i.access.lanes, i.cost.bytes, requests.batch.lines);
  const Cycles start = lsu_.take_behind_stores(time, p_->smem_lsu_interval * count);
  fences_.accesses_gmem();
  // One memory instruction of a sub-core after the other.
  i.pipes.take(Resource::smem, time, i.cost.interval);
  if (i.cost.path != Path::global_store) return load(i, start, first, requests);
  store(requests.lines_from(first), false, start);
  for (const LineAccess& line : requests.lines_from(first)) l1_.invalidate(line);
  const uint32_t request = requests.add(Request::Kind::write, i.warp.sm, start, p_->smem_lsu_interval, first);
  requests.writes.push_back({.request = request, .sm = i.warp.sm});
}

// Of lines from `first`, which L1 may have, or have asked for.
void MemoryPipe::load(const MemoryInstruction& i, Cycles start, uint32_t first, Requests& requests) {
  const auto next = static_cast<uint32_t>(requests.batch.requests.size());
  const L1::Served found = l1_.load(requests.batch.lines, first, next, start, i.cost.past_l1);
  i.usage.book(Resource::l1, found.cycles);
  const bool all = requests.next_line() == first;
  const Cycle ready = cycle_of(found.ready);
  WarpRegisters& registers = i.warp.registers;
  if (all && found.also == no_request) {
    registers.set_ready(i.cost, ready);
  } else {
    const uint32_t request =
        all ? found.also : requests.add(Request::Kind::read, i.warp.sm, start, p_->smem_lsu_interval, first);
    registers.set_unanswered(
        i.cost,
        requests.answers.wait(
            {.request = request, .also = found.also, .warp = i.warp.index, .not_before = ready}),
        0);
  }
  registers.share_scoreboard(i.cost, i.warp.since, requests.answers);
}

// Stores to these lines are issued. A store that has no room yet blocks those behind it.
void MemoryPipe::store(std::span<const LineAccess> lines, bool atomic, Cycles start) {
  const Cycles left = stores_.take(lines, atomic, start);
  lsu_.hold(stores_.holds_until());
  fences_.stored(cycle_of(left + p_->l2_latency));
}

void MemoryPipe::strong(const MemoryInstruction& i, Requests& requests) {
  const InstructionCost& cost = i.cost;
  Warp& w = i.warp;
  fences_.accesses_gmem();
  if (cost.acquires) acquire();
  const uint32_t first = requests.next_line();
  const uint32_t count = touched_lines(i.access.addresses, i.access.lanes, cost.bytes, requests.batch.lines);
  const Cycles start = lsu_.take(time_of(i.now), p_->smem_lsu_interval * count);
  const bool atomic = cost.path == Path::global_atomic, loads = cost.path == Path::global_load;
  if (atomic) count_alike(requests.lines_from(first), i.access);
  if (!loads) store(requests.lines_from(first), atomic, start);
  const auto kind = atomic ? Request::Kind::atomic : loads ? Request::Kind::read : Request::Kind::write;
  const uint32_t request = requests.add(kind, w.sm, start, p_->smem_lsu_interval, first);
  if (cost.writes == 0) return requests.writes.push_back({.request = request, .sm = w.sm});
  const uint32_t later = i.access.gathered != 0 ? i.access.gathered + cost.scattering : 0;
  w.registers.set_unanswered(cost, requests.answers.wait({.request = request, .warp = w.index}), later);
  if (later != 0) w.registers.drain_answers();
}

// Loads and stores pass L2 alike, but the farthest of a store's ways counts; an atomic's result is there
// later.
Cycle MemoryPipe::visible(const InstructionCost& cost, Cycle now) const {
  if (cost.path == Path::global_load) return now;
  const Cycles later = cost.path == Path::global_atomic ? p_->l2_atomic_latency - p_->l2_latency : 0;
  return now + whole_cycles(std::max(0.0, later + 2 * p_->l2_spread));  // atomics may be free
}

// Through the cluster's network, but for the SM's own shared memory.
void MemoryPipe::cluster(const MemoryInstruction& i, MemoryPipe& peer) {
  const bool loads = i.cost.path == Path::cluster_load && !i.cost.atomic, own = &peer == this;
  if (own) {
    shared(i);
    if (!loads) lsu_.extend(1);  // the upper half of the addresses
  }
  if (!loads) i.pipes.hold(Resource::smem, time_of(i.now) + i.cost.interval + 2.0 * (words_of(i.cost) - 1));
  if (own) return;
  if (i.cost.path == Path::cluster_store) return network_.ends(store_to(i, peer) + p_->dsm_store_done);
  ask_peer(i, peer, loads);
}

// A load or an atomic, whose answer comes back.
void MemoryPipe::ask_peer(const MemoryInstruction& i, MemoryPipe& peer, bool loads) {
  const InstructionCost& cost = i.cost;
  const LaneAddresses& a = i.access;
  const uint32_t words = words_of(cost);
  const Cycles time = time_of(i.now);
  lsu_.take_behind_stores(time, loads ? words : words + 1);
  const Packets t = packets_of(a.addresses, a.lanes, cost.bytes);
  const uint32_t passes = shared_passes(a.addresses, a.lanes, cost.bytes);
  const uint32_t request = loads ? t.lines : t.atomic;
  const Cycles asked = network_.send(peer.network_, time, request);
  const Cycles back = std::max(asked, peer.network_.send(network_, time, t.sectors));
  constexpr double packet_bytes = 32;
  const Cycles first = static_cast<double>(request) / t.lines * packet_bytes / p_->dsm_bytes_per_cycle;
  const Cycles latency = p_->dsm_latency + first + (loads ? 0 : p_->dsm_atomic) + (passes - 1) + (words - 1);
  i.warp.registers.set_ready(cost, cycle_of(back + latency));
  network_.ends(back + latency - cost.latency);
}

// A store waits in a queue until the network takes it; what the load-store unit is asked for after it waits
// behind it, and warps when the queue is full. Returns when its last packet has come through.
Cycles MemoryPipe::store_to(const MemoryInstruction& i, MemoryPipe& peer) {
  const Cycles time = time_of(i.now);
  const Cycles leaves = std::max(lsu_.take(time, 1 + words_of(i.cost)), network_.opens());
  lsu_.store_waits(leaves);
  network_.queue_store(leaves, i.cost.bytes);
  const Packets t = packets_of(i.access.addresses, i.access.lanes, i.cost.bytes);
  return network_.write(peer.network_, time, i.cost.atomic ? t.atomic : t.written);
}

Cycle MemoryPipe::store_async(const MemoryInstruction& i, MemoryPipe& peer) {
  i.pipes.hold(Resource::smem, time_of(i.now) + i.cost.interval + 2.0 * (words_of(i.cost) - 1));
  const Cycles sent = store_to(i, peer);
  i.warp.last_async = std::max(i.warp.last_async, cycle_of(sent + p_->dsm_latency));
  fences_.async_stored(i.warp.last_async);
  return cycle_of(sent + p_->dsm_store_latency);
}

std::optional<Cycle> MemoryPipe::arrive(Warp& w, SharedAddress mbarrier, Cycle now) {
  const Cycles start = lsu_.take(time_of(now), p_->mbarrier_remote_interval);
  if (w.last_mbarrier == mbarrier)  // its address is in a register
    w.arrive_free = now + whole_cycles(p_->mbarrier_remote_again);
  w.last_mbarrier = mbarrier;
  if (rank_at(mbarrier) == w.sm) return std::nullopt;
  const Cycle known = now + whole_cycles(p_->dsm_arrive_done);
  fences_.arrived(known);
  w.last_store = std::max(w.last_store, known);
  return cycle_of(start + p_->mbarrier_remote);
}

Cycle MemoryPipe::fence(const Warp& w, uint32_t latency, Cycle now) {
  return fences_.done(now, latency,
                      {.stores = w.last_store,
                       .async_stores = w.last_async,
                       .network = network_.done(),
                       .shared_network = network_.is_shared()});
}

// The instruction issues when the fence is done. Towards its end the fence waits for arrivals that other
// warps have sent out meanwhile.
bool MemoryPipe::release(Warp& w, uint32_t latency, Cycle& at) {
  if (w.fence_end != 0) {
    at = std::max(w.fence_end, fences_.last_arrival() + latency);
    w.fence_end = {};
    w.fenced = true;
    return false;
  }
  w.hold(Stall::membar, at);
  w.fence_end = fence(w, latency, std::max(at, w.arrive_free));
  at = w.fence_end - whole_cycles(p_->dsm_fence_tail);
  return true;
}

}  // namespace palladion::sim::hardware
