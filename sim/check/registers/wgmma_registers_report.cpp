// Findings about registers of wgmma.
#include <fmt/format.h>

#include <algorithm>

#include "sim/check/registers/wgmma_registers.h"
#include "sim/launch/phrases/phrase.h"
#include "sim/machine/exec/exec.h"

namespace palladion::sim::check {
namespace {

Object warpgroup_object(uint32_t group) { return {.kind = Object::Kind::warpgroup, .number = group}; }

std::string shape_text(const isa::Wgmma& w) { return fmt::format("m{}n{}k{}", w.m, w.n, w.k); }

}  // namespace

std::string WgmmaRegisters::name(uint32_t reg) const { return register_name(*context_.run.program, reg); }

Site WgmmaRegisters::past(const Origin& origin, Pc pc, Part part) const {
  return context_.reporter.site(
      origin_at(*context_.run.program, origin.cta_rank, origin.warp, origin.lanes, pc), part);
}

Object WgmmaRegisters::object(const Origin& origin, uint32_t reg, const std::vector<uint32_t>& among) const {
  Object out = register_object(*context_.run.program, reg, origin.warp);
  const auto at = static_cast<uint64_t>(std::ranges::find(among, reg) - among.begin());
  if (at == among.size()) return out;
  out.ranges = {{at, at + 1}};
  out.number = among.size();
  return out;
}

// Why no wait_group has covered the wgmma.
Statement WgmmaRegisters::missing_wait(const Warp& w, const Use& use) {
  const bool waited = w.wait_pc != nowhere && w.wait_order > use.order;
  if (!waited)
    return use.group < w.commits ? say<Phrase::no_wgmma_wait>() : say<Phrase::no_wgmma_commit_or_wait>();
  if (use.group >= w.wait_commits) return say<Phrase::no_commit_before_wait>();
  const uint64_t from_newest = w.wait_commits - use.group;
  return say<Phrase::wait_group_too_large>(w.wait_allowed, from_newest, from_newest - 1);
}

void WgmmaRegisters::report_in_flight(const Origin& origin, const Warp& w, const WgmmaAnalysis::Part& access,
                                      const Use& use, bool accumulator) {
  const bool writes = access.writes;
  const bool waited = w.wait_pc != nowhere && w.wait_order > use.order;
  const Code code = waited                   ? Code::uncovered_wgmma
                    : accumulator || !writes ? Code::early_accumulator_access
                                             : Code::overwritten_fragment;
  const FindingKey key{code, use.pc, origin.pc, 0};
  if (context_.reporter.seen(key, origin)) return;
  const auto& o = *analysis_.wgmma(use.pc);
  const auto& among = accumulator ? o.accumulator_registers : o.a_registers;
  Finding f;
  // When both read A's registers the values are right, though the text allows no access at all.
  const bool harmless = (access.copies && !access.looks) || !(accumulator || writes);
  f.severity = !harmless ? FindingSeverity::error : FindingSeverity::strict;
  f.message = accumulator ? writes ? say<Phrase::accumulator_written>(name(access.reg))
                                   : say<Phrase::accumulator_read>(name(access.reg))
              : writes ? say<Phrase::fragment_written>(name(access.reg))
                          : say<Phrase::fragment_read>(name(access.reg));
  f.sites.push_back(context_.reporter.site(origin, writes ? Does::writes : Does::reads));
  f.sites.push_back(past(origin, use.pc,
                         {.does = accumulator ? Does::accumulates : Does::multiplies, .asynchronous = true}));
  f.object = object(origin, access.reg, among);
  if (waited) f.sites.push_back(past(origin, w.wait_pc, {.does = Does::does_not_wait}));
  f.missing = missing_wait(w, use);
  f.help = use.group < w.commits ? say<Phrase::wait_for_group>() : say<Phrase::commit_and_wait>();
  if (!harmless && !writes) f.notes.push_back(say<Phrase::ptxas_injects_wait>());
  context_.reporter.report(key, std::move(f));
}

void WgmmaRegisters::judge_fence(const Origin& origin, const Warp& w, uint32_t fragment) {
  const bool first = fragment == nowhere;
  const FindingKey key{Code::missing_wgmma_fence, first ? nowhere : w.fragments[fragment].touched_pc,
                       origin.pc, 0};
  if (context_.reporter.seen(key, origin)) return;
  Finding f;
  f.sites.push_back(context_.reporter.site(origin, Does::uses_as_operand));
  if (first) {
    f.message = say<Phrase::first_wgmma_without_fence>();
    f.object = {.kind = Object::Kind::registers, .warp = origin.warp};
    f.missing = say<Phrase::fence_before_wgmma>();
  } else {
    const Fragment& t = w.fragments[fragment];
    const auto& o = *analysis_.wgmma(origin.pc);
    const bool accumulator = std::ranges::find(o.accumulators, fragment) != o.accumulators.end();
    f.message = t.touched_by_write ? say<Phrase::written_since_fence>(name(t.touched_register))
                                   : say<Phrase::read_since_fence>(name(t.touched_register));
    if (w.fences == 0) f.notes.push_back(say<Phrase::no_fence_at_all>());
    Origin before =
        origin_at(*context_.run.program, origin.cta_rank, origin.warp, t.touched_lanes, t.touched_pc);
    f.sites.push_back(context_.reporter.site(before, t.touched_by_write ? Does::writes : Does::reads));
    if (w.fences != 0) {
      f.severity = FindingSeverity::strict;
      f.notes.push_back(say<Phrase::ptxas_injects_fence>());
    }
    f.object = object(origin, t.touched_register, accumulator ? o.accumulator_registers : o.a_registers);
    f.missing = say<Phrase::fence_after_access>();
  }
  context_.reporter.report(key, std::move(f));
}

void WgmmaRegisters::report_shape(const Origin& origin, const Use& earlier, uint32_t reg) {
  const FindingKey key{Code::accumulator_shape_change, earlier.pc, origin.pc, 0};
  if (context_.reporter.seen(key, origin)) return;
  const auto &mine = *analysis_.wgmma(origin.pc), &theirs = *analysis_.wgmma(earlier.pc);
  Finding f;
  f.message = say<Phrase::other_shape>(name(reg), shape_text(*theirs.wgmma), shape_text(*mine.wgmma));
  f.sites.push_back(context_.reporter.site(origin, Does::accumulates));
  f.sites.push_back(past(origin, earlier.pc, {.does = Does::accumulates, .earlier = true}));
  f.object = object(origin, reg, mine.accumulator_registers);
  f.missing = say<Phrase::order_of_one_shape>();
  context_.reporter.report(key, std::move(f));
}

void WgmmaRegisters::report_difference(const Origin& origin, const Origin& other, bool at_end) {
  const FindingKey key{Code::divergent_wgmma, other.pc, origin.pc, 0};
  if (context_.reporter.seen(key, other)) return;
  Finding f;
  f.message = at_end ? say<Phrase::other_wgmmas_at_end>(other.warp, origin.warp)
                     : say<Phrase::other_wgmmas>(other.warp, origin.warp);
  f.sites.push_back(context_.reporter.site(origin, at_end ? Does::executes_last : Does::joins));
  f.sites.push_back(context_.reporter.site(other, at_end ? Does::executes_last : Does::begins));
  f.object = warpgroup_object(origin.warp / context_.run.program->mma_warps());
  f.missing = say<Phrase::wgmma_is_aligned>();
  context_.reporter.report(key, std::move(f));
}

void WgmmaRegisters::deadlocked() {
  const uint32_t mma_warps = context_.run.program->mma_warps();
  for (const auto& [id, open] : open_) {
    const CtaState& cta = context_.cluster.ctas[open.cta_rank];
    const uint32_t first = open.warp / mma_warps * mma_warps;
    for (uint32_t i = 0; i < mma_warps; ++i) {
      if ((open.warps >> i & 1) != 0 || !cta.warps[first + i].finished()) continue;
      const FindingKey key{Code::divergent_wgmma, open.pc, nowhere, 1};
      const Origin waiter = origin_at(*context_.run.program, open.cta_rank, open.warp, ~0U, open.pc);
      if (context_.reporter.seen(key, waiter)) continue;
      Finding f;
      f.message = say<Phrase::wgmma_never_runs>(first + i);
      f.sites.push_back(context_.reporter.site(waiter, Does::waits));
      f.object = warpgroup_object(first / mma_warps);
      f.missing = say<Phrase::wgmma_by_four_warps>();
      f.help = say<Phrase::reach_the_wgmma>();
      context_.reporter.report(key, std::move(f));
    }
  }
}

}  // namespace palladion::sim::check
