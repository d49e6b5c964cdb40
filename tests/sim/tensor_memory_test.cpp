// tcgen05.ld, tcgen05.st and allocation: where registers are in tensor memory, and what is refused.
#include <bit>
#include <limits>

#include "tests/sim/tcgen05_runner.h"

namespace palladion::sim::testing {
namespace {

struct Place {
  int thread, reg;
};

// As the manual's figures show it: which register of which thread holds a lane and column.
struct FragmentShape {
  const char* name;
  int lanes, columns, registers, most;  // of one repetition; the largest .num
  Place (*place)(int lane, int column);
};
constexpr int half_split = 100;  // columns from the lower half of 16x32bx2 to the upper
const FragmentShape fragment_shapes[] = {
    {"32x32b", 32, 1, 1, 128, [](int l, int c) { return Place{l, c}; }},
    {"16x64b", 16, 2, 1, 128, [](int l, int c) { return Place{l % 8 * 4 + c % 2 * 2 + l / 8, c / 2}; }},
    {"16x128b", 16, 4, 2, 64, [](int l, int c) { return Place{l % 8 * 4 + c % 4, c / 4 * 2 + l / 8}; }},
    {"16x256b", 16, 8, 4, 32,
     [](int l, int c) { return Place{l % 8 * 4 + c % 8 / 2, c / 8 * 4 + l / 8 * 2 + c % 2}; }},
};

uint32_t value_of(int warp, const Place& p) {
  return 0x9E3779B1U * static_cast<uint32_t>(1 + warp * 8192 + p.thread * 256 + p.reg);
}

// %y of each thread: value_of its place.
std::string fill_registers(int count) {
  std::string s = "  and.b32 %r20, %r0, 31;\n  shl.b32 %r20, %r20, 8;\n  mad.lo.u32 %r20, %r2, 8192, %r20;\n";
  for (int i = 0; i < count; ++i)
    s += fmt::format("  add.u32 %r21, %r20, {};\n  mul.lo.u32 %y{}, %r21, 0x9E3779B1;\n", i + 1, i);
  return s;
}

Tcgen05Image random_tensor(uint64_t seed) {
  Tcgen05Random random(seed);
  Tcgen05Image image;
  for (auto& t : image.tensor)
    for (uint32_t& w : t) w = random.next();
  return image;
}

std::string at_lane(int lane, int column) {
  return fmt::format("  add.u32 %r22, %lanes, {};\n", lane * 65536 + column);
}

// Where a fragment's value is in the image: words, or with two columns of 16 bits a register, pairs of words.
template <class Visit>
void for_each_place(const FragmentShape& s, int repeat, Visit&& visit) {
  for (int warp = 0; warp < 4; ++warp)
    for (int lane = 0; lane < s.lanes; ++lane)
      for (int c = 0; c < s.columns * repeat; ++c) visit(warp, lane, c, s.place(lane, c));
}

void expect_store(const FragmentShape& s, int repeat, int lane, bool unpack) {
  const int column = unpack ? 8 : 4, registers = s.registers * repeat;
  Tcgen05Program p;
  p.by_all =
      fill_registers(registers) + at_lane(lane, column) +
      fmt::format("  tcgen05.st.sync.aligned.{}.x{}{}.b32 [%r22], {};\n  tcgen05.wait::st.sync.aligned;\n",
                  s.name, repeat, unpack ? ".unpack::16b" : "", tcgen05_registers("y", 0, registers));
  Tcgen05Image image = random_tensor(1), expected = image;
  for_each_place(s, repeat, [&](int warp, int l, int c, Place place) {
    const uint32_t v = value_of(warp, place);
    if (!unpack) {
      expected.at(0, 32 * warp + lane + l, column + c) = v;
      return;
    }
    expected.at(0, 32 * warp + lane + l, column + 2 * c) = v & 0xFFFF;
    expected.at(0, 32 * warp + lane + l, column + 2 * c + 1) = v >> 16;
  });
  const RunResult r = run_tcgen05(p, image);
  ASSERT_TRUE(r.clean()) << s.name << " x" << repeat << PtxRunner::describe(r);
  EXPECT_EQ(image.tensor[0], expected.tensor[0]) << s.name << " x" << repeat << " lane " << lane;
}

void expect_load(const FragmentShape& s, int repeat, int lane, bool pack) {
  const int column = 3, registers = s.registers * repeat, to = 384;
  Tcgen05Program p;
  p.by_all =
      at_lane(lane, column) +
      fmt::format("  tcgen05.ld.sync.aligned.{}.x{}{}.b32 {}, [%r22];\n  tcgen05.wait::ld.sync.aligned;\n",
                  s.name, repeat, pack ? ".pack::16b" : "", tcgen05_registers("y", 0, registers)) +
      at_lane(0, to);
  // A store for each power of two, so that any number of registers goes to the columns from `to` on.
  p.by_all +=
      fmt::format("  tcgen05.st.sync.aligned.32x32b.x{}.b32 [%r22], {};\n  tcgen05.wait::st.sync.aligned;\n",
                  registers, tcgen05_registers("y", 0, registers));
  Tcgen05Image image = random_tensor(2), expected = image;
  for_each_place(s, repeat, [&](int warp, int l, int c, Place place) {
    const int from = 32 * warp + lane + l;
    const uint32_t v =
        pack ? (image.at(0, from, column + 2 * c) & 0xFFFF) | image.at(0, from, column + 2 * c + 1) << 16
             : image.at(0, from, column + c);
    expected.at(0, 32 * warp + place.thread, to + place.reg) = v;
  });
  const RunResult r = run_tcgen05(p, image);
  ASSERT_TRUE(r.clean()) << s.name << " x" << repeat << PtxRunner::describe(r);
  EXPECT_EQ(image.tensor[0], expected.tensor[0]) << s.name << " x" << repeat << " lane " << lane;
}

TEST(TensorMemory, RegistersOfEveryShapeAreWhereTheManualHasThem) {
  for (const FragmentShape& s : fragment_shapes)
    for (int repeat = 1; repeat <= s.most; repeat *= 2) {
      expect_store(s, repeat, 0, false);
      expect_load(s, repeat, 0, false);
      if (s.lanes == 16 && repeat <= 4) expect_store(s, repeat, 16, false), expect_load(s, repeat, 16, false);
      if (2 * s.columns * repeat <= 256 && repeat <= 32)
        expect_store(s, repeat, 0, true), expect_load(s, repeat, 0, true);
    }
}

TEST(TensorMemory, TheSplitShapeHasTwoHalves) {
  Tcgen05Program p;
  p.by_all =
      at_lane(16, 2) +
      fmt::format(
          "  tcgen05.ld.sync.aligned.16x32bx2.x4.b32 {0}, [%r22], {1};\n  tcgen05.wait::ld.sync.aligned;\n",
          tcgen05_registers("y", 0, 4), half_split) +
      at_lane(0, 300) +
      fmt::format(
          "  tcgen05.st.sync.aligned.16x32bx2.x4.b32 [%r22], {1}, {0};\n  tcgen05.wait::st.sync.aligned;\n",
          tcgen05_registers("y", 0, 4), 50);
  Tcgen05Image image = random_tensor(3), expected = image;
  for (int warp = 0; warp < 4; ++warp)
    for (int l = 0; l < 16; ++l)
      for (int c = 0; c < 4; ++c) {
        expected.at(0, 32 * warp + l, 300 + c) = image.at(0, 32 * warp + 16 + l, 2 + c);
        expected.at(0, 32 * warp + l, 350 + c) = image.at(0, 32 * warp + 16 + l, 2 + half_split + c);
      }
  const RunResult r = run_tcgen05(p, image);
  ASSERT_TRUE(r.clean()) << PtxRunner::describe(r);
  EXPECT_EQ(image.tensor[0], expected.tensor[0]);
}

// Lane 0 has `values` in the columns from 0 on; what .red makes of them.
uint32_t reduced(const std::string& words, const std::string& type, const std::vector<uint32_t>& values) {
  const bool f = type == "f32";
  const int n = static_cast<int>(values.size());
  Tcgen05Program p;
  p.target = "sm_103a";
  std::string regs = "{";
  std::string declare;
  for (int i = 0; i < n; ++i) regs += fmt::format("{}{}{}", i ? ", " : "", f ? "%g" : "%y", i);
  if (f) declare = fmt::format("  .reg .f32 %g<{}>;\n", n);
  p.by_all = declare +
             fmt::format(
                 "  tcgen05.ld.red.sync.aligned.32x32b.x{}.{}.{} {}}}, {}, [%lanes];\n"
                 "  tcgen05.wait::ld.sync.aligned;\n  mov.b32 %y0, {};\n",
                 n, words, type, regs, f ? "%f0" : "%y100", f ? "%f0" : "%y100") +
             at_lane(0, 200) +
             "  tcgen05.st.sync.aligned.32x32b.x1.b32 [%r22], {%y0};\n  tcgen05.wait::st.sync.aligned;\n";
  Tcgen05Image image;
  for (int i = 0; i < n; ++i) image.at(0, 33, i) = values[static_cast<size_t>(i)];
  const RunResult r = run_tcgen05(p, image);
  EXPECT_TRUE(r.clean()) << words << PtxRunner::describe(r);
  return image.at(0, 33, 200);
}

uint32_t bits(float f) { return std::bit_cast<uint32_t>(f); }

TEST(TensorMemory, LoadsReduceTheValuesOfALane) {
  const std::vector<uint32_t> floats = {bits(1.5F), bits(-7.0F), bits(3.0F), bits(-0.0F)};
  EXPECT_EQ(reduced("min", "f32", floats), bits(-7.0F));
  EXPECT_EQ(reduced("max", "f32", floats), bits(3.0F));
  EXPECT_EQ(reduced("max.abs", "f32", floats), bits(7.0F));
  EXPECT_EQ(reduced("min.abs", "f32", floats), bits(0.0F));
  const std::vector<uint32_t> with_nan = {bits(1.0F), 0x7FC00001, bits(2.0F), bits(-1.0F)};
  EXPECT_EQ(reduced("max", "f32", with_nan), bits(2.0F));
  EXPECT_EQ(reduced("max.NaN", "f32", with_nan), 0x7FFFFFFFU);
  EXPECT_EQ(reduced("min", "u32", {5, 0xFFFFFFFF, 3, 9}), 3U);
  EXPECT_EQ(reduced("min", "s32", {5, 0xFFFFFFFF, 3, 9}), 0xFFFFFFFFU);
  EXPECT_EQ(reduced("max", "s32", {5, 0xFFFFFFFF}), 5U);
}

std::string first_code(const Tcgen05Program& p, const Statement& message) {
  Tcgen05Image image;
  const RunResult r = run_tcgen05(p, image);
  if (r.findings.empty()) return "none";
  EXPECT_EQ(r.findings[0].message, message);
  return r.findings[0].code.name();
}

// A warp names the 32 lanes that begin `behind` its first.
void expect_out_of_reach(const Tcgen05Program& p, const char* what, int behind) {
  Tcgen05Image image;
  const RunResult r = run_tcgen05(p, image);
  ASSERT_EQ(r.findings.size(), 1U);
  const Finding& f = r.findings[0];
  const int warp = f.sites[0].warp, first = 32 * (warp % 4), named = first + behind;
  EXPECT_EQ(f.code, "PLD3131");
  EXPECT_EQ(f.message, say<Phrase::lanes_not_reached>(what, warp, named, named + 31, first, first + 31));
}

TEST(TensorMemory, WhatAWarpDoesNotReachIsAFault) {
  Tcgen05Program p;
  p.by_all = at_lane(64, 0) + "  tcgen05.ld.sync.aligned.32x32b.x1.b32 {%y0}, [%r22];\n";
  expect_out_of_reach(p, "tcgen05.ld", 64);
  p.by_all = at_lane(0, 510) + "  tcgen05.ld.sync.aligned.32x32b.x4.b32 {%y0, %y1, %y2, %y3}, [%r22];\n";
  EXPECT_EQ(first_code(p, say<Phrase::columns_beyond_memory>("tcgen05.ld", 510, 513)), "PLD3130");
  p.by_all = at_lane(16, 0) + "  tcgen05.st.sync.aligned.32x32b.x1.b32 [%r22], {%y0};\n";
  expect_out_of_reach(p, "tcgen05.st", 16);
}

TEST(TensorMemory, AllocationsFollowTheirRules) {
  const auto in_warp_0 = [](const std::string& body) {
    Tcgen05Program p;
    p.by_all = "  setp.ne.u32 %p6, %r2, 0;\n  @%p6 bra skip;\n" + body + "skip:\n";
    return p;
  };
  const std::string free_all = "  tcgen05.dealloc.cta_group::1.sync.aligned.b32 %tensor, 512;\n";
  const auto alloc = [](int columns) {
    return fmt::format("  tcgen05.alloc.cta_group::1.sync.aligned.shared::cta.b32 [%r6], {};\n", columns);
  };
  for (const int columns : {96, 16, 1024})
    EXPECT_EQ(first_code(in_warp_0(free_all + alloc(columns)),
                         say<Phrase::columns_beyond_limits>("tcgen05.alloc", columns, 32, 512)),
              "PLD3132");
  EXPECT_EQ(
      first_code(in_warp_0("  tcgen05.relinquish_alloc_permit.cta_group::1.sync.aligned;\n" + alloc(32)),
                 say<Phrase::alloc_after_permit>()),
      "PLD3132");
  EXPECT_EQ(first_code(in_warp_0("  tcgen05.dealloc.cta_group::1.sync.aligned.b32 %tensor, 256;\n"),
                       say<Phrase::no_allocation>(256, 0)),
            "PLD3133");
  // Everything is allocated: another allocation waits for ever.
  Tcgen05Image image;
  const RunResult r = run_tcgen05(in_warp_0(alloc(32)), image);
  ASSERT_EQ(r.findings.size(), 1U);
  EXPECT_EQ(r.findings[0].code.name(), "PLD3080");
  EXPECT_TRUE(std::holds_alternative<Deadlock>(r.findings[0].what)) << "no warp can continue";
  // Freed columns are allocated again.
  EXPECT_EQ(first_code(in_warp_0(free_all + alloc(256) + alloc(128) + alloc(128) +
                                 "  tcgen05.dealloc.cta_group::1.sync.aligned.b32 0, 256;\n"
                                 "  tcgen05.dealloc.cta_group::1.sync.aligned.b32 256, 128;\n"
                                 "  tcgen05.dealloc.cta_group::1.sync.aligned.b32 384, 128;\n" +
                                 alloc(512)),
                       {}),
            "none");
}

}  // namespace
}  // namespace palladion::sim::testing
