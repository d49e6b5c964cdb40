// .texref, .samplerref and .surfref, in the unified and the independent texturing mode.
#include <fmt/format.h>
#include <gmock/gmock.h>

#include "isa/formats/sampler.h"
#include "isa/text/parse.h"
#include "isa/text/print.h"
#include "isa/verify/verify.h"
#include "tests/support/toolkit.h"

namespace palladion::isa {
namespace {

using testing::HasSubstr;

std::string opaque_module(std::string_view mode, std::string_view declarations, std::string_view body,
                          std::string_view parameters = "") {
  return fmt::format(
      ".version 8.7\n.target sm_90{}\n.address_size 64\n{}\n.visible .entry k(.param .u64 out{}) {{\n.reg "
      ".b32 "
      "%r<9>; .reg .b64 %rd<9>; .reg .f32 %f<9>; .reg .pred %p<3>;\nld.param.u64 %rd1, "
      "[out];\n{}\nret;\n}}\n",
      mode, declarations, parameters, body);
}

constexpr std::string_view independent = ", texmode_independent";
constexpr std::string_view objects = ".global .texref T;\n.global .surfref U;\n";
constexpr std::string_view sampler =
    ".global .samplerref S = { addr_mode_0 = wrap, filter_mode = linear };\n";

std::string first_refusal(const std::string& text) {
  const auto module = parse(text);
  if (!module) return module.error().front().message;
  const Diagnostics wrong = verify(*module);
  return wrong.empty() ? "" : wrong.front().message;
}

TEST(opaque_types, a_sampler_is_packed_and_unpacked) {
  for (const char* a : {"wrap", "mirror", "clamp_ogl", "clamp_to_edge", "clamp_to_border", ""})
    for (const char* f : {"nearest", "linear", ""})
      for (const char* texels : {"0", "1"}) {
        Sampler s;
        EXPECT_EQ(s.set("addr_mode_0", a), *a != 0);
        EXPECT_TRUE(s.set("addr_mode_1", "mirror"));
        EXPECT_EQ(s.set("filter_mode", f), *f != 0);
        EXPECT_TRUE(s.set("force_unnormalized_coords", texels));
        EXPECT_EQ(Sampler::unpacked(s.packed()), s);
      }
  const uint64_t unset = Sampler{}.packed();
  EXPECT_EQ(Sampler::unpacked(unset), Sampler{});
  for (const uint64_t word : std::initializer_list<uint64_t>{0, 1, 0x7f00'0000'1000, unset | 6, unset | 0x600,
                                                             unset | 0x3000, unset | 0x20000})
    EXPECT_FALSE(Sampler::unpacked(word)) << word;
  Sampler s;
  for (const auto& [field, word] : {std::pair{"filter_mode", "wrap"},
                                    {"addr_mode_0", "linear"},
                                    {"addr_mode_3", "wrap"},
                                    {"force_unnormalized_coords", "2"},
                                    {"width", "1"}})
    EXPECT_FALSE(s.set(field, word)) << field;
}

TEST(opaque_types, a_samplers_initial_values_are_its_bytes) {
  const std::string text = opaque_module(independent, sampler, "");
  const auto m = parse(text);
  ASSERT_TRUE(m) << render(m.error(), text);
  const Variable& v = m->symbols[m->find_symbol("S")].variable;
  ASSERT_EQ(v.init.size(), 8u);
  uint64_t word = 0;
  for (int k = 0; k < 8; ++k) word |= uint64_t{v.init[size_t(k)]} << (8 * k);
  const auto s = Sampler::unpacked(word);
  ASSERT_TRUE(s);
  EXPECT_EQ(s->text(), "{ addr_mode_0 = wrap, filter_mode = linear }");
  EXPECT_EQ(Sampler::filter_words[*s->filter], "linear");
  EXPECT_FALSE(s->address[1]);
  EXPECT_THAT(print(*m), HasSubstr(".samplerref S = { addr_mode_0 = wrap, filter_mode = linear };"));
}

// Each is accepted by ptxas, too.
const std::pair<std::string_view, std::string_view> accepted[] = {
    {"tex.2d.v4.f32.f32 {%f1, %f2, %f3, %f4}, [T, S, {%f5, %f6}];", ""},
    {"tex.2d.v4.f32.s32 {%f1, %f2, %f3, %f4}, [T, S, {%r1, %r2}];", ""},
    {"tex.2d.v4.f32.f32 {%f1, %f2, %f3, %f4}, [%rd2, S, {%f5, %f6}];", ""},
    {"tex.2d.v4.f32.f32 {%f1, %f2, %f3, %f4}, [T, %rd3, {%f5, %f6}];", ""},
    {"tex.2d.v4.f32.f32 {%f1, %f2, %f3, %f4}, [T, S, {%f5, %f6, %f7, %f8}];", ""},
    {"tex.level.2d.v4.f32.f32 {%f1, %f2, %f3, %f4}, [T, S, {%f5, %f6}], %f7;", ""},
    {"tld4.r.2d.v4.f32.f32 {%f1, %f2, %f3, %f4}, [T, S, {%f5, %f6}];", ""},
    {"txq.filter_mode.b32 %r1, [S];", ""},
    {"txq.force_unnormalized_coords.b32 %r1, [S];", ""},
    {"txq.width.b32 %r1, [T];", ""},
    {"suq.width.b32 %r1, [U];", ""},
    {"sust.b.2d.b32.trap [U, {%r1, %r2}], %r1;", ""},
    {"mov.u64 %rd2, S;", ""},
    {"mov.u64 %rd2, t;", ", .param .texref t"},
    {"tex.2d.v4.f32.f32 {%f1, %f2, %f3, %f4}, [t, s, {%f5, %f6}];",
     ", .param .texref t, .param .samplerref s"},
    {"suld.b.2d.b32.trap %r1, [u, {%r1, %r2}];", ", .param .surfref u"},
    {"ld.param.u64 %rd2, [t];", ", .param .u64 .ptr .texref t"}};

bool ptxas_takes(const std::string& text) { return toolkit::assemble(text, "sm_90").ok; }
bool has_ptxas() { return toolkit::find_tool("ptxas").has_value(); }

TEST(opaque_types, the_independent_mode_is_read_printed_and_assembled) {
  for (const auto& [line, parameters] : accepted) {
    const std::string text =
        opaque_module(independent, std::string(objects) + std::string(sampler), line, parameters);
    const auto m = parse(text);
    ASSERT_TRUE(m) << render(m.error(), text);
    EXPECT_TRUE(verify(*m).empty()) << render(verify(*m), text);
    const Function& k = *m->find_entry("k");
    EXPECT_EQ(print(*m, k, k.body[1]), line);
    if (has_ptxas()) {
      EXPECT_TRUE(ptxas_takes(text)) << text;
      EXPECT_TRUE(ptxas_takes(print(*m))) << print(*m);
    }
  }
}

TEST(opaque_types, one_coordinate_needs_no_braces) {
  const std::string text = opaque_module("", objects,
                                         "tex.1d.v4.f32.f32 {%f1, %f2, %f3, %f4}, [T, %f5];\n"
                                         "suld.b.1d.b32.trap %r1, [U, %r2];");
  const auto m = parse(text);
  ASSERT_TRUE(m) << render(m.error(), text);
  EXPECT_TRUE(verify(*m).empty()) << render(verify(*m), text);
  EXPECT_THAT(print(*m), HasSubstr("[T, {%f5}]"));
  EXPECT_THAT(print(*m), HasSubstr("[U, {%r2}]"));
  if (has_ptxas()) {
    EXPECT_TRUE(ptxas_takes(text));
  }
}

// ptxas makes the same machine code with them and without.
TEST(opaque_types, initial_values_of_textures_and_surfaces_mean_nothing) {
  const std::string text = opaque_module(
      "",
      ".global .texref T = { filter_mode = linear, addr_mode_0 = clamp_to_edge, width = 0x10 };\n"
      ".global .surfref U = { width = -5, memory_layout = 1 };",
      "txq.filter_mode.b32 %r1, [T];");
  const auto m = parse(text);
  ASSERT_TRUE(m) << render(m.error(), text);
  EXPECT_TRUE(m->symbols[m->find_symbol("T")].variable.init.empty());
  EXPECT_TRUE(m->symbols[m->find_symbol("U")].variable.init.empty());
  if (has_ptxas()) {
    EXPECT_TRUE(ptxas_takes(text));
  }
}

struct Refused {
  std::string_view mode, declarations, body, parameters, message;
};

constexpr std::string_view in_unified = "";
const Refused refused_by_ptxas[] = {
    {in_unified, ".global .samplerref S;", "", "", "the independent texturing mode"},
    {in_unified, "", "", ", .param .samplerref s", "the independent texturing mode"},
    {in_unified, "", "txq.force_unnormalized_coords.b32 %r1, [T];", "", "a `.samplerref`"},
    {in_unified, "", "suld.b.2d.b32.trap %r1, [T, {%r1, %r2}];", "", "a `.surfref`"},
    {in_unified, "", "tex.2d.v4.f32.f32 {%f1, %f2, %f3, %f4}, [U, {%f5, %f6}];", "", "a `.texref`"},
    {in_unified, "", "tex.2d.v4.f32.f32 {%f1, %f2, %f3, %f4}, [T+8, {%f5, %f6}];", "", "an offset"},
    {in_unified, "", "suq.width.b32 %r1, [%rd2+8];", "", "an offset"},
    {in_unified, "", "tex.2d.v4.f32.f32 {%f1, %f2, %f3, %f4}, [T, {%f5}];", "", "a vector of 2"},
    {in_unified, "", "tex.3d.v4.f32.f32 {%f1, %f2, %f3, %f4}, [T, {%f5, %f6}];", "", "a vector of 4"},
    {in_unified, "", "tex.3d.v4.f32.f32 {%f1, %f2, %f3, %f4}, [T, {%f5, %f6, %f7}];", "", "a vector of 4"},
    {in_unified, "", "tld4.r.2d.v4.f32.f32 {%f1, %f2, %f3, %f4}, [T, {%f5}];", "", "a vector of 2"},
    {in_unified, "", "suld.b.a2d.b32.trap %r1, [U, {%r1, %r2}];", "", "a vector of 4"},
    {in_unified, "", "tex.2d.v4.f32.f32 {%f1, %f2, %f3, %f4}, [T, {%f5, %f6}], {%r1};", "",
     "operand `offset`"},
    {in_unified, "", "tex.2d.v4.f32.f32 {%f1, %f2, %f3, %f4}, [T, {%f5, _}];", "", "no value"},
    {in_unified, "", "ld.global.u64 %rd2, [T];", "", "`ld` does not take it"},
    {in_unified, "", "add.u64 %rd2, %rd2, T;", "", "`add` does not take it"},
    {in_unified, "", "mov.b64 %rd2, T;", "", "`mov` does not take it"},
    {in_unified, "", "ld.param.u64 %rd2, [t];", ", .param .texref t", "`ld` does not take it"},
    {in_unified, ".const .texref C;", "", "", ".global memory of the module"},
    {in_unified, "", ".global .texref L;", "", ".global memory of the module"},
    {in_unified, "", ".param .surfref L;", "", ".global memory of the module"},
    {in_unified, "", ".reg .texref L;", "", "no register"},
    {in_unified, ".func f(.param .texref q) { ret; }", "", "", ".global memory of the module"},
    {in_unified, ".common .global .texref C;", "", "", ".common"},
    {in_unified, ".extern .global .texref E = { width = 1 };", "", "", ".extern"},
    {in_unified, ".extern .global .u32 E = 1;", "", "", ".extern"},
    {in_unified, ".global .texref I = { memory_layout = 1 };", "", "", "takes no `memory_layout"},
    {in_unified, ".global .surfref I = { filter_mode = linear };", "", "", "takes no `filter_mode"},
    {in_unified, ".global .texref I = { width = five };", "", "", "takes no `width = five"},
    {in_unified, ".global .texref I = { width = 1, };", "", "", "a field"},
    {in_unified, "", "", ", .param .u64 .ptr .align 8 .texref t", "one type"},
    {independent, sampler, "tex.2d.v4.f32.f32 {%f1, %f2, %f3, %f4}, [T, {%f5, %f6}];", "", "needs a sampler"},
    {independent, sampler, "tex.2d.v4.f32.f32 {%f1, %f2, %f3, %f4}, [T, T, {%f5, %f6}];", "", ".samplerref"},
    {independent, sampler, "tex.2d.v4.f32.f32 {%f1, %f2, %f3, %f4}, [T, S+8, {%f5, %f6}];", "",
     ".samplerref"},
    {independent, sampler, "txq.filter_mode.b32 %r1, [T];", "", "a `.samplerref`"},
    {independent, sampler, "txq.width.b32 %r1, [S];", "", "a `.texref`"},
    {independent, sampler, "suld.b.2d.b32.trap %r1, [U, S, {%r1, %r2}];", "", "no sampler"},
    {independent, ".global .samplerref S = { width = 5 };", "", "", "takes no `width"},
    {independent, ".global .samplerref S = { filter_mode = cubic };", "", "", "takes no `filter_mode"},
    {", texmode_unified, texmode_independent", "", "", "", "one texturing mode"},
    {", texmode_independant", "", "", "", "no option"}};

TEST(opaque_types, what_ptxas_refuses_is_refused) {
  for (const Refused& r : refused_by_ptxas) {
    const std::string text =
        opaque_module(r.mode, std::string(objects) + std::string(r.declarations), r.body, r.parameters);
    EXPECT_THAT(first_refusal(text), HasSubstr(r.message)) << text;
    if (has_ptxas()) {
      EXPECT_FALSE(ptxas_takes(text)) << text;
    }
  }
}

// Without `.address_size`, which came with PTX 2.3.
TEST(opaque_types, what_older_versions_do_not_have_is_refused) {
  const auto refused = [](std::string_view header, std::string_view declarations, std::string_view body) {
    const std::string text =
        fmt::format("{}\n{}\n.entry k {{\n.reg .b32 %r<3>; .reg .b64 %rd<3>;\n{}\nexit;\n}}\n", header,
                    declarations, body);
    const std::string first = first_refusal(text);
    if (has_ptxas()) {
      EXPECT_EQ(first.empty(), ptxas_takes(text)) << text;
    }
    return first;
  };
  constexpr std::string_view v14 = ".version 1.4\n.target sm_13", v15 = ".version 1.5\n.target sm_13",
                             v21 = ".version 2.1\n.target sm_20, texmode_independent",
                             v30 = ".version 3.0\n.target sm_20", v31 = ".version 3.1\n.target sm_20";
  EXPECT_THAT(refused(v14, ".global .texref T;", ""), HasSubstr("PTX 1.5"));
  EXPECT_THAT(refused(".version 1.4\n.target sm_13, texmode_independent", "", ""), HasSubstr("PTX 1.5"));
  EXPECT_EQ(refused(v14, ".tex .u64 T;", ""), "");
  EXPECT_EQ(refused(v15, ".global .texref T;", "txq.width.b32 %r1, [T];"), "");
  EXPECT_THAT(refused(v15, ".tex .u64 T;", ""), HasSubstr("ended with PTX 1.4"));
  EXPECT_THAT(refused(v21, ".global .samplerref S;", "txq.force_unnormalized_coords.b32 %r1, [S];"),
              HasSubstr("PTX 2.2"));
  EXPECT_THAT(refused(v30, ".global .texref T;", "mov.u64 %rd1, T;"), HasSubstr("PTX 3.1"));
  EXPECT_THAT(refused(v30, "", "txq.width.b32 %r1, [%rd1];"), HasSubstr("PTX 3.1"));
  EXPECT_EQ(refused(v31, ".global .texref T;", "mov.u64 %rd1, T; txq.width.b32 %r1, [%rd1];"), "");
}

// ptxas takes these; what its code does with them PTX does not say.
TEST(opaque_types, what_is_not_modelled_is_named) {
  EXPECT_THAT(first_refusal(opaque_module(independent, ".global .samplerref S[4];", "")),
              HasSubstr("arrays of `.samplerref`"));
  EXPECT_THAT(first_refusal(opaque_module("", objects,
                                          "tex.2d.v4.f32.f32 {%f1, %f2, %f3, %f4}, [T, %rd2, {%f5, %f6}];")),
              HasSubstr("the independent texturing mode"));
  EXPECT_THAT(first_refusal(opaque_module("", objects, "cvta.global.u64 %rd2, T;")),
              HasSubstr("`cvta` does not take it"));
  EXPECT_THAT(first_refusal(opaque_module(independent, ".global .samplerref S = { filter_mode = 7 };", "")),
              HasSubstr("takes no `filter_mode = 7`"));
}

}  // namespace
}  // namespace palladion::isa
