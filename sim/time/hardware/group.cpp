#include "sim/time/hardware/group.h"

#include <algorithm>
#include <bit>
#include <cmath>
#include <utility>

namespace palladion::sim::hardware {
namespace {

// Instructions in a row of lanes that spin, before the warp's other lanes have their turn.
constexpr uint32_t longest_turn = 512;
// ptxas unrolls short loops so often: values of as many iterations are on their way at once.
constexpr uint32_t unrolled = 4;

// ptxas lets a warp issue to other pipes while this much work waits in front of one.
constexpr double longest_queue = 16;

bool computes(Resource pipe) {
  return pipe == Resource::alu || pipe == Resource::fma || pipe == Resource::sfu;
}

bool runnable(const Wait& wait) { return wait.kind == Wait::Kind::none || wait.kind == Wait::Kind::poll; }

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

SmGroup::SmGroup(const RunContext& context, const Prices& prices, const isa::ClockParameters& parameters,
                 uint32_t first, uint32_t count, uint64_t l1_bytes)
    : context_(context), prices_(prices), p_(parameters), sms_(count), lines_(context.program.code.size()) {
  for (uint32_t i = 0; i < count; ++i) {
    sms_[i].id = first + i;
    sms_[i].l1.resize(l1_bytes);
    sms_[i].fetched.assign(context.program.code.size(), 0);
  }
}

void SmGroup::start(ClusterState& cluster, uint64_t time) {
  for (CtaState& cta : cluster.ctas) {
    const uint32_t at = cta.sm - sms_.front().id;
    Sm& unit = sms_[at];
    for (WarpState& warp : cta.warps) {
      uint32_t index = static_cast<uint32_t>(warps_.size());
      if (free_warps_.empty()) {
        warps_.emplace_back();
      } else {
        index = free_warps_.back();
        free_warps_.pop_back();
      }
      Warp& w = warps_[index];
      w.cluster = &cluster;
      w.cta = &cta;
      w.warp = &warp;
      w.sm = at;
      w.sub = (unit.next_sub + warp.id) % 4;
      w.state = Warp::State::queued;
      w.why = Stall::wait;
      w.next = w.since = time;
      w.turns = 0;
      w.ready.assign(prices_.register_count(), 0);
      w.source.assign(prices_.register_count(), Stall::wait);
      w.pipe.assign(prices_.register_count(), Resource::issue);
      w.answer.assign(prices_.register_count(), 0);
      w.offset.assign(prices_.register_count(), 0);
      w.unanswered = w.deferred = w.drain = false;
      w.horizon = w.block = time;
      w.iterations = 0;
      w.arrive_free = w.last_store = w.last_async = 0;
      w.fenced = false;
      w.arrived = time;
      w.last_mbarrier = ~0U;
      w.busy = 0;
      push(time, Event::Kind::warp, index);
    }
    unit.next_sub = (unit.next_sub + static_cast<uint32_t>(cta.warps.size())) % 4;
  }
}

uint64_t SmGroup::next_event() const {
  uint64_t next = events_.empty() ? never : events_.top().time;
  for (const EdgeAccess& a : accesses) next = std::min(next, a.time);
  return next;
}

void SmGroup::run_until(uint64_t end) {
  end_ = end;
  while (!events_.empty() && events_.top().time < end) {
    const Event e = events_.top();
    events_.pop();
    handle(e);
  }
}

void SmGroup::handle(const Event& e) {
  switch (e.kind) {
    case Event::Kind::warp:
      if (warps_[e.index].state == Warp::State::queued) consider(e.index, e.time);
      return;
    case Event::Kind::slot:
      return give_slot(e.index, e.time);
    case Event::Kind::read:
    case Event::Kind::land:
      if (e.cluster->faulted) return;
      e.cluster->now = e.time;
      if (e.kind == Event::Kind::land) return landed(*e.cluster, e.id, e.time);
      if (AsyncOp* op = pending(*e.cluster, e.id); op != nullptr && op->stage == AsyncOp::Stage::issued) {
        advance(*e.cluster, static_cast<size_t>(op - e.cluster->pending.data()));
        wake(*e.cluster, e.time, true);
      }
      return;
  }
}

// To the first of the waiting warps that can use it.
void SmGroup::give_slot(uint32_t sub_core, uint64_t now) {
  SubCore& s = sms_[sub_core / 4].sub[sub_core % 4];
  s.scheduled = false;
  while (!s.waiting.empty() && s.slot_free <= now) {
    const uint32_t index = s.waiting.front();
    s.waiting.pop_front();
    warps_[index].state = Warp::State::queued;
    consider(index, now);
  }
  if (s.waiting.empty() || s.scheduled) return;
  push(s.slot_free, Event::Kind::slot, sub_core);
  s.scheduled = true;
}

Exec SmGroup::exec(Warp& w) const {
  Exec x{.program = context_.program,
         .launch = context_.launch,
         .memory = context_.memory,
         .cluster = *w.cluster,
         .cta = w.cta,
         .warp = w.warp};
  x.watch = context_.watch;
  x.registers = w.warp->registers;
  return x;
}

// What ptxas folds into other instructions: done at once, its result is there when its sources are.
bool SmGroup::pass_free(Warp& w, uint32_t pc, int lane_group) {
  const Price& p = prices_[pc];
  if (!p.free) return false;
  defer(w, p, 0, 0);
  Exec x = exec(w);
  x.group = static_cast<uint32_t>(lane_group);
  run_warp(x, 1);
  return true;
}

// False when the warp must stand still until L2 has answered.
bool SmGroup::drained(Warp& w, uint32_t index) {
  if (!w.drain) return true;
  if (w.deferred) {
    w.state = Warp::State::memory;
    parked_.push_back(index);
    return false;
  }
  w.drain = false;
  w.next = std::max(w.next, w.horizon);
  return true;
}

// Cycles more for a value that another of the arithmetic pipes has computed.
uint64_t SmGroup::hand_over(Resource from, Resource to) const {
  return from != to && computes(from) && computes(to) ? static_cast<uint64_t>(p_.issue_other_pipe) : 0;
}

// A turn of an unrolled loop that goes on into the next without a branch.
bool SmGroup::runs_on(const Warp& w, const Price& p) {
  return p.unrolled && (w.iterations + 1) % unrolled != 0;
}

void SmGroup::consider(uint32_t index, uint64_t now) {
  Warp& w = warps_[index];
  for (;;) {
    if (w.cluster->faulted) return retire(*w.cluster, now);
    if (w.warp->finished()) {
      w.state = Warp::State::done;
      return;
    }
    const auto& groups = w.warp->groups;
    const int g =
        groups.size() == 1 && runnable(groups[0].wait) ? 0 : choose_group(*w.cluster, *w.cta, *w.warp, true);
    if (g < 0) {
      w.state = Warp::State::blocked;
      return;
    }
    const uint32_t pc = groups[static_cast<size_t>(g)].pc;
    w.cluster->now = now;
    if (pass_free(w, pc, g)) continue;
    const Price& p = prices_[pc];
    w.drain |= p.drains;
    if (!drained(w, index)) return;
    uint64_t at = std::max(now, w.next);
    for (const uint32_t r : p.defers || runs_on(w, p) ? std::span<const uint32_t>{} : prices_.reads(p)) {
      const uint64_t more =
          hand_over(w.pipe[r], p.pipe) + (p.branches ? static_cast<uint64_t>(p_.issue_branch_predicate) : 0);
      const uint64_t ready = w.ready[r] == never || w.ready[r] == 0 ? w.ready[r] : w.ready[r] + more;
      if (ready <= at) continue;
      at = ready;
      w.why = w.source[r];
    }
    if (at == never) {
      w.state = Warp::State::memory;
      parked_.push_back(index);
      return;
    }
    if (p.release != 0) release(w, p, pc, groups[static_cast<size_t>(g)].mask, at);
    if (!unit_free(w, p, at, now)) {
      wait_for_unit(w, index, at);
      return;
    }
    now = at;
    SubCore& s = sms_[w.sm].sub[w.sub];
    if (s.slot_free > now) {
      w.why = Stall::not_selected;
      w.state = Warp::State::slot;
      s.waiting.push_back(index);
      if (!s.scheduled) push(s.slot_free, Event::Kind::slot, w.sm * 4 + w.sub);
      s.scheduled = true;
      return;
    }
    issue(w, index, g, pc, now);
    if (w.state != Warp::State::queued) return;
    if (w.next >= end_ || (!events_.empty() && events_.top().time < w.next)) {
      push(w.next, Event::Kind::warp, index);
      return;
    }
    now = w.next;
  }
}

// Whether the instruction may issue now; else `at` is when to look again.
bool SmGroup::unit_free(Warp& w, const Price& p, uint64_t& at, uint64_t now) {
  constexpr double queue = 16;  // memory instructions' cycles that wait in front of the load-store unit
  const Sm& unit = sms_[w.sm];
  const double pipe = unit.sub[w.sub].pipe_free[static_cast<size_t>(p.pipe)];
  auto free = static_cast<uint64_t>(
      std::max(0.0, std::ceil(pipe - (p.defers || computes(p.pipe) ? longest_queue : 0))));
  Stall why = Stall::math_pipe_throttle;
  if (p.unit == isa::Unit::lsu && unit.lsu_free > static_cast<double>(at) + queue) {
    free = static_cast<uint64_t>(unit.lsu_free - queue);
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
  w.busy = std::max(w.busy, static_cast<double>(now)) + p.held + fetching;
  w.next = std::max(now + std::max(1U, p.slots), static_cast<uint64_t>(w.busy));
}

void SmGroup::issue(Warp& w, uint32_t index, int lane_group, uint32_t pc, uint64_t now) {
  const Price& p = prices_[pc];
  Sm& unit = sms_[w.sm];
  SubCore& s = unit.sub[w.sub];
  charge(w, pc, now);
  Exec x = exec(w);
  x.group = static_cast<uint32_t>(lane_group);
  const LaneGroup& before = w.warp->groups[x.group];
  const Wait::Kind waited = before.wait.kind;
  const bool resumed = !runnable(before.wait) && waited != Wait::Kind::convergence;
  if (context_.observer != nullptr && w.cluster->observer) {
    x.pc = pc;
    if (now > w.since + 1) w.cluster->observer->stalled(x.origin(before.mask), w.why, w.since + 1);
  }
  lanes_ = guarded(x, pc, before.mask);
  if (p.address >= 0) take_addresses(x, pc, before.mask);
  if (w.warp->groups.size() > 1 && ++w.turns >= longest_turn) {
    w.turns = 0;
    yield_after_ = true;
  }
  const uint64_t first_id = w.cluster->next_async, progress = w.cluster->progress;
  run_warp(x, 1);
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
  if (group != nullptr && yield_after_ && group->wait.kind == Wait::Kind::none)
    group->wait = {.kind = Wait::Kind::poll};
  yield_after_ = false;
  const bool blocked = group != nullptr && !runnable(group->wait);
  if (blocked && group->wait.kind == Wait::Kind::edge) {
    accesses.push_back({seen(p, now), now, index});
    w.state = Warp::State::edge;
    return;
  }
  if (group != nullptr && !blocked && group->pc != pc + 1 && group->pc != pc) {
    take_branch(w, p, group->pc < pc);
  }
  if (p.branches && !p.unrolled) w.block = w.next;
  if (blocked) {
    w.why = stall_of(group->wait.kind);
    if (w.cluster->progress != progress) wake(*w.cluster, now, false);
    return;
  }
  after(w, index, p, pc, resumed, now, first_id, start);
  if (w.cluster->progress != progress && (p.path == Path::waits || p.path == Path::exit))
    wake(*w.cluster, now, false);
  if (p.path == Path::exit && w.cluster->finished()) retire(*w.cluster, now + p.latency);
}

// A turn of a loop ends when its arithmetic has issued.
void SmGroup::take_branch(Warp& w, const Price& p, bool back) const {
  const bool on = back && runs_on(w, p);
  w.iterations += back && p.unrolled;
  if (on) return;
  w.next += static_cast<uint64_t>(p_.branch_taken);
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
  mask = guarded(x, pc, mask) & prices_[pc].lanes;
  lanes_ = x.active = mask;
  if (mask != 0) x.addresses(op.operands[prices_[pc].address], addresses_);
}

void SmGroup::set_ready(Warp& w, const Price& p, uint64_t time) {
  for (const uint32_t r : prices_.writes(p)) w.ready[r] = time, w.source[r] = p.result, w.pipe[r] = p.pipe;
}

void SmGroup::set_unanswered(Warp& w, const Price& p, uint32_t answer, uint32_t offset) {
  for (const uint32_t r : prices_.writes(p)) {
    w.ready[r] = never;
    w.answer[r] = answer;
    w.offset[r] = offset;
    w.source[r] = p.result;
    w.pipe[r] = p.pipe;
  }
  w.unanswered = true;
}

// The instruction has had its turn; its result follows its operands, whenever they come.
void SmGroup::defer(Warp& w, const Price& p, uint64_t now, uint32_t latency) {
  uint64_t ready = now;
  uint32_t answer = 0, offset = 0;
  bool unanswered = false;
  Stall source = p.result;
  Resource pipe = p.pipe;
  for (const uint32_t r : prices_.reads(p)) {
    const auto over = static_cast<uint32_t>(p.free ? 0 : hand_over(w.pipe[r], p.pipe));
    if (w.ready[r] == never) {
      if (!unanswered || w.answer[r] > answer)
        answer = w.answer[r], offset = w.offset[r] + over;
      else if (w.answer[r] == answer)
        offset = std::max(offset, w.offset[r] + over);
      unanswered = true;
      source = w.source[r];
    } else if (w.ready[r] + over > ready) {
      ready = w.ready[r] + over;
      if (!unanswered) source = w.source[r];
    }
    if (p.free) pipe = w.pipe[r];
  }
  if (unanswered)
    set_unanswered(w, p, answer, offset + latency);
  else
    set_ready(w, p, ready + latency);
  if (!p.free) {
    w.deferred |= unanswered;
    w.horizon = std::max(w.horizon, ready);
  }
  if (ready <= now && !unanswered && !p.free) source = p.result;
  for (const uint32_t r : prices_.writes(p)) w.source[r] = source, w.pipe[r] = pipe;
}

// What the instruction has set going.
void SmGroup::after(Warp& w, uint32_t index, const Price& p, uint32_t pc, bool resumed, uint64_t now,
                    uint64_t first_id, uint64_t start) {
  if (p.defers)
    defer(w, p, p.early ? w.block : start, p.latency);
  else
    set_ready(w, p, resumed ? now + 1 : now + p.latency);
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
      return issue_async(w, p, now, first_id);
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
