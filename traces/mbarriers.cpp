#include "traces/mbarriers.h"

#include <fmt/format.h>

#include <algorithm>

#include "sim/check/core/context.h"
#include "sim/machine/exec/exec.h"
#include "sim/machine/state/mbarrier.h"

namespace palladion::traces {
namespace {

// "`full`[1]": the track is below its CTA.
std::string short_name(const sim::Object& object) {
  if (object.names.empty())
    return fmt::format("mbarrier at shared address 0x{:x}", object.ranges.front().from);
  const sim::Named& n = object.names.front();
  std::string out = fmt::format("`{}`", n.name);
  if (n.index) out += fmt::format("[{}]", *n.index);
  return n.bytes.empty() ? out : fmt::format("{}+{}", out, n.bytes.front().from);
}

}  // namespace

Mbarriers::Object& Mbarriers::object_at(sim::SharedAddress address) {
  Object& o = objects_[address];
  if (!o.name.empty()) return o;
  const sim::CtaRank rank(address >> sim::cta_rank_shift);
  const std::string name = short_name(sim::check::mbarrier_object(trace_.run(), trace_.cluster(), address));
  o.name = trace_.keep(name);
  o.track = trace_.track(rank, trace_.group(rank, 20, "mbarriers"), TrackKind::mbarrier,
                         static_cast<int>(address & sim::shared_offset_mask), name, name);
  o.since = trace_.now();
  return o;
}

void Mbarriers::happened(const sim::MbarrierEvent& e) {
  using A = isa::MbarrierAction;
  Object& o = object_at(e.address);
  switch (e.action) {
    case A::init:
      close(o);
      o = {.track = o.track, .name = o.name, .since = trace_.now(), .word = e.after};
      return;
    case A::test_wait:
    case A::try_wait:
      return waits(e, o);
    case A::arrive:
      o.arrivals += e.count;
      break;
    case A::complete_tx:
      o.bytes += static_cast<uint64_t>(std::max<int64_t>(-e.tx, 0));
      break;
    default:
      break;
  }
  o.used = true;
  o.phase = e.phase;
  o.word = e.after;
  if (e.async_id != 0) {
    if (const uint64_t arrow = operations_.arrow_from(e.async_id, e.address)) o.causes.push_back(arrow);
  }
  if (e.completed) completes(e, o);
}

void Mbarriers::completes(const sim::MbarrierEvent& e, Object& o) {
  if (e.async_id == 0) {  // a thread was the last: an arrow from it
    o.causes.push_back(trace_.flow());
    warps_.moment(e.origin, trace_.keep(fmt::format("completes {}", o.name)), {o.causes.back()});
  }
  write_completion(o);
  write_phase(o, true);
  o.last = Completion{trace_.now(), e.phase, std::move(o.causes), {}};
  o = {.track = o.track,
       .name = o.name,
       .phase = e.phase + 1,
       .since = trace_.now(),
       .word = o.word,
       .last = std::move(o.last)};
}

void Mbarriers::waits(const sim::MbarrierEvent& e, Object& o) {
  const sim::Origin& origin = e.origin;
  if (!e.succeeded) {
    o.used = true;
    return warps_.waits(origin, o.name, e.address);
  }
  warps_.waited_for(origin, o.name);
  warps_.goes_on(origin, sim::Stall::mbarrier);
  if (!o.last || o.last->phase != e.phase) return;
  const bool known =
      std::ranges::any_of(o.last->seen, [&](const Seen& s) { return s.origin.warp / 4 == origin.warp / 4; });
  if (!known) o.last->seen.push_back({origin, trace_.now()});
}

void Mbarriers::write_phase(Object& o, bool complete) {
  Event e{.from = o.since, .to = trace_.now(), .category = Category::phase};
  e.name = (o.phase & 1) != 0 ? "phase, parity 1" : "phase, parity 0";
  e.args = {{"phase", static_cast<uint64_t>(o.phase)}, {"arrivals", o.arrivals}, {"bytes", o.bytes}};
  if (!complete) {
    const auto state = sim::MbarrierState::decode(o.word);
    e.args.push_back({"missing arrivals", uint64_t{state.pending}});
    e.args.push_back({"missing bytes", static_cast<uint64_t>(std::max(state.tx, 0))});
    e.args.push_back({"open", "not complete"});
  }
  trace_.add(o.track, std::move(e));
}

// Before its observers, so that arrows between equal times point forward.
void Mbarriers::write_completion(Object& o) {
  if (!o.last) return;
  Event e{
      .from = o.last->at, .to = o.last->at, .instant = true, .category = Category::phase, .name = "complete"};
  e.ends = std::move(o.last->causes);
  for (size_t i = 0; i < o.last->seen.size(); ++i) e.flows.push_back(trace_.flow());
  const std::vector<uint64_t> arrows = e.flows;
  trace_.add(o.track, std::move(e));
  const std::string_view sees = trace_.keep(fmt::format("sees {}", o.name));
  for (size_t i = 0; i < arrows.size(); ++i)
    warps_.moment_at(o.last->seen[i].at, o.last->seen[i].origin, sees, {}, {arrows[i]});
  o.last.reset();
}

void Mbarriers::close(Object& o) {
  write_completion(o);
  if (o.used) write_phase(o, false);
  o.used = false;
  o.since = trace_.now();
}

std::optional<std::pair<std::string_view, uint64_t>> Mbarriers::at(sim::SharedAddress address) const {
  const auto found = objects_.find(address);
  if (found == objects_.end()) return std::nullopt;
  return std::pair(found->second.name, static_cast<uint64_t>(found->second.phase));
}

void Mbarriers::flush() {
  for (auto& [address, o] : objects_) close(o);
}

}  // namespace palladion::traces
