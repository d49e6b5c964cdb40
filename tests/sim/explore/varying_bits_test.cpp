// Which bits of a result can vary: against the machine, which computes it of random values of the bits that
// do.
#include <fmt/format.h>
#include <gtest/gtest.h>

#include <array>
#include <random>
#include <string>
#include <vector>

#include "sim/explore/varying_bits.h"
#include "tests/sim/ptx_runner.h"

namespace palladion::tests {
namespace {

using sim::check::Bits;
using sim::testing::PtxRunner;

constexpr uint32_t cases = 400, lanes = 32;

struct Case {
  std::string instruction;  // of %x, the result, and %a, %b, %c
  int width;                // of its registers, in bits
  bool exact = false;       // all bits that are said to vary do, in most cases
};

void PrintTo(const Case& c, std::ostream* out) { *out << c.instruction; }

std::string kernel_of(const Case& c) {
  return sim::testing::ptx(fmt::format(
      R"(.visible .entry k(.param .u64 a, .param .u64 b, .param .u64 c, .param .u64 out) {{
  .reg .b{0} %a, %b, %c; .reg .b64 %x, %rd<8>; .reg .b32 %r<4>, %b32;
  mov.u32 %r0, %ctaid.x;
  mov.u32 %r1, %tid.x;
  mad.lo.u32 %r0, %r0, {1}, %r1;
  mul.wide.u32 %rd4, %r0, 8;
  ld.param.u64 %rd0, [a];
  ld.param.u64 %rd1, [b];
  ld.param.u64 %rd2, [c];
  ld.param.u64 %rd3, [out];
  add.u64 %rd0, %rd0, %rd4;
  add.u64 %rd1, %rd1, %rd4;
  add.u64 %rd2, %rd2, %rd4;
  add.u64 %rd3, %rd3, %rd4;
  ld.global.b{0} %a, [%rd0];
  ld.global.b{0} %b, [%rd1];
  ld.global.b{0} %c, [%rd2];
  ld.global.b32 %b32, [%rd1];
  mov.b64 %x, 0;
  {{
    .reg .b{0} %y;
    {2}
  }}
  st.global.u64 [%rd3], %x;
  ret;
}})",
      c.width, lanes, c.instruction));
}

// Masks as shifts and alignments leave them, and any.
uint64_t some_mask(std::mt19937_64& random, int width) {
  const uint64_t all = width == 64 ? ~uint64_t{0} : (uint64_t{1} << width) - 1;
  switch (random() % 4) {
    case 0:
      return 0;
    case 1:
      return all << (random() % static_cast<uint64_t>(width)) & all;
    case 2:
      return (all >> (random() % static_cast<uint64_t>(width))) & (all << (random() % 8)) & all;
    default:
      return random() & random() & all;
  }
}

class VaryingBits : public testing::TestWithParam<Case> {};

TEST_P(VaryingBits, others_are_the_same_for_all_values_of_those_that_vary) {
  const Case& c = GetParam();
  const std::string text = kernel_of(c);
  PtxRunner runner(text);
  std::mt19937_64 random(std::hash<std::string>{}(c.instruction));
  std::vector<uint64_t> values[3], out(size_t{cases} * lanes);
  std::vector<std::array<Bits, 4>> operands(cases);
  for (auto& bits : operands)
    for (size_t k = 0; k < 3; ++k) {
      // Amounts and factors are mostly small, and do not vary.
      const bool fixed = k > 0 && random() % 4 != 0;
      const uint64_t mask = fixed ? 0 : some_mask(random, c.width);
      const uint64_t base = k > 0 && random() % 2 != 0 ? random() % 40 : random();
      bits[k + 1] = mask == 0 ? Bits::constant(base) : Bits::varying(mask);
      for (uint32_t lane = 0; lane < lanes; ++lane) values[k].push_back((base & ~mask) | (random() & mask));
    }
  runner.array(values[0]).array(values[1]).array(values[2]).array(out);
  runner.shape({cases, 1, 1}, {lanes, 1, 1}).run_clean();

  const std::string op = c.instruction.substr(0, c.instruction.find('.'));
  const isa::Instruction* instruction = nullptr;
  for (const auto& i : runner.launch.module->functions[0].body)
    if (i.op->name == op) instruction = &i;
  ASSERT_NE(instruction, nullptr);
  uint32_t kept_apart = 0, exact = 0;
  for (uint32_t i = 0; i < cases; ++i) {
    const uint64_t vary = sim::check::varying_bits(*instruction, operands[i]);
    uint64_t seen = 0;
    for (uint32_t lane = 0; lane < lanes; ++lane)
      seen |= out[size_t{i} * lanes + lane] ^ out[size_t{i} * lanes];
    EXPECT_EQ(seen & ~vary, 0U) << fmt::format("case {}: {:x} vary, {:x} may", i, seen, vary);
    kept_apart += vary != ~uint64_t{0} ? 1 : 0;
    exact += seen == vary ? 1 : 0;
  }
  EXPECT_GT(kept_apart, cases / 4);
  // A bit of which another one decides whether it counts may vary, and does not in few values.
  EXPECT_GT(exact, c.exact ? cases * 3 / 4 : 0);
}

INSTANTIATE_TEST_SUITE_P(
    Instructions, VaryingBits,
    testing::Values(Case{"and.b64 %x, %a, %b;", 64, true}, Case{"or.b64 %x, %a, %b;", 64, true},
                    Case{"xor.b64 %x, %a, %b;", 64, true}, Case{"not.b64 %x, %a;", 64, true},
                    Case{"shl.b32 %y, %a, %b32; cvt.u64.u32 %x, %y;", 32}, Case{"shr.u64 %x, %a, %b32;", 64},
                    Case{"shr.s64 %x, %a, %b32;", 64}, Case{"shr.s32 %y, %a, %b32; cvt.u64.u32 %x, %y;", 32},
                    Case{"add.u64 %x, %a, %b;", 64}, Case{"sub.u64 %x, %a, %b;", 64},
                    Case{"mul.lo.u64 %x, %a, %b;", 64}, Case{"mad.lo.u64 %x, %a, %b, %c;", 64},
                    Case{"cvt.u64.u32 %x, %a;", 32, true}, Case{"cvt.s64.s32 %x, %a;", 32},
                    Case{"cvt.u32.u64 %b32, %a; mov.b64 %x, {%b32, 0};", 64}));

// Bits that other instructions make of those that vary may all do.
TEST(VaryingBits, all_bits_of_other_results_vary) {
  const std::string text = sim::testing::ptx(R"(.visible .entry k() {
  .reg .b32 %r<4>; .reg .b64 %rd<2>; .reg .f32 %f<3>; .reg .pred %p;
  mul.hi.u32 %r0, %r1, %r2;
  mul.wide.u32 %rd0, %r1, %r2;
  mad.lo.cc.u32 %r0, %r1, %r2, %r3;
  add.f32 %f0, %f1, %f2;
  add.sat.s32 %r0, %r1, %r2;
  cvt.rn.f32.u32 %f0, %r1;
  cvt.sat.u8.u32 %r0, %r1;
  lop3.b32 %r0, %r1, %r2, %r3, 0x80;
  popc.b32 %r0, %r1;
  setp.eq.u32 %p, %r1, %r2;
  ret;
})");
  PtxRunner runner(text);
  const std::array<Bits, 4> operands{Bits{}, Bits::varying(2), Bits::constant(1), Bits::constant(0)};
  uint32_t asked = 0;
  for (const auto& i : runner.launch.module->functions[0].body) {
    if (i.op->name == "ret") continue;
    const bool carries = i.op->name == "mad";  // the carry is judged by who asks
    EXPECT_EQ(sim::check::varying_bits(i, operands), carries ? ~uint64_t{1} : ~uint64_t{0}) << i.form->text;
    ++asked;
  }
  EXPECT_EQ(asked, 10U);
}

}  // namespace
}  // namespace palladion::tests
