// Findings about registers of wgmma.
#include <fmt/format.h>

#include <algorithm>

#include "sim/check/registers/wgmma_registers.h"
#include "sim/machine/exec/exec.h"

namespace palladion::sim::check {
namespace {

std::string shape_text(const isa::Wgmma& w) { return fmt::format("m{}n{}k{}", w.m, w.n, w.k); }

}  // namespace

std::string WgmmaRegisters::name(uint32_t reg) const { return register_name(*context_.run.program, reg); }

Site WgmmaRegisters::past(const Origin& origin, uint32_t pc, std::string what) const {
  return context_.reporter.site(
      origin_at(*context_.run.program, origin.cta_rank, origin.warp, origin.lanes, pc), std::move(what));
}

// "accumulator register 3 of 64, `%f4`"
std::string WgmmaRegisters::object(const Origin& origin, uint32_t reg,
                                   const std::vector<uint32_t>& among) const {
  size_t at = 0;
  while (at < among.size() && among[at] != reg) ++at;
  const std::string which = at < among.size() ? fmt::format("{} of {}, ", at, among.size()) : "";
  return fmt::format("register {}`{}` of warp {}", which, name(reg), origin.warp);
}

// Why no wait_group has covered the wgmma.
std::string WgmmaRegisters::missing_wait(const Warp& w, const Use& use) {
  const bool waited = w.wait_pc != nowhere && w.wait_order > use.order;
  if (!waited)
    return use.group < w.commits ? "no wgmma.wait_group follows the wgmma's commit_group"
                                 : "neither a wgmma.commit_group nor a wgmma.wait_group follows the wgmma";
  if (use.group >= w.wait_commits)
    return "no wgmma.commit_group stands between the wgmma and the wgmma.wait_group, which waits for "
           "committed "
           "groups alone";
  const uint64_t from_newest = w.wait_commits - use.group;
  return fmt::format(
      "wgmma.wait_group {} lets as many of the newest groups stay pending, and the wgmma's is number {} from "
      "the "
      "newest: wgmma.wait_group {} would wait for it",
      w.wait_allowed, from_newest, from_newest - 1);
}

void WgmmaRegisters::report_in_flight(const Origin& origin, const Warp& w, const WgmmaAnalysis::Part& access,
                                      const Use& use, bool accumulator) {
  const bool writes = access.writes;
  const bool waited = w.wait_pc != nowhere && w.wait_order > use.order;
  const Code code = waited                   ? Code::uncovered_wgmma
                    : accumulator || !writes ? Code::early_accumulator_access
                                             : Code::overwritten_fragment;
  const FindingKey key{code, use.pc, origin.pc, 0};
  if (context_.reporter.seen_by_group(key, origin)) return;
  const auto& o = *analysis_.wgmma(use.pc);
  const auto& among = accumulator ? o.accumulator_registers : o.a_registers;
  Finding f;
  // When both read A's registers the values are right, though the text allows no access at all.
  const bool harmless = (access.copies && !access.looks) || !(accumulator || writes);
  f.severity = !harmless ? FindingSeverity::error : FindingSeverity::strict;
  f.message = fmt::format("{} register `{}` is {} while the wgmma that {} it may still run",
                          accumulator ? "accumulator" : "A-fragment", name(access.reg),
                          writes ? "written" : "read", accumulator ? "accumulates in" : "reads");
  f.sites.push_back(context_.reporter.site(origin, writes ? "writes the register" : "reads the register"));
  f.sites.push_back(past(origin, use.pc, "asynchronous, still in flight"));
  f.object = object(origin, access.reg, among);
  if (waited) f.sites.push_back(past(origin, w.wait_pc, "does not wait for it"));
  f.missing = missing_wait(w, use);
  f.help = use.group < w.commits
               ? "wait for the wgmma's group before the register is used"
               : "commit the wgmma to a group and wait for the group before the register is used";
  if (!harmless && !writes)
    f.notes.emplace_back(
        "ptxas mostly injects a wait before such a read (its messages C7514 and C7517): a chip, as the "
        "machine, "
        "gives the finished value, and nothing overlaps");
  context_.reporter.report(key, std::move(f));
}

void WgmmaRegisters::judge_fence(const Origin& origin, const Warp& w, uint32_t fragment) {
  const bool first = fragment == nowhere;
  const FindingKey key{Code::missing_wgmma_fence, first ? nowhere : w.fragments[fragment].touched_pc,
                       origin.pc, 0};
  if (context_.reporter.seen_by_group(key, origin)) return;
  Finding f;
  f.sites.push_back(context_.reporter.site(origin, "uses the register as an operand"));
  if (first) {
    f.message = "the warp's first wgmma has no wgmma.fence before it";
    f.object = fmt::format("all accumulator and A registers of warp {}", origin.warp);
    f.missing = "a wgmma.fence between the last accesses of its registers and the wgmma";
  } else {
    const Fragment& t = w.fragments[fragment];
    const auto& o = *analysis_.wgmma(origin.pc);
    const bool accumulator = std::ranges::find(o.accumulators, fragment) != o.accumulators.end();
    f.message =
        fmt::format("{} register `{}` was {} since the last wgmma.fence", accumulator ? "accumulator" : "A",
                    name(t.touched_register), t.touched_by_write ? "written" : "read");
    if (w.fences == 0) f.notes.emplace_back("the warp has executed no wgmma.fence at all");
    Origin before =
        origin_at(*context_.run.program, origin.cta_rank, origin.warp, t.touched_lanes, t.touched_pc);
    f.sites.push_back(
        context_.reporter.site(before, t.touched_by_write ? "writes the register" : "reads the register"));
    if (t.touched_by_copy && w.fences != 0) f.severity = FindingSeverity::strict;
    f.object = object(origin, t.touched_register, accumulator ? o.accumulator_registers : o.a_registers);
    f.missing = "a wgmma.fence between the access and the wgmma: the wgmma touches registers asynchronously";
  }
  context_.reporter.report(key, std::move(f));
}

void WgmmaRegisters::report_shape(const Origin& origin, const Use& earlier, uint32_t reg) {
  const FindingKey key{Code::accumulator_shape_change, earlier.pc, origin.pc, 0};
  if (context_.reporter.seen_by_group(key, origin)) return;
  const auto &mine = *analysis_.wgmma(origin.pc), &theirs = *analysis_.wgmma(earlier.pc);
  Finding f;
  f.message = fmt::format(
      "accumulator register `{}` goes from a wgmma of shape {} to one of {} without a wgmma.fence", name(reg),
      shape_text(*theirs.wgmma), shape_text(*mine.wgmma));
  f.sites.push_back(context_.reporter.site(origin, "accumulates with the second shape"));
  f.sites.push_back(past(origin, earlier.pc, "accumulated with the first shape"));
  f.object = object(origin, reg, mine.accumulator_registers);
  f.missing = "accumulators are ordered without a fence only among wgmma of one shape";
  context_.reporter.report(key, std::move(f));
}

void WgmmaRegisters::report_difference(const Origin& origin, const Origin& other, bool at_end) {
  const FindingKey key{Code::divergent_wgmma, other.pc, origin.pc, 0};
  if (context_.reporter.seen(key)) return;
  Finding f;
  f.message = fmt::format("warps {} and {} of one warpgroup have not executed the same wgmma instructions{}",
                          other.warp, origin.warp, at_end ? " when they end" : "");
  const std::string what = at_end ? "its last one" : "joins the wgmma";
  f.sites.push_back(context_.reporter.site(origin, what));
  f.sites.push_back(context_.reporter.site(other, at_end ? "its last one" : "began the wgmma"));
  f.object = fmt::format("warpgroup {}", origin.warp / context_.run.program->mma_warps());
  f.missing =
      "wgmma.mma_async, .fence, .commit_group and .wait_group are .aligned: all warps of the warpgroup "
      "execute the same ones in the same order";
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
      if (context_.reporter.seen(key)) continue;
      Finding f;
      f.message =
          fmt::format("a wgmma never runs: warp {} of the warpgroup ended without executing it", first + i);
      f.sites.push_back(context_.reporter.site(
          origin_at(*context_.run.program, open.cta_rank, open.warp, ~0U, open.pc), "issued it, and waits"));
      f.object = fmt::format("warpgroup {}", first / mma_warps);
      f.missing = "a wgmma is executed by all four warps of the warpgroup";
      f.help = "let all 128 threads of the warpgroup reach the wgmma";
      context_.reporter.report(key, std::move(f));
    }
  }
}

}  // namespace palladion::sim::check
