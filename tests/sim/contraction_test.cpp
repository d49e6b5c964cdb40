// Which products and sums become one fma (sim/program/contraction/contract.h).
#include <fmt/format.h>

#include <bit>
#include <cmath>
#include <fstream>
#include <sstream>

#include "sim/program/compile/compile.h"
#include "tests/sim/ptx_runner.h"

namespace palladion::sim {
namespace {

using testing::ptx;
using testing::PtxRunner;

constexpr int inputs = 10;

// Between 1 and 2, with bits to round away.
uint32_t input(uint64_t i) {
  return 0x3f800000U | static_cast<uint32_t>((i + 1) * 2654435761U >> 9 & 0x7fffff);
}

// `body` computes %f registers from the inputs %v0 to %v9 and the parameter %q, which is the second input;
// the bits of `outputs` after it.
std::vector<uint32_t> run(const std::string& body, const std::vector<std::string>& outputs,
                          bool fmad = true) {
  std::string text =
      ".visible .entry k(.param .u64 p, .param .f32 q) {\n.reg .f32 %f<64>; .reg .f32 %v<16>; .reg .f32 %q; "
      ".reg .pred %p<4>; .reg .b64 %rd<2>; .reg .b32 %r<2>;\nld.param.u64 %rd0, [p];\nld.param.f32 %q, "
      "[q];\n";
  for (int i = 0; i < inputs; ++i) text += fmt::format("ld.global.f32 %v{}, [%rd0+{}];\n", i, 4 * i);
  text += body + "\n";
  for (size_t i = 0; i < outputs.size(); ++i)
    text += fmt::format("st.global.f32 [%rd0+{}], {};\n", 256 + 4 * i, outputs[i]);
  std::vector<uint32_t> array(128);
  for (uint64_t i = 0; i < inputs; ++i) array[i] = input(i);
  PtxRunner runner(ptx(text + "ret;\n}\n"));
  runner.shape({1, 1, 1}, {1, 1, 1}).array(array).scalar(std::bit_cast<float>(input(1)));
  RunOptions options;
  options.fmad = fmad;
  runner.run_clean(options);
  return {array.begin() + 64, array.begin() + 64 + static_cast<ptrdiff_t>(outputs.size())};
}

uint32_t fma(int a, int b, int c, float sign = 1) {
  const auto v = [](int i) { return std::bit_cast<float>(input(static_cast<uint64_t>(i))); };
  return std::bit_cast<uint32_t>(std::fma(sign * v(a), v(b), v(c)));
}
uint32_t two_roundings(int a, int b, int c) {
  const auto v = [](int i) { return std::bit_cast<float>(input(static_cast<uint64_t>(i))); };
  volatile float product = v(a) * v(b);
  return std::bit_cast<uint32_t>(product + v(c));
}

// Three inputs for which the two differ.
constexpr int factor_a = 0, factor_b = 1;
int addend() {
  for (int c = 2; c < inputs; ++c)
    if (fma(factor_a, factor_b, c) != two_roundings(factor_a, factor_b, c)) return c;
  ADD_FAILURE() << "no inputs that show the rounding";
  return 2;
}

// Random programs with the bits of an H200: the driver's compiler and ptxas 13.0 gave the same.
TEST(Contraction, RandomProgramsRoundAsOnTheDevice) {
  std::ifstream file(PLD_SOURCE_DIR "/tests/sim/contraction_cases.txt");
  int programs = 0;
  for (std::string line; std::getline(file, line); ++programs) {
    const size_t bar = line.find(" | ");
    std::istringstream words(line.substr(bar + 3));
    std::vector<std::string> registers, bits;
    for (std::string word; words >> word;) {
      registers.push_back(word.substr(0, word.find('=')));
      bits.push_back(word.substr(word.find('=') + 1));
    }
    const std::vector<uint32_t> got = run(line.substr(0, bar), registers);
    for (size_t i = 0; i < bits.size(); ++i)
      EXPECT_EQ(fmt::format("{:08x}", got[i]), bits[i]) << registers[i] << " of " << line;
  }
  EXPECT_GT(programs, 100);
}

struct Case {
  std::string what, body;
  bool contracted;
};

// `c`: the register that is added.
std::vector<Case> words_and_places(const std::string& c) {
  return {
      {"one use", "mul.f32 %f0, %v0, %v1; add.f32 %f1, %f0, " + c + ";", true},
      {"a rounding at the product", "mul.rn.f32 %f0, %v0, %v1; add.f32 %f1, %f0, " + c + ";", false},
      {"a rounding at the sum", "mul.f32 %f0, %v0, %v1; add.rn.f32 %f1, %f0, " + c + ";", false},
      {"both flush", "mul.ftz.f32 %f0, %v0, %v1; add.ftz.f32 %f1, %f0, " + c + ";", true},
      {"one flushes", "mul.ftz.f32 %f0, %v0, %v1; add.f32 %f1, %f0, " + c + ";", false},
      {"a copy", "mul.f32 %f0, %v0, %v1; mov.f32 %f2, %f0; add.f32 %f1, %f2, " + c + ";", true},
      {"a label that nothing jumps to", "mul.f32 %f0, %v0, %v1; L: add.f32 %f1, %f0, " + c + ";", true},
      {"a barrier", "mul.f32 %f0, %v0, %v1; bar.sync 0; add.f32 %f1, %f0, " + c + ";", true},
      {"a fence", "mul.f32 %f0, %v0, %v1; membar.gl; add.f32 %f1, %f0, " + c + ";", false},
      {"a quotient with a slow path",
       "mul.f32 %f0, %v0, %v1; div.rn.f32 %f2, %v2, %v3; add.f32 %f1, %f0, " + c +
           "; st.global.f32 [%rd0+508], %f2;",
       false},
      {"another block",
       "setp.gt.f32 %p0, %v2, %v2; mul.f32 %f0, %v0, %v1; @%p0 bra L; st.global.f32 [%rd0+508], %v1; L: "
       "add.f32 "
       "%f1, %f0, " +
           c + ";",
       false},
      {"a guarded store",
       "setp.gt.f32 %p0, %v2, %v2; mul.f32 %f0, %v0, %v1; @%p0 st.global.f32 [%rd0+508], %v1; add.f32 %f1, "
       "%f0, " +
           c + ";",
       false},
      {"a guarded load",
       "setp.gt.f32 %p0, %v2, %v2; mul.f32 %f0, %v0, %v1; mov.f32 %f2, " + c +
           "; @%p0 ld.global.f32 %f2, [%rd0]; add.f32 %f1, %f0, %f2;",
       false},
      {"a guarded computation",
       "setp.gt.f32 %p0, %v2, %v2; mul.f32 %f0, %v0, %v1; mov.f32 %f2, " + c +
           "; @%p0 max.f32 %f2, %v3, %v4; add.f32 %f1, %f0, %f2;",
       true},
      {"a quotient of .s32",
       "mov.b32 %r0, 7; mul.f32 %f0, %v0, %v1; div.s32 %r1, %r0, 3; add.f32 %f1, %f0, " + c +
           "; st.global.b32 [%rd0+508], %r1;",
       false},
      {"a quotient of .u32",
       "mov.b32 %r0, 7; mul.f32 %f0, %v0, %v1; div.u32 %r1, %r0, 3; add.f32 %f1, %f0, " + c +
           "; st.global.b32 [%rd0+508], %r1;",
       true},
      {"a guarded sum",
       "setp.eq.f32 %p0, %v2, %v2; mov.f32 %f1, %v3; mul.f32 %f0, %v0, %v1; @%p0 add.f32 %f1, %f0, " + c +
           ";",
       true},
      {"a guarded product",
       "setp.eq.f32 %p0, %v2, %v2; mov.f32 %f0, %v3; @%p0 mul.f32 %f0, %v0, %v1; add.f32 %f1, %f0, " + c +
           ";",
       false},
      {"the product is stored",
       "mul.f32 %f0, %v0, %v1; add.f32 %f1, %f0, " + c + "; st.global.f32 [%rd0+508], %f0;", false},
      {"the product is read, by what nothing reads",
       "mul.f32 %f0, %v0, %v1; add.f32 %f1, %f0, " + c + "; sqrt.approx.f32 %f2, %f0;", true},
      {"the sum overwrites the product",
       "mul.f32 %f0, %v0, %v1; add.f32 %f0, %f0, " + c + "; mov.f32 %f1, %f0;", true},
  };
}

TEST(Contraction, WordsAndPlacesDecide) {
  for (const Case& k : words_and_places(fmt::format("%v{}", addend()))) {
    const uint32_t got = run(k.body, {"%f1"}).front();
    EXPECT_EQ(got,
              k.contracted ? fma(factor_a, factor_b, addend()) : two_roundings(factor_a, factor_b, addend()))
        << k.what;
    EXPECT_EQ(run(k.body, {"%f1"}, false).front(), two_roundings(factor_a, factor_b, addend()))
        << k.what << ", --fmad false";
  }
}

// --- products with a constant factor
const std::string imm = fmt::format("0f{:08X}", input(1));
const std::string product = "mul.f32 %f0, %v0, " + imm + "; ";
const std::string sum = fmt::format("add.f32 %f1, %f0, %v{}; ", addend());
const std::string test = "setp.gt.f32 %p0, %v2, %v2; ";
const std::string branch = test + "@%p0 bra L; ";
const std::string other = "st.global.f32 [%rd0+508], %v1; ";
std::string loop(const std::string& body) {
  return "mov.b32 %r0, 0; M: " + body + "add.u32 %r0, %r0, 1; setp.lt.u32 %p1, %r0, 3; @%p1 bra M; ";
}

std::vector<Case> constant_factors() {
  return {
      {"an immediate", product + branch + other + "L: " + sum, true},
      {"a parameter", "mul.f32 %f0, %v0, %q; " + branch + other + "L: " + sum, true},
      {"a negated parameter",
       "neg.f32 %f2, %q; mul.f32 %f3, %v0, %f2; neg.f32 %f0, %f3; " + branch + other + "L: " + sum, true},
      {"a constant in a register",
       "mov.f32 %f2, " + imm + "; mul.f32 %f0, %v0, %f2; " + branch + other + "L: " + sum, true},
      {"behind a fence", product + "membar.gl; " + sum, true},
      {"through copies",
       "mul.f32 %f4, %v0, " + imm + "; mov.f32 %f5, %f4; " + branch + other + "L: mov.f32 %f0, %f5; " + sum,
       true},
      {"sums in two blocks",
       product + branch + "add.f32 %f2, %f0, %v3; st.global.f32 [%rd0+508], %f2; L: " + sum, true},
      {"stored in another block", product + branch + other + "L: st.global.f32 [%rd0+508], %f0; " + sum,
       false},
      {"a sum in a loop behind it", product + loop(sum), true},
      {"both in a loop", loop(product + test + "@%p0 bra L; " + other + "L: " + sum), true},
      {"what a loop leaves behind", loop(product + "st.global.f32 [%rd0+508], %v1; ") + sum, false},
      {"a factor that two ways bring",
       "mov.f32 %f2, %v0; " + test + "@%p0 bra K; mov.f32 %f2, %v0; " + other + "K: mul.f32 %f0, %f2, " +
           imm + "; @%p0 bra L; " + other + "L: " + sum,
       true},
      {"what a loop leaves in a factor",
       "mov.f32 %f2, %v3; " + loop("mov.f32 %f2, %v0; ") + "mul.f32 %f0, %f2, " + imm + "; " + branch +
           other + "L: " + sum,
       true},
      {"a factor that is written again on one way",
       "mov.f32 %f2, %v0; mul.f32 %f0, %f2, " + imm + "; " + branch +
           "mov.f32 %f2, %v3; st.global.f32 [%rd0+508], %f2; L: " + sum,
       false},
      {"a factor that is written again before the sum",
       "mov.f32 %f2, %v0; mul.f32 %f0, %f2, " + imm + "; " + branch + other +
           "L: mov.f32 %f2, %v3; st.global.f32 [%rd0+508], %f2; " + sum,
       false},
      {"a factor that is written again in the same block",
       "max.f32 %f2, %v0, %v0; mul.f32 %f0, %f2, " + imm +
           "; mov.f32 %f2, %v3; st.global.f32 [%rd0+508], %f2; " + sum,
       false},
      {"a factor that a copy keeps",
       "mov.f32 %f2, %v0; mul.f32 %f0, %f2, " + imm + "; mov.f32 %f3, %f2; mov.f32 %f2, %v3; " +
           "st.global.f32 [%rd0+508], %f2; st.global.f32 [%rd0+504], %f3; " + sum,
       true},
      {"one of two products",
       "mul.f32 %f0, %v3, " + imm + "; " + branch + "mul.f32 %f0, %v0, " + imm + "; L: " + sum, false},
  };
}

// With a factor that takes no register the sum may stand in another block. The SASS of ptxas 13.0 for sm_90a
// has these fused multiply-adds.
TEST(Contraction, ProductsWithAConstantFactorGoIntoOtherBlocks) {
  for (const Case& k : constant_factors())
    EXPECT_EQ(run(k.body, {"%f1"}).front(),
              k.contracted ? fma(factor_a, factor_b, addend()) : two_roundings(factor_a, factor_b, addend()))
        << k.what;
}

// The SASS of ptxas 13.0: an immediate divisor becomes a factor, FFMA R7, R0, 0.318, R5; another one an FMUL
// and an FADD.
TEST(Contraction, QuotientsGoIntoOtherBlocksIfTheDivisorIsANumber) {
  const auto differs = [](const std::string& quotient) {
    std::string body =
        "setp.gt.f32 %p0, %v2, %v2; " + quotient + " @%p0 bra L; st.global.f32 [%rd0+508], %v1; L: ";
    std::vector<std::string> sums;
    for (int i = 0; i < inputs; ++i) {
      sums.push_back(fmt::format("%f{}", 10 + i));
      body += fmt::format("add.f32 {}, %f0, %v{}; ", sums.back(), i);
    }
    return run(body, sums) != run(body, sums, false);
  };
  EXPECT_TRUE(differs("div.full.f32 %f0, %v0, 0f40490FDB;"));
  EXPECT_TRUE(differs("mov.f32 %f1, 0f40490FDB; div.approx.f32 %f0, %v0, %f1;"));
  EXPECT_FALSE(differs("div.full.f32 %f0, %v0, %q;"));
  EXPECT_FALSE(differs("div.full.f32 %f0, %q, %v0;"));
  EXPECT_FALSE(differs("div.full.f32 %f0, 0f40490FDB, %v0;"));
}

// ptxas 13.0 for sm_100a makes an FFMA2 of a product and a sum of f32x2 of one rounding, named or not,
// also with --fmad=false; of other roundings or .ftz it makes an FMUL2 and an FADD2.
TEST(Contraction, PairsOfF32AreContractedWhateverTheySay) {
  const auto run_pair = [](const std::string& mul, const std::string& add, bool fmad, int c = addend()) {
    const auto at = [](int i) { return input(static_cast<uint64_t>(i)); };
    std::vector<uint32_t> array{at(factor_a), at(5), at(factor_b), at(6), at(c), at(7), 0, 0};
    PtxRunner runner(
        ".version 8.6\n.target sm_100a\n.address_size 64\n.visible .entry k(.param .u64 p) {\n"
        ".reg .b64 %rd<6>;\nld.param.u64 %rd0, [p];\nld.global.b64 %rd1, [%rd0];\nld.global.b64 %rd2, "
        "[%rd0+8];\n"
        "ld.global.b64 %rd3, [%rd0+16];\n" +
            mul + ".f32x2 %rd4, %rd1, %rd2;\n" + add +
            ".f32x2 %rd5, %rd4, %rd3;\nst.global.b64 [%rd0+24], %rd5;\nret;\n}\n",
        *isa::find_arch("b200"));
    runner.shape({1, 1, 1}, {1, 1, 1}).array(array);
    RunOptions options;
    options.fmad = fmad;
    runner.run_clean(options);
    return array[6];
  };
  const uint32_t one = fma(factor_a, factor_b, addend()), two = two_roundings(factor_a, factor_b, addend());
  ASSERT_NE(one, two);
  for (const bool fmad : {true, false}) {
    EXPECT_EQ(run_pair("mul", "add", fmad), one);
    EXPECT_EQ(run_pair("mul.rn", "add.rn", fmad), one);
    EXPECT_EQ(run_pair("mul.rn", "add", fmad), one);
    EXPECT_EQ(run_pair("mul.ftz", "add.ftz", fmad), one);
    EXPECT_EQ(run_pair("mul.ftz", "add", fmad), two);
  }
  // Products of inputs and differences from inputs are exact in a double.
  const auto v = [](int i) { return double{std::bit_cast<float>(input(static_cast<uint64_t>(i)))}; };
  const auto toward_zero = [](double x) {
    const auto f = static_cast<float>(x);
    return std::abs(double{f}) > std::abs(x) ? std::nextafter(f, 0.0F) : f;
  };
  int telling = 0;
  for (int c = 2; c < inputs; ++c) {
    const float once = toward_zero(v(factor_a) * v(factor_b) - v(c)),
                twice = toward_zero(toward_zero(v(factor_a) * v(factor_b)) - v(c));
    EXPECT_EQ(run_pair("mul.rz", "sub.rz", true, c), std::bit_cast<uint32_t>(once));
    telling += once != twice;
  }
  EXPECT_GT(telling, 0);
  EXPECT_EQ(
      run_pair("mul", "add.rz", true),
      std::bit_cast<uint32_t>(toward_zero(static_cast<float>(v(factor_a) * v(factor_b)) + v(addend()))));
}

// The product of one pass and the sum of the next: ptxas contracts some, if it unrolls the loop.
TEST(Contraction, SumsOfALaterPassAreCounted) {
  const auto count = [](const std::string& pragma) {
    const auto module = isa::parse(ptx(
        ".visible .entry k(.param .u64 p) {\n.reg .f32 %f<4>; .reg .b64 %rd<1>; .reg .b32 %r<1>; .reg .pred "
        "%p<1>;\nld.param.u64 %rd0, [p];\nld.global.f32 %f0, [%rd0];\nmov.f32 %f1, %f0; mov.f32 %f2, %f0; "
        "mov.u32 %r0, 0;\nL:\n" +
        pragma +
        "add.f32 %f1, %f1, %f2;\nld.global.f32 %f3, [%rd0+4];\nmul.f32 %f2, %f0, %f3;\nadd.u32 %r0, %r0, 1;\n"
        "setp.lt.u32 %p0, %r0, 100;\n@%p0 bra L;\nst.global.f32 [%rd0], %f1;\nret;\n}\n"));
    const auto program = compile(*module, *module->find_entry("k"), isa::default_arch(), {});
    return program->sums_across_passes;
  };
  EXPECT_EQ(count(""), 1U);
  EXPECT_EQ(count(".pragma \"nounroll\";\n"), 0U) << "ptxas does not unroll it";
}

}  // namespace
}  // namespace palladion::sim
