#include "isa/verify/verify.h"

#include <gmock/gmock.h>

#include "isa/core/builder.h"
#include "isa/text/parse.h"
#include "tests/support/small_chip.h"

namespace palladion::isa {
namespace {

using testing::HasSubstr;

struct Header {
  std::string version = "8.7", target = "sm_90a";
};

std::string text_of(const std::string& body, const std::string& before, const Header& h) {
  return ".version " + h.version + "\n.target " + h.target + "\n.address_size 64\n" + before +
         ".shared .b32 s; .global .b32 g;\n.visible .entry k(.param .u64 p) {\n.reg .pred %p<9>; .reg .b16 "
         "%rs<9>; .reg .b32 %r<9>; .reg .u32 %u<9>; "
         ".reg .b64 %rd<9>; .reg .f32 %f<9>; .reg .f64 %fd<9>;\n" +
         body + "\nret;\n}\n";
}

Diagnostics verified(const std::string& body, const std::string& before = {}, const Header& h = {}) {
  const std::string text = text_of(body, before, h);
  const auto module = parse(text);
  EXPECT_TRUE(module) << render(module ? Diagnostics{} : module.error(), text);
  return module ? verify(*module) : Diagnostics{};
}

// Exactly one diagnostic with this code; its message.
std::string one(const std::string& code, const std::string& body, const std::string& before = {},
                const Header& h = {}) {
  const Diagnostics d = verified(body, before, h);
  EXPECT_EQ(d.size(), 1u) << body << "\n" << render(d, text_of(body, before, h));
  if (d.empty()) return {};
  EXPECT_EQ(d[0].code.name(), code) << d[0].message;
  return d[0].message;
}

void fine(const std::string& body, const std::string& before = {}) {
  const Diagnostics d = verified(body, before);
  EXPECT_TRUE(d.empty()) << render(d, text_of(body, before, {}));
}

TEST(verify, registers_have_the_width_of_the_type) {
  EXPECT_THAT(one("PLD1021", "add.s32 %r1, %rd2, %r3;"), HasSubstr("64 bits"));
  EXPECT_THAT(one("PLD1021", "mul.wide.u32 %r1, %r2, %r3;"), HasSubstr("64"));
  EXPECT_THAT(one("PLD1021", "mov.b64 %rd1, {%r1, %r2, %r3};"), HasSubstr("96 bits"));
  fine("mul.wide.u32 %rd1, %r2, %r3;\nmov.b64 %rd1, {%r1, %r2};\nmov.b64 {%r1, %r2}, %rd1;");
}

TEST(verify, loads_stores_and_conversions_take_wider_registers) {
  fine(
      "ld.global.u8 %r1, [%rd1];\nld.global.u32 %rd2, [%rd1];\nst.global.u16 [%rd1], %rd2;\ncvt.u32.u16 %r1, "
      "%r2;");
  EXPECT_THAT(one("PLD1021", "ld.global.u32 %rs1, [%rd1];"), HasSubstr("16 bits"));
}

TEST(verify, integer_and_floating_registers_do_not_mix) {
  EXPECT_THAT(one("PLD1022", "add.s32 %f1, %r1, %r2;"), HasSubstr("`.f32`"));
  EXPECT_THAT(one("PLD1022", "ld.global.f32 %u1, [%rd1];"), HasSubstr("`.u32`"));
  EXPECT_THAT(one("PLD1022", "ld.global.f32 %fd1, [%rd1];"), HasSubstr("`.f64`"));
  EXPECT_THAT(one("PLD1022", "cvt.f64.f16 %fd1, %f2;"), HasSubstr("`.f16`"));
  EXPECT_THAT(one("PLD1022", "mul.wide.u32 %fd1, %r1, %r2;"), HasSubstr("`.f64`"));
  fine("and.b32 %f1, %f2, %u3;\nld.global.b32 %f1, [%rd1];");
}

TEST(verify, constants_fit_the_type) {
  EXPECT_THAT(one("PLD1023", "mov.u32 %r1, 0f3F800000;"), HasSubstr("integer"));
  EXPECT_THAT(one("PLD1023", "mov.f32 %f1, 1;"), HasSubstr("floating"));
  fine("mov.b32 %r1, 0f3F800000;\nmov.f32 %f1, 1.0;\nst.global.u8 [%rd1], -1;");
}

TEST(verify, constants_lie_in_the_range_of_their_instruction) {
  EXPECT_THAT(one("PLD1023", "setmaxnreg.inc.sync.aligned.u32 500;"), HasSubstr("24 to 256 in steps of 8"));
  EXPECT_THAT(one("PLD1023", "bar.sync 16;"), HasSubstr("0 to 15"));
  EXPECT_THAT(one("PLD1023", "bar.sync 1, 33;"), HasSubstr("steps of 32"));
  EXPECT_THAT(one("PLD1023", "wgmma.wait_group.sync.aligned -1;"), HasSubstr("0 or more"));
  fine("bar.sync 15, 1024;\nsetmaxnreg.dec.sync.aligned.u32 24;");
}

// ptxas 13.0 refuses each of these as well.
TEST(verify, cp_async_copies_4_8_or_16_bytes) {
  const std::string copy = "cp.async.ca.shared.global [s], [g], ";
  EXPECT_THAT(one("PLD1023", copy + "12;"), HasSubstr("is 12 and must be 4, 8 or 16"));
  EXPECT_THAT(one("PLD1023", copy + "0;"), HasSubstr("must be 4, 8 or 16"));
  EXPECT_THAT(one("PLD1023", "cp.async.cg.shared.global [s], [g], 8;"), HasSubstr("must be 16"));
  fine(copy + "4;\n" + copy + "8;\n" + copy + "16;\ncp.async.cg.shared.global [s], [g], 16;");
}

TEST(verify, cp_async_reads_no_more_bytes_than_it_writes) {
  const std::string copy = "cp.async.ca.shared.global [s], [g], 8, ";
  EXPECT_THAT(one("PLD1023", copy + "12;"), HasSubstr("`source` of `cp` is 12 and must be 0 to 8"));
  EXPECT_THAT(one("PLD1023", copy + "-1;"), HasSubstr("must be 0 to 8"));
  EXPECT_THAT(one("PLD1021", copy + "%rd1;"), HasSubstr("64 bits"));
  EXPECT_THAT(one("PLD1023", "cp.async.ca.shared.global.L2::cache_hint [s], [g], 4, 9, %rd1;"),
              HasSubstr("must be 0 to 4"));
  fine(copy + "0;\n" + copy + "8;\n" + copy + "%r1;\n" + copy + "%p1;\n" + copy + "!%p1;");
}

TEST(verify, destinations_are_registers) {
  Module m;
  Symbol s;
  s.name = "k";
  s.kind = Symbol::Kind::function;
  s.function = 0;
  m.symbols.push_back(s);
  Function& f = m.functions.emplace_back();
  f.name = "k";
  f.symbol = 0;
  f.entry = true;
  Builder b(m, f);
  b.emit("add.s32", {Operand::imm(1), Operand::imm(2), Operand::imm(3)});
  b.emit("add.s32", {Operand::sink(), Operand::imm(2), Operand::imm(3)});
  b.emit("bra", {b.label("nowhere")});
  b.emit("mov.b32", {Operand::reg(77), Operand::imm(0)});
  const Diagnostics d = verify(m);
  ASSERT_EQ(d.size(), 4u) << render(d);
  EXPECT_EQ(d[0].code, "PLD1020");
  EXPECT_EQ(d[1].code, "PLD1020");
  EXPECT_EQ(d[2].code, "PLD1026");
  EXPECT_EQ(d[3].code, "PLD1033");
  EXPECT_THAT(d[0].message, HasSubstr("add.s32 1, 2, 3;"));
}

TEST(verify, instructions_need_their_target_and_version) {
  const std::string wgmma = "wgmma.fence.sync.aligned;";
  EXPECT_THAT(one("PLD1024", wgmma, {}, {.target = "sm_90"}), HasSubstr("sm_90a"));
  EXPECT_THAT(one("PLD1024", wgmma, {}, {.target = "sm_100a"}), HasSubstr("sm_90a"));
  EXPECT_THAT(one("PLD1025", wgmma, {}, {.version = "7.8"}), HasSubstr("PTX 8.0"));
  EXPECT_THAT(one("PLD1025", "vote.any.pred %p1, %p2;"), HasSubstr("ended with PTX 6.3"));
  fine(wgmma);
}

// ptxas' families: sm_100f is what sm_100 and sm_103 share, sm_100a one chip alone.
TEST(verify, targets_of_a_family) {
  const std::string f16s = "cvt.rs.f16x2.f32 %r1, %f1, %f2, %r2;", redux = "redux.sync.min.f32 %f1, %f2, -1;",
                    pair = "add.rn.f32x2 %rd1, %rd2, %rd3;",
                    registers = "setmaxnreg.inc.sync.aligned.u32 64;";
  const auto runs = [](const std::string& line, const std::string& target) {
    const auto module = parse(text_of(line, {}, {.version = "9.0", .target = target}));
    return module && verify(*module).empty();
  };
  for (const std::string target : {"sm_100", "sm_100f", "sm_100a", "sm_103f", "sm_110a", "sm_120"})
    EXPECT_TRUE(runs(pair, target)) << target;
  EXPECT_FALSE(runs(pair, "sm_90a"));
  for (const std::string target : {"sm_100f", "sm_100a", "sm_103f", "sm_103a"})
    EXPECT_TRUE(runs(redux, target)) << target;
  for (const std::string target : {"sm_90a", "sm_100", "sm_103", "sm_110a", "sm_120a"})
    EXPECT_FALSE(runs(redux, target)) << target;
  for (const std::string target : {"sm_100a", "sm_103a"}) EXPECT_TRUE(runs(f16s, target)) << target;
  for (const std::string target : {"sm_100f", "sm_103f", "sm_103", "sm_110a"})
    EXPECT_FALSE(runs(f16s, target)) << target;
  for (const std::string target : {"sm_90a", "sm_100a", "sm_100f", "sm_103a"})
    EXPECT_TRUE(runs(registers, target)) << target;
  for (const std::string target : {"sm_90", "sm_100", "sm_103"})
    EXPECT_FALSE(runs(registers, target)) << target;
  EXPECT_THAT(one("PLD1024", f16s, {}, {.version = "9.0", .target = "sm_90a"}),
              HasSubstr("needs `.target sm_100a or sm_103a`"));
}

// The place is the author's line.
TEST(verify, a_kernel_for_the_other_chip_says_which_instruction_needs_it) {
  const auto refused = [](const std::string& target, const std::string& line, const char* chip) {
    const auto module =
        parse(text_of("mov.u32 %r1, %tid.x;\n" + line, {}, {.version = "9.0", .target = target}));
    EXPECT_TRUE(module);
    const auto d = refuse_target(*module, *find_arch(chip));
    EXPECT_TRUE(d.has_value()) << target << " on " << chip;
    if (!d) return std::string();
    return d->message + " line " + std::to_string(d->loc.line);
  };
  EXPECT_EQ(refused("sm_100a", "tcgen05.fence::before_thread_sync;", "h200"),
            "the module has `.target sm_100a`, which h200 (sm_90a) cannot run: "
            "`tcgen05.fence::before_thread_sync;` needs sm_100f line 8");
  EXPECT_THAT(refused("sm_100", "add.rn.f32x2 %rd1, %rd2, %rd3;", "h200"), HasSubstr("needs sm_100 line 8"));
  EXPECT_THAT(refused("sm_90a", "wgmma.fence.sync.aligned;", "b200"),
              HasSubstr("b200 (sm_100a) cannot run: `wgmma.fence.sync.aligned;` needs sm_90a line 8"));
  EXPECT_THAT(refused("sm_90a", "setmaxnreg.inc.sync.aligned.u32 64;", "b200"),
              HasSubstr("although it has all of its instructions"));
  const auto plain = parse(text_of("add.u32 %r1, %r2, %r3;", {}, {.target = "sm_90"}));
  EXPECT_FALSE(refuse_target(*plain, *find_arch("b200")).has_value());
}

TEST(verify, a_symbol_lies_where_the_instruction_goes) {
  EXPECT_THAT(one("PLD1027", "ld.shared.u32 %r1, [g];"), HasSubstr("`.global`"));
  EXPECT_THAT(one("PLD1027", "mbarrier.init.shared.b64 [g], 1;"), HasSubstr("`.shared`"));
  EXPECT_THAT(one("PLD1027", "cp.async.ca.shared.global [s], [s], 4;"), HasSubstr("`.global`"));
  fine("ld.shared.u32 %r1, [s];\nld.shared::cluster.u32 %r1, [s];\nld.u32 %r1, [g];\nmov.u32 %r1, s;");
  EXPECT_THAT(one("PLD1021", "mov.u32 %r1, g;"), HasSubstr("address of `g`"));
}

TEST(verify, calls_match_their_function) {
  const std::string f = ".func (.param .b32 r) f(.param .b64 a) { ret; }\n.visible .entry other() { ret; }\n";
  EXPECT_THAT(one("PLD1029", ".param .b32 x; call (x), f, ();", f), HasSubstr("1 arguments"));
  EXPECT_THAT(one("PLD1029", ".param .b32 x; .param .b32 y; call (x), f, (y);", f), HasSubstr("8 bytes"));
  EXPECT_THAT(one("PLD1029", "call other;", f), HasSubstr("kernel"));
  fine(".param .b32 x; .param .b64 y; call (x), f, (y);", f);
}

TEST(verify, launch_bounds_and_memory_fit_the_chip) {
  const auto header = std::string(".version 8.7\n.target sm_90a\n.address_size 64\n");
  const auto code_of = [&](const std::string& text) {
    const auto m = parse(header + text);
    EXPECT_TRUE(m) << render(m ? Diagnostics{} : m.error(), header + text);
    const Diagnostics d = m ? verify(*m) : Diagnostics{};
    return d.empty() ? std::string{} : d[0].code.name();
  };
  EXPECT_EQ(code_of(".entry k() .maxntid 1025 { ret; }"), "PLD1030");
  EXPECT_EQ(code_of(".entry k() .maxntid 128 .reqntid 128 { ret; }"), "PLD1030");
  EXPECT_EQ(code_of(".entry k() .reqnctapercluster 17 { ret; }"), "PLD1030");
  EXPECT_EQ(code_of(".entry k() .maxnreg 0 { ret; }"), "PLD1030");
  EXPECT_EQ(code_of(".entry k() .maxnreg 256 { ret; }"), "");  // as Triton writes it; ptxas ignores it
  EXPECT_EQ(code_of(".entry k(.param .b8 a[40000]) { ret; }"), "PLD1031");
  EXPECT_EQ(code_of(".entry k() { .shared .b8 big[50000]; ret; }"), "PLD1031");
  EXPECT_EQ(code_of(".entry k() .maxntid 1024 { .shared .b8 big[49152]; ret; }"), "");
}

TEST(verify, the_place_is_the_ptx_line_or_the_authors_line) {
  const Diagnostics d = verified("\n\nadd.s32 %r1, %rd2, %r3;");
  ASSERT_EQ(d.size(), 1u);
  EXPECT_EQ(d[0].loc.line, 9u);
}

// ---- of one chip ---------------------------------------------------------------------------------
Diagnostics on_small_chip(const std::string& directives, const std::string& target = "sm_90") {
  const auto module = parse(".version 8.7\n.target " + target + "\n.address_size 64\n.visible .entry k()" +
                            directives + "\n{\n.shared .b8 s[40000];\nret;\n}\n");
  EXPECT_TRUE(module);
  return module ? verify(*module, test::small_chip()) : Diagnostics{};
}

TEST(verify, limits_are_those_of_the_chip) {
  const Diagnostics shared = on_small_chip("");
  ASSERT_EQ(shared.size(), 1u);
  EXPECT_THAT(shared[0].message, HasSubstr("40000 bytes of shared memory; 32768 are the most"));
  const std::pair<std::string, std::string> cases[] = {{".maxntid 512", "a CTA has 1 to 256"},
                                                       {".reqnctapercluster 8, 1, 1", "4 are the most"}};
  for (const auto& [directive, words] : cases) {
    const Diagnostics d = on_small_chip(directive);
    ASSERT_EQ(d.size(), 2u) << directive;
    EXPECT_THAT(d[0].message, HasSubstr(words));
  }
}

TEST(verify, a_module_for_another_chip_is_refused) {
  const Diagnostics d = on_small_chip("", "sm_90a");
  ASSERT_EQ(d.size(), 2u);
  EXPECT_EQ(d[1].code, "PLD1035");
  EXPECT_THAT(d[1].message, HasSubstr("`.target sm_90a`, which small (sm_95a) cannot run"));
  EXPECT_EQ(on_small_chip("", "sm_95a").size(), 1u);
}

}  // namespace
}  // namespace palladion::isa
