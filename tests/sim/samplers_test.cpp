// The independent texturing mode: textures and samplers of their own.
#include <bit>

#include "isa/formats/sampler.h"
#include "tests/sim/ptx_runner.h"

namespace palladion::sim {
namespace {

// One row of 32 floats 0, 10, 20, ... as a texture with normalised coordinates; out[i] is what lane i looks
// up.
struct Row {
  Row(std::string_view mode, std::string_view declarations, std::string_view body,
      std::string_view parameters = "")
      : runner(
            ".version 8.7\n.target sm_90" + std::string(mode) + "\n.address_size 64\n" +
            std::string(declarations) + "\n.visible .entry k(.param .u64 out, .param .u64 image" +
            std::string(parameters) +
            ") {\n.reg .b32 %r<9>; .reg .f32 %f<9>; .reg .b64 %rd<9>; .reg .pred %p<3>;\nld.param.u64 %rd1, "
            "[out]; ld.param.u64 %rd2, [image]; mov.u32 %r1, %tid.x; mul.wide.u32 %rd4, %r1, 4; add.u64 "
            "%rd1, "
            "%rd1, %rd4; cvt.rn.f32.u32 %f1, %r1;\n" +
            std::string(body) + "\nst.global.f32 [%rd1], %f2;\nret;\n}\n") {
    Machine& machine = runner.machine();
    const Address texels = machine.memory().allocate(128, "texels");
    image = Image::dense(isa::Geometry::d1, {TexelKind::floating, 32, 1}, 32, 1, 1, texels);
    for (uint32_t i = 0; i < 32; ++i) {
      const auto value = static_cast<float>(10 * i);
      std::memcpy(machine.memory().find(texels + 4 * i, 4), &value, 4);
    }
    texture = machine.textures().create({image, {.normalized = true}});
    runner.array(out).scalar(texture);
  }
  Image image;
  uint64_t texture = 0;
  std::vector<float> out = std::vector<float>(32);
  testing::PtxRunner runner;
};

constexpr std::string_view independent_mode = ", texmode_independent";
constexpr std::string_view look_up = "tex.1d.v4.f32.f32 {%f2, %f3, %f4, %f5}, [%rd2, S, {%f1}];";

TEST(samplers, a_sampler_counts_texels_and_filters) {
  Row row(independent_mode,
          ".global .samplerref S = { addr_mode_0 = clamp_to_edge, filter_mode = linear, "
          "force_unnormalized_coords = 1 };",
          look_up);
  row.runner.run_clean();
  EXPECT_EQ(row.out[0], 0.0F);
  for (size_t i = 1; i < 32; ++i) EXPECT_EQ(row.out[i], 10.0F * static_cast<float>(i) - 5);
}

TEST(samplers, the_address_mode_is_the_samplers) {
  for (const auto& [mode, expected] : {std::pair{"clamp_to_edge", 310.0F}, {"clamp_to_border", 0.0F}}) {
    Row row(independent_mode,
            std::string(".global .samplerref S = { addr_mode_0 = ") + mode +
                ", filter_mode = nearest, force_unnormalized_coords = 1 };",
            "add.f32 %f1, %f1, 0f42000000;\n" + std::string(look_up));
    row.runner.run_clean();
    for (const float value : row.out) EXPECT_EQ(value, expected) << mode;
  }
  Row wraps(independent_mode, ".global .samplerref S = { addr_mode_0 = wrap, filter_mode = nearest };",
            "add.f32 %f1, %f1, 0f3E800000;\n" + std::string(look_up));  // n + 0.25
  wraps.runner.run_clean();
  for (const float value : wraps.out) EXPECT_EQ(value, 80.0F);
}

TEST(samplers, samplers_and_textures_come_in_parameters_and_registers) {
  isa::Sampler s;
  ASSERT_TRUE(s.set("addr_mode_0", "clamp_to_edge") && s.set("filter_mode", "nearest") &&
              s.set("force_unnormalized_coords", "1"));
  Row parameters(independent_mode, "", "tex.1d.v4.f32.f32 {%f2, %f3, %f4, %f5}, [t, s, {%f1}];",
                 ", .param .texref t, .param .samplerref s");
  parameters.runner.scalar(parameters.texture).scalar(s.packed());
  parameters.runner.run_clean();
  EXPECT_EQ(parameters.out[7], 70.0F);
  Row address(independent_mode,
              ".global .samplerref S = { addr_mode_0 = clamp_to_edge, filter_mode = nearest, "
              "force_unnormalized_coords = 1 };",
              "mov.u64 %rd3, S;\ntex.1d.v4.f32.f32 {%f2, %f3, %f4, %f5}, [%rd2, %rd3, {%f1}];");
  address.runner.run_clean();
  EXPECT_EQ(address.out[9], 90.0F);
}

TEST(samplers, the_address_of_a_parameter_names_its_texture) {
  Row row(independent_mode,
          ".global .samplerref S = { addr_mode_0 = clamp_to_edge, filter_mode = nearest, "
          "force_unnormalized_coords = 1 };",
          "mov.u64 %rd2, t;\n" + std::string(look_up), ", .param .texref t");
  row.runner.scalar(row.texture);
  row.runner.run_clean();
  EXPECT_EQ(row.out[5], 50.0F);
}

TEST(samplers, queries_return_the_samplers_fields) {
  Row row(
      independent_mode,
      ".global .samplerref S = { addr_mode_0 = clamp_to_border, addr_mode_1 = mirror, filter_mode = linear, "
      "force_unnormalized_coords = 1 };",
      "txq.addr_mode_0.b32 %r2, [S]; txq.addr_mode_1.b32 %r3, [S]; txq.filter_mode.b32 %r4, [S];\n"
      "txq.force_unnormalized_coords.b32 %r5, [S]; mov.u64 %rd3, S; istypep.samplerref %p1, %rd3; "
      "istypep.samplerref %p2, %rd2; selp.b32 %r6, 1, 0, %p1; selp.b32 %r7, 1, 0, %p2;\n"
      "mad.lo.u32 %r8, %r2, 10, %r3; mad.lo.u32 %r8, %r8, 10, %r4; mad.lo.u32 %r8, %r8, 10, %r5; "
      "mad.lo.u32 %r8, %r8, 10, %r6; mad.lo.u32 %r8, %r8, 10, %r7; cvt.rn.f32.u32 %f2, %r8;");
  row.runner.run_clean();
  EXPECT_EQ(row.out[0], 411110.0F);
}

TEST(samplers, what_is_no_sampler_is_a_fault_and_what_is_not_modelled_is_named) {
  Row unset(independent_mode, ".global .samplerref S;", look_up);
  const RunResult fault = unset.runner.run();
  ASSERT_EQ(fault.findings.size(), 1U);
  EXPECT_EQ(fault.findings[0].code, "PLD3027");
  const std::pair<const char*, const char*> cases[] = {
      {"addr_mode_0 = clamp_ogl, filter_mode = linear", "clamp_ogl"},
      {"filter_mode = linear", "addr_mode_0"},
      {"addr_mode_0 = wrap", "filter_mode"}};
  for (const auto& [fields, named] : cases) {
    Row row(independent_mode, std::string(".global .samplerref S = { ") + fields + " };", look_up);
    EXPECT_NE(testing::PtxRunner::describe(row.runner.run()).find(named), std::string::npos) << fields;
  }
}

TEST(samplers, a_surface_variable_holds_a_surface) {
  Row row("", "", "mul.lo.u32 %r2, %r1, 4;\nsuld.b.1d.b32.trap %r3, [u, {%r2}];\nmov.b32 %f2, %r3;",
          ", .param .surfref u");
  row.runner.scalar(row.runner.machine().textures().create_surface(row.image));
  row.runner.run_clean();
  EXPECT_EQ(row.out[31], 310.0F);
}

}  // namespace
}  // namespace palladion::sim
