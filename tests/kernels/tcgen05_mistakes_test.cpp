// Wrong scales, sparse operands and narrow elements: each mistake is named where it is recorded.
#include <gmock/gmock.h>

#include <functional>
#include <optional>

#include "frontend/plgpu.h"
#include "tests/kernels/blackwell_operands.h"

namespace palladion::test_scales {
namespace {

using plgpu::Ref;
using plgpu::TMEMLayout;
using ::testing::HasSubstr;

isa::Diagnostic refused(const std::function<void()>& record) {
  try {
    record();
  } catch (const isa::Error& e) {
    return e.diagnostics().front();
  }
  return {.message = "no Error"};
}

struct Operands {
  pl::DType a = pl::e4m3, b = pl::e4m3, acc = pl::f32;
  int64_t rows = 128, n = 128, k = 128;
  std::optional<plgpu::TmemType> a_scale, b_scale, metadata;
};

plgpu::TmemType scales(pl::Shape shape, pl::DType dtype = pl::ue8m0) {
  return plgpu::TMEM(std::move(shape), dtype, {.layout = TMEMLayout::SCALES_LAYOUT});
}

std::string multiply(const Operands& x) {
  const bool sparse = x.metadata.has_value();
  const isa::Diagnostic d = refused([&] {
    plgpu::KernelOptions o{.out_type = {pl::f32, {128}},
                           .scratch_types = {{"a", operand({x.rows, sparse ? x.k / 2 : x.k}, x.a)},
                                             {"b", operand({x.n, x.k}, x.b)},
                                             {"acc", plgpu::TMEM({x.rows, x.n}, x.acc)}},
                           .arch = &b200()};
    if (x.a_scale) o.scratch_types.push_back({"a_scale", *x.a_scale});
    if (x.b_scale) o.scratch_types.push_back({"b_scale", *x.b_scale});
    if (x.metadata) o.scratch_types.push_back({"metadata", *x.metadata});
    plgpu::kernel(
        [&](const Ref&, plgpu::Scratch& s) {
          plgpu::Tcgen05Options options;
          if (x.a_scale) options.a_scale = s["a_scale"];
          if (x.b_scale) options.b_scale = s["b_scale"];
          if (x.metadata) options.a_sparse_metadata = s["metadata"];
          plgpu::tcgen05_mma(s["acc"], s["a"], plgpu::transpose_ref(s["b"], {1, 0}), options);
        },
        o);
  });
  if (d.message != "no Error") {
    EXPECT_THAT(d.loc.file, HasSubstr("tcgen05_mistakes_test.cpp")) << d.message;
  }
  return d.message;
}

TEST(ScaledMistakes, OfProductsAreNamed) {
  EXPECT_EQ(multiply({.a_scale = scales({128, 4}), .b_scale = scales({128, 4})}), "no Error");
  EXPECT_THAT(multiply({.a_scale = scales({128, 4})}), HasSubstr("a_scale is given, b_scale is not"));
  EXPECT_THAT(multiply({.b_scale = scales({128, 4})}), HasSubstr("b_scale is given, a_scale is not"));
  EXPECT_THAT(
      multiply({.a = pl::f16, .b = pl::f16, .a_scale = scales({128, 4}), .b_scale = scales({128, 4})}),
      HasSubstr("f16 and f16 operands with scales into a f32 accumulator"));
  EXPECT_THAT(multiply({.a = pl::e2m1, .b = pl::e2m1, .k = 256}),
              HasSubstr("e2m1 and e2m1 operands into a f32 accumulator"));
  EXPECT_THAT(
      multiply(
          {.a = pl::e2m1, .b = pl::e4m3, .k = 256, .a_scale = scales({128, 8}), .b_scale = scales({128, 8})}),
      HasSubstr("e2m1 and e4m3 operands with scales"));
  EXPECT_THAT(multiply({.a_scale = scales({128, 4}, pl::e4m3), .b_scale = scales({128, 4}, pl::e4m3)}),
              HasSubstr("scales of e4m3 and e5m2 operands are ue8m0, not e4m3"));
  EXPECT_THAT(multiply({.a_scale = scales({128, 4}), .b_scale = scales({128, 4}, pl::e4m3)}),
              HasSubstr("scales of A are ue8m0, those of B e4m3"));
  EXPECT_THAT(multiply({.a_scale = scales({128, 8}), .b_scale = scales({128, 8})}),
              HasSubstr("8 scales for k = 128: a block of K has 32 elements"));
  EXPECT_THAT(multiply({.a = pl::e2m1,
                        .b = pl::e2m1,
                        .k = 256,
                        .a_scale = scales({128, 8}, pl::e4m3),
                        .b_scale = scales({128, 8}, pl::e4m3)}),
              HasSubstr("a block of K has 16 elements"));
  EXPECT_THAT(multiply({.a_scale = scales({256, 4}), .b_scale = scales({128, 4})}),
              HasSubstr("a_scale is [256, 4], it must be [128, 4]"));
  EXPECT_THAT(multiply({.n = 256, .a_scale = scales({128, 4}), .b_scale = scales({128, 4})}),
              HasSubstr("b_scale is [128, 4], it must be [256, 4]"));
  EXPECT_THAT(multiply({.rows = 64, .a_scale = scales({128, 4}), .b_scale = scales({128, 4})}),
              HasSubstr("64 rows in a CTA: products with scales have 128"));
  EXPECT_THAT(
      multiply({.a_scale = plgpu::TMEM({128, 4}, pl::f32), .b_scale = scales({128, 4})}),
      HasSubstr("a_scale must be in TMEM in SCALES_LAYOUT, it is TMEM reference a_scale f32[128, 4]"));
}

TEST(SparseMistakes, OfProductsAreNamed) {
  const auto metadata = [](pl::Shape shape) {
    return plgpu::TMEM(std::move(shape), pl::u2, {.layout = TMEMLayout::SPARSE_METADATA_LAYOUT});
  };
  const auto halves = [&](Operands x, pl::Shape shape = {128, 64}) {
    if (x.a == pl::e4m3) x.a = x.b = pl::f16;
    x.metadata = metadata(std::move(shape));
    return multiply(x);
  };
  EXPECT_EQ(halves({}), "no Error");
  EXPECT_THAT(halves({.k = 256}), HasSubstr("a_sparse_metadata is [128, 64], it must be [128, 128]"));
  EXPECT_THAT(halves({.n = 24}), HasSubstr("n is 24, it must be a multiple of 16 up to 256"));
  EXPECT_THAT(halves({.rows = 64}), HasSubstr("a sparse operand with 64 rows in a CTA"));
  EXPECT_THAT(halves({.a = pl::f32, .b = pl::f32}), HasSubstr("tcgen05_mma of sparse f32 operands"));
  EXPECT_THAT(multiply({.a = pl::f16, .b = pl::f16, .metadata = scales({128, 4})}),
              HasSubstr("a_sparse_metadata must be in TMEM in SPARSE_METADATA_LAYOUT"));
}

std::string allocate(const plgpu::TmemType& type) {
  return refused([&] {
           plgpu::kernel([](const Ref&, plgpu::Scratch&) {},
                         {.out_type = {pl::f32, {128}}, .scratch_types = {{"t", type}}, .arch = &b200()});
         })
      .message;
}

TEST(ScaledMistakes, OfAllocationsAreNamed) {
  EXPECT_THAT(allocate(scales({64, 4})), HasSubstr("it must be (128, k) or (256, k), k a multiple of 4"));
  EXPECT_THAT(allocate(scales({128, 6})), HasSubstr("k a multiple of 4"));
  EXPECT_THAT(allocate(scales({128, 4}, pl::f16)), HasSubstr("scales are ue8m0 or e4m3"));
  EXPECT_THAT(allocate(plgpu::TMEM({128, 64}, pl::u8, {.layout = TMEMLayout::SPARSE_METADATA_LAYOUT})),
              HasSubstr("metadata are u2"));
  EXPECT_THAT(allocate(plgpu::TMEM({128, 32}, pl::u2, {.layout = TMEMLayout::SPARSE_METADATA_LAYOUT})),
              HasSubstr("it must be (128, k), k a multiple of 64"));
  EXPECT_THAT(
      allocate(plgpu::TMEM({128, 4}, pl::ue8m0, {.packed = true, .layout = TMEMLayout::SCALES_LAYOUT})),
      HasSubstr("`packed` is given, but SCALES_LAYOUT says where elements lie"));
  EXPECT_THAT(allocate(plgpu::TMEM({128, 4}, pl::ue8m0, {.packed = true})),
              HasSubstr("elements of matrices have 8, 16 or 32 bits"));
}

std::string copy_scales(const plgpu::SmemType& smem, const plgpu::TmemType& tmem) {
  return refused([&] {
           plgpu::kernel(
               [](const Ref&, plgpu::Scratch& s) { plgpu::async_copy_scales_to_tmem(s["x"], s["t"]); },
               {.out_type = {pl::f32, {128}}, .scratch_types = {{"x", smem}, {"t", tmem}}, .arch = &b200()});
         })
      .message;
}

TEST(ScaledMistakes, OfCopiesAreNamed) {
  EXPECT_EQ(copy_scales(plgpu::SMEM({2, 1, 32, 16}, pl::ue8m0), scales({256, 4})), "no Error");
  EXPECT_THAT(copy_scales(plgpu::SMEM({1, 1, 32, 16}, pl::ue8m0), scales({256, 4})),
              HasSubstr("must have shape [2, 1, 32, 16]"));
  EXPECT_THAT(copy_scales(plgpu::SMEM({1, 1, 32, 16}, pl::e4m3), scales({128, 4})),
              HasSubstr("the dtypes differ"));
  EXPECT_THAT(copy_scales(plgpu::SMEM({1, 1, 32, 16}, pl::f32), plgpu::TMEM({128, 4}, pl::f32)),
              HasSubstr("is not in SCALES_LAYOUT"));
  EXPECT_THAT(
      copy_scales(plgpu::SMEM({1, 1, 32, 16}, pl::ue8m0, {.transforms = {plgpu::TilingTransform({8, 16})}}),
                  scales({128, 4})),
      HasSubstr("is not contiguous in shared memory"));
}

std::string use_narrow(const std::function<void(const Ref& x)>& use, pl::DType dtype = pl::e2m1) {
  return refused([&] {
           plgpu::kernel([&](const Ref& x, const Ref&) { use(x); },
                         {.in_types = {{dtype, {128, 128}}}, .out_type = {pl::f32, {128}}});
         })
      .message;
}

TEST(NarrowElements, MistakesAreNamed) {
  EXPECT_THAT(use_narrow([](const Ref& x) { x.load(); }), HasSubstr("e2m1"));
  EXPECT_THAT(use_narrow([](const Ref& x) { x.load(); }, pl::ue8m0), HasSubstr("ue8m0 in registers"));
  EXPECT_THAT(use_narrow([](const Ref& x) { x.at(0, 0).store(pl::Scalar(1)); }, pl::ue8m0),
              HasSubstr("ue8m0 in registers"));
  EXPECT_THAT(use_narrow([](const Ref& x) { x.at(0, pl::ds(1, 64)); }), HasSubstr("2 of them share a byte"));
  EXPECT_THAT(use_narrow([](const Ref& x) { x.reshape({64, 256}); }), HasSubstr("elements share a byte"));
  EXPECT_THAT(refused([] {
                plgpu::kernel(
                    [](const Ref&, plgpu::Scratch&) {},
                    {.out_type = {pl::f32, {128}}, .scratch_types = {{"x", plgpu::SMEM({8, 7}, pl::e2m1)}}});
              }).message,
              HasSubstr("2 elements share a byte, they do not fill the minor dimension"));
}

}  // namespace
}  // namespace palladion::test_scales
