// PLD60xx to PLD63xx: global memory, undefined bytes, resources, numerics.
#include "sim/check/catalogue/tables.h"

namespace palladion::sim::check {
namespace {

using enum isa::CodeSeverity;

constexpr isa::CodeText table[] = {
    row(6001, "threads race on global memory",
        "Two threads, often of different CTAs, access the same bytes, at least one access is a write, and "
        "nothing orders the two.",
        "Conflict and Data-races", "Results vary from run to run.",
        "give each element one owner, use atomics, or order the two by release and acquire"),
    row(6002, "a flag in global memory that synchronises nothing",
        "Weak or relaxed accesses to the flag order no other accesses.", "Release and Acquire Patterns",
        "Rarely the data behind the flag are stale.",
        "write the flag with st.release or red.release, read it with ld.acquire, both at .gpu scope"),
    row(6003, "only the signalling thread's writes are ordered",
        "All threads wrote, one thread sets the flag, and nothing orders the other threads' writes before "
        "it.",
        "Causality Order", "The reader gets stale rows of the other threads.",
        "synchronise the writing threads by a barrier before one of them signals"),
    row(6004, "the scope of an atomic or a flag is too narrow",
        "The scope of each of the two operations must include the other one's thread: .cta does not include "
        "another CTA, .gpu not another device.",
        "Scope; Morally strong operations", "Rarely lost updates and stale data.",
        "use .gpu scope between CTAs, .sys between devices", by_case),
    row(6005, "a store to global memory is read before it was complete",
        "The chain is: commit, wait_group 0 (not .read), release of the flag, acquire, fence.proxy.async, "
        "load. One link is missing.",
        "Completion Mechanisms for Asynchronous Copy Operations", "Stale tiles.",
        "execute cp.async.bulk.wait_group 0 (not .read), then release the flag; the reader acquires it"),
    row(6006, "an earlier signal ends the wait",
        "The flag keeps its value from one launch or tile to the next, so that waits return too early.",
        "Causality Order", "The first launch is right; the second one races or hangs.",
        "count up with each use of a semaphore, or reset it before it is used again"),
    row(6007, "the read-only path reads what this kernel writes",
        "ld.global.nc may return old data: the memory must not change during the kernel.", "ld.global.nc",
        "Stale data.",
        "use ld.global: ld.global.nc is for memory that does not change while the kernel runs"),
    row(6101, "uninitialised shared memory is read",
        "The contents of shared memory are undefined when a CTA starts: padding rows, or a stage that was "
        "never loaded.",
        "Shared State Space", "Values of an earlier CTA; right on an idle device.",
        "write the bytes before they are read: shared memory has no defined contents when a CTA starts"),
    row(6103, "uninitialised global memory or registers are read",
        "A workspace without a memset, an output that is read, or registers after setmaxnreg.inc.",
        "Global State Space", "Right in the first launch, wrong later.",
        "set the memory first: it has the contents that the host or an earlier kernel gave it", by_case),
    row(6104, "an access beyond its array",
        "The access is inside the CTA's shared memory (or the allocation), so the hardware does not detect "
        "it, but it reaches another array.",
        "Array Declarations", "The other array is read or overwritten without any error.",
        "make the array as large as the data written to it, and keep the index in bounds"),
    row(6105, "shared memory is reused while an asynchronous operation still reads it",
        "Two arrays use the same bytes one after the other, and a copy of the first one has not ended.",
        "cp.async.bulk.wait_group", "A corrupted tile.",
        "wait for the operation before another array uses the bytes"),
    reported_as(3091, row(6106, "a tensor map that does not exist any more, or lies in the wrong place",
                          "A tensor map lies in parameter, constant or global memory, aligned to 64 bytes; a "
                          "copy in local memory is not allowed.",
                          "cp.async.bulk.tensor; Tensors", "An illegal access.",
                          "pass it as const __grid_constant__ and use the parameter's own address")),
    reported_as(3108, row(6201, "too much shared memory",
                          "Hopper has 227 KiB a CTA, 48 KiB without opting in; the system uses 1 KiB a CTA "
                          "of the SM's 228 KiB.",
                          "CUDA programming guide: Compute Capabilities", "The launch is refused.",
                          "use fewer or smaller stages")),
    row(6202, "too many registers, or setmaxnreg breaks a rule",
        "An SM has 65536 registers. setmaxnreg takes 24 to 256, a multiple of 8; .inc must not lower the "
        "count and .dec must not raise it; without .maxnreg, .maxntid or .reqntid ptxas ignores it.",
        "setmaxnreg", "A refused launch, a hang, or spills.", "choose counts whose sum over all warps fits",
        by_case),
    reported_as(
        3104,
        row(6204, "a cluster that cannot be placed",
            "More than 8 CTAs are not portable, 16 is the limit, and the grid is a multiple of the cluster.",
            "Cluster of Cooperative Thread Arrays", "The launch is refused.", "use a smaller cluster")),
    row(6301, "an overflow in a narrow accumulator",
        "A finite sum of products exceeded the range of f16, or an fp8 conversion saturated.",
        "wgmma.mma_async; cvt", "Infinities, or the largest finite value.",
        "accumulate in f32, or scale the operands", strict),
    row(6302, "the origin of the first NaN",
        "inf - inf or 0 * inf of operands that were not NaN: for example a fully masked row of an online "
        "softmax.",
        "Floating-Point Instructions: add, mul, fma", "A row of NaNs far from its cause.",
        "use 0 instead of the maximum where the maximum is -inf", strict),
    row(6304, "a result that depends on the order of additions",
        "Floating-point additions by atomics or reductions of several threads are no race, but their order "
        "changes the rounding.",
        "red; atom; cp.reduce.async.bulk", "The last bits differ from run to run.",
        "let one warp add in a fixed order, or add integers, if every run must give equal bits", strict),
};
static_assert(states_all(table, 6000, 6399));

}  // namespace

std::span<const isa::CodeText> memory_codes() { return table; }

}  // namespace palladion::sim::check
