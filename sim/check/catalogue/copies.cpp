// PLD43xx, PLD44xx: bulk and tensor copies, wgmma.
#include "sim/check/catalogue/tables.h"

namespace palladion::sim::check {
namespace {

using enum isa::CodeSeverity;

constexpr isa::CodeText table[] = {
    reported_as(3071, row(4301, "a bulk copy of a wrong size or alignment",
                          "Addresses and sizes of bulk copies are multiples of 16 bytes, shared addresses of "
                          "tensor copies multiples of 128 bytes.",
                          "cp.async.bulk; cp.async.bulk.tensor",
                          "A misaligned-address failure, or undefined results.",
                          "align the buffer; round the size up")),
    reported_as(
        3092,
        row(4302, "a tensor map that breaks a rule",
            "The rank is at most 5, strides are multiples of 16 bytes, a box has at most 256 elements a "
            "dimension, and its inner dimension is a multiple of 16 bytes, no wider than the swizzle.",
            "PTX, \"Tensors\"; CUDA driver API, cuTensorMapEncodeTiled",
            "The driver rejects the map without a reason, or copies access wrong addresses.",
            "change the field that the message names")),
    row(4303, "a copy that is larger than its buffer in shared memory",
        "The box extends beyond the end of the array into the next one; shared memory has no bounds between "
        "arrays.",
        "cp.async.bulk; cp.async.bulk.tensor", "The next array, or an mbarrier, is overwritten.",
        "make the array as large as the data written to it, and keep the index in bounds"),
    row(4304, "bytes are read in another layout than they were written in",
        "The swizzle of the tensor map differs from that of the reader (matrix descriptor, or plain "
        "indexing), so elements are read from wrong places.",
        "Matrix Descriptor Format; Swizzling Modes", "Permuted data, without any error.",
        "use the same swizzle in the tensor map and in the matrix descriptor"),
    row(4305, "a swizzled tile that does not fit its pattern",
        "The tile's inner dimension is wider than the swizzle's span, or the tile does not start at a "
        "multiple of the pattern: 256, 512 or 1024 bytes for swizzles of 32, 64 or 128 bytes.",
        "Swizzling Modes", "Rotated data, without any error.",
        "align the buffer to the pattern; divide wide tiles", strict),
    row(4306, "the destination of a copy is read before its completion was observed",
        "No wait for the copy's mbarrier or group orders the read after the copy.",
        "Completion Mechanisms for Asynchronous Copy Operations",
        "Old bytes, or a mixture of old and new ones.", "wait for the mbarrier that the copy signals"),
    row(4307, "a copy overwrites shared memory that is still in use",
        "The slot is filled again, and nothing orders its last readers before the copy.",
        "Conflict and Data-races", "Readers get data of a later iteration, in some runs.",
        "let the consumer arrive on an `empty` mbarrier after its last use, and the producer wait for it"),
    row(4308, "a copy overwrites what the generic proxy used, without a proxy fence",
        "The accesses of the generic proxy are ordered before the copy, but only a proxy fence makes that "
        "order hold for the async proxy too.",
        "Proxies; membar/fence: fence.proxy.async",
        "The copy may overtake them: rarely stale or corrupt data.",
        "put fence.proxy.async after the generic accesses, before the arrival that frees the buffer"),
    row(4309, "a copy reads what the generic proxy wrote, without a proxy fence",
        "A store into shared memory is visible to a bulk copy or to wgmma only after fence.proxy.async.",
        "Proxies; membar/fence: fence.proxy.async", "Rows of old data in the output, in some runs.",
        "put fence.proxy.async (commit_smem) after the writes, before the barrier in front of the copy"),
    row(4310, "a copy reads shared memory while another thread's write is not ordered before it",
        "A proxy fence takes effect within the executing thread. Only a barrier orders other threads' writes "
        "before the issuing thread's copy.",
        "membar/fence: fence.proxy.async", "Rows of other warps are missing.",
        "let every writing thread execute the fence, then synchronise them with the issuing thread by a "
        "barrier"),
    row(4311, "no wait_group of the issuing thread covers the store",
        "The operation was never committed, or another thread committed it or waits: a bulk async-group "
        "belongs to the thread that issues and commits it.",
        "cp.async.bulk.wait_group", "The wait returns at once, and the buffer is reused too early.",
        "let the thread that issues the operation also commit it and wait for it", by_case),
    row(4312, "the source of a store is overwritten while the store may still read it",
        "wait_group N leaves the N newest groups pending. The one whose buffer is used next is among them.",
        "cp.async.bulk.wait_group", "Wrong rows in some runs.",
        "execute wait_group.read with fewer pending groups before the buffer is reused"),
    row(4313, "a wait for the source's reads is taken for the completion of the store",
        "After wait_group.read the sources have been read; the writes to global memory may still be in "
        "flight.",
        "cp.async.bulk.wait_group", "A thread that is signalled after this wait reads old data.",
        "execute wait_group without .read before the result is published"),
    row(4314, "shared memory is released while a store still reads it",
        "The CTA ends before the bulk store has read its source. PTX gives no promise: a .shared variable "
        "lives "
        "as long as the CTA that defines it.",
        "cp.async.bulk.wait_group; State Spaces: .shared",
        "An H100 gives the memory to the next CTA after the store has read it (measured: no wrong word of "
        "10^9).",
        "let the issuing thread execute cp.async.bulk.commit_group and wait_group.read 0 before the exit",
        strict),
    row(4315, "asynchronous writes to global memory overlap",
        "Two copies, or a copy and a reduction, write the same bytes of global memory, and nothing orders "
        "them.",
        "Conflict and Data-races", "The output depends on which one lands last.",
        "let one thread write each tile, or use cp.reduce.async.bulk, which is atomic element by element"),
    row(4316, "a copy reads global memory that the generic proxy wrote, without a proxy fence",
        "The generic proxy wrote the data; the flag orders these writes before the reader's generic accesses "
        "only.",
        "Proxies; membar/fence: fence.proxy.async", "Rarely stale tiles.",
        "put fence.proxy.async.global after the acquire, before the copy is issued"),
    row(4317, "a multicast overwrites shared memory that a CTA of the cluster still uses",
        "The issuing CTA waited for its own readers, but not for those of the other receivers.",
        "Conflict and Data-races", "The other CTA computes with data of a later iteration.",
        "let the issuing thread wait for arrivals of the consumers in every destination CTA"),
    reported_as(
        3073,
        row(4318, "a multicast copy that is set up wrongly",
            "The mask names a CTA beyond the cluster, the receivers have the buffer or the mbarrier at "
            "different offsets, or some CTAs do not issue their part.",
            "cp.async.bulk.tensor", "Writes into other buffers, hangs.",
            "use the same layout of shared memory in all CTAs, and a mask of ranks within the cluster")),
    row(4319, "a tensor map is changed while a copy may still read it",
        "A copy reads its tensor map at some time after its issue.", "tensormap.replace",
        "The copy uses the new map, or a mixture of both.",
        "wait for the copies that use the map before it is replaced"),
    row(4320, "a tensor map is used without having been acquired",
        "Copies read tensor maps through a proxy of their own. tensormap.cp_fenceproxy (or "
        "fence.proxy.tensormap with .release) publishes a change, fence.proxy.tensormap with .acquire "
        "acquires it.",
        "membar/fence: fence.proxy.tensormap", "Rarely the old map is used.",
        "execute fence.proxy.tensormap::generic.acquire on the map in the thread that issues the copy"),
    row(4321, "elements beyond the tensor's bounds are used as data",
        "A copy fills the part of its box beyond the tensor's bounds with zeros or NaNs; with .ignore_oob "
        "the bytes are undefined.",
        "Tensors: Out of Boundary Access", "Wrong maxima, sums with undefined values.",
        "leave these elements out, or make sure that zero is right for them", strict),
    row(4322, "cp.async of one thread is read by another",
        "cp.async.wait_group makes a thread's own copies visible to that thread only.", "cp.async.wait_group",
        "Stale elements of neighbouring threads.",
        "put a barrier after wait_group, which makes a thread's copies visible to that thread only"),
    row(4323, "a copy between shared memories with a wrong destination",
        "A copy from shared::cta to shared::cluster goes to another CTA, and the mbarrier that it signals "
        "lies in that same CTA.",
        "cp.async.bulk", "Undefined.", "use a destination in another CTA of the cluster (mapa)"),
    row(4401, "wgmma without wgmma.fence before it",
        "The first wgmma.mma_async, and each one after other accesses to its registers, needs a wgmma.fence "
        "before it.",
        "wgmma.fence", "Usually none, since ptxas adds a fence; otherwise wrong accumulators.",
        "put wgmma.fence.sync.aligned after the last access to the registers, before the first wgmma of the "
        "chain",
        by_case),
    row(4402, "products of different shapes on the same accumulator without a fence",
        "Products that share accumulator registers are ordered without a fence only if they have the same "
        "shape.",
        "wgmma.fence", "Wrong sums.", "put a wgmma.fence between the two, or give them the same shape"),
    row(4403, "the accumulator is accessed before its product is waited for",
        "Its registers belong to the asynchronous product until wgmma.wait_group.", "wgmma.wait_group",
        "Partial sums; or ptxas serialises the products.",
        "execute wgmma.commit_group and wgmma.wait_group before the registers are used", by_case),
    row(4404, "registers with the A operand are overwritten while the product runs",
        "The product reads the fragment at some time after its issue.", "wgmma.wait_group",
        "A wrong product.", "wait for the product first, or keep the next fragment in other registers",
        by_case),
    row(4405, "wgmma.wait_group does not cover the wgmma",
        "The wgmma was not committed, or its group is among the N newest ones that stay pending.",
        "wgmma.wait_group", "Partial sums.", "execute wgmma.commit_group before wgmma.wait_group", by_case),
    row(4406, "a wgmma's operand is overwritten while the wgmma may still read it",
        "The `empty` arrival comes before the wait for the product's group.", "wgmma.wait_group",
        "The product mixes data of two iterations, in some runs.",
        "release the buffer only after wgmma.wait_group has retired the wgmma that reads it"),
    row(4407, "a wgmma reads what the generic proxy wrote, without a proxy fence",
        "wgmma reads shared memory through the async proxy.", "Proxies; membar/fence: fence.proxy.async",
        "Rarely old operands.",
        "put fence.proxy.async (commit_smem) after the writes, before the barrier in front of the wgmma"),
    row(4408, "a matrix descriptor that describes bytes outside its buffer",
        "With its start address, byte offsets and swizzle the product reads bytes outside the tile.",
        "Matrix Descriptor Format", "Wrong values without any error.",
        "check the start address and the leading and stride byte offsets against the tile's size and layout"),
    row(4409, "a matrix descriptor that is encoded wrongly",
        "The start address is not a multiple of 16 or does not fit its field, the base offset does not match "
        "it, or the descriptor differs between the warps of the warpgroup.",
        "Matrix Descriptor Format", "Undefined.",
        "put (address & 0x3FFFF) >> 4 into the address field; use the same descriptor in all four warps",
        by_case),
    row(4410, "wgmma in divergent code",
        "All threads of the warpgroup execute the same wgmma.mma_async, fence, commit_group and wait_group.",
        "wgmma.mma_async", "A hang.", "move the wgmma instructions out of code that depends on the warp"),
    row(4411, "the first product adds to uninitialised registers",
        "With scale-d true the accumulator is an input.", "wgmma.mma_async", "Undefined values or NaNs.",
        "write zeros to the accumulators, or give the first wgmma a false scale-d"),
};
static_assert(states_all(table, 4300, 4499));

}  // namespace

std::span<const isa::CodeText> copy_codes() { return table; }

}  // namespace palladion::sim::check
