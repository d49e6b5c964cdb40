// PLD2xxx: recording a kernel (errors.h).
#include "frontend/core/codes.h"

namespace palladion::frontend {
namespace {

constexpr isa::CodeText table[] = {
    {2001, "shapes that do not match",
     "Elementwise operations broadcast by NumPy's rule: dimensions are compared from the last one on, and "
     "two "
     "agree where they are equal or one is 1.",
     "a /*[64, 128]*/ + b /*[64]*/", "a + b[{pl::all, pl::newaxis}]"},
    {2002, "dtypes that do not match", "Two arrays of an operation have one dtype; conversions are written.",
     "a /*f16*/ + b /*f32*/", "a.astype(pl::f32) + b"},
    {2003, "layouts that do not match",
     "The elements of two arrays lie in different registers: one must change its layout first.",
     "wgmma_result + strided", "wgmma_result + plgpu::layout_cast(strided, Layout::WGMMA)"},
    {2004, "a shape that does not fit the layout",
     "A layout covers whole tiles and gives each lane whole vectors.", "", ""},
    {2005, "an axis that does not exist", "", "a.sum(2)   // a has two axes", "a.sum(1)"},
    {2006, "a conversion that does not exist", "", "", ""},
    {2007, "no room for an exchange across warps",
     "Reductions, running sums, sorting, take and broadcasts whose lanes do not hold what they need go "
     "through "
     "SMEM. CompilerParams::reduction_scratch_bytes says how much of it each thread has.",
     "", ""},
    {2008, "a dtype that the operation does not take", "", "", ""},
    {2009, "a shape that no array has", "Sizes are not negative, and a shape has at most 2^48 elements.", "",
     ""},
    {2101, "an index of the wrong kind", "", "", ""},
    {2102, "an index out of bounds",
     "A static index or slice that leaves the reference. What is known only at run time is checked by the "
     "machine.",
     "ref.at(pl::ds(96, 64))   // 128 rows", "ref.at(pl::ds(64, 64))"},
    {2103, "a slice that starts within a tile", "Slices of tiled references begin and end at tile borders.",
     "", ""},
    {2104, "a slice that cuts a swizzle's pattern", "", "", ""},
    {2105, "transforms that do not fit",
     "A tiling that does not divide the shape, or a swizzle wider than the tile's minor dimension.", "", ""},
    {2106, "a reshape that is no view", "", "", ""},
    {2107, "a reference in the wrong memory space", "", "plgpu::wgmma(acc, a_gmem, b_smem)",
     "plgpu::wgmma(acc, a_smem, b_smem)"},
    {2108, "a transposition that is no view", "", "", ""},
    {2109, "an access with bank conflicts in every step",
     "Give the reference a swizzle, or use another layout.", "", ""},
    {2201, "an invalid use of a barrier", "", "", ""},
    {2202, "the index of a barrier out of bounds", "", "barriers[4]   // Barrier(num_barriers = 4)",
     "barriers[3]"},
    {2203, "too many barriers", "", "", ""},
    {2204, "an invalid use of a semaphore", "", "", ""},
    {2301, "a copy between references that differ", "Source and destination have one shape and one dtype.",
     "", ""},
    {2302, "a copy without a barrier",
     "copy_gmem_to_smem signals a barrier when the data have landed; without one no thread could wait for "
     "them.",
     "", ""},
    {2303, "a copy that TMA cannot make",
     "At most 5 dimensions, 256 elements a dimension of a box, strides that are multiples of 16 bytes, ...",
     "", ""},
    {2304, "an invalid collective copy",
     "The axes must be cluster axes, and the copy must divide evenly among the CTAs.", "", ""},
    {2305, "a reduction that TMA does not have", "", "", ""},
    {2401, "a matrix product of shapes that the instruction does not have",
     "wgmma: M is 64 a warpgroup, N a multiple of 8 up to 256, K 32 bytes. mma: (m, k) times (k, n).", "",
     ""},
    {2402, "a matrix product of dtypes that the instruction does not have", "", "", ""},
    {2403, "an operand whose tiling or swizzle wgmma cannot read", "", "", ""},
    {2404, "an invalid use of an accumulator",
     "Read before wgmma_wait, or of another shape than the product.", "", ""},
    {2501, "a verb outside a kernel",
     "Verbs record instructions: they are called in a kernel's body, while it is being recorded.", "", ""},
    {2502, "an invalid mesh", "", "", ""},
    {2503, "an axis that the mesh does not have", "",
     "plgpu::axis_index(\"x\")   // grid_names = {\"m\", \"n\"}", "plgpu::axis_index(\"m\")"},
    {2504, "too much shared memory", "Hopper has 227 KiB a CTA: fewer stages or smaller tiles.", "", ""},
    {2505, "too many threads", "A CTA has at most 1024 threads: 8 warpgroups.", "", ""},
    {2506, "a name that is used twice", "", "", ""},
    {2507, "an unknown name", "", "", ""},
    {2508, "a type that an argument or result cannot have", "", "", ""},
    {2509, "registers that a thread cannot have",
     "set_max_registers takes 24 to 240, a multiple of 8, and all threads together must fit 65536.", "", ""},
    {2510, "an invalid grid", "", "", ""},
    {2601, "a carry that changes its type",
     "What a loop's body returns has the shape, dtype and layout of what it was given.", "", ""},
    {2602, "an allocation used outside its scope",
     "What run_scoped allocates ends with its body: its bytes serve the next scope. Bodies return arrays.",
     "Ref kept = pl::run_scoped([&](Ref r) { return r; }, SMEM(...)); kept.load()",
     "Array kept = pl::run_scoped([&](Ref r) { ...; return r.load(); }, SMEM(...))"},
    {2603, "a value used outside the body that made it",
     "A body of pl::when, pl::cond or a loop may run never or many times: what it computes exists in it "
     "alone.",
     "std::vector<Array> rows; pl::fori_loop(0, 4, [&](Index i) { rows.push_back(a.at(i).load()); }); "
     "rows[0] + 1",
     "x = pl::fori_loop(0, 4, [&](Index i, Array x) { return x + a.at(i).load(); }, x)"},
    {2604, "an assignment to what was declared outside the body",
     "A body is recorded once: the host assigns once, the machine would have to assign in each round, or "
     "under "
     "the condition. Carries and pl::where say that.",
     "Scalar n = 0; pl::fori_loop(0, 4, [&](Index i) { n += i; })",
     "Scalar n = pl::fori_loop(0, 4, [&](Index i, Scalar n) { return n + i; }, 0)"},
    {2605, "a value of another kernel",
     "Values and references belong to the kernel whose body made them; data go through arguments.", "", ""},
    {2606, "a number that is not known while recording",
     "The body runs once, on the host; program ids, loop indices and what is loaded exist when the kernel "
     "runs.",
     "for (int k = 0; k < pl::program_id(0).as_int(); ++k)", "pl::fori_loop(0, pl::program_id(0), ...)"},
    {2607, "a recording or a loop without end",
     "Host loops are unrolled into instructions; a while_loop's condition depends on its carry.", "", ""},
    {2608, "not in warp-level code",
     "Inside plgpu::warp_map and pl::core_map(WarpMesh) each of the four warps runs for itself: numbers, "
     "copies, barriers and control flow. Arrays are spread over all four warps, and allocations, wgmma and "
     "cluster barriers are of the warpgroup.",
     "plgpu::warp_map([&](pl::Scalar warp) { out.store(x.load()); })",
     "plgpu::warp_map([&](pl::Scalar warp) { pl::when(warp == 0, [&] { plgpu::copy_smem_to_gmem(x, out); }); "
     "})"},
    {2701, "an invalid pipeline", "", "", ""},
    {2702, "a BlockSpec that does not fit its array", "", "", ""},
    {2801, "PTX text that cannot be a part of a kernel",
     "inline_ptx takes instructions, labels and registers of the text's own. What it stores, or how it "
     "synchronises, is declared.",
     "plgpu::inline_ptx(\"st.shared.b32 [a], x;\", {}, {{\"a\", ref}, {\"x\", x}})",
     "plgpu::inline_ptx(\"st.shared.b32 [a], x;\", {}, {{\"a\", ref}, {\"x\", x}}, {.side_effects = true})"},
    {2999, "not in this version of the frontend",
     "The verb or the combination is known and not done yet; the message names it.", "", ""},
};

}  // namespace

std::span<const isa::CodeText> record_codes() { return table; }

}  // namespace palladion::frontend
