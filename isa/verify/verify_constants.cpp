// Constants against the ranges that the form states.
#include <fmt/format.h>

#include "isa/verify/verify_internal.h"

namespace palladion::isa::detail {
namespace {

std::string allowed(const ConstantRange& r) {
  if (r.least == r.most) return fmt::format("{}", r.least);
  if (r.least == -1 && r.step == 2) return "-1 or 1";
  const std::string range =
      r.most == INT64_MAX ? fmt::format("{} or more", r.least) : fmt::format("{} to {}", r.least, r.most);
  return r.step == 1 ? range : fmt::format("{} in steps of {}", range, r.step);
}

}  // namespace

void Verifier::constants(const Instruction& i) {
  for (size_t k = 0; k < i.operands.size(); ++k) {
    const OperandDef& def = i.form->operands[k];
    const auto value = static_cast<int64_t>(i.operands[k].bits);
    if (!def.constants || !i.operands[k].is(Operand::Kind::imm) || def.constants->has(value)) continue;
    say(code::immediate,
        fmt::format("operand `{}` of `{}` is {} and must be {}", def.name, i.form->op, value,
                    allowed(*def.constants)),
        std::string(def.constants->why));
  }
}

}  // namespace palladion::isa::detail
