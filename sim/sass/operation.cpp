#include "sim/sass/operation.h"

#include <algorithm>
#include <array>

#include "isa/core/op.h"

namespace palladion::sim::sass {
namespace {

struct Row {
  std::string_view op;
  Operation operation;
};
constexpr std::array rows{
    Row{"mov", Operation::move},
    Row{"add", Operation::add},
    Row{"sub", Operation::subtract},
    Row{"mul", Operation::multiply},
    Row{"mad", Operation::multiply_add},
    Row{"fma", Operation::fused_multiply_add},
    Row{"div", Operation::divide},
    Row{"rem", Operation::remainder},
    Row{"abs", Operation::absolute},
    Row{"neg", Operation::negate},
    Row{"min", Operation::minimum},
    Row{"max", Operation::maximum},
    Row{"setp", Operation::compare},
    Row{"cvt", Operation::convert},
    Row{"cvta", Operation::convert_address},
    Row{"and", Operation::and_},
    Row{"or", Operation::or_},
    Row{"xor", Operation::xor_},
    Row{"not", Operation::not_},
    Row{"lop3", Operation::logic3},
    Row{"shl", Operation::shift_left},
    Row{"shr", Operation::shift_right},
};

}  // namespace

Operation operation(const isa::Instruction& instruction) {
  const auto* const row = std::ranges::find(rows, instruction.op->name, &Row::op);
  return row == rows.end() ? Operation::other : row->operation;
}

}  // namespace palladion::sim::sass
