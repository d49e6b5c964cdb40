// Programs that must not record: each is refused at the author's line, with a stable code, the rule in
// the author's words and, where the rule does not already say it, a way out. The texts are golden.
#include <fmt/format.h>
#include <gtest/gtest.h>

#include <functional>
#include <regex>

#include "frontend/plgpu.h"
#include "tests/support/golden.h"

namespace palladion::test {
namespace {

using plgpu::Array;
using plgpu::Layout;
using plgpu::Ref;
using plgpu::Scratch;

struct Wrong {
  std::string name;
  uint32_t line;
  std::function<void()> record;
};

const plgpu::AllocationOptions swizzled{
    .transforms = {plgpu::TilingTransform({8, 64}), plgpu::SwizzleTransform(128)}};

// A kernel with a bit of everything to misuse.
void with_everything(const std::function<void(const Ref& a, const Ref& o, Scratch& s)>& body) {
  plgpu::kernel(
      [&](const Ref& a, const Ref& o, Scratch& s) { body(a, o, s); },
      {.in_types = {{pl::f16, {256, 256}}},
       .out_type = {pl::f32, {256, 256}},
       .scratch_types = {{"x", plgpu::SMEM({2, 64, 64}, pl::f16, swizzled)},
                         {"y", plgpu::SMEM({64, 64}, pl::f16, swizzled)},
                         {"plain", plgpu::SMEM({64, 64}, pl::f16)},
                         {"bytes", plgpu::SMEM({64, 128}, pl::s8,
                                               {.transforms = {plgpu::TilingTransform({8, 128}),
                                                               plgpu::SwizzleTransform(128)}})},
                         {"half_swizzle", plgpu::SMEM({64, 64}, pl::f16,
                                                      {.transforms = {plgpu::TilingTransform({8, 32}),
                                                                      plgpu::SwizzleTransform(64)}})},
                         {"b", plgpu::Barrier({.num_barriers = {4}})},
                         {"one", plgpu::Barrier()}},
       .grid = {4},
       .grid_names = {"x"},
       .cluster = {2},
       .cluster_names = {"c"},
       .num_threads = 2,
       .thread_name = "wg"});
}

#define WRONG(label, ...)                                                              \
  Wrong {                                                                              \
    label, __LINE__, [] {                                                              \
      with_everything([]([[maybe_unused]] const Ref& a, [[maybe_unused]] const Ref& o, \
                         [[maybe_unused]] Scratch& s) { __VA_ARGS__; });               \
    }                                                                                  \
  }
#define WRONG_KERNEL(label, ...)                                           \
  Wrong {                                                                  \
    label, __LINE__, [] { plgpu::kernel([](const Ref&) {}, __VA_ARGS__); } \
  }

// One line each: the macro's line is the author's.
// clang-format off
const std::vector<Wrong>& cases() {
  static const std::vector<Wrong> all = {
      WRONG("copy shapes", plgpu::copy_gmem_to_smem(a.at(pl::ds(0, 32)), s["y"], s.barrier("one"))),
      WRONG("copy dtypes", plgpu::copy_gmem_to_smem(o.at(pl::ds(0, 64), pl::ds(0, 64)), s["y"], s.barrier("one"))),
      WRONG("copy spaces", plgpu::copy_gmem_to_smem(s["x"].at(0), s["y"], s.barrier("one"))),
      WRONG("copy to an array of barriers", plgpu::copy_gmem_to_smem(a.at(pl::ds(0, 64), pl::ds(0, 64)), s["y"], s.barrier("b"))),
      WRONG("copy transposed", plgpu::copy_gmem_to_smem(plgpu::transpose_ref(a.at(pl::ds(0, 64), pl::ds(0, 64)), {1, 0}), s["y"], s.barrier("one"))),
      WRONG("copy over an unknown axis", plgpu::copy_gmem_to_smem(a.at(pl::ds(0, 64), pl::ds(0, 64)), s["y"], s.barrier("one"), {.collective_axes = {"z"}})),
      WRONG("reduction of fp16 bits", plgpu::copy_smem_to_gmem(s["y"], a.at(pl::ds(0, 64), pl::ds(0, 64)), {.reduction_op = "xor"})),
      WRONG("unknown reduction", plgpu::copy_smem_to_gmem(s["y"], a.at(pl::ds(0, 64), pl::ds(0, 64)), {.reduction_op = "mul"})),
      WRONG("slice inside a tile", s["y"].at(pl::ds(4, 8))),
      WRONG("slice of a swizzled dimension", s["y"].at(pl::all, pl::ds(0, 32))),
      WRONG("slice out of bounds", s["y"].at(pl::ds(32, 64))),
      WRONG("index out of bounds", s["x"].at(2)),
      WRONG("too many indices", s["y"].at(0, 0, 0)),
      WRONG("permutation", plgpu::transpose_ref(s["y"], {0, 0})),
      WRONG("reshape of a tiled array", s["y"].reshape({4096})),
      WRONG("store of another shape", s["y"].store(plgpu::zeros({64, 32}, pl::f16))),
      WRONG("store of another dtype", s["y"].store(plgpu::zeros({64, 64}, pl::f32))),
      WRONG("layouts that differ", a.at(pl::ds(0, 64), pl::ds(0, 64)).load(Layout::WGMMA) + a.at(pl::ds(0, 64), pl::ds(0, 64)).load()),
      WRONG("shapes that differ", a.at(0).load() + a.at(pl::ds(0, 2), pl::ds(0, 128)).load()),
      WRONG("more indices than dimensions", a.at(0).load()[{pl::all, pl::newaxis, pl::all}]),
      WRONG("slice of a strided array", a.at(0).load()[{pl::ds(0, 128)}]),
      WRONG("broadcast beyond the scratch", a.at(pl::ds(0, 8)).load()[{pl::all, pl::newaxis, pl::all}] + a.at(pl::ds(0, 16)).load().reshape({8, 2, 256})),
      WRONG("mask of floats", plgpu::load(o.at(0), {.mask = o.at(0).load()})),
      WRONG("mask of another shape", plgpu::load(o.at(0), {.mask = plgpu::broadcasted_iota(pl::s32, {100}, 0) < 5})),
      WRONG("other of another dtype", plgpu::load(o.at(0), {.mask = pl::program_id(0) == 0, .other = a.at(0).load()})),
      WRONG("mask of an accumulator", pl::run_scoped([](Ref acc) { plgpu::load(acc, {.mask = pl::program_id(0) == 0}); }, plgpu::ACC({64, 64}))),
      WRONG("masked store of a larger array", plgpu::store(o.at(0), o.at(pl::ds(0, 2)).load(), {.mask = pl::program_id(0) == 0})),
      WRONG("index arrays around a slice", pl::load(s["x"], {plgpu::broadcasted_iota(pl::s32, {2}, 0), pl::all, plgpu::broadcasted_iota(pl::s32, {2}, 0)})),
      WRONG("bounds of a slice with a stride from an unknown start", plgpu::in_bounds(o.at(0, pl::ds(pl::program_id(0), 64, 2)))),
      WRONG("scalar by a wrong name", plgpu::launch_scalar("gamma")),
      WRONG("running sum of bools", plgpu::cumsum(o.at(0).load() > 0.0F)),
      WRONG("running sum along rows of vectors", plgpu::cumsum(o.at(pl::ds(0, 2)).load(), 0)),
      WRONG("running sum along no dimension", plgpu::cumsum(o.at(0).load(), 1)),
      WRONG("sort of 64 bits", plgpu::sort(o.at(0).load().astype(pl::f64))),
      WRONG("top_k of too many", plgpu::top_k(o.at(0).load(), 257)),
      WRONG("take at indices of floats", plgpu::take(o.at(0).load(), o.at(0).load())),
      WRONG("take beyond the scratch", plgpu::take(o.at(pl::ds(0, 64)).load(), plgpu::broadcasted_iota(pl::s32, {64}, 0), 0)),
      WRONG("dtypes that differ", a.at(0).load() + o.at(0).load()),
      WRONG("layout that does not fit", a.at(pl::ds(0, 32)).load(Layout::WGMMA)),
      WRONG("strided layout that does not fit", Layout::WG_STRIDED({100}, 1)),
      WRONG("layout cast between lanes", plgpu::layout_cast(a.at(0).load(Layout::WG_STRIDED({256}, 2)), Layout::WG_STRIDED({256}, 1))),
      WRONG("load with bank conflicts", plgpu::load(s["plain"], {.layout = Layout::WGMMA_8BIT})),
      WRONG("reduction of a strided array", a.at(pl::ds(0, 64)).load().sum(1)),
      WRONG("reduction along no dimension", a.at(pl::ds(0, 64)).load(Layout::WGMMA).sum(2)),
      WRONG("number of an array", a.at(0).load().scalar()),
      WRONG("barrier index", plgpu::barrier_arrive(s.barrier("b").at(4))),
      WRONG("wait for an array of barriers", plgpu::barrier_wait(s.barrier("b"))),
      WRONG("scratch by a wrong name", s["z"]),
      WRONG("a barrier is no array", s["one"]),
      WRONG("unknown axis", pl::axis_index("y")),
      WRONG("wgmma of plain arrays", pl::run_scoped([&](Ref acc) { plgpu::wgmma(acc, s["plain"], s["y"]); }, plgpu::ACC({64, 64}))),
      WRONG("wgmma of different swizzles", pl::run_scoped([&](Ref acc) { plgpu::wgmma(acc, s["half_swizzle"], s["y"]); }, plgpu::ACC({64, 64}))),
      WRONG("wgmma of different dtypes", pl::run_scoped([&](Ref acc) { plgpu::wgmma(acc, s["bytes"].at(pl::all), s["x"].at(0)); }, plgpu::ACC({64, 64}))),
      WRONG("wgmma of wrong shapes", pl::run_scoped([&](Ref acc) { plgpu::wgmma(acc, s["x"].at(0), s["y"]); }, plgpu::ACC({64, 128}))),
      WRONG("wgmma into the wrong dtype", pl::run_scoped([&](Ref acc) { plgpu::wgmma(acc, s["x"].at(0), s["y"]); }, plgpu::ACC({64, 64}, pl::s32))),
      WRONG("wgmma with three dimensions", pl::run_scoped([&](Ref acc) { plgpu::wgmma(acc, s["x"], s["y"]); }, plgpu::ACC({64, 64}))),
      WRONG("transposed bytes", pl::run_scoped([&](Ref acc) { plgpu::wgmma(acc, s["bytes"], s["bytes"].at(pl::all)); }, plgpu::ACC({64, 128}, pl::s32))),
      WRONG("mma of wrong shapes", plgpu::mma(plgpu::zeros({64, 64}, pl::f32), plgpu::zeros({64, 32}, pl::f16), plgpu::zeros({64, 64}, pl::f16))),
      WRONG("mma of f32", plgpu::mma(plgpu::zeros({64, 64}, pl::f32), plgpu::zeros({64, 64}, pl::f32), plgpu::zeros({64, 64}, pl::f32))),
      WRONG("mma into f16", plgpu::mma(plgpu::zeros({64, 64}, pl::f16), plgpu::zeros({64, 64}, pl::f16), plgpu::zeros({64, 64}, pl::f16))),
      WRONG("mma of another layout", plgpu::mma(plgpu::zeros({64, 64}, pl::f32), s["y"].load(Layout::WGMMA), s["y"].load(Layout::MMA_RHS(pl::f16)))),
      WRONG("mma of another split", plgpu::mma(plgpu::zeros({64, 64}, pl::f32), s["y"].load(Layout::MMA_LHS(pl::f16, 4)), s["y"].load(Layout::MMA_RHS(pl::f16, 2)))),
      WRONG("mma layout of three warps", Layout::MMA_ACC(pl::f16, 3)),
      WRONG("mma layout of f32", Layout::MMA_LHS(pl::f32)),
      WRONG("accumulator of odd rows", pl::run_scoped([](Ref) {}, plgpu::ACC({32, 64}))),
      WRONG("accumulator too large", pl::run_scoped([](Ref) {}, plgpu::ACC({128, 256}))),
      WRONG("accumulator shared by threads", pl::run_scoped(pl::collective("wg"), [](Ref) {}, plgpu::ACC({64, 64}))),
      WRONG("scoped SMEM of one thread", pl::run_scoped([](Ref) {}, plgpu::SMEM({64}, pl::f32))),
      WRONG("carry of another dtype", pl::fori_loop(0, 9, [](pl::Index, pl::Scalar x) { return x.astype(pl::f32); }, pl::Scalar(1))),
      WRONG("carry of another layout", pl::fori_loop(0, 9, [&](pl::Index, Array) { return a.at(pl::ds(0, 64)).load(Layout::WGMMA); }, a.at(pl::ds(0, 64)).load())),
      WRONG("unroll that does not divide", pl::fori_loop(0, 9, [](pl::Index) {}, pl::LoopOptions{.unroll = 2})),
      WRONG("registers not a multiple of 8", plgpu::set_max_registers(100)),
      WRONG("semaphore that is none", plgpu::semaphore_signal(o.at(0, 0))),
      WRONG("print with too few braces", pl::debug_print("{}", 1, 2)),
      WRONG("atomic and of floats", plgpu::atomic_and(o.at(0), o.at(0).load())),
      WRONG("atomic at indices of floats", plgpu::atomic_add(o.at(0), o.at(0).load(), o.at(0).load())),
      WRONG("PTX text with a misspelt instruction", plgpu::inline_ptx("ad.f32 y, x, x;", {{"y", pl::f32}}, {{"x", o.at(0).load()}})),
      WRONG("PTX text with undeclared effects", plgpu::inline_ptx("st.global.f32 [p], x;", {}, {{"p", o}, {"x", o.at(0).load()}})),
      WRONG("PTX text with one name twice", plgpu::inline_ptx("mov.f32 x, x;", {{"x", pl::f32}}, {{"x", o.at(0).load()}})),
      WRONG("PTX text with an illegal name", plgpu::inline_ptx("mov.f32 y, x;", {{"1y", pl::f32}}, {{"x", o.at(0).load()}})),
      WRONG("PTX text of arrays that differ", plgpu::inline_ptx("add.f32 z, x, y;", {{"z", pl::f32, pl::Shape{512}}}, {{"x", o.at(0).load()}, {"y", o.at(1).load()}})),
      WRONG("output that a PTX text has not", plgpu::inline_ptx("mov.b32 y, 1;", {{"y", pl::s32}}, {})[1]),
      WRONG("PTX text with an open comment", plgpu::inline_ptx("mov.b32 y, 1; /* one", {{"y", pl::s32}}, {})),
      WRONG("address of an accumulator", pl::run_scoped([](Ref acc) { plgpu::inline_ptx("mov.b32 y, x;", {{"y", pl::s32}}, {{"x", acc}}); }, plgpu::ACC({64, 64}))),
      WRONG("gather at too few indices", plgpu::load(a, {plgpu::broadcasted_iota(pl::s32, {128}, 0)})),
      WRONG("gather at indices of floats", plgpu::load(a.at(0), {o.at(0).load()})),
      WRONG("scatter of another dtype", plgpu::store(o.at(0), {plgpu::broadcasted_iota(pl::s32, {128}, 0)}, plgpu::zeros({128}, pl::f16))),
      WRONG("reference indexed with an array", a.at(plgpu::broadcasted_iota(pl::s32, {128}, 0))),
      WRONG("slice with stride 0", a.at(pl::ds(0, 4, 0))),
      WRONG("slice with a stride out of bounds", a.at(pl::ds(1, 128, 2)).at(pl::ds(1, 64, 2), pl::ds(2, 128, 2))),
      WRONG("slice with a stride that no start fits", a.at(pl::ds(pl::program_id(0), 128, 3))),
      WRONG("slice with a stride of 2^62", a.at(pl::ds(0, 4, int64_t{1} << 62))),
      WRONG("slice with a stride within tiles", s["y"].at(pl::ds(0, 16, 4))),
      WRONG("slice with a stride of a swizzled dimension", s["y"].at(pl::all, pl::ds(0, 32, 2))),
      WRONG("copy with a stride along columns", plgpu::copy_gmem_to_smem(a.at(pl::ds(0, 64), pl::ds(0, 64, 2)), s["y"], s.barrier("one"))),
      WRONG("copy with a stride from an unknown start", plgpu::copy_gmem_to_smem(a.at(pl::ds(pl::program_id(0), 64, 2), pl::ds(0, 64)), s["y"], s.barrier("one"))),
      WRONG("copy of GMEM scratch into tiles", plgpu::copy_gmem_to_smem(pl::get_global(plgpu::GMEM({64, 64}, pl::f16)), s["y"], s.barrier("one"))),
      WRONG("scoped GMEM of one thread", pl::run_scoped(pl::collective("x", "c"), [](Ref) {}, plgpu::GMEM({64}, pl::f32))),
      WRONG("empty GMEM scratch", pl::get_global(plgpu::GMEM({0}, pl::f32))),
      WRONG("padded layout of odd vectors", Layout::WG_PADDED({5}, 2)),
      WRONG("remote store with bank conflicts", plgpu::async_store_smem(a.at(pl::ds(0, 64), pl::ds(0, 64)).load(Layout::WGMMA), s["plain"], s.barrier("one"), {.cluster_idx = 1, .cluster_dim = "c"})),
      WRONG("copy layout of odd tiles", Layout::SMEM_GMEM_COPY({8, 64}, pl::f16, 128)),
      WRONG("copy layout of half tiles", Layout::SMEM_GMEM_COPY({32, 96}, pl::f16, 128)),
      WRONG("load of an array in warp-level code", plgpu::warp_map([&](pl::Scalar) { a.at(0).load(); })),
      WRONG("array of a number in warp-level code", plgpu::warp_map([&](pl::Scalar) { s["y"].store(pl::Scalar(0).astype(pl::f16)); })),
      WRONG("warp-level code over an array", const Array x = o.at(0).load(); plgpu::warp_map([&](pl::Scalar) { o.at(1).store(x); })),
      WRONG("warps that fork again", plgpu::warp_map([&](pl::Scalar) { pl::core_map(plgpu::WarpMesh{"w"}, [] {}); })),
      WRONG("warps named as the grid", pl::core_map(plgpu::WarpMesh{"x"}, [] {})),
      WRONG("axis of warps that have joined", pl::core_map(plgpu::WarpMesh{"w"}, [] {}); pl::axis_index("w")),
      WRONG("allocation of one warp", plgpu::warp_map([&](pl::Scalar) { pl::run_scoped([](Ref) {}, plgpu::SMEM({64}, pl::f32)); })),
      WRONG("wgmma of one warp", pl::run_scoped([&](Ref acc) { plgpu::warp_map([&](pl::Scalar) { plgpu::wgmma(acc, s["x"].at(0), s["y"]); }); }, plgpu::ACC({64, 64}))),
      WRONG("registers of one warp", plgpu::warp_map([&](pl::Scalar) { plgpu::set_max_registers(24, "decrease"); })),
      WRONG("one warp at a cluster's barrier", pl::run_scoped(pl::collective("wg"), [](const plgpu::BarrierRef& b) { plgpu::warp_map([&](pl::Scalar) { plgpu::barrier_arrive(b); }); }, plgpu::ClusterBarrier({.collective_axes = {"c"}}))),
      WRONG("number of a warp outside", pl::Scalar kept; plgpu::warp_map([&](pl::Scalar warp) { kept = warp + 1; })),
      WRONG("f16 plus f32 numbers", a.at(0, 0).load_scalar() + o.at(0, 0).load_scalar()),
      WRONG("a kernel inside a kernel", plgpu::kernel([](const Ref&) {}, {.out_type = {pl::f32, {1}}})),
      WRONG("copy of a slice of an added dimension", plgpu::copy_gmem_to_smem(a.reshape({256, 1, 256}).at(pl::program_id(0), pl::ds(0, 64), pl::ds(0, 64)), s["y"], s.barrier("one"))),
      WRONG("im2col of a matrix", plgpu::copy_im2col_to_smem(a, s["y"], s.barrier("one"), {{0}, {0}}, {0, {0}, {0}})),
      WRONG("im2col of a slice of pixels", plgpu::copy_im2col_to_smem(a.reshape({4, 64, 256}).at(pl::all, pl::ds(0, 8)), s["y"], s.barrier("one"), {{0}, {0}}, {0, {0}, {0}})),
      WRONG("im2col of more channels than SMEM has", plgpu::copy_im2col_to_smem(a.reshape({4, 64, 256}), s["y"], s.barrier("one"), {{0}, {0}}, {0, {0}, {0}})),
      WRONG("im2col of two dimensions with one corner", plgpu::copy_im2col_to_smem(a.reshape({4, 8, 32, 64}), s["y"], s.barrier("one"), {{0}, {0, 0}}, {0, {0, 0}, {0, 0}})),
      WRONG("im2col with an empty box", plgpu::copy_im2col_to_smem(a.reshape({16, 64, 64}), s["y"], s.barrier("one"), {{0}, {-64}}, {0, {0}, {0}})),
      WRONG("im2col with a stride of nine", plgpu::copy_im2col_to_smem(a.reshape({16, 64, 64}), s["y"], s.barrier("one"), {{0}, {0}, {9}}, {0, {0}, {0}})),
      WRONG("im2col into tiles of half a pixel", plgpu::copy_im2col_to_smem(a.reshape({16, 64, 64}), s["half_swizzle"], s.barrier("one"), {{0}, {0}}, {0, {0}, {0}})),
      WRONG("im2col of GMEM scratch", plgpu::copy_im2col_to_smem(pl::get_global(plgpu::GMEM({4, 8, 64}, pl::f16)), s["y"], s.barrier("one"), {{0}, {0}}, {0, {0}, {0}})),
      WRONG_KERNEL("too much SMEM", {.out_type = {pl::f32, {1}}, .scratch_types = {{"x", plgpu::SMEM({256, 256}, pl::f32)}}}),
      WRONG_KERNEL("too many threads", {.out_type = {pl::f32, {1}}, .num_threads = 9, .thread_name = "wg"}),
      WRONG_KERNEL("threads without a name", {.out_type = {pl::f32, {1}}, .num_threads = 2}),
      WRONG_KERNEL("names that do not match the grid", {.out_type = {pl::f32, {1}}, .grid = {2, 2}, .grid_names = {"x"}}),
      WRONG_KERNEL("scalars of one name", {.out_type = {pl::f32, {1}}, .scalars = {{"a", pl::f32}, {"a", pl::s32}}}),
      WRONG_KERNEL("scalar without a name", {.out_type = {pl::f32, {1}}, .scalars = {{"", pl::f32}}}),
      WRONG_KERNEL("scalar of eight bits", {.out_type = {pl::f32, {1}}, .scalars = {{"a", pl::s8}}}),
      WRONG_KERNEL("scalar with a value that does not fit", {.out_type = {pl::f32, {1}}, .scalars = {{"a", pl::s32, int64_t{1} << 40}}}),
      WRONG_KERNEL("empty grid", {.out_type = {pl::f32, {1}}, .grid = {0}}),
      WRONG_KERNEL("four cluster dimensions", {.out_type = {pl::f32, {1}}, .cluster = {1, 1, 1, 2}}),
      WRONG_KERNEL("too many barriers", {.out_type = {pl::f32, {1}}, .scratch_types = {{"b", plgpu::Barrier({.num_barriers = {33}})}}}),
      WRONG_KERNEL("no arrivals", {.out_type = {pl::f32, {1}}, .scratch_types = {{"b", plgpu::Barrier({.num_arrivals = 0})}}}),
      WRONG_KERNEL("cluster barrier without a cluster", {.out_type = {pl::f32, {1}}, .scratch_types = {{"b", plgpu::ClusterBarrier({.collective_axes = {"c"}})}}}),
      WRONG_KERNEL("tiles that do not divide", {.out_type = {pl::f32, {1}}, .scratch_types = {{"x", plgpu::SMEM({60, 64}, pl::f16, swizzled)}}}),
      WRONG_KERNEL("swizzle of another span", {.out_type = {pl::f32, {1}}, .scratch_types = {{"x", plgpu::SMEM({64, 64}, pl::f32, swizzled)}}}),
      WRONG_KERNEL("swizzle that does not exist", {.out_type = {pl::f32, {1}}, .scratch_types = {{"x", plgpu::SMEM({64, 64}, pl::f16, {.transforms = {plgpu::SwizzleTransform(48)}})}}}),
      WRONG_KERNEL("two arguments for a body of one", {.in_types = {{pl::f32, {1}}}, .out_type = {pl::f32, {1}}}),
      Wrong{"verb outside of a kernel", __LINE__, [] { plgpu::commit_smem(); }},
  };
  return all;
}
// clang-format on

// Other lines move when a case is added above.
std::string without_own_lines(const std::string& text) {
  static const std::regex place("must_fail_test\\.cpp:[0-9]+");
  return std::regex_replace(text, place, "must_fail_test.cpp:LINE");
}

TEST(MustFail, DiagnosticsAreGolden) {
  std::string text;
  for (const Wrong& w : cases()) {
    SCOPED_TRACE(w.name);
    text += fmt::format("# {}\n", w.name);
    try {
      w.record();
      ADD_FAILURE() << "was recorded";
      text += "no error\n\n";
    } catch (const isa::Error& e) {
      ASSERT_FALSE(e.diagnostics().empty());
      const isa::Diagnostic& d = e.diagnostics().front();
      EXPECT_EQ(d.loc.line, w.line) << d.message;
      EXPECT_TRUE(d.loc.file.ends_with("must_fail_test.cpp")) << d.loc.file;
      text += fmt::format("{}: {}\n", d.code.name(), d.message);
      if (!d.help.empty()) text += fmt::format("  help: {}\n", d.help);
      text += "\n";
    }
  }
  EXPECT_TRUE(golden::compare("frontend/must_fail.txt", without_own_lines(text)));
}

}  // namespace
}  // namespace palladion::test
