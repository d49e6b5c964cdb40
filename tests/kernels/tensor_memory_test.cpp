// Tensor memory to registers and back: elements of 16 bits, matrices of 64 rows in each CTA of a pair, loads
// that reduce.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>

#include "frontend/plgpu.h"
#include "sim/check/checker.h"
#include "tests/kernels/run_kernel.h"
#include "tests/support/toolkit.h"
#include "verify/arrays/arrays.h"
#include "verify/launch/runner.h"

namespace palladion::test::tensor_memory {
namespace {

using kernels::test::expect_assembles;
using kernels::test::run_clean;
using plgpu::Layout;
using plgpu::Ref;
using ::testing::HasSubstr;

constexpr plgpu::NativeTensorLayout native{};

std::string refused(const std::function<void()>& record) {
  try {
    record();
  } catch (const isa::Error& e) {
    return e.diagnostics().front().message;
  }
  return "no Error";
}

// --- there and back ---------------------------------------------------------------------------------------
struct Trip {
  const char* name;
  pl::DType dtype;
  pl::Shape shape;
  Layout stored, loaded;
  bool packed = false, collective = false;
};
void PrintTo(const Trip& t, std::ostream* os) { *os << t.name; }

plgpu::Kernel round_trip(const Trip& t, const isa::ArchSpec* arch = isa::find_arch("b200")) {
  plgpu::KernelOptions o;
  o.in_types = {{t.dtype, t.shape}};
  o.out_type = {t.dtype, t.shape};
  plgpu::TmemOptions tmem{.collective = t.collective};
  if (pl::bits(t.dtype) < 32) tmem.packed = t.packed;
  o.scratch_types = {{"t", plgpu::TMEM(t.shape, t.dtype, tmem)}};
  if (t.collective) {
    o.cluster = {2};
    o.cluster_names = {"c"};
    o.in_types = {{t.dtype, {2 * t.shape[0], t.shape[1]}}};
    o.out_type = {t.dtype, {2 * t.shape[0], t.shape[1]}};
  }
  o.arch = arch;
  return plgpu::kernel(
      [&](const Ref& in, const Ref& out, plgpu::Scratch& s) {
        const pl::Scalar cta = t.collective ? pl::axis_index("c") : pl::Scalar(0);
        const auto mine = pl::ds(cta * t.shape[0], t.shape[0]);
        plgpu::async_store_tmem(s["t"], in.at(mine).load(t.stored));
        plgpu::commit_tmem();
        out.at(mine).store(plgpu::async_load_tmem(s["t"], {.layout = t.loaded}));
      },
      o);
}

class RoundTrips : public ::testing::TestWithParam<Trip> {};

TEST_P(RoundTrips, GiveWhatWasStored) {
  const plgpu::Kernel kernel = round_trip(GetParam());
  const std::vector<Array> in = {filled(kernel.launch.inputs[0], {.kind = Fill::Kind::randn, .seed = 3})};
  for (const char* schedule : {"functional", "latest", "seeded:1"})
    EXPECT_EQ(run_clean(kernel, in, schedule).outputs[0].bytes, in[0].bytes) << schedule;
  expect_assembles(kernel);
}

INSTANTIATE_TEST_SUITE_P(
    TensorMemory, RoundTrips,
    ::testing::Values(Trip{"f32", pl::f32, {128, 24}, Layout::TCGEN05, native},
                      Trip{"f32_64", pl::f32, {64, 40}, Layout::WGMMA, Layout::WGMMA},
                      Trip{"f16", pl::f16, {128, 40}, Layout::TCGEN05, native},
                      Trip{"bf16", pl::bf16, {128, 64}, native, Layout::TCGEN05},
                      Trip{"f16_64", pl::f16, {64, 72}, Layout::WGMMA, Layout::WGMMA},
                      Trip{"f16_packed", pl::f16, {128, 40}, Layout::TCGEN05, native, true},
                      Trip{"bf16_packed", pl::bf16, {128, 256}, native, Layout::TCGEN05, true},
                      Trip{"f16_64_packed", pl::f16, {64, 72}, Layout::WGMMA, Layout::WGMMA, true},
                      Trip{"f32_pair", pl::f32, {128, 32}, native, Layout::TCGEN05, false, true},
                      Trip{"f32_64_pair",
                           pl::f32,
                           {64, 48},
                           Layout::TCGEN05_M64_COLLECTIVE(48),
                           Layout::TCGEN05_M64_COLLECTIVE_NATIVE(48),
                           false,
                           true},
                      Trip{"f16_64_pair",
                           pl::f16,
                           {64, 96},
                           Layout::TCGEN05_M64_COLLECTIVE_NATIVE(96, 2),
                           Layout::TCGEN05_M64_COLLECTIVE(96),
                           false,
                           true},
                      Trip{"f16_64_pair_packed",
                           pl::f16,
                           {64, 32},
                           Layout::TCGEN05_M64_COLLECTIVE(32),
                           Layout::TCGEN05_M64_COLLECTIVE_NATIVE(32, 2),
                           true,
                           true}),
    [](const auto& param) { return std::string(param.param.name); });

// --- products
// -----------------------------------------------------------------------------------------------
struct Product {
  int64_t rows, n, k;  // rows of a CTA
  pl::DType dtype = pl::f16, acc = pl::f32;
  bool pair = false, native = false;
};

// out = a b; of a pair each CTA has half of the rows of a and of the columns of b.
plgpu::Kernel product(const Product& c) {
  const int64_t ctas = c.pair ? 2 : 1;
  const plgpu::Transforms tiles = {plgpu::TilingTransform({8, 64}), plgpu::SwizzleTransform(128)};
  plgpu::KernelOptions o;
  o.in_types = {{c.dtype, {c.rows * ctas, c.k}}, {c.dtype, {c.n, c.k}}};
  o.out_type = {c.acc, {c.rows * ctas, c.n}};
  plgpu::TmemOptions tmem{.collective = c.pair};
  if (c.acc != pl::f32) tmem.packed = false;
  o.scratch_types = {{"a", plgpu::SMEM({c.rows, c.k}, c.dtype, {.transforms = tiles})},
                     {"b", plgpu::SMEM({c.n / ctas, c.k}, c.dtype, {.transforms = tiles})},
                     {"acc", plgpu::TMEM({c.rows, c.n}, c.acc, tmem)},
                     {"loaded", plgpu::Barrier({.num_arrivals = 2})},
                     {"done", plgpu::Barrier({.orders_tensor_core = true})}};
  if (c.pair) {
    o.cluster = {2};
    o.cluster_names = {"c"};
    o.scratch_types.push_back({"both", plgpu::ClusterBarrier({.collective_axes = {"c"}})});
  }
  o.arch = isa::find_arch("b200");
  return plgpu::kernel(
      [&](const Ref& a, const Ref& b, const Ref& out, plgpu::Scratch& s) {
        const pl::Scalar cta = c.pair ? pl::axis_index("c") : pl::Scalar(0);
        const auto rows = pl::ds(cta * c.rows, c.rows);
        plgpu::copy_gmem_to_smem(a.at(rows), s["a"], s.barrier("loaded"));
        plgpu::copy_gmem_to_smem(b.at(pl::ds(cta * (c.n / ctas), c.n / ctas)), s["b"], s.barrier("loaded"));
        plgpu::barrier_wait(s.barrier("loaded"));
        if (c.pair) {
          plgpu::barrier_arrive(s.barrier("both"));
          plgpu::barrier_wait(s.barrier("both"));
        }
        const std::string axis = c.pair ? "c" : "";
        pl::when(cta == 0, [&] {
          plgpu::tcgen05_mma(s["acc"], s["a"], plgpu::transpose_ref(s["b"], {1, 0}), s.barrier("done"),
                             {.accumulate = false, .collective_axis = axis});
        });
        plgpu::barrier_wait(s.barrier("done"));
        plgpu::TmemLoadOptions options;
        if (c.native && c.pair && c.rows == 64)
          options.layout = Layout::TCGEN05_M64_COLLECTIVE_NATIVE(c.n);
        else if (c.native)
          options.layout = Layout::TCGEN05_TMEM_NATIVE;
        out.at(rows).store(plgpu::async_load_tmem(s["acc"], options));
      },
      o);
}

class Products : public ::testing::TestWithParam<Product> {};

TEST_P(Products, AreThoseOfTheMatrices) {
  const Product& c = GetParam();
  const plgpu::Kernel kernel = product(c);
  std::vector<Array> in;
  for (const pl::ShapeDtype& type : kernel.launch.inputs)
    in.push_back(filled(type, {.kind = Fill::Kind::randn, .seed = in.size() + 1}));
  const int64_t m = kernel.launch.inputs[0].shape[0];
  for (const char* schedule : {"functional", "latest", "seeded:5"}) {
    const SimOutcome out = run_clean(kernel, in, schedule);
    double worst = 0;
    for (int64_t i = 0; i < m; ++i)
      for (int64_t j = 0; j < c.n; ++j) {
        double sum = 0;
        for (int64_t t = 0; t < c.k; ++t) sum += value_at(in[0], i * c.k + t) * value_at(in[1], j * c.k + t);
        worst = std::max(worst, std::abs(value_at(out.outputs[0], i * c.n + j) - sum));
      }
    EXPECT_LT(worst, c.acc == pl::f16 ? 0.15 : 1e-4) << schedule;
    EXPECT_GT(worst, 0) << "not compared";
  }
  expect_assembles(kernel);
}

INSTANTIATE_TEST_SUITE_P(TensorMemory, Products,
                         ::testing::Values(Product{128, 64, 64, pl::f16, pl::f16},
                                           Product{64, 64, 64, pl::f16, pl::f16},
                                           Product{128, 64, 128, pl::f16, pl::f16, false, true},
                                           Product{128, 64, 64, pl::f16, pl::f16, true},
                                           Product{64, 32, 64, pl::f16, pl::f32, true},
                                           Product{64, 256, 128, pl::bf16, pl::f32, true, true},
                                           Product{64, 128, 64, pl::f16, pl::f16, true}));

// --- loads that reduce
// --------------------------------------------------------------------------------------
plgpu::Kernel reduced(pl::DType dtype, int64_t n, const std::string& op, const char* chip = "b300") {
  return plgpu::kernel(
      [&](const Ref& in, const Ref& out, const Ref& rows, plgpu::Scratch& s) {
        plgpu::async_store_tmem(s["t"], in.load(native));
        plgpu::commit_tmem();
        const auto [all, least] = plgpu::async_load_tmem(s["t"], op);
        out.store(all);
        rows.store(least);
      },
      {.in_types = {{dtype, {128, n}}},
       .out_type = plgpu::Types{{dtype, {128, n}}, {dtype, {128}}},
       .scratch_types = {{"t", plgpu::TMEM({128, n}, dtype)}},
       .arch = isa::find_arch(chip)});
}

TEST(TensorMemory, LoadsReduceRows) {
  for (const pl::DType dtype : {pl::f32, pl::s32})
    for (const int64_t n : {2, 64, 106})
      for (const char* op : {"min", "max", "absmin", "absmax"}) {
        const bool absolute = std::string_view(op).starts_with("abs");
        if (absolute && dtype != pl::f32) continue;
        SCOPED_TRACE(testing::Message() << pl::name(dtype) << " " << n << " " << op);
        const plgpu::Kernel kernel = reduced(dtype, n, op);
        const std::vector<Array> in = {
            filled(kernel.launch.inputs[0], {.kind = Fill::Kind::randn, .seed = 7})};
        const SimOutcome out = run_clean(kernel, in);
        EXPECT_EQ(out.outputs[0].bytes, in[0].bytes);
        for (int64_t i = 0; i < 128; ++i) {
          std::vector<double> row;
          for (int64_t j = 0; j < n; ++j) {
            const double v = value_at(in[0], i * n + j);
            row.push_back(absolute ? std::abs(v) : v);
          }
          const auto [least, most] = std::ranges::minmax(row);
          EXPECT_EQ(value_at(out.outputs[1], i), std::string_view(op).ends_with("min") ? least : most);
        }
        expect_assembles(kernel);
      }
}

TEST(TensorMemory, WhatCannotBeLoadedIsNamed) {
  EXPECT_THAT(refused([] { reduced(pl::f32, 64, "max", "b200"); }),
              HasSubstr("b200 (sm_100a) has no loads that reduce"));
  EXPECT_THAT(refused([] { reduced(pl::f32, 64, "sum"); }), HasSubstr("not \"sum\""));
  EXPECT_THAT(refused([] { reduced(pl::s32, 64, "absmax"); }), HasSubstr("is of f32 alone"));
  const auto reduce = [](int64_t n, const Layout& layout) {
    return refused([&] {
      plgpu::kernel(
          [&](const Ref&, plgpu::Scratch& s) { plgpu::async_load_tmem(s["t"], "max", {.layout = layout}); },
          {.out_type = {pl::f32, {128}},
           .scratch_types = {{"t", plgpu::TMEM({128, n}, pl::f32)}},
           .arch = isa::find_arch("b300")});
    });
  };
  EXPECT_THAT(reduce(7, Layout::TCGEN05_TMEM_NATIVE(1)), HasSubstr("multiple of 2"));
  EXPECT_THAT(reduce(8, Layout::TCGEN05), HasSubstr("a lane must have a whole row"));
  EXPECT_THAT(refused([] { round_trip({"", pl::f32, {64, 48}, Layout::WGMMA, Layout::WGMMA, false, true}); }),
              HasSubstr("with layout WGMMA"));
  EXPECT_THAT(refused([] { round_trip({"", pl::f16, {128, 12}, Layout::TCGEN05, native}); }),
              HasSubstr("12"));
  EXPECT_THAT(refused([] {
                const Layout single = Layout::TCGEN05_TMEM_NATIVE(1);
                round_trip({"", pl::f16, {128, 16}, single, single});
              }),
              HasSubstr("elements of 16 bits move in pairs"));
  EXPECT_THAT(refused([] {
                const Layout l = Layout::TCGEN05_M64_COLLECTIVE(32);
                round_trip({"", pl::f32, {64, 40}, l, l, false, true});
              }),
              HasSubstr("multiple of 16"));
  EXPECT_THAT(refused([] { Layout::TCGEN05_M64_COLLECTIVE(24); }), HasSubstr("multiple of 16"));
  EXPECT_THAT(refused([] { Layout::TCGEN05_M64_COLLECTIVE_NATIVE(32, 4); }), HasSubstr("packing is 1 or 2"));
}

TEST(TensorMemory, AFoldedMatrixIsLoadedWhole) {
  EXPECT_THAT(
      refused([] {
        plgpu::kernel(
            [](const Ref&, plgpu::Scratch& s) { plgpu::async_load_tmem(s["t"].at(pl::all, pl::ds(0, 16))); },
            {.out_type = {pl::f32, {128}},
             .scratch_types = {{"t", plgpu::TMEM({64, 32}, pl::f32, {.collective = true})}},
             .cluster = {2},
             .cluster_names = {"c"},
             .arch = isa::find_arch("b200")});
      }),
      HasSubstr("all columns are taken"));
}

// --- unions
// -------------------------------------------------------------------------------------------------
TEST(TensorMemory, AUnionReusesColumnsAndBytes) {
  const plgpu::Kernel kernel = plgpu::kernel(
      [](const Ref& in, const Ref& out, plgpu::Scratch& s) {
        const auto& u = s.ref_union("u");
        const auto through = [&](const Ref& tmem, int64_t first) {
          const auto columns = pl::ds(first, tmem.shape(1));
          plgpu::async_store_tmem(tmem, in.at(pl::all, columns).load(native));
          plgpu::commit_tmem();
          out.at(pl::all, columns).store(plgpu::async_load_tmem(tmem));
          plgpu::wait_load_tmem();
        };
        u[0][0].store(in.at(0).load());
        through(u[0][1], 0);
        through(u[0][2], 24);
        out.at(0).store(u[0][0].load());
        through(u[1][0], 32);
      },
      {.in_types = {{pl::f32, {128, 128}}},
       .out_type = {pl::f32, {128, 128}},
       .scratch_types = {{"u", plgpu::RefUnion({{plgpu::SMEM({128}, pl::f32), plgpu::TMEM({128, 24}, pl::f32),
                                                 plgpu::TMEM({128, 8}, pl::f32)},
                                                {plgpu::TMEM({128, 96}, pl::f32)}})},
                         {"behind", plgpu::TMEM({128, 32}, pl::f32)}},
       .arch = isa::find_arch("b200")});
  EXPECT_THAT(isa::print(kernel.module), HasSubstr("alloc.cta_group::1.sync.aligned.shared::cta.b32 "));
  EXPECT_THAT(isa::print(kernel.module), HasSubstr("], 128;"));  // 96 and 32 columns
  const std::vector<Array> in = {filled(kernel.launch.inputs[0], {.kind = Fill::Kind::randn, .seed = 3})};
  EXPECT_EQ(run_clean(kernel, in).outputs[0].bytes, in[0].bytes);
}

TEST(TensorMemory, AllOfAKernelsColumnsAreOfOneKind) {
  const auto allocate = [](std::vector<plgpu::NamedScratch> scratch) {
    return refused([&] {
      plgpu::kernel([](const Ref&, plgpu::Scratch&) {}, {.out_type = {pl::f32, {128}},
                                                         .scratch_types = std::move(scratch),
                                                         .cluster = {2},
                                                         .cluster_names = {"c"},
                                                         .arch = isa::find_arch("b200")});
    });
  };
  const auto own = plgpu::TMEM({128, 32}, pl::f32),
             of_pair = plgpu::TMEM({128, 32}, pl::f32, {.collective = true});
  EXPECT_THAT(allocate({{"a", own}, {"b", of_pair}}),
              HasSubstr("\"b\" is collective, another one of the kernel is not"));
  EXPECT_THAT(allocate({{"a", of_pair}, {"b", own}}), HasSubstr("\"b\" is not collective, another one"));
  EXPECT_THAT(allocate({{"u", plgpu::RefUnion({{own}, {of_pair}})}}), HasSubstr("some TMEM is collective"));
  EXPECT_THAT(allocate({{"u", plgpu::RefUnion({{plgpu::TMEM({100, 32}, pl::f32)}})}}),
              HasSubstr("(128, n) or (64, n)"));
}

}  // namespace
}  // namespace palladion::test::tensor_memory
