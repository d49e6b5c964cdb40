// Blackwell's words: what is recorded, what is refused, and products in the machine against sums of doubles.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>

#include "frontend/plgpu.h"
#include "isa/text/print.h"
#include "report/text/finding_text.h"
#include "verify/arrays/arrays.h"
#include "verify/launch/runner.h"

namespace palladion {
namespace {

using plgpu::Ref;
using ::testing::HasSubstr;

const isa::ArchSpec& b200() { return *isa::find_arch("b200"); }

plgpu::Transforms tiles(int64_t elements_of_128_bytes) {
  return {plgpu::TilingTransform({8, elements_of_128_bytes}), plgpu::SwizzleTransform(128)};
}

struct ProductCase {
  int64_t m = 128, n = 128, k = 128;
  pl::DType dtype = pl::f16;
  bool transposed_b = false;  // b is stored as (n, k)
  bool native = false;        // loaded with TCGEN05_TMEM_NATIVE
};

// One CTA: out = a b.
plgpu::Kernel product(const ProductCase& c) {
  const int64_t row = 128 / pl::bytes(c.dtype);
  const pl::Shape b_shape = c.transposed_b ? pl::Shape{c.n, c.k} : pl::Shape{c.k, c.n};
  return plgpu::kernel(
      [&](const Ref& a, const Ref& b, const Ref& out, plgpu::Scratch& s) {
        plgpu::copy_gmem_to_smem(a, s["a"], s.barrier("loaded"));
        plgpu::copy_gmem_to_smem(b, s["b"], s.barrier("loaded"));
        plgpu::barrier_wait(s.barrier("loaded"));
        const Ref right = c.transposed_b ? plgpu::transpose_ref(s["b"], {1, 0}) : s["b"];
        plgpu::tcgen05_mma(s["acc"], s["a"], right, s.barrier("done"), {.accumulate = false});
        plgpu::barrier_wait(s.barrier("done"));
        plgpu::TmemLoadOptions options;
        if (c.native) options.layout = plgpu::Layout::TCGEN05_TMEM_NATIVE;
        out.store(plgpu::async_load_tmem(s["acc"], options));
      },
      {.in_types = {{c.dtype, {c.m, c.k}}, {c.dtype, b_shape}},
       .out_type = {pl::f32, {c.m, c.n}},
       .scratch_types = {{"a", plgpu::SMEM({c.m, c.k}, c.dtype, {.transforms = tiles(row)})},
                         {"b", plgpu::SMEM(b_shape, c.dtype, {.transforms = tiles(row)})},
                         {"acc", plgpu::TMEM({c.m, c.n}, pl::f32)},
                         {"loaded", plgpu::Barrier({.num_arrivals = 2})},
                         {"done", plgpu::Barrier({.orders_tensor_core = true})}},
       .arch = &b200()});
}

double worst_error(const ProductCase& c, const std::vector<Array>& in, const Array& out) {
  double worst = 0;
  for (int64_t i = 0; i < c.m; ++i)
    for (int64_t j = 0; j < c.n; ++j) {
      double sum = 0;
      for (int64_t t = 0; t < c.k; ++t)
        sum += value_at(in[0], i * c.k + t) * value_at(in[1], c.transposed_b ? j * c.k + t : t * c.n + j);
      worst = std::max(worst, std::abs(value_at(out, i * c.n + j) - sum));
    }
  return worst;
}

class Tcgen05Products : public ::testing::TestWithParam<ProductCase> {};

TEST_P(Tcgen05Products, AreThoseOfTheMatrices) {
  const ProductCase& c = GetParam();
  const plgpu::Kernel kernel = product(c);
  std::vector<Array> in;
  for (const pl::ShapeDtype& type : kernel.launch.inputs)
    in.push_back(filled(type, {.kind = Fill::Kind::randn, .seed = in.size() + 1}));
  sim::Machine machine(b200());
  for (const char* schedule : {"functional", "latest", "seeded:5"}) {
    sim::RunOptions options;
    options.schedule = *sim::schedule_named(schedule);
    const SimOutcome out = run(kernel, in, machine, options);
    ASSERT_TRUE(out.result.clean()) << report::finding_text(out.result.findings.front());
    EXPECT_LT(worst_error(c, in, out.outputs[0]), 1e-3) << schedule;
  }
}

INSTANTIATE_TEST_SUITE_P(Shapes, Tcgen05Products,
                         ::testing::Values(ProductCase{}, ProductCase{.n = 64},
                                           ProductCase{.n = 192, .k = 64}, ProductCase{.m = 64},
                                           ProductCase{.transposed_b = true}, ProductCase{.native = true},
                                           ProductCase{.dtype = pl::bf16},
                                           ProductCase{.n = 8, .k = 64, .transposed_b = true}));

std::string refused(const std::function<void()>& record) {
  try {
    record();
  } catch (const isa::Error& e) {
    return e.diagnostics().front().message;
  }
  return "no Error";
}

TEST(Tcgen05, WhatTheChipHasNotIsRefused) {
  EXPECT_THAT(refused([] {
                plgpu::kernel([](const Ref&, plgpu::Scratch&) {},
                              {.out_type = {pl::f32, {128}},
                               .scratch_types = {{"acc", plgpu::TMEM({128, 64}, pl::f32)}},
                               .arch = isa::find_arch("h200")});
              }),
              HasSubstr("h200 has no tensor memory"));
  EXPECT_THAT(refused([] {
                plgpu::kernel([](const Ref&, plgpu::Scratch&) {},
                              {.out_type = {pl::f32, {128}},
                               .scratch_types = {{"acc", plgpu::ACC({64, 64}, pl::f32)}},
                               .arch = &b200()});
              }),
              HasSubstr("b200 has no wgmma"));
}

TEST(Tcgen05, RulesOfAllocationsAreNamed) {
  const auto allocate = [](plgpu::TmemType type) {
    return refused([&] {
      plgpu::kernel([](const Ref&, plgpu::Scratch&) {},
                    {.out_type = {pl::f32, {128}}, .scratch_types = {{"acc", type}}, .arch = &b200()});
    });
  };
  EXPECT_THAT(allocate(plgpu::TMEM({96, 64}, pl::f32)), HasSubstr("(128, n) or (64, n)"));
  EXPECT_THAT(allocate(plgpu::TMEM({128, 64}, pl::f16)), HasSubstr("`packed` is not given"));
  EXPECT_THAT(allocate(plgpu::TMEM({128, 1024}, pl::f32)), HasSubstr("512 are available"));
  EXPECT_THAT(allocate(plgpu::TMEM({128, 64}, pl::f32, {.collective = true})),
              HasSubstr("the cluster has one CTA"));
}

TEST(Tcgen05, TensorMemoryIsAllocatedForPairsOrNotAtAll) {
  const auto allocate = [](bool first, bool second) {
    return refused([&] {
      plgpu::kernel([](const Ref&, plgpu::Scratch&) {},
                    {.out_type = {pl::f32, {128}},
                     .scratch_types = {{"a", plgpu::TMEM({128, 64}, pl::f32, {.collective = first})},
                                       {"b", plgpu::TMEM({128, 64}, pl::f32, {.collective = second})}},
                     .cluster = {2},
                     .cluster_names = {"cluster"},
                     .arch = &b200()});
    });
  };
  EXPECT_THAT(allocate(true, false), HasSubstr("TMEM \"b\" is not collective, another one of the kernel is"));
  EXPECT_THAT(allocate(false, true), HasSubstr("TMEM \"b\" is collective, another one of the kernel is not"));
}

// A product whose left operand takes the place of the scores from which it was made.
TEST(Tcgen05, AUnionSharesItsColumns) {
  constexpr int64_t n = 128;
  const plgpu::Kernel kernel = plgpu::kernel(
      [](const Ref& in, const Ref& b, const Ref& out, plgpu::Scratch& s) {
        const Ref &scores = s.ref_union("u")[0][0], &left = s.ref_union("u")[1][0];
        const plgpu::Layout native = plgpu::Layout::TCGEN05_TMEM_NATIVE;
        plgpu::copy_gmem_to_smem(b, s["b"], s.barrier("loaded"));
        plgpu::async_store_tmem(scores, in.load(native));
        plgpu::commit_tmem();
        const plgpu::Array x = plgpu::async_load_tmem(scores, {.layout = native});
        plgpu::wait_load_tmem();
        plgpu::async_store_tmem(left, x.astype(pl::f16));
        plgpu::commit_tmem();
        plgpu::barrier_wait(s.barrier("loaded"));
        plgpu::tcgen05_mma(s["acc"], left, s["b"], s.barrier("done"), {.accumulate = false});
        plgpu::barrier_wait(s.barrier("done"));
        out.store(plgpu::async_load_tmem(s["acc"], {.layout = native}));
      },
      {.in_types = {{pl::f32, {128, n}}, {pl::f16, {n, n}}},
       .out_type = {pl::f32, {128, n}},
       .scratch_types = {{"acc", plgpu::TMEM({128, n}, pl::f32)},
                         {"u",
                          plgpu::RefUnion({{plgpu::TMEM({128, n}, pl::f32), plgpu::TMEM({128, 32}, pl::f32)},
                                           {plgpu::TMEM({128, n}, pl::f16, {.packed = true})}})},
                         {"after", plgpu::TMEM({128, 96}, pl::f32)},
                         {"b", plgpu::SMEM({n, n}, pl::f16, {.transforms = tiles(64)})},
                         {"loaded", plgpu::Barrier()},
                         {"done", plgpu::Barrier({.orders_tensor_core = true})}},
       .arch = &b200()});
  EXPECT_THAT(isa::print(kernel.module),
              HasSubstr("tcgen05.alloc.cta_group::1.sync.aligned.shared::cta.b32 "));
  std::vector<Array> in;
  for (const pl::ShapeDtype& type : kernel.launch.inputs)
    in.push_back(filled(type, {.kind = Fill::Kind::randint, .seed = in.size() + 1, .low = -4, .high = 5}));
  sim::Machine machine(b200());
  const SimOutcome out = run(kernel, in, machine);
  ASSERT_TRUE(out.result.clean()) << report::finding_text(out.result.findings.front());
  EXPECT_EQ(worst_error({.n = n, .k = n}, in, out.outputs[0]), 0);
}

TEST(Tcgen05, ElementsOfTensorMemoryAreNotLoadedOneByOne) {
  EXPECT_THAT(refused([] {
                plgpu::kernel([](const Ref& out, plgpu::Scratch& s) { out.store(s["acc"].load()); },
                              {.out_type = {pl::f32, {128, 64}},
                               .scratch_types = {{"acc", plgpu::TMEM({128, 64}, pl::f32)}},
                               .arch = &b200()});
              }),
              HasSubstr("tensor memory has no loads and stores of elements"));
}

TEST(Tcgen05, ACommitNeedsABarrierThatOrdersTheTensorCore) {
  EXPECT_THAT(
      refused([] {
        plgpu::kernel(
            [](const Ref&, plgpu::Scratch& s) { plgpu::tcgen05_commit_arrive(s.barrier("b")); },
            {.out_type = {pl::f32, {128}}, .scratch_types = {{"b", plgpu::Barrier()}}, .arch = &b200()});
      }),
      HasSubstr("does not order the tensor core"));
}

TEST(Tcgen05, ProductsOfIntegersAreRefusedOnAB300) {
  const auto record = [](const char* arch) {
    const pl::Shape shape{128, 128};
    plgpu::kernel([](const Ref&, plgpu::Scratch& s) { plgpu::tcgen05_mma(s["acc"], s["a"], s["b"]); },
                  {.out_type = {pl::s32, {128}},
                   .scratch_types = {{"a", plgpu::SMEM(shape, pl::s8, {.transforms = tiles(128)})},
                                     {"b", plgpu::SMEM(shape, pl::u8, {.transforms = tiles(128)})},
                                     {"acc", plgpu::TMEM(shape, pl::s32)}},
                   .arch = isa::find_arch(arch)});
  };
  EXPECT_THAT(refused([&] { record("b300"); }), HasSubstr("b300 (sm_103a) has no products of integers"));
  EXPECT_EQ(refused([&] { record("b200"); }), "no Error");
}

TEST(Tcgen05, StoresToTensorMemoryComeBack) {
  const plgpu::Kernel kernel = plgpu::kernel(
      [](const Ref& in, const Ref& out, plgpu::Scratch& s) {
        plgpu::async_store_tmem(s["t"], in.load(plgpu::Layout::TCGEN05));
        plgpu::commit_tmem();
        out.store(plgpu::async_load_tmem(s["t"], {.layout = plgpu::Layout::TCGEN05_TMEM_NATIVE}));
      },
      {.in_types = {{pl::f32, {128, 32}}},
       .out_type = {pl::f32, {128, 32}},
       .scratch_types = {{"t", plgpu::TMEM({128, 32}, pl::f32)}},
       .arch = &b200()});
  std::vector<Array> in = {filled(kernel.launch.inputs[0], {.kind = Fill::Kind::randn, .seed = 3})};
  sim::Machine machine(b200());
  const SimOutcome out = run(kernel, in, machine);
  ASSERT_TRUE(out.result.clean());
  EXPECT_EQ(out.outputs[0].bytes, in[0].bytes);
}

}  // namespace
}  // namespace palladion
