#pragma once
// Adds instructions to a function by their PTX words: b.emit("add.s32", {d, a, c}).
#include <initializer_list>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "isa/core/module.h"

namespace palladion::isa {

// The op and form that words name, with the slots filled. Of the operands only the number is checked; where
// several forms take so many, the first whose addresses stand where the operands' do. `reason`: why there is
// none.
struct Matched {
  const Op* op = nullptr;
  const Form* form = nullptr;
  std::array<int8_t, max_modifiers> mods{};
  std::string reason;
};
Matched match(std::string_view mnemonic, std::span<const Operand> operands);

class Builder {
 public:
  Builder(Module& module, Function& function) : module_(module), function_(function) {}

  Module& module() { return module_; }
  Function& function() { return function_; }

  // A new virtual register, named by its type as compilers do (%r1, %rd1, %f1, %p1, %rs1).
  Operand reg(Type type);
  Type type_of(const Operand& reg) const { return function_.registers[reg.id].type; }

  // A label to be placed later; names are made unique.
  Operand label(std::string_view hint);
  void place(const Operand& label);

  // Variables: shared or local arrays of this function, module-level globals.
  SymbolId add_variable(std::string_view name, Variable variable, bool module_scope = false);
  SymbolId add_param(std::string_view name, Variable variable);

  // Appends; an unknown mnemonic is an internal error (checked). `guard`: predicate register operand.
  Instruction& emit(std::string_view mnemonic, std::vector<Operand> operands, const Operand& guard = {});

  // Appends an instruction of another function; its operands are this one's already.
  void append(Instruction instruction);

  // The author's place given to the instructions that follow.
  void set_source(const SourceLoc& loc);

 private:
  Module& module_;
  Function& function_;
  uint32_t source_ = no_id;
};

}  // namespace palladion::isa
