// tcgen05.mma against a scalar model: every placement of its operands, kind, shape, pair and option.
#include <gmock/gmock.h>

#include "sim/machine/async/tcgen05_operands.h"
#include "tests/sim/tcgen05_product.h"

namespace palladion::sim::testing {
namespace {

std::string label(const ProductCase& c) {
  return fmt::format(
      "kind {} A {} B {} D {} m {} n {} ctas {} modes {} {} transposed {} {} tensor A {} ws {} sparse {} "
      "scales {}",
      isa::name(c.kind), c.a_type, c.b_type, c.d_type, c.m, c.n, c.ctas, static_cast<int>(c.a_mode),
      static_cast<int>(c.b_mode), c.transpose_a, c.transpose_b, c.a_in_tensor, c.ws, c.sparse,
      c.scale_vectors);
}

// The first word that differs, by CTA, lane and column.
std::string difference(const Tcgen05Image& got, const Tcgen05Image& want, int ctas) {
  for (int cta = 0; cta < ctas; ++cta)
    for (size_t i = 0; i < got.tensor[0].size(); ++i) {
      const uint32_t g = got.tensor[static_cast<size_t>(cta)][i],
                     w = want.tensor[static_cast<size_t>(cta)][i];
      if (g != w)
        return fmt::format("CTA {} lane {} column {}: {:08x}, must be {:08x}", cta, i / image_columns,
                           i % image_columns, g, w);
    }
  return {};
}

void expect_right(const ProductCase& c, const RunOptions& options = {}) {
  Product p(c);
  const RunResult r = p.run(options);
  ASSERT_TRUE(r.clean()) << label(c) << '\n' << PtxRunner::describe(r) << p.program().body;
  EXPECT_EQ(difference(p.image, p.expected(), c.ctas), "") << label(c);
}

TEST(Tcgen05, ReadsKMajorOperandsInEverySwizzle) {
  for (const Mode a : {Mode::none, Mode::b32, Mode::b64, Mode::b128})
    for (const Mode b : {Mode::none, Mode::b32, Mode::b64, Mode::b128})
      for (const int k_offset : {0, 1, 3}) {
        const bool offset_fits = (k_offset == 0) || (a == Mode::b128 && b == Mode::b128) ||
                                 (k_offset == 1 && a >= Mode::b64 && b >= Mode::b64);
        if (offset_fits) expect_right({.n = 40, .a_mode = a, .b_mode = b, .k_offset = k_offset});
      }
}

TEST(Tcgen05, ReadsTransposedOperandsInEverySwizzle) {
  struct Kind {
    Tcgen05Kind kind;
    const char *type, *d;
  };
  for (const Kind& k : {Kind{Tcgen05Kind::f16, "bf16", "f32"}, Kind{Tcgen05Kind::f8f6f4, "e4m3", "f32"},
                        Kind{Tcgen05Kind::i8, "s8", "s32"}, Kind{Tcgen05Kind::f8f6f4, "e2m1", "f32"},
                        Kind{Tcgen05Kind::f8f6f4, "e3m2", "f32"}})
    for (const Mode mode : {Mode::none, Mode::b32, Mode::b64, Mode::b128})
      for (const int which : {1, 2, 3})
        expect_right({.kind = k.kind,
                      .a_type = k.type,
                      .b_type = k.type,
                      .d_type = k.d,
                      .n = 64,
                      .a_mode = mode,
                      .b_mode = mode,
                      .transpose_a = (which & 1) != 0,
                      .transpose_b = (which & 2) != 0});
  expect_right({.kind = Tcgen05Kind::tf32,
                .a_type = "tf32",
                .b_type = "tf32",
                .n = 64,
                .a_mode = Mode::base32,
                .b_mode = Mode::base32,
                .transpose_a = true,
                .transpose_b = true});
}

TEST(Tcgen05, MultipliesEveryTypeOfEveryKind) {
  expect_right({.a_type = "f16", .b_type = "f16", .d_type = "f16"});
  expect_right({.a_type = "bf16", .b_type = "bf16"});
  expect_right({.kind = Tcgen05Kind::tf32, .a_type = "tf32", .b_type = "tf32"});
  for (const char* a : {"e4m3", "e5m2", "e2m3", "e3m2", "e2m1"})
    for (const char* b : {"e4m3", "e5m2", "e2m3", "e3m2", "e2m1"})
      for (const char* d : {"f32", "f16"})
        expect_right({.kind = Tcgen05Kind::f8f6f4, .a_type = a, .b_type = b, .d_type = d, .n = 16});
  for (const char* a : {"s8", "u8"})
    for (const char* b : {"s8", "u8"})
      expect_right({.kind = Tcgen05Kind::i8, .a_type = a, .b_type = b, .d_type = "s32", .n = 48});
}

TEST(Tcgen05, PlacesDInEveryLayout) {
  for (const int n : {8, 16, 136, 256}) {
    expect_right({.m = 128, .n = n});
    expect_right({.m = 64, .n = n});
    expect_right({.m = 64, .n = n, .lane = 16});
  }
  for (const int m : {128, 256})
    for (const int n : {32, 256}) {
      expect_right({.m = m, .n = n, .ctas = 2, .a_mode = Mode::b128, .b_mode = Mode::b128});
      expect_right({.m = m, .n = n, .ctas = 2, .b_mode = Mode::b64, .transpose_b = true});
    }
  for (const int m : {32, 64, 128})
    for (const int n : {64, 128, 256}) expect_right({.m = m, .n = n, .ws = true});
}

TEST(Tcgen05, ReadsAFromTensorMemory) {
  for (const int m : {64, 128}) expect_right({.m = m, .a_in_tensor = true});
  expect_right({.m = 64, .a_in_tensor = true, .lane = 16});
  for (const int m : {128, 256}) expect_right({.m = m, .ctas = 2, .a_in_tensor = true});
  for (const int m : {32, 64, 128}) expect_right({.m = m, .a_in_tensor = true, .ws = true});
  for (const char* type : {"e4m3", "e2m3", "e3m2", "e2m1"})
    expect_right({.kind = Tcgen05Kind::f8f6f4, .a_type = type, .b_type = "e5m2", .a_in_tensor = true});
  expect_right({.kind = Tcgen05Kind::tf32, .a_type = "tf32", .b_type = "tf32", .a_in_tensor = true});
}

TEST(Tcgen05, HasTheOptionsOfTheInstructionAndTheDescriptor) {
  expect_right({.accumulate = false});
  expect_right({.input_scale = 3});
  expect_right({.negate_a = true});
  expect_right({.negate_a = true, .negate_b = true});
  expect_right({.disabled = {0xF, 0, 0x80000001, 0xFFFFFFFF}});
  expect_right({.m = 64, .disabled = {0xF, 0, 0x80000001, 0xFFFF}});
  expect_right({.m = 256, .ctas = 2, .disabled = {1, 2, 4, 8, 16, 32, 64, 128}});
  expect_right({.m = 128, .ctas = 2, .disabled = {1, 2, 4, 8, 16, 32, 64, 128}});
}

// Of the manual's examples: skip span 3 - 1, use span 4 - 1.
TEST(Tcgen05, AZeroColumnMaskLeavesColumnsOfBOut) {
  const uint64_t generate = uint64_t{1} << 39 | uint64_t{2} << 40 | uint64_t{3} << 48;
  expect_right({.m = 128, .n = 64, .ws = true, .zero_mask = generate});
  expect_right({.m = 128, .n = 64, .ws = true, .zero_mask = generate | uint64_t{1} << 32});
  expect_right({.m = 128, .n = 64, .transpose_b = true, .ws = true, .zero_mask = generate | 2});
  expect_right({.m = 64, .n = 128, .ws = true, .zero_mask = generate | 0x0502 | uint64_t{2} << 32});
  expect_right({.m = 32, .n = 64, .ws = true, .zero_mask = generate | 0x01020304 | uint64_t{5} << 32});
}

TEST(Tcgen05, TheMaskOfAnExampleOfTheManual) {
  const std::vector<bool> zero =
      zero_columns(uint64_t{1} << 39 | uint64_t{2} << 40 | uint64_t{3} << 48, 128, 64);
  for (size_t n = 0; n < 14; ++n) EXPECT_EQ(zero[n], n % 7 >= 4) << n;
}

// Every id of the scales' columns that the kinds with block scales have, for one shape.
void expect_scaled(int m, int n, int ctas) {
  for (const int id : {0, 1, 3})
    expect_right({.kind = Tcgen05Kind::mxf8f6f4,
                  .a_type = "e4m3",
                  .b_type = "e2m1",
                  .m = m,
                  .n = n,
                  .ctas = ctas,
                  .scale_vectors = 1,
                  .a_id = id,
                  .b_id = 3 - id});
  for (const int id : {0, 2}) {
    ProductCase four{.kind = Tcgen05Kind::mxf4,
                     .a_type = "e2m1",
                     .b_type = "e2m1",
                     .m = m,
                     .n = n,
                     .ctas = ctas,
                     .scale_vectors = 2,
                     .a_id = id,
                     .b_id = 2 - id};
    expect_right(four);
    four.kind = Tcgen05Kind::mxf4nvf4;
    four.a_mode = four.b_mode = Mode::b128;
    four.k_offset = 2;
    four.b_id = id;
    expect_right(four);
  }
  for (const bool ue4m3 : {false, true})
    expect_right({.kind = Tcgen05Kind::mxf4nvf4,
                  .a_type = "e2m1",
                  .b_type = "e2m1",
                  .m = m,
                  .n = n,
                  .ctas = ctas,
                  .scale_vectors = 4,
                  .ue4m3 = ue4m3});
}

TEST(Tcgen05, ScalesBlocksOfK) {
  for (const int n : {32, 256}) {
    expect_scaled(128, n, 1);
    expect_scaled(128, n, 2);
    expect_scaled(256, n, 2);
  }
  expect_right({.kind = Tcgen05Kind::mxf8f6f4,
                .a_type = "e3m2",
                .b_type = "e4m3",
                .a_in_tensor = true,
                .scale_vectors = 1});
  expect_right({.kind = Tcgen05Kind::mxf8f6f4,
                .a_type = "e5m2",
                .b_type = "e2m3",
                .transpose_a = true,
                .transpose_b = true,
                .scale_vectors = 1});
}

struct SparseKind {
  Tcgen05Kind kind;
  const char *type, *d;
  int selectors, scales;
};
const SparseKind sparse_kinds[] = {
    {Tcgen05Kind::f16, "f16", "f32", 4, 0},     {Tcgen05Kind::tf32, "tf32", "f32", 4, 0},
    {Tcgen05Kind::f8f6f4, "e4m3", "f32", 1, 0}, {Tcgen05Kind::f8f6f4, "e2m3", "f16", 1, 0},
    {Tcgen05Kind::i8, "s8", "s32", 1, 0},       {Tcgen05Kind::mxf8f6f4, "e2m1", "f32", 1, 1},
    {Tcgen05Kind::mxf4, "e2m1", "f32", 1, 2},   {Tcgen05Kind::mxf4nvf4, "e2m1", "f32", 1, 4}};

TEST(Tcgen05, ExpandsASparseAByItsMetadata) {
  for (const SparseKind& k : sparse_kinds)
    for (int selector = 0; selector < k.selectors; ++selector) {
      ProductCase c{.kind = k.kind,
                    .a_type = k.type,
                    .b_type = k.type,
                    .d_type = k.d,
                    .n = 32,
                    .sparse = true,
                    .scale_vectors = k.scales,
                    .selector = selector};
      expect_right(c);
      c.m = 256, c.ctas = 2, c.b_mode = Mode::b64;
      expect_right(c);
      c.a_in_tensor = true;
      expect_right(c);
      if (k.scales != 0) continue;
      for (const int m : {32, 64, 128}) {
        ProductCase w = c;
        w.m = m, w.ctas = 1, w.n = 64, w.ws = true, w.b_mode = Mode::none;
        expect_right(w);
      }
    }
  expect_right({.transpose_a = true, .transpose_b = true, .sparse = true});
  expect_right({.kind = Tcgen05Kind::i8,
                .a_type = "u8",
                .b_type = "s8",
                .d_type = "s32",
                .transpose_a = true,
                .sparse = true});
}

// Scale factors of 128 rows as cuBLAS lays them out, 512 bytes, copied by the instruction before: the pair of
// instructions runs in order without a wait.
TEST(Tcgen05, ACopyBeforeAProductIsThere) {
  for (const RunOptions& options : every_schedule()) {
    Product p({.kind = Tcgen05Kind::mxf8f6f4, .a_type = "e4m3", .b_type = "e5m2", .scale_vectors = 1});
    constexpr int atom = 49152;
    for (int row = 0; row < 128; ++row) {
      const uint32_t word = p.image.at(0, row % 32, scale_a_column + row / 32);
      std::memcpy(p.image.shared[0].data() + atom + row % 32 * 16 + row / 32 * 4, &word, 4);
    }
    const Tcgen05Image expected = p.expected();
    for (int lane = 0; lane < 128; ++lane)
      for (int c = 0; c < 4; ++c) p.image.at(0, lane, scale_a_column + c) = 0;
    Tcgen05Program program = p.program();
    const isa::MatrixDescriptor rows{.start = atom, .leading = 16, .stride = 128};
    program.values.resize(6);
    program.values[5] = isa::encode_tcgen05(rows);
    program.body.insert(
        program.body.find("  tcgen05.mma"),
        "  add.u64 %v5, %v5, %base;\n  tcgen05.cp.cta_group::1.32x128b.warpx4 [%r32], %v5;\n");
    const RunResult r = run_tcgen05(program, p.image, options);
    ASSERT_TRUE(r.clean()) << PtxRunner::describe(r);
    EXPECT_EQ(difference(p.image, expected, 1), "");
  }
}

// The tensor core takes a thread's operations in order, also where PTX does not promise it: the next scale
// factors are copied to the columns of those that a product reads.
TEST(Tcgen05, ACopyBehindAProductWaitsForIt) {
  for (const RunOptions& options : every_schedule()) {
    Product p({.kind = Tcgen05Kind::mxf8f6f4, .a_type = "e4m3", .b_type = "e5m2", .scale_vectors = 1});
    constexpr int atom = 49152;
    std::fill_n(p.image.shared[0].begin() + atom, 512, uint8_t{0x7F});
    Tcgen05Image expected = p.expected();
    for (int lane = 0; lane < 128; ++lane)
      for (int c = 0; c < 4; ++c) expected.at(0, lane, scale_a_column + c) = 0x7F7F'7F7F;
    Tcgen05Program program = p.program();
    const isa::MatrixDescriptor rows{.start = atom, .leading = 16, .stride = 128};
    program.values.resize(6);
    program.values[5] = isa::encode_tcgen05(rows);
    const size_t product = program.body.find("tcgen05.mma");
    program.body.insert(
        program.body.find('\n', product) + 1,
        "  add.u64 %v5, %v5, %base;\n  tcgen05.cp.cta_group::1.32x128b.warpx4 [%r32], %v5;\n");
    const RunResult r = run_tcgen05(program, p.image, options);
    ASSERT_TRUE(r.clean()) << PtxRunner::describe(r);
    EXPECT_EQ(difference(p.image, expected, 1), "");
  }
}

TEST(Tcgen05, IsTheSameUnderEverySchedule) {
  for (const RunOptions& options : every_schedule()) {
    expect_right({.m = 256, .n = 64, .ctas = 2}, options);
    expect_right({.kind = Tcgen05Kind::mxf8f6f4,
                  .a_type = "e4m3",
                  .b_type = "e4m3",
                  .m = 256,
                  .ctas = 2,
                  .sparse = true,
                  .scale_vectors = 1},
                 options);
  }
}

// CTA 1 waits for what CTA 0 has issued.
TEST(Tcgen05, ACommitSignalsTheCtasOfItsMask) {
  for (const RunOptions& options : every_schedule()) {
    Product p({.m = 256, .ctas = 2});
    Tcgen05Program program = p.program();
    program.body +=
        "  .reg .b16 %h0;\n  mov.b16 %h0, 2;\n  "
        "tcgen05.commit.cta_group::2.mbarrier::arrive::one.shared::cluster"
        ".multicast::cluster.b64 [%r5], %h0;\n";
    program.by_all = "both:\n  mbarrier.try_wait.parity.shared.b64 %p7, [%r5], 0;\n  @!%p7 bra both;\n";
    const RunResult r = run_tcgen05(program, p.image, options);
    ASSERT_TRUE(r.clean()) << PtxRunner::describe(r);
    EXPECT_EQ(difference(p.image, p.expected(), 2), "");
  }
}

}  // namespace
}  // namespace palladion::sim::testing
