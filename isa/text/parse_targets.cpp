// Lists that instructions name: .branchtargets, .calltargets, .callprototype.
#include <fmt/format.h>

#include "isa/text/parse_internal.h"

namespace palladion::isa::detail {

void Parser::branch_targets(const Token& name) {
  next();
  BranchTargets targets{unique_name(name.text), {}};
  do {
    const auto label = expect_word("a label");
    if (!label) return skip_statement();
    // label<N> names label0 ... label(N-1).
    if (!accept('<')) {
      targets.labels.push_back(reference_label(*label));
      continue;
    }
    error(*label, code::not_modelled, "label ranges are not modelled", "write the labels one by one");
    return skip_statement();
  } while (accept(','));
  if (!expect(';')) skip_statement();
  scope().branch_targets.emplace(name.text, static_cast<uint32_t>(function_->branch_targets.size()));
  function_->branch_targets.push_back(std::move(targets));
}

void Parser::call_targets(const Token& name) {
  next();
  CallTargets targets;
  targets.name = unique_name(name.text);
  do {
    const auto word = expect_word("a function");
    if (!word) return skip_statement();
    const auto it = module_names_.find(word->text);
    if (it == module_names_.end() || module.symbols[it->second].kind != Symbol::Kind::function) {
      error(*word, code::undeclared, fmt::format("`{}` is no function declared above", word->text));
    } else {
      targets.functions.push_back(it->second);
    }
  } while (accept(','));
  if (!expect(';')) skip_statement();
  scope().call_targets.emplace(name.text, static_cast<uint32_t>(function_->call_targets.size()));
  function_->call_targets.push_back(std::move(targets));
}

bool Parser::prototype_parameters(std::vector<Variable>& list) {
  if (!expect('(')) return false;
  if (accept(')')) return true;
  do {
    const bool in_register = token_.is_directive("reg");
    if (!in_register && !token_.is_directive("param")) {
      error_expected("`.param`");
      return false;
    }
    next();
    Declarator d = declarator(in_register ? Space::reg : Space::param);
    if (!d.ok || !expect_word("`_`") || !dimensions(d.variable)) return false;
    list.push_back(std::move(d.variable));
  } while (accept(','));
  return expect(')');
}

// name: .callprototype (.param .b32 _) _ (.param .b64 _) .noreturn;
void Parser::call_prototype(const Token& name) {
  next();
  CallTargets proto;
  proto.name = unique_name(name.text);
  proto.prototype = true;
  bool fits = true;
  if (token_.is('(')) fits = prototype_parameters(proto.returns);
  fits = fits && expect_word("`_`");
  if (fits && token_.is('(')) fits = prototype_parameters(proto.params);
  if (!fits) return skip_statement();
  while (token_.is(Token::Kind::directive)) {
    if (accept_directive("noreturn")) {
      proto.noreturn = true;
    } else {
      next();  // .abi_preserve N, .abi_preserve_control N
      if (at_constant() && !small_integer("a number")) break;
    }
  }
  if (!expect(';')) skip_statement();
  scope().call_targets.emplace(name.text, static_cast<uint32_t>(function_->call_targets.size()));
  function_->call_targets.push_back(std::move(proto));
}

}  // namespace palladion::isa::detail
