// Named barriers, cluster barriers, mbarriers, setmaxnreg.
#include <fmt/format.h>

#include <algorithm>

#include "sim/machine/exec/handlers.h"
#include "sim/machine/state/mbarrier.h"

namespace palladion::sim {
namespace {

void reset(NamedBarrier& b) {
  b.last_arrived = (b.arrived + 31) / 32 * 32;
  b.last_popc = b.popc;
  b.last_all = b.all;
  b.last_any = b.any;
  b.arrived = b.expected = b.popc = 0;
  b.all = true;
  b.any = false;
  ++b.generation;
}

// `bar.sync a` without a count waits for all threads of the CTA that have not exited.
uint32_t expected_threads(const CtaState& cta, const NamedBarrier& b) {
  return b.expected != 0 ? b.expected : cta.alive_threads;
}

void write_result(Exec& x, const isa::CtaBarrier& e, const MicroOp& op, const NamedBarrier& b) {
  if (e.dst < 0) return;
  const DecodedOperand& d = op.operands[e.dst];
  if (e.action == isa::BarrierAction::red_popc) {
    for (uint32_t m = x.active; m != 0; m &= m - 1) x.lanes<uint32_t>(d)[std::countr_zero(m)] = b.last_popc;
    return;
  }
  const bool value = e.action == isa::BarrierAction::red_and ? b.last_all : b.last_any;
  x.predicate(d) = (x.predicate(d) & ~x.active) | (value ? x.active : 0);
}

void notify(const Exec& x, CtaBarrierEvent::Step step, uint64_t id, uint32_t threads,
            bool completed = false) {
  if (!x.wants<CtaBarrierEvent>()) return;
  x.emit(CtaBarrierEvent{x.origin(), step, static_cast<uint32_t>(id), threads, x.self().barrier_generation,
                         completed});
}

// Two instructions with different counts for one barrier: the finding names both.
Step refuse_count(Exec& x, uint64_t id, const NamedBarrier& b, uint32_t threads) {
  if (x.cluster.faulted) return Step::fault;
  Exec first = x;
  first.warp = &x.cta->warps[b.first_warp];
  first.pc = b.first_pc;
  Finding f;
  f.code = "PLD3031";
  f.fatal = true;
  f.message = fmt::format("barrier {} is in use for {} threads, this instruction says {}", id,
                          expected_threads(*x.cta, b), threads == 0 ? x.cta->alive_threads : threads);
  f.sites = {x.site(), first.site()};
  f.help = "all threads that use a barrier at the same time give the same number of threads";
  x.report(std::move(f));
  x.cluster.faulted = true;
  return Step::fault;
}

// With a count, aligned barriers count arrivals by whole warps and the others by threads. Without one, each
// arrival counts its threads: those that have exited, of a warp that goes on too, are not waited for.
Step arrive(Exec& x, const MicroOp& op, const isa::CtaBarrier& e, uint64_t id, uint32_t threads) {
  NamedBarrier& b = x.cta->barriers[id];
  if (b.arrived != 0 && b.expected != threads) return refuse_count(x, id, b, threads);
  if (b.arrived == 0) {
    b.first_pc = x.pc;
    b.first_warp = static_cast<uint16_t>(x.warp->id);
  }
  b.expected = threads;
  if (e.pred >= 0) {
    const uint32_t p = x.predicate_value(op.operands[e.pred]) & x.active;
    b.popc += static_cast<uint32_t>(std::popcount(p));
    b.all &= p == x.active;
    b.any |= p != 0;
  }
  x.self().barrier_generation = b.generation;
  b.arrived += e.aligned && threads != 0 ? 32 : static_cast<uint32_t>(std::popcount(x.active));
  x.changed();
  const uint32_t needed = (expected_threads(*x.cta, b) + 31) / 32 * 32;
  const uint32_t exact = e.aligned && threads != 0 ? needed : expected_threads(*x.cta, b);
  if (b.arrived > needed)
    return x.fault("PLD3032",
                   fmt::format("{} threads arrived at barrier {}, which expects {}", b.arrived, id, exact));
  const uint64_t generation = b.generation;
  if (b.arrived >= exact) reset(b);
  const bool completed = b.generation != generation;
  notify(x, CtaBarrierEvent::Step::arrive, id, threads, completed);
  if (e.action == isa::BarrierAction::arrive) return Step::next;
  if (completed) {
    write_result(x, e, op, b);
    notify(x, CtaBarrierEvent::Step::pass, id, threads);
    return Step::next;
  }
  return x.wait(Wait::Kind::cta_barrier, id, generation);
}

}  // namespace

void release_after_exit(CtaState& cta) {
  for (NamedBarrier& b : cta.barriers)
    if (b.arrived != 0 && b.expected == 0 && b.arrived >= cta.alive_threads) reset(b);
}

Step exec_cta_barrier(Exec& x, const MicroOp& op) {
  const auto& e = effect<isa::CtaBarrier>(op);
  if (e.aligned && !x.converged(x.warp->alive))
    return x.wait(Wait::Kind::convergence, x.missing(x.warp->alive));
  const uint64_t id = e.id < 0 ? 0 : x.uniform_value(op.operands[e.id]);
  if (id >= x.cta->barriers.size())
    return x.fault("PLD3030", fmt::format("barrier {} does not exist: a CTA has {}, 0 to {}", id,
                                          x.cta->barriers.size(), x.cta->barriers.size() - 1));
  const auto threads = e.threads < 0 ? 0 : static_cast<uint32_t>(x.uniform_value(op.operands[e.threads]));
  if (x.take_resumed()) {
    write_result(x, e, op, x.cta->barriers[id]);
    notify(x, CtaBarrierEvent::Step::pass, id, threads);
    return Step::next;
  }
  if (e.action == isa::BarrierAction::arrive && threads == 0)
    return x.fault("PLD3033", fmt::format("barrier {}: an arrival must say for how many threads", id),
                   "bar.arrive id, count: the default count is for bar.sync alone");
  if (threads % 32 != 0)
    return x.fault("PLD3033",
                   fmt::format("barrier {} for {} threads: the count must be a multiple of 32", id, threads));
  return arrive(x, op, e, id, threads);
}

namespace {
void notify(const Exec& x, ClusterBarrierEvent::Step step, bool completed = false) {
  if (x.wants<ClusterBarrierEvent>())
    x.emit(ClusterBarrierEvent{x.origin(), step, x.self().cluster_generation, completed});
}
}  // namespace

bool complete_cluster_barrier(ClusterState& cluster) {
  uint32_t alive = 0;
  for (const CtaState& c : cluster.ctas) alive += c.alive_threads;
  if (cluster.barrier.arrived == 0 || cluster.barrier.arrived < alive) return false;
  cluster.barrier.arrived = 0;
  ++cluster.barrier.generation;
  return true;
}

Step exec_cluster_barrier(Exec& x, const MicroOp& op) {
  const auto& e = effect<isa::ClusterBarrier>(op);
  if (e.aligned && !x.converged(x.warp->alive))
    return x.wait(Wait::Kind::convergence, x.missing(x.warp->alive));
  ClusterBarrierState& b = x.cluster.barrier;
  if (e.arrive) {
    if (x.warp->cluster_arrived_in != b.generation) x.warp->cluster_arrived = 0;
    x.warp->cluster_arrived_in = b.generation;
    x.warp->cluster_arrived |= x.active;
    b.arrived += static_cast<uint32_t>(std::popcount(x.active));
    x.self().cluster_generation = b.generation;
    x.changed();
    const bool completed = complete_cluster_barrier(x.cluster);
    notify(x, ClusterBarrierEvent::Step::arrive, completed);
    return Step::next;
  }
  if (!x.take_resumed() && b.generation <= x.self().cluster_generation)
    return x.wait(Wait::Kind::cluster_barrier, 0, x.self().cluster_generation);
  notify(x, ClusterBarrierEvent::Step::pass);
  return Step::next;
}

namespace {

uint8_t* mbarrier_word(Exec& x, const isa::Mbarrier& e, uint64_t address) {
  if (address % 8 != 0) {
    x.fault("PLD3040", fmt::format("mbarrier at address 0x{:x}: must be aligned to 8 bytes", address));
    return nullptr;
  }
  if (e.space == isa::Space::generic && space_of(address) != isa::Space::shared_cluster) {
    x.fault("PLD3041", fmt::format("mbarrier at generic address 0x{:x}: not in shared memory", address));
    return nullptr;
  }
  return x.shared(address, 8, "mbarrier access");
}

uint64_t word_at(const uint8_t* bytes) {
  uint64_t word;
  std::memcpy(&word, bytes, 8);
  return word;
}
MbarrierState state_at(const uint8_t* bytes) { return MbarrierState::decode(word_at(bytes)); }

// mbarrier.init and mbarrier.inval.
void notify_life(const Exec& x, const isa::Mbarrier& e, const MicroOp& op, int lane, uint32_t count,
                 uint64_t before, uint64_t after) {
  if (!x.wants<MbarrierEvent>()) return;
  MbarrierEvent event;
  event.action = e.action;
  event.address = Exec::shared_address(x.address_of_lane(op.operands[e.address], lane));
  event.lanes = 1U << lane;
  event.count = count;
  event.before = before;
  event.after = after;
  int64_t& current = x.cluster.mbarrier_phases[event.address];
  if (e.action == isa::MbarrierAction::init) current = 0;
  event.phase = current;
  if (e.action == isa::MbarrierAction::inval) x.cluster.mbarrier_phases.erase(event.address);
  event.origin = x.origin(event.lanes);
  x.emit(event);
}

void put_state(uint8_t* bytes, const MbarrierState& s) {
  const uint64_t word = s.encode();
  std::memcpy(bytes, &word, 8);
}

Step init(Exec& x, const MicroOp& op, const isa::Mbarrier& e) {
  for (uint32_t m = x.active; m != 0; m &= m - 1) {
    const int i = std::countr_zero(m);
    uint8_t* bytes = mbarrier_word(x, e, x.address_of_lane(op.operands[e.address], i));
    if (bytes == nullptr) return Step::fault;
    const uint64_t count = x.lane_value(op.operands[e.count], i);
    const auto most = static_cast<uint64_t>(x.launch.arch->max_mbarrier_count);
    if (count == 0 || count > most)
      return x.fault("PLD3042",
                     fmt::format("mbarrier.init with a count of {}: must be 1 to {}", count, most));
    const uint64_t before = word_at(bytes);
    MbarrierState s;
    s.pending = s.expected = static_cast<uint32_t>(count);
    s.valid = true;
    put_state(bytes, s);
    notify_life(x, e, op, i, static_cast<uint32_t>(count), before, s.encode());
  }
  x.changed();
  return Step::next;
}

Step invalidate(Exec& x, const MicroOp& op, const isa::Mbarrier& e) {
  for (uint32_t m = x.active; m != 0; m &= m - 1) {
    const int i = std::countr_zero(m);
    uint8_t* bytes = mbarrier_word(x, e, x.address_of_lane(op.operands[e.address], i));
    if (bytes == nullptr) return Step::fault;
    const uint64_t before = word_at(bytes);
    std::memset(bytes, 0, 8);
    notify_life(x, e, op, i, 0, before, 0);
  }
  return Step::next;
}

void write_state(const Exec& x, const isa::Mbarrier& e, const MicroOp& op, int lane, uint64_t state) {
  if (e.dst < 0 || op.operands[e.dst].kind != DecodedOperand::Kind::lanes || op.operands[e.dst].width != 64)
    return;
  x.lanes<uint64_t>(op.operands[e.dst])[lane] = state;
}

// arrive, arrive_drop, expect_tx, complete_tx: serialised by lane, as in the hardware.
Step arrive_like(Exec& x, const MicroOp& op, const isa::Mbarrier& e) {
  using A = isa::MbarrierAction;
  for (uint32_t m = x.active; m != 0; m &= m - 1) {
    const int i = std::countr_zero(m);
    const uint64_t address = x.address_of_lane(op.operands[e.address], i);
    uint8_t* bytes = mbarrier_word(x, e, address);
    if (bytes == nullptr) return Step::fault;
    const uint64_t before = state_at(bytes).encode();
    const uint64_t n = e.count < 0 ? 1 : x.lane_value(op.operands[e.count], i);
    const bool is_tx = e.action != A::arrive;
    std::string why;
    bool ok = true;
    if (e.action == A::complete_tx) {
      ok = mbarrier_complete_tx(x, x.origin(1U << i), address, static_cast<uint32_t>(n), &why);
    } else {
      if (e.drop) {
        MbarrierState s = state_at(bytes);
        if (s.expected == 0)
          return x.fault("PLD3043", "mbarrier.arrive_drop on an mbarrier that expects no arrivals");
        s.expected -= is_tx || e.expect_tx ? 1 : static_cast<uint32_t>(n);
        put_state(bytes, s);
      }
      const bool tx = is_tx || e.expect_tx;
      ok = mbarrier_arrive(x, x.origin(1U << i), address,
                           e.action == A::expect_tx ? 0
                           : tx                     ? 1
                                                    : static_cast<uint32_t>(n),
                           tx ? static_cast<int32_t>(n) : 0, &why);
    }
    if (!ok)
      return x.fault(
          "PLD3044", why,
          e.action == A::arrive
              ? "fewer threads arrive, or mbarrier.init counts all of them; an arrival too many may also "
                "be one of a round before, whose thread was not waited for"
              : "every phase needs exactly as many bytes as it expects");
    write_state(x, e, op, i, before);
  }
  return Step::next;
}

// The parity that must have completed before the waiter may continue, from a parity or a state token.
uint64_t awaited_parity(const Exec& x, const isa::Mbarrier& e, const MicroOp& op, int lane) {
  const uint64_t v = x.lane_value(op.operands[e.state], lane);
  return e.parity ? v & 1 : MbarrierState::decode(v).parity;
}

// One event for all lanes that name the same object and parity.
void notify_wait(const Exec& x, const MicroOp& op, const isa::Mbarrier& e, uint32_t done) {
  const auto key = [&](int i) {
    return uint64_t{Exec::shared_address(x.address_of_lane(op.operands[e.address], i))} << 1 |
           awaited_parity(x, e, op, i);
  };
  for (uint32_t left = x.active; left != 0;) {
    const int first = std::countr_zero(left);
    MbarrierEvent event;
    event.action = e.action;
    event.address = static_cast<uint32_t>(key(first) >> 1);
    for (uint32_t m = left; m != 0; m &= m - 1)
      event.lanes |= static_cast<uint32_t>(key(std::countr_zero(m)) == key(first)) << std::countr_zero(m);
    left &= ~event.lanes;
    event.before = event.after = word_at(x.cluster.ctas[event.address >> cta_rank_shift].shared.data() +
                                         (event.address & shared_offset_mask));
    event.parity_known = e.parity;
    event.parity = (key(first) & 1) != 0;
    event.succeeded = (done >> first & 1) != 0;
    event.phase = x.cluster.mbarrier_phases[event.address] - (event.succeeded ? 1 : 0);
    event.origin = x.origin(event.lanes);
    x.emit(event);
  }
}

// A try_wait may give up after a time that PTX leaves open: here at once, at random. It does so once for each
// group until something has changed, as when nothing else can execute, so that a hang is still recognised.
bool gives_up(const Exec& x) {
  LaneGroup& g = x.self();
  if (x.launch.fail_waits == 0 || g.timed_out_at == x.cluster.progress) return false;
  const uint64_t moment = uint64_t{x.cluster.index} << 40 ^ x.cluster.instructions << 8 ^ x.warp->id;
  if (scramble(scramble(x.launch.fail_waits) ^ moment) % 2 == 0) return false;
  g.timed_out_at = x.cluster.progress;
  return true;
}

Step test(Exec& x, const MicroOp& op, const isa::Mbarrier& e) {
  uint32_t done = 0;
  for (uint32_t m = x.active; m != 0; m &= m - 1) {
    const int i = std::countr_zero(m);
    const uint64_t address = x.address_of_lane(op.operands[e.address], i);
    const uint8_t* bytes = mbarrier_word(x, e, address);
    if (bytes == nullptr) return Step::fault;
    const MbarrierState s = state_at(bytes);
    if (!s.valid && x.wants<MbarrierEvent>()) notify_wait(x, op, e, 0);
    if (!s.valid)
      return x.fault("PLD3045",
                     fmt::format("wait on an mbarrier that is not initialised (shared address 0x{:x})",
                                 address & shared_offset_mask),
                     "mbarrier.init must run first, and be made visible: fence.mbarrier_init or a barrier");
    done |= static_cast<uint32_t>(s.parity != (awaited_parity(x, e, op, i) != 0)) << i;
  }
  const bool blocking = e.action == isa::MbarrierAction::try_wait;
  if (blocking && done == 0 && !x.take_resumed() && !gives_up(x)) {
    const int i = std::countr_zero(x.active);
    return x.wait(Wait::Kind::mbarrier, x.address_of_lane(op.operands[e.address], i),
                  awaited_parity(x, e, op, i));
  }
  x.self().resumed = false;
  if (x.wants<MbarrierEvent>()) notify_wait(x, op, e, done);
  uint32_t& d = x.predicate(op.operands[e.dst]);
  d = (d & ~x.active) | done;
  return done == x.active ? Step::next : Step::yield;
}

Step pending_count(Exec& x, const MicroOp& op, const isa::Mbarrier& e) {
  for (uint32_t m = x.active; m != 0; m &= m - 1) {
    const int i = std::countr_zero(m);
    x.lanes<uint32_t>(op.operands[e.dst])[i] =
        MbarrierState::decode(x.lane_value(op.operands[e.state], i)).pending;
  }
  return Step::next;
}

}  // namespace

Step exec_mbarrier(Exec& x, const MicroOp& op) {
  using A = isa::MbarrierAction;
  const auto& e = effect<isa::Mbarrier>(op);
  switch (e.action) {
    case A::init:
      return init(x, op, e);
    case A::inval:
      return invalidate(x, op, e);
    case A::expect_tx:
    case A::complete_tx:
    case A::arrive:
      return arrive_like(x, op, e);
    case A::test_wait:
    case A::try_wait:
      return test(x, op, e);
    case A::pending_count:
      return pending_count(x, op, e);
  }
  return Step::next;
}

// Registers are granted to whole warps from the CTA's allocation; an increase waits until enough
// have been given back (PTX, "setmaxnreg").
Step exec_set_max_registers(Exec& x, const MicroOp& op) {
  const auto& e = effect<isa::SetMaxRegisters>(op);
  if (!x.converged(x.warp->alive)) return x.wait(Wait::Kind::convergence, x.missing(x.warp->alive));
  const auto count = static_cast<uint32_t>(e.count);
  if (const isa::ArchSpec& a = *x.launch.arch; !isa::setmaxnreg_takes(a, count))
    return x.fault("PLD3050", fmt::format("setmaxnreg to {}: must be {} to {} and a multiple of {}", count,
                                          a.min_setmaxnreg, a.max_setmaxnreg, a.register_unit_per_thread));
  const uint32_t now = x.warp->register_limit;
  if (!e.increase) {
    if (count > now)
      return x.fault("PLD3051", fmt::format("setmaxnreg.dec to {} registers from {}", count, now));
    x.cta->free_registers += (now - count) * 32;
    x.warp->register_limit = count;
    x.changed();
    if (x.wants<RegistersSet>()) x.emit(RegistersSet{x.origin(), now, count});
    return Step::next;
  }
  if (count < now)
    return x.fault("PLD3051", fmt::format("setmaxnreg.inc to {} registers from {}", count, now));
  const uint32_t needed = (count - now) * 32;
  if (x.cta->free_registers < needed) return x.wait(Wait::Kind::registers, needed, count);
  x.self().resumed = false;
  x.cta->free_registers -= needed;
  x.warp->register_limit = count;
  if (x.wants<RegistersSet>()) x.emit(RegistersSet{x.origin(), now, count});
  return Step::next;
}

}  // namespace palladion::sim
