#pragma once
// Internals of the verifier.
#include <string>
#include <string_view>

#include "isa/arch/arch.h"
#include "isa/core/op.h"
#include "isa/verify/codes.h"
#include "isa/verify/verify.h"

namespace palladion::isa::detail {

class Verifier {
 public:
  Verifier(const Module& module, const ArchSpec& arch) : module_(module), arch_(arch) {}
  Diagnostics run();

 private:
  void say(VerifyCode code, std::string message, std::string help = {});
  bool full() const { return diagnostics_.size() >= 100; }
  std::string shown() const;  // the current instruction

  // --- opaque types (verify_textures.cpp)
  const Symbol* opaque_symbol(const Operand& o) const;  // null: the operand names no variable of opaque type
  void opaque_variable(SymbolId id);
  void opaque_names(const Instruction& i);
  void textures(const Instruction& i);
  void object(const Operand& o, Type wanted);
  void sampler(const Operand& address);
  void texel_coordinates(const Instruction& i, const Operand& address);
  void indirect();

  // --- verify.cpp
  void module_names();
  void variable(const Symbol& s);
  void function(const Function& f);
  void launch_bounds(const Function& f);
  void parameter_size(const Function& f);
  void shared_size(const Function& f);
  void labels(const Function& f);
  void instruction(const Instruction& i);
  void needs(const Form& form);
  void call(const Instruction& i);
  void call_values(const Operand* list, const std::vector<SymbolId>& declared, std::string_view what,
                   const Function& callee);

  // --- verify_operands.cpp
  bool ids_exist(const Operand& o, const OperandDef& def);
  void operand(const Operand& o, const OperandDef& def);
  void value(const Operand& o, const OperandDef& def);
  void packed(const Operand& o, const OperandDef& def);
  void scalar(const Operand& o, const OperandDef& def, Type type);
  void register_type(const Operand& o, const OperandDef& def, Type type);
  void constant(const Operand& o, const OperandDef& def, Type type);
  void symbol_value(const Operand& o, const OperandDef& def, Type type);
  void special(const Operand& o, const OperandDef& def, Type type);
  void predicate(const Operand& o, const OperandDef& def);
  void address(const Operand& o, const OperandDef& def);
  void vector_size(const Operand& o, Type type);
  Type type_of(const OperandDef& def) const;
  int count_of(const OperandDef& def) const;
  void constants(const Instruction& i);
  Space space_of(const OperandDef& def) const;

  const Module& module_;
  const ArchSpec& arch_;
  const Function* function_ = nullptr;
  const Instruction* instruction_ = nullptr;
  Diagnostics diagnostics_;
};

}  // namespace palladion::isa::detail
