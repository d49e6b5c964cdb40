#include "sim/clock/sm/group.h"

#include <algorithm>
#include <cmath>

namespace palladion::sim::hardware {
namespace {

// Instructions in a row of lanes that spin, before the warp's other lanes have their turn.
constexpr uint32_t longest_turn = 512;

// Instructions of a sequence that ptxas leaves to the uniform datapath; longer ones use the vector pipes.
constexpr uint32_t longest_uniform = 4;

Stall stall_of(Wait::Kind kind) {
  switch (kind) {
    case Wait::Kind::convergence:
      return Stall::convergence;
    case Wait::Kind::mbarrier:
      return Stall::mbarrier;
    case Wait::Kind::cta_barrier:
      return Stall::barrier;
    case Wait::Kind::cluster_barrier:
      return Stall::cluster_barrier;
    case Wait::Kind::bulk_group:
    case Wait::Kind::cp_async_group:
      return Stall::async_group;
    case Wait::Kind::wgmma_group:
      return Stall::gmma;
    case Wait::Kind::registers:
      return Stall::registers;
    case Wait::Kind::edge:
      return Stall::long_scoreboard;
    case Wait::Kind::poll:
      return Stall::sleeping;
    default:
      return Stall::wait;
  }
}

}  // namespace

// Whether the instruction may issue now; else `at` is when to look again.
bool SmGroup::unit_free(Warp& w, const Price& p, uint64_t& at, uint64_t now) {
  const Sm& unit = sms_[w.sm];
  const double pipe = unit.sub[w.sub].pipe_free[static_cast<size_t>(p.pipe)];
  auto free = static_cast<uint64_t>(
      std::max(0.0, std::ceil(pipe - (p.defers || computes(p.pipe) ? p_.issue_queue : 0))));
  Stall why = Stall::math_pipe_throttle;
  if (computes(p.pipe) && p.slots > longest_uniform)
    free = std::max(free, static_cast<uint64_t>(sequences_open(unit, w, static_cast<double>(at))));
  if (p.unit == isa::Unit::lsu && unit.lsu_free > static_cast<double>(at) + p_.smem_lsu_queue) {
    free = static_cast<uint64_t>(unit.lsu_free - p_.smem_lsu_queue);
    why = p.path == Path::shared_load || p.path == Path::shared_store ? Stall::mio_throttle
                                                                      : Stall::lg_throttle;
  }
  const double room = unit.network_queue.before(static_cast<size_t>(p_.dsm_queue));
  const bool queues = p.path == Path::cluster_store || p.path == Path::cluster_load || p.path == Path::async;
  if (queues && p.unit == isa::Unit::lsu && room > static_cast<double>(std::max(at, free))) {
    free = static_cast<uint64_t>(room);
    why = Stall::lg_throttle;
  }
  if (p.holds && w.arrive_free > free) free = w.arrive_free, why = Stall::mio_throttle;
  if (p.path == Path::async && p.unit == isa::Unit::tensor && tensor_opens(unit) > static_cast<double>(free))
    free = static_cast<uint64_t>(tensor_opens(unit)), why = Stall::gmma;
  if (p.path == Path::async && p.unit == isa::Unit::tma) {
    const auto opens = static_cast<uint64_t>(unit.tma_queue.before(static_cast<size_t>(p_.tma_queue)));
    if (opens > std::max(at, free)) free = opens, why = Stall::tma_throttle;
  }
  if (free > at) at = free, w.why = why;
  return at <= now || (at < end_ && (events_.empty() || events_.top().time > at));
}

void SmGroup::charge(Warp& w, uint32_t pc, uint64_t now) {
  LineTime& line = lines_[pc];
  line.warps |= 1U << w.warp->id;
  ++line.issued;
  ++line.cycles[static_cast<size_t>(Stall::selected)];
  if (now > w.since + 1) line.cycles[static_cast<size_t>(w.why)] += now - w.since - 1;
}

// Instructions that an SM has not executed yet come from L2 through its instruction caches.
double SmGroup::fetch(Warp& w, uint32_t pc, const Price& p) {
  uint8_t& fetched = sms_[w.sm].fetched[pc];
  if (fetched != 0) return 0;
  fetched = 1;
  return p_.issue_first_instruction * p.slots;
}

// The issue slot and the pipe are the instruction's; returns when the pipe takes it.
uint64_t SmGroup::occupy(Sm& unit, SubCore& s, const Price& p, uint64_t now) {
  s.slot_free = now + p.slots;
  book(unit, Resource::issue, p.slots);
  instructions_ += p.slots;
  const bool shuffles = p.unit == isa::Unit::lsu && p.path == Path::plain;
  if (shuffles)  // through a path of the sub-core into the SM's load-store unit
    unit.lsu_free = std::max(unit.lsu_free, static_cast<double>(now)) + p.interval / 4;
  if (!computes(p.pipe) && p.pipe != Resource::fp64 && p.pipe != Resource::tensor && !shuffles) return now;
  double& free = s.pipe_free[static_cast<size_t>(p.pipe)];
  const double start = std::max(free, static_cast<double>(now));
  free = start + p.interval;
  if (p.pipe == Resource::tensor && p.path == Path::plain && p.unit == isa::Unit::tensor)
    book(unit, p.pipe, p.interval / 4);
  else if (!shuffles && p.pipe != Resource::tensor)
    book(unit, p.pipe, p.interval);
  return static_cast<uint64_t>(std::ceil(start));
}

// The warp's next instruction issues after this one's sequence.
void SmGroup::hold(Warp& w, const Price& p, uint64_t now, double fetching) {
  w.busy = std::max(w.busy, static_cast<double>(now)) + p.held + gathered_ + fetching;
  w.next = std::max(now + std::max(1U, p.slots), static_cast<uint64_t>(w.busy));
}

// In the machine, whose state it changes at once.
void SmGroup::execute(Warp& w, Exec& x, uint32_t pc, const Price& p, uint64_t now) {
  const uint32_t mask = w.warp->groups[x.group].mask;
  if (context_.observer != nullptr && w.cluster->observer) {
    x.pc = pc;
    if (now > w.since + 1) w.cluster->observer->stalled(x.origin(mask), w.why, w.since + 1);
  }
  lanes_ = guarded(x, pc, mask);
  gathered_ = 0;
  if (p.address >= 0) take_addresses(x, pc, mask);
  if (w.warp->groups.size() > 1 && ++w.turns >= longest_turn) {
    w.turns = 0;
    yield_after_ = true;
  }
  run_warp(x, 1);
}

void SmGroup::issue(Warp& w, uint32_t index, int lane_group, uint32_t pc, uint64_t now) {
  const Price& p = prices_[pc];
  Sm& unit = sms_[w.sm];
  SubCore& s = unit.sub[w.sub];
  charge(w, pc, now);
  Exec x = exec(w);
  x.group = static_cast<uint32_t>(lane_group);
  const Wait& before = w.warp->groups[x.group].wait;
  const bool resumed = !runnable(before) && before.kind != Wait::Kind::convergence;
  const Since since{.time = now, .async = w.cluster->next_async, .progress = w.cluster->progress};
  execute(w, x, pc, p, now);
  const double fetching = resumed ? 0 : fetch(w, pc, p);
  const uint64_t start = resumed ? now : occupy(unit, s, p, now);
  if (!s.waiting.empty() && !s.scheduled) {
    push(std::max(s.slot_free, now + 1), Event::Kind::slot, w.sm * 4 + w.sub);
    s.scheduled = true;
  }
  w.since = now;
  w.why = Stall::wait;
  hold(w, p, now, fetching);
  if (w.cluster->faulted) return retire(*w.cluster, now);
  w.fenced = false;
  LaneGroup* const group = x.group < w.warp->groups.size() ? &w.warp->groups[x.group] : nullptr;
  if (blocks(w, index, p, pc, group, since)) return;
  after(w, index, p, pc, resumed, since, start);
  if (w.cluster->progress != since.progress && (p.path == Path::waits || p.path == Path::exit))
    wake(*w.cluster, now, false);
  if (p.path == Path::exit && w.cluster->finished()) retire(*w.cluster, now + p.latency);
}

// Whether the lanes that have executed it wait now; else they may have gone elsewhere.
bool SmGroup::blocks(Warp& w, uint32_t index, const Price& p, uint32_t pc, LaneGroup* group,
                     const Since& since) {
  if (group != nullptr && yield_after_ && group->wait.kind == Wait::Kind::none)
    group->wait = {.kind = Wait::Kind::poll};
  yield_after_ = false;
  const bool blocked = group != nullptr && !runnable(group->wait);
  if (blocked && group->wait.kind == Wait::Kind::edge) {
    accesses.push_back({seen(p, since.time), since.time, index});
    w.state = Warp::State::edge;
    return true;
  }
  if (group != nullptr && !blocked && group->pc != pc + 1 && group->pc != pc)
    take_branch(w, p, pc, group->pc);
  if (p.branches && !p.unrolled && !p.spins) w.block = w.next;
  if (!blocked) return false;
  w.why = stall_of(group->wait.kind);
  if (w.cluster->progress != since.progress) wake(*w.cluster, since.time, false);
  return true;
}

// A turn of a loop ends when its arithmetic has issued.
void SmGroup::take_branch(Warp& w, const Price& p, uint32_t from, uint32_t to) const {
  constexpr uint32_t fetched_ahead = 32;  // instructions
  const bool back = to < from;
  const bool on = back && runs_on(w, p);
  w.iterations += back && p.unrolled;
  if (on) return;
  w.next += static_cast<uint64_t>(to > from + fetched_ahead ? p_.branch_forward : p_.branch_taken);
  w.why = Stall::branch_resolving;
  w.drain |= back;
}

// When others see a strong access: loads and stores pass L2 alike, but the farthest of a store's ways counts;
// an atomic's result is there later.
uint64_t SmGroup::seen(const Price& p, uint64_t now) const {
  if (p.path == Path::global_load) return now;
  const double later = p.path == Path::global_atomic ? p_.l2_atomic_latency - p_.l2_latency : 0;
  return now + static_cast<uint64_t>(later + 2 * p_.l2_spread);
}

// The lanes of `mask` that execute the instruction.
uint32_t SmGroup::guarded(const Exec& x, uint32_t pc, uint32_t mask) const {
  const MicroOp& op = context_.program.code[pc];
  if (op.guard < 0) return mask;
  const uint32_t g = *reinterpret_cast<const uint32_t*>(x.registers + op.guard);
  return mask & (op.guard_negated ? ~g : g);
}

void SmGroup::take_addresses(Exec& x, uint32_t pc, uint32_t mask) {
  const MicroOp& op = context_.program.code[pc];
  const Price& p = prices_[pc];
  mask = guarded(x, pc, mask) & p.lanes;
  lanes_ = x.active = mask;
  if (mask != 0) x.addresses(op.operands[p.address], addresses_);
  gathered_ = 0;
  if (!p.gathers || (mask & (mask - 1)) == 0) return;
  gathered_ = p.gather;
  lanes_ = mask & (0 - mask);
}

// What the instruction has set going.
void SmGroup::after(Warp& w, uint32_t index, const Price& p, uint32_t pc, bool resumed, const Since& since,
                    uint64_t start) {
  const uint64_t now = since.time;
  pass_board(w, p);
  if (p.defers)
    defer(w, p, p.early ? w.block : start, p.latency);
  else
    set_ready(w, p, resumed ? 0 : now + p.latency);  // who has slept goes on with its branch at once
  if (p.acquires && p.path != Path::global_load && p.path != Path::global_atomic) sms_[w.sm].l1.drop();
  switch (p.path) {
    case Path::shared_load:
    case Path::shared_store:
      return access_shared(w, p, now);
    case Path::cluster_load:
    case Path::cluster_store:
      return access_cluster(w, p, now);
    case Path::global_load:
    case Path::global_store:
      return access_global(w, index, p, now);
    case Path::async:
      return issue_async(w, p, now, since.async);
    case Path::fence:
      if (lanes_ == 0) return;
      w.next = fence(w, std::max(p.slots, p.latency), now);
      w.why = Stall::membar;
      return;
    case Path::waits:
      if (p.holds) w.arrive_free = now + static_cast<uint64_t>(p.interval);
      if (p.holds && p.address >= 0) arrive_remote(w, now);
      return meet(w, pc, resumed, now);
    default:
      return;
  }
}

}  // namespace palladion::sim::hardware
