// PLD3xxx: launching and running on the machine.
#include "sim/launch/codes.h"

namespace palladion::sim {
namespace {

constexpr isa::CodeText table[] = {
    {3001, "an instruction that the machine does not run",
     "It is known and verified, but not modelled; the machine neither skips nor approximates it. The "
     "message names instruction and reason.",
     "", ""},
    {3002, "the run was given up",
     "The limit of --max-instructions was reached: a warp executed so many instructions and has not ended, "
     "or a "
     "sixteenth of them in a row without a store, a barrier, a copy or a strong load. The finding lists the "
     "loops "
     "in which the warps are. A loop that polls for ever looks like this.",
     "", ""},
    {3010, "brx.idx beyond its list", "", "brx.idx %r1, targets;   // %r1 = 4, four targets",
     "setp.lt.u32 %p, %r1, 4;\n@%p brx.idx %r1, targets;"},
    {3011, "the kernel executed trap", "", "", ""},
    {3012, "an assertion of the kernel failed", "assert() of CUDA C++, with its text, file and line.", "",
     ""},
    {3013, "the stack of a thread is full",
     "Recursive functions and alloca take stack memory; a launch states how much a thread has.", "", ""},
    {3014, "free of an address that malloc did not give", "", "", ""},
    {3015, "a call through a value that is the address of no function", "", "", ""},
    {3016, "an indirect call with another number of arguments or results than the function has", "", "", ""},
    {3017, "cudaGraphSetConditional with a handle that no graph gave",
     "cudaGraphConditionalHandleCreate gives the handle of a graph's condition.", "", ""},
    {3020, "shared memory out of bounds",
     "The access leaves what the CTA has: static, plus dynamic as the launch says (--smem).",
     "st.shared.u32 [%r1], 0;   // 1024 bytes, %r1 = 1024", "--smem 2048"},
    {3021, "shared memory of a CTA that does not exist",
     "A shared::cluster address of a rank beyond the cluster.",
     "mapa.shared::cluster.u32 %r1, %r2, 2;   // cluster of 2", "mapa.shared::cluster.u32 %r1, %r2, 1;"},
    {3022, "global memory out of bounds",
     "No array has these bytes; the message names the nearest one and the distance.",
     "if (true) out[i] = a[i];            // grid larger than n", "if (i < n) out[i] = a[i];"},
    {3023, "local memory out of bounds", "", "", ""},
    {3024, "a misaligned access",
     "An access of n bytes needs an address that is a multiple of n; vectors count as a whole.",
     "ld.global.v4.f32 {...}, [%rd1+4];", "ld.global.v4.f32 {...}, [%rd1+16];"},
    {3025, "a CTA rank beyond the cluster", "", "", ""},
    {3026, "kernel parameters out of bounds", "", "ld.param.u64 %rd1, [k_param_0+8];   // .param .u64",
     "ld.param.u64 %rd1, [k_param_0];"},
    {3027, "no texture or surface object",
     "The handle is not one of an object that exists, or the object has another number of dimensions than "
     "the "
     "instruction.",
     "tex.1d.v4.f32.f32 {...}, [%rd1, {%f1}];   // %rd1: a texture of two dimensions",
     "tex.2d.v4.f32.f32 {...}, [%rd1, {%f1, %f2}];"},
    {3028, "a surface access out of bounds",
     "Under .trap, coordinates outside the surface end the kernel. x counts bytes, and must be a multiple of "
     "the "
     "bytes that the access moves.",
     "suld.b.2d.b32.trap %r1, [%rd1, {%r2, %r3}];   // %r2: the number of a texel", "shl.b32 %r2, %r2, 2;"},
    {3030, "a named barrier that does not exist", "", "bar.sync 16;", "bar.sync 15;"},
    {3031, "a barrier in use for another number of threads",
     "All that meet at a barrier state the same count.", "bar.sync 1, 128;   // others: bar.sync 1, 256;",
     "bar.sync 1, 256;"},
    {3032, "more threads at a barrier than it expects", "", "bar.sync 1, 128;   // executed by 256 threads",
     "bar.sync 1, 256;"},
    {3033, "a barrier for part of a warp", "", "bar.sync 1, 100;", "bar.sync 1, 96;"},
    {3040, "a misaligned mbarrier", "", ".shared .align 4 .b64 bar;", ".shared .align 8 .b64 bar;"},
    {3041, "an mbarrier outside shared memory", "", "", ""},
    {3042, "an mbarrier with an impossible count", "", "mbarrier.init.shared.b64 [%r1], 0;",
     "mbarrier.init.shared.b64 [%r1], 1;"},
    {3043, "arrive_drop at an expected count of 0", "", "", ""},
    {3044, "mbarrier counts out of range", "More arrivals in a phase than it expects, or more bytes.",
     "mbarrier.init.shared.b64 [bar], 1;   // and two threads arrive", "mbarrier.init.shared.b64 [bar], 2;"},
    {3045, "a wait on an mbarrier that was not initialised", "",
     "mbarrier.try_wait.parity...   // before mbarrier.init was seen",
     "mbarrier.init...; fence.mbarrier_init...; bar.sync 0;"},
    {3050, "setmaxnreg with an impossible count", "", "setmaxnreg.inc.sync.aligned.u32 241;",
     "setmaxnreg.inc.sync.aligned.u32 240;"},
    {3051, "setmaxnreg in the wrong direction",
     "dec must not give more, inc must not give less than the warp has.",
     "setmaxnreg.dec.sync.aligned.u32 232;   // launched with 168", "setmaxnreg.inc.sync.aligned.u32 232;"},
    {3060, "wgmma by less than a warpgroup",
     "All four warps of an aligned warpgroup execute it, with all lanes.",
     "@%p wgmma.mma_async...;   // %p of one lane", "wgmma.mma_async...;   // all 128 threads"},
    {3061, "mma.sync by part of a warp", "", "", ""},
    {3062, "a misaligned row of ldmatrix or stmatrix", "", "", ""},
    {3063, "ldmatrix or stmatrix outside shared memory", "", "", ""},
    {3064, "an atomic on local memory", "", "", ""},
    {3065, "a member mask that leaves out an executing lane", "",
     "shfl.sync.idx.b32 %r1, %r2, 0, 31, 0x0000ffff;   // executed by 32 lanes",
     "shfl.sync.idx.b32 %r1, %r2, 0, 31, 0xffffffff;"},
    {3066, "sparse metadata that PTX leaves undefined",
     "A 2:4 pair of indices names one element twice, or a tf32 nibble is neither 0b0100 nor 0b1110.",
     "metadata 0x55555555: index 1 twice", "metadata 0x44444444: elements 0 and 1 of every four"},
    {3070, "a misaligned asynchronous copy", "", "", ""},
    {3071, "a bulk copy of a wrong size or address",
     "cp.async.bulk moves multiples of 16 bytes between addresses that are multiples of 16.",
     "cp.async.bulk... , 24, [bar];", "cp.async.bulk... , 32, [bar];"},
    {3072, "cp.async with more source than destination", "", "", ""},
    {3073, "a multicast beyond the cluster", "", "mask 0x5 in a cluster of 2", "mask 0x3 in a cluster of 2"},
    {3074, "a copy whose mbarrier cannot be signalled",
     "It is misaligned, or in another CTA than the data goes to.", "", ""},
    {3076, "bytes that an mbarrier cannot count", "At most 2^20 - 1 may be outstanding.", "", ""},
    {3080, "a deadlock: no warp can continue",
     "The report lists every warp that waits, on which barrier and phase, which warps have arrived and which "
     "could still arrive.",
     "wait(full[0]) before anything fills it", "issue the copy first, or let another warp do it"},
    {3081, "a wait for a write of the host",
     "Nothing can continue, and a lane reads pinned or managed memory over and over, at .sys scope. What the "
     "host does while a kernel runs is not simulated, so this is unsupported, unless a thread of the kernel "
     "should have written there: then it is a deadlock.",
     "while (atomicAdd_system(flag, 0) == 0);   // the host sets *flag after the launch",
     "*flag = 1;   // on the host, before the launch"},
    {3091, "a tensor map at a wrong address",
     "It lies in global, constant or parameter memory, aligned to 64 bytes.", ".param .align 8 .b8 map[128]",
     ".param .align 64 .b8 map[128]"},
    {3092, "a tensor map that breaks a rule",
     "Such as tensormap.replace with sizes that the driver would refuse.", "", ""},
    {3093, "a tile at a misaligned shared address",
     "128 bytes; swizzled tiles start at a multiple of their pattern: 256, 512 or 1024 bytes.", "", ""},
    {3094, "a tensor reduction of a type that has none", "", "", ""},
    {3095, "a tensor copy that does not fit its map",
     "Another rank than the map's, im2col against tiled, ...", "", ""},
    {3096, "an invalid tensormap.replace", "", "", ""},
    {3100, "no entry of this name", "", "", ""},
    {3101, "too many threads in a block", "", "--block 2048", "--block 1024"},
    {3102, "an empty grid", "", "", ""},
    {3103, "a grid that is no multiple of the cluster", "", "--grid 5 --cluster 2", "--grid 6 --cluster 2"},
    {3104, "a cluster that is too large", "8 CTAs are portable, 16 the limit of Hopper.", "", ""},
    {3105, "a block other than .reqntid", "", "", ""},
    {3106, "a block larger than .maxntid", "", "", ""},
    {3107, "a cluster other than .reqnctapercluster", "", "", ""},
    {3108, "too much shared memory", "", "", ""},
    {3109, "a CTA that fits no SM",
     "Registers, threads and shared memory together; the message names the scarce one.", "", ""},
    {3110, "parameters of another size", "", "", ""},
    {3120, "a run without values that needs them",
     "--values none neither moves nor computes tensor data: what weak loads of GMEM, asynchronous copies, "
     "ldmatrix, wgmma and mma bring. Branches, addresses, sizes and barriers must not depend on them. What "
     "parameters, flags and counters in GMEM (strong loads, atomics) and known values that ordinary stores "
     "left in shared memory say is known. The message names the instruction that depends on such data and "
     "the load that it depends on.",
     "ld.global.u32 %r1, [%rd1];\nsetp.gt.u32 %p, %r1, 5;\n@%p bra skip;",
     "ld.global.u32 %r1, [%rd1];\nmax.u32 %r2, %r1, 5;   // no branch depends on it"},
    {3121, "an architecture without a clock",
     "The hardware schedule needs the chip's parameters, and none are compiled in for this one. A file "
     "given by --clock replaces them: `palladion list h200` shows its lines.",
     "palladion run vector_add --arch h100 --schedule hardware",
     "palladion run vector_add --arch h100 --schedule hardware --clock h100.clock"},
    {3122, "a unit that the clock's chip does not have",
     "The file of the clock's parameters says `without UNIT`, and the program has an instruction of that "
     "unit. "
     "Programs without one are timed.",
     "without wgmma   // and a program with wgmma.mma_async",
     "wgmma.queue = 7 instructions | 1 | 2026-11-22 | ..."},
    {3130, "columns of tensor memory that do not exist",
     "Tensor memory has 512 columns, in which the CTA must have allocated some.",
     "tcgen05.ld.sync.aligned.32x32b.x64.b32 {...}, [%r1];   // %r1 = 480", "%r1 = 448"},
    {3131, "lanes of tensor memory that are out of reach",
     "Warp w of a warpgroup loads and stores lanes 32 (w % 4) to 32 (w % 4) + 31. Operands of the tensor "
     "core "
     "begin at lane 0; where 64 rows of a CTA take half of each quarter of the lanes, at lane 0 or 16.",
     "tcgen05.ld.sync.aligned.32x32b.x1.b32 {%r2}, [%r1];   // all warps at lane 0",
     "shl.b32 %r3, %warp, 21;   // 32 lanes a warp, in the upper half of the address\nadd.u32 %r1, %r1, "
     "%r3;"},
    {3132, "a wrong tcgen05.alloc",
     "It allocates a power of two of columns from 32 to 512, while the CTA has the right to, and stores the "
     "address to 4 aligned bytes of shared memory.",
     "tcgen05.alloc.cta_group::1.sync.aligned.shared::cta.b32 [%r1], 96;",
     "tcgen05.alloc.cta_group::1.sync.aligned.shared::cta.b32 [%r1], 128;"},
    {3133, "a tcgen05.dealloc of what is no allocation",
     "It takes the address that tcgen05.alloc stored, and the same number of columns.",
     "tcgen05.dealloc.cta_group::1.sync.aligned.b32 %r1, 64;   // allocated with 128",
     "tcgen05.dealloc.cta_group::1.sync.aligned.b32 %r1, 128;"},
    {3134, "a tcgen05.mma with an impossible instruction descriptor",
     "Types, shape, transposition or scales that the kind does not have; the message names each, with its "
     "bits.",
     "N = 24 with .cta_group::2 (bits 17 to 22)", "N = 32"},
    {3135, "bits that are no shared-memory descriptor of tcgen05",
     "It differs from wgmma's in its version, bits 46 to 48, and in the numbers of the swizzles, bits 61 to "
     "63.",
     "the descriptor of a wgmma", "0b001 in bits 46 to 48"},
    {3136, "an operation of two CTAs without a peer", "", ".cta_group::2   // launched without clusters",
     "--cluster 2"},
    {3137, "a tcgen05 operation by more than one thread", "mma, cp and commit are issued by one thread.",
     "tcgen05.commit...;   // all threads of a warp", "elect.sync _|%p, -1;\n@%p tcgen05.commit...;"},
    {3139, "copies of an operand in tensor memory that differ",
     "Each quarter of the lanes reads scale factors of its own, each part of the lanes that divides N its "
     "own A: "
     "the copies must be the same. Which of them counts for which result is not published.",
     "tcgen05.cp.cta_group::1.4x256b [%r1], %rd1;   // scales for a quarter only",
     "tcgen05.cp.cta_group::1.32x128b.warpx4 [%r1], %rd1;"},
    {3140, "a wrong clusterlaunchcontrol.try_cancel",
     "It writes 16 aligned bytes to the shared memory of its CTA, and completes 16 bytes at an mbarrier "
     "there.",
     "clusterlaunchcontrol.try_cancel...b128 [%r1], [%r2];   // %r1 = 8", "%r1 = 16"},
    {3141, "a request for work after one that was refused",
     "Once a query has shown that there was no cluster left, another clusterlaunchcontrol.try_cancel is "
     "undefined.",
     "loop: try_cancel; wait; query   // goes on when it was refused", "leave the loop when it was refused"},
    {3142, "the CTA of an answer that gives none",
     "query_cancel.get_first_ctaid of a refused request is undefined: ask is_canceled first.",
     "clusterlaunchcontrol.query_cancel.get_first_ctaid::x.b32.b128 %r1, %rq;",
     "clusterlaunchcontrol.query_cancel.is_canceled.pred.b128 %p, %rq;\n@%p "
     "clusterlaunchcontrol.query_cancel.get_first_ctaid::x.b32.b128 %r1, %rq;"},
};

}  // namespace

std::span<const isa::CodeText> run_codes() { return table; }

}  // namespace palladion::sim
