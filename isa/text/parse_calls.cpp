// Calls: `call (ret), function, (arguments), targets;`
#include "isa/text/parse_internal.h"

namespace palladion::isa::detail {

bool Parser::call_list(Operand& list) {
  next();
  list = Operand::vector({});
  if (accept(')')) return true;
  do {
    auto o = operand();
    if (!o) return false;
    list.elements.push_back(std::move(*o));
  } while (accept(','));
  return expect(')');
}

// call (ret), function, (arguments), targets; all but the function may be left out.
bool Parser::call_operands(CallText& call) {
  if (token_.is('(') && (!call_list(call.returns) || !expect(','))) return false;
  if (!token_.is(Token::Kind::word)) {
    error_expected("a function");
    return false;
  }
  auto function_name = name_operand();
  if (!function_name) return false;
  call.function = std::move(*function_name);
  if (accept(',')) {
    if (token_.is('(')) {
      if (!call_list(call.arguments)) return false;
      if (!accept(',')) return true;
    }
    if (!token_.is(Token::Kind::word)) {
      error_expected("a prototype or a list of targets");
      return false;
    }
    auto targets = name_operand();
    if (!targets) return false;
    call.targets = std::move(*targets);
  }
  return true;
}

// The form's operands: returns, function, arguments, and targets if written.
bool Parser::fill_call(Instruction& i, const Candidates& c, CallText& call) {
  i.form = c.forms.front().form;
  i.mods = c.forms.front().mods;
  for (Operand* list : {&call.returns, &call.arguments})
    if (list->is(Operand::Kind::none)) *list = Operand::vector({});
  i.operands = {std::move(call.returns), std::move(call.function), std::move(call.arguments)};
  if (!call.targets.is(Operand::Kind::none)) i.operands.push_back(std::move(call.targets));
  for (size_t k = 0; k < i.operands.size(); ++k) {
    Operand& o = i.operands[k];
    if (is_name(o) ? !resolve_name(o, i.form->operands[k].kind) : !resolve_elements(o)) return false;
  }
  return true;
}

}  // namespace palladion::isa::detail
