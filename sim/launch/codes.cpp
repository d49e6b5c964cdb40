#include "sim/launch/codes.h"

#include <algorithm>
#include <iterator>

#include "isa/core/diagnostic.h"

namespace palladion::sim {
namespace {

constexpr isa::CodeText table[] = {
    isa::text_of(Code::not_modelled, "an instruction that the machine does not run",
                 "It is known and verified, but not modelled; the machine neither skips nor approximates it. "
                 "The message names instruction and reason."),
    isa::text_of(
        Code::gave_up, "the run was given up",
        "The limit of --max-instructions was reached: a warp executed so many instructions and has not "
        "ended, or a sixteenth of them in a row without a store, a barrier, a copy or a strong load. The "
        "finding lists the loops in which the warps are. A loop that polls for ever looks like this."),
    isa::text_of(Code::branch_index, "brx.idx beyond its list", "",
                 "brx.idx %r1, targets;   // %r1 = 4, four targets",
                 "setp.lt.u32 %p, %r1, 4;\n@%p brx.idx %r1, targets;"),
    isa::text_of(Code::trap, "the kernel executed trap or brkpt"),
    isa::text_of(Code::failed_assertion, "an assertion of the kernel failed",
                 "assert() of CUDA C++, with its text, file and line."),
    isa::text_of(Code::stack_full, "the stack of a thread is full",
                 "Recursive functions and alloca take stack memory; a launch states how much a thread has.",
                 "", "", "the recursion has no end, or the launch needs a larger stack (cudaLimitStackSize)"),
    isa::text_of(Code::bad_free, "free of an address that malloc did not give", "", "", "",
                 "the block is free already, or was allocated by the host"),
    isa::text_of(Code::no_function, "a call through a value that is the address of no function", "", "", "",
                 "the pointer was not set, or is of the host"),
    isa::text_of(Code::call_signature,
                 "an indirect call with another number of arguments or results than the function has"),
    isa::text_of(Code::no_graph_condition, "cudaGraphSetConditional with a handle that no graph gave", "", "",
                 "", "cudaGraphConditionalHandleCreate gives the handle of a graph's condition"),
    isa::text_of(
        Code::no_grid_barrier, "grid.sync() in a grid that was not launched cooperatively",
        "The grid's barrier needs a cooperative launch: the driver makes its memory, and sees to it that "
        "all CTAs are resident. cooperative_groups executes trap without it.",
        "kernel<<<grid, block>>>(...);", "cudaLaunchCooperativeKernel(kernel, grid, block, args);",
        "launch it with cudaLaunchCooperativeKernel, or with the attribute cooperative"),
    isa::text_of(Code::shared_bounds, "shared memory out of bounds",
                 "The access leaves what the CTA has: static, plus dynamic as the launch says (--smem).",
                 "st.shared.u32 [%r1], 0;   // 1024 bytes, %r1 = 1024", "--smem 2048",
                 "more dynamic shared memory may be needed (--smem), or an index runs past its buffer"),
    isa::text_of(Code::no_such_cta, "shared memory of a CTA that does not exist",
                 "A shared::cluster address of a rank beyond the cluster.",
                 "mapa.shared::cluster.u32 %r1, %r2, 2;   // cluster of 2",
                 "mapa.shared::cluster.u32 %r1, %r2, 1;"),
    isa::text_of(Code::global_bounds, "global memory out of bounds",
                 "No array has these bytes; the message names the nearest one and the distance.",
                 "if (true) out[i] = a[i];            // grid larger than n", "if (i < n) out[i] = a[i];"),
    isa::text_of(Code::local_bounds, "local memory out of bounds"),
    isa::text_of(Code::misaligned_access, "a misaligned access",
                 "An access of n bytes needs an address that is a multiple of n; vectors count as a whole.",
                 "ld.global.v4.f32 {...}, [%rd1+4];", "ld.global.v4.f32 {...}, [%rd1+16];"),
    isa::text_of(Code::cta_rank, "a CTA rank beyond the cluster",
                 "mapa takes it; the address that it gives is nobody's."),
    isa::text_of(Code::parameter_bounds, "kernel parameters out of bounds", "",
                 "ld.param.u64 %rd1, [k_param_0+8];   // .param .u64", "ld.param.u64 %rd1, [k_param_0];"),
    isa::text_of(Code::no_texture_object, "no texture or surface object",
                 "The handle is not one of an object that exists, or the object has another number of "
                 "dimensions than the instruction.",
                 "tex.1d.v4.f32.f32 {...}, [%rd1, {%f1}];   // %rd1: a texture of two dimensions",
                 "tex.2d.v4.f32.f32 {...}, [%rd1, {%f1, %f2}];"),
    isa::text_of(Code::surface_bounds, "a surface access out of bounds",
                 "Under .trap, coordinates outside the surface end the kernel. x counts bytes, and must be a "
                 "multiple of the bytes that the access moves.",
                 "suld.b.2d.b32.trap %r1, [%rd1, {%r2, %r3}];   // %r2: the number of a texel",
                 "shl.b32 %r2, %r2, 2;"),
    isa::text_of(
        Code::remote_as_own, "shared memory of another CTA accessed as one's own",
        "An instruction of .shared or .shared::cta reaches the CTA that executes it alone; an address "
        "of another CTA, which mapa gives, needs .shared::cluster. Of mbarriers, only arrivals reach another "
        "CTA: a thread waits for those of "
        "its own. A GPU ends the kernel with an illegal instruction.",
        "mapa.shared::cluster.u32 %r1, %r2, 1;\nmbarrier.arrive.shared::cta.b64 _, [%r1];",
        "mapa.shared::cluster.u32 %r1, %r2, 1;\nmbarrier.arrive.release.cluster.shared::cluster.b64 _, "
        "[%r1];",
        "an address of another CTA needs .shared::cluster; of mbarriers only arrivals reach there"),
    isa::text_of(Code::no_such_barrier, "a named barrier that does not exist", "", "bar.sync 16;",
                 "bar.sync 15;"),
    isa::text_of(Code::barrier_counts_differ, "a barrier in use for another number of threads",
                 "All that meet at a barrier state the same count.",
                 "bar.sync 1, 128;   // others: bar.sync 1, 256;", "bar.sync 1, 256;",
                 "all threads that use a barrier at the same time give the same number of threads"),
    isa::text_of(Code::barrier_overrun, "more threads at a barrier than it expects", "",
                 "bar.sync 1, 128;   // executed by 256 threads", "bar.sync 1, 256;"),
    isa::text_of(Code::barrier_count, "a barrier for part of a warp", "", "bar.sync 1, 100;",
                 "bar.sync 1, 96;"),
    isa::text_of(Code::misaligned_mbarrier, "a misaligned mbarrier", "", ".shared .align 4 .b64 bar;",
                 ".shared .align 8 .b64 bar;"),
    isa::text_of(Code::mbarrier_space, "an mbarrier outside shared memory"),
    isa::text_of(Code::mbarrier_init_count, "an mbarrier with an impossible count", "",
                 "mbarrier.init.shared.b64 [%r1], 0;", "mbarrier.init.shared.b64 [%r1], 1;"),
    isa::text_of(Code::arrive_drop_at_zero, "mbarrier.arrive_drop on an mbarrier that expects no arrivals"),
    isa::text_of(Code::mbarrier_range, "mbarrier counts out of range",
                 "More arrivals in a phase than it expects, or more bytes.",
                 "mbarrier.init.shared.b64 [bar], 1;   // and two threads arrive",
                 "mbarrier.init.shared.b64 [bar], 2;"),
    isa::text_of(Code::mbarrier_not_initialised, "a wait on an mbarrier that was not initialised", "",
                 "mbarrier.try_wait.parity...   // before mbarrier.init was seen",
                 "mbarrier.init...; fence.mbarrier_init...; bar.sync 0;",
                 "mbarrier.init must run first, and be made visible: fence.mbarrier_init or a barrier"),
    isa::text_of(Code::setmaxnreg_count, "setmaxnreg with an impossible count", "",
                 "setmaxnreg.inc.sync.aligned.u32 241;", "setmaxnreg.inc.sync.aligned.u32 240;"),
    isa::text_of(Code::setmaxnreg_direction, "setmaxnreg in the wrong direction",
                 "dec must not give more, inc must not give less than the warp has.",
                 "setmaxnreg.dec.sync.aligned.u32 232;   // launched with 168",
                 "setmaxnreg.inc.sync.aligned.u32 232;"),
    isa::text_of(Code::partial_warpgroup,
                 "wgmma is executed by part of a warp, or by a warp outside a full warpgroup",
                 "All four warps of an aligned warpgroup execute it, with all lanes.",
                 "@%p wgmma.mma_async...;   // %p of one lane", "wgmma.mma_async...;   // all 128 threads",
                 "all 128 threads of a warpgroup execute the same wgmma"),
    isa::text_of(Code::partial_warp, "mma.sync or wmma by part of a warp"),
    isa::text_of(Code::misaligned_matrix_row, "a misaligned row of ldmatrix or stmatrix"),
    isa::text_of(Code::matrix_space, "ldmatrix or stmatrix outside shared memory"),
    isa::text_of(Code::member_mask, "a member mask that leaves out an executing lane", "",
                 "shfl.sync.idx.b32 %r1, %r2, 0, 31, 0x0000ffff;   // executed by 32 lanes",
                 "shfl.sync.idx.b32 %r1, %r2, 0, 31, 0xffffffff;",
                 "a lane must be in the mask it passes to a .sync instruction"),
    isa::text_of(
        Code::sparse_metadata, "sparse metadata that PTX leaves undefined",
        "A 2:4 pair of indices names one element twice, or a tf32 nibble is neither 0b0100 nor 0b1110.",
        "metadata 0x55555555: index 1 twice", "metadata 0x44444444: elements 0 and 1 of every four"),
    isa::text_of(Code::misaligned_copy, "a misaligned asynchronous copy"),
    isa::text_of(Code::bulk_copy_size, "a bulk copy of a wrong size or address",
                 "cp.async.bulk moves multiples of 16 bytes between addresses that are multiples of 16.",
                 "cp.async.bulk... , 24, [bar];", "cp.async.bulk... , 32, [bar];"),
    isa::text_of(Code::cp_async_size, "cp.async with more source than destination"),
    isa::text_of(Code::multicast_mask, "a multicast beyond the cluster", "", "mask 0x5 in a cluster of 2",
                 "mask 0x3 in a cluster of 2"),
    isa::text_of(Code::copy_mbarrier, "a copy whose mbarrier cannot be signalled",
                 "It is misaligned, or in another CTA than the data goes to."),
    isa::text_of(Code::mbarrier_bytes, "bytes that an mbarrier cannot count",
                 "At most 2^20 - 1 may be outstanding.", "", "",
                 "the mbarrier must stay initialised until every copy that completes on it has landed"),
    isa::text_of(Code::deadlock, "a deadlock: no warp can continue",
                 "The report lists every warp that waits, on which barrier and phase, which warps have "
                 "arrived and which could still arrive.",
                 "wait(full[0]) before anything fills it", "issue the copy first, or let another warp do it"),
    isa::text_of(Code::wait_for_host, "a wait for a write of the host",
                 "Nothing can continue, and a lane reads pinned or managed memory over and over, at .sys "
                 "scope. What the host does while a kernel runs is not simulated, so this is unsupported, "
                 "unless a thread of the kernel should have written there: then it is a deadlock.",
                 "while (atomicAdd_system(flag, 0) == 0);   // the host sets *flag after the launch",
                 "*flag = 1;   // on the host, before the launch"),
    isa::text_of(Code::tensor_map_address, "a tensor map at a wrong address",
                 "It lies in global, constant or parameter memory; PLD3024 if it is not aligned to 64 bytes.",
                 ".shared .align 64 .b8 map[128]", ".param .align 64 .b8 map[128]"),
    isa::text_of(Code::bad_tensor_map, "a tensor map that breaks a rule",
                 "Such as tensormap.replace with sizes that the driver would refuse.", "", "",
                 "cuTensorMapEncode would have refused it"),
    isa::text_of(Code::misaligned_tile, "a tile at a misaligned shared address",
                 "128 bytes; swizzled tiles start at a multiple of their pattern: 256, 512 or 1024 bytes."),
    isa::text_of(Code::tensor_reduction_type, "a tensor reduction of a type that has none"),
    isa::text_of(Code::tensor_map_mismatch, "a tensor copy that does not fit its map",
                 "Another rank than the map's, im2col against tiled, ..."),
    isa::text_of(Code::bad_tensormap_replace, "an invalid tensormap.replace"),
    isa::text_of(Code::no_entry, "no entry of this name"),
    isa::text_of(Code::too_many_threads, "too many threads in a block", "", "--block 2048", "--block 1024"),
    isa::text_of(Code::empty_grid, "an empty grid"),
    isa::text_of(Code::grid_of_no_clusters, "a grid that is no multiple of the cluster", "",
                 "--grid 5 --cluster 2", "--grid 6 --cluster 2"),
    isa::text_of(Code::cluster_too_large, "a cluster that is too large",
                 "8 CTAs are portable, 16 the limit of Hopper."),
    isa::text_of(Code::reqntid_differs, "a block other than .reqntid"),
    isa::text_of(Code::maxntid_exceeded, "a block larger than .maxntid"),
    isa::text_of(Code::reqnctapercluster_differs, "a cluster other than .reqnctapercluster"),
    isa::text_of(Code::too_much_shared, "too much shared memory"),
    isa::text_of(Code::cta_fits_no_sm, "a CTA that fits no SM",
                 "Registers, threads and shared memory together; the message names the scarce one."),
    isa::text_of(Code::parameter_size, "parameters of another size"),
    isa::text_of(
        Code::values_needed, "a run without values that needs them",
        "--values none neither moves nor computes tensor data: what weak loads of GMEM, asynchronous copies, "
        "ldmatrix, wgmma and mma bring. Branches, addresses, sizes and barriers must not depend on them. "
        "What parameters, flags and counters in GMEM (strong loads, atomics) and known values that ordinary "
        "stores left in shared memory say is known. The message names the instruction that depends on such "
        "data and the load that it depends on.",
        "ld.global.u32 %r1, [%rd1];\nsetp.gt.u32 %p, %r1, 5;\n@%p bra skip;",
        "ld.global.u32 %r1, [%rd1];\nmax.u32 %r2, %r1, 5;   // no branch depends on it",
        "--values full: control flow and addresses that depend on tensor data need them"),
    isa::text_of(Code::no_clock, "an architecture without a clock",
                 "The hardware schedule needs the chip's parameters, and none are compiled in for this one. "
                 "A file given by --clock replaces them: `palladion list h200` shows its lines.",
                 "palladion run vector_add --arch h100 --schedule hardware",
                 "palladion run vector_add --arch h100 --schedule hardware --clock h100.clock"),
    isa::text_of(Code::missing_unit, "a unit that the clock's chip does not have",
                 "The file of the clock's parameters says `without UNIT`, and the program has an instruction "
                 "of that unit. Programs without one are timed.",
                 "without wgmma   // and a program with wgmma.mma_async",
                 "wgmma.queue = 7 instructions | 1 | 2026-11-22 | ..."),
    isa::text_of(Code::tensor_memory_columns, "columns of tensor memory that do not exist",
                 "Tensor memory has 512 columns, in which the CTA must have allocated some.",
                 "tcgen05.ld.sync.aligned.32x32b.x64.b32 {...}, [%r1];   // %r1 = 480", "%r1 = 448"),
    isa::text_of(Code::tensor_memory_lanes, "lanes of tensor memory that are out of reach",
                 "Warp w of a warpgroup loads and stores lanes 32 (w % 4) to 32 (w % 4) + 31. Operands of "
                 "the tensor core begin at lane 0; where 64 rows of a CTA take half of each quarter of the "
                 "lanes, at lane 0 or 16.",
                 "tcgen05.ld.sync.aligned.32x32b.x1.b32 {%r2}, [%r1];   // all warps at lane 0",
                 "shl.b32 %r3, %warp, 21;   // 32 lanes a warp, in the upper half of the address\nadd.u32 "
                 "%r1, %r1, %r3;"),
    isa::text_of(Code::bad_tcgen05_alloc, "a wrong tcgen05.alloc",
                 "It allocates a power of two of columns from 32 to 512, while the CTA has the right to, and "
                 "stores the address to 4 aligned bytes of shared memory.",
                 "tcgen05.alloc.cta_group::1.sync.aligned.shared::cta.b32 [%r1], 96;",
                 "tcgen05.alloc.cta_group::1.sync.aligned.shared::cta.b32 [%r1], 128;"),
    isa::text_of(Code::bad_tcgen05_dealloc, "a tcgen05.dealloc of what is no allocation",
                 "It takes the address that tcgen05.alloc stored, and the same number of columns.",
                 "tcgen05.dealloc.cta_group::1.sync.aligned.b32 %r1, 64;   // allocated with 128",
                 "tcgen05.dealloc.cta_group::1.sync.aligned.b32 %r1, 128;",
                 "pass the address that tcgen05.alloc stored, and the same number of columns"),
    isa::text_of(Code::tcgen05_instruction_descriptor,
                 "a tcgen05.mma with an impossible instruction descriptor",
                 "Types, shape, transposition or scales that the kind does not have; the message names each, "
                 "with its bits.",
                 "N = 24 with .cta_group::2 (bits 17 to 22)", "N = 32"),
    isa::text_of(
        Code::tcgen05_matrix_descriptor, "bits that are no shared-memory descriptor of tcgen05",
        "It differs from wgmma's in its version, bits 46 to 48, and in the numbers of the swizzles, "
        "bits 61 to 63.",
        "the descriptor of a wgmma", "0b001 in bits 46 to 48",
        "bits 46 to 48 are 0b001, bits 61 to 63 name a swizzle, bits 14, 15, 30, 31 and 52 to 60 are 0"),
    isa::text_of(
        Code::no_peer_cta, "an operation of two CTAs without a peer", "",
        ".cta_group::2   // launched without clusters", "--cluster 2",
        "a pair of CTAs are two ranks of a cluster that differ in the last bit: launch clusters of 2"),
    isa::text_of(
        Code::several_issuers, "a tcgen05 operation by more than one thread",
        "mma, cp and commit are issued by one thread.", "tcgen05.commit...;   // all threads of a warp",
        "elect.sync _|%p, -1;\n@%p tcgen05.commit...;", "one thread issues it: elect.sync chooses one"),
    isa::text_of(
        Code::copies_differ, "copies of an operand in tensor memory that differ",
        "Each quarter of the lanes reads scale factors of its own, each part of the lanes that divides N its "
        "own A: the copies must be the same. Which of them counts for which result is not published.",
        "tcgen05.cp.cta_group::1.4x256b [%r1], %rd1;   // scales for a quarter only",
        "tcgen05.cp.cta_group::1.32x128b.warpx4 [%r1], %rd1;",
        "copy the operand to every part of the lanes: tcgen05.cp with .warpx4 or .warpx2, or a tcgen05.st of "
        "each warp"),
    isa::text_of(Code::bad_try_cancel, "a wrong clusterlaunchcontrol.try_cancel",
                 "It writes 16 aligned bytes to the shared memory of its CTA, and completes 16 bytes at an "
                 "mbarrier there.",
                 "clusterlaunchcontrol.try_cancel...b128 [%r1], [%r2];   // %r1 = 8", "%r1 = 16"),
    isa::text_of(Code::request_after_refusal,
                 "clusterlaunchcontrol.try_cancel after a query has shown that no cluster was left",
                 "Once a query has shown that there was no cluster left, another "
                 "clusterlaunchcontrol.try_cancel is undefined.",
                 "loop: try_cancel; wait; query   // goes on when it was refused",
                 "leave the loop when it was refused", "leave the loop when is_canceled is false"),
    isa::text_of(
        Code::differing_operand, "an operand of the whole warp that differs between its lanes",
        "The lanes of a warp execute instructions of tensor memory together: with one address, and one "
        "number of columns.",
        "add.u32 %r1, %r1, %laneid;\ntcgen05.ld.sync.aligned.32x32b.x1.b32 {%r2}, [%r1];",
        "tcgen05.ld.sync.aligned.32x32b.x1.b32 {%r2}, [%r1];   // each lane gets its own lane of D",
        "all lanes of the warp must give one value: is it computed from the lane, or loaded before it was "
        "stored?"),
};

}  // namespace

std::span<const isa::CodeText> run_codes() { return table; }

const isa::CodeText& text_of(Code code) {
  const auto* const at = std::ranges::find(table, static_cast<int>(code), &isa::CodeText::number);
  PLD_CHECK(at != std::end(table), "a code without a text");
  return *at;
}

}  // namespace palladion::sim
