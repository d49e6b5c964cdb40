#pragma once
// Instructions built by their words, and what they decode to.
#include <gtest/gtest.h>

#include "isa/arch/arch.h"
#include "isa/core/builder.h"
#include "isa/core/op.h"

namespace palladion::isa {

class Effects : public ::testing::Test {
 protected:
  Module module_;
  Function& function_ = module_.functions.emplace_back();
  Builder b_{module_, function_};
  const Operand r = b_.reg(Type::b32), r2 = b_.reg(Type::b32), rd = b_.reg(Type::b64),
                rd2 = b_.reg(Type::b64), h = b_.reg(Type::b16), f = b_.reg(Type::f32), p = b_.reg(Type::pred),
                p2 = b_.reg(Type::pred), q = b_.reg(Type::b128), none = Operand::sink();

  static Operand mem(const Operand& base) { return Operand::address(base); }
  static Operand imm(int64_t v) { return Operand::imm(v); }
  static Operand many(const Operand& o, int n) {
    return Operand::vector(std::vector<Operand>(static_cast<size_t>(n), o));
  }
  Operand tensor(int rank) const {
    return Operand::address(rd, 0, std::vector<Operand>(static_cast<size_t>(rank), r));
  }
  static Operand second(Operand o) {
    o.joined = true;
    return o;
  }

  Effect any(std::string_view mnemonic, std::vector<Operand> operands) {
    return effect(b_.emit(mnemonic, std::move(operands)), {module_, function_, default_arch()});
  }
  // Fails the test when the instruction does something else.
  template <class T>
  T decode(std::string_view mnemonic, std::vector<Operand> operands = {}) {
    return std::get<T>(any(mnemonic, std::move(operands)));
  }
  std::string reason(std::string_view mnemonic, std::vector<Operand> operands) {
    return std::string(decode<Unsupported>(mnemonic, std::move(operands)).reason);
  }
  Timing time(std::string_view mnemonic, std::vector<Operand> operands) {
    return timing(b_.emit(mnemonic, std::move(operands)));
  }
};

}  // namespace palladion::isa
