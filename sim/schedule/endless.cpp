#include "sim/schedule/endless.h"

#include <algorithm>
#include <map>
#include <unordered_map>

#include "sim/launch/fault.h"
#include "sim/machine/exec/exec.h"
#include "sim/machine/exec/place.h"

namespace palladion::sim {
namespace {

constexpr uint64_t look_interval = 1 << 24;  // warp instructions of the grid
constexpr uint64_t share_without_effect = 16;

// No other warp observes it, and it changes registers and local memory alone.
bool has_no_effect(const Program& program, const MicroOp& op) {
  const isa::Footprint& f = program.footprint(op);
  const bool stays =
      f.next == isa::Control::next || f.next == isa::Control::branches || f.next == isa::Control::returns;
  const bool stores = std::ranges::any_of(
      f.memory, [](const isa::MemoryUse& use) { return use.writes && use.space != isa::Space::local; });
  const bool alone = f.at(isa::Sync::Object::none) || f.at(isa::Sync::Object::warp);
  return stays && !op.dynamic_special && !stores && alone && f.async.role == isa::Async::Role::none;
}

// The same, and what it reads is not meant to change meanwhile.
bool looks_at_nothing(const Program& program, const MicroOp& op) {
  const isa::Footprint& f = program.footprint(op);
  return has_no_effect(program, op) && f.order == isa::Order::weak && !f.writes_memory() &&
         f.at(isa::Sync::Object::none);
}

using Filter = bool (*)(const Program&, const MicroOp&);

// From `pc` up to the first branch, at most `most`, all of them passing the filter.
uint32_t straight_run(const Program& program, Pc pc, uint32_t most, Filter filter) {
  uint32_t n = 0;
  while (n < most && pc + n < program.code.size() && filter(program, program.code[pc + n]))
    if (program.footprint(program.code[pc + n++]).next != isa::Control::next) break;
  return n;
}

struct WarpAt {
  ClusterState* cluster;
  CtaState* cta;
  WarpState* warp;
};

std::vector<WarpAt> warps_of(std::span<ClusterState* const> resident) {
  std::vector<WarpAt> all;
  for (ClusterState* cluster : resident)
    for (CtaState& cta : cluster->ctas)
      for (WarpState& warp : cta.warps)
        if (!warp.finished()) all.push_back({cluster, &cta, &warp});
  return all;
}

// Executes a copy of a warp, which sees its cluster as it is, as long as its instructions pass the filter.
class LoneWarp {
 public:
  LoneWarp(const RunContext& context, const WarpAt& at, Filter filter)
      : filter_(filter),
        copy_(*at.warp),
        x_(context.run_of(*at.cluster)),
        instructions_(at.cluster->instructions),
        findings_(at.cluster->findings.size()) {
    x_.events = nullptr;
    x_.unstarted = nullptr;
    x_.cta = at.cta;
    x_.warp = &copy_;
  }
  ~LoneWarp() {
    x_.cluster.instructions = instructions_;
    x_.cluster.findings.resize(findings_);  // when the warp itself gets there, it reports them again
    x_.cluster.faulted = false;
  }
  LoneWarp(const LoneWarp&) = delete;
  LoneWarp& operator=(const LoneWarp&) = delete;

  enum class End : uint8_t { goes_on, waits, has_effect };
  // Up to the next branch.
  End step() {
    constexpr uint32_t longest_run = 4096;
    const int group = choose_group(x_.cluster, *x_.cta, copy_, true);
    if (group < 0) return End::waits;
    x_.group = static_cast<uint32_t>(group);
    const Pc pc = x_.self().pc;
    const auto [run, is_new] = runs_.try_emplace(pc);
    if (is_new) run->second = straight_run(x_.program, pc, longest_run, filter_);
    const uint32_t last = pc + run->second - 1;
    const bool leaves_kernel = run->second != 0 && x_.self().calls.empty() &&
                               x_.program.footprint(x_.program.code[last]).next == isa::Control::returns;
    const uint32_t most = run->second - (leaves_kernel ? 1 : 0);
    if (most == 0) return End::has_effect;
    executed_ += run_warp(x_, most).executed;
    return x_.cluster.faulted ? End::has_effect : End::goes_on;
  }
  uint64_t executed() const { return executed_; }
  const WarpState& state() const { return copy_; }

 private:
  Filter filter_;
  WarpState copy_;
  Exec x_;
  uint64_t instructions_, executed_ = 0;
  size_t findings_;
  std::unordered_map<uint32_t, uint32_t> runs_;  // by pc: instructions up to the next branch
};

// How many instructions the warp executes without an effect, at most `limit`.
uint64_t executes_alone(const RunContext& context, const WarpAt& at, uint64_t limit) {
  constexpr uint32_t stop_interval = 1 << 20;
  LoneWarp warp(context, at, looks_at_nothing);
  uint64_t next_poll = stop_interval;
  while (warp.executed() < limit && warp.step() == LoneWarp::End::goes_on) {
    if (warp.executed() < next_poll) continue;
    next_poll += stop_interval;
    if (context.stop != nullptr && context.stop->load(std::memory_order_relaxed)) break;
  }
  return warp.executed();
}

bool same_place(const LaneGroup& a, const LaneGroup& b) {
  return a.pc == b.pc && a.mask == b.mask && a.wait.kind == b.wait.kind && a.resumed == b.resumed &&
         a.calls == b.calls;
}

bool same_state(const WarpState& a, const WarpState& b) {
  return std::ranges::equal(a.groups, b.groups, same_place) && a.registers == b.registers &&
         a.local == b.local && std::ranges::equal(a.stacks, b.stacks, [](const auto& x, const auto& y) {
           return x.used == y.used && x.frame == y.frame && x.bytes == y.bytes;
         });
}

// Whether the warp waits, or returns to a state that it had. Brent's search for a cycle.
bool repeats(const RunContext& context, const WarpAt& at, uint64_t limit) {
  LoneWarp warp(context, at, has_no_effect);
  WarpState kept = *at.warp;
  uint64_t steps = 0, keep_at = 1;
  while (warp.executed() < limit) {
    const LoneWarp::End end = warp.step();
    if (end != LoneWarp::End::goes_on) return end == LoneWarp::End::waits;
    if (same_state(warp.state(), kept)) return true;
    if (++steps != keep_at) continue;
    keep_at *= 2;
    kept = warp.state();
  }
  return false;
}

// Tries warp after warp, from another one each time, until all together have executed `limit` instructions.
bool some_warp_loops(const RunContext& context, std::span<ClusterState* const> resident, uint64_t limit,
                     size_t first) {
  const std::vector<WarpAt> warps = warps_of(resident);
  uint64_t executed = 0;
  for (size_t i = 0; i < warps.size() && executed < limit; ++i) {
    const uint64_t n = executes_alone(context, warps[(first + i) % warps.size()], limit);
    if (n >= limit) return true;
    executed += n;
  }
  return false;
}

struct Loop {
  uint32_t first = 0, last = 0;  // pc of its first instruction and of the branch back
};

// The smallest loop of the text around `pc`: a branch behind it to a place before it.
Loop loop_around(const Program& program, Pc pc) {
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
  const Site first = site_at(program, Pc(loop.first), {}, {}, 0),
             last = site_at(program, Pc(loop.last), {}, {}, 0);
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

bool all_repeat(const RunContext& context, ClusterState& cluster, uint64_t limit) {
  ClusterState* const one = &cluster;
  return std::ranges::all_of(warps_of({&one, 1}),
                             [&](const WarpAt& at) { return repeats(context, at, limit); });
}

std::optional<Finding> find_endless_loop(const RunContext& context, std::span<ClusterState* const> resident,
                                         EndlessWatch& watch, uint64_t instructions, uint64_t progress,
                                         uint64_t limit) {
  if (progress != watch.last_progress) {
    watch.last_progress = progress;
    watch.quiet_since = instructions;
    watch.quiet_limit = std::min(look_interval, limit);
  }
  if (limit == 0 || instructions < watch.next_look) return std::nullopt;
  watch.next_look = instructions + std::min(look_interval, limit);
  if (longest_of(resident) > limit)
    return endless(context.program, resident, {Endless::Why::longest_warp, limit});
  if (instructions - watch.quiet_since < watch.quiet_limit) return std::nullopt;
  watch.quiet_limit *= 4;
  const uint64_t alone = std::max<uint64_t>(limit / share_without_effect, 1);
  if (!some_warp_loops(context, resident, alone, watch.trials++)) return std::nullopt;
  return endless(context.program, resident, {Endless::Why::without_effect, alone});
}

}  // namespace palladion::sim
