// PLD60xx to PLD63xx: global memory, undefined bytes, resources, numerics.
#include "sim/check/catalogue/tables.h"

namespace palladion::sim::check {
namespace {

constexpr isa::CodeText table[] = {
    {.number = 6001,
     .title = "threads race on global memory",
     .meaning = "Two threads, often of different CTAs, touch the same bytes, one writes, and nothing "
                "orders them.",
     .rule = "Conflict and Data-races",
     .effect = "Results change from run to run.",
     .fix = "give each element one owner, use atomics, or order the two by release and acquire"},
    {.number = 6002,
     .title = "a flag in global memory synchronises nothing",
     .meaning = "Weak or relaxed accesses of the flag order nothing but themselves.",
     .rule = "Release and Acquire Patterns",
     .effect = "The data behind the flag is stale, seldom.",
     .fix = "write it with st.release or red.release, read it with ld.acquire, both at .gpu scope"},
    {.number = 6003,
     .title = "only the signalling thread is ordered",
     .meaning = "All threads wrote, one thread sets the flag, and nothing orders the others' writes "
                "before it.",
     .rule = "Causality order",
     .effect = "Rows of other threads are stale for the reader.",
     .fix = "join the writers with a barrier before one of them signals"},
    {.number = 6004,
     .title = "the scope of an atomic or a flag is too narrow",
     .meaning = "Both sides of a synchronisation must include each other: .cta does not reach "
                "another CTA, .gpu not another device.",
     .rule = "Scope; Morally strong operations",
     .effect = "Lost updates and stale data, seldom.",
     .fix = "use .gpu scope between CTAs, .sys between devices",
     .severity = isa::CodeSeverity::by_case},
    {.number = 6005,
     .title = "a store to global memory is read before it was complete",
     .meaning = "The chain is: commit, wait_group 0 (not .read), release the flag, acquire it, "
                "fence.proxy.async, load. One of its links is missing.",
     .rule = "Completion Mechanisms for Asynchronous Copy Operations",
     .effect = "Stale tiles.",
     .fix = "cp.async.bulk.wait_group 0 (not .read), then release the flag; the reader acquires "
            "it"},
    {.number = 6006,
     .title = "the signal that was waited for is an earlier one",
     .meaning = "It keeps its value from one launch or tile to the next, so that waits pass before "
                "their time.",
     .rule = "Causality order",
     .effect = "The first launch is right, the second one races or hangs.",
     .fix = "count on with each use of a semaphore, or reset it before it is used again"},
    {.number = 6007,
     .title = "the read-only path reads what this kernel writes",
     .meaning = "The read-only path may hold old data: the memory must not change during the kernel.",
     .rule = "ld.global.nc",
     .effect = "Stale data.",
     .fix = "ld.global.nc is for data that nobody writes while the kernel runs: use ld.global"},
    {.number = 6101,
     .title = "shared memory is read that nobody wrote",
     .meaning = "Its contents are undefined when a CTA starts: padding rows, or a stage that was "
                "never loaded.",
     .rule = "State Spaces: Shared State Space",
     .effect = "Garbage of the CTA before; right on an idle device.",
     .fix = "shared memory has no defined contents when a CTA starts: write it, or do not read it"},
    {.number = 6103,
     .title = "global memory or registers are read that nobody wrote",
     .meaning = "A workspace without a memset, an output that is read, registers after "
                "setmaxnreg.inc.",
     .rule = "State Spaces: Global State Space",
     .effect = "Right in the first launch, wrong later.",
     .fix = "memory has the contents that the host, or an earlier kernel, gave it: set it first",
     .severity = isa::CodeSeverity::by_case},
    {.number = 6104,
     .title = "an access beyond its array",
     .meaning = "It is inside the CTA's shared memory (or the allocation), so the hardware lets it "
                "pass, but it meets another array.",
     .rule = "Variables: Array Declarations",
     .effect = "The neighbour is read or overwritten without any error.",
     .fix = "the array must be as large as what is put into it; the index must stay inside"},
    {.number = 6105,
     .title = "shared memory is reused while an asynchronous operation still reads it",
     .meaning = "Two arrays share their bytes in turn, and a copy of the first one has not ended.",
     .rule = "cp.async.bulk.wait_group",
     .effect = "A corrupted tile.",
     .fix = "wait for the operation before the bytes serve another array"},
    {.number = 6106,
     .title = "a tensor map that is no longer there, or lies in the wrong place",
     .meaning = "A map is taken from a kernel parameter, constant or global memory, aligned to 64 "
                "bytes; a local copy of it does not do.",
     .rule = "cp.async.bulk.tensor; Tensors",
     .effect = "An illegal access.",
     .fix = "Pass it as const __grid_constant__ and use the parameter's own address.",
     .reported_as = 3091},
    {.number = 6201,
     .title = "too much shared memory",
     .meaning = "Hopper has 227 KiB a CTA, 48 KiB without opting in, 1 KiB of the SM's 228 KiB being "
                "the system's.",
     .rule = "CUDA guide: Compute Capabilities",
     .effect = "The launch is refused.",
     .fix = "Fewer or smaller stages.",
     .reported_as = 3108},
    {.number = 6202,
     .title = "too many registers, or setmaxnreg out of its rules",
     .meaning = "The pool is 65536 a SM. setmaxnreg takes 24 to 256, a multiple of 8, and .inc must "
                "not shrink nor .dec grow; the kernel needs .maxnreg or .reqntid for it to count.",
     .rule = "setmaxnreg",
     .effect = "A refused launch, a hang, or spills.",
     .fix = "Make the sum over all warps fit.",
     .severity = isa::CodeSeverity::by_case},
    {.number = 6204,
     .title = "a cluster that cannot be placed",
     .meaning = "More than 8 CTAs are not portable, 16 is the limit, and the grid is a multiple of "
                "the cluster.",
     .rule = "Cluster of Cooperative Thread Arrays",
     .effect = "The launch is refused.",
     .fix = "A smaller cluster.",
     .reported_as = 3104},
    {.number = 6301,
     .title = "an overflow in a narrow accumulator",
     .meaning = "A finite product sum left the range of f16, or an fp8 conversion saturated.",
     .rule = "wgmma.mma_async; cvt",
     .effect = "Infinities, or the largest value in their stead.",
     .fix = "Accumulate in f32, or scale the operands.",
     .severity = isa::CodeSeverity::strict},
    {.number = 6302,
     .title = "the first NaN comes from here",
     .meaning = "inf - inf or 0 * inf of operands that were no NaNs: a fully masked row of an online "
                "softmax, say.",
     .rule = "add, fma, mul (floating point)",
     .effect = "A row of NaNs far from its cause.",
     .fix = "Use 0 in place of the maximum where that is -inf.",
     .severity = isa::CodeSeverity::strict},
    {.number = 6304,
     .title = "a result that depends on an order, though nothing races",
     .meaning = "Floating-point sums by atomics or reductions from several threads are not "
                "associative.",
     .rule = "red, atom, cp.reduce.async.bulk",
     .effect = "The last bits differ from run to run.",
     .fix = "for equal bits in every run let one warp add in a fixed order, or add integers",
     .severity = isa::CodeSeverity::strict},
};
static_assert(states_all(table, 6000, 6399));

}  // namespace

std::span<const isa::CodeText> memory_codes() { return table; }

}  // namespace palladion::sim::check
