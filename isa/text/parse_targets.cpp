// Lists that instructions name: .branchtargets, .calltargets, .callprototype.
#include <fmt/format.h>

#include "isa/text/parse_bodies.h"

namespace palladion::isa::detail {

bool TargetLists::read(const Token& name) {
  const Token& list = in_.token();
  if (list.is_directive("branchtargets")) return branch_targets(name), true;
  if (list.is_directive("calltargets")) return call_targets(name), true;
  if (list.is_directive("callprototype")) return call_prototype(name), true;
  return false;
}

void TargetLists::keep(const Token& name, CallTargets targets) {
  names_.scope().call_targets.emplace(name.text,
                                      static_cast<uint32_t>(names_.function().call_targets.size()));
  names_.function().call_targets.push_back(std::move(targets));
}

void TargetLists::branch_targets(const Token& name) {
  in_.next();
  BranchTargets targets{names_.unique_name(name.text), {}};
  do {
    const auto label = in_.expect_word("a label");
    if (!label) return in_.skip_statement();
    // label<N> names label0 ... label(N-1).
    if (!in_.accept('<')) {
      targets.labels.push_back(names_.reference_label(*label));
      continue;
    }
    in_.error(*label, ParseCode::not_modelled, "label ranges are not modelled",
              "write the labels one by one");
    return in_.skip_statement();
  } while (in_.accept(','));
  if (!in_.expect(';')) in_.skip_statement();
  names_.scope().branch_targets.emplace(name.text,
                                        static_cast<uint32_t>(names_.function().branch_targets.size()));
  names_.function().branch_targets.push_back(std::move(targets));
}

void TargetLists::call_targets(const Token& name) {
  in_.next();
  CallTargets targets;
  targets.name = names_.unique_name(name.text);
  do {
    const auto word = in_.expect_word("a function");
    if (!word) return in_.skip_statement();
    const SymbolId function = names_.find_function(word->text);
    if (function == no_id) {
      in_.error(*word, ParseCode::undeclared, fmt::format("`{}` is no function declared above", word->text));
    } else {
      targets.functions.push_back(function);
    }
  } while (in_.accept(','));
  if (!in_.expect(';')) in_.skip_statement();
  keep(name, std::move(targets));
}

bool TargetLists::prototype_parameters(std::vector<Variable>& list) {
  if (!in_.expect('(')) return false;
  if (in_.accept(')')) return true;
  do {
    const bool in_register = in_.token().is_directive("reg");
    if (!in_register && !in_.token().is_directive("param")) {
      in_.error_expected("`.param`");
      return false;
    }
    in_.next();
    Declarations::Declarator d = declarations_.declarator(in_register ? Space::reg : Space::param);
    if (!d.ok || !in_.expect_word("`_`") || !declarations_.dimensions(d.variable)) return false;
    list.push_back(std::move(d.variable));
  } while (in_.accept(','));
  return in_.expect(')');
}

// name: .callprototype (.param .b32 _) _ (.param .b64 _) .noreturn;
void TargetLists::call_prototype(const Token& name) {
  in_.next();
  CallTargets proto;
  proto.name = names_.unique_name(name.text);
  proto.prototype = true;
  bool fits = true;
  if (in_.token().is('(')) fits = prototype_parameters(proto.returns);
  fits = fits && in_.expect_word("`_`");
  if (fits && in_.token().is('(')) fits = prototype_parameters(proto.params);
  if (!fits) return in_.skip_statement();
  while (in_.token().is(Token::Kind::directive)) {
    if (in_.accept_directive("noreturn")) {
      proto.noreturn = true;
    } else {
      in_.next();  // .abi_preserve N, .abi_preserve_control N
      if (numbers_.at_constant() && !numbers_.small_integer("a number")) break;
    }
  }
  if (!in_.expect(';')) in_.skip_statement();
  keep(name, std::move(proto));
}

}  // namespace palladion::isa::detail
