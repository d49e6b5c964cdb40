// wgmma: dtypes, major-ness, swizzles, A in registers, slices of accumulators, initial values.
#include "tests/frontend/run_in_sim.h"

namespace palladion::test {
namespace {

using plgpu::Array;
using plgpu::Layout;
using plgpu::Ref;
using plgpu::Scratch;

struct Case {
  pl::DType a = pl::f16, b = pl::f16, acc = pl::f32;
  int64_t m = 64, n = 64, k = 64, swizzle = 128;
  bool transpose_a = false, transpose_b = false;  // stored as (k, m), (n, k)
  bool registers = false;
};

plgpu::Kernel one_product(const Case& c) {
  const pl::Shape shape_a = c.transpose_a ? pl::Shape{c.k, c.m} : pl::Shape{c.m, c.k};
  const pl::Shape shape_b = c.transpose_b ? pl::Shape{c.n, c.k} : pl::Shape{c.k, c.n};
  return plgpu::kernel(
      [=](const Ref& a, const Ref& b, const Ref& o, Scratch& s) {
        plgpu::copy_gmem_to_smem(a, s["a"], s.barrier("ready"));
        plgpu::copy_gmem_to_smem(b, s["b"], s.barrier("ready"));
        plgpu::barrier_wait(s.barrier("ready"));
        const Ref a_smem = c.transpose_a ? plgpu::transpose_ref(s["a"], {1, 0}) : s["a"];
        const Ref b_smem = c.transpose_b ? plgpu::transpose_ref(s["b"], {1, 0}) : s["b"];
        const Array result = pl::run_scoped(
            [&](Ref acc) {
              if (c.registers)
                plgpu::wgmma(acc, a_smem.load(pl::bytes(c.a) == 2 ? Layout::WGMMA : Layout::WGMMA_8BIT),
                             b_smem);
              else
                plgpu::wgmma(acc, a_smem, b_smem);
              return acc.load();
            },
            plgpu::ACC({c.m, c.n}, c.acc));
        o.store(result);
      },
      {.in_types = {{c.a, shape_a}, {c.b, shape_b}},
       .out_type = {c.acc, {c.m, c.n}},
       .scratch_types = {{"a", plgpu::SMEM(shape_a, c.a, tiles(c.swizzle, c.a))},
                         {"b", plgpu::SMEM(shape_b, c.b, tiles(c.swizzle, c.b))},
                         {"ready", plgpu::Barrier({.num_arrivals = 2})}}});
}

void check(const Case& c) {
  const Values a = small_integers(c.m * c.k, 11, -3, 3), b = small_integers(c.k * c.n, 12, -3, 3);
  Values expected(static_cast<size_t>(c.m * c.n));
  const auto at = [](const Values& v, bool t, int64_t r, int64_t col, int64_t rows, int64_t cols) {
    return v[static_cast<size_t>(t ? col * rows + r : r * cols + col)];
  };
  for (int64_t i = 0; i < c.m; ++i)
    for (int64_t j = 0; j < c.n; ++j)
      for (int64_t l = 0; l < c.k; ++l)
        expected[static_cast<size_t>(i * c.n + j)] +=
            at(a, c.transpose_a, i, l, c.m, c.k) * at(b, c.transpose_b, l, j, c.k, c.n);
  EXPECT_EQ(run(one_product(c), {a, b}).outputs[0], expected);
}

TEST(Wgmma, SixteenBitAllMajorsAndSwizzles) {
  for (const int64_t swizzle : {32, 64, 128}) {
    for (const bool ta : {false, true}) {
      for (const bool tb : {false, true}) {
        SCOPED_TRACE(std::to_string(swizzle) + (ta ? " a^T" : "") + (tb ? " b^T" : ""));
        check({.m = 128, .n = 128, .k = 128, .swizzle = swizzle, .transpose_a = ta, .transpose_b = tb});
        check({.a = pl::bf16, .b = pl::bf16, .swizzle = swizzle, .transpose_a = ta, .transpose_b = tb});
      }
    }
  }
}

TEST(Wgmma, AccumulatesInHalf) { check({.acc = pl::f16, .n = 128}); }
TEST(Wgmma, Tf32) { check({.a = pl::f32, .b = pl::f32, .n = 64, .k = 64, .transpose_b = true}); }
TEST(Wgmma, Integers) {
  check({.a = pl::s8, .b = pl::s8, .acc = pl::s32, .n = 96, .k = 256, .transpose_b = true});
}
TEST(Wgmma, MixedFp8) {
  check({.a = pl::e4m3, .b = pl::e5m2, .n = 256, .k = 128, .transpose_b = true});
  check({.a = pl::e5m2, .b = pl::e4m3, .acc = pl::f16, .k = 128, .transpose_b = true});
}
TEST(Wgmma, LeftOperandInRegisters) {
  check({.m = 128, .n = 64, .k = 128, .registers = true});
  check({.m = 64, .n = 64, .k = 128, .transpose_b = true, .registers = true});
  check({.a = pl::s8, .b = pl::s8, .acc = pl::s32, .k = 128, .transpose_b = true, .registers = true});
  check({.a = pl::e4m3, .b = pl::e4m3, .k = 128, .transpose_b = true, .registers = true});
}

// Rows of B run along n, so that k need not fill them: attention's tiles of V have 80 or 176 rows.
TEST(Wgmma, DepthIsAMultipleOfAnInstructionWhereNoRowRunsAlongIt) {
  constexpr int64_t k = 80;
  const auto kernel = plgpu::kernel(
      [](const Ref& a, const Ref& b, const Ref& o, Scratch& s) {
        plgpu::copy_gmem_to_smem(b, s["b"], s.barrier("ready"));
        plgpu::barrier_wait(s.barrier("ready"));
        o.store(pl::run_scoped(
            [&](const Ref& acc) {
              plgpu::wgmma(acc, a.load(Layout::WGMMA), s["b"]);
              return acc.load();
            },
            plgpu::ACC({64, 64}, pl::f32)));
      },
      {.in_types = {{pl::f16, {64, k}}, {pl::f16, {k, 64}}},
       .out_type = {pl::f32, {64, 64}},
       .scratch_types = {{"b", plgpu::SMEM({k, 64}, pl::f16, tiles(128, pl::f16))},
                         {"ready", plgpu::Barrier()}}});
  const Values a = small_integers(64 * k, 13, -3, 3), b = small_integers(k * 64, 14, -3, 3);
  Values expected(64 * 64);
  for (size_t i = 0; i < 64; ++i)
    for (size_t j = 0; j < 64; ++j)
      for (size_t l = 0; l < k; ++l) expected[i * 64 + j] += a[i * k + l] * b[l * 64 + j];
  EXPECT_EQ(run(kernel, {a, b}).outputs[0], expected);
}

TEST(Wgmma, SlicesAndInitialValue) {
  const auto k = plgpu::kernel(
      [](const Ref& a, const Ref& c, const Ref& o, Scratch& s) {
        plgpu::copy_gmem_to_smem(a, s["a"], s.barrier("ready"));
        plgpu::barrier_wait(s.barrier("ready"));
        const Array result = pl::run_state(
            [&](Ref acc) {
              // The left half of the sum gets a @ a[:, :64]; the right one is only the initial value.
              plgpu::wgmma(acc.at(pl::all, pl::ds(0, 64)), s["a"], plgpu::transpose_ref(s["a"], {1, 0}));
              plgpu::wgmma_wait(0);
            },
            plgpu::ACC.init(c.load(Layout::WGMMA)));
        o.store(result);
      },
      {.in_types = {{pl::bf16, {64, 64}}, {pl::f32, {64, 128}}},
       .out_type = {pl::f32, {64, 128}},
       .scratch_types = {{"a", plgpu::SMEM({64, 64}, pl::bf16, tiles(128, pl::bf16))},
                         {"ready", plgpu::Barrier()}}});
  const Values a = small_integers(64 * 64, 13, -3, 3), c = small_integers(64 * 128, 14);
  Values expected = c;
  for (size_t i = 0; i < 64; ++i)
    for (size_t j = 0; j < 64; ++j)
      for (size_t l = 0; l < 64; ++l) expected[i * 128 + j] += a[i * 64 + l] * a[j * 64 + l];
  EXPECT_EQ(run(k, {a, c}).outputs[0], expected);
}

}  // namespace
}  // namespace palladion::test
