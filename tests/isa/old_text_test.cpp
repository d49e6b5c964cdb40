// PTX for sm_1x and of early versions: what it leaves out is written out as it is read, as ptxas understands
// it.
#include <fmt/format.h>
#include <gmock/gmock.h>

#include "isa/text/parse.h"
#include "isa/text/print.h"
#include "isa/verify/verify.h"
#include "tests/support/toolkit.h"

namespace palladion::isa {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;

constexpr std::string_view old_registers =
    ".reg .pred %p; .reg .u16 %h<3>; .reg .u32 %r<9>; .reg .u64 %rd<9>; .reg .f32 %f<9>; .reg .f64 %d<9>;\n";

std::string old_header(std::string_view version, std::string_view target) {
  return fmt::format("\t.version {}\n\t.target {}\n", version, target);
}

std::string old_kernel(std::string_view version, std::string_view target, std::string_view body) {
  return old_header(version, target) + fmt::format(".entry k\n{{\n{}{}\nexit;\n}}\n", old_registers, body);
}

Module read_old(const std::string& text) {
  auto module = parse(text);
  EXPECT_TRUE(module) << (module ? "" : render(module.error(), text));
  if (!module) return {};
  EXPECT_TRUE(verify(*module).empty()) << render(verify(*module), text);
  return std::move(*module);
}

// The first instruction of a kernel, as it is understood.
std::string read_as(std::string_view version, std::string_view target, std::string_view instruction) {
  const Module m = read_old(old_kernel(version, target, instruction));
  return m.functions.empty() ? "" : print(m, m.functions.front(), m.functions.front().body.front());
}

std::string refusal(const std::string& text) {
  const auto module = parse(text);
  if (!module) return module.error().front().message;
  const Diagnostics wrong = verify(*module);
  return wrong.empty() ? "" : wrong.front().message;
}

TEST(old_text, single_precision_flushes_on_sm_1x) {
  const std::pair<const char*, const char*> cases[] = {
      {"add.f32 %f1, %f2, %f3;", "add.ftz.f32 %f1, %f2, %f3;"},
      {"mad.f32 %f1, %f2, %f3, %f4;", "mad.rn.ftz.f32 %f1, %f2, %f3, %f4;"},
      {"mad.sat.f32 %f1, %f2, %f3, %f4;", "mad.rn.ftz.sat.f32 %f1, %f2, %f3, %f4;"},
      {"setp.lt.f32 %p, %f1, %f2;", "setp.lt.ftz.f32 %p, %f1, %f2;"},
      {"set.lt.u32.f32 %r1, %f1, %f2;", "set.lt.ftz.u32.f32 %r1, %f1, %f2;"},
      {"slct.s32.f32 %r1, %r2, %r3, %f2;", "slct.ftz.s32.f32 %r1, %r2, %r3, %f2;"},
      {"cvt.rzi.s32.f32 %r1, %f1;", "cvt.rzi.ftz.s32.f32 %r1, %f1;"},
      {"rcp.approx.f32 %f1, %f2;", "rcp.approx.ftz.f32 %f1, %f2;"},
      {"mov.f32 %f1, %f2;", "mov.f32 %f1, %f2;"},
      {"mul24.lo.s32 %r1, %r2, 16;", "mul24.lo.s32 %r1, %r2, 16;"},
      {"add.f64 %d1, %d2, %d3;", "add.f64 %d1, %d2, %d3;"}};
  for (const char* target : {"sm_10, map_f64_to_f32", "sm_11", "sm_12", "sm_13"})
    for (const auto& [written, meant] : cases) EXPECT_EQ(read_as("1.4", target, written), meant) << target;
  EXPECT_EQ(read_as("3.0", "sm_12", "add.f32 %f1, %f2, %f3;"), "add.ftz.f32 %f1, %f2, %f3;");
  EXPECT_EQ(read_as("2.0", "sm_20", "add.f32 %f1, %f2, %f3;"), "add.f32 %f1, %f2, %f3;");
}

TEST(old_text, conversions_of_64_bits_flush_since_1_5_alone) {
  EXPECT_EQ(read_as("1.4", "sm_13", "cvt.f64.f32 %d1, %f1;"), "cvt.f64.f32 %d1, %f1;");
  EXPECT_EQ(read_as("1.4", "sm_13", "cvt.rn.f32.f64 %f1, %d1;"), "cvt.rn.f32.f64 %f1, %d1;");
  EXPECT_EQ(read_as("1.4", "sm_13", "cvt.rpi.s64.f32 %rd1, %f1;"), "cvt.rpi.s64.f32 %rd1, %f1;");
  EXPECT_EQ(read_as("1.5", "sm_13", "cvt.f64.f32 %d1, %f1;"), "cvt.ftz.f64.f32 %d1, %f1;");
  EXPECT_EQ(read_as("1.5", "sm_13", "cvt.rn.f32.f64 %f1, %d1;"), "cvt.rn.ftz.f32.f64 %f1, %d1;");
}

TEST(old_text, before_1_4_approximations_and_roundings_are_implied) {
  const std::pair<const char*, const char*> cases[] = {
      {"div.f32 %f1, %f2, %f3;", "div.approx.ftz.f32 %f1, %f2, %f3;"},
      {"rcp.f32 %f1, %f2;", "rcp.approx.ftz.f32 %f1, %f2;"},
      {"sqrt.f32 %f1, %f2;", "sqrt.approx.ftz.f32 %f1, %f2;"},
      {"rsqrt.f32 %f1, %f2;", "rsqrt.approx.ftz.f32 %f1, %f2;"},
      {"sin.f32 %f1, %f2;", "sin.approx.ftz.f32 %f1, %f2;"},
      {"cos.f32 %f1, %f2;", "cos.approx.ftz.f32 %f1, %f2;"},
      {"lg2.f32 %f1, %f2;", "lg2.approx.ftz.f32 %f1, %f2;"},
      {"ex2.f32 %f1, %f2;", "ex2.approx.ftz.f32 %f1, %f2;"},
      {"div.full.f32 %f1, %f2, %f3;", "div.full.ftz.f32 %f1, %f2, %f3;"},
      {"div.f64 %d1, %d2, %d3;", "div.rn.f64 %d1, %d2, %d3;"},
      {"sqrt.f64 %d1, %d2;", "sqrt.rn.f64 %d1, %d2;"},
      {"rsqrt.f64 %d1, %d2;", "rsqrt.approx.f64 %d1, %d2;"},
      {"mad.f64 %d1, %d2, %d3, %d4;", "mad.rn.f64 %d1, %d2, %d3, %d4;"}};
  for (const auto& [written, meant] : cases) EXPECT_EQ(read_as("1.3", "sm_13", written), meant);
  EXPECT_THAT(refusal(old_kernel("1.4", "sm_13", "div.f32 %f1, %f2, %f3;")), HasSubstr("needs a modifier"));
  EXPECT_THAT(refusal(old_kernel("1.4", "sm_13", "mad.f64 %d1, %d2, %d3, %d4;")),
              HasSubstr("needs a modifier"));
}

TEST(old_text, mad_lacks_its_rounding_up_to_3_1) {
  EXPECT_EQ(read_as("3.1", "sm_20", "mad.f32 %f1, %f2, %f3, %f4;"), "mad.rn.f32 %f1, %f2, %f3, %f4;");
  EXPECT_THAT(refusal(old_kernel("3.2", "sm_20", "mad.f32 %f1, %f2, %f3, %f4;")),
              HasSubstr("needs a modifier"));
  EXPECT_THAT(refusal(old_kernel("8.7", "sm_90", "mad.f32 %f1, %f2, %f3, %f4;")),
              HasSubstr("needs a modifier"));
}

TEST(old_text, special_registers_had_16_bits) {
  EXPECT_EQ(read_as("1.4", "sm_10", "cvt.u32.u16 %r1, %ctaid.x;"), "cvt.u32.u16 %r1, %ctaid.x;");
  EXPECT_EQ(read_as("1.4", "sm_10", "mov.u16 %h1, %gridid;"), "mov.u16 %h1, %gridid;");
}

TEST(old_text, before_1_4_parameters_are_declared_in_the_body) {
  const Module m = read_old(old_header("1.3", "sm_10") +
                            ".entry k\n{\n.param .u32 n;\n.param .u64 p;\n.reg .u64 %rd<3>;\n"
                            "ld.param.u64 %rd1, [p];\nst.global.u32 [%rd1], 0;\nexit;\n}\n");
  const Function& k = *m.find_entry("k");
  ASSERT_EQ(k.params.size(), 2u);
  EXPECT_EQ(m.symbols[k.params[1]].name, "p");
  EXPECT_THAT(param_layout(m, k).offsets, ElementsAre(0, 8));
  EXPECT_TRUE(k.locals.empty());
}

TEST(old_text, tex_variables_are_texture_references) {
  const Module m =
      read_old(old_header("1.4", "sm_10") + ".tex .u64 image;\n.entry k {" + std::string(old_registers) +
               "tex.2d.v4.f32.f32 {%f1, %f2, %f3, %f4}, [image, {%f5, %f6, %f7, %f8}];\nexit;\n}\n");
  const Variable& v = m.symbols[m.find_symbol("image")].variable;
  EXPECT_EQ(v.type, Type::texref);
  EXPECT_EQ(v.space, Space::global);
}

TEST(old_text, registers_of_the_module_are_a_kernels_own) {
  const std::string text = old_header("1.4", "sm_10") + ".reg .u32 %ra<17>;\n.reg .f32 %fa<17>;\n";
  const Module m = read_old(text +
                            ".entry a { mov.u32 %ra1, 5; add.u32 %ra2, %ra1, 1; exit; }\n"
                            ".entry b { mov.u32 %ra1, 5; exit; }\n");
  EXPECT_EQ(m.find_entry("a")->registers.size(), 2u);
  EXPECT_EQ(m.find_entry("b")->registers.size(), 1u);
  EXPECT_THAT(refusal(text + ".func f { mov.u32 %ra1, 5; ret; }\n"), HasSubstr("registers of the module"));
}

TEST(old_text, a_declaration_of_a_function_may_end_without_semicolon) {
  const Module m =
      read_old(old_header("2.1", "sm_20") +
               ".visible .func f (.param .u32 a)\n\n.visible .func (.param .u32 r) g (.param .u32 a)\n"
               "\n.file 1 \"a.cu\"\n.visible .func f (.param .u32 a)\n{ ret; }\n");
  ASSERT_EQ(m.functions.size(), 2u);
  EXPECT_TRUE(m.functions[0].defined);
  EXPECT_FALSE(m.functions[1].defined);
  EXPECT_EQ(m.functions[1].returns.size(), 1u);
}

TEST(old_text, a_variable_may_be_named_like_a_register) {
  const Module m =
      read_old(old_header("2.1", "sm_20") +
               ".shared .u32 %space[4];\n.entry k { .reg .u32 %r1; mov.u32 %r1, %space;\nst.shared.u32 "
               "[%space+4], %r1; exit; }\n");
  EXPECT_EQ(m.find_entry("k")->body.size(), 3u);
}

TEST(old_text, what_a_chip_since_sm_90_does_not_have_is_refused) {
  EXPECT_THAT(refusal(old_kernel("1.4", "sm_10", "st.global.u32 [%r1], %r2;")),
              HasSubstr("32-bit addresses"));
  EXPECT_THAT(refusal(old_kernel("8.7", "sm_90", "ld.u32 %r2, [%r1];")), HasSubstr("32-bit addresses"));
  EXPECT_EQ(refusal(old_kernel("8.7", "sm_90", "st.shared.u32 [%r1], %r2;")), "");
  EXPECT_THAT(refusal(old_kernel("1.4", "sm_20, map_f64_to_f32", "")), HasSubstr("map_f64_to_f32"));
  EXPECT_THAT(refusal(old_kernel("1.4", "sm_13, map_f64_to_f32", "")), HasSubstr("map_f64_to_f32"));
}

constexpr std::string_view everything = R"(
.tex .u64 image;
.shared .align 4 .b8 tile[64];
.entry k (.param .u64 p, .param .f32 x)
{
  cvt.s32.u16 %r1, %tid.x;
  mul24.lo.s32 %r2, %r1, 4;
  cvt.u64.s32 %rd1, %r2;
  mov.u64 %rd2, tile;
  add.u64 %rd2, %rd2, %rd1;
  ld.param.u64 %rd3, [p];
  add.u64 %rd3, %rd3, %rd1;
  ld.param.f32 %f1, [x];
  ld.global.f32 %f2, [%rd3+0];
  st.shared.f32 [%rd2+0], %f2;
  bar.sync 0;
  tex.1d.v4.f32.s32 {%f3, %f4, %f5, %f6}, [image, {%r1, %r1, %r1, %r1}];
  mad.f32 %f1, %f1, %f2, %f3;
  mul.f32 %f2, %f1, %f4;
  add.f32 %f2, %f2, %f1;
  cvt.f64.f32 %d1, %f2;
  add.f64 %d1, %d1, %d1;
  cvt.rn.f32.f64 %f5, %d1;
  rsqrt.approx.f32 %f5, %f5;
  min.f32 %f5, %f5, %f1;
  setp.gt.f32 %p, %f5, %f2;
  @%p neg.f32 %f5, %f5;
  ld.shared.f32 %f6, [%rd2+4];
  div.approx.f32 %f5, %f5, %f6;
  st.global.f32 [%rd3+0], %f5;
  exit;
}
)";

// What is printed is PTX 2.0 for sm_20; ptxas takes it, as it takes the old text.
TEST(old_text, ptxas_takes_the_old_text_and_what_is_printed_of_it) {
  PLD_NEEDS_TOOL("ptxas");
  std::string text = old_header("1.4", "sm_10, map_f64_to_f32") + std::string(everything);
  text.insert(text.rfind("{\n  cvt") + 2, old_registers);
  const std::string printed = print(read_old(text));
  EXPECT_THAT(printed, HasSubstr(".version 2.0\n.target sm_20\n"));
  for (const std::string& t : {text, printed}) {
    const auto out = palladion::toolkit::assemble(t, "sm_90");
    EXPECT_TRUE(out.ok) << out.log << t;
  }
}

}  // namespace
}  // namespace palladion::isa
