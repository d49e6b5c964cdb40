#include "traces/operations.h"

#include <fmt/format.h>

#include <algorithm>

#include "isa/core/effects.h"
#include "sim/machine/exec/exec.h"

namespace palladion::traces {
namespace {

// What the tracks are called where operations overlap.
const char* in_flight(isa::AsyncGroup group) {
  switch (group) {
    case isa::AsyncGroup::wgmma:
      return "wgmma in flight";
    case isa::AsyncGroup::cp_async:
      return "cp.async in flight";
    default:
      return "copies in flight";
  }
}

std::string_view by(isa::AsyncGroup group) {
  return group == isa::AsyncGroup::wgmma ? "wgmma" : group == isa::AsyncGroup::cp_async ? "cp.async" : "TMA";
}

}  // namespace

std::string Operations::name_of(const sim::AsyncIssue& e, const Operation& op) const {
  if (const auto* w = std::get_if<isa::Wgmma>(e.origin.effect))
    return fmt::format("wgmma m{}n{}k{}", w->m, w->n, w->k);
  const char* verb = e.reduces ? "reduce" : op.filled.empty() ? "store" : op.read.empty() ? "load" : "send";
  if (op.filled.empty() && op.read.empty()) return e.name;
  return fmt::format("{} {}", verb, stages_.name(op.filled.empty() ? op.read.front() : op.filled.front()));
}

Operations::Groups& Operations::groups_of(const sim::Origin& origin, isa::AsyncGroup kind) {
  return groups_[{origin.cta_rank * warps_.warps_per_cta() + origin.warp, kind}];
}

std::vector<bool>& Operations::lanes_of(const Operation& op) {
  const bool own = op.group == isa::AsyncGroup::wgmma || op.group == isa::AsyncGroup::cp_async;
  return lanes_[{op.origin.cta_rank, own ? op.group : isa::AsyncGroup::none}];
}

ClusterTrace::LocalTrack Operations::track_of(const Operation& op) {
  const sim::CtaRank rank = op.origin.cta_rank;
  const auto group = trace_.group(rank, 10 + static_cast<int>(op.group), in_flight(op.group));
  const std::string key = fmt::format("{} {}", in_flight(op.group), op.lane);
  return trace_.track(rank, group, TrackKind::in_flight, static_cast<int>(op.lane), key, key);
}

void Operations::on(const sim::AsyncIssue& e) {
  const sim::Origin& origin = e.origin;
  const bool copies = e.family != isa::AsyncFamily::wgmma;
  Operation op{.origin = origin, .group = e.group, .from = trace_.now(), .reads = true};
  op.filled = stages_.touched(e.writes, copies);
  op.read = stages_.touched(e.reads, copies);
  op.name = trace_.keep(name_of(e, op));
  for (const sim::Piece& p : copies && !e.writes.empty() ? e.writes : e.reads) op.bytes += p.bytes;
  std::vector<bool>& lanes = lanes_of(op);
  op.lane = static_cast<uint32_t>(std::ranges::find(lanes, false) - lanes.begin());
  if (op.lane == lanes.size()) lanes.push_back(true);
  lanes[op.lane] = true;
  for (const auto& place : op.filled) stages_.fill_begins(place, by(e.group));
  for (const auto& place : op.read) stages_.read_begins(place, by(e.group));
  const uint64_t arrow = trace_.flow();
  warps_.moment(origin, trace_.keep(fmt::format("issues {}", op.name)), {arrow});
  const bool waited_in_groups = e.group != isa::AsyncGroup::none && e.mbarriers.empty();
  (waited_in_groups ? op.flows : op.ends).push_back(arrow);
  if (waited_in_groups) arrows_[e.id] = arrow;
  if (waited_in_groups && copies) groups_of(origin, e.group).open.push_back(e.id);
  pending_.emplace(e.id, std::move(op));
}

// The first warp of a warpgroup represents all four.
void Operations::on(const sim::AsyncJoined& event) {
  if (event.origin.warp % 4 == 0) groups_of(event.origin, isa::AsyncGroup::wgmma).open.push_back(event.id);
}

void Operations::on(const sim::GroupCommitted& event) {
  Groups& g = groups_of(event.origin, event.group);
  g.closed.push_back(std::move(g.open));
  g.open.clear();
}

void Operations::on(const sim::GroupWaited& event) {
  const sim::Origin& origin = event.origin;
  warps_.goes_on(origin, event.group == isa::AsyncGroup::wgmma ? sim::Stall::gmma : sim::Stall::async_group);
  Groups& g = groups_of(origin, event.group);
  std::vector<uint64_t> seen;
  for (size_t i = 0; i + event.allowed < g.closed.size(); ++i) {
    seen.insert(seen.end(), g.closed[i].begin(), g.closed[i].end());
    g.closed[i].clear();
  }
  while (!event.read_only && g.closed.size() > event.allowed) g.closed.pop_front();
  std::vector<uint64_t> ends;
  for (const uint64_t id : seen)
    if (const auto at = arrows_.find(id); at != arrows_.end()) {
      ends.push_back(at->second);
      arrows_.erase(at);
    }
  if (!ends.empty()) warps_.moment(origin, "sees its groups complete", {}, std::move(ends));
}

uint64_t Operations::arrow_from(uint64_t id, sim::SharedAddress mbarrier) {
  const auto at = pending_.find(id);
  if (at == pending_.end()) return 0;
  Operation& op = at->second;
  if (std::ranges::find(op.mbarriers, mbarrier) != op.mbarriers.end()) return 0;
  op.mbarriers.push_back(mbarrier);
  op.flows.push_back(trace_.flow());
  return op.flows.back();
}

void Operations::end_reads(Operation& op) {
  if (!op.reads) return;
  op.reads = false;
  for (const auto& place : op.read) stages_.read_ends(place);
}

// A wgmma uses its operands until it completes.
void Operations::read(uint64_t id) {
  const auto at = pending_.find(id);
  if (at != pending_.end() && at->second.group != isa::AsyncGroup::wgmma) end_reads(at->second);
}

void Operations::on(const sim::AsyncLanded& event) {
  const auto at = pending_.find(event.id);
  if (at == pending_.end()) return;
  Operation& op = at->second;
  end_reads(op);
  for (const auto& place : op.filled) stages_.fill_ends(place);
  write(op);
  lanes_of(op)[op.lane] = false;
  pending_.erase(at);
}

void Operations::write(Operation& op) {
  Event e{.from = op.from, .to = trace_.now(), .name = op.name, .pc = op.origin.pc};
  e.category = op.group == isa::AsyncGroup::wgmma ? Category::tensor : Category::copy;
  e.args = {{"line", trace_.line(op.origin.pc)}, {"bytes", op.bytes}};
  e.flows = std::move(op.flows);
  e.ends = std::move(op.ends);
  trace_.add(track_of(op), std::move(e));
}

ClusterTrace::LocalTrack Operations::unit_track(sim::CtaRank rank, sim::Resource unit) {
  const bool tma = unit == sim::Resource::tma;
  const std::string key(tma ? "TMA unit" : "tensor core");
  return trace_.track(rank, trace_.cta(rank), tma ? TrackKind::tma : TrackKind::tensor_core, tma ? 8 : 9, key,
                      key);
}

void Operations::on(const sim::UnitWorked& event) {
  const auto at = pending_.find(event.id);
  if (at == pending_.end() || (event.unit != sim::Resource::tma && event.unit != sim::Resource::tensor))
    return;
  const Operation& op = at->second;
  uint64_t& busy = busy_until_[{op.origin.cta_rank, event.unit}];
  const uint64_t from = std::max(uint64_t{event.from}, busy);
  if (from >= event.to) return;
  busy = event.to;
  Event e{.from = from, .to = event.to, .name = op.name, .pc = op.origin.pc};
  e.category = event.unit == sim::Resource::tensor ? Category::tensor : Category::copy;
  e.args = {{"line", trace_.line(op.origin.pc)}};
  trace_.add(unit_track(op.origin.cta_rank, event.unit), std::move(e));
}

void Operations::flush() {
  for (auto& [id, op] : pending_) write(op);
  pending_.clear();
}

}  // namespace palladion::traces
