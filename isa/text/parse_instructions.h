#pragma once
// Instructions: guard, words, operands; the names in them become symbols.
#include <deque>
#include <string>

#include "isa/text/parse_forms.h"
#include "isa/text/parse_lines.h"
#include "isa/text/parse_operands.h"

namespace palladion::isa::detail {

class Instructions {
 public:
  Instructions(Module& module, Tokens& in, NameTable& names, Operands& operands, Forms& forms,
               SourceLines& lines)
      : module_(module), in_(in), names_(names), operands_(operands), forms_(forms), lines_(lines) {}

  void instruction();  // one statement, which is appended to the function's body

 private:
  bool guard(Guard& g);
  void join_modifiers(Token& mnemonic);
  std::optional<bool> call(Instruction& i, const Candidates& c);
  std::optional<bool> others(Instruction& i, const Token& mnemonic, const Candidates& c);
  bool fill_call(Instruction& i, const Candidates& c, Operands::CallText& call);
  bool resolve(Instruction& i);
  bool resolve_name(Operand& o, OperandKind role);
  bool resolve_elements(Operand& o);

  Module& module_;
  Tokens& in_;
  NameTable& names_;
  Operands& operands_;
  Forms& forms_;
  SourceLines& lines_;
  std::deque<std::string> joined_;  // mnemonics of several words
};

}  // namespace palladion::isa::detail
