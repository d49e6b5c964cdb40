// PLD46xx to PLD49xx: named barriers, divergence, clusters, deadlocks.
#include "cli/codes/codes.h"

namespace palladion::cli {
namespace {

constexpr CodeText barriers[] = {
    {.number = 4601,
     .title = "threads meet at a barrier with different counts",
     .meaning = "All who use a barrier at the same time state the same number of threads.",
     .rule = "bar, barrier",
     .effect = "A hang.",
     .fix = "One constant for all of them."},
    {.number = 4602,
     .title = "too few threads come to a barrier",
     .meaning = "It expects more threads than ever execute it.",
     .rule = "bar, barrier",
     .effect = "A hang.",
     .fix = "State the number of threads that come, or let the missing role come too (barrier.arrive)."},
    {.number = 4603,
     .title = "a barrier of an impossible id or count",
     .meaning = "Ids go from 0 to 15, counts are multiples of 32; an arrival cannot have count 0.",
     .rule = "bar, barrier",
     .effect = "The assembler refuses it, or it is undefined.",
     .fix = "Count whole warps."},
    {.number = 4604,
     .title = "two groups of threads use the same barrier at once",
     .meaning = "There are sixteen barriers a CTA. One phase was made up of arrivals that were meant for "
                "different meetings.",
     .rule = "bar, barrier",
     .effect = "One group is let through without its partners; the other hangs.",
     .fix = "Give each meeting an id of its own."},
    {.number = 4605,
     .title = "a warp comes to a barrier twice in one phase",
     .meaning = "The second execution takes the place of another warp's.",
     .rule = "bar, barrier",
     .effect = "The barrier opens too early.",
     .fix = "Either arrive or sync, not both, before the barrier has been reset."},
    {.number = 4606,
     .title = "a barrier is executed by part of a warp",
     .meaning = "An aligned barrier is for the whole warp; the other form waits for the missing lanes.",
     .rule = "bar, barrier (.aligned); elect.sync",
     .effect = "Undefined, or a hang.",
     .fix = "Take the barrier out of the elected lane's code; use bar.warp.sync within a warp."},
    {.number = 4607,
     .title = "an aligned barrier within a branch that some warps do not take",
     .meaning = "PTX allows bar.sync in conditional code only when all threads of the CTA go the same way. "
                "Whole warps that "
                "branch apart work in practice, so it is strict, except at barrier 0 without a count.",
     .rule = "bar, barrier (.aligned)",
     .effect = "None known for barriers with a count; a hang for barrier 0.",
     .fix = "barrier.sync, the form that is not aligned, with id and count."},
    {.number = 4608,
     .title = "bar.red meets sync or arrive at one barrier",
     .meaning = "A reduction needs the same kind of operation from all.",
     .rule = "bar, barrier (.red)",
     .effect = "A wrong predicate or a hang.",
     .fix = "bar.red in every thread, or a barrier of its own."},
    {.number = 4609,
     .title = "bar.arrive is taken for a wait",
     .meaning = "The arriving side does not wait and is not ordered behind the others.",
     .rule = "bar, barrier (.arrive); Synchronization",
     .effect = "Stale data.",
     .fix = "bar.sync where the data is used."},
    {.number = 4610,
     .title = "a barrier is taken for the completion of an asynchronous operation",
     .meaning = "bar.sync orders what threads did themselves. A copy in flight completes by its mbarrier or "
                "its group.",
     .rule = "bar, barrier; Asynchronous Operations",
     .effect = "Old bytes are read.",
     .fix = "Wait for the mbarrier or the group; then, where others read, the barrier."},
    {.number = 4611,
     .title = "lanes of a warp exchange data without bar.warp.sync",
     .meaning = "Lanes have no order among themselves; being in one warp does not order their accesses. A "
                "lane that is "
                "not in the mask is not ordered either.",
     .rule = "bar.warp.sync; Causality Order",
     .effect = "Usually right, wrong once the compiler or the scheduler parts the lanes.",
     .fix = "bar.warp.sync with all lanes that take part, between write and read."},
};

constexpr CodeText divergence[] = {
    {.number = 4701,
     .title = "a collective instruction in divergent code",
     .meaning =
         "Instructions with .sync.aligned are executed by all threads of the warp (or warpgroup) together.",
     .rule = "setmaxnreg; wgmma.mma_async; barrier.cluster (.aligned); elect.sync",
     .effect = "Undefined, often a hang.",
     .fix = "Take it out of the branch, or make the branch the same for the whole warp."},
    {.number = 4702,
     .title = "operations that belong to one thread are done by different ones",
     .meaning = "Groups belong to a thread. Two elections, with different masks, may choose different lanes.",
     .rule = "elect.sync; Async-group mechanism",
     .effect = "The wait covers nothing.",
     .fix = "Elect once and keep the predicate for issue, commit and wait."},
    {.number = 4703,
     .title = "threads leave before others stop counting on them",
     .meaning = "Exited threads are not waited for at barriers of the CTA, but an mbarrier still expects "
                "their arrivals.",
     .rule = "bar, barrier; Phase Completion of the mbarrier object",
     .effect = "A hang, or a missing order.",
     .fix = "Let threads without work still arrive, or return after the last meeting."},
};

constexpr CodeText clusters[] = {
    {.number = 4801,
     .title = "another CTA's shared memory is touched before that CTA has begun",
     .meaning =
         "CTAs of a cluster run at the same time, but nothing says that the other one has started yet.",
     .rule = "barrier.cluster; CUDA guide: Distributed Shared Memory",
     .effect = "A failure, or a write that is lost.",
     .fix = "A cluster barrier at the start."},
    {.number = 4802,
     .title = "a CTA exits while others still use its shared memory",
     .meaning = "Remote loads, stores, arrivals or multicast copies reach a CTA that is gone.",
     .rule = "CUDA guide: Distributed Shared Memory; barrier.cluster",
     .effect = "A failed launch, or a write into another CTA.",
     .fix = "A cluster barrier before the exit."},
    {.number = 4803,
     .title = "not all threads come to the cluster barrier",
     .meaning = "Every thread of the cluster that has not exited must arrive.",
     .rule = "barrier.cluster",
     .effect = "A hang.",
     .fix = "Let every role execute it."},
    {.number = 4804,
     .title = "cluster barrier: arrivals and waits do not alternate",
     .meaning = "Each thread arrives once a phase, then waits.",
     .rule = "barrier.cluster",
     .effect = "Undefined: a hang or an early release.",
     .fix = "arrive, wait, arrive, wait."},
    {.number = 4805,
     .title = "a cluster barrier that does not order these accesses",
     .meaning = "The arrival was .relaxed, or the access lies between arrive and wait.",
     .rule = "barrier.cluster (.relaxed)",
     .effect = "Stale data.",
     .fix =
         "barrier.cluster.arrive.release and wait.acquire; accesses before the arrive or behind the wait."},
    {.number = 4806,
     .title = "a cluster barrier is taken for the completion of an asynchronous operation",
     .meaning = "It orders what threads did, not copies in flight.",
     .rule = "barrier.cluster; Asynchronous Operations",
     .effect = "Old bytes are read.",
     .fix = "Wait for the copy's mbarrier in each CTA that reads."},
    {.number = 4807,
     .title = "the wrong CTA of the cluster is addressed",
     .meaning =
         "A rank for mapa, or a bit of a mask, that belongs to another CTA than the one that was meant.",
     .rule = "mapa; Special Registers: %cluster_ctarank",
     .effect = "Wrong data, or a hang.",
     .fix = "Use %cluster_ctarank, not %ctaid."},
};

constexpr CodeText deadlocks[] = {
    {.number = 4901,
     .title = "roles wait for each other in a circle",
     .meaning = "Each waits for something that only another of them would do later.",
     .rule = "mbarrier.test_wait, mbarrier.try_wait; bar, barrier",
     .effect = "A hang.",
     .fix = "The report names the circle: let one of its members signal before it waits."},
    {.number = 4902,
     .title = "producer and consumer disagree about the number of steps",
     .meaning = "One loop runs more often than the other, or an arrival is skipped under a condition.",
     .rule = "Phase Completion of the mbarrier object",
     .effect = "A hang at the end, or an unused completion.",
     .fix = "The same trip count for both; arrive in every iteration."},
    {.number = 4903,
     .title = "too few stages",
     .meaning = "A consumer needs the next element of one ring before it can free an element of another.",
     .rule = "Phase Completion of the mbarrier object",
     .effect = "A hang for some sizes.",
     .fix = "One stage more, or another order of waits and releases."},
    {.number = 4904,
     .title = "an ordered chain without its first credit",
     .meaning = "Roles that take turns wait for each other's barrier, and nobody has the first turn.",
     .rule = "bar, barrier",
     .effect = "A hang at the first step.",
     .fix = "One role arrives for the other's first turn before its loop."},
    {.number = 4905,
     .title = "a CTA spins on one that is not running",
     .meaning = "CTAs that do not fit the device at once start when others end. PTX promises no progress "
                "between them.",
     .rule = "CUDA guide: Cooperative Groups (grid synchronization)",
     .effect = "A hang when the grid is larger than the device.",
     .fix = "Bound the grid by what is resident, or use a cooperative launch."},
    {.number = 4906,
     .title = "an order in which CTAs start is assumed",
     .meaning =
         "A CTA waits for another, which may start later. `check --explore` starts the CTAs in several "
         "orders, few of them at once.",
     .rule = "CUDA guide: Thread Hierarchy",
     .effect = "A hang under another order.",
     .fix = "Take indices from an atomic counter as CTAs start, and wait for those that came before."},
    {.number = 4907,
     .title = "setmaxnreg waits for registers that nobody gives back",
     .meaning = ".inc blocks until the CTA's pool has enough; the warpgroups that should .dec do not, or ask "
                "for too much.",
     .rule = "setmaxnreg",
     .effect = "A hang.",
     .fix = "Let producers .dec first; the sum over all warps must fit what the launch gave."},
    {.number = 4908,
     .title = "a lane spins for another lane of its warp",
     .meaning =
         "The lanes need not make progress apart from each other where the compiler keeps them together.",
     .rule = "bar.warp.sync; CUDA guide: Independent Thread Scheduling",
     .effect = "A hang, depending on the compiler.",
     .fix = "Let the other lane signal before the loop, or use another warp."},
    {.number = 4909,
     .title = "another schedule of this run hangs",
     .meaning =
         "The run ended, but its threads and copies could have come in an order in which nothing can move "
         "any more. The finding tells the end of such an order.",
     .rule = "mbarrier.test_wait, mbarrier.try_wait; bar, barrier; setmaxnreg",
     .effect = "A hang, now and then.",
     .fix = "Order the arrivals: every use of a barrier comes after its previous use has been observed, and "
            "each "
            "role has its own barriers and registers."},
};

}  // namespace

std::span<const CodeText> named_barrier_codes() { return barriers; }
std::span<const CodeText> divergence_codes() { return divergence; }
std::span<const CodeText> cluster_codes() { return clusters; }
std::span<const CodeText> deadlock_codes() { return deadlocks; }

}  // namespace palladion::cli
