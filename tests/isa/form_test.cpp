// The grammar in which ops state their syntax, and what forms say beyond words and types.
#include "isa/core/form.h"

#include <gtest/gtest.h>

#include <algorithm>

#include "isa/core/op.h"

namespace palladion::isa {
namespace {

const OperandDef& operand(const Form& form, std::string_view name) {
  return form.operands[static_cast<size_t>(form.operand(name))];
}

TEST(Form, a_range_states_the_constants_that_an_operand_may_be) {
  const Form form = compile_form(
      "copy.type:u32 a:type[0..15: a CTA has 16, no more], n:imm[128], step:imm[0../16], sign:imm[-1|1], "
      "some:type[0..n]");
  ASSERT_EQ(form.operands.size(), 5U);
  const auto range = [&](std::string_view name) { return operand(form, name).constants.value(); };
  EXPECT_TRUE(range("a").has(15));
  EXPECT_FALSE(range("a").has(16));
  EXPECT_EQ(range("a").why, "a CTA has 16, no more");
  EXPECT_TRUE(range("n").has(128));
  EXPECT_FALSE(range("n").has(127));
  EXPECT_TRUE(range("step").has(1 << 20));
  EXPECT_FALSE(range("step").has(8));
  EXPECT_TRUE(range("sign").has(-1) && range("sign").has(1));
  EXPECT_FALSE(range("sign").has(0));
  EXPECT_TRUE(range("step").why.empty());
  EXPECT_EQ(range("some").most_operand, "n");
  EXPECT_EQ(range("n").words(), "128");
  EXPECT_EQ(range("sign").words(), "-1 or 1");
  EXPECT_EQ(range("step").words(), "0 or more in steps of 16");
}

TEST(Form, a_form_may_have_a_last_version) {
  const Form form = compile_form("[3.0..6.3 sm_30: use .sync] shfl.b32 =d:b32, a:b32");
  EXPECT_EQ(form.ptx_version, 30U);
  EXPECT_EQ(form.last_version, 63U);
  EXPECT_EQ(form.target, "sm_30");
  EXPECT_EQ(form.instead, "use .sync");
}

TEST(Form, a_result_may_be_dropped_and_a_register_be_wider) {
  const Form form = compile_form("ld{.vec:v2|v4}.type:%b =_d:type+^vec, a:mem");
  EXPECT_TRUE(operand(form, "d").droppable && operand(form, "d").widens && operand(form, "d").writes);
  EXPECT_EQ(operand(form, "d").count_slot, "vec");
  EXPECT_FALSE(operand(form, "a").droppable);
  EXPECT_EQ(operand(compile_form("mov.type:%b =d:pack, a:pack"), "a").kind, OperandKind::pack);
}

TEST(Form, arithmetic_states_its_operation) {
  const auto all_are = [](std::string_view name, Operation operation) {
    const auto& forms = find_op(name)->forms;
    return std::ranges::all_of(forms, [&](const Form& f) { return f.def->operation == operation; });
  };
  EXPECT_TRUE(all_are("add", Operation::add));
  EXPECT_TRUE(all_are("mad", Operation::multiply_add));
  EXPECT_TRUE(all_are("fma", Operation::fused_multiply_add));
  EXPECT_TRUE(all_are("cvt", Operation::convert));
  EXPECT_TRUE(all_are("setp", Operation::compare));
  EXPECT_TRUE(all_are("selp", Operation::select));
  EXPECT_TRUE(all_are("rsqrt", Operation::function));
  EXPECT_TRUE(all_are("lop3", Operation::logic3));
  EXPECT_TRUE(all_are("prmt", Operation::other)) << "nothing is concluded from it";
}

}  // namespace
}  // namespace palladion::isa
