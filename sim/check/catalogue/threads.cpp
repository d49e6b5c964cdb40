// PLD46xx to PLD49xx: named barriers, divergence, clusters, deadlocks.
#include "sim/check/catalogue/tables.h"

namespace palladion::sim::check {
namespace {

using enum isa::CodeSeverity;

constexpr isa::CodeText table[] = {
    row(4601, "threads at one barrier give different counts",
        "All threads that use a barrier at the same time give the same number of threads.", "bar, barrier",
        "A hang.", "use one constant for all of them"),
    row(4602, "too few threads arrive at a barrier", "The barrier expects more threads than execute it.",
        "bar, barrier", "A hang.", "set the thread count to the number of threads that execute the barrier"),
    row(4603, "a barrier with an impossible id or count",
        "Ids are 0 to 15, counts are multiples of 32; barrier.arrive needs a count other than 0.",
        "bar, barrier", "ptxas rejects it, or it is undefined.",
        "give the arrival the number of threads of the round: a multiple of 32, not 0"),
    row(4604, "two groups of threads use the same barrier at once",
        "A CTA has sixteen barriers. One phase consists of arrivals that were meant for different groups.",
        "bar, barrier", "One group continues without its partners; the other one hangs.",
        "give each group of warps a barrier id of its own", by_case),
    row(4605, "a warp arrives at a barrier twice in one phase",
        "The second arrival counts in place of another warp's.", "bar, barrier",
        "The barrier completes too early.",
        "execute either arrive or sync, not both, before the barrier is reset"),
    row(4606, "only part of a warp executes a barrier",
        "An aligned barrier is for the whole warp; without .aligned it waits for the missing lanes.",
        "bar, barrier", "Undefined, or a hang.",
        "execute the barrier with all lanes of a warp: not inside `if (elected)`"),
    row(4607, "an aligned barrier in a branch that some warps do not take",
        "PTX allows bar.sync in conditional code only if all threads of the CTA evaluate the condition "
        "identically. Branches that whole warps take work in practice if the barrier has a count; a barrier "
        "without a count waits for all warps of the CTA.",
        "bar, barrier", "None known for barriers with a count; a hang for a barrier without a count.",
        "give the barrier an id of its own and a thread count: without a count it waits for all warps of the "
        "CTA"),
    row(4608, "bar.red meets bar.sync or bar.arrive at one barrier",
        "All threads of a reduction execute the same kind of operation.", "bar, barrier",
        "Unpredictable: a wrong predicate or a hang.",
        "let all threads of one round execute bar.red with the same operation"),
    row(4609, "bar.arrive is taken for a wait",
        "A thread that executes bar.arrive does not wait, and its later accesses are not ordered after those "
        "of the others.",
        "bar, barrier", "Stale data.",
        "use bar.sync where the other threads' data are read: bar.arrive only releases"),
    row(4610, "a barrier is taken for the completion of a copy",
        "bar.sync orders the threads' own accesses. A copy in flight completes by its mbarrier or its group.",
        "Completion Mechanisms for Asynchronous Copy Operations", "Old bytes are read.",
        "wait for the copy's mbarrier: barriers do not order asynchronous operations"),
    row(4611, "lanes of a warp race",
        "Lanes of one warp have no order among themselves. bar.warp.sync orders the lanes of its mask only.",
        "bar.warp.sync", "Usually right; wrong once the compiler or the scheduler lets the lanes diverge.",
        "put bar.warp.sync between the two: PTX does not guarantee that lanes run in lockstep"),
    row(4612, "lanes of one store write different values to one address",
        "A store that is not strong orders none of its lanes: which value stays is undefined. Lanes that "
        "write "
        "one value, or strong stores, are no mistake.",
        "PTX, Memory Consistency Model: Conflict and Data-races; CUDA programming guide: SIMT Architecture",
        "An H100 keeps the lowest lane's value of a store of up to 4 bytes a lane, of 8 bytes the lowest of "
        "the last half warp that stores there, of 16 bytes of the last quarter.",
        "let one lane store, after a reduction where all values count, or use an atomic"),
    row(4701, "a collective instruction in divergent code",
        "All threads of the warp (or warpgroup) execute an instruction with .sync.aligned together.",
        "PTX, the instruction's own section: .sync and .aligned", "Undefined, often a hang.",
        "let all lanes of the warp execute this instruction together: move it out of the branch"),
    row(4702, "different threads execute the operations of one group",
        "A bulk async-group belongs to one thread. Two elections with different masks may choose different "
        "lanes.",
        "cp.async.bulk.wait_group", "The wait covers nothing.",
        "let the issuing thread execute cp.async.bulk.commit_group and wait_group.read 0 before the exit"),
    row(4703, "threads exit while other threads still count on their arrival",
        "Barriers of the CTA do not wait for exited threads, but an mbarrier still expects their arrivals.",
        "mbarrier.arrive_drop; bar, barrier", "A hang, or a missing order.",
        "arrive before the early return, or do not count those threads"),
    row(4801, "another CTA's shared memory is accessed before that CTA has begun",
        "CTAs of a cluster run at the same time, but nothing guarantees that the other one has started yet.",
        "CUDA programming guide: Distributed Shared Memory", "A failure, or a lost write.",
        "begin with barrier.cluster.arrive and .wait by all threads of the cluster"),
    row(4802, "a CTA exits while others still use its shared memory",
        "Remote loads, stores, arrivals or multicast copies access shared memory of a CTA that has exited.",
        "CUDA programming guide: Distributed Shared Memory",
        "The launch fails, or another CTA's memory is overwritten.",
        "let all CTAs of the cluster meet (barrier.cluster.arrive, .wait) before any of them exits"),
    row(4803, "not all threads arrive at the cluster barrier",
        "Every thread of the cluster that has not exited must arrive.", "barrier.cluster", "A hang.",
        "let every thread of the cluster arrive, whatever its role, or exit"),
    row(4804, "cluster barrier: arrivals and waits do not alternate",
        "Each thread arrives once in a phase, then waits.", "barrier.cluster",
        "Undefined: a hang or an early completion.",
        "put one barrier.cluster.arrive before every barrier.cluster.wait", by_case),
    row(4805, "CTAs of a cluster race on shared memory",
        "Threads of different CTAs access the same bytes, at least one access is a write, and nothing orders "
        "the two: there is no cluster barrier between them, its arrival was .relaxed, or the access lies "
        "between arrive and wait.",
        "barrier.cluster", "Stale data.",
        "put barrier.cluster.arrive.release and wait.acquire, or an mbarrier with .cluster scope, between "
        "the two"),
    row(4806, "a cluster barrier is taken for the completion of a copy",
        "A cluster barrier orders the threads' own accesses, not copies in flight.", "barrier.cluster",
        "Old bytes are read.", "wait for the copy's mbarrier: barriers do not order asynchronous operations"),
    row(4807, "the wrong CTA of the cluster is addressed",
        "The rank for mapa, or a bit of a mask, is that of another CTA than the intended one.",
        "mapa; mbarrier.arrive", "Wrong data, or a hang.",
        "arrive at the mbarrier of the CTA whose thread waits (mapa with its rank)"),
    row(4901, "warp roles wait for each other in a cycle",
        "Each role waits for an operation that another role of the cycle executes only after its own wait.",
        "Phase Completion of the mbarrier object", "A hang.",
        "let one role of the cycle signal before it waits"),
    row(4902, "producer and consumer run different numbers of steps",
        "One loop has more iterations than the other, or a condition skips an arrival.",
        "Phase Completion of the mbarrier object",
        "A hang at the end, or a completion that no thread waits for.",
        "give the loops of producers and consumers the same number of iterations"),
    row(4903, "too few stages",
        "A consumer needs the next slot of one ring before it can free a slot of another.",
        "Phase of the mbarrier object", "A hang for some sizes.",
        "add a slot to the ring: a thread holds one slot while it waits for the next one to be filled"),
    row(4904, "an ordered chain without its first arrival",
        "Alternating roles wait for each other's barrier, and neither has an arrival to start with.",
        "bar, barrier", "A hang at the first step.",
        "let one role arrive at the other's barrier before its loop: the first round lacks this arrival"),
    row(4905, "a CTA spins on one that is not running",
        "CTAs that do not fit on the device at once start when others end. PTX guarantees no progress "
        "between them.",
        "Grid of Clusters", "A hang when the grid is larger than the device.",
        "limit the grid to the CTAs that are resident at once, or use a cooperative launch", by_case),
    row(4906, "an order in which CTAs start is assumed",
        "A CTA waits for another, which may start later. `check --explore` starts the CTAs in several "
        "orders, few of them at once.",
        "Grid of Clusters", "A hang under another order.",
        "let CTAs take their numbers from an atomic counter as they start", strict),
    row(4907, "setmaxnreg waits for registers that are never released",
        ".inc blocks until the CTA's register pool has enough; the warpgroups that should execute .dec do "
        "not, or the request is too large.",
        "setmaxnreg", "A hang.",
        "keep the sum of all roles' registers within those that the CTA was launched with"),
    row(4908, "a lane spins on another lane of its warp",
        "The other lane need not make progress if the compiler keeps the lanes together.",
        "CUDA programming guide: Independent Thread Scheduling", "A hang, depending on the compiler.",
        "signal before the branch in which the others wait"),
    row(4909, "another schedule of this run hangs",
        "The run ended, but its threads and copies can also come in an order that ends in a deadlock. The "
        "finding describes that end.",
        "mbarrier.test_wait/mbarrier.try_wait", "A hang in some runs.",
        "order the arrivals: every use of an mbarrier must come after a wait has observed its previous use, "
        "and no two waits may each depend on what the other's thread does later"),
};
static_assert(states_all(table, 4600, 4999));

}  // namespace

std::span<const isa::CodeText> thread_codes() { return table; }

}  // namespace palladion::sim::check
