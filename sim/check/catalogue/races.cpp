// PLD40xx, PLD41xx, PLD42xx: races of shared memory, mbarriers, transaction counts.
#include "sim/check/catalogue/tables.h"

namespace palladion::sim::check {
namespace {

constexpr isa::CodeText table[] = {
    {.number = 4001,
     .title = "threads race on shared memory",
     .meaning = "Two threads touch the same bytes of shared memory, at least one of them writes, and "
                "nothing orders the two accesses: neither program order nor a barrier, an mbarrier "
                "or a release that the other acquires.",
     .rule = "Conflict and Data-races",
     .effect = "The reader gets the old value, the new one, or a mixture, from run to run.",
     .fix = "put a barrier (bar.sync, mbarrier, bar.warp.sync) between the two"},
    {.number = 4101,
     .title = "an mbarrier that expects more arrivals than ever come",
     .meaning = "The phase needs as many arrivals as mbarrier.init said, and somebody who is counted "
                "never arrives.",
     .rule = "Phase Completion of the mbarrier object",
     .effect = "A hang: every thread that waits for the phase waits for ever.",
     .fix = "mbarrier.init must count exactly the arrivals of a phase, and every path must arrive"},
    {.number = 4102,
     .title = "an mbarrier that expects fewer arrivals than come",
     .meaning = "The phase completes before the last participant has arrived; its arrival falls into "
                "the next phase, so that phases and work drift apart.",
     .rule = "Phase of the mbarrier object",
     .effect = "A buffer is given back while somebody still uses it: silent corruption, later a "
               "hang.",
     .fix = "the count of mbarrier.init must be the number of arrivals of all participants in a "
            "phase"},
    {.number = 4103,
     .title = "an mbarrier's count is out of range",
     .meaning = "Counts go from 1 to 2^20 - 1.",
     .rule = "mbarrier.init; Contents of the mbarrier object",
     .effect = "Undefined; a barrier of count 0 never works as meant.",
     .fix = "Give the number of arrivals of one phase, at least 1.",
     .reported_as = 3042},
    {.number = 4104,
     .title = "a whole warp arrives where one arrival is counted",
     .meaning = "mbarrier.arrive is executed by every active thread and each execution is an "
                "arrival: 32 a warp, not one.",
     .rule = "Phase of the mbarrier object",
     .effect = "The phase completes far too early, and the surplus completes later phases.",
     .fix = "mbarrier.arrive counts threads: let one lane arrive (elect.sync), or count all of "
            "them in the init"},
    {.number = 4105,
     .title = "an elected lane publishes what other lanes of its warp wrote",
     .meaning = "An arrival releases what the arriving thread did and what it knows of. Writes of "
                "the warp's other lanes are not among that unless the lanes have met before.",
     .rule = "mbarrier.arrive",
     .effect = "Those who wait see some lanes' data and not others'. Rare, since warps mostly run "
               "together.",
     .fix = "arrive.release orders the arriving thread's own accesses: bar.warp.sync before the "
            "arrive"},
    {.number = 4106,
     .title = "an mbarrier is used by threads that its initialisation does not reach",
     .meaning = "One thread initialises, others use the barrier, and nothing orders the two.",
     .rule = "mbarrier.init",
     .effect = "Now and then a hang or a launch failure: the wait or the arrival met whatever lay "
               "there before.",
     .fix = "put a barrier of all users (bar.sync) between the inits and the first use",
     .severity = isa::CodeSeverity::by_case},
    {.number = 4107,
     .title = "an mbarrier is used from another CTA before its initialisation is known there",
     .meaning = "A remote arrival, or a multicast copy, signals a barrier that its owner may not "
                "have initialised yet.",
     .rule = "mbarrier.init",
     .effect = "A hang or a failure at the start of a kernel, on few launches in a thousand.",
     .fix = "after the inits: fence.mbarrier_init.release.cluster, barrier.cluster.arrive and "
            ".wait by all threads of the cluster"},
    {.number = 4108,
     .title = "bytes that hold no valid mbarrier are used as one",
     .meaning = "The barrier was never initialised, or mbarrier.inval ended its life, and an "
                "operation other than mbarrier.init follows.",
     .rule = "Lifecycle of the mbarrier object",
     .effect = "Undefined: a hang, a failure, or nothing to be seen.",
     .fix = "invalidate an mbarrier when nobody uses it any more"},
    {.number = 4109,
     .title = "a valid mbarrier is initialised again",
     .meaning = "mbarrier.init on an object that was initialised and not invalidated since is "
                "undefined, even when nobody waits.",
     .rule = "Lifecycle of the mbarrier object",
     .effect = "Mostly none, at times a lost phase: a waiter that looked at the old object waits "
               "for ever.",
     .fix = "initialise once and follow the phases by parity, or mbarrier.inval (ordered after "
            "every use) first"},
    {.number = 4110,
     .title = "the memory of a valid mbarrier is used for data",
     .meaning = "Ordinary writes, or a copy, touch the eight bytes of a barrier that has not been "
                "invalidated.",
     .rule = "Lifecycle of the mbarrier object",
     .effect = "The barrier's state becomes data: early wake-ups, hangs, NaNs.",
     .fix = "mbarrier.inval before the memory gets another use; check that a tile does not reach "
            "into the barriers."},
    {.number = 4111,
     .title = "an mbarrier is invalidated while it is in use",
     .meaning = "Threads still wait for it, or arrivals and bytes of its phase are still to come.",
     .rule = "Lifecycle of the mbarrier object",
     .effect = "Undefined for all who come later: mostly a hang.",
     .fix = "join all users (a barrier) before mbarrier.inval"},
    {.number = 4112,
     .title = "a phase begins before the last one was seen to be over",
     .meaning = "PTX asks that of every phase at least one test_wait or try_wait has returned true "
                "before an arrive-on operation of the next one. Here an arrival or an expect_tx came "
                "first: the pipeline runs further ahead than it has stages.",
     .rule = "Phase of the mbarrier object",
     .effect = "Data that was not yet consumed is overwritten; some chips stop with a launch "
               "failure.",
     .fix = "wait for the phase before arriving in the next one: is the pipeline deeper than its "
            "barriers?"},
    {.number = 4113,
     .title = "the first wait asks for the wrong parity",
     .meaning = "On a fresh barrier a wait for parity 1 returns at once, since the phase before the "
                "first one counts as complete; a wait for parity 0 blocks until phase 0 is over. "
                "Producers that wait for empty slots start with 1, consumers that wait for data "
                "start with 0.",
     .rule = "mbarrier.test_wait, mbarrier.try_wait",
     .effect = "Either a hang at the first step, or a read of bytes that nobody has written.",
     .fix = "Start the producer's parity at 1 and the consumer's at 0; flip both whenever the "
            "ring wraps around."},
    {.number = 4114,
     .title = "the parity of a wait does not follow the phases",
     .meaning = "The parity is that of the barrier's phase, so it flips once for every use of that "
                "barrier: (i / stages) & 1 in a ring, not i & 1.",
     .rule = "mbarrier.test_wait, mbarrier.try_wait",
     .effect = "The first round is right, later ones read old data or hang.",
     .fix = "the parity of a slot's k-th use is k & 1: count the rounds through the slots, not "
            "the steps"},
    {.number = 4115,
     .title = "a wait that cannot tell which phase it means",
     .meaning = "A parity names the current phase or the one just before. Who does not wait for "
                "every phase may meet a later phase of the same parity, or may block for one that is "
                "long past.",
     .rule = "mbarrier.test_wait, mbarrier.try_wait",
     .effect = "A hang, or a wait that returns too early.",
     .fix = "who waits at an mbarrier waits for every phase of it, or has a barrier of its own",
     .severity = isa::CodeSeverity::by_case},
    {.number = 4116,
     .title = "the answer of test_wait or try_wait is not looked at",
     .meaning = "try_wait may give up after a while and say false; test_wait never waits at all.",
     .rule = "mbarrier.test_wait, mbarrier.try_wait",
     .effect = "Wrong data when the machine is busy and the time limit strikes.",
     .fix = "try_wait may return false: repeat it until it returns true"},
    {.number = 4117,
     .title = "a completed phase that nobody waited for",
     .meaning = "The barrier's life ends, or the kernel does, with a phase whose completion nobody "
                "saw. What it announced (bytes that arrived) was not awaited either.",
     .rule = "Lifecycle of the mbarrier object",
     .effect = "The next user of the memory meets late writes, or a barrier that is a phase off.",
     .fix = "wait for the phase of every copy before mbarrier.inval"},
    {.number = 4118,
     .title = "the CTA ends while an asynchronous operation is on its way",
     .meaning = "A copy into this CTA's shared memory, or a signal to its barrier, has not landed "
                "when its threads exit.",
     .rule = "Completion Mechanisms for Asynchronous Copy Operations",
     .effect = "Another CTA's memory is overwritten, or the launch fails.",
     .fix = "wait for the phase of every copy before the exit"},
    {.number = 4119,
     .title = "what was published by a relaxed operation is read",
     .meaning = "With .relaxed the barrier counts but orders nothing: what was written before need "
                "not be visible behind.",
     .rule = "mbarrier.arrive",
     .effect = "Rarely stale data.",
     .fix = ".relaxed orders nothing: use .release and .acquire, or fences"},
    {.number = 4120,
     .title = "the scope of the synchronisation leaves out one of the two",
     .meaning = "The two threads are in different CTAs of a cluster; .cta on either side makes no "
                "order between them.",
     .rule = "Scope; Morally strong operations",
     .effect = "Rarely stale data of the other CTA.",
     .fix = "use .cluster scope on both the arrive (.release.cluster) and the wait "
            "(.acquire.cluster)",
     .severity = isa::CodeSeverity::by_case},
    {.number = 4121,
     .title = "the arrival goes to the mbarrier of the wrong CTA",
     .meaning = "Each CTA of the cluster has its own copy of the barrier. The arrival went to the "
                "own one, the waiter waits at the other, or the other way round.",
     .rule = "mapa, mbarrier.arrive",
     .effect = "A hang, and a surplus arrival at the other barrier.",
     .fix = "arrive at the mbarrier of the CTA whose thread waits (mapa with its rank)"},
    {.number = 4122,
     .title = "an arrival at an mbarrier of a CTA that has exited",
     .meaning = "Shared memory lives as long as its CTA. The owner's threads were gone when the "
                "arrival came.",
     .rule = "Distributed shared memory (CUDA programming guide)",
     .effect = "A failed launch, or a write into another CTA's memory.",
     .fix = "let all CTAs of the cluster meet (barrier.cluster.arrive, .wait) before any of them "
            "exits"},
    {.number = 4123,
     .title = "a special form of an mbarrier operation is misused",
     .meaning = "arrive_drop below zero, .noComplete that completes the phase, a state token of "
                "another phase or barrier, a count above what is pending, a state asked of a remote "
                "arrival.",
     .rule = "mbarrier.test_wait, mbarrier.try_wait",
     .effect = "Undefined.",
     .fix = "Use the plain forms, or follow the rule that the message names.",
     .severity = isa::CodeSeverity::by_case},
    {.number = 4124,
     .title = "an mbarrier that lies where it cannot be",
     .meaning = "It must be aligned to 8 bytes, in shared memory, apart from other barriers, and "
                "waits must name one of the own CTA.",
     .rule = "mbarrier.test_wait, mbarrier.try_wait",
     .effect = "A misaligned access, or two barriers that destroy each other.",
     .fix = "test_wait and try_wait work on mbarriers of the own CTA (.shared::cta); arrive at "
            "the waiter's CTA instead"},
    {.number = 4125,
     .title = "cp.async.mbarrier.arrive is counted wrongly",
     .meaning = "Without .noinc the instruction first adds one to what is pending and later takes it "
                "off again, so it does not count towards the phase; with .noinc mbarrier.init must "
                "have counted it.",
     .rule = "cp.async.mbarrier.arrive",
     .effect = "The phase completes before the copies have landed, or never.",
     .fix = "with .noinc the deferred arrivals take places of the count, without it each adds a "
            "place of its own"},
    {.number = 4126,
     .title = "one mbarrier for a pipeline that is deeper",
     .meaning = "Arrivals of different iterations fall into one phase, since some participants run "
                "ahead of others by more than one phase.",
     .rule = "Phase of the mbarrier object",
     .effect = "A phase completes without one of its participants: wrong data, or a hang.",
     .fix = "one mbarrier serves one round at a time: use as many as rounds can be open, or wait "
            "every round",
     .severity = isa::CodeSeverity::by_case},
    {.number = 4201,
     .title = "a copy whose bytes nobody announced",
     .meaning = "Without expect_tx the phase knows of no bytes: the arrival alone completes it, and "
                "the copy's bytes count in a later one.",
     .rule = "Tracking asynchronous operations by the mbarrier object",
     .effect = "Readers are let in before the data is there.",
     .fix = "arrive with mbarrier.arrive.expect_tx and the bytes of all copies of the phase",
     .severity = isa::CodeSeverity::by_case},
    {.number = 4202,
     .title = "bytes are announced and nobody arrives",
     .meaning = "expect_tx alone is no arrival: the phase waits for its arrivals too.",
     .rule = "Phase Completion of the mbarrier object",
     .effect = "A hang with all bytes delivered.",
     .fix = "expect_tx announces bytes, it does not arrive: use mbarrier.arrive.expect_tx"},
    {.number = 4203,
     .title = "the bytes announced are not the bytes delivered",
     .meaning = "Another dtype, another box, a second operand forgotten: the transaction count does "
                "not come back to zero when it should.",
     .rule = "Tracking asynchronous operations by the mbarrier object",
     .effect = "Too many announced: a hang. Too few: the phase completes before the data is whole.",
     .fix = "expect exactly the bytes that the copies of a phase deliver; a tensor copy counts "
            "its whole box",
     .severity = isa::CodeSeverity::by_case},
    {.number = 4204,
     .title = "only the valid part of a tile was announced",
     .meaning = "A tensor copy counts its whole box, also the part beyond the tensor's edge that it "
                "fills with zeros.",
     .rule = "Tracking asynchronous operations by the mbarrier object",
     .effect = "The surplus bytes upset this phase or the next: early wake-ups or a hang.",
     .fix = "expect exactly the bytes that the copies of a phase deliver; a tensor copy counts "
            "its whole box"},
    {.number = 4205,
     .title = "bytes are announced too late",
     .meaning = "The expect_tx is not ordered before the phase can complete: it came after the "
                "arrival, or from a thread that nobody waits for.",
     .rule = "mbarrier.expect_tx",
     .effect = "In some orders the phase completes without the bytes.",
     .fix = "announce and arrive at once (mbarrier.arrive.expect_tx), or announce before the "
            "thread that arrives goes on",
     .severity = isa::CodeSeverity::by_case},
    {.number = 4206,
     .title = "more bytes outstanding than an mbarrier counts",
     .meaning = "The transaction count goes from -(2^20 - 1) to 2^20 - 1.",
     .rule = "Contents of the mbarrier object",
     .effect = "The count wraps: a hang or an early completion.",
     .fix = "Share the bytes among several barriers, or use smaller stages."},
    {.number = 4207,
     .title = "a multicast copy that a receiver's mbarrier does not expect",
     .meaning = "Data and completion go to every CTA of the mask; each of their barriers counts its "
                "own bytes.",
     .rule = "Phase Completion of the mbarrier object",
     .effect = "The receivers hang or wake too early.",
     .fix = "a multicast signals the mbarrier of every CTA that receives: each must "
            "arrive.expect_tx its bytes itself"},
    {.number = 4208,
     .title = "several warps issue the same copy",
     .meaning = "Several warps or lanes executed the copy where one was meant, each delivering all "
                "of the bytes.",
     .rule = "cp.async.bulk.tensor",
     .effect = "More bytes than announced: early completions, then confusion.",
     .fix = "elect one thread of the CTA, not one of each warp",
     .severity = isa::CodeSeverity::by_case},
};
static_assert(states_all(table, 4000, 4299));

}  // namespace

std::span<const isa::CodeText> race_codes() { return table; }

}  // namespace palladion::sim::check
