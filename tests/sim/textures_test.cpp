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
  explicit Objects(const std::string& body, TexelFormat format = {TexelKind::floating, 32, 1})
      : runner(kernel(body)) {
    Machine& machine = runner.machine();
    const Address texels = machine.memory().allocate(512, "texels");
    const Image image = Image::dense(isa::Geometry::d2, format, 32, 2, 1, texels);
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

TEST(Textures, formatted_stores_count_texels) {
  const char* const read_back = "\nsuld.b.2d.b32.trap {%r3}, [%rd2, {%r2, 1}];";
  Objects one(std::string("cvt.rn.f32.u32 %f1, %r1;\nsust.p.2d.b32.trap [%rd2, {%r1, 1}], {%f1};") +
              read_back);
  one.runner.run_clean();
  EXPECT_EQ(std::bit_cast<float>(one.out[9]), 9.0F);
  // Channels that the texel does not have are not stored.
  Objects four(
      std::string("mov.b32 %r4, 77;\nsust.p.2d.v4.b32.trap [%rd2, {%r1, 1}], {%r1, %r4, %r4, %r4};") +
      read_back);
  four.runner.run_clean();
  EXPECT_EQ(four.out[9], 9U);
  Objects outside("sust.p.2d.b32.trap [%rd2, {32, 0}], {%r1};");
  const RunResult r = outside.runner.run();
  ASSERT_EQ(r.findings.size(), 1U);
  EXPECT_EQ(r.findings[0].code, "PLD3028");
}

std::string said_by(Objects& o) {
  const RunResult r = o.runner.run();
  std::string said;
  for (const auto& d : r.errors) said += d.message;
  for (const auto& f : r.findings) said += testing::reason_of(f);
  return said;
}

TEST(Textures, formatted_stores_that_are_unsupported) {
  const char* const store = "sust.p.2d.b32.trap [%rd2, {%r1, 0}], {%r1};";
  Objects half(store, {TexelKind::floating, 16, 1});
  EXPECT_EQ(half.runner.run().findings.at(0).message, say<Phrase::store_to_small_channels>(16));
  Objects pair(store, {TexelKind::floating, 32, 2});
  EXPECT_EQ(pair.runner.run().findings.at(0).message, say<Phrase::store_of_some_channels>(1, 2));
}

// What the machine does not have is refused by name.
TEST(Textures, forms_that_are_unsupported) {
  const std::pair<const char*, const char*> cases[] = {
      {"tex.2d.v4.f32.f32 {%f1, %f2, %f3, %f4}, [%rd1, {%f1, %f2}], %f3;", "comparison of depths"},
      {"tex.2d.v4.f32.f32 {%f1, %f2, %f3, %f4}, [%rd1, {%f1, %f2}], {%r4, %r5}, %f3;",
       "comparison of depths"},
      {"tex.cube.v4.f32.f32 {%f1, %f2, %f3, %f4}, [%rd1, {%f1, %f2, %f3, %f4}], %f3;",
       "comparison of depths"},
      {"tex.2dms.v4.f32.s32 {%f1, %f2, %f3, %f4}, [%rd1, {%r1, %r2, %r4, %r4}];", "multi-sample textures"},
      {"tex.a2dms.v4.f32.s32 {%f1, %f2, %f3, %f4}, [%rd1, {%r1, %r2, %r4, %r4}];", "multi-sample textures"},
      {"tex.2d.v4.f16.f32 {%h1, %h2, %h3, %h4}, [%rd1, {%f1, %f2}];", "half precision"},
      {"tex.2d.v2.f16x2.f32 {%r4, %r5}, [%rd1, {%f1, %f2}];", "half precision"},
      {"tld4.r.2d.v4.f32.f32 {%f1, %f2, %f3, %f4}, [%rd1, {%f1, %f2}], {%r4, %r5};", "offsets of gathers"},
      {"tld4.r.2d.v4.f32.f32 {%f1, %f2, %f3, %f4}, [%rd1, {%f1, %f2}], %f3;", "comparison of depths"},
      {"tld4.r.cube.v4.f32.f32 {%f1, %f2, %f3, %f4}, [%rd1, {%f1, %f2, %f3, %f4}];", "cube maps"},
      {"sured.b.add.2d.u64.trap [%rd2, {%r2, 0}], %rd1;", "64 bits"},
      {"txq.num_samples.b32 %r3, [%rd1];", "multi-sample textures"},
      {"suq.memory_layout.b32 %r3, [%rd2];", "layout"},
  };
  for (const auto& [instruction, why] : cases) {
    Objects o(std::string(".reg .b16 %h<8>;\n") + instruction);
    const std::string said = said_by(o);
    EXPECT_NE(said.find(why), std::string::npos) << instruction << ": " << said;
  }
}

TEST(Textures, the_base_level_is_what_is_read_without_a_level) {
  Objects o(
      "cvt.rn.f32.u32 %f1, %r1;\nmov.f32 %f2, 0f3f800000;\n"
      "tex.base.2d.v4.u32.f32 {%r3, %r4, %r5, %r6}, [%rd1, {%f1, %f2}];");
  o.runner.run_clean();
  EXPECT_EQ(std::bit_cast<float>(o.out[5]), 37.0F);
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
