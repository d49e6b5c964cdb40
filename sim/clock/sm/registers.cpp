#include "sim/clock/sm/registers.h"

#include <algorithm>

namespace palladion::sim::hardware {

void WarpRegisters::reset(const InstructionCosts& costs, uint32_t warp, Cycle time) {
  costs_ = &costs;
  warp_ = warp;
  values_.assign(costs.register_count(), {});
  for (std::vector<uint32_t>& waiting : scoreboards_) waiting.clear();
  scoreboards_used_ = 0;
  unanswered_ = deferred_ = draining_ = false;
  horizon_ = time;
}

Cycle WarpRegisters::ready(const InstructionCost& cost, Cycle at, Stall& why) const {
  const uint64_t predicate = cost.branches ? costs_->branch_predicate() : 0;
  for (const uint32_t r : costs_->reads(cost)) {
    const Value& v = values_[r];
    const bool exact = v.ready == never || v.ready == 0;
    const Cycle ready = exact ? v.ready : v.ready + costs_->hand_over(v.pipe, cost.occupies) + predicate;
    if (ready <= at) continue;
    at = ready;
    why = v.source;
  }
  return at;
}

void WarpRegisters::set_ready(const InstructionCost& cost, Cycle time) {
  for (const uint32_t r : costs_->writes(cost)) {
    Value& v = values_[r];
    v.ready = time, v.source = cost.result, v.pipe = cost.occupies, v.scoreboard = 0;
  }
}

void WarpRegisters::set_unanswered(const InstructionCost& cost, uint32_t answer, uint32_t offset) {
  for (const uint32_t r : costs_->writes(cost))
    values_[r] = {
        .ready = never, .answer = answer, .offset = offset, .source = cost.result, .pipe = cost.occupies};
  unanswered_ = true;
}

void WarpRegisters::share_scoreboard(const InstructionCost& cost, Cycle issued, Answers& answers) {
  const auto mine = costs_->writes(cost);
  if (cost.scoreboard == 0 || mine.empty()) return;
  std::vector<uint32_t>& waiting = scoreboards_[cost.scoreboard - 1];
  std::erase_if(waiting, [&](uint32_t r) { return values_[r].scoreboard != cost.scoreboard; });
  waiting.insert(waiting.end(), mine.begin(), mine.end());
  scoreboards_used_ |= static_cast<uint8_t>(1U << (cost.scoreboard - 1));
  for (const uint32_t r : mine) values_[r].scoreboard = cost.scoreboard;
  const uint32_t first = waiting.front(), last = waiting.back();
  Due due;
  Cycle ready;
  for (const uint32_t r : {first, last}) {
    const Value& v = values_[r];
    if (v.ready == never)
      due = answers.join(warp_, due, {true, v.answer, v.offset});
    else
      ready = std::max(ready, v.ready);
  }
  if (due.waits && ready > issued)
    due = {true, answers.wait({.warp = warp_, .not_before = ready, .parts = {due}}), 0};
  for (const uint32_t r : waiting) {
    Value& v = values_[r];
    v.ready = due.waits ? never : ready;
    v.answer = due.answer, v.offset = due.offset;
  }
}

void WarpRegisters::pass_scoreboard(const InstructionCost& cost) {
  if (scoreboards_used_ == 0) return;
  for (const uint32_t r : costs_->reads(cost)) {
    const uint8_t scoreboard = values_[r].scoreboard;
    if (scoreboard == 0) continue;
    std::vector<uint32_t>& waiting = scoreboards_[scoreboard - 1];
    if (!cost.is_folded()) {
      for (const uint32_t m : waiting) values_[m].scoreboard = 0;
      waiting.clear();
      scoreboards_used_ &= static_cast<uint8_t>(~(1U << (scoreboard - 1)));
      continue;
    }
    for (const uint32_t copy : costs_->writes(cost))
      values_[copy].scoreboard = scoreboard, waiting.push_back(copy);
  }
}

void WarpRegisters::defer(const InstructionCost& cost, Cycle now, uint32_t latency, Answers& answers) {
  Cycle ready = now;
  Due due;
  Stall source = cost.result;
  Resource pipe = cost.occupies;
  for (const uint32_t r : costs_->reads(cost)) {
    const Value& v = values_[r];
    const auto over = static_cast<uint32_t>(cost.is_folded() ? 0 : costs_->hand_over(v.pipe, cost.occupies));
    if (v.ready == never) {
      due = answers.join(warp_, due, {true, v.answer, v.offset + over});
      source = v.source;
    } else if (v.ready + over > ready) {
      ready = v.ready + over;
      if (!due.waits) source = v.source;
    }
    if (cost.is_folded()) pipe = v.pipe;
  }
  if (due.waits)
    set_unanswered(cost, due.answer, due.offset + latency);
  else
    set_ready(cost, ready + latency);
  if (!cost.is_folded()) {
    deferred_ |= due.waits;
    reach(ready, source);
  }
  if (ready <= now && !due.waits && !cost.is_folded()) source = cost.result;
  for (const uint32_t r : costs_->writes(cost)) values_[r].source = source, values_[r].pipe = pipe;
}

void WarpRegisters::resolve(const Answers& answers) {
  unanswered_ = deferred_ = false;
  for (Value& v : values_) {
    if (v.ready != never) continue;
    v.ready = answers.time(v.answer) + v.offset;
    if (v.offset != 0) reach(v.ready, v.source);  // not the load itself
  }
}

bool WarpRegisters::drained(Cycle& at, Stall& why) {
  if (!draining_) return true;
  if (deferred_) return false;
  draining_ = false;
  if (horizon_ > at) at = horizon_, why = horizon_source_;
  return true;
}

}  // namespace palladion::sim::hardware
