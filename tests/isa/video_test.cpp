// Video instructions, vectors of registers and braces around one register.
#include <gmock/gmock.h>

#include "isa/text/parse.h"
#include "isa/text/print.h"
#include "isa/verify/verify.h"

namespace palladion::isa {
namespace {

std::string body(const std::string& text) {
  return ".version 8.3\n.target sm_90a\n.address_size 64\n.visible .entry k(.param .u64 o) {\n.reg .b32 "
         "%r<20>;\n"
         ".reg .b64 %rd<4>;\n" +
         text + "\nret;\n}\n";
}

std::string printed(const std::string& text) {
  const auto parsed = parse(body(text));
  if (!parsed) return render(parsed.error(), text);
  const Diagnostics wrong = verify(*parsed);
  return wrong.empty() ? print(*parsed) : render(wrong, text);
}

TEST(Video, SelectorsArePrintedAsTheyWereRead) {
  for (const char* text :
       {"vadd.s32.u32.s32.sat %r7, %r1.b1, %r2.h1;", "vadd.u32.u32.u32 %r7.b2, %r1.b1, %r2.h1, %r3;",
        "vadd4.s32.s32.u32.add %r7.b31, %r1.b7610, %r2.b3210, %r3;",
        "vadd2.s32.s32.s32.sat %r7.h10, %r1.h32, %r2, %r3;",
        "vmad.s32.s32.u32.po.sat.shr7 %r7, %r1.b1, %r2.h1, %r3;"})
    EXPECT_THAT(printed(text), ::testing::HasSubstr(text));
}

TEST(Video, OtherInstructionsTakeNoPartOfARegister) {
  EXPECT_THAT(printed("add.u32 %r1, %r2.b1, %r3;"), ::testing::HasSubstr("takes no part of a register"));
}

TEST(VectorsOfRegisters, AreOneRegisterForEachElement) {
  const std::string text = printed(
      ".reg .v4 .u32 q; .reg .v2 .f32 %v<3>;\nmov.u32 q.x, 1;\nmov.u32 q.w, 2;\nld.param.u64 %rd1, [o];\n"
      "st.global.v4.u32 [%rd1], q;\nld.global.v2.f32 %v1, [%rd1];\nmov.f32 %v2.y, %v1.x;");
  EXPECT_THAT(text, ::testing::HasSubstr("st.global.v4.u32 [%rd1], {q_x, q_y, q_z, q_w};"));
  EXPECT_THAT(text, ::testing::HasSubstr("ld.global.v2.f32 {%v1_x, %v1_y}, [%rd1];"));
  EXPECT_THAT(text, ::testing::HasSubstr("mov.f32 %v2_y, %v1_x;"));
}

TEST(VectorsOfRegisters, HaveTheirElementsAlone) {
  EXPECT_THAT(printed(".reg .v2 .u32 q;\nmov.u32 q.z, 1;"), ::testing::HasSubstr("has no component"));
}

TEST(Braces, MayStandAroundOneRegisterOfMov) {
  EXPECT_THAT(
      printed("mov.b32 {%r1}, %r2;\nmov.b32 %r3, {%r4};"),
      ::testing::AllOf(::testing::HasSubstr("mov.b32 %r1, %r2;"), ::testing::HasSubstr("mov.b32 %r3, %r4;")));
}

TEST(Specials, TheRareOnesAreRead) {
  const std::string text = printed(
      "mov.u32 %r1, %reserved_smem_offset_1;\nmov.u32 %r1, %aggr_smem_size;\nmov.u32 %r1, %pm7;\n"
      "mov.u64 %rd1, %pm3_64;\nmov.u32 %r1, %envreg31;");
  EXPECT_THAT(text, ::testing::HasSubstr("mov.u64 %rd1, %pm3_64;"));
  EXPECT_THAT(text, ::testing::HasSubstr("%reserved_smem_offset_1"));
}

}  // namespace
}  // namespace palladion::isa
