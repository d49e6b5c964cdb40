// mma.sync on arrays: every dtype and split over warps, operands by ldmatrix and by plain loads, exact.
#include <fmt/format.h>

#include "isa/formats/fragments.h"
#include "tests/frontend/run_in_sim.h"

namespace palladion::test {
namespace {

using plgpu::Array;
using plgpu::Layout;
using plgpu::Ref;
using plgpu::Scratch;

Values mma_product(const Values& a, const Values& b, int64_t m, int64_t n, int64_t k) {
  Values c(static_cast<size_t>(m * n));
  for (int64_t i = 0; i < m; ++i)
    for (int64_t j = 0; j < n; ++j)
      for (int64_t p = 0; p < k; ++p)
        c[static_cast<size_t>(i * n + j)] +=
            a[static_cast<size_t>(i * k + p)] * b[static_cast<size_t>(p * n + j)];
  return c;
}

Values mma_transposed(const Values& x, int64_t rows, int64_t cols) {
  Values out(x.size());
  for (int64_t i = 0; i < rows; ++i)
    for (int64_t j = 0; j < cols; ++j)
      out[static_cast<size_t>(j * rows + i)] = x[static_cast<size_t>(i * cols + j)];
  return out;
}

Values mma_operand(pl::DType d, int64_t n, uint32_t seed) {
  return small_integers(n, seed, d == pl::u8 ? 0 : -4, d == pl::u8 ? 9 : 4);
}

constexpr pl::DType operand_types[] = {pl::f16, pl::bf16, pl::e4m3, pl::e5m2, pl::s8, pl::u8};

TEST(Mma, LayoutsAreTheInstructionsFragments) {
  for (const int bits : {8, 16}) {
    const pl::DType d = bits == 8 ? pl::s8 : pl::f16;
    const int k = 256 / bits, pack = 32 / bits;
    for (const int m_warps : {1, 2, 4}) {
      const Layout lhs = Layout::MMA_LHS(d, m_warps), rhs = Layout::MMA_RHS(d, m_warps),
                   acc = Layout::MMA_ACC(d, m_warps);
      const int n_warps = 4 / m_warps;
      const auto a = isa::mma_a(16, k, bits), b = isa::mma_b(k, bits), c = isa::mma_c(16, 32);
      for (int thread = 0; thread < 128; ++thread) {
        const int lane = thread % 32, m0 = thread / 32 / n_warps * 16, n0 = thread / 32 % n_warps * 8;
        for (int e = 0; e < 4 * pack; ++e) {
          const auto at = a.element(lane, e / pack, e % pack);
          ASSERT_EQ(lhs.index({16 * m_warps, k}, thread, e), (pl::Shape{m0 + at.row, at.col}));
        }
        for (int e = 0; e < 2 * pack; ++e) {
          const auto at = b.element(lane, e / pack, e % pack);
          ASSERT_EQ(rhs.index({k, 8 * n_warps}, thread, e), (pl::Shape{at.row, n0 + at.col}));
        }
        for (int e = 0; e < 4; ++e) {
          const auto at = c.element(lane, e, 0);
          ASSERT_EQ(acc.index({16 * m_warps, 8 * n_warps}, thread, e), (pl::Shape{m0 + at.row, n0 + at.col}));
        }
      }
    }
  }
  EXPECT_EQ(Layout::MMA_ACC(pl::f16), Layout::WGMMA);
}

TEST(Mma, EveryTypeAndSplitOverWarps) {
  for (const pl::DType d : operand_types) {
    for (const int m_warps : {1, 2, 4}) {
      SCOPED_TRACE(fmt::format("{} m_warps {}", pl::name(d), m_warps));
      const int64_t m = 64, n = 32, k = 64;
      const pl::DType sum = pl::is_float(d) ? pl::f32 : pl::s32;
      const auto kernel = plgpu::kernel(
          [&](const Ref& a, const Ref& b, const Ref& c, const Ref& o) {
            const Array x = a.load(Layout::MMA_LHS(d, m_warps)), y = b.load(Layout::MMA_RHS(d, m_warps));
            o.store(plgpu::mma(c.load(Layout::MMA_ACC(d, m_warps)), x, y));
          },
          {.in_types = {{d, {m, k}}, {d, {k, n}}, {sum, {m, n}}}, .out_type = {sum, {m, n}}});
      const Values a = mma_operand(d, m * k, 1), b = mma_operand(d, k * n, 2),
                   c = small_integers(m * n, 3, -99, 99);
      Values expected = mma_product(a, b, m, n, k);
      for (size_t i = 0; i < expected.size(); ++i) expected[i] += c[i];
      EXPECT_EQ(run(kernel, {a, b, c}).outputs[0], expected);
    }
  }
}

struct InSmem {
  int64_t swizzle = 128;
  bool lhs_transposed = false;  // a lies in memory as (k, m)
  bool rhs_transposed = false;  // b lies in memory as (n, k)
  bool optimized = true;
};

// Both operands through SMEM.
plgpu::Kernel mma_from_smem(pl::DType d, int m_warps, int64_t m, int64_t n, int64_t k, const InSmem& how) {
  const auto types = [&](int64_t rows, int64_t cols, bool other) {
    return other ? pl::Shape{cols, rows} : pl::Shape{rows, cols};
  };
  const pl::Shape a = types(m, k, how.lhs_transposed), b = types(k, n, how.rhs_transposed);
  const plgpu::AllocationOptions how_it_lies = tiles(how.swizzle, d);
  return plgpu::kernel(
      [&](const Ref& a_gmem, const Ref& b_gmem, const Ref& o, Scratch& s) {
        const auto full = s.barrier("full");
        plgpu::copy_gmem_to_smem(a_gmem, s["a"], full);
        plgpu::copy_gmem_to_smem(b_gmem, s["b"], full);
        plgpu::barrier_wait(full);
        const auto view = [&](const char* name, bool other) {
          return other ? plgpu::transpose_ref(s[name], {1, 0}) : s[name];
        };
        const Array x = plgpu::load(view("a", how.lhs_transposed),
                                    {.layout = Layout::MMA_LHS(d, m_warps), .optimized = how.optimized});
        const Array y = plgpu::load(view("b", how.rhs_transposed),
                                    {.layout = Layout::MMA_RHS(d, m_warps), .optimized = how.optimized});
        const pl::DType sum = pl::is_float(d) ? pl::f32 : pl::s32;
        o.store(plgpu::mma(plgpu::zeros({m, n}, sum), x, y));
      },
      {.in_types = {{d, a}, {d, b}},
       .out_type = {pl::is_float(d) ? pl::f32 : pl::s32, {m, n}},
       .scratch_types = {{"a", plgpu::SMEM(a, d, how_it_lies)},
                         {"b", plgpu::SMEM(b, d, how_it_lies)},
                         {"full", plgpu::Barrier({.num_arrivals = 2})}}});
}

void check_from_smem(pl::DType d, int m_warps, const InSmem& how, const std::string& expected_loads) {
  SCOPED_TRACE(fmt::format("{} m_warps {} swizzle {} transposed {} {}", pl::name(d), m_warps, how.swizzle,
                           how.lhs_transposed, how.rhs_transposed));
  const int64_t m = 64, n = 64, k = 128;
  const auto kernel = mma_from_smem(d, m_warps, m, n, k, how);
  const std::string text = isa::print(kernel.module);
  for (const char* load :
       {"ldmatrix.sync.aligned.m8n8.x4.shared", "ldmatrix.sync.aligned.m8n8.x4.trans.shared"})
    EXPECT_EQ(text.find(load) != std::string::npos, expected_loads.find(load) != std::string::npos) << load;
  const Values a = mma_operand(d, m * k, 4), b = mma_operand(d, k * n, 5);
  const auto ran = run(kernel, {how.lhs_transposed ? mma_transposed(a, m, k) : a,
                                how.rhs_transposed ? mma_transposed(b, k, n) : b});
  EXPECT_EQ(ran.outputs[0], mma_product(a, b, m, n, k));
}

TEST(Mma, OperandsByLdmatrix) {
  const std::string straight = "ldmatrix.sync.aligned.m8n8.x4.shared",
                    turned = "ldmatrix.sync.aligned.m8n8.x4.trans.shared";
  for (const int m_warps : {1, 2, 4}) {
    for (const int64_t swizzle : {32, 64, 128}) {
      check_from_smem(pl::bf16, m_warps, {.swizzle = swizzle}, straight + turned);
      check_from_smem(pl::f16, m_warps, {.swizzle = swizzle, .lhs_transposed = true, .rhs_transposed = true},
                      straight + turned);
      check_from_smem(pl::f16, m_warps, {.swizzle = swizzle, .rhs_transposed = true}, straight);
      check_from_smem(pl::s8, m_warps, {.swizzle = swizzle, .rhs_transposed = true}, straight);
    }
  }
  check_from_smem(pl::e4m3, 4, {.rhs_transposed = true}, straight);
}

TEST(Mma, BytesAcrossRowsAreLoadedOneByOne) {
  check_from_smem(pl::s8, 4, {.swizzle = 64, .optimized = false}, "ldmatrix.sync.aligned.m8n8.x4.shared");
  try {
    mma_from_smem(pl::s8, 4, 128, 128, 128, {});
    ADD_FAILURE() << "an optimized load of columns of bytes was recorded";
  } catch (const isa::Error& e) {
    EXPECT_EQ(e.diagnostics().front().code, "PLD2109");
  }
}

// One column block a warp: groups of two matrices.
TEST(Mma, NarrowOperands) {
  for (const bool other : {false, true}) {
    const int64_t m = 64, n = 24, k = 32;
    const pl::Shape shape = other ? pl::Shape{n, k} : pl::Shape{k, n};
    const auto kernel = plgpu::kernel(
        [&](const Ref& a, const Ref& b, const Ref& o, Scratch& s) {
          s["b"].store(b.load());
          const Ref view = other ? plgpu::transpose_ref(s["b"], {1, 0}) : s["b"];
          const Array y = plgpu::load(view, {.layout = Layout::MMA_RHS(pl::f16), .optimized = false});
          o.store(plgpu::mma(plgpu::zeros({m, n}, pl::f32), a.load(Layout::MMA_LHS(pl::f16)), y));
        },
        {.in_types = {{pl::f16, {m, k}}, {pl::f16, shape}},
         .out_type = {pl::f32, {m, n}},
         .scratch_types = {{"b", plgpu::SMEM(shape, pl::f16)}}});
    EXPECT_NE(isa::print(kernel.module).find("ldmatrix.sync.aligned.m8n8.x2"), std::string::npos);
    const Values a = mma_operand(pl::f16, m * k, 6), b = mma_operand(pl::f16, k * n, 7);
    EXPECT_EQ(run(kernel, {a, other ? mma_transposed(b, k, n) : b}).outputs[0], mma_product(a, b, m, n, k));
  }
}

// The result of one product is the operand of the next without leaving the registers of its lane, in a loop.
TEST(Mma, ResultsBecomeOperands) {
  const int64_t m = 64, n = 64, k = 64, steps = 3;
  const auto kernel = plgpu::kernel(
      [&](const Ref& a, const Ref& b, const Ref& o) {
        const Array y = b.load(Layout::MMA_RHS(pl::bf16));
        const Array zero = plgpu::layout_cast(plgpu::zeros({m, n}, pl::f32), Layout::MMA_ACC(pl::bf16));
        o.store(pl::fori_loop(
            0, steps,
            [&](pl::Index, const Array& sum) {
              const Array x = a.load(Layout::MMA_LHS(pl::bf16));
              const Array p = plgpu::mma(zero, x, y).astype(pl::bf16);
              return plgpu::mma(sum, plgpu::layout_cast(p, Layout::MMA_LHS(pl::bf16)), y);
            },
            zero));
      },
      {.in_types = {{pl::bf16, {m, k}}, {pl::bf16, {k, n}}}, .out_type = {pl::f32, {m, n}}});
  EXPECT_EQ(isa::print(kernel.module).find("shfl"), std::string::npos);
  const Values a = small_integers(m * k, 8, -1, 1), b = small_integers(k * n, 9, -1, 1);
  Values expected = mma_product(mma_product(a, b, m, n, k), b, m, n, n);
  for (double& v : expected) v *= steps;
  EXPECT_EQ(run(kernel, {a, b}).outputs[0], expected);
}

// Copies in several warps are stored once.
TEST(Mma, ReplicatedOperandsAreStoredOnce) {
  const auto kernel = plgpu::kernel(
      [&](const Ref& a, const Ref& o, Scratch& s) {
        s["x"].store(a.load(Layout::MMA_LHS(pl::f16, 1)));
        o.store(s["x"].load());
      },
      {.in_types = {{pl::f16, {32, 32}}},
       .out_type = {pl::f16, {32, 32}},
       .scratch_types = {{"x", plgpu::SMEM({32, 32}, pl::f16)}}});
  const Values a = mma_operand(pl::f16, 32 * 32, 10);
  EXPECT_EQ(run(kernel, {a}).outputs[0], a);
}

}  // namespace
}  // namespace palladion::test
