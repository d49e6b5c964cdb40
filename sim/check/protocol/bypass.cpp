#include "sim/check/protocol/bypass.h"

#include <algorithm>
#include <bit>
#include <cstring>

#include "sim/launch/phrases/phrase.h"
#include "sim/machine/exec/exec.h"
#include "sim/machine/exec/place.h"

namespace palladion::sim::check {
namespace {

// Of an operand of 32 bits.
std::array<uint32_t, 32> values_of_lanes(const Program& p, const WarpState& warp, const DecodedOperand& o) {
  std::array<uint32_t, 32> out;
  std::memcpy(out.data(), (o.slot.constant ? p.constants.data() : warp.registers.data()) + o.slot.offset,
              sizeof out);
  return out;
}

// The lanes that have to execute it together.
uint32_t members(const Program& p, const WarpState& warp, const Origin& o) {
  const int operand = p.footprints[o.pc].members;
  if (operand < 0) return ~0U;
  return values_of_lanes(p, warp,
                         p.code[o.pc].operands[operand])[static_cast<size_t>(std::countr_zero(o.lanes))];
}

}  // namespace

Bypass::Bypass(const ClusterContext& context, const BypassAnalysis& analysis)
    : context_(context), analysis_(analysis), warps_(context.run.launch->warps_per_cta()) {}

void Bypass::Decided::went(uint32_t lane, Pc to) {
  if (times[lane]++ != 0 && side[lane] == to) return;
  side[lane] = to;
  since[lane] = times[lane];
}

Bypass::Ended& Bypass::ended(const Origin& o) {
  if (ended_.empty()) ended_.resize(context_.cluster.ctas.size() * warps_);
  return ended_[o.cta_rank * warps_ + o.warp];
}

void Bypass::on(const Reached& e) {
  const Origin& o = e.origin;
  if (!analysis_.decides(o.pc)) return;
  const MicroOp& op = context_.run.program->code[o.pc];
  uint32_t taken;
  std::memcpy(&taken, warp_of(o).registers.data() + op.guard, sizeof taken);
  if (op.guard_negated) taken = ~taken;
  const auto* const branch = std::get_if<isa::Branch>(op.effect);
  const bool indexed = std::holds_alternative<isa::BranchIndexed>(*op.effect);
  const bool waits = branch == nullptr && !indexed && !std::holds_alternative<isa::Call>(*op.effect);
  Decided& d = decided_[key(o, o.pc)];
  for (uint32_t m = o.lanes & ~d.waiting; m != 0; m &= m - 1) {
    const auto lane = static_cast<uint32_t>(std::countr_zero(m));
    if ((taken >> lane & 1) == 0)
      d.went(lane, o.pc + 1);
    else if (!indexed)
      d.went(lane, branch != nullptr ? Pc(op.operands[branch->target].id) : o.pc);
  }
  if (waits) d.waiting |= o.lanes & taken;
}

void Bypass::on(const Executing& e) {
  const Origin& o = e.origin;
  const auto* const branch = o.effect == nullptr ? nullptr : std::get_if<isa::BranchIndexed>(o.effect);
  if (branch == nullptr || !analysis_.decides(o.pc)) return;
  const Program& p = *context_.run.program;
  const MicroOp& op = p.code[o.pc];
  const auto& targets = p.branch_lists[op.operands[branch->targets].id];
  const std::array<uint32_t, 32> index = values_of_lanes(p, warp_of(o), op.operands[branch->index]);
  // The lanes of the first one's index branch; the others come again.
  const uint32_t first = index[static_cast<size_t>(std::countr_zero(o.lanes))];
  if (first >= targets.size()) return;
  Decided& d = decided_[key(o, o.pc)];
  for (uint32_t m = o.lanes; m != 0; m &= m - 1) {
    const auto lane = static_cast<uint32_t>(std::countr_zero(m));
    if (index[lane] == first) d.went(lane, Pc(targets[first]));
  }
}

void Bypass::on(const Executed& e) {
  if (!analysis_.decides(e.origin.pc)) return;
  const auto at = decided_.find(key(e.origin, e.origin.pc));
  if (at != decided_.end()) at->second.waiting &= ~e.origin.lanes;
}

// Lanes that wait for those that end now will go on without them.
void Bypass::on(const Exited& e) {
  Ended& all = ended(e.origin);
  all.lanes |= e.origin.lanes;
  for (uint32_t m = e.origin.lanes; m != 0; m &= m - 1) all.at[std::countr_zero(m)] = e.origin.pc;
  for (const LaneGroup& g : warp_of(e.origin).groups) {
    const bool meets = g.wait.kind == Wait::Kind::convergence && (g.wait.object & e.origin.lanes) != 0;
    if (!meets || !needs_whole_warp(context_.run.program->code[g.pc])) continue;
    const Origin meeting = origin_at(*context_.run.program, e.origin.cta_rank, e.origin.warp, g.mask, g.pc);
    judge(meeting, g, e.origin.lanes & static_cast<uint32_t>(g.wait.object));
  }
}

void Bypass::on(const CtaBarrierEvent& e) {
  if (e.step == CtaBarrierEvent::Step::arrive) met(e.origin);
}

void Bypass::on(const ClusterBarrierEvent& e) {
  if (e.step == ClusterBarrierEvent::Step::arrive) met(e.origin);
}

void Bypass::met(const Origin& meeting) {
  const uint32_t gone = ended(meeting).lanes;
  const Program& p = *context_.run.program;
  if (gone == 0 || !needs_whole_warp(p.code[meeting.pc])) return;
  const WarpState& warp = warp_of(meeting);
  for (const LaneGroup& g : warp.groups)
    if ((g.mask & meeting.lanes) != 0) return judge(meeting, g, gone & members(p, warp, meeting));
}

// `lanes` have ended. They went around the instruction itself, or around a call that led to it.
void Bypass::judge(const Origin& meeting, const LaneGroup& group, uint32_t lanes) {
  const auto in = [&](Pc pc) {
    const auto [at, fresh] = before_.try_emplace(pc);
    if (fresh) at->second = analysis_.decisions_before(pc);
    for (const Pc decision : at->second) judge(meeting, pc, decision, lanes);
  };
  in(meeting.pc);
  for (const Pc call : group.calls) in(call);
}

void Bypass::judge(const Origin& meeting, Pc in, Pc decision, uint32_t lanes) {
  const auto found = decided_.find(key(meeting, decision));
  if (found == decided_.end()) return;
  const Decided& d = found->second;
  const auto one = static_cast<size_t>(std::countr_zero(meeting.lanes));
  const uint32_t when = d.times[one];
  uint32_t around = 0;
  for (uint32_t m = lanes; m != 0; m &= m - 1) {
    const auto lane = static_cast<size_t>(std::countr_zero(m));
    const bool parted = d.since[lane] <= when && when <= d.times[lane] && d.side[lane] != d.side[one];
    if (when == 0 || !parted) continue;
    std::optional<Pc> exit;
    if (d.times[lane] == when) exit = ended(meeting).at[lane];
    if (goes_around(decision, d.side[lane], in, exit)) around |= 1U << lane;
  }
  if (around != 0 && reported_.emplace(key(meeting, meeting.pc), decision).second)
    report(meeting, in, decision, around);
}

bool Bypass::goes_around(Pc decision, Pc side, Pc in, std::optional<Pc> exit) {
  const auto [at, fresh] = around_.try_emplace({decision, side, in, exit});
  if (fresh) at->second = analysis_.goes_around(decision, side, in, exit);
  return at->second;
}

void Bypass::report(const Origin& meeting, Pc in, Pc decision, uint32_t lanes) {
  const bool barrier = meeting.effect != nullptr && std::holds_alternative<isa::CtaBarrier>(*meeting.effect);
  const FindingKey key{barrier ? Code::barrier_by_part_of_warp : Code::divergent_collective, meeting.pc,
                       decision, 0};
  if (context_.reporter.seen(key, meeting)) return;
  Finding f;
  if (!analysis_.matters_behind(decision, in)) f.severity = FindingSeverity::strict;
  f.object = {.kind = Object::Kind::lanes, .number = lanes};
  Origin around = origin_at(*context_.run.program, meeting.cta_rank, meeting.warp, lanes, decision);
  f.message = say<Phrase::lanes_go_around>(std::popcount(lanes), meeting.warp);
  f.sites = {context_.reporter.site(meeting, Does::waits),
             context_.reporter.site(around, Part{.does = Does::does_not_wait, .earlier = true})};
  f.missing = say<Phrase::whole_warp_there>();
  if (barrier) f.help = say<Phrase::all_lanes_at_barrier>();
  context_.reporter.report(key, std::move(f));
}

}  // namespace palladion::sim::check
