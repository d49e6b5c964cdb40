// RS-02, what setmaxnreg needs of a kernel; DL-07, a pool that cannot grant what its warps ask for.
#include <fmt/format.h>

#include <algorithm>

#include "sim/check/registers.h"
#include "sim/check/watch.h"
#include "sim/exec/exec.h"

namespace palladion::sim::check {
namespace {

constexpr uint32_t register_budget = 6202, pool_deadlock = 4907;

bool register_count_known(const isa::Function& entry) {
  return entry.maxnreg || entry.maxntid || entry.reqntid;
}

// "warpgroup 0: 40, warpgroup 1: 232", registers a thread as they are now.
std::string table(const CtaState& cta) {
  std::string out;
  for (size_t w = 0; w < cta.warps.size(); w += 4) {
    if (!out.empty()) out += ", ";
    out += fmt::format("warpgroup {}: {}", w / 4, cta.warps[w].register_limit);
  }
  return out;
}

}  // namespace

void RegisterPool::registers_set(const Origin& who, uint32_t, uint32_t) {
  if (register_count_known(*context_.run.program->entry)) return;
  const FindingKey key{register_budget, who.pc, ~0U, 0};
  if (context_.reporter.seen(key)) return;
  Finding f;
  f.severity = FindingSeverity::strict;
  f.message = "setmaxnreg in a kernel that does not say with how many registers it starts: ptxas ignores it";
  f.sites.push_back(context_.reporter.site(who, "ignored by ptxas"));
  f.object = fmt::format("kernel `{}`", context_.run.program->entry->name);
  f.missing = "none of .maxnreg, .maxntid and .reqntid stands on the kernel";
  f.rule = "setmaxnreg";
  f.help = "add .maxntid or .reqntid (CUDA: __launch_bounds__), or .maxnreg";
  context_.reporter.report(key, std::move(f));
}

void RegisterPool::deadlocked() {
  for (const CtaState& cta : context_.cluster.ctas)
    for (const WarpState& warp : cta.warps)
      for (const LaneGroup& g : warp.groups)
        if (g.wait.kind == Wait::Kind::registers && g.mask != 0) report_waiting(cta, warp, g);
}

void RegisterPool::report_waiting(const CtaState& cta, const WarpState& warp, const LaneGroup& g) {
  const FindingKey key{pool_deadlock, g.pc, ~0U, 0};
  if (context_.reporter.seen(key)) return;
  const uint64_t wanted = g.wait.value;
  const Origin who = origin_at(*context_.run.program, static_cast<uint16_t>(cta.rank),
                               static_cast<uint16_t>(warp.id), g.mask, g.pc);
  Finding f;
  f.message = fmt::format(
      "setmaxnreg.inc to {} registers waits for ever: the CTA's pool has {} registers a thread left for a "
      "warp "
      "that needs {} more",
      wanted, cta.free_registers / 32, wanted - std::min<uint64_t>(wanted, warp.register_limit));
  f.sites.push_back(context_.reporter.site(who, "waits for registers"));
  f.object = "the register pool of the CTA";
  f.missing = fmt::format("registers a thread now: {}; no other warp will give any back", table(cta));
  f.rule = "setmaxnreg";
  f.help =
      "let the sum over all warpgroups stay within what the CTA got at its launch, or decrease elsewhere "
      "first";
  context_.reporter.report(key, std::move(f));
}

}  // namespace palladion::sim::check
