// tcgen05.mma and tcgen05.cp that PTX does not allow: each is refused by its code.
#include <gmock/gmock.h>

#include "tests/sim/tcgen05_product.h"

namespace palladion::sim::testing {
namespace {

using ::testing::HasSubstr;

Finding finding_of(Product& p, const Tcgen05Program& program) {
  const RunResult r = run_tcgen05(program, p.image);
  EXPECT_EQ(r.findings.size(), 1U) << PtxRunner::describe(r);
  return r.findings.empty() ? Finding{} : r.findings[0];
}
void expect_refused(const ProductCase& c, const std::string& code, const char* text) {
  Product p(c);
  const Finding f = finding_of(p, p.program());
  EXPECT_EQ(f.code.name(), code) << reason_of(f);
  EXPECT_THAT(reason_of(f), HasSubstr(text));
}

TEST(Tcgen05, ImpossibleDescriptorsSayWhat) {
  expect_refused({.n = 264}, "PLD3134", "N is a multiple of 8");
  expect_refused({.m = 256, .n = 24, .ctas = 2}, "PLD3134",
                 "N is a multiple of 16 up to 256 with .cta_group::2");
  expect_refused({.m = 64, .n = 72, .ws = true}, "PLD3134", "N is 64, 128 or 256 with .ws, not 72");
  expect_refused({.a_type = "f16", .b_type = "bf16"}, "PLD3134", "A and B are both f16 or both bf16");
  expect_refused({.kind = Tcgen05Kind::i8, .a_type = "s8", .b_type = "s8", .d_type = "f32", .n = 32},
                 "PLD3134", "D is s32");
  expect_refused(
      {.kind = Tcgen05Kind::mxf8f6f4, .a_type = "e4m3", .b_type = "e4m3", .m = 64, .scale_vectors = 1},
      "PLD3134", "M is 128 with .cta_group::1 and .kind::mxf8f6f4");
  expect_refused(
      {.kind = Tcgen05Kind::mxf4, .a_type = "e2m1", .b_type = "e2m1", .scale_vectors = 2, .a_id = 1},
      "PLD3134", "byte 0 or 2 of a column with .scale_vec::2X, not 1");
  expect_refused({.kind = Tcgen05Kind::i8,
                  .a_type = "s8",
                  .b_type = "s8",
                  .d_type = "s32",
                  .n = 32,
                  .sparse = true,
                  .selector = 1},
                 "PLD3134", "the sparsity selector (bits 0 and 1) is 0 with .kind::i8");
}

// A product whose descriptor of an operand, or of the instruction, has other bits.
struct Flipped {
  Finding finding;
  uint64_t descriptor;
};
Flipped with_flipped(size_t value, uint64_t bits) {
  Product p({});
  Tcgen05Program program = p.program();
  program.values[value] ^= bits;
  return {finding_of(p, program), program.values[value]};
}

TEST(Tcgen05, BitsThatAreNoMatrixDescriptorAreNamed) {
  const auto of_operand = [](size_t value, uint64_t bits, const char* operand) {
    const Flipped f = with_flipped(value, bits);
    EXPECT_EQ(f.finding.code, "PLD3135");
    const Statement& message = f.finding.message;
    ASSERT_EQ(message.phrase, Phrase::no_matrix_descriptor);
    const auto seen = static_cast<uint64_t>(std::get<int64_t>(message.values.at(1)));
    EXPECT_EQ(seen >> 14, f.descriptor >> 14) << "below is the start, to which the kernel adds its own";
    EXPECT_EQ(message, say<Phrase::no_matrix_descriptor>("tcgen05.mma", seen, operand));
  };
  of_operand(0, uint64_t{1} << 46, "A");
  of_operand(1, uint64_t{3} << 61, "B");
  of_operand(1, uint64_t{1} << 55, "B");
  const auto of_instruction = [](uint64_t bits, const char* text) {
    const Flipped f = with_flipped(2, bits);
    EXPECT_EQ(f.finding.code, "PLD3134");
    EXPECT_EQ(f.finding.message,
              say<Phrase::bad_instruction_descriptor>("tcgen05.mma", f.descriptor, reason_of(f.finding)));
    EXPECT_THAT(reason_of(f.finding), HasSubstr(text));
  };
  of_instruction(4, "bit 2 (sparse) differs from the instruction's .sp");
  of_instruction(7U << 7, "A (bits 7 to 9)");
  of_instruction(24U << 24, "M is 64 or 128 with .cta_group::1 and .kind::f16, not 256");
}

TEST(Tcgen05, CopiesThatDifferAreAFault) {
  const ProductCase scaled{
      .kind = Tcgen05Kind::mxf8f6f4, .a_type = "e4m3", .b_type = "e4m3", .scale_vectors = 1};
  // A bit of what `lane` holds differs from what lane `first` does.
  const auto with = [](const ProductCase& c, int cta, int first, int lane, int column, const char* what,
                       const char* operand) {
    Product p(c);
    p.image.at(cta, lane, column) ^= 1;
    const Finding f = finding_of(p, p.program());
    EXPECT_EQ(f.code, "PLD3139");
    EXPECT_EQ(f.message, say<Phrase::copies_differ>(what, operand, first, lane, column));
  };
  with(scaled, 0, 5, 37, scale_a_column + 1, "scales", "A");
  with(scaled, 0, 4, 100, scale_b_column, "scales", "B");
  with({.m = 128, .ctas = 2, .a_in_tensor = true}, 1, 6, 70, a_column, "rows", "A");
  ProductCase pair = scaled;
  pair.m = 128, pair.ctas = 2;
  with(pair, 0, 64, 96, scale_b_column, "scales", "B");
  // Bytes that the instruction does not name may differ.
  Product p(scaled);
  p.image.at(0, 37, scale_a_column) ^= 0xFF00;
  EXPECT_TRUE(p.run().clean());
}

TEST(Tcgen05, UndefinedMetadataAndWhatIsNotModelledAreNamed) {
  Product p({.sparse = true});
  p.image.at(0, 0, metadata_column) = 0x44444440;
  const Finding f = finding_of(p, p.program());
  EXPECT_EQ(f.code, "PLD3066");
  EXPECT_EQ(f.message, say<Phrase::undefined_nibble>(0, 0, 0, metadata_column, 0, 3));
  EXPECT_EQ(f.help, say<Phrase::nibbles_of_pairs>());
  Product k96({.kind = Tcgen05Kind::mxf4, .a_type = "e2m1", .b_type = "e2m1", .scale_vectors = 2});
  Tcgen05Program program = k96.program();
  program.values[2] |= uint64_t{1} << 31;
  EXPECT_EQ(finding_of(k96, program).severity, FindingSeverity::unsupported);
  Product half({.m = 64, .sparse = true});
  EXPECT_EQ(finding_of(half, half.program()).severity, FindingSeverity::unsupported);
}

TEST(Tcgen05, OneThreadIssues) {
  Product p({});
  Tcgen05Program program = p.program();
  program.by_all = "  tcgen05.commit.cta_group::1.mbarrier::arrive::one.shared::cluster.b64 [%r5];\n";
  const Finding f = finding_of(p, program);
  EXPECT_EQ(f.code, "PLD3137");
  EXPECT_EQ(f.message, say<Phrase::by_several_threads>("tcgen05.commit", 32));
}

TEST(Tcgen05, APairNeedsACluster) {
  Product p({});
  Tcgen05Program program = p.program();
  program.by_all = "  tcgen05.cp.cta_group::2.128x128b [%tensor], %v0;\n";
  program.by_all = "  setp.ne.u32 %p6, %r0, 0;\n  @%p6 bra skip;\n" + program.by_all + "skip:\n";
  EXPECT_EQ(finding_of(p, program).code, "PLD3136");
}

}  // namespace
}  // namespace palladion::sim::testing
