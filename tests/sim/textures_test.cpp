// Surfaces, queries and errors of textures; what an H200 returns is in textures_replay_test.cpp.
#include <bit>

#include "tests/sim/ptx_runner.h"

namespace palladion::sim {
namespace {

std::string kernel(const std::string& body) {
  return ".version 8.7\n.target sm_90a\n.address_size 64\n.visible .entry k(.param .u64 t, .param .u64 s, "
         ".param .u64 out) {\n"
         ".reg .b32 %r<16>; .reg .f32 %f<8>; .reg .b64 %rd<8>; .reg .pred %p<4>;\n"
         "ld.param.u64 %rd1, [t]; ld.param.u64 %rd2, [s]; ld.param.u64 %rd3, [out];\n"
         "mov.u32 %r1, %tid.x; mul.wide.u32 %rd4, %r1, 4; add.u64 %rd3, %rd3, %rd4; shl.b32 %r2, %r1, 2;\n" +
         body + "\nst.global.u32 [%rd3], %r3;\nret;\n}\n";
}

// One image of 32 by 2 floats that is a texture and a surface.
struct Objects {
  explicit Objects(const std::string& body) : runner(kernel(body)) {
    Machine& machine = runner.machine();
    const Address texels = machine.memory().allocate(256, "texels");
    const Image image = Image::dense(isa::Geometry::d2, {TexelKind::floating, 32, 1}, 32, 2, 1, texels);
    runner.scalar(machine.textures().create({image, {}})).scalar(machine.textures().create_surface(image));
    runner.array(out, "out");
    for (uint32_t i = 0; i < 64; ++i) {
      const auto value = static_cast<float>(i);
      std::memcpy(machine.memory().find(texels + 4 * i, 4), &value, 4);
    }
  }
  std::vector<uint32_t> out = std::vector<uint32_t>(32);
  testing::PtxRunner runner;
};

TEST(Textures, reads_a_surface_by_bytes) {
  Objects o("suld.b.2d.b32.trap {%r3}, [%rd2, {%r2, 1}];");
  o.runner.run_clean();
  EXPECT_EQ(std::bit_cast<float>(o.out[5]), 37.0F);
}

TEST(Textures, writes_a_surface_that_a_texture_reads) {
  Objects o(
      "sust.b.2d.b32.trap [%rd2, {%r2, 0}], {%r1};\ncvt.rn.f32.u32 %f1, %r1;\nmov.f32 %f2, 0f00000000;\n"
      "tex.2d.v4.u32.f32 {%r3, %r4, %r5, %r6}, [%rd1, {%f1, %f2}];");
  o.runner.run_clean();
  EXPECT_EQ(o.out[7], 7U);
}

TEST(Textures, bounds_of_surfaces) {
  Objects zero("add.s32 %r2, %r2, 4;\nsuld.b.2d.b32.zero {%r3}, [%rd2, {%r2, 0}];");
  zero.runner.run_clean();
  EXPECT_EQ(std::bit_cast<float>(zero.out[30]), 31.0F);
  EXPECT_EQ(zero.out[31], 0U);
  Objects clamp("add.s32 %r2, %r2, 4;\nsuld.b.2d.b32.clamp {%r3}, [%rd2, {%r2, 9}];");
  clamp.runner.run_clean();
  EXPECT_EQ(std::bit_cast<float>(clamp.out[31]), 63.0F);
  Objects trap("add.s32 %r2, %r2, 4;\nsuld.b.2d.b32.trap {%r3}, [%rd2, {%r2, 0}];");
  const RunResult r = trap.runner.run();
  ASSERT_EQ(r.findings.size(), 1U);
  EXPECT_EQ(r.findings[0].code, "PLD3028");
}

TEST(Textures, reduces) {
  Objects o(
      "mov.b32 %r4, 1; mov.b32 %r5, 0;\nsust.b.2d.b32.trap [%rd2, {%r2, 1}], {%r5};\nbar.warp.sync -1;\n"
      "sured.b.add.2d.u32.trap [%rd2, {0, 1}], %r4;\nbar.warp.sync -1;\nsuld.b.2d.b32.trap {%r3}, [%rd2, {0, "
      "1}];");
  o.runner.run_clean();
  EXPECT_EQ(o.out[0], 32U);
}

TEST(Textures, answers_queries) {
  Objects o("txq.width.b32 %r4, [%rd1];\nsuq.height.b32 %r5, [%rd2];\nmad.lo.u32 %r3, %r4, 100, %r5;");
  o.runner.run_clean();
  EXPECT_EQ(o.out[0], 3202U);
}

TEST(Textures, names_a_handle_that_is_none) {
  Objects o(
      "mov.f32 %f1, 0f00000000;\nadd.u64 %rd1, %rd1, 77;\n"
      "tex.2d.v4.u32.f32 {%r3, %r4, %r5, %r6}, [%rd1, {%f1, %f1}];");
  const RunResult r = o.runner.run();
  ASSERT_EQ(r.findings.size(), 1U);
  EXPECT_EQ(r.findings[0].code, "PLD3027");
}

}  // namespace
}  // namespace palladion::sim
