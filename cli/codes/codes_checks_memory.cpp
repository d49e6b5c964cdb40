// PLD60xx to PLD63xx: global memory, undefined bytes, resources, numerics.
#include "cli/codes/codes.h"

namespace palladion::cli {
namespace {

constexpr CodeText globals[] = {
    {.number = 6001,
     .title = "a data race in global memory",
     .meaning =
         "Two threads, often of different CTAs, touch the same bytes, one writes, and nothing orders them.",
     .rule = "Conflict and Data-races; Causality Order",
     .effect = "Results change from run to run.",
     .fix = "Disjoint outputs, atomics, or a flag with release and acquire."},
    {.number = 6002,
     .title = "a flag without release and acquire",
     .meaning = "Weak or relaxed accesses of the flag order nothing but themselves.",
     .rule = "Release and Acquire Patterns; Morally Strong Operations",
     .effect = "The data behind the flag is stale, seldom.",
     .fix = "st.release.gpu (or red.release.gpu) to set it, ld.acquire.gpu to read it."},
    {.number = 6003,
     .title = "the flag speaks for one thread alone",
     .meaning =
         "All threads wrote, one thread sets the flag, and nothing orders the others' writes before it.",
     .rule = "Causality Order; bar, barrier",
     .effect = "Rows of other threads are stale for the reader.",
     .fix = "bar.sync before the thread that sets the flag."},
    {.number = 6004,
     .title = "a scope that is too narrow",
     .meaning = "Both sides of a synchronisation must include each other: .cta does not reach another CTA, "
                ".gpu not another "
                "device.",
     .rule = "Scope; Morally Strong Operations",
     .effect = "Lost updates and stale data, seldom.",
     .fix = ".gpu between CTAs, .sys between devices."},
    {.number = 6005,
     .title = "a broken chain from bulk store to bulk load",
     .meaning = "The chain is: commit, wait_group 0 (not .read), release the flag, acquire it, "
                "fence.proxy.async, load. One of "
                "its links is missing.",
     .rule = "Async-group mechanism; Proxies; Release and Acquire Patterns",
     .effect = "Stale tiles.",
     .fix = "Add the link that the finding names."},
    {.number = 6006,
     .title = "a semaphore that is not as it was at the start",
     .meaning =
         "It keeps its value from one launch or tile to the next, so that waits pass before their time.",
     .rule = "Causality Order",
     .effect = "The first launch is right, the second one races or hangs.",
     .fix = "Reset it at the end, or count on from the old value."},
    {.number = 6007,
     .title = "ld.global.nc of memory that the kernel writes",
     .meaning = "The read-only path may hold old data: the memory must not change during the kernel.",
     .rule = "ld.global.nc",
     .effect = "Stale data.",
     .fix = "ld.global; in CUDA C++ no const __restrict__ and no __ldg for this array."},
    {.number = 6008,
     .title = "the previous kernel's results are read too early",
     .meaning = "Under programmatic dependent launch only griddepcontrol.wait orders the kernel before.",
     .rule = "griddepcontrol",
     .effect = "Stale data.",
     .fix = "griddepcontrol.wait before the first read."},
    {.number = 6009,
     .title = "the kernel ends before a remote write is known",
     .meaning = "A write to, or from, another device has not been observed, or its signal lacks .sys.",
     .rule = "Scope",
     .effect = "The next kernel overwrites or misses it.",
     .fix = "Wait for the partner's signal, with .sys, before the end."},
};

constexpr CodeText undefined[] = {
    {.number = 6101,
     .title = "shared memory is read that nobody wrote",
     .meaning =
         "Its contents are undefined when a CTA starts: padding rows, or a stage that was never loaded.",
     .rule = "State Spaces: Shared State Space",
     .effect = "Garbage of the CTA before; right on an idle device.",
     .fix = "Write it first, or mask the part."},
    {.number = 6103,
     .title = "global memory or registers are read that nobody wrote",
     .meaning = "A workspace without a memset, an output that is read, registers after setmaxnreg.inc.",
     .rule = "setmaxnreg; CUDA runtime: cudaMalloc",
     .effect = "Right in the first launch, wrong later.",
     .fix = "Set it to zero before the launch, or in the kernel before it is added to."},
    {.number = 6104,
     .title = "an access beyond its array",
     .meaning = "It is inside the CTA's shared memory (or the allocation), so the hardware lets it pass, but "
                "it meets "
                "another array.",
     .rule = "Operands: Addresses as Operands",
     .effect = "The neighbour is read or overwritten without any error.",
     .fix = "Check the index against the array's own size."},
    {.number = 6105,
     .title = "memory gets another use while an asynchronous operation is on it",
     .meaning = "Two arrays share their bytes in turn, and a copy of the first one has not ended.",
     .rule = "Async Proxy; Asynchronous Operations",
     .effect = "A corrupted tile.",
     .fix = "Wait for the copy before the second array is touched."},
    {.number = 6106,
     .title = "a tensor map that is no longer there, or lies in the wrong place",
     .meaning = "A map is taken from a kernel parameter, constant or global memory, aligned to 64 bytes; a "
                "local copy of it "
                "does not do.",
     .rule = "cp.async.bulk.tensor; Tensors",
     .effect = "An illegal access.",
     .fix = "Pass it as const __grid_constant__ and use the parameter's own address."},
};

constexpr CodeText resources[] = {
    {.number = 6201,
     .title = "too much shared memory",
     .meaning =
         "Hopper has 227 KiB a CTA, 48 KiB without opting in, 1 KiB of the SM's 228 KiB being the system's.",
     .rule = "CUDA guide: Compute Capabilities",
     .effect = "The launch is refused.",
     .fix = "Fewer or smaller stages."},
    {.number = 6202,
     .title = "too many registers, or setmaxnreg out of its rules",
     .meaning = "The pool is 65536 a SM. setmaxnreg takes 24 to 256, a multiple of 8, and .inc must not "
                "shrink nor .dec grow; "
                "the kernel needs .maxnreg or .reqntid for it to count.",
     .rule = "setmaxnreg",
     .effect = "A refused launch, a hang, or spills.",
     .fix = "Make the sum over all warps fit."},
    {.number = 6204,
     .title = "a cluster that cannot be placed",
     .meaning =
         "More than 8 CTAs are not portable, 16 is the limit, and the grid is a multiple of the cluster.",
     .rule = "Cluster of Cooperative Thread Arrays",
     .effect = "The launch is refused.",
     .fix = "A smaller cluster."},
};

constexpr CodeText numerics[] = {
    {.number = 6301,
     .title = "an overflow in a narrow accumulator",
     .meaning = "A finite product sum left the range of f16, or an fp8 conversion saturated.",
     .rule = "wgmma.mma_async; cvt",
     .effect = "Infinities, or the largest value in their stead.",
     .fix = "Accumulate in f32, or scale the operands."},
    {.number = 6302,
     .title = "the first NaN comes from here",
     .meaning =
         "inf - inf or 0 * inf of operands that were no NaNs: a fully masked row of an online softmax, say.",
     .rule = "add, fma, mul (floating point)",
     .effect = "A row of NaNs far from its cause.",
     .fix = "Use 0 in place of the maximum where that is -inf."},
    {.number = 6304,
     .title = "a result that depends on an order, though nothing races",
     .meaning = "Floating-point sums by atomics or reductions from several threads are not associative.",
     .rule = "red; atom; cp.reduce.async.bulk",
     .effect = "The last bits differ from run to run.",
     .fix = "Nothing, if that is accepted; else add in a fixed order."},
};

}  // namespace

std::span<const CodeText> global_codes() { return globals; }
std::span<const CodeText> undefined_codes() { return undefined; }
std::span<const CodeText> resource_codes() { return resources; }
std::span<const CodeText> numerics_codes() { return numerics; }

}  // namespace palladion::cli
