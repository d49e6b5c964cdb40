// PLD43xx, PLD44xx: bulk and tensor copies, wgmma.
#include "cli/codes/codes.h"

namespace palladion::cli {
namespace {

constexpr CodeText copies[] = {
    {.number = 4301,
     .title = "a bulk copy of a wrong size or alignment",
     .meaning = "Addresses and sizes of bulk copies are multiples of 16 bytes, shared tiles of tensor copies "
                "of 128.",
     .rule = "cp.async.bulk; cp.async.bulk.tensor",
     .effect = "A misaligned-address failure, or undefined results.",
     .fix = "Align the buffer; round the size up."},
    {.number = 4302,
     .title = "a tensor map that breaks a rule",
     .meaning = "Rank at most 5, strides multiples of 16 bytes, boxes of at most 256 elements a dimension, "
                "an inner box of a "
                "multiple of 16 bytes, a swizzle at least as wide as the inner box.",
     .rule = "Tensors; CUDA driver API: cuTensorMapEncodeTiled",
     .effect = "The driver refuses the map without a reason, or copies go astray.",
     .fix = "Change the field that the message names."},
    {.number = 4303,
     .title = "a copy that is larger than its buffer in shared memory",
     .meaning = "The box reaches past the end of the array into its neighbour, which nothing protects.",
     .rule = "cp.async.bulk.tensor; Tensors: Bounding Box",
     .effect = "The neighbour's data, or a barrier, is overwritten.",
     .fix = "Let the box and the array have the same bytes."},
    {.number = 4304,
     .title = "bytes are read in another layout than they were written in",
     .meaning = "The tensor map's swizzle and the reader's (matrix descriptor, or plain indexing) are not "
                "the same, so "
                "elements are found in other places than they lie.",
     .rule = "Tensors: Swizzling modes; Matrix Descriptor Format",
     .effect = "Permuted data, without any error.",
     .fix = "Use one swizzle for both, or undo it in the index arithmetic of a plain reader."},
    {.number = 4305,
     .title = "a swizzled tile that does not fit its pattern",
     .meaning = "The tile's inner dimension is wider than the swizzle's span, or the tile does not start at "
                "a multiple of the "
                "pattern: 256, 512 or 1024 bytes for swizzles of 32, 64 or 128 bytes.",
     .rule = "Tensors: Swizzling modes; Matrix Descriptor Format (base offset)",
     .effect = "Rotated data, without any error.",
     .fix = "Align the buffer to the pattern; split wide tiles."},
    {.number = 4306,
     .title = "the destination of a copy is read before its completion was seen",
     .meaning = "No wait on the copy's mbarrier, or group, orders the read behind the copy.",
     .rule = "Async Proxy; Completion Mechanisms for Asynchronous Copy Operations",
     .effect = "Old bytes, or some old and some new ones.",
     .fix = "Wait for the phase of the very barrier that this copy signals."},
    {.number = 4307,
     .title = "a copy overwrites bytes that may still be read",
     .meaning = "The slot is filled again although nothing orders its last readers before the copy.",
     .rule = "Conflict and Data-races; Asynchronous Operations",
     .effect = "Readers get data of a later iteration, in some runs.",
     .fix = "Readers arrive at an `empty` barrier when they are done; the producer waits for it before the "
            "next copy."},
    {.number = 4308,
     .title = "ordinary accesses and an asynchronous overwrite without a proxy fence between",
     .meaning = "The accesses went through the generic proxy and are ordered before the copy, but only a "
                "proxy fence makes "
                "that order hold for the async proxy too.",
     .rule = "Proxies; membar, fence (fence.proxy.async)",
     .effect = "The copy may overtake them: stale or corrupt data, seldom.",
     .fix = "fence.proxy.async by the threads that accessed the bytes, before they arrive."},
    {.number = 4309,
     .title = "ordinary writes, then an asynchronous read, without a proxy fence between",
     .meaning =
         "A store into shared memory is not visible to a bulk store or to wgmma until fence.proxy.async.",
     .rule = "Proxies; Async Proxy; membar, fence (fence.proxy.async)",
     .effect = "Rows of old data in the output, in some runs.",
     .fix = "Every writer executes fence.proxy.async, then the barrier, then one thread issues the copy."},
    {.number = 4310,
     .title = "a proxy fence without the barrier behind it",
     .meaning = "The fence works for the executing thread. Other threads' writes reach the issuing thread by "
                "a barrier "
                "alone.",
     .rule = "membar, fence (fence.proxy.async); Causality Order",
     .effect = "Rows of other warps are missing.",
     .fix = "Fence in every writing thread, then bar.sync, then the copy."},
    {.number = 4311,
     .title = "a wait_group that does not cover the operation",
     .meaning = "The operation was never committed, or another thread committed it: groups belong to the "
                "thread that issues, "
                "commits and waits.",
     .rule = "Async-group mechanism; cp.async.bulk.commit_group; cp.async.bulk.wait_group",
     .effect = "The wait returns at once and the buffer is reused too early.",
     .fix = "Issue, commit and wait in the same thread; tell the others by a barrier."},
    {.number = 4312,
     .title = "wait_group lets one group too many stay open",
     .meaning =
         "wait_group N leaves the N newest groups running. The one whose buffer is used next is among them.",
     .rule = "cp.async.bulk.wait_group; cp.async.wait_group, cp.async.wait_all",
     .effect = "The source of a running store is overwritten: wrong rows now and then.",
     .fix = "N is the number of buffers minus one: 0 for a single buffer."},
    {.number = 4313,
     .title = "wait_group.read is taken for completion",
     .meaning =
         "With .read the sources have been read; the writes to global memory may still be on their way.",
     .rule = "cp.async.bulk.wait_group (.read)",
     .effect = "Whoever is told that the data is there reads old data.",
     .fix = "wait_group without .read before the flag is set."},
    {.number = 4314,
     .title = "shared memory is given back while a store still reads it",
     .meaning = "The CTA ends, or leaves the scope of the array, and the bulk store has not read its source.",
     .rule = "Async Proxy; cp.async.bulk.wait_group",
     .effect = "The next owner's bytes land in the output.",
     .fix = "cp.async.bulk.wait_group.read 0 by the issuing thread before the end."},
    {.number = 4315,
     .title = "asynchronous writes that overlap",
     .meaning = "Two copies, or a copy and a reduction, write the same bytes of global memory and nothing "
                "orders them.",
     .rule = "Conflict and Data-races; cp.reduce.async.bulk",
     .effect = "The output depends on which lands last.",
     .fix = "Disjoint tiles, reductions on both sides, or an order between the two."},
    {.number = 4316,
     .title = "a copy reads global memory that this kernel wrote, without a proxy fence",
     .meaning = "The writes came through the generic proxy; the flag orders them for the reader's generic "
                "accesses only.",
     .rule = "Proxies; membar, fence (fence.proxy.async)",
     .effect = "Stale tiles, seldom.",
     .fix = "fence.proxy.async (or .global) between the acquired flag and the copy."},
    {.number = 4317,
     .title = "a multicast copy overwrites a slot that another CTA still reads",
     .meaning = "The issuing CTA waited for its own readers; those of the other receivers were not asked.",
     .rule = "cp.async.bulk.tensor (.multicast::cluster); Conflict and Data-races",
     .effect = "The other CTA computes with data of a later iteration.",
     .fix = "Let the readers of every receiver arrive at the issuer's `empty` barrier, counted in its "
            "mbarrier.init."},
    {.number = 4318,
     .title = "a multicast copy that is set up wrongly",
     .meaning = "The mask names a CTA beyond the cluster, or the receivers have the buffer or the barrier at "
                "different "
                "offsets, or some CTAs do not issue their share.",
     .rule = "cp.async.bulk.tensor (.multicast::cluster)",
     .effect = "Writes into other buffers, hangs.",
     .fix = "The same layout of shared memory in all CTAs; a mask of ranks within the cluster."},
    {.number = 4319,
     .title = "a tensor map is edited while a copy uses it",
     .meaning = "The copy reads its map some time after its issue.",
     .rule = "tensormap.replace; cp.async.bulk.wait_group",
     .effect = "The copy goes to the new address, or to a mixture.",
     .fix = "Wait for the copies that use the map, at least their .read, before it is changed."},
    {.number = 4320,
     .title = "a tensor map that was changed is used without its fences",
     .meaning = "Maps are read through a proxy of their own. A change is published by "
                "tensormap.cp_fenceproxy (or a fence "
                "with .release) and acquired by fence.proxy.tensormap.",
     .rule = "tensormap.cp_fenceproxy; membar, fence (fence.proxy.tensormap); Proxies",
     .effect = "The old map is used, seldom.",
     .fix = "cp_fenceproxy ... .release by the writer; fence.proxy.tensormap::generic.acquire on the 128 "
            "bytes by the user."},
    {.number = 4321,
     .title = "what lies beyond the tensor's edge is used as data",
     .meaning = "A box that reaches over the edge is filled with zeros or NaNs there; with .ignore_oob it is "
                "undefined.",
     .rule = "Tensors: Out of Boundary Access",
     .effect = "Wrong maxima, sums with garbage.",
     .fix = "Mask the elements beyond the edge before they count."},
    {.number = 4322,
     .title = "cp.async data of another thread without a barrier",
     .meaning = "wait_group makes a thread's own cp.async visible to itself only.",
     .rule = "cp.async.wait_group, cp.async.wait_all; Async-group mechanism",
     .effect = "Stale elements of neighbouring threads.",
     .fix = "wait_group, then bar.sync (or bar.warp.sync), then the reads."},
    {.number = 4323,
     .title = "a copy between shared memories with wrong partners",
     .meaning = "A shared::cta to shared::cluster copy goes to another CTA, and the barrier that it signals "
                "lies in that "
                "same CTA.",
     .rule = "cp.async.bulk (shared::cluster from shared::cta)",
     .effect = "Undefined.",
     .fix = "Map both the destination and the barrier to the same other CTA."},
};

constexpr CodeText products[] = {
    {.number = 4401,
     .title = "wgmma without wgmma.fence before it",
     .meaning =
         "The first wgmma.mma_async, and each one behind other accesses to its registers, needs the fence.",
     .rule = "wgmma.fence",
     .effect = "Usually none, since the assembler adds one; else wrong accumulators.",
     .fix = "wgmma.fence.sync.aligned after the registers were written, before wgmma.mma_async."},
    {.number = 4402,
     .title = "products of different shapes on the same accumulator without a fence",
     .meaning = "Products that share accumulator registers are ordered by themselves only when their shapes "
                "are the same.",
     .rule = "wgmma.mma_async; wgmma.fence",
     .effect = "Wrong sums.",
     .fix = "wgmma.fence between products of different shapes, after the first is waited for."},
    {.number = 4403,
     .title = "the accumulator is touched before its product is waited for",
     .meaning = "Its registers belong to the asynchronous product until wgmma.wait_group.",
     .rule = "wgmma.wait_group; wgmma.mma_async",
     .effect = "Partial sums, or a compiler that makes everything wait.",
     .fix = "wgmma.commit_group and wgmma.wait_group before the registers are used."},
    {.number = 4404,
     .title = "registers with the A operand are overwritten while the product runs",
     .meaning = "The product reads the fragment some time after its issue.",
     .rule = "wgmma.wait_group; wgmma.mma_async",
     .effect = "A wrong product.",
     .fix = "Wait for the product first, or keep the next fragment in other registers."},
    {.number = 4405,
     .title = "wgmma.wait_group does not cover the product",
     .meaning = "It was not committed, or the N newest groups that stay open include it.",
     .rule = "wgmma.commit_group; wgmma.wait_group",
     .effect = "Partial sums.",
     .fix = "Commit after the last product of a step; wait_group 0 before the result is used."},
    {.number = 4406,
     .title = "an operand's shared memory is released while the product reads it",
     .meaning = "The `empty` arrival came before the product's group was waited for.",
     .rule = "wgmma.wait_group; Conflict and Data-races",
     .effect = "The product mixes two iterations' data, in some runs.",
     .fix = "Release a stage once its group has been waited for: with wait_group 1, the stage before."},
    {.number = 4407,
     .title = "an operand written by ordinary stores, read by wgmma without a proxy fence",
     .meaning = "wgmma reads shared memory through the async proxy.",
     .rule = "Async Proxy (of wgmma); membar, fence (fence.proxy.async)",
     .effect = "Old operands, seldom.",
     .fix = "fence.proxy.async by all who wrote, then a barrier, then wgmma."},
    {.number = 4408,
     .title = "a matrix descriptor that leaves its buffer",
     .meaning = "Strides, start address or swizzle are such that the product reads bytes outside the tile.",
     .rule = "Matrix Descriptor Format; Strides",
     .effect = "Wrong values without any error.",
     .fix = "Check leading and stride byte offsets, the K step and the swizzle against how the tile was "
            "written."},
    {.number = 4409,
     .title = "a matrix descriptor that is encoded wrongly",
     .meaning =
         "The start address is not a multiple of 16, does not fit its field, or the base offset or the whole "
         "descriptor differs between the warps of the warpgroup.",
     .rule = "Matrix Descriptor Format",
     .effect = "Undefined.",
     .fix = "(address & 0x3FFFF) >> 4 in the address field; the same descriptor in all four warps."},
    {.number = 4410,
     .title = "wgmma in divergent code",
     .meaning = "All threads of the warpgroup execute the same wgmma instruction, fence, commit and wait.",
     .rule = "wgmma.mma_async (.sync.aligned)",
     .effect = "A hang.",
     .fix = "Branch by warpgroup only."},
    {.number = 4411,
     .title = "the first product adds to registers that nobody set",
     .meaning = "With scale-d true the accumulator is an input.",
     .rule = "wgmma.mma_async (scale-d)",
     .effect = "Garbage or NaN.",
     .fix = "Zero the accumulator, or scale-d false for the first product."},
};

}  // namespace

std::span<const CodeText> tma_codes() { return copies; }
std::span<const CodeText> wgmma_codes() { return products; }

}  // namespace palladion::cli
