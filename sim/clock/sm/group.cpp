#include "sim/clock/sm/group.h"

#include <algorithm>
#include <utility>

namespace palladion::sim::hardware {

SmGroup::SmGroup(const RunContext& context, const Prices& prices, const isa::ClockParameters& parameters,
                 uint32_t first, uint32_t count, uint64_t l1_bytes)
    : context_(context), prices_(prices), p_(parameters), sms_(count) {
  for (uint32_t i = 0; i < count; ++i) {
    sms_[i].id = first + i;
    sms_[i].l1.resize(l1_bytes);
    sms_[i].fetched.assign(context.program.code.size(), 0);
  }
}

void SmGroup::start(ClusterState& cluster, uint64_t time) {
  for (CtaState& cta : cluster.ctas) {
    const uint32_t at = cta.rank;
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
      w.values.assign(prices_.register_count(), {});
      for (std::vector<uint32_t>& waiting : w.boards) waiting.clear();
      w.boards_used = 0;
      w.unanswered = w.deferred = w.drain = false;
      w.horizon = w.block = time;
      w.iterations = 0;
      w.arrive_free = w.last_store = w.last_async = 0;
      w.fenced = false;
      w.fence_end = 0;
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

// The host's caches have forgotten the group since its last quantum. Each warp's state lies behind pointers
// that depend on each other: those of all warps are followed at once.
void SmGroup::prefetch() const {
  for (const Warp& w : warps_)
    if (w.state != Warp::State::done) __builtin_prefetch(w.warp);
  for (const Warp& w : warps_)
    if (w.state != Warp::State::done) __builtin_prefetch(w.warp->groups.data());
}

void SmGroup::run_until(uint64_t end, std::vector<LineTime>& lines) {
  end_ = end;
  lines_ = lines.data();
  prefetch();
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
  pass_board(w, p);
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
bool SmGroup::runs_on(const Warp& w, const Price& p) const {
  return p.unrolled && (w.iterations + 1) % std::max(1U, static_cast<uint32_t>(p_.branch_unrolled)) != 0;
}

// No earlier than `at`; `never` while L2 has not answered.
uint64_t SmGroup::operands_ready(Warp& w, const Price& p, uint64_t at) const {
  if (p.defers || runs_on(w, p)) return at;
  const uint64_t predicate = p.branches ? static_cast<uint64_t>(p_.issue_branch_predicate) : 0;
  for (const uint32_t r : prices_.reads(p)) {
    const Value& v = w.values[r];
    const bool exact = v.ready == never || v.ready == 0;
    const uint64_t ready = exact ? v.ready : v.ready + hand_over(v.pipe, p.pipe) + predicate;
    if (ready <= at) continue;
    at = ready;
    w.why = v.source;
  }
  return at;
}

void SmGroup::wait_for_slot(Warp& w, uint32_t index) {
  SubCore& s = sms_[w.sm].sub[w.sub];
  w.why = Stall::not_selected;
  w.state = Warp::State::slot;
  s.waiting.push_back(index);
  if (!s.scheduled) push(s.slot_free, Event::Kind::slot, w.sm * 4 + w.sub);
  s.scheduled = true;
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
    uint64_t at = operands_ready(w, p, std::max(now, w.next));
    if (at == never) {
      w.state = Warp::State::memory;
      parked_.push_back(index);
      return;
    }
    const bool again = p.release != 0 && release(w, p, pc, groups[static_cast<size_t>(g)].mask, at);
    if (again || !unit_free(w, p, at, now)) {
      wait_for_unit(w, index, at);
      return;
    }
    now = at;
    if (sms_[w.sm].sub[w.sub].slot_free > now) {
      wait_for_slot(w, index);
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

void SmGroup::set_ready(Warp& w, const Price& p, uint64_t time) {
  for (const uint32_t r : prices_.writes(p)) {
    Value& v = w.values[r];
    v.ready = time, v.source = p.result, v.pipe = p.pipe, v.board = 0;
  }
}

void SmGroup::set_unanswered(Warp& w, const Price& p, uint32_t answer, uint32_t offset) {
  for (const uint32_t r : prices_.writes(p))
    w.values[r] = {.ready = never, .answer = answer, .offset = offset, .source = p.result, .pipe = p.pipe};
  w.unanswered = true;
}

// A load's values are there when those of all loads on its scoreboard are, earlier ones and later ones.
void SmGroup::share_board(Warp& w, const Price& p) {
  const auto mine = prices_.writes(p);
  if (p.board == 0 || mine.empty()) return;
  std::vector<uint32_t>& waiting = w.boards[p.board - 1];
  std::erase_if(waiting, [&](uint32_t r) { return w.values[r].board != p.board; });
  waiting.insert(waiting.end(), mine.begin(), mine.end());
  w.boards_used |= static_cast<uint8_t>(1U << (p.board - 1));
  for (const uint32_t r : mine) w.values[r].board = p.board;
  const uint32_t first = waiting.front(), last = waiting.back();
  Due due;
  uint64_t ready = 0;
  for (const uint32_t r : {first, last}) {
    const Value& v = w.values[r];
    if (v.ready == never)
      due = join(w, due, {true, v.answer, v.offset});
    else
      ready = std::max(ready, v.ready);
  }
  if (due.waits && ready > w.since) {
    pending_.push_back(
        {.warp = static_cast<uint32_t>(&w - warps_.data()), .not_before = ready, .parts = {due}});
    due = {true, static_cast<uint32_t>(pending_.size() - 1), 0};
  }
  for (const uint32_t r : waiting) {
    Value& v = w.values[r];
    v.ready = due.waits ? never : ready;
    v.answer = due.answer, v.offset = due.offset;
  }
}

// Who has waited for a scoreboard has all its loads; copies wait as what they are copied from.
void SmGroup::pass_board(Warp& w, const Price& p) {
  if (w.boards_used == 0) return;
  for (const uint32_t r : prices_.reads(p)) {
    const uint8_t board = w.values[r].board;
    if (board == 0) continue;
    std::vector<uint32_t>& waiting = w.boards[board - 1];
    if (!p.free) {
      for (const uint32_t m : waiting) w.values[m].board = 0;
      waiting.clear();
      w.boards_used &= static_cast<uint8_t>(~(1U << (board - 1)));
      continue;
    }
    for (const uint32_t copy : prices_.writes(p)) w.values[copy].board = board, waiting.push_back(copy);
  }
}

// What needs values of two requests has both when the later one has come.
SmGroup::Due SmGroup::join(const Warp& w, const Due& a, const Due& b) {
  if (!a.waits) return b;
  if (a.answer == b.answer) return {true, a.answer, std::max(a.offset, b.offset)};
  const auto both = static_cast<uint32_t>(pending_.size());
  pending_.push_back({.warp = static_cast<uint32_t>(&w - warps_.data()), .parts = {a, b}});
  return {true, both, 0};
}

// The instruction has had its turn; its result follows its operands, whenever they come.
void SmGroup::defer(Warp& w, const Price& p, uint64_t now, uint32_t latency) {
  uint64_t ready = now;
  Due due;
  Stall source = p.result;
  Resource pipe = p.pipe;
  for (const uint32_t r : prices_.reads(p)) {
    const Value& v = w.values[r];
    const auto over = static_cast<uint32_t>(p.free ? 0 : hand_over(v.pipe, p.pipe));
    if (v.ready == never) {
      due = join(w, due, {true, v.answer, v.offset + over});
      source = v.source;
    } else if (v.ready + over > ready) {
      ready = v.ready + over;
      if (!due.waits) source = v.source;
    }
    if (p.free) pipe = v.pipe;
  }
  if (due.waits)
    set_unanswered(w, p, due.answer, due.offset + latency);
  else
    set_ready(w, p, ready + latency);
  if (!p.free) {
    w.deferred |= due.waits;
    w.horizon = std::max(w.horizon, ready);
  }
  if (ready <= now && !due.waits && !p.free) source = p.result;
  for (const uint32_t r : prices_.writes(p)) w.values[r].source = source, w.values[r].pipe = pipe;
}

}  // namespace palladion::sim::hardware
