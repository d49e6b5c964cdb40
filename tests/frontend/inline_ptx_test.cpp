// PTX text in kernels: what its names stand for, results exact, mistakes at the author's line.
#include <fmt/format.h>

#include "tests/frontend/run_in_sim.h"

namespace palladion::test {
namespace {

using plgpu::Array;
using plgpu::inline_ptx;
using plgpu::Layout;
using plgpu::Ref;
using plgpu::Scratch;

TEST(InlinePtx, OncePerElement) {
  const auto kernel = plgpu::kernel(
      [](const Ref& a, const Ref& b, const Ref& o) {
        const Array x = a.load(), y = b.load();
        const Array big = inline_ptx("setp.gt.f32 p, x, y;", {{"p", pl::bool_}}, {{"x", x}, {"y", y}});
        const Array sum = inline_ptx(
            "{ .reg .f32 t;  // of the text's own\n"
            "  mul.f32 t, x, k;\n"
            "  @!p bra skip;\n"
            "  add.f32 t, t, y;\n"
            "skip:\n"
            "  mov.f32 z, t; }",
            {{"z", pl::f32}}, {{"x", x}, {"y", y}, {"p", big}, {"k", pl::Scalar(3.0f)}});
        o.store(sum);
      },
      {.in_types = {{pl::f32, {512}}, {pl::f32, {512}}}, .out_type = {pl::f32, {512}}});
  const Values a = small_integers(512, 1, -50, 50), b = small_integers(512, 2, -50, 50);
  Values expected(512);
  for (size_t i = 0; i < 512; ++i) expected[i] = a[i] * 3 + (a[i] > b[i] ? b[i] : 0);
  EXPECT_EQ(run(kernel, {a, b}).outputs[0], expected);
}

TEST(InlinePtx, OncePerRegisterAndForBytes) {
  const auto kernel = plgpu::kernel(
      [](const Ref& a, const Ref& c, const Ref& o, const Ref& q) {
        const Array x = a.load();
        o.store(inline_ptx("fma.rn.f16x2 y, x, x, x;", {{"y", pl::f16}}, {{"x", x}},
                           {.each = plgpu::PtxEach::packed}));
        // The upper half of a byte's register may be anything.
        q.store(Array(inline_ptx("add.s16 y, x, 100;", {{"y", pl::s8}}, {{"x", c.load()}})) >> 1);
      },
      {.in_types = {{pl::f16, {256}}, {pl::s8, {512}}}, .out_type = {{pl::f16, {256}}, {pl::s8, {512}}}});
  const Values a = small_integers(256, 3), c = small_integers(512, 4, -100, 100);
  const auto ran = run(kernel, {a, c});
  for (size_t i = 0; i < 256; ++i) ASSERT_EQ(ran.outputs[0][i], a[i] * a[i] + a[i]);
  for (size_t i = 0; i < 512; ++i)
    ASSERT_EQ(ran.outputs[1][i], static_cast<double>(static_cast<int8_t>(c[i] + 100) >> 1));
}

// mma.sync as an author would write it: the registers of whole arrays.
TEST(InlinePtx, RegistersOfWholeArrays) {
  const auto kernel = plgpu::kernel(
      [](const Ref& a, const Ref& b, const Ref& o) {
        const Array x = a.load(Layout::MMA_LHS(pl::f16)), y = b.load(Layout::MMA_RHS(pl::f16));
        const pl::Shape shape{64, 8};
        o.store(
            inline_ptx("mma.sync.aligned.m16n8k16.row.col.f32.f16.f16.f32 {d0, d1, d2, d3},\n"
                       "    {a0, a1, a2, a3}, {b0, b1}, {z, z, z, z};",
                       {{"d", pl::f32, shape, Layout::MMA_ACC(pl::f16)}},
                       {{"a", x}, {"b", y}, {"z", pl::Scalar(0.0f)}}, {.each = plgpu::PtxEach::array}));
      },
      {.in_types = {{pl::f16, {64, 16}}, {pl::f16, {16, 8}}}, .out_type = {pl::f32, {64, 8}}});
  const Values a = small_integers(64 * 16, 5), b = small_integers(16 * 8, 6);
  const auto ran = run(kernel, {a, b});
  for (size_t i = 0; i < 64; ++i) {
    for (size_t j = 0; j < 8; ++j) {
      double sum = 0;
      for (size_t k = 0; k < 16; ++k) sum += a[i * 16 + k] * b[k * 8 + j];
      ASSERT_EQ(ran.outputs[0][i * 8 + j], sum);
    }
  }
}

// Addresses of references and barriers, numbers as results, effects that are declared.
TEST(InlinePtx, AddressesAndSideEffects) {
  const auto kernel = plgpu::kernel(
      [](const Ref& a, const Ref& o, Scratch& s) {
        s["x"].store(a.load());
        const pl::Scalar lane =
            inline_ptx("mov.u32 l, %tid.x;", {{"l", pl::s32, pl::Shape{128}, Layout::WG_STRIDED({128}, 1)}},
                       {})["l"]
                .max_all();
        inline_ptx(
            "{ .reg .b32 at, v; .reg .b64 to; .reg .pred first;\n"
            "  mad.lo.u32 at, %tid.x, 4, from;\n"
            "  ld.shared.b32 v, [at];\n"
            "  mad.wide.u32 to, %tid.x, 4, out;\n"
            "  st.global.b32 [to], v;\n"
            "  setp.eq.u32 first, %tid.x, 0;\n"
            "  @first mbarrier.arrive.shared.b64 _, [full];\n"
            "  @first st.global.b32 [out + 512], n; }",
            {}, {{"from", s["x"].at(pl::ds(128, 128))}, {"out", o}, {"full", s.barrier("full")}, {"n", lane}},
            {.side_effects = true});
        plgpu::barrier_wait(s.barrier("full"));
      },
      {.in_types = {{pl::s32, {256}}},
       .out_type = {pl::s32, {129}},
       .scratch_types = {{"x", plgpu::SMEM({256}, pl::s32)}, {"full", plgpu::Barrier()}}});
  const Values a = iota(256, 7);
  Values expected(a.begin() + 128, a.end());
  expected.push_back(127);
  EXPECT_EQ(run(kernel, {a}).outputs[0], expected);
}

// The same text twice in a loop: labels and registers of its own each time.
TEST(InlinePtx, TextsDoNotClash) {
  const auto kernel = plgpu::kernel(
      [](const Ref& o) {
        const Array zero = plgpu::layout_cast(plgpu::zeros({128}, pl::s32), Layout::WG_STRIDED({128}, 1));
        const auto step = [](const Array& x) -> Array {
          return inline_ptx(
              ".reg .pred p; .reg .b32 i;\n"
              "mov.b32 i, 0;  mov.b32 y, x;\n"
              "again: add.s32 y, y, 1;  add.s32 i, i, 1;\n"
              "setp.lt.s32 p, i, 5;  @p bra again;",
              {{"y", pl::s32}}, {{"x", x}});
        };
        o.store(pl::fori_loop(0, 3, [&](pl::Index, const Array& x) { return step(step(x)); }, zero));
      },
      {.out_type = {pl::s32, {128}}});
  EXPECT_EQ(run(kernel, {}).outputs[0], Values(128, 30.0));
}

struct Refused {
  const char* text;
  const char* code;
  const char* message;  // a part of it
};

TEST(InlinePtx, MistakesShowTheTextsLine) {
  const Refused all[] = {
      {"ad.f32 y, x, x;", "PLD1002", "    1 | ad.f32 y, x, x;\n      | ^"},
      {"// one\n  add.f32 y, x, w;", "PLD1005", "    2 |   add.f32 y, x, w;\n      |                 ^"},
      {"add.f32 y, x", "PLD1004", "    1 | add.f32 y, x\n      | ^"},
      {"add.s16 y, x, x;", "PLD1021", "    1 | add.s16 y, x, x;\n      | ^"},
      {"add.s32 y, x, x;", "PLD1022", "    1 | add.s32 y, x, x;\n      | ^"},
      {"bra nowhere;", "PLD1005", "label `nowhere` stands nowhere"},
      {"ret;", "PLD2801", "`ret` would leave the kernel"},
      {"mov.f32 y, x;\nbar.sync 0;", "PLD2801", "    2 | bar.sync 0;\n      | ^"},
      {".shared .b32 s[4];", "PLD2801", "declares a variable"},
      {"} .visible .entry other() { ret;", "PLD2801", "declares a variable, a function"},
      {"tcgen05.fence::before_thread_sync;", "", "tcgen05"},
  };
  for (const Refused& r : all) {
    SCOPED_TRACE(r.text);
    uint32_t line = 0;
    try {
      plgpu::kernel(
          [&](const Ref& a, const Ref& o) {
            line = __LINE__ + 1;
            o.store(inline_ptx(plgpu::Scratch::Name(r.text), {{"y", pl::f32}}, {{"x", a.load()}}));
          },
          {.in_types = {{pl::f32, {128}}}, .out_type = {pl::f32, {128}}});
      ADD_FAILURE() << "was recorded";
    } catch (const isa::Error& e) {
      const isa::Diagnostic& d = e.diagnostics().front();
      if (*r.code != '\0') {
        EXPECT_EQ(d.code.name(), r.code) << d.message;
      }
      EXPECT_NE(d.message.find(r.message), std::string::npos) << d.message;
      EXPECT_EQ(d.loc.line, line);
      EXPECT_TRUE(d.loc.file.ends_with("inline_ptx_test.cpp")) << d.loc.file;
      EXPECT_NE(std::string(e.what()).find("inline_ptx_test.cpp:" + std::to_string(line)), std::string::npos)
          << "a program that does not catch it shows the line: " << e.what();
    }
  }
}

}  // namespace
}  // namespace palladion::test
