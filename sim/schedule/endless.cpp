#include "sim/schedule/endless.h"

#include <algorithm>
#include <map>

#include "sim/launch/fault.h"
#include "sim/machine/exec/exec.h"
#include "sim/machine/exec/place.h"

namespace palladion::sim {
namespace {

constexpr uint64_t look_interval = 1 << 24;  // warp instructions of the grid
constexpr uint64_t share_without_effect = 16;

// It reads registers and memory that no other warp changes meanwhile, and no other warp observes it.
bool has_no_effect(const Program& program, const MicroOp& op) {
  const isa::Footprint& f = program.footprint(op);
  const bool stays = f.next == isa::Control::next || f.next == isa::Control::branches || f.ends();
  return stays && !op.dynamic_special && !f.writes_memory() && f.order == isa::Order::weak &&
         f.at(isa::Sync::Object::none) && f.async.role == isa::Async::Role::none;
}

// From `pc` up to the first branch, at most `most`; 0 when the first instruction has an effect.
uint32_t straight_run(const Program& program, uint32_t pc, uint32_t most) {
  uint32_t n = 0;
  while (n < most && pc + n < program.code.size() && has_no_effect(program, program.code[pc + n]))
    if (program.footprint(program.code[pc + n++]).next != isa::Control::next) break;
  return n;
}

struct WarpAt {
  const ClusterState* cluster;
  size_t rank, warp;
};

std::vector<WarpAt> warps_of(std::span<const ClusterState* const> resident) {
  std::vector<WarpAt> all;
  for (const ClusterState* cluster : resident)
    for (size_t rank = 0; rank < cluster->ctas.size(); ++rank)
      for (size_t w = 0; w < cluster->ctas[rank].warps.size(); ++w)
        if (!cluster->ctas[rank].warps[w].finished()) all.push_back({cluster, rank, w});
  return all;
}

// How many instructions the warp executes without an effect, at most `limit`. On a copy of its cluster.
uint64_t executes_alone(const RunContext& context, const WarpAt& at, uint64_t limit) {
  constexpr uint32_t longest_run = 4096, stop_interval = 1 << 20;
  ClusterState cluster = *at.cluster;
  Exec x(context.run_of(cluster));
  x.cta = &cluster.ctas[at.rank];
  x.warp = &x.cta->warps[at.warp];
  const uint64_t progress = cluster.progress;
  std::vector<uint32_t> runs(context.program.code.size(), ~0U);
  uint64_t executed = 0, next_poll = stop_interval;
  while (executed < limit) {
    const int group = choose_group(cluster, *x.cta, *x.warp, true);
    if (group < 0) break;
    x.group = static_cast<uint32_t>(group);
    const uint32_t pc = x.self().pc;
    if (runs[pc] == ~0U) runs[pc] = straight_run(context.program, pc, longest_run);
    if (runs[pc] == 0) break;
    executed += run_warp(x, runs[pc]).executed;
    if (cluster.progress != progress || cluster.faulted || x.warp->finished()) break;
    if (executed < next_poll) continue;
    next_poll += stop_interval;
    if (context.stop != nullptr && context.stop->load(std::memory_order_relaxed)) break;
  }
  return executed;
}

// Tries warp after warp, from another one each time, until all together have executed `limit` instructions.
bool some_warp_loops(const RunContext& context, std::span<const ClusterState* const> resident, uint64_t limit,
                     size_t first) {
  RunContext alone = context;
  alone.observer = nullptr;
  alone.watch = nullptr;
  alone.events = {};
  alone.unstarted = nullptr;
  const std::vector<WarpAt> warps = warps_of(resident);
  uint64_t executed = 0;
  for (size_t i = 0; i < warps.size() && executed < limit; ++i) {
    const uint64_t n = executes_alone(alone, warps[(first + i) % warps.size()], limit);
    if (n >= limit) return true;
    executed += n;
  }
  return false;
}

struct Loop {
  uint32_t first = 0, last = 0;  // pc of its first instruction and of the branch back
};

// The smallest loop of the text around `pc`: a branch behind it to a place before it.
Loop loop_around(const Program& program, uint32_t pc) {
  Loop best{pc, pc};
  for (uint32_t at = pc; at < program.code.size(); ++at) {
    const MicroOp& op = program.code[at];
    if (op.function != program.code[pc].function) break;
    if (op.instruction == nullptr || program.footprint(op).next != isa::Control::branches) continue;
    for (size_t k = 0; k < op.instruction->operands.size(); ++k) {
      const DecodedOperand& o = op.operands[k];
      const bool around = o.kind == DecodedOperand::Kind::target && o.id <= pc;
      if (around && (best.last == best.first || at - o.id < best.last - best.first)) best = {o.id, at};
    }
    if (best.last != best.first && at - pc > best.last - best.first) break;
  }
  return best;
}

// Its lines in the author's file where that is known, else in the PTX.
Range lines_of(const Program& program, const Loop& loop) {
  const Site first = site_at(program, loop.first, {}, 0, 0), last = site_at(program, loop.last, {}, 0, 0);
  const bool author = first.source.known() && last.source.known() && first.source.file == last.source.file;
  uint32_t from = author ? first.source.line : first.ptx_line, to = author ? last.source.line : last.ptx_line;
  if (from > to) std::swap(from, to);
  return {from, uint64_t{to} + 1};
}

struct LoopPlace {
  Loop loop;
  Site site;
  uint64_t warps = 0;
};

void add_places(Finding& f, const Program& program, std::span<const ClusterState* const> resident) {
  constexpr size_t shown = 12;
  std::map<std::pair<uint32_t, uint32_t>, LoopPlace> places;
  std::map<uint32_t, Loop> loops;  // by pc: many warps, few places
  for (const ClusterState* cluster : resident)
    for (const CtaState& cta : cluster->ctas)
      for (const WarpState& warp : cta.warps)
        for (const LaneGroup& g : warp.groups) {
          if (g.mask == 0) continue;
          const auto [known, is_new] = loops.try_emplace(g.pc);
          if (is_new) known->second = loop_around(program, g.pc);
          const Loop loop = known->second;
          LoopPlace& place = places[{loop.first, loop.last}];
          if (place.warps++ == 0) place = {loop, site_at(program, g.pc, cta.id, warp.id, g.mask), 1};
        }
  for (auto& [range, place] : places) {
    if (f.sites.size() == shown) break;
    if (place.loop.first != place.loop.last)
      place.site.part = {.does = Does::loops, .number = place.warps, .lines = lines_of(program, place.loop)};
    f.sites.push_back(std::move(place.site));
  }
  std::get<Endless>(f.what).other_places = places.size() - f.sites.size();
}

Finding endless(const Program& program, std::span<const ClusterState* const> resident, Endless why) {
  Finding f = fault(Code::gave_up, {}, {}, FindingSeverity::unknown);
  f.what = why;
  add_places(f, program, resident);
  return f;
}

uint64_t longest_of(std::span<const ClusterState* const> resident) {
  uint64_t most = 0;
  for (const ClusterState* cluster : resident)
    for (const CtaState& cta : cluster->ctas)
      for (const WarpState& warp : cta.warps) most = std::max(most, warp.instructions);
  return most;
}

}  // namespace

std::optional<Finding> find_endless_loop(const RunContext& context,
                                         std::span<const ClusterState* const> resident, EndlessWatch& watch,
                                         uint64_t instructions, uint64_t progress, uint64_t limit) {
  if (progress != watch.last_progress) {
    watch.last_progress = progress;
    watch.quiet_since = instructions;
    watch.patience = std::min(look_interval, limit);
  }
  if (limit == 0 || instructions < watch.next_look) return std::nullopt;
  watch.next_look = instructions + std::min(look_interval, limit);
  if (longest_of(resident) > limit)
    return endless(context.program, resident, {Endless::Why::longest_warp, limit});
  if (instructions - watch.quiet_since < watch.patience) return std::nullopt;
  watch.patience *= 4;
  const uint64_t alone = std::max<uint64_t>(limit / share_without_effect, 1);
  if (!some_warp_loops(context, resident, alone, watch.trials++)) return std::nullopt;
  return endless(context.program, resident, {Endless::Why::without_effect, alone});
}

}  // namespace palladion::sim
