// PLD45xx: tensor memory and tcgen05.
#include "sim/check/catalogue/tables.h"

namespace palladion::sim::check {
namespace {

using enum isa::CodeSeverity;

constexpr isa::CodeText table[] = {
    row(4501, "tensor memory that the CTA has not allocated",
        "Columns may be used between the tcgen05.alloc that returned them and their tcgen05.dealloc, by the "
        "CTA "
        "that allocated them.",
        "Tensor Memory Allocation", "It works alone on its SM, and corrupts a CTA that shares the SM.",
        "allocate all columns that accumulators, operands and scales use, and add offsets to the address "
        "that "
        "tcgen05.alloc stored"),
    row(4502, "an allocation of tensor memory that breaks a rule",
        "A CTA allocates a power of two of columns, 32 to 512, never more than in an allocation before, not "
        "after it has given up the permit, and with one whole warp.",
        "tcgen05.alloc, tcgen05.dealloc, tcgen05.relinquish_alloc_permit", "A trap or a hang.",
        "allocate the largest block first, all of them before relinquish_alloc_permit"),
    reported_as(4001, row(4503, "the address of tensor memory is read before it is published",
                          "tcgen05.alloc stores the address to shared memory as a weak store of its warp.",
                          "tcgen05.alloc", "Another address is used: garbage, or a trap.",
                          "put a barrier between the allocation and the load of the address")),
    row(4504, "an allocation of tensor memory that can never be satisfied",
        "tcgen05.alloc waits until so many columns are free together on the SM. The CTAs that hold them wait "
        "for "
        "this one, or hold them until they end.",
        "tcgen05.alloc", "A hang.",
        "allocate at once what the CTA needs, and free it without waiting for other CTAs"),
    row(4505, "tensor memory is not freed before the CTA ends",
        "Every allocation must be freed by tcgen05.dealloc before the kernel exits.",
        "Tensor Memory Allocation", "A later CTA hangs in its allocation, or the launch fails.",
        "free it on every way to the end, after all threads have read their results"),
    reported_as(3133, row(4506, "tcgen05.dealloc of something that is not an allocation",
                          "The address and the number of columns are those of one tcgen05.alloc, and each "
                          "allocation is freed once.",
                          "tcgen05.dealloc", "A trap.",
                          "pass the address that tcgen05.alloc stored, and the same number of columns")),
    row(4507, "tensor memory is freed while it is in use",
        "A product, a copy, a load or a store of the columns may still be under way, or be issued by a "
        "thread "
        "that nothing orders before the tcgen05.dealloc.",
        "tcgen05.dealloc", "Garbage, or a launch failure: another CTA gets the columns.",
        "let all warps wait for their loads (tcgen05.wait::ld) and meet at a barrier before the columns are "
        "freed",
        by_case),
    row(4508, "a pair of CTAs frees tensor memory before both have allocated it",
        "With .cta_group::2 both CTAs allocate and free together. The peer must have started, and must take "
        "part.",
        "tcgen05.alloc, tcgen05.dealloc, tcgen05.relinquish_alloc_permit",
        "A launch failure when the peer starts late.",
        "put a cluster barrier between the allocations of both CTAs and the first tcgen05.dealloc"),
    row(4509, "cta_group::1 and cta_group::2 in one kernel",
        "All tcgen05 instructions of a kernel specify the same .cta_group.",
        "tcgen05 instructions: .cta_group",
        "A commit that covers nothing, so that threads go on too early or wait for ever.",
        "use one .cta_group in the whole kernel"),
    row(4510, "an access of tensor memory leaves its allocation",
        "Columns that follow each other can belong to different allocations.", "Tensor Memory Addressing",
        "Another accumulator is overwritten, or a trap.",
        "allocate as many columns as the accumulator, and keep the offsets inside"),
    reported_as(3131, row(4511, "a warp touches lanes of another warp",
                          "Warp w of a warpgroup loads and stores lanes 32 (w % 4) to 32 (w % 4) + 31.",
                          "tcgen05.ld, tcgen05.st: Access Restrictions", "A trap, or undefined.",
                          "add the warp's first lane to the address, shifted left by 16")),
    row(4512, "a register is overwritten while a tcgen05.ld may still write it",
        "tcgen05.ld is asynchronous. An instruction that reads a result waits for it, one that overwrites "
        "the "
        "register does not.",
        "tcgen05 Memory Consistency Model: Register dependencies; tcgen05.wait",
        "The register holds the one value or the other.",
        "execute tcgen05.wait::ld before the register is written again"),
    row(4513, "tensor memory is overwritten before tcgen05.wait::ld",
        "A load that has not been waited for may still read its columns after the thread has signalled that "
        "they are free.",
        "tcgen05.wait; tcgen05 Memory Consistency Model", "A mixture of old and new values.",
        "execute tcgen05.wait::ld before the arrival that gives the columns back. Where instructions "
        "have read all results before, the load is over: strict",
        by_case),
    row(4514, "a store to tensor memory is used before tcgen05.wait::st",
        "tcgen05.st is asynchronous: it is complete once its threads have executed tcgen05.wait::st.",
        "tcgen05.wait; tcgen05 Memory Consistency Model", "Old values are read.",
        "execute tcgen05.wait::st before the barrier or the arrival that announces the data"),
    row(4515, "a result in tensor memory is used before the product is complete",
        "tcgen05.mma and tcgen05.cp are asynchronous. Threads know that they are complete by waiting for the "
        "mbarrier at which a tcgen05.commit of the issuing thread arrives; other barriers do not wait for "
        "them.",
        "tcgen05.commit; tcgen05 Memory Consistency Model", "Partial sums.",
        "wait for the mbarrier of a tcgen05.commit behind the product, then "
        "tcgen05.fence::after_thread_sync"),
    row(4516, "tcgen05.fence is missing around a barrier",
        "Asynchronous accesses of tensor memory by different threads are ordered by a barrier with "
        "tcgen05.fence::before_thread_sync before and tcgen05.fence::after_thread_sync after it. "
        "tcgen05.commit "
        "implies the former.",
        "tcgen05.fence; tcgen05 Memory Consistency Model",
        "Rarely wrong: an access may be moved over the barrier.",
        "put fence::before_thread_sync before the arrival, fence::after_thread_sync after the wait", strict),
    row(4517, "two operations of one thread rely on their order of issue",
        "In the order of their issue are products with one accumulator, shape and kind, and a product after "
        "a "
        "copy. All others, as a product that reads another accumulator, are not.",
        "tcgen05 Memory Consistency Model: Pipelined tcgen05 Instructions",
        "Wrong values when they are reordered. A copy runs behind what its thread has issued before: strict.",
        "tcgen05.commit after the first, and wait for its mbarrier before the second", by_case),
    row(4518, "tcgen05.commit by a thread that has issued nothing",
        "A commit covers the operations of its own thread. Two elections may choose different threads.",
        "tcgen05.commit", "It arrives at once: threads go on before the product is complete.",
        "let the thread that issued the products execute the commit, in the same branch"),
    row(4519, "tcgen05.commit before the operation that it should cover",
        "A commit covers what its thread has issued before it, not what follows.", "tcgen05.commit",
        "Threads go on too early, or wait for ever.", "move the commit behind the last product of the stage"),
    row(4520, "an operand in shared memory is overwritten while a product may read it",
        "A tcgen05.mma or tcgen05.cp reads shared memory until it is complete. An arrival after its issue "
        "does "
        "not mean that it has read.",
        "tcgen05.commit; tcgen05 Memory Consistency Model", "A product of wrong tiles.",
        "give the stage back by tcgen05.commit on its mbarrier, not by an arrival"),
    row(4521, "a tcgen05 operation reads what threads wrote, without a proxy fence",
        "tcgen05.mma and tcgen05.cp read shared memory through the async proxy.",
        "Proxies; membar/fence: fence.proxy.async", "Old operands or scales.",
        "fence.proxy.async after the writes, before the barrier in front of the operation"),
    row(4522, "an accumulator is overwritten before it has been read",
        "The next product may start before another warp has loaded the last result: nothing orders it behind "
        "the "
        "load.",
        "tcgen05 Memory Consistency Model", "Two tiles are mixed.",
        "wait for the readers' arrival before the first product of the next tile; in a pair of CTAs for "
        "those of "
        "both"),
    row(4523, "threads race for tensor memory",
        "Two threads use the same lanes and columns, one of them writes, and nothing orders the two.",
        "tcgen05 Memory Consistency Model", "Values depend on the timing.",
        "put a barrier with both tcgen05 fences between them, or use different columns"),
    row(4524, "both CTAs of a pair issue an operation that is for one of them",
        "With .cta_group::2 one thread of the pair issues a product, a copy or a commit, for both CTAs.",
        "tcgen05 instructions: Issue Granularity", "Products are added twice, in any order.",
        "let one CTA of the pair issue them: cluster_ctarank % 2 == 0"),
    row(4525, "a product of a pair starts before the peer's half has arrived",
        "A tcgen05.mma.cta_group::2 reads the shared memory of both CTAs. The issuing thread has waited for "
        "its "
        "own copies alone.",
        "tcgen05.mma; cp.async.bulk.tensor", "Wrong tiles, or a launch failure.",
        "let the peer's copies complete at the mbarrier on which the issuing thread waits, or let the peer "
        "arrive there after its own wait"),
    row(4526, "tcgen05.commit does not tell the peer",
        "Threads of the peer wait at their own CTA's mbarrier, and the commit arrives at the issuing CTA's "
        "only.",
        "tcgen05.commit", "A hang.", "use .multicast::cluster with both CTAs in the mask"),
    row(4527, "a CTA ends while an operation of its peer may still use its memory",
        "A product of a pair reads shared memory and writes tensor memory of both CTAs, and a commit arrives "
        "at "
        "mbarriers of both.",
        "CUDA programming guide: Distributed Shared Memory", "A failure of the launch, or of the next one.",
        "wait for the commit in both CTAs, or put a cluster barrier before the end"),
    reported_as(
        3134,
        row(4528, "an instruction descriptor that does not fit its tcgen05.mma",
            "Shapes, types and layouts of the descriptor must be those of the instruction's kind.",
            "Instruction Descriptor", "Wrong values, or a trap.", "change the field that the message names")),
    row(4529, "tensor memory is read that nothing has written",
        "An allocation holds what was there before. The first product of an accumulator must not add to it.",
        "tcgen05.mma: enable-input-d", "Garbage, or zeros on an idle GPU.",
        "pass a false enable-input-d with the first product of a tile", by_case),
    row(4530, "an operand in tensor memory is overwritten while a product may read it",
        "A product after a copy is in order, a copy after a product is not: scales, metadata or A in tensor "
        "memory are read until the product is complete.",
        "tcgen05 Memory Consistency Model: Pipelined tcgen05 Instructions",
        "One tensor core takes a thread's operations in order: the kernels of CUTLASS and Triton rely on it.",
        "give each stage columns of its own, or wait for a commit before the next copy", strict),
};
static_assert(states_all(table, 4500, 4599));

}  // namespace

std::span<const isa::CodeText> tensor_codes() { return table; }

}  // namespace palladion::sim::check
