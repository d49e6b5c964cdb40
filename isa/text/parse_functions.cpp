#include "isa/text/parse_functions.h"

#include <fmt/format.h>

#include <algorithm>

namespace palladion::isa::detail {
namespace {

constexpr std::string_view item_words[] = {"visible", "extern", "weak",   "common", "entry", "func",
                                           "global",  "const",  "shared", "local",  "tex"};

bool is_item_word(const Token& token) {
  return std::ranges::any_of(item_words, [&](std::string_view w) { return token.is_directive(w); });
}

}  // namespace

bool at_module_item(const Token& token) { return token.is_directive("file") || is_item_word(token); }

void offer_module_items(Nearest& nearest) {
  for (const std::string_view word : item_words) nearest.offer(word);
}

// One parameter: `.param .u64 .ptr .global .align 1 name`, `.param .align 64 .b8 name[128]`, `.reg .b32 %a`.
bool Functions::parameter(std::vector<SymbolId>& list, Function& f) {
  const bool in_register = in_.token().is_directive("reg");
  if (!in_register && !in_.token().is_directive("param")) {
    in_.error_expected("`.param` or `.reg`");
    return false;
  }
  in_.next();
  Declarations::Declarator d = declarations_.declarator(in_register ? Space::reg : Space::param);
  if (!d.ok) return false;
  const auto name = in_.expect_word("the name of a parameter");
  if (!name || !declarations_.dimensions(d.variable)) return false;
  const auto id = static_cast<SymbolId>(module_.symbols.size());
  Symbol s;
  s.name = name->text;
  s.scope = f.symbol;
  s.variable = std::move(d.variable);
  if (!names_.scope().variables.emplace(name->text, id).second && name->text != "_") {
    in_.error(*name, ParseCode::redefined, fmt::format("two parameters are named `{}`", name->text));
  }
  names_.take_name(s.name);
  if (in_register) {
    names_.scope().registers.emplace(name->text, static_cast<RegId>(f.registers.size()));
    f.registers.push_back({s.name, s.variable.type});
  }
  module_.symbols.push_back(std::move(s));
  list.push_back(id);
  return true;
}

bool Functions::parameters(std::vector<SymbolId>& list, Function& f) {
  list.clear();
  if (!in_.expect('(')) return false;
  if (in_.accept(')')) return true;
  do {
    if (!parameter(list, f)) return false;
  } while (in_.accept(','));
  return in_.expect(')');
}

// A function may be declared before it is defined: both are one Function.
Function& Functions::begin_function(const Token& name, Linkage linkage, bool entry) {
  const SymbolId existing = names_.find_symbol(name.text);
  if (names_.find_function(name.text) != no_id) {
    Symbol& s = module_.symbols[existing];
    Function& f = module_.functions[s.function];
    if (f.defined && f.entry == entry && in_.token().is('{')) {
      in_.error(name, ParseCode::redefined, fmt::format("`{}` is defined twice", name.text));
    }
    if (linkage != Linkage::none && linkage != Linkage::extern_) s.linkage = linkage;
    return f;
  }
  if (existing != no_id)
    in_.error(name, ParseCode::redefined, fmt::format("`{}` is declared twice", name.text));
  Symbol s;
  s.name = name.text;
  s.kind = Symbol::Kind::function;
  s.linkage = linkage;
  s.function = static_cast<uint32_t>(module_.functions.size());
  const auto id = static_cast<SymbolId>(module_.symbols.size());
  module_.symbols.push_back(std::move(s));
  names_.symbols_here().emplace(name.text, id);
  Function& f = module_.functions.emplace_back();
  f.name = name.text;
  f.symbol = id;
  f.entry = entry;
  f.defined = false;
  return f;
}

std::optional<Dim3> Functions::dim3() {
  uint32_t n[3] = {1, 1, 1};
  for (int i = 0; i < 3; ++i) {
    const auto v = numbers_.small_integer("a number");
    if (!v) return std::nullopt;
    n[i] = *v;
    if (!in_.accept(',')) break;
  }
  return Dim3{n[0], n[1], n[2]};
}

bool Functions::function_directive(Function& f) {
  const Token at = in_.token();
  const std::string_view word = in_.token().text.substr(1);
  in_.next();
  const auto dims = [&](std::optional<Dim3>& field) { return (field = dim3()).has_value(); };
  const auto number = [&](std::optional<uint32_t>& field) {
    return (field = numbers_.small_integer("a number")).has_value();
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
    f.pragmas.push_back(in_.strings());
    return true;
  }
  if (word == "abi_preserve" || word == "abi_preserve_control") {
    const auto n = numbers_.small_integer("a number of registers");
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
  in_.error(at, ParseCode::directive,
            fmt::format("`{}` is no directive of a function", at.text.substr(0, 60)), nearest.help());
  return false;
}

// In front of the function's name.
void Functions::skip_attributes() {
  while (in_.token().is_directive("attribute") || in_.token().is_directive("noreturn")) {
    in_.next();
    if (in_.accept('(')) {
      while (!in_.token().is(')') && !in_.token().is(Token::Kind::end)) in_.next();
      in_.next();
    }
  }
}

void Functions::function(Linkage linkage, bool entry) {
  skip_attributes();
  names_.begin_function();
  lines_.begin_function();
  // The returns precede the name: they are read before the function exists.
  Function header;
  std::vector<SymbolId> returns;
  bool fits = true;
  if (!entry && in_.token().is('(')) fits = parameters(returns, header);
  const auto name = fits ? in_.expect_word("the name of a function") : std::nullopt;
  if (!name) return in_.skip_statement();
  std::vector<SymbolId> params;
  if (in_.token().is('(')) fits = parameters(params, header);
  while (fits && in_.token().is(Token::Kind::directive) && !at_module_item(in_.token()))
    fits = function_directive(header);
  if (!fits) in_.skip_statement();
  Function& f = begin_function(*name, linkage, entry);
  const bool defines = in_.token().is('{');
  if (!defines && f.defined) return void(in_.accept(';'));
  header.name = f.name;
  header.symbol = f.symbol;
  header.entry = entry;
  header.noreturn |= f.noreturn;
  header.defined = defines;
  header.params = std::move(params);
  header.returns = std::move(returns);
  for (const auto* list : {&header.params, &header.returns})
    for (const SymbolId id : *list) module_.symbols[id].scope = f.symbol;
  f = std::move(header);
  if (defines) return bodies_.body(f);
  // Compilers before CUDA 5 end a declaration without `;`.
  const bool ends = at_module_item(in_.token()) || in_.token().is(Token::Kind::end);
  if (fits && !ends && !in_.expect(';')) in_.skip_statement();
}

}  // namespace palladion::isa::detail
