#include "sim/check/registers/wgmma_registers.h"

#include <algorithm>

#include "sim/machine/exec/exec.h"

namespace palladion::sim::check {
namespace {

bool same_shape(const isa::Wgmma& a, const isa::Wgmma& b) { return a.m == b.m && a.n == b.n && a.k == b.k; }

}  // namespace

WgmmaRegisters::WgmmaRegisters(const ClusterContext& context, const WgmmaAnalysis& analysis)
    : context_(context), analysis_(analysis), warps_(context.run.launch->warps_per_cta()) {}

WgmmaRegisters::Warp& WgmmaRegisters::warp(const Origin& origin) {
  if (state_.empty()) state_.resize(context_.cluster.ctas.size() * warps_);
  Warp& w = state_[origin.cta_rank * warps_ + origin.warp];
  if (w.fragments.empty()) w.fragments.resize(analysis_.fragments());
  return w;
}

// An instruction that is no wgmma reads or writes registers of fragments.
void WgmmaRegisters::on(const Executing& event) {
  const Origin& origin = event.origin;
  if (!analysis_.watches(origin.pc)) return;
  Warp& w = warp(origin);
  for (const auto& part : analysis_.access(origin.pc)) {
    judge_access(origin, w, part);
    touch(origin, w, part, w.fragments[part.fragment]);
  }
}

// A copy does not hide what was done before it.
void WgmmaRegisters::touch(const Origin& origin, const Warp& w, const WgmmaAnalysis::Part& part,
                           Fragment& f) {
  if (part.copies && f.touched_fence == w.fences && !f.touched_by_copy) return;
  f.touched_pc = origin.pc;
  f.touched_lanes = origin.lanes;
  f.touched_register = part.reg;
  f.touched_fence = w.fences;
  f.touched_by_write = part.writes;
  f.touched_by_copy = part.copies;
}

void WgmmaRegisters::judge_access(const Origin& origin, const Warp& w, const WgmmaAnalysis::Part& part) {
  const Fragment& f = w.fragments[part.fragment];
  if (in_flight(w, f.accumulator))
    report_in_flight(origin, w, part, f.accumulator, true);
  else if (in_flight(w, f.a))
    report_in_flight(origin, w, part, f.a, false);
}

void WgmmaRegisters::on(const AsyncJoined& event) {
  const Origin& origin = event.origin;
  Warp& w = warp(origin);
  step(origin);
  compare(origin, event.id);
  const auto& o = *analysis_.wgmma(origin.pc);
  if (!w.issued && w.fences == 0) judge_fence(origin, w, last_touched(w, o));
  w.issued = true;
  for (const uint32_t f : o.accumulators) judge_accumulator(origin, w, f);
  for (const uint32_t f : o.a) judge_a(origin, w, f);
  const Use use{origin.pc, w.commits, ++w.order, w.fences};
  const auto used = [&](uint32_t fragment, Use Fragment::* as) {
    w.fragments[fragment].*as = use;
    w.fragments[fragment].touched_fence = never;  // one finding an access
  };
  for (const uint32_t f : o.accumulators) used(f, &Fragment::accumulator);
  for (const uint32_t f : o.a) used(f, &Fragment::a);
}

// A fragment of the operands that an ordinary instruction has read or written; nowhere: none.
uint32_t WgmmaRegisters::last_touched(const Warp& w, const WgmmaAnalysis::Operands& o) {
  for (const auto* fragments : {&o.accumulators, &o.a})
    for (const uint32_t f : *fragments)
      if (w.fragments[f].touched_pc != nowhere) return f;
  return nowhere;
}

void WgmmaRegisters::judge_accumulator(const Origin& origin, const Warp& w, uint32_t fragment) {
  const Fragment& f = w.fragments[fragment];
  const auto& o = *analysis_.wgmma(origin.pc);
  if (touched(w, f)) judge_fence(origin, w, fragment);
  const Use& earlier = f.accumulator;
  if (earlier.pc != nowhere && earlier.fence == w.fences &&
      !same_shape(*analysis_.wgmma(earlier.pc)->wgmma, *o.wgmma))
    report_shape(origin, earlier, analysis_.one_of(fragment, o.accumulator_registers));
  if (in_flight(w, f.a))
    report_in_flight(origin, w, {fragment, analysis_.one_of(fragment, o.accumulator_registers), true}, f.a,
                     false);
}

void WgmmaRegisters::judge_a(const Origin& origin, const Warp& w, uint32_t fragment) {
  const Fragment& f = w.fragments[fragment];
  if (touched(w, f)) judge_fence(origin, w, fragment);
  if (in_flight(w, f.accumulator))
    report_in_flight(origin, w,
                     {fragment, analysis_.one_of(fragment, analysis_.wgmma(origin.pc)->a_registers)},
                     f.accumulator, true);
}

void WgmmaRegisters::on(const Fenced& event) {
  const Origin& origin = event.origin;
  if (origin.effect == nullptr || !std::holds_alternative<isa::WgmmaFence>(*origin.effect)) return;
  step(origin);
  ++warp(origin).fences;
}

void WgmmaRegisters::on(const GroupCommitted& event) {
  if (event.group != isa::AsyncGroup::wgmma) return;
  step(event.origin);
  ++warp(event.origin).commits;
}

void WgmmaRegisters::on(const GroupWaited& event) {
  const Origin& origin = event.origin;
  if (event.group != isa::AsyncGroup::wgmma) return;
  step(origin);
  Warp& w = warp(origin);
  w.wait_pc = origin.pc;
  w.wait_order = ++w.order;
  w.wait_allowed = event.allowed;
  w.wait_commits = w.commits;
  if (w.commits > event.allowed) w.completed = std::max(w.completed, w.commits - event.allowed);
}

// --- the same instructions in all four warps ------------------------------------------------------------

void WgmmaRegisters::step(const Origin& origin) {
  Warp& w = warp(origin);
  w.sequence = (w.sequence ^ analysis_.text_id(origin.pc)) * 0x9E37'79B9'7F4A'7C15ULL + 1;
  w.last_pc = origin.pc;
}

void WgmmaRegisters::compare(const Origin& origin, uint64_t id) {
  Warp& w = warp(origin);
  const auto [at, first] =
      open_.try_emplace(id, Open{w.sequence, origin.pc, origin.cta_rank, origin.warp, 0});
  Open& open = at->second;
  const uint32_t mma_warps = context_.run.program->mma_warps();
  open.warps |= 1U << origin.warp % mma_warps;
  if (!first && open.sequence != w.sequence) {
    report_difference(origin, origin_at(*context_.run.program, open.cta_rank, open.warp, ~0U, open.pc),
                      false);
    w.sequence = open.sequence;
  }
  if (open.warps == (1U << mma_warps) - 1) open_.erase(at);
}

void WgmmaRegisters::on(const ClusterEnded&) {
  if (state_.empty()) return;
  const uint32_t mma_warps = context_.run.program->mma_warps();
  for (CtaRank rank; rank < state_.size() / warps_; ++rank)
    for (uint32_t first = 0; first + mma_warps <= warps_; first += mma_warps)
      compare_ends(CtaRank(rank), WarpOfCta(first));
}

// A fence, commit or wait after the last wgmma that only some warps executed.
void WgmmaRegisters::compare_ends(CtaRank rank, WarpOfCta first) {
  const Warp& a = state_[rank * warps_ + first];
  for (uint32_t i = 1; i < context_.run.program->mma_warps(); ++i) {
    const Warp& b = state_[rank * warps_ + first + i];
    if (a.sequence == b.sequence) continue;
    const auto at = [&](const Warp& w, uint32_t warp) {
      const Pc pc = w.last_pc == nowhere ? (&w == &a ? b.last_pc : a.last_pc) : w.last_pc;
      return origin_at(*context_.run.program, rank, WarpOfCta(warp), ~0U, pc);
    };
    report_difference(at(b, first + i), at(a, first), true);
    return;
  }
}

}  // namespace palladion::sim::check
