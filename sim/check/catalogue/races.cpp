// PLD40xx, PLD41xx, PLD42xx: races of shared memory, mbarriers, transaction counts.
#include "sim/check/catalogue/tables.h"

namespace palladion::sim::check {
namespace {

using enum isa::CodeSeverity;

constexpr isa::CodeText table[] = {
    row(4001, "threads race on shared memory",
        "Two threads access the same bytes of shared memory, at least one access is a write, and nothing "
        "orders the two: neither program order nor a barrier, an mbarrier, or a release that the other "
        "thread acquires.",
        "Conflict and Data-races",
        "The reader gets the old value, the new value or a mixture; it varies from run to run.",
        "put a barrier (bar.sync, mbarrier, bar.warp.sync) between the two accesses"),
    row(4101, "an mbarrier that expects more arrivals than it gets",
        "A phase needs as many arrivals as mbarrier.init set, and at least one counted participant never "
        "arrives.",
        "Phase Completion of the mbarrier object",
        "A hang: every thread that waits for the phase waits forever.",
        "set the count of mbarrier.init to the arrivals of a phase, and let every path arrive"),
    row(4102, "an mbarrier that expects fewer arrivals than it gets",
        "The phase completes before the last participant has arrived. That arrival counts in the next phase, "
        "so phases and loop iterations no longer correspond.",
        "Phase of the mbarrier object",
        "A buffer is released while a thread still uses it: silent corruption, later a hang.",
        "set the count of mbarrier.init to the arrivals of all participants in a phase"),
    reported_as(3042,
                row(4103, "an mbarrier count out of range", "The count of mbarrier.init is 1 to 2^20 - 1.",
                    "mbarrier.init; Contents of the mbarrier object", "Undefined.",
                    "give the number of arrivals of one phase, at least 1")),
    row(4104, "all lanes of a warp arrive where one arrival is counted",
        "Each active thread that executes mbarrier.arrive makes one arrival: 32 for a whole warp.",
        "mbarrier.arrive", "The phase completes too early, and the surplus arrivals complete later phases.",
        "let one lane arrive (elect.sync), or count all lanes in mbarrier.init"),
    row(4105, "an elected lane publishes what other lanes of its warp wrote",
        "An arrival with .release orders what the arriving thread did or observed. Writes of other lanes of "
        "the warp are not included unless the lanes synchronised before.",
        "mbarrier.arrive",
        "Waiting threads see the data of some lanes and not of others. Rare, since the lanes mostly run "
        "together.",
        "put bar.warp.sync before the arrival: arrive.release orders the arriving thread's own accesses"),
    row(4106, "an mbarrier is used before its initialisation is visible",
        "One thread initialises the mbarrier, another one uses it, and nothing orders the use after the "
        "initialisation.",
        "mbarrier.init",
        "Occasional hangs or launch failures: the operation works on the bytes that were there before.",
        "put a barrier of all users (bar.sync) between the initialisation and the first use", by_case),
    row(4107, "an mbarrier is used from another CTA before its initialisation is visible there",
        "A remote arrival or a multicast copy signals an mbarrier that its CTA may not have initialised yet.",
        "mbarrier.init; membar/fence: fence.mbarrier_init",
        "A hang or a failure at the start of the kernel, in a few of many launches.",
        "after mbarrier.init: fence.mbarrier_init.release.cluster, then barrier.cluster.arrive and .wait by "
        "all threads of the cluster"),
    row(4108, "bytes that hold no valid mbarrier are used as one",
        "The mbarrier was never initialised, or mbarrier.inval ended its life, and an operation other than "
        "mbarrier.init follows.",
        "mbarrier.inval; Lifecycle of the mbarrier object",
        "Undefined: a hang, a failure, or no visible effect.",
        "initialise the mbarrier before its first use, and invalidate it after its last use"),
    row(4109, "a valid mbarrier is initialised again",
        "mbarrier.init on a valid mbarrier object is undefined, even if no thread waits for it: "
        "mbarrier.inval must come first.",
        "mbarrier.init",
        "Mostly none; sometimes a lost phase: a thread that waits for the old object waits forever.",
        "initialise once and follow the phases by parity, or execute mbarrier.inval first, ordered after "
        "every use",
        by_case),
    row(4110, "the memory of a valid mbarrier is used for data",
        "Ordinary accesses or a copy use the eight bytes of an mbarrier that has not been invalidated.",
        "Lifecycle of the mbarrier object",
        "The data become the mbarrier's state: early completions, hangs, NaNs.",
        "execute mbarrier.inval before the memory gets another use; check that no tile overlaps the "
        "mbarriers"),
    row(4111, "an mbarrier is invalidated while it is in use",
        "Threads still wait for the mbarrier, or arrivals or bytes of its phase are outstanding.",
        "Lifecycle of the mbarrier object", "Undefined for all later operations on it: mostly a hang.",
        "synchronise all users by a barrier before mbarrier.inval"),
    row(4112, "a phase begins before a wait has observed the previous one",
        "PTX requires that at least one test_wait or try_wait has returned true for a phase before an "
        "arrive-on operation of the next one. Here an arrival or an expect_tx comes first: the pipeline runs "
        "further ahead than it has stages.",
        "Phase of the mbarrier object",
        "Data that were not consumed yet are overwritten; some chips stop with a launch failure.",
        "wait for the phase before the arrival in the next one: is the pipeline deeper than its mbarriers?"),
    row(4113, "the first wait has the wrong parity",
        "On a new mbarrier a wait for parity 1 returns at once, since the phase before phase 0 counts as "
        "complete; a wait for parity 0 blocks until phase 0 completes. Producers that wait for empty slots "
        "start with 1, consumers that wait for data start with 0.",
        "mbarrier.test_wait/mbarrier.try_wait",
        "A hang at the first step, or a read of bytes that were never written.",
        "start the producer's parity at 1 and the consumer's at 0; flip both whenever the ring wraps around"),
    row(4114, "the parity of a wait does not follow the phases",
        "The parity is that of the mbarrier's phase: it flips once for every use of that mbarrier. In a ring "
        "it is (i / stages) & 1, not i & 1.",
        "mbarrier.test_wait/mbarrier.try_wait",
        "The first round is right; later rounds read old data or hang.",
        "the parity of a slot's k-th use is k & 1: count the rounds of the ring, not the steps"),
    row(4115, "a wait that cannot distinguish two phases",
        "A parity denotes the current phase or the one directly before it. A thread that does not wait for "
        "every phase may observe a later phase of the same parity, or block for one that completed long ago.",
        "mbarrier.test_wait/mbarrier.try_wait", "A hang, or a wait that returns too early.",
        "let each waiting thread wait for every phase of the mbarrier, or give it an mbarrier of its own",
        by_case),
    row(4116, "the result of test_wait or try_wait is ignored",
        "try_wait may return false after a time limit; test_wait does not wait at all.",
        "mbarrier.test_wait/mbarrier.try_wait",
        "Wrong data when the chip is busy and the time limit expires.",
        "repeat try_wait until it returns true"),
    row(4117, "a completed phase that no thread waited for",
        "The mbarrier is invalidated, or the kernel ends, after a phase whose completion no thread observed. "
        "The copies that completed it were not waited for either.",
        "Lifecycle of the mbarrier object",
        "The next user of the memory meets late writes, or an mbarrier that is one phase off.",
        "wait for the phase of every copy before mbarrier.inval"),
    row(4118, "the CTA ends while an asynchronous operation is in flight",
        "A copy into this CTA's shared memory, or a signal to its mbarrier, has not landed when its threads "
        "exit.",
        "Completion Mechanisms for Asynchronous Copy Operations",
        "An H100 starts the next CTA after the CTA's own copies have ended (measured). Memory of other CTAs "
        "of the "
        "cluster, and what tcgen05 writes, may be lost or overwritten.",
        "wait for the phase of every copy before the exit", by_case),
    row(4119, "data published by a relaxed operation are read",
        "An arrival with .relaxed counts and orders nothing: earlier writes need not be visible after the "
        "wait.",
        "mbarrier.arrive", "Rarely stale data.",
        "use .release and .acquire, or fences: .relaxed orders nothing"),
    row(4120, "the scope of the synchronisation excludes one of the two threads",
        "The two threads are in different CTAs of a cluster; .cta scope on either side orders nothing "
        "between them.",
        "Scope; Morally strong operations", "Rarely stale data of the other CTA.",
        "use .cluster scope on both the arrive (.release.cluster) and the wait (.acquire.cluster)", by_case),
    row(4121, "the arrival goes to the mbarrier of the wrong CTA",
        "Each CTA of the cluster has its own copy of the mbarrier. The arrival goes to that of its own CTA, "
        "the wait is for that of the other CTA, or the reverse.",
        "mapa; mbarrier.arrive", "A hang, and a surplus arrival at the other mbarrier.",
        "arrive at the mbarrier of the CTA whose thread waits (mapa with its rank)"),
    row(4122, "an arrival at an mbarrier of a CTA that has exited",
        "Shared memory exists as long as its CTA. All threads of that CTA had exited when the arrival came.",
        "CUDA programming guide: Distributed Shared Memory",
        "The launch fails, or another CTA's memory is overwritten.",
        "let all CTAs of the cluster meet (barrier.cluster.arrive, .wait) before any of them exits"),
    row(4123, "a special form of an mbarrier operation is misused",
        "An arrive_drop lowers the expected count to zero, .noComplete completes the phase, a state token "
        "belongs to another phase or mbarrier, a count exceeds the pending count, or a remote arrival "
        "returns a state.",
        "mbarrier.arrive; mbarrier.arrive_drop; mbarrier.test_wait/mbarrier.try_wait", "Undefined.",
        "use the plain forms, or follow the rule that the message names", by_case),
    row(4124, "an mbarrier at an address where it cannot be",
        "An mbarrier lies in shared memory, aligned to 8 bytes, and overlaps no other mbarrier; a wait must "
        "name one of its own CTA.",
        "Size and alignment of mbarrier object; mbarrier support with shared memory",
        "A misaligned access, or two mbarriers that overwrite each other.",
        "wait for mbarriers of the own CTA only (.shared::cta); let the remote thread arrive at the waiting "
        "thread's CTA"),
    row(4125, "cp.async.mbarrier.arrive is counted wrongly",
        "Without .noinc the instruction increments the pending count and its deferred arrival decrements it, "
        "so it does not count towards the phase; with .noinc the count of mbarrier.init must include the "
        "arrival.",
        "cp.async.mbarrier.arrive", "The phase completes before the copies have landed, or never.",
        "count the deferred arrivals in mbarrier.init with .noinc, and only the other arrivals without it"),
    row(4126, "one mbarrier for a pipeline of several stages",
        "Arrivals of different iterations count in one phase, since some participants run ahead of others by "
        "more than one phase.",
        "Phase of the mbarrier object",
        "A phase completes without one of its participants: wrong data, or a hang.",
        "use as many mbarriers as iterations can be in flight, or wait in every iteration", by_case),
    row(4201, "a copy whose bytes no expect_tx announces",
        "Without expect_tx the phase does not wait for the copy: the arrival alone completes it, and the "
        "copy's bytes count in a later phase.",
        "Tracking asynchronous operations by the mbarrier object",
        "Readers continue before the data are there.",
        "arrive with mbarrier.arrive.expect_tx and the bytes of all copies of the phase", by_case),
    row(4202, "bytes are expected and no thread arrives",
        "expect_tx is not an arrival: the phase waits for its arrivals too.",
        "mbarrier.expect_tx; Phase Completion of the mbarrier object", "A hang after all bytes have landed.",
        "use mbarrier.arrive.expect_tx: expect_tx alone does not arrive"),
    row(4203, "the expected bytes differ from the delivered bytes",
        "Another dtype, another box or a missing operand: the transaction count is not zero when all copies "
        "have landed.",
        "Tracking asynchronous operations by the mbarrier object",
        "Too many expected: a hang. Too few: the phase completes before the data are complete.",
        "expect exactly the bytes that the copies of a phase deliver; a tensor copy counts its whole box",
        by_case),
    row(4204, "only the valid part of a tile is expected",
        "A tensor copy counts its whole box, also the part beyond the tensor's bounds that it fills with "
        "zeros.",
        "Tracking asynchronous operations by the mbarrier object",
        "The surplus bytes count in this phase or the next: an early completion or a hang.",
        "expect exactly the bytes that the copies of a phase deliver; a tensor copy counts its whole box"),
    row(4205, "bytes are expected too late",
        "The expect_tx is not ordered before the phase can complete: it comes after the arrival, or from a "
        "thread whose arrival the phase does not need.",
        "mbarrier.expect_tx", "In some orders the phase completes without the bytes.",
        "use mbarrier.arrive.expect_tx, or order the expect_tx before the arrival that completes the phase",
        by_case),
    row(4206, "more outstanding bytes than an mbarrier can count",
        "The transaction count is -(2^20 - 1) to 2^20 - 1.", "Contents of the mbarrier object",
        "The count overflows: a hang or an early completion.",
        "divide the bytes among several mbarriers, or use smaller stages"),
    row(4207, "a multicast copy that a receiver's mbarrier does not expect",
        "Data and completion go to every CTA of the mask; the mbarrier of each CTA counts its own bytes.",
        "cp.async.bulk.tensor; Tracking asynchronous operations by the mbarrier object",
        "The receivers hang or continue too early.",
        "let every CTA that receives execute mbarrier.arrive.expect_tx for its own bytes"),
    row(4208, "several warps issue the same copy",
        "Several warps or lanes execute the copy where one was intended; each copy delivers all bytes.",
        "cp.async.bulk.tensor", "More bytes than expected: an early completion, then wrong phases.",
        "elect one thread of the CTA, not one of each warp", by_case),
};
static_assert(states_all(table, 4000, 4299));

}  // namespace

std::span<const isa::CodeText> race_codes() { return table; }

}  // namespace palladion::sim::check
