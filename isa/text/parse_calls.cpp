// Calls: `call (ret), function, (arguments), targets;`
#include <algorithm>

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

bool Parser::select_call(Instruction& i, const Token& mnemonic, const Candidates& c, CallText& call) {
  const auto has_targets = [](const OperandDef& d) {
    return d.name.starts_with("proto") || d.name.starts_with("target");
  };
  for (const Candidates::One& one : c.forms) {
    const auto& defs = one.form->operands;
    if (!call.targets.is(Operand::Kind::none) && std::ranges::none_of(defs, has_targets)) continue;
    i.form = one.form;
    i.mods = one.mods;
    for (const OperandDef& d : defs) {
      Operand& from = d.kind == OperandKind::function ? call.function
                      : has_targets(d)                ? call.targets
                      : d.name.starts_with("ret")     ? call.returns
                                                      : call.arguments;
      if (d.kind != OperandKind::function && !has_targets(d) && from.is(Operand::Kind::none) && !d.optional)
        from = Operand::vector({});
      i.operands.push_back(std::move(from));
    }
    while (!i.operands.empty() && i.operands.back().is(Operand::Kind::none)) i.operands.pop_back();
    for (size_t k = 0; k < i.operands.size(); ++k) {
      Operand& o = i.operands[k];
      const OperandKind role =
          defs[k].kind == OperandKind::function ? OperandKind::function : OperandKind::list;
      if (is_name(o) ? !resolve_name(o, role) : !resolve_elements(o)) return false;
    }
    return true;
  }
  no_fit(mnemonic, c, {});
  return false;
}

}  // namespace palladion::isa::detail
