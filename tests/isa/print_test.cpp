#include "isa/text/print.h"

#include <gmock/gmock.h>

#include "isa/core/builder.h"
#include "isa/core/op.h"
#include "isa/text/parse.h"
#include "tests/support/golden.h"

namespace palladion::isa {
namespace {

using testing::HasSubstr;
using testing::Not;

Function& add_kernel(Module& m, const std::string& name) {
  Symbol s;
  s.name = name;
  s.kind = Symbol::Kind::function;
  s.linkage = Linkage::visible;
  s.function = static_cast<uint32_t>(m.functions.size());
  m.symbols.push_back(s);
  Function& f = m.functions.emplace_back();
  f.name = name;
  f.symbol = static_cast<SymbolId>(m.symbols.size() - 1);
  f.entry = true;
  return f;
}

// y[i] = y[i] + 1 for i below n, with shared memory and a loop.
Module recorded() {
  Module m;
  Function& f = add_kernel(m, "increment");
  f.maxntid = Dim3{128, 1, 1};
  Builder b(m, f);
  Variable pointer{.type = Type::u64};
  pointer.pointer = true;
  pointer.pointee = Space::global;
  pointer.pointee_align = 16;
  const SymbolId y = b.add_param("y", pointer), n = b.add_param("n", Variable{.type = Type::u32});
  const SymbolId tile = b.add_variable(
      "tile", Variable{.space = Space::shared_cta, .type = Type::f32, .align = 16, .dims = {128}});
  const Operand address = b.reg(Type::b64), count = b.reg(Type::b32), i = b.reg(Type::b32),
                v = b.reg(Type::f32), done = b.reg(Type::pred);
  const Operand base = b.reg(Type::b64), end = b.label("end");
  b.set_source({"increment.cpp", 10, 3});
  b.emit("ld.param.u64", {address, Operand::address(Operand::symbol(y))});
  b.emit("ld.param.u32", {count, Operand::address(Operand::symbol(n))});
  b.emit("mov.u32", {i, Operand::special_reg(Special::tid, 0)});
  b.set_source({"increment.cpp", 11, 3});
  b.emit("setp.ge.u32", {done, {}, i, count});
  b.emit("bra", {end}, done);
  b.emit("mul.wide.u32", {base, i, Operand::imm(4)});
  b.emit("add.s64", {address, address, base});
  b.emit("ld.global.b32", {v, Operand::address(address, 4)});
  b.emit("st.shared.b32", {Operand::address(Operand::symbol(tile), 12), v});
  b.place(end);
  b.emit("ret", {});
  return m;
}

TEST(print, a_recorded_kernel) { EXPECT_TRUE(golden::compare("isa/print/recorded.ptx", print(recorded()))); }

TEST(print, lines_of_a_recorded_kernel_on_request) {
  const std::string text = print(recorded(), {.collect_files = true});
  EXPECT_THAT(text, HasSubstr(".file 1 \"increment.cpp\""));
  EXPECT_THAT(text, HasSubstr("\t.loc 1 11 3\n"));
  EXPECT_THAT(print(recorded()), Not(HasSubstr(".loc")));
  const auto again = parse(text);
  ASSERT_TRUE(again);
  EXPECT_EQ(again->source(again->functions.front().body[3])->line, 11u);
}

TEST(print, one_instruction) {
  const Module m = recorded();
  const Function& f = m.functions.front();
  EXPECT_EQ(print(m, f, f.body[4]), "@%p4 bra $L_end_0;");
  EXPECT_EQ(print(m, f, f.body[7]), "ld.global.b32 %f3, [%rd0+4];");
}

TEST(print, names_that_ptx_cannot_carry_are_replaced_and_stay_apart) {
  Module m;
  Function& f = add_kernel(m, "tile<4>");
  add_kernel(m, "tile_4_");
  Builder b(m, f);
  b.add_variable("a b", Variable{.space = Space::shared_cta, .type = Type::b32});
  const SymbolId second = b.add_variable("a_b", Variable{.space = Space::shared_cta, .type = Type::b32});
  const Operand r = b.reg(Type::b32);
  b.emit("ld.shared.b32", {r, Operand::address(Operand::symbol(second))});
  b.emit("ret", {});
  const std::string text = print(m);
  const auto again = parse(text);
  ASSERT_TRUE(again) << render(again.error(), text);
  EXPECT_EQ(again->functions.size(), 2u);
  EXPECT_EQ(again->functions.front().locals.size(), 2u);
  EXPECT_EQ(again->functions.front().body[0].operands[1].elements[0].id, again->functions.front().locals[1]);
}

TEST(print, registers_of_one_prefix_and_two_types_are_declared_one_by_one) {
  Module m;
  Function& f = add_kernel(m, "k");
  f.registers = {{"%x1", Type::b32}, {"%x2", Type::f32}, {"%y7", Type::b64}};
  Builder b(m, f);
  b.emit("mov.b32", {Operand::reg(0), Operand::imm(1)});
  b.emit("mov.f32", {Operand::reg(1), Operand::f32(0x3f800000)});
  b.emit("mov.b64", {Operand::reg(2), Operand::imm(INT64_MIN)});
  const std::string text = print(m);
  EXPECT_THAT(text, HasSubstr(".reg .b32 %x1;"));
  EXPECT_THAT(text, HasSubstr(".reg .f32 %x2;"));
  EXPECT_THAT(text, HasSubstr(".reg .b64 %y<8>;"));
  const auto again = parse(text);
  ASSERT_TRUE(again) << render(again.error(), text);
  EXPECT_EQ(print(*again), text);
}

TEST(print, variables_of_every_kind) {
  const std::string text =
      ".version 8.7\n.target sm_90a\n.address_size 64\n"
      ".extern .shared .align 16 .b8 smem[];\n.visible .const .align 4 .f32 c[2][3] = {{1.5, 2.0, 3.0}, "
      "{4.0}};\n"
      ".weak .global .align 8 .u64 p[2] = {generic(c)+4, 7};\n.common .global .b32 shared_by_all;\n"
      ".global .s8 small[3] = {-1, 2, -128};\n.global .align 16 .v4 .f32 v[2] = {{1.0, 2.0, 3.0, 4.0}, "
      "{5.0}};\n"
      ".global .align 1 .b8 packed[9] = {1, 0xFF(c), 0xFF00(c), 0xFF0000(c), 0xFF000000(c), 0xFF00000000(c), "
      "0xFF0000000000(c), "
      "0xFF000000000000(c), 0xFF00000000000000(c)};\n";
  const auto module = parse(text);
  ASSERT_TRUE(module) << render(module.error(), text);
  EXPECT_TRUE(golden::compare("isa/print/variables.ptx", print(*module)));
}

}  // namespace
}  // namespace palladion::isa
