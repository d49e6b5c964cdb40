// wmma.load, wmma.mma and wmma.store against what an H200 gave for the same bytes (tests/device/wmma.txt).
#include <fmt/format.h>
#include <gmock/gmock.h>

#include <fstream>
#include <sstream>

#include "isa/formats/wmma_fragments.h"
#include "tests/sim/ptx_runner.h"

namespace palladion::sim::testing {
namespace {

// A row: the instruction, its shape, the types of D, A, B, C, the layouts of A and B, and the bytes of A, B,
// C, D.
struct Case {
  std::string instruction, shape, d, a, b, c, a_layout, b_layout;
  std::vector<uint8_t> bytes[4];
  int m = 0, n = 0, k = 0;
};

std::vector<uint8_t> from_hex(const std::string& text) {
  std::vector<uint8_t> bytes(text.size() / 2);
  for (size_t i = 0; i < bytes.size(); ++i)
    bytes[i] = static_cast<uint8_t>(std::stoi(text.substr(2 * i, 2), nullptr, 16));
  return bytes;
}

std::vector<Case> recorded() {
  std::ifstream file(PLD_SOURCE_DIR "/tests/device/wmma.txt");
  std::vector<Case> all;
  for (std::string line; std::getline(file, line);) {
    if (line.empty() || line[0] == '#') continue;
    std::istringstream words(line);
    Case c;
    words >> c.instruction >> c.shape >> c.d >> c.a >> c.b >> c.c >> c.a_layout >> c.b_layout;
    for (auto& bytes : c.bytes) {
      std::string hex;
      words >> hex;
      bytes = from_hex(hex);
    }
    std::sscanf(c.shape.c_str(), "m%dn%dk%d", &c.m, &c.n, &c.k);
    all.push_back(std::move(c));
  }
  return all;
}

isa::Type type_of(const std::string& name) { return *isa::type_named(name); }

std::string registers(const std::string& name, int count) {
  std::string list;
  for (int i = 0; i < count; ++i) list += fmt::format("{}%{}{}", i == 0 ? "" : ", ", name, i);
  return "{" + list + "}";
}

int count_of(const Case& c, isa::WmmaMatrix matrix, const std::string& type) {
  return isa::wmma::registers(matrix, c.m, c.n, c.k, type_of(type));
}

std::string declared(const std::string& name, const std::string& type) {
  const std::string reg = type == "f32" || type == "f64" ? type : "b32";
  return fmt::format(".reg .{} %{}<16>;\n", reg, name);
}

// `c_layout`: of C and D in memory.
std::string ptx_of(const Case& c, const std::string& c_layout = "row") {
  using M = isa::WmmaMatrix;
  const auto load = [&](const char* matrix, const std::string& layout, const std::string& type, M which,
                        int address) {
    const isa::wmma::Size s = isa::wmma::size_of(which, c.m, c.n, c.k);
    return fmt::format("wmma.load.{}.sync.aligned.{}.{}.global.{} {}, [%rd{}], {};\n", matrix, layout,
                       c.shape, type, registers(matrix, count_of(c, which, type)), address,
                       layout == "row" ? s.cols : s.rows);
  };
  std::string text =
      ".version 8.3\n.target sm_90a\n.address_size 64\n"
      ".visible .entry k(.param .u64 pa, .param .u64 pb, .param .u64 pc, .param .u64 pd) {\n.reg .b64 "
      "%rd<5>;\n";
  text += declared("a", c.a) + declared("b", c.b) + declared("c", c.c) + declared("d", c.d);
  text +=
      "ld.param.u64 %rd1, [pa];\nld.param.u64 %rd2, [pb];\nld.param.u64 %rd3, [pc];\nld.param.u64 %rd4, "
      "[pd];\n";
  text += load("a", c.a_layout, c.a, M::a, 1) + load("b", c.b_layout, c.b, M::b, 2) +
          load("c", c_layout, c.c, M::c, 3);
  text += fmt::format("{} {}, {}, {}, {};\n", c.instruction, registers("d", count_of(c, M::c, c.d)),
                      registers("a", count_of(c, M::a, c.a)), registers("b", count_of(c, M::b, c.b)),
                      registers("c", count_of(c, M::c, c.c)));
  text += fmt::format("wmma.store.d.sync.aligned.{}.{}.global.{} [%rd4], {}, {};\nret;\n}}\n", c_layout,
                      c.shape, c.d, registers("d", count_of(c, M::c, c.d)), c_layout == "row" ? c.n : c.m);
  return text;
}

TEST(Wmma, ProductsHaveTheBitsOfAnH200) {
  const std::vector<Case> all = recorded();
  ASSERT_GT(all.size(), 50U);
  for (const Case& c : all) {
    std::vector<uint8_t> a = c.bytes[0], b = c.bytes[1], in = c.bytes[2], out(c.bytes[3].size());
    const RunResult r = PtxRunner(ptx_of(c)).array(a).array(b).array(in).array(out).run();
    ASSERT_TRUE(r.clean()) << c.instruction << '\n' << PtxRunner::describe(r);
    EXPECT_TRUE(out == c.bytes[3]) << c.instruction;
  }
}

// Rows become columns.
std::vector<uint8_t> transposed(const std::vector<uint8_t>& bytes, int rows, const std::string& type) {
  const auto size = static_cast<size_t>(isa::bytes(type_of(type))), m = static_cast<size_t>(rows);
  const size_t n = bytes.size() / size / m;
  std::vector<uint8_t> out(bytes.size());
  for (size_t r = 0; r < m; ++r)
    for (size_t c = 0; c < n; ++c)
      std::copy_n(bytes.begin() + static_cast<ptrdiff_t>((r * n + c) * size), size,
                  out.begin() + static_cast<ptrdiff_t>((c * m + r) * size));
  return out;
}

TEST(Wmma, CAndDMayLieByColumns) {
  for (const Case& c : recorded()) {
    std::vector<uint8_t> a = c.bytes[0], b = c.bytes[1], in = transposed(c.bytes[2], c.m, c.c),
                         out(c.bytes[3].size());
    const RunResult r = PtxRunner(ptx_of(c, "col")).array(a).array(b).array(in).array(out).run();
    ASSERT_TRUE(r.clean()) << c.instruction << '\n' << PtxRunner::describe(r);
    EXPECT_EQ(out, transposed(c.bytes[3], c.m, c.d)) << c.instruction;
  }
}

TEST(Wmma, EveryScheduleAndTheClockGiveTheSame) {
  const Case c = recorded().front();
  std::vector<RunOptions> schedules = every_schedule();
  schedules.emplace_back().schedule = *schedule_named("hardware");
  for (const RunOptions& o : schedules) {
    std::vector<uint8_t> a = c.bytes[0], b = c.bytes[1], in = c.bytes[2], out(c.bytes[3].size());
    PtxRunner(ptx_of(c)).array(a).array(b).array(in).array(out).run_clean(o);
    EXPECT_EQ(out, c.bytes[3]);
  }
}

// Measured: a halves' fragment of A holds each element of a 16x16 matrix twice, in registers 0 to 3 as
// mma.sync does, and again in 4 to 7.
TEST(Wmma, HalvesAreHeldTwice) {
  using isa::wmma::element;
  for (int lane = 0; lane < 32; ++lane)
    for (int part = 0; part < 2; ++part)
      EXPECT_EQ(element(isa::WmmaMatrix::a, 16, 16, 16, isa::Type::f16, lane, 1, part),
                element(isa::WmmaMatrix::a, 16, 16, 16, isa::Type::f16, lane, 5, part));
}

TEST(Wmma, AMatrixBeyondItsArrayIsAFault) {
  std::vector<uint16_t> in(255);
  const RunResult r = PtxRunner(ptx(R"(
.visible .entry k(.param .u64 in) {
  .reg .b64 %rd<2>; .reg .b32 %r<8>;
  ld.param.u64 %rd1, [in];
  wmma.load.a.sync.aligned.row.m16n16k16.global.f16 {%r0, %r1, %r2, %r3, %r4, %r5, %r6, %r7}, [%rd1];
  ret;
})"))
                          .array(in)
                          .run();
  ASSERT_EQ(r.findings.size(), 1U);
  EXPECT_EQ(r.findings[0].code, "PLD3022");
}

}  // namespace
}  // namespace palladion::sim::testing
