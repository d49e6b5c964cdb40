// Named barriers, cluster barriers, setmaxnreg.
#include <algorithm>

#include "sim/launch/fault.h"
#include "sim/launch/phrases/phrase.h"
#include "sim/machine/exec/handlers.h"

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
  Finding f = fault(Code::barrier_counts_differ,
                    say<Phrase::barrier_of_other_count>(id, expected_threads(*x.cta, b),
                                                        threads == 0 ? x.cta->alive_threads : threads));
  f.sites = {x.site(), first.site()};
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
    b.first_warp = x.warp->id;
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
  x.changed_inside();
  const uint32_t needed = (expected_threads(*x.cta, b) + 31) / 32 * 32;
  const uint32_t exact = e.aligned && threads != 0 ? needed : expected_threads(*x.cta, b);
  if (b.arrived > needed)
    return x.fault(Code::barrier_overrun, say<Phrase::too_many_threads_arrived>(b.arrived, id, exact));
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

Step exec(Exec& x, const MicroOp& op, const isa::CtaBarrier& e) {
  if (e.aligned && !x.converged(x.warp->alive))
    return x.wait(Wait::Kind::convergence, x.missing(x.warp->alive));
  const uint64_t id = e.id < 0 ? 0 : x.uniform_value(op.operands[e.id]);
  if (id >= x.cta->barriers.size())
    return x.fault(Code::no_such_barrier,
                   say<Phrase::barrier_beyond_last>(id, x.cta->barriers.size(), x.cta->barriers.size() - 1));
  const auto threads = e.threads < 0 ? 0 : static_cast<uint32_t>(x.uniform_value(op.operands[e.threads]));
  if (x.take_resumed()) {
    write_result(x, e, op, x.cta->barriers[id]);
    notify(x, CtaBarrierEvent::Step::pass, id, threads);
    return Step::next;
  }
  if (e.action == isa::BarrierAction::arrive && threads == 0)
    return x.fault(Code::barrier_count, say<Phrase::arrival_without_count>(id),
                   say<Phrase::state_the_count>());
  if (threads % 32 != 0) return x.fault(Code::barrier_count, say<Phrase::count_of_part_of_warp>(id, threads));
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

Step exec(Exec& x, const MicroOp&, const isa::ClusterBarrier& e) {
  if (e.aligned && !x.converged(x.warp->alive))
    return x.wait(Wait::Kind::convergence, x.missing(x.warp->alive));
  ClusterBarrierState& b = x.cluster.barrier;
  if (e.arrive) {
    if (x.warp->cluster_arrived_in != b.generation) x.warp->cluster_arrived = 0;
    x.warp->cluster_arrived_in = b.generation;
    x.warp->cluster_arrived |= x.active;
    b.arrived += static_cast<uint32_t>(std::popcount(x.active));
    x.self().cluster_generation = b.generation;
    x.changed_inside();
    const bool completed = complete_cluster_barrier(x.cluster);
    notify(x, ClusterBarrierEvent::Step::arrive, completed);
    return Step::next;
  }
  if (!x.take_resumed() && b.generation <= x.self().cluster_generation)
    return x.wait(Wait::Kind::cluster_barrier, 0, x.self().cluster_generation);
  notify(x, ClusterBarrierEvent::Step::pass);
  return Step::next;
}

// Registers are granted to whole warps from the CTA's allocation; an increase waits until enough
// have been given back (PTX, "setmaxnreg").
Step exec(Exec& x, const MicroOp&, const isa::SetMaxRegisters& e) {
  if (!x.converged(x.warp->alive)) return x.wait(Wait::Kind::convergence, x.missing(x.warp->alive));
  const auto count = static_cast<uint32_t>(e.count);
  if (const isa::ArchSpec& a = *x.launch.arch; !isa::setmaxnreg_takes(a, count))
    return x.fault(Code::setmaxnreg_count,
                   say<Phrase::registers_beyond_limits>(count, a.min_setmaxnreg, a.max_setmaxnreg,
                                                        a.register_unit_per_thread));
  const uint32_t now = x.warp->register_limit;
  if (!e.increase) {
    if (count > now)
      return x.fault(Code::setmaxnreg_direction, say<Phrase::registers_other_way>("dec", count, now));
    x.cta->free_registers += (now - count) * 32;
    x.warp->register_limit = count;
    x.changed();
    if (x.wants<RegistersSet>()) x.emit(RegistersSet{x.origin(), now, count});
    return Step::next;
  }
  if (count < now)
    return x.fault(Code::setmaxnreg_direction, say<Phrase::registers_other_way>("inc", count, now));
  const uint32_t needed = (count - now) * 32;
  if (x.cta->free_registers < needed) return x.wait(Wait::Kind::registers, needed, count);
  x.self().resumed = false;
  x.cta->free_registers -= needed;
  x.warp->register_limit = count;
  if (x.wants<RegistersSet>()) x.emit(RegistersSet{x.origin(), now, count});
  return Step::next;
}

}  // namespace palladion::sim
