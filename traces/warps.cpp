#include "traces/warps.h"

#include <fmt/format.h>

#include <algorithm>
#include <tuple>
#include <utility>

#include "sim/clock/sm/waits.h"
#include "sim/machine/exec/exec.h"

namespace palladion::traces {
Warps::Warps(ClusterTrace& trace)
    : trace_(trace),
      warps_(trace.run().launch->warps_per_cta()),
      lines_(warps_ * trace.run().launch->cluster.count()) {}

// Other warps or operations end the stall.
bool Warps::waits_for_others(const Piece& p) {
  using S = sim::Stall;
  return !p.issues && (p.why == S::mbarrier || p.why == S::barrier || p.why == S::cluster_barrier);
}

// A CTA of whole warpgroups has roles; a smaller one has warps alone.
ClusterTrace::LocalTrack Warps::role(sim::CtaRank rank, uint32_t warpgroup) {
  const std::string key = fmt::format("warpgroup {}", warpgroup);
  return trace_.track(rank, trace_.cta(rank), TrackKind::role, static_cast<int>(warpgroup), key, key);
}

ClusterTrace::LocalTrack Warps::track_of(sim::CtaRank rank, sim::WarpOfCta warp) {
  const auto parent = warps_ >= 4 ? role(rank, warp / 4U) : trace_.cta(rank);
  const std::string key = fmt::format("warp {}", warp);
  return trace_.track(rank, parent, TrackKind::warp, warp, key, key);
}

void Warps::write(uint32_t index, const Piece& p) {
  if (p.from >= p.to) return;
  Event e{.from = p.from, .to = p.to, .pc = p.pc};
  e.category = p.issues ? Category::issue : Category::stall;
  if (p.issues) {
    e.name = p.line;
  } else {
    const std::string_view why = sim::name(p.why);
    e.name = p.object.empty() ? why : trace_.keep(fmt::format("{} {}", why, p.object));
    e.args = {{"reason", why}, {"line", p.line}};
    if (p.phase) e.args.push_back({"phase", *p.phase});
    if (p.open) {
      e.args.push_back({"since", p.since});
      e.args.push_back({"open", "still waits when the run ends"});
    }
  }
  trace_.add(track_of(sim::CtaRank(index / warps_), sim::WarpOfCta(index % warps_)), std::move(e));
}

// A piece joins the open one when the gap is short: a loop that stalls repeatedly at one line is one slice.
void Warps::add(uint32_t index, const Piece& p) {
  if (p.from >= p.to) return;
  Line& line = lines_[index];
  if (line.open && line.open->same(p) && p.from - line.open->to < short_stall) {
    line.open->to = p.to;
    line.tail.clear();
    return;
  }
  if (!line.tail.empty() && line.tail.back().same(p) && p.from == line.tail.back().to)
    line.tail.back().to = p.to;
  else
    line.tail.push_back(p);
  if (!line.open) shift(line, index);
  while (!line.tail.empty() && line.tail.back().to - line.open->to >= short_stall) shift(line, index);
}

// The open piece is complete, the one after it becomes the open piece.
void Warps::shift(Line& line, uint32_t index) {
  if (line.open) write(index, *line.open);
  line.open.reset();
  if (line.tail.empty()) return;
  line.open = line.tail.front();
  line.tail.pop_front();
}

void Warps::stalled(const sim::Stalled& event) {
  const uint64_t now = trace_.now();
  const sim::Origin& origin = event.origin;
  Line& line = line_of(origin);
  const auto index = static_cast<uint32_t>(&line - lines_.data());
  const std::string_view at = trace_.line(origin.pc);
  add_last(index);
  // Instructions that followed the last one without a stall are not recorded.
  if (line.recorded && line.until < event.from)
    add(index,
        {.issues = true, .pc = line.pc, .line = trace_.line(line.pc), .from = line.until, .to = event.from});
  line.recorded = true;
  line.until = now + 1;
  line.pc = origin.pc;
  uint64_t from = event.from;
  for (const sim::StallPart& part : event.parts) {
    Piece piece{.why = part.reason, .pc = origin.pc, .line = at, .from = from, .to = part.to};
    piece.issues = part.to - from < short_stall || part.reason == sim::Stall::selected;
    if (waits_for_others(piece) && line.object_at == now) piece.object = line.object;
    line.last.push_back(piece);
    from = part.to;
  }
  line.last.push_back({.issues = true, .pc = origin.pc, .line = at, .from = now, .to = now + 1});
}

void Warps::add_last(uint32_t index) {
  for (const Piece& p : lines_[index].last) add(index, p);
  lines_[index].last.clear();
}

void Warps::waited_for(const sim::Origin& origin, std::string_view object) {
  Line& line = line_of(origin);
  line.object = object;
  line.object_at = trace_.now();
  // The stall may have been recorded just before.
  if (!line.issues_at(trace_.now()) || line.pc != origin.pc) return;
  for (Piece& p : line.last)
    if (waits_for_others(p)) p.object = object;
  add_last(static_cast<uint32_t>(&line - lines_.data()));
}

void Warps::waits(const sim::Origin& origin, std::string_view object, sim::SharedAddress mbarrier) {
  Line& line = line_of(origin);
  const bool again = std::exchange(line.waits, true) && line.awaited == object;
  line.awaited = object;
  line.mbarrier = mbarrier;
  if (!again) line.waits_since = stalled_since(line, origin.pc);
  if (trace_.clocked()) waited_for(origin, object);  // and goes on waiting
}

// When the mbarrier's stall began that ends now at this instruction: a try_wait that timed out.
uint64_t Warps::stalled_since(const Line& line, sim::Pc pc) const {
  const auto at = std::ranges::find(line.last, sim::Stall::mbarrier, &Piece::why);
  const bool is_it = line.issues_at(trace_.now()) && line.pc == pc && at != line.last.end();
  return is_it ? at->from : trace_.now();
}

void Warps::goes_on(const sim::Origin& origin, sim::Stall why) {
  Line& line = line_of(origin);
  if (!line.waits) return;
  line.waits = false;
  if (trace_.clocked()) return;
  const auto index = static_cast<uint32_t>(&line - lines_.data());
  write(index, {.why = why,
                .pc = origin.pc,
                .line = trace_.line(origin.pc),
                .object = line.awaited,
                .from = line.waits_since,
                .to = trace_.now()});
}

void Warps::moment_at(uint64_t at, const sim::Origin& origin, std::string_view what,
                      std::vector<uint64_t> flows, std::vector<uint64_t> ends) {
  Event e{.from = at, .to = at, .instant = true, .category = Category::event, .name = what};
  e.args = {{"line", trace_.line(origin.pc)}};
  e.flows = std::move(flows);
  e.ends = std::move(ends);
  e.pc = origin.pc;
  trace_.add(track_of(origin.cta_rank, origin.warp), std::move(e));
}

void Warps::exited(const sim::Origin& origin) {
  if (std::popcount(origin.lanes) < 32) return;  // other lanes of the warp continue
  Line& line = line_of(origin);
  const auto index = static_cast<uint32_t>(&line - lines_.data());
  add_last(index);
  while (line.open) shift(line, index);
}

void Warps::flush(const MbarrierAt& mbarrier) {
  for (uint32_t i = 0; i < lines_.size(); ++i) {
    add_last(i);
    if (const auto piece = last_wait(i, mbarrier)) add(i, *piece);
    while (lines_[i].open) shift(lines_[i], i);
  }
}

// For a run that was stopped or deadlocked: what the warp waits for at its end.
std::optional<Warps::Piece> Warps::last_wait(uint32_t index, const MbarrierAt& mbarrier) const {
  const Line& line = lines_[index];
  const auto& warps = trace_.cluster().ctas[index / warps_].warps;
  if (index % warps_ >= warps.size()) return std::nullopt;
  for (const sim::LaneGroup& group : warps[index % warps_].groups) {
    const bool stands =
        !sim::hardware::runnable(group.wait) && group.wait.kind != sim::Wait::Kind::quantum_boundary;
    // A loop around test_wait never stands: its last test failed.
    if (group.mask == 0 || (!stands && !line.waits)) continue;
    Piece p{.why = stands ? sim::hardware::stall_of(group.wait.kind) : sim::Stall::mbarrier,
            .pc = group.pc,
            .line = trace_.line(group.pc),
            .from = trace_.clocked() ? line.until : group.last_run,
            .open = true};
    if (line.waits) p.object = line.awaited, p.from = std::max(p.from, line.waits_since);
    p.since = line.waits ? line.waits_since : p.from;
    const bool at_mbarrier = group.wait.kind == sim::Wait::Kind::mbarrier;
    if (const uint64_t address = at_mbarrier  ? group.wait.object
                                 : line.waits ? uint64_t{line.mbarrier}
                                              : uint64_t{no_mbarrier};
        const auto m = mbarrier(sim::SharedAddress(address)))
      std::tie(p.object, p.phase) = *m;
    p.to = std::max(trace_.now(), p.from + 1);
    return p;
  }
  return std::nullopt;
}

}  // namespace palladion::traces
