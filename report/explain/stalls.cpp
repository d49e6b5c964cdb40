#include "report/explain/stalls.h"

#include <algorithm>
#include <string>

namespace palladion::report {
namespace {

using sim::Stall;

constexpr StallText table[] = {
    {Stall::selected, "The warp issued an instruction in this cycle: no stall.", ""},
    {Stall::not_selected, "The warp could have issued, but its sub-core chose another warp.",
     "Nothing by itself: the issue slots are in use. Fewer instructions make room."},
    {Stall::wait,
     "An instruction of fixed latency (arithmetic, moves) is not far enough for the next to use its result.",
     "More independent instructions between the two: unrolled loops, several accumulators, more warps."},
    {Stall::short_scoreboard,
     "The result of a shared-memory access, a special function or a shuffle is not there yet.",
     "Wider accesses (ldmatrix, v4) and layouts without bank conflicts; load before the value is needed."},
    {Stall::long_scoreboard, "The result of a load from GMEM or local memory is not there yet.",
     "Load earlier (TMA or cp.async into stages), load once and share, keep data in L2; no spills."},
    {Stall::math_pipe_throttle, "The execution pipe that the instruction needs is occupied by other warps.",
     "Another mix of instructions, or fewer of this kind: packed types, a cheaper formula."},
    {Stall::mio_throttle, "The queue to shared memory and its neighbours is full.",
     "Fewer, wider accesses of shared memory; spread them among other work."},
    {Stall::lg_throttle, "The queue of global and local loads and stores is full.",
     "Wider accesses, bulk copies instead of loads, fewer requests at the same time."},
    {Stall::tma_throttle, "The TMA unit's queue is full.",
     "Larger and fewer copies: boxes with long rows, one copy a stage."},
    {Stall::branch_resolving, "The target of a taken branch is being fetched.",
     "Unrolled loops; predicates or selects instead of branches."},
    {Stall::no_instruction,
     "The SM executes these instructions for the first time: they come from L2 through its instruction "
     "caches.",
     "Less code before the main loop: fewer unrolled copies, one body for roles that do the same. CTAs that "
     "follow on the same SM find the code there."},
    {Stall::barrier, "Other warps have not come to bar.sync (or its kin) yet.",
     "Even work between barriers; named barriers for the warps that must meet only; mbarriers for "
     "pipelines."},
    {Stall::cluster_barrier, "Other CTAs of the cluster have not come to barrier.cluster yet.",
     "Arrive early and wait late; mbarriers with remote arrivals instead of barriers in the loop."},
    {Stall::membar, "A fence waits for earlier accesses to be visible.",
     "A narrower scope (cta instead of gpu), fewer fences, release and acquire on the one access that needs "
     "them."},
    {Stall::mbarrier,
     "A try_wait on an mbarrier: its phase is not complete. Nsight Compute counts this among the long "
     "scoreboards.",
     "For a consumer: copies come too late, so more stages or an earlier producer. For a producer it is as "
     "it should "
     "be: it waits for a free stage."},
    {Stall::gmma, "wgmma.wait_group waits for a product, or the tensor core's queue is full.",
     "Usual where the tensor core is the limit. Else keep one product in flight: wait one step late."},
    {Stall::async_group, "cp.async.wait_group or cp.async.bulk.wait_group: copies are on their way.",
     "Commit earlier, wait later, allow more groups in flight; .read where the source alone must be free."},
    {Stall::convergence, "Other lanes of the warp are elsewhere and must come first.",
     "Less divergence: whole warps take a branch, or none."},
    {Stall::registers, "setmaxnreg.inc waits for registers that another warpgroup has not given back.",
     "Let the producer's setmaxnreg.dec be its first instruction."},
    {Stall::sleeping, "The warp sleeps: nanosleep.", "Wait on an mbarrier instead of polling."},
    {Stall::drain, "The warp has ended, its stores are still on their way.",
     "Usual at a kernel's end; wider stores, or bulk stores, end sooner."},
};
static_assert(std::size(table) == sim::stall_count);

}  // namespace

std::span<const StallText> all_stalls() { return table; }

const StallText* find_stall(std::string_view words) {
  std::string plain(words);
  std::ranges::replace_if(plain, [](char c) { return c == '_' || c == '-'; }, ' ');
  const auto* const at =
      std::ranges::find_if(table, [&](const StallText& t) { return sim::name(t.stall) == plain; });
  return at == std::end(table) ? nullptr : at;
}

}  // namespace palladion::report
