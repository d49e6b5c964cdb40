// Functions: headers, performance directives, bodies, scopes, labels.
#include <fmt/format.h>

#include <algorithm>

#include "isa/text/parse_internal.h"

namespace palladion::isa::detail {
// --- headers -------------------------------------------------------------------------------------

// One parameter: `.param .u64 .ptr .global .align 1 name`, `.param .align 64 .b8 name[128]`, `.reg .b32 %a`.
bool Parser::parameter(std::vector<SymbolId>& list, Function& f) {
  const bool in_register = token_.is_directive("reg");
  if (!in_register && !token_.is_directive("param")) {
    error_expected("`.param` or `.reg`");
    return false;
  }
  next();
  Declarator d = declarator(in_register ? Space::reg : Space::param);
  if (!d.ok) return false;
  const auto name = expect_word("the name of a parameter");
  if (!name || !dimensions(d.variable)) return false;
  const auto id = static_cast<SymbolId>(module.symbols.size());
  Symbol s;
  s.name = name->text;
  s.scope = f.symbol;
  s.variable = std::move(d.variable);
  if (!scope().variables.emplace(name->text, id).second && name->text != "_") {
    error(*name, code::redefined, fmt::format("two parameters are named `{}`", name->text));
  }
  used_names_.insert(s.name);
  if (in_register) {
    scope().registers.emplace(name->text, static_cast<RegId>(f.registers.size()));
    f.registers.push_back({s.name, s.variable.type});
  }
  module.symbols.push_back(std::move(s));
  list.push_back(id);
  return true;
}

bool Parser::parameters(std::vector<SymbolId>& list, Function& f) {
  list.clear();
  if (!expect('(')) return false;
  if (accept(')')) return true;
  do {
    if (!parameter(list, f)) return false;
  } while (accept(','));
  return expect(')');
}

// A function may be declared before it is defined: both are one Function.
Function& Parser::begin_function(const Token& name, Linkage linkage, bool entry) {
  const auto existing = module_names_.find(name.text);
  if (existing != module_names_.end() && module.symbols[existing->second].kind == Symbol::Kind::function) {
    Symbol& s = module.symbols[existing->second];
    Function& f = module.functions[s.function];
    if (f.defined && f.entry == entry && token_.is('{')) {
      error(name, code::redefined, fmt::format("`{}` is defined twice", name.text));
    }
    if (linkage != Linkage::none && linkage != Linkage::extern_) s.linkage = linkage;
    return f;
  }
  if (existing != module_names_.end())
    error(name, code::redefined, fmt::format("`{}` is declared twice", name.text));
  Symbol s;
  s.name = name.text;
  s.kind = Symbol::Kind::function;
  s.linkage = linkage;
  s.function = static_cast<uint32_t>(module.functions.size());
  const auto id = static_cast<SymbolId>(module.symbols.size());
  module.symbols.push_back(std::move(s));
  module_names_.emplace(name.text, id);
  Function& f = module.functions.emplace_back();
  f.name = name.text;
  f.symbol = id;
  f.entry = entry;
  f.defined = false;
  return f;
}

std::optional<Dim3> Parser::dim3() {
  uint32_t n[3] = {1, 1, 1};
  for (int i = 0; i < 3; ++i) {
    const auto v = small_integer("a number");
    if (!v) return std::nullopt;
    n[i] = *v;
    if (!accept(',')) break;
  }
  return Dim3{n[0], n[1], n[2]};
}

bool Parser::function_directive(Function& f) {
  const Token at = token_;
  const std::string_view word = token_.text.substr(1);
  next();
  const auto dims = [&](std::optional<Dim3>& field) { return (field = dim3()).has_value(); };
  const auto number = [&](std::optional<uint32_t>& field) {
    return (field = small_integer("a number")).has_value();
  };
  if (word == "maxntid") return dims(f.maxntid);
  if (word == "reqntid") return dims(f.reqntid);
  if (word == "reqnctapercluster") return dims(f.reqnctapercluster);
  if (word == "minnctapersm") return number(f.minnctapersm);
  if (word == "maxnctapersm") return number(f.maxnctapersm);
  if (word == "maxnreg") return number(f.maxnreg);
  if (word == "maxclusterrank") return number(f.maxclusterrank);
  if (word == "explicitcluster") return f.explicitcluster = true;
  if (word == "noreturn") return f.noreturn = true;
  if (word == "pragma") {
    f.pragmas.push_back(pragma_text());
    return true;
  }
  if (word == "abi_preserve" || word == "abi_preserve_control") {
    const auto n = small_integer("a number of registers");
    if (n) f.other_directives.push_back(fmt::format("{} {}", at.text, *n));
    return n.has_value();
  }
  if (word == "blocksareclusters") {
    f.other_directives.emplace_back(at.text);
    return true;
  }
  Nearest nearest(word);
  for (const auto known :
       {"maxntid", "reqntid", "reqnctapercluster", "minnctapersm", "maxnctapersm", "maxnreg",
        "maxclusterrank", "explicitcluster", "noreturn", "pragma", "abi_preserve"}) {
    nearest.offer(known);
  }
  error(at, code::directive, fmt::format("`{}` is no directive of a function", at.text.substr(0, 60)),
        nearest.help());
  return false;
}

void Parser::function(Linkage linkage, bool entry) {
  while (token_.is_directive("attribute") || token_.is_directive("noreturn")) {
    next();
    if (accept('(')) {
      while (!token_.is(')') && !token_.is(Token::Kind::end)) next();
      next();
    }
  }
  scopes_.assign(1, module_scope_);
  used_names_.clear();
  suffixes_.clear();
  element_names_.clear();
  label_alias_.clear();
  source_ = no_id;
  // The returns precede the name: they are read before the function exists.
  Function header;
  std::vector<SymbolId> returns;
  bool fits = true;
  if (!entry && token_.is('(')) fits = parameters(returns, header);
  const auto name = fits ? expect_word("the name of a function") : std::nullopt;
  if (!name) return skip_statement();
  std::vector<SymbolId> params;
  if (token_.is('(')) fits = parameters(params, header);
  while (fits && token_.is(Token::Kind::directive) && !at_module_item()) fits = function_directive(header);
  if (!fits) skip_statement();
  Function& f = begin_function(*name, linkage, entry);
  const bool defines = token_.is('{');
  if (!defines && f.defined) return void(accept(';'));
  header.name = f.name;
  header.symbol = f.symbol;
  header.entry = entry;
  header.noreturn |= f.noreturn;
  header.defined = defines;
  header.params = std::move(params);
  header.returns = std::move(returns);
  for (const auto* list : {&header.params, &header.returns})
    for (const SymbolId id : *list) module.symbols[id].scope = f.symbol;
  f = std::move(header);
  if (defines) return body(f);
  // Compilers before CUDA 5 end a declaration without `;`.
  const bool ends = at_module_item() || token_.is(Token::Kind::end);
  if (fits && !ends && !expect(';')) skip_statement();
}

// --- bodies --------------------------------------------------------------------------------------

void Parser::body(Function& f) {
  function_ = &f;
  scopes_.emplace_back();
  next();
  while (!token_.is(Token::Kind::end) && !too_many_errors()) {
    if (token_.is('}')) {
      if (scopes_.size() == 2) break;
      close_scope();
      next();
    } else {
      statement();
    }
  }
  if (!token_.is('}') && !too_many_errors())
    error(token_, code::syntax, fmt::format("the body of `{}` has no end", f.name));
  accept('}');
  finish_function();
  function_ = nullptr;
}

void Parser::statement() {
  if (token_.is(Token::Kind::directive)) return body_directive();
  if (accept(';')) return;
  if (token_.is('{')) {
    if (scopes_.size() > 200) {
      error(token_, code::syntax, "blocks are nested too deeply");
    } else {
      scopes_.emplace_back();
    }
    return next();
  }
  if (token_.is('@')) return instruction();
  if (!token_.is(Token::Kind::word)) {
    error_expected("an instruction");
    next();
    return skip_statement();
  }
  lexer_.extend_mnemonic(token_);
  if (lexer_.label_follows()) return label_definition();
  instruction();
}

void Parser::body_directive() {
  while (token_.is_directive("extern") || token_.is_directive("visible")) next();
  if (!token_.is(Token::Kind::directive)) {
    error(token_, code::syntax, "expected a directive");
    return skip_statement();
  }
  if (accept_directive("reg")) return register_declaration();
  if (accept_directive("loc")) return loc();
  if (accept_directive("local")) return variables(Space::local, Linkage::none);
  if (accept_directive("shared")) return variables(Space::shared_cta, Linkage::none);
  if (accept_directive("global")) return variables(Space::global, Linkage::none);
  if (accept_directive("const")) return variables(Space::const_, Linkage::none);
  if (accept_directive("param")) return variables(Space::param, Linkage::none);
  if (accept_directive("pragma")) {
    function_->body_pragmas.push_back({pragma_text(), static_cast<uint32_t>(function_->body.size())});
    return;
  }
  if (accept_directive("file")) return file_directive();
  Nearest nearest(token_.text.substr(1));
  for (const auto word : {"reg", "loc", "local", "shared", "global", "const", "param", "pragma"})
    nearest.offer(word);
  error(token_, code::directive, fmt::format("`{}` is no directive of a body", token_.text.substr(0, 60)),
        nearest.help());
  next();
  skip_statement();
}

// .loc file line column[, function_name label[+n], inlined_at file line column]
void Parser::loc() {
  const auto file_index = small_integer("a file number");
  const auto line = file_index ? small_integer("a line") : std::nullopt;
  const auto column = line ? small_integer("a column") : std::nullopt;
  if (!column) return skip_statement();
  while (accept(',')) {
    const auto word = expect_word("`function_name` or `inlined_at`");
    if (!word) return skip_statement();
    if (word->text == "inlined_at") {
      for (int i = 0; i < 3; ++i)
        if (!small_integer("a number")) return skip_statement();
    } else if (token_.is(Token::Kind::word) || token_.is(Token::Kind::directive)) {
      next();
      if (accept('+') && !small_integer("an offset")) return skip_statement();
    }
  }
  accept(';');
  source_ = no_id;
  if (*line == 0) return;
  const uint64_t key = (uint64_t{*file_index} << 48) ^ (uint64_t{*line} << 16) ^ *column;
  const auto [it, is_new] = locs_.emplace(key, static_cast<uint32_t>(module.source_locs.size()));
  if (is_new) {
    module.source_locs.push_back({{}, *line, *column});
    loc_files_.push_back(*file_index);
  }
  source_ = it->second;
}

// --- labels --------------------------------------------------------------------------------------

LabelId Parser::reference_label(const Token& t) {
  const auto it = scope().labels.find(t.text);
  if (it != scope().labels.end()) return it->second.id;
  const auto id = static_cast<LabelId>(function_->labels.size());
  function_->labels.push_back({std::string(t.text), no_id});
  label_alias_.push_back(id);
  scope().labels.emplace(t.text, Scope::LabelUse{id, t});
  return id;
}

void Parser::label_definition() {
  const Token name = token_;
  next();
  next();  // ':'
  if (token_.is_directive("branchtargets")) return branch_targets(name);
  if (token_.is_directive("calltargets")) return call_targets(name);
  if (token_.is_directive("callprototype")) return call_prototype(name);
  if (name.text.find('.') != std::string_view::npos)
    return error(name, code::syntax, fmt::format("`{}` is no label", name.text));
  Label& label = function_->labels[reference_label(name)];
  if (label.target != no_id)
    return error(name, code::redefined, fmt::format("label `{}` stands twice", name.text));
  label.target = static_cast<uint32_t>(function_->body.size());
}

// Names that this block uses and does not define belong to the enclosing block.
void Parser::close_scope() {
  auto& outer = scopes_[scopes_.size() - 2].labels;
  for (const auto& [name, use] : scope().labels) {
    if (function_->labels[use.id].target != no_id) continue;
    const auto [it, is_new] = outer.emplace(name, use);
    if (!is_new) label_alias_[use.id] = it->second.id;
  }
  scopes_.pop_back();
}

void Parser::finish_function() {
  while (scopes_.size() > 2) close_scope();
  refuse_module_registers();
  Function& f = *function_;
  for (const auto& [name, use] : scope().labels) {
    if (f.labels[use.id].target != no_id) continue;
    Nearest nearest(name);
    for (const Label& l : f.labels)
      if (l.target != no_id) nearest.offer(l.name);
    error(use.first, code::undeclared, fmt::format("label `{}` stands nowhere in `{}`", name, f.name),
          nearest.help());
  }
  // Labels get their final numbers and names that are unique in the function.
  std::vector<LabelId> final_id(f.labels.size(), no_id);
  std::vector<Label> kept;
  for (LabelId i = 0; i < f.labels.size(); ++i) {
    if (label_alias_[i] != i) continue;
    final_id[i] = static_cast<LabelId>(kept.size());
    kept.push_back({unique_name(f.labels[i].name), f.labels[i].target});
  }
  const auto settle = [&](LabelId id) {
    for (int hops = 0; label_alias_[id] != id && hops < 1000; ++hops) id = label_alias_[id];
    return final_id[id];
  };
  for (Instruction& i : f.body) {
    for (size_t k = 0; k < i.operands.size(); ++k) {
      if (i.operands[k].is(Operand::Kind::label) && i.form->operands[k].kind == OperandKind::label) {
        i.operands[k].id = settle(i.operands[k].id);
      }
    }
  }
  for (BranchTargets& t : f.branch_targets)
    for (LabelId& id : t.labels) id = settle(id);
  f.labels = std::move(kept);
}

}  // namespace palladion::isa::detail
