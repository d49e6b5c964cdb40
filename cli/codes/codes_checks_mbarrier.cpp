// PLD40xx, PLD41xx, PLD42xx: races of shared memory, mbarriers, transaction counts.
#include "cli/codes/codes.h"

namespace palladion::cli {
namespace {

constexpr CodeText races[] = {
    {.number = 4001,
     .title = "a data race between threads",
     .meaning = "Two threads touch the same bytes of shared memory, at least one of them writes, and nothing "
                "orders the "
                "two accesses: neither program order nor a barrier, an mbarrier or a release that the other "
                "acquires.",
     .rule = "Memory Consistency Model: Conflict and Data-races; Causality Order",
     .effect = "The reader gets the old value, the new one, or a mixture, from run to run.",
     .fix = "Put a barrier between the two that both threads take part in: bar.sync for the CTA, "
            "bar.warp.sync within a "
            "warp, an mbarrier between roles."},
    {.number = 4002,
     .title = "a race of an asynchronous operation",
     .meaning =
         "An asynchronous operation reads or writes bytes while something else writes or reads them. It is "
         "ordered "
         "by its own completion alone: the mbarrier that it signals, or the group that it was committed to.",
     .rule = "Memory Consistency Model: Asynchronous Operations; Conflict and Data-races",
     .effect = "Depends on when the operation reaches the bytes; often right, until the machine is busy.",
     .fix = "Wait for the operation's completion before the bytes are touched, and let it be issued only "
            "after those "
            "who used them have said that they are done."},
};

constexpr CodeText mbarriers[] = {
    {.number = 4101,
     .title = "an mbarrier that expects more arrivals than ever come",
     .meaning =
         "The phase needs as many arrivals as mbarrier.init said, and somebody who is counted never arrives.",
     .rule = "Phase Completion of the mbarrier object",
     .effect = "A hang: every thread that waits for the phase waits for ever.",
     .fix = "Let the count of mbarrier.init be the number of arrivals of one phase: threads that arrive, not "
            "warps or "
            "roles, unless one elected thread arrives for them."},
    {.number = 4102,
     .title = "an mbarrier that expects fewer arrivals than come",
     .meaning = "The phase completes before the last participant has arrived; its arrival falls into the "
                "next phase, "
                "so that phases and work drift apart.",
     .rule = "Phase Completion of the mbarrier object; Arrive-on operation on mbarrier object",
     .effect = "A buffer is given back while somebody still uses it: silent corruption, later a hang.",
     .fix = "Count all who arrive in one phase in mbarrier.init."},
    {.number = 4103,
     .title = "an mbarrier's count is out of range",
     .meaning = "Counts go from 1 to 2^20 - 1.",
     .rule = "mbarrier.init; Contents of the mbarrier object",
     .effect = "Undefined; a barrier of count 0 never works as meant.",
     .fix = "Give the number of arrivals of one phase, at least 1."},
    {.number = 4104,
     .title = "a whole warp arrives where one arrival is counted",
     .meaning = "mbarrier.arrive is executed by every active thread and each execution is an arrival: 32 a "
                "warp, not one.",
     .rule = "mbarrier.arrive",
     .effect = "The phase completes far too early, and the surplus completes later phases.",
     .fix = "Elect one thread for the arrival (after bar.warp.sync), or count threads in mbarrier.init."},
    {.number = 4105,
     .title = "an elected lane arrives for lanes that it does not wait for",
     .meaning = "An arrival releases what the arriving thread did and what it knows of. Writes of the warp's "
                "other lanes are "
                "not among that unless the lanes have met before.",
     .rule = "mbarrier.arrive (release semantics); bar.warp.sync; Causality Order",
     .effect = "Those who wait see some lanes' data and not others'. Rare, since warps mostly run together.",
     .fix = "bar.warp.sync (__syncwarp) before the elected lane arrives."},
    {.number = 4106,
     .title = "an mbarrier is used by threads that its initialisation does not reach",
     .meaning = "One thread initialises, others use the barrier, and nothing orders the two.",
     .rule = "Lifecycle of the mbarrier object; mbarrier.init",
     .effect =
         "Now and then a hang or a launch failure: the wait or the arrival met whatever lay there before.",
     .fix = "bar.sync 0 after the initialisation, before anybody uses the barrier."},
    {.number = 4107,
     .title = "an mbarrier is used from another CTA before its initialisation is known there",
     .meaning = "A remote arrival, or a multicast copy, signals a barrier that its owner may not have "
                "initialised yet.",
     .rule = "membar, fence (fence.mbarrier_init); barrier.cluster",
     .effect = "A hang or a failure at the start of a kernel, on few launches in a thousand.",
     .fix = "fence.mbarrier_init.release.cluster after mbarrier.init, then barrier.cluster.arrive and wait "
            "by all."},
    {.number = 4108,
     .title = "bytes that hold no valid mbarrier are used as one",
     .meaning =
         "The barrier was never initialised, or mbarrier.inval ended its life, and an operation other than "
         "mbarrier.init follows.",
     .rule = "Lifecycle of the mbarrier object",
     .effect = "Undefined: a hang, a failure, or nothing to be seen.",
     .fix = "Initialise first; invalidate only when all use is over."},
    {.number = 4109,
     .title = "a valid mbarrier is initialised again",
     .meaning =
         "mbarrier.init on an object that was initialised and not invalidated since is undefined, even when "
         "nobody waits.",
     .rule = "mbarrier.init",
     .effect = "Mostly none, at times a lost phase: a waiter that looked at the old object waits for ever.",
     .fix = "Initialise once before the loop and carry the parity on, or mbarrier.inval and a barrier before "
            "the next "
            "mbarrier.init."},
    {.number = 4110,
     .title = "the memory of a valid mbarrier is used for data",
     .meaning =
         "Ordinary writes, or a copy, touch the eight bytes of a barrier that has not been invalidated.",
     .rule = "Lifecycle of the mbarrier object; mbarrier.inval",
     .effect = "The barrier's state becomes data: early wake-ups, hangs, NaNs.",
     .fix = "mbarrier.inval before the memory gets another use; check that a tile does not reach into the "
            "barriers."},
    {.number = 4111,
     .title = "an mbarrier is invalidated while it is in use",
     .meaning = "Threads still wait for it, or arrivals and bytes of its phase are still to come.",
     .rule = "mbarrier.inval; Lifecycle of the mbarrier object",
     .effect = "Undefined for all who come later: mostly a hang.",
     .fix = "Let all users meet at a barrier before one of them invalidates."},
    {.number = 4112,
     .title = "a phase begins before the last one was seen to be over",
     .meaning = "PTX asks that of every phase at least one test_wait or try_wait has returned true before an "
                "arrive-on "
                "operation of the next one. Here an arrival or an expect_tx came first: the pipeline runs "
                "further ahead than "
                "it has stages.",
     .rule = "Phase of the mbarrier object",
     .effect = "Data that was not yet consumed is overwritten; some chips stop with a launch failure.",
     .fix = "Wait for the previous phase (the consumers' `empty` barrier) before the slot is used again."},
    {.number = 4113,
     .title = "the first wait asks for the wrong parity",
     .meaning = "On a fresh barrier a wait for parity 1 returns at once, since the phase before the first "
                "one counts as "
                "complete; a wait for parity 0 blocks until phase 0 is over. Producers that wait for empty "
                "slots start with "
                "1, consumers that wait for data start with 0.",
     .rule = "mbarrier.test_wait, mbarrier.try_wait (phaseParity)",
     .effect = "Either a hang at the first step, or a read of bytes that nobody has written.",
     .fix = "Start the producer's parity at 1 and the consumer's at 0; flip both whenever the ring wraps "
            "around."},
    {.number = 4114,
     .title = "the parity of a wait does not follow the phases",
     .meaning = "The parity is that of the barrier's phase, so it flips once for every use of that barrier: "
                "(i / stages) & 1 "
                "in a ring, not i & 1.",
     .rule = "mbarrier.test_wait, mbarrier.try_wait (phaseParity)",
     .effect = "The first round is right, later ones read old data or hang.",
     .fix = "Flip the parity when the slot's index wraps to zero."},
    {.number = 4115,
     .title = "a wait that cannot tell which phase it means",
     .meaning = "A parity names the current phase or the one just before. Who does not wait for every phase "
                "may meet a "
                "later phase of the same parity, or may block for one that is long past.",
     .rule = "Phase of the mbarrier object; mbarrier.test_wait, mbarrier.try_wait",
     .effect = "A hang, or a wait that returns too early.",
     .fix = "Let everybody who uses the barrier wait for each of its phases, or give the slow ones a barrier "
            "of their "
            "own."},
    {.number = 4116,
     .title = "the answer of test_wait or try_wait is not looked at",
     .meaning = "try_wait may give up after a while and say false; test_wait never waits at all.",
     .rule = "mbarrier.test_wait, mbarrier.try_wait",
     .effect = "Wrong data when the machine is busy and the time limit strikes.",
     .fix = "Branch back to the try_wait until its predicate is true."},
    {.number = 4117,
     .title = "a completed phase that nobody waited for",
     .meaning = "The barrier's life ends, or the kernel does, with a phase whose completion nobody saw. What "
                "it announced "
                "(bytes that arrived) was not awaited either.",
     .rule = "Phase of the mbarrier object; Lifecycle of the mbarrier object",
     .effect = "The next user of the memory meets late writes, or a barrier that is a phase off.",
     .fix = "As many waits as phases: wait once more at the end, or issue one copy less."},
    {.number = 4118,
     .title = "the CTA ends while an asynchronous operation is on its way",
     .meaning = "A copy into this CTA's shared memory, or a signal to its barrier, has not landed when its "
                "threads exit.",
     .rule = "Async Proxy; Completion Mechanisms for Asynchronous Copy Operations",
     .effect = "Another CTA's memory is overwritten, or the launch fails.",
     .fix = "Wait for all that was issued before the last thread exits."},
    {.number = 4119,
     .title = "a relaxed arrival or wait is used to hand over data",
     .meaning = "With .relaxed the barrier counts but orders nothing: what was written before need not be "
                "visible behind.",
     .rule = "mbarrier.arrive; mbarrier.test_wait, mbarrier.try_wait (.relaxed)",
     .effect = "Rarely stale data.",
     .fix = "Use .release for the arrival and .acquire for the wait (both are the default)."},
    {.number = 4120,
     .title = "the scope of an arrival or a wait leaves the other CTA out",
     .meaning = "The two threads are in different CTAs of a cluster; .cta on either side makes no order "
                "between them.",
     .rule = "Scope; Morally Strong Operations; mbarrier.arrive (.cluster)",
     .effect = "Rarely stale data of the other CTA.",
     .fix = ".release.cluster at the arrival and .acquire.cluster at the wait."},
    {.number = 4121,
     .title = "the arrival goes to the mbarrier of the wrong CTA",
     .meaning = "Each CTA of the cluster has its own copy of the barrier. The arrival went to the own one, "
                "the waiter "
                "waits at the other, or the other way round.",
     .rule = "mbarrier support with shared memory; mapa",
     .effect = "A hang, and a surplus arrival at the other barrier.",
     .fix = "Map the address to the CTA that waits (mapa) and arrive with .shared::cluster."},
    {.number = 4122,
     .title = "an arrival at an mbarrier of a CTA that has exited",
     .meaning =
         "Shared memory lives as long as its CTA. The owner's threads were gone when the arrival came.",
     .rule = "mbarrier support with shared memory; barrier.cluster",
     .effect = "A failed launch, or a write into another CTA's memory.",
     .fix = "barrier.cluster.arrive and wait by all CTAs before any of them exits."},
    {.number = 4123,
     .title = "a special form of an mbarrier operation is misused",
     .meaning = "arrive_drop below zero, .noComplete that completes the phase, a state token of another "
                "phase or barrier, a "
                "count above what is pending, a state asked of a remote arrival.",
     .rule = "mbarrier.arrive; mbarrier.arrive_drop; mbarrier.test_wait, mbarrier.try_wait",
     .effect = "Undefined.",
     .fix = "Use the plain forms, or follow the rule that the message names."},
    {.number = 4124,
     .title = "an mbarrier that lies where it cannot be",
     .meaning = "It must be aligned to 8 bytes, in shared memory, apart from other barriers, and waits must "
                "name one of "
                "the own CTA.",
     .rule = "Size and alignment of mbarrier object; mbarrier support with shared memory",
     .effect = "A misaligned access, or two barriers that destroy each other.",
     .fix = "Declare it .shared .align 8 .b64; wait at the own CTA's copy."},
    {.number = 4125,
     .title = "cp.async.mbarrier.arrive is counted wrongly",
     .meaning = "Without .noinc the instruction first adds one to what is pending and later takes it off "
                "again, so it does "
                "not count towards the phase; with .noinc mbarrier.init must have counted it.",
     .rule = "cp.async.mbarrier.arrive",
     .effect = "The phase completes before the copies have landed, or never.",
     .fix = "Use .noinc and count one arrival a thread in mbarrier.init, or keep an own arrival next to the "
            "plain form."},
    {.number = 4126,
     .title = "one mbarrier for a pipeline that is deeper",
     .meaning = "Arrivals of different iterations fall into one phase, since some participants run ahead of "
                "others by "
                "more than one phase.",
     .rule = "Phase of the mbarrier object; Phase Completion of the mbarrier object",
     .effect = "A phase completes without one of its participants: wrong data, or a hang.",
     .fix = "As many barriers as stages, or a wait that keeps everybody within one phase."},
};

constexpr CodeText transactions[] = {
    {.number = 4201,
     .title = "a copy whose bytes nobody announced",
     .meaning = "Without expect_tx the phase knows of no bytes: the arrival alone completes it, and the "
                "copy's bytes count "
                "in a later one.",
     .rule =
         "Tracking asynchronous operations by the mbarrier object; Phase Completion of the mbarrier object",
     .effect = "Readers are let in before the data is there.",
     .fix = "mbarrier.arrive.expect_tx with the copy's bytes before, or as, the arrival."},
    {.number = 4202,
     .title = "bytes are announced and nobody arrives",
     .meaning = "expect_tx alone is no arrival: the phase waits for its arrivals too.",
     .rule = "mbarrier.expect_tx; Phase Completion of the mbarrier object",
     .effect = "A hang with all bytes delivered.",
     .fix = "mbarrier.arrive.expect_tx, or a separate mbarrier.arrive."},
    {.number = 4203,
     .title = "the bytes announced are not the bytes delivered",
     .meaning = "Another dtype, another box, a second operand forgotten: the transaction count does not come "
                "back to zero "
                "when it should.",
     .rule = "Tracking asynchronous operations by the mbarrier object",
     .effect = "Too many announced: a hang. Too few: the phase completes before the data is whole.",
     .fix = "Announce the sum of box bytes of all copies that signal this barrier in this phase."},
    {.number = 4204,
     .title = "only the valid part of a tile was announced",
     .meaning = "A tensor copy counts its whole box, also the part beyond the tensor's edge that it fills "
                "with zeros.",
     .rule = "cp.async.bulk.tensor; Tensors: Out of Boundary Access",
     .effect = "The surplus bytes upset this phase or the next: early wake-ups or a hang.",
     .fix = "Announce the bytes of the full box, at the edge too."},
    {.number = 4205,
     .title = "bytes are announced too late",
     .meaning = "The expect_tx is not ordered before the phase can complete: it came after the arrival, or "
                "from a thread that "
                "nobody waits for.",
     .rule = "mbarrier.expect_tx; Phase Completion of the mbarrier object",
     .effect = "In some orders the phase completes without the bytes.",
     .fix = "mbarrier.arrive.expect_tx: it announces, then arrives, in one operation."},
    {.number = 4206,
     .title = "more bytes outstanding than an mbarrier counts",
     .meaning = "The transaction count goes from -(2^20 - 1) to 2^20 - 1.",
     .rule = "Contents of the mbarrier object",
     .effect = "The count wraps: a hang or an early completion.",
     .fix = "Share the bytes among several barriers, or use smaller stages."},
    {.number = 4207,
     .title = "a multicast copy that a receiver's mbarrier does not expect",
     .meaning =
         "Data and completion go to every CTA of the mask; each of their barriers counts its own bytes.",
     .rule = "cp.async.bulk.tensor (.multicast::cluster); Tracking asynchronous operations by the mbarrier "
             "object",
     .effect = "The receivers hang or wake too early.",
     .fix = "Let every receiving CTA announce the bytes at its own barrier."},
    {.number = 4208,
     .title = "the same copy is issued several times",
     .meaning =
         "Several warps or lanes executed the copy where one was meant, each delivering all of the bytes.",
     .rule = "cp.async.bulk.tensor; elect.sync",
     .effect = "More bytes than announced: early completions, then confusion.",
     .fix = "Let one elected lane of one warp issue it."},
};

}  // namespace

std::span<const CodeText> race_codes() { return races; }
std::span<const CodeText> mbarrier_codes() { return mbarriers; }
std::span<const CodeText> transaction_codes() { return transactions; }

}  // namespace palladion::cli
