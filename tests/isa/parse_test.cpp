#include "isa/text/parse.h"

#include <gmock/gmock.h>

#include <bit>

#include "isa/core/op.h"
#include "isa/text/print.h"
#include "isa/verify/verify.h"

namespace palladion::isa {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using K = Operand::Kind;

const std::string header = ".version 8.7\n.target sm_90a\n.address_size 64\n";

Module parsed(const std::string& text) {
  auto module = parse(text);
  EXPECT_TRUE(module) << (module ? "" : render(module.error(), text));
  return module ? std::move(*module) : Module{};
}

// A kernel with usual registers around `body`.
Module kernel(const std::string& body, const std::string& before = {}) {
  return parsed(header + before +
                ".visible .entry k(.param .u64 p) {\n.reg .pred %p<9>; .reg .b16 %rs<9>; .reg .b32 %r<9>; "
                ".reg .b64 %rd<9>;\n"
                ".reg .f32 %f<9>; .reg .f64 %fd<9>;\n" +
                body + "\n}\n");
}

const Instruction& only(const Module& m) {
  EXPECT_EQ(m.functions.front().body.size(), 1u);
  return m.functions.front().body.front();
}

const Operand& operand_of(const Module& m, std::string_view name) { return *only(m).operand(name); }

Diagnostics errors(const std::string& text) {
  const auto module = parse(text);
  EXPECT_FALSE(module) << "accepted:\n" << text;
  return module ? Diagnostics{} : module.error();
}

Diagnostics kernel_errors(const std::string& body) {
  return errors(header +
                ".visible .entry k(.param .u64 p) {\n.reg .pred %p<9>; .reg .b32 %r<9>; .reg .b64 %rd<9>; "
                ".reg .f32 %f<9>;\n" +
                body + "\n}\n");
}

// --- module --------------------------------------------------------------------------------------

TEST(parse, header_says_version_target_and_options) {
  const Module m = parsed(".version 8.3\n.target sm_90a, texmode_independent, debug\n.address_size 64\n");
  EXPECT_EQ(m.version_major, 8u);
  EXPECT_EQ(m.version_minor, 3u);
  EXPECT_EQ(m.target, "sm_90a");
  EXPECT_THAT(m.target_options, ElementsAre("texmode_independent", "debug"));
}

TEST(parse, comments_may_stand_anywhere) {
  const Module m = parsed("// first\n" + header + "/* a\n b */ .global /* c */ .b32 x; // d\n");
  EXPECT_NE(m.find_symbol("x"), no_id);
}

TEST(parse, a_managed_variable_is_one_again_when_it_is_printed) {
  const Module m = parsed(header + ".global .attribute(.managed) .align 4 .u32 a = 5;\n.global .u32 b;\n");
  EXPECT_TRUE(m.symbols[m.find_symbol("a")].variable.managed);
  EXPECT_FALSE(m.symbols[m.find_symbol("b")].variable.managed);
  const Module again = parsed(print(m));
  EXPECT_TRUE(again.symbols[again.find_symbol("a")].variable.managed);
  EXPECT_FALSE(again.symbols[again.find_symbol("b")].variable.managed);
}

TEST(parse, parameters_keep_type_alignment_pointee_and_size) {
  const Module m = parsed(header +
                          ".entry k(.param .u64 .ptr .global .align 16 a, .param .align 64 .b8 b[128], "
                          ".param .f32 c, .param .u64 .ptr .align 1 d) { ret; }");
  const Function& f = m.functions.front();
  ASSERT_EQ(f.params.size(), 4u);
  const Variable &a = m.symbols[f.params[0]].variable, &b = m.symbols[f.params[1]].variable;
  EXPECT_TRUE(a.pointer);
  EXPECT_EQ(a.pointee, Space::global);
  EXPECT_EQ(a.pointee_align, 16u);
  EXPECT_EQ(b.align, 64u);
  EXPECT_EQ(b.size(), 128u);
  EXPECT_EQ(m.symbols[f.params[3]].variable.pointee, Space::generic);
  EXPECT_THAT(param_layout(m, f).offsets, ElementsAre(0, 64, 192, 200));
  EXPECT_THAT(param_layout(m, f, 0x210).offsets, ElementsAre(0, 48, 176, 184));  // as the driver lays it out
  EXPECT_EQ(m.find_symbol("a", f.symbol), f.params[0]);
}

TEST(parse, directives_of_a_kernel_are_kept) {
  const Module m = parsed(header +
                          ".visible .entry k() .maxntid 128, 2, 1 .minnctapersm 2 .maxnreg 64 "
                          ".explicitcluster .reqnctapercluster 2, 1, 1 "
                          ".pragma \"nounroll\"; { ret; }");
  const Function& f = m.functions.front();
  EXPECT_EQ(f.maxntid, (Dim3{128, 2, 1}));
  EXPECT_EQ(f.minnctapersm, 2u);
  EXPECT_EQ(f.maxnreg, 64u);
  EXPECT_TRUE(f.explicitcluster);
  EXPECT_EQ(f.reqnctapercluster, (Dim3{2, 1, 1}));
  EXPECT_THAT(f.pragmas, ElementsAre("nounroll"));
  EXPECT_EQ(m.symbols[f.symbol].linkage, Linkage::visible);
}

TEST(parse, initialisers_become_bytes) {
  const Module m = parsed(
      header +
      ".global .u32 a = 5;\n.global .s16 b[2][2] = {{1, -1}, {2}};\n.const .f32 c[2] = {0f3F800000, 2.0};\n"
      ".global .f64 d = 0d3FF0000000000000;\n.global .b8 e[6] = \"ab\\n\";\n.global .align 16 .v2 .u32 f = "
      "{1, 2};\n"
      ".global .b8 open[] = {1, 2, 3};\n.global .u64 g = -1;");
  const auto init = [&](std::string_view name) { return m.symbols[m.find_symbol(name)].variable.init; };
  EXPECT_THAT(init("a"), ElementsAre(5, 0, 0, 0));
  EXPECT_THAT(init("b"), ElementsAre(1, 0, 0xff, 0xff, 2, 0));
  EXPECT_THAT(init("c"), ElementsAre(0, 0, 0x80, 0x3f, 0, 0, 0, 0x40));
  EXPECT_EQ(init("d").back(), 0x3f);
  EXPECT_THAT(init("e"), ElementsAre('a', 'b', '\n', 0));
  EXPECT_THAT(init("f"), ElementsAre(1, 0, 0, 0, 2, 0, 0, 0));
  EXPECT_THAT(m.symbols[m.find_symbol("open")].variable.dims, ElementsAre(3));
  EXPECT_EQ(init("g").size(), 8u);
}

TEST(parse, addresses_in_initialisers_become_relocations) {
  const Module m = parsed(
      header +
      ".global .u32 x[4];\n.global .u64 p[3] = {x, generic(x)+8, later};\n.global .u32 later;\n"
      ".global .align 8 .b8 s[10] = {7, 0, 0xFF(x), 0xFF00(x), 0xFF0000(x), 0xFF000000(x), 0xFF00000000(x), "
      "0xFF0000000000(x), 0xFF000000000000(x), 0xFF00000000000000(x)};");
  const auto& p = m.symbols[m.find_symbol("p")].variable.relocations;
  ASSERT_EQ(p.size(), 3u);
  EXPECT_EQ(p[1].at, 8u);
  EXPECT_EQ(p[1].addend, 8);
  EXPECT_TRUE(p[1].generic);
  EXPECT_EQ(p[2].symbol, m.find_symbol("later"));
  const auto& s = m.symbols[m.find_symbol("s")].variable.relocations;
  ASSERT_EQ(s.size(), 1u);  // eight masked bytes are one address
  EXPECT_EQ(s[0].at, 2u);
  EXPECT_EQ(s[0].size, 8u);
}

TEST(parse, a_declared_function_and_its_definition_are_one) {
  const Module m = parsed(header +
                          ".func (.param .b32 r) f(.param .b32 a);\n.entry k() { ret; }\n.func (.param .b32 "
                          "r) f(.param .b32 a) { ret; }");
  ASSERT_EQ(m.functions.size(), 2u);
  EXPECT_TRUE(m.find_function("f")->defined);
  EXPECT_EQ(m.find_function("f")->params.size(), 1u);
}

TEST(parse, an_alias_calls_its_target) {
  const Module m = parsed(header + ".func a();\n.func b() { ret; }\n.alias a, b;");
  ASSERT_EQ(m.aliases.size(), 1u);
  EXPECT_EQ(m.functions[m.symbols[m.find_symbol("a")].function].name, "b");
}

TEST(parse, lines_of_the_source_reach_the_instructions) {
  const Module m = kernel(
      ".loc 1 12 5\nmov.u32 %r1, 0;\n.loc 2 3 1, function_name $L__info0, inlined_at 1 7 3\nmov.u32 %r2, "
      "0;\nmov.u32 %r3, 1;",
      ".file 2 \"b.h\"\n.file 1 \"a.cu\", 123, 45\n");
  const auto& body = m.functions.front().body;
  EXPECT_EQ(m.source(body[0])->file, "a.cu");
  EXPECT_EQ(m.source(body[0])->line, 12u);
  EXPECT_EQ(m.source(body[0])->column, 5u);
  EXPECT_EQ(m.source(body[1])->file, "b.h");
  EXPECT_EQ(body[1].origin.source, body[2].origin.source);
  EXPECT_EQ(body[2].origin.ptx_line, body[1].origin.ptx_line + 1);
}

TEST(parse, debug_sections_are_kept_as_text) {
  const Module m =
      parsed(header + ".section .debug_str\n{\n$L__s0:\n.b8 95, 90 // }\n.b8 0\n}\n.global .b32 x;");
  ASSERT_EQ(m.debug_sections.size(), 1u);
  EXPECT_THAT(m.debug_sections[0], HasSubstr(".b8 95, 90"));
  EXPECT_NE(m.find_symbol("x"), no_id);
}

// --- scopes and labels ---------------------------------------------------------------------------

TEST(parse, a_block_hides_registers_and_labels_of_the_block_around) {
  const Module m = kernel(
      ".reg .b32 x;\nmov.u32 x, 1;\n{\n.reg .b64 x;\nmov.u64 x, 2;\nlabel: bra label;\n}\n{\nlabel: bra "
      "label;\nbra out;\n}\nadd.s32 x, x, 3;\nout: ret;");
  const Function& f = m.functions.front();
  EXPECT_EQ(f.registers[f.body[0].operands[0].id].type, Type::b32);
  EXPECT_EQ(f.registers[f.body[1].operands[0].id].type, Type::b64);
  EXPECT_EQ(f.body[5].operands[0].id, f.body[0].operands[0].id);
  EXPECT_EQ(f.labels[f.body[2].operands[0].id].target, 2u);
  EXPECT_EQ(f.labels[f.body[3].operands[0].id].target, 3u);
  EXPECT_EQ(f.labels[f.body[4].operands[0].id].target, 6u);
  EXPECT_NE(f.registers[0].name, f.registers[1].name);
  EXPECT_NE(f.labels[f.body[2].operands[0].id].name, f.labels[f.body[3].operands[0].id].name);
}

TEST(parse, only_registers_that_are_named_exist) {
  const Module m = kernel("mov.u32 %r1, %r2;");
  EXPECT_EQ(m.functions.front().registers.size(), 2u);
}

TEST(parse, a_list_of_branch_targets_reaches_brx) {
  const Module m = kernel("ts: .branchtargets A, B;\nbrx.idx.uni %r1, ts;\nA: ret;\nB: ret;");
  const Function& f = m.functions.front();
  ASSERT_EQ(f.branch_targets.size(), 1u);
  const Operand& list = *f.body[0].operand("targets");
  ASSERT_TRUE(list.is(K::label));
  EXPECT_EQ(f.labels[f.branch_targets[list.id].labels[1]].target, 2u);
}

// --- operands ------------------------------------------------------------------------------------

int64_t integer_of(const std::string& text) {
  return static_cast<int64_t>(operand_of(kernel("mov.b64 %rd1, " + text + ";"), "a").bits);
}

TEST(parse, integers_in_every_base_and_constant_expressions) {
  EXPECT_EQ(integer_of("42"), 42);
  EXPECT_EQ(integer_of("-42"), -42);
  EXPECT_EQ(integer_of("0x1fU"), 31);
  EXPECT_EQ(integer_of("0b101"), 5);
  EXPECT_EQ(integer_of("017"), 15);
  EXPECT_EQ(integer_of("0"), 0);
  EXPECT_EQ(integer_of("0xFFFFFFFFFFFFFFFF"), -1);
  EXPECT_EQ(integer_of("-9223372036854775808"), INT64_MIN);
  EXPECT_EQ(integer_of("(1+2)"), 3);
  EXPECT_EQ(integer_of("(1+2*3-8/4)<<2"), 20);
  EXPECT_EQ(integer_of("~0"), -1);
  EXPECT_EQ(integer_of("5 > 3 ? 7 : 9"), 7);
  EXPECT_EQ(integer_of("WARP_SZ * 2"), 64);
  EXPECT_EQ(integer_of("(.s64)-1"), -1);
}

TEST(parse, floats_take_the_type_of_their_instruction) {
  const auto f = [](const std::string& t) { return operand_of(kernel("mov.f32 %f1, " + t + ";"), "a"); };
  EXPECT_EQ(f("0f3F800000"), Operand::f32(0x3f800000));
  EXPECT_EQ(operand_of(kernel("add.s32 %r1, %r2, -7;"), "b"), Operand::imm(-7));
}

TEST(parse, special_registers_and_their_components) {
  const auto special = [](const std::string& t) {
    return operand_of(kernel("mov.u32 %r1, " + t + ";"), "a");
  };
  EXPECT_EQ(special("%tid.y"), Operand::special_reg(Special::tid, 1));
  EXPECT_EQ(special("%laneid"), Operand::special_reg(Special::laneid));
  EXPECT_EQ(special("%cluster_nctaid.z"), Operand::special_reg(Special::cluster_nctaid, 2));
  EXPECT_EQ(special("%envreg12"), Operand::special_reg(Special::envreg, 12));
}

TEST(parse, addresses_with_offsets) {
  const auto address = [](const std::string& t) {
    return operand_of(kernel("ld.shared.u32 %r1, " + t + ";", ".shared .b32 s[9];\n"), "a");
  };
  EXPECT_EQ(address("[%r2]").offset, 0);
  EXPECT_EQ(address("[%r2+16]").offset, 16);
  EXPECT_EQ(address("[%r2+-4]").offset, -4);
  EXPECT_EQ(address("[%r2-4]").offset, -4);
  EXPECT_TRUE(address("[s+8]").elements[0].is(K::symbol));
  EXPECT_EQ(address("[s+8]").offset, 8);
  EXPECT_EQ(address("[64]").elements[0].bits, 64u);
}

TEST(parse, vectors_sinks_and_pairs) {
  const Module m = kernel("ld.global.v4.u32 {%r1, _, %r2, %r3}, [%rd1];");
  const Operand& d = only(m).operands[0];
  ASSERT_EQ(d.elements.size(), 4u);
  EXPECT_TRUE(d.elements[1].is(K::sink));
  const Module pair = kernel("setp.lt.s32 %p1|%p2, %r1, %r2;");
  EXPECT_TRUE(only(pair).operands[1].joined);
  const Module alone = kernel("setp.lt.and.s32 %p1, %r1, %r2, !%p3;");
  EXPECT_TRUE(only(alone).operands[1].is(K::none));  // the second destination was left out
  EXPECT_TRUE(only(alone).operand("c")->negated);
}

// As ptxas reads them, and Triton writes them.
TEST(parse, one_register_of_a_load_or_store_may_stand_in_braces) {
  const auto canonical = [](const std::string& text) {
    const Module m = kernel(text);
    return print(m, m.functions.front(), only(m));
  };
  EXPECT_EQ(canonical("ld.global.b32 { %r1 }, [ %rd1 + 0 ];"), "ld.global.b32 %r1, [%rd1];");
  EXPECT_EQ(canonical("st.global.b32 [%rd1], {7};"), "st.global.b32 [%rd1], 7;");
  for (const char* other : {"add.s32 %r1, {%r2}, %r3;", "red.global.add.u32 [%rd1], {%r2};"}) {
    const auto refused =
        parse(header + ".visible .entry k() {\n.reg .b32 %r<9>; .reg .b64 %rd<9>;\n" + other + "\n}\n");
    ASSERT_FALSE(refused) << other;
    EXPECT_EQ(refused.error().front().code, "PLD1004") << other;
  }
}

// As ptxas reads them.
TEST(parse, modifiers_may_stand_in_another_order) {
  const auto canonical = [](const std::string& text) {
    const Module m = kernel(text);
    return print(m, m.functions.front(), only(m));
  };
  EXPECT_EQ(canonical("ld.u32.global %r1, [%rd1];"), "ld.global.u32 %r1, [%rd1];");
  EXPECT_EQ(canonical("red.add.global.relaxed.gpu.f64 [%rd1], %fd1;"),
            "red.relaxed.gpu.global.add.f64 [%rd1], %fd1;");
  EXPECT_EQ(canonical("cvt.sat.rn.f32.f64 %f1, %fd1;"), "cvt.rn.sat.f32.f64 %f1, %fd1;");
}

TEST(parse, modifiers_may_stand_apart) {  // as TileLang writes a cache hint; ptxas reads them
  const Module m = kernel("ld.global .L1::no_allocate .b32 %r1, [%rd1];");
  EXPECT_EQ(print(m, m.functions.front(), only(m)), "ld.global.L1::no_allocate.b32 %r1, [%rd1];");
}

TEST(parse, guards) {
  const Module m = kernel("@!%p3 mov.u32 %r1, 0;");
  EXPECT_TRUE(only(m).guard.negated);
  EXPECT_EQ(m.functions.front().registers[only(m).guard.reg].name, "%p3");
}

TEST(parse, calls_with_and_without_lists) {
  const Module m = kernel(
      "{ .param .b32 a; .param .b32 b; call.uni (b), f, (a); }\ncall g;\n{ proto: .callprototype (.param "
      ".b32 _) _ (.param .b64 _) .noreturn; "
      ".param .b64 a; .param .b32 b; call (b), %rd1, (a), proto; }",
      ".func (.param .b32 r) f(.param .b32 x) { ret; }\n.func g() { ret; }\n");
  const Function& k = *m.find_function("k");
  ASSERT_EQ(k.body.size(), 3u);
  const Instruction& first = k.body[0];
  EXPECT_EQ(m.symbols[first.operand("function")->id].name, "f");
  EXPECT_EQ(first.operand("returns")->elements.size(), 1u);
  EXPECT_EQ(first.operand("arguments")->elements.size(), 1u);
  EXPECT_EQ(print(m, k, k.body[1]), "call g;");
  EXPECT_TRUE(k.body[2].operand("function")->is(K::reg));
  ASSERT_EQ(k.call_targets.size(), 1u);
  EXPECT_TRUE(k.call_targets[0].noreturn);
  EXPECT_EQ(m.symbols[k.locals[0]].name, "a");
  EXPECT_EQ(m.symbols[k.locals[2]].name, "a_1");  // the second block's own
}

// --- errors --------------------------------------------------------------------------------------

TEST(parse_errors, every_error_is_reported_at_its_place) {
  const std::string text = header +
                           ".visible .entry k() {\n  .reg .b32 %r<4>;\n  ad.s32 %r1, %r2, %r3;\n  add.s33 "
                           "%r1, %r2, %r3;\n  add.s32 %r1, %r9, %r3;\n  ret;\n}\n";
  const Diagnostics d = errors(text);
  ASSERT_EQ(d.size(), 3u);
  EXPECT_EQ(d[0].code, "PLD1002");
  EXPECT_EQ(d[0].loc.line, 6u);
  EXPECT_EQ(d[0].loc.column, 3u);
  EXPECT_THAT(d[0].help, HasSubstr("`add`"));
  EXPECT_EQ(d[1].code, "PLD1003");
  EXPECT_EQ(d[1].loc.column, 6u);
  EXPECT_THAT(d[1].help, HasSubstr("`.s32`"));
  EXPECT_EQ(d[2].code, "PLD1005");
  EXPECT_EQ(d[2].loc.line, 8u);
  EXPECT_EQ(d[2].loc.column, 16u);
}

TEST(parse_errors, a_forgotten_semicolon_costs_one_error) {
  const Diagnostics d = kernel_errors("mov.u32 %r1, 0\nmov.u32 %r2, 0;\nmov.u32 %r3, 0;");
  ASSERT_EQ(d.size(), 1u);
  EXPECT_EQ(d[0].loc.line, 6u);
  EXPECT_THAT(d[0].message, HasSubstr("`;`"));
}

TEST(parse_errors, the_file_name_is_named) {
  const auto module = parse("mov", "kernel.ptx");
  ASSERT_FALSE(module);
  EXPECT_EQ(module.error()[0].loc.file, "kernel.ptx");
}

TEST(parse_errors, hostile_text_ends_in_errors) {
  std::string deep = header + ".entry k() {";
  for (int i = 0; i < 5000; ++i) deep += '{';
  EXPECT_FALSE(errors(deep).empty());
  EXPECT_FALSE(errors(header + ".global .u32 x = " + std::string(100000, '(') + "1;").empty());
  EXPECT_FALSE(errors(header + ".global .b8 x[99999999999][99999999999];").empty());
  EXPECT_FALSE(errors(header + ".global .b8 x[9999999999][1] = {" + std::string(5000, '{')).empty());
  EXPECT_FALSE(errors(header + ".entry k() { /* never closed").empty());
  EXPECT_FALSE(errors(header + ".entry k() { mov.u32 %r1, \"text").empty());
  EXPECT_FALSE(errors(std::string("\0\x80\xff{}", 5)).empty());
  EXPECT_LE(errors(header + ".entry k() {" + std::string(200000, '@')).size(), 100u);
}

}  // namespace
}  // namespace palladion::isa
