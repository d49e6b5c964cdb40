// The module level of PTX: version, target, linkage.
#include "isa/text/parse.h"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>

#include "isa/text/buffer_names.h"
#include "isa/text/parse_functions.h"

namespace palladion::isa {
namespace detail {
namespace {

constexpr std::pair<std::string_view, Linkage> linkages[] = {{"visible", Linkage::visible},
                                                             {"extern", Linkage::extern_},
                                                             {"weak", Linkage::weak},
                                                             {"common", Linkage::common}};

constexpr std::pair<std::string_view, Space> variable_spaces[] = {{"global", Space::global},
                                                                  {"const", Space::const_},
                                                                  {"shared", Space::shared_cta},
                                                                  {"local", Space::local}};
constexpr std::string_view other_words[] = {"version", "target", "file",        "section",
                                            "alias",   "pragma", "address_size"};

std::optional<uint32_t> decimal(std::string_view s) {
  uint32_t value = 0;
  const auto [end, failed] = std::from_chars(s.data(), s.data() + s.size(), value);
  if (failed != std::errc{} || end != s.data() + s.size()) return std::nullopt;
  return value;
}

class Parser {
 public:
  Parser(std::string_view text, const std::string& file) : in_(text, file) {}

  tl::expected<Module, Diagnostics> module();

 private:
  void item();
  void version();
  void target();
  void target_option(const Token& word);
  void address_size();
  void alias();
  void linkage_item();

  Module module_;
  Tokens in_;
  Constants numbers_{in_};
  Dialect dialect_{module_};
  NameTable names_{module_, in_};
  SourceLines lines_{module_, in_, numbers_};
  Initialisers initialisers_{module_, in_, numbers_, names_};
  Declarations declarations_{module_, in_, numbers_, dialect_, names_, initialisers_};
  Operands operands_{in_, numbers_, names_};
  Forms forms_{in_, dialect_, names_};
  Instructions instructions_{module_, in_, names_, operands_, forms_, lines_};
  TargetLists lists_{in_, numbers_, names_, declarations_};
  Bodies bodies_{in_, names_, lines_, declarations_, instructions_, lists_};
  Functions functions_{module_, in_, numbers_, names_, lines_, declarations_, bodies_};
};

void Parser::version() {
  const Token at = in_.token();
  const std::string_view s = in_.token().text;
  const size_t dot = std::min(s.find('.'), s.size());
  const auto major = decimal(s.substr(0, dot)), minor = decimal(s.substr(std::min(dot + 1, s.size())));
  if (!in_.token().is(Token::Kind::number) || !major || !minor || *minor > 9 || *major == 0 || *major > 99) {
    return in_.error(at, ParseCode::directive, "`.version` takes a PTX version such as 8.7");
  }
  in_.next();
  module_.version_major = *major;
  module_.version_minor = *minor;
  dialect_.settle();
}

void Parser::target_option(const Token& word) {
  const bool independent = word.text == "texmode_independent";
  if (!independent && word.text != "texmode_unified" && word.text != "debug")
    in_.error(word, ParseCode::directive,
              fmt::format("`.target` has no option `{}`", word.text.substr(0, 60)));
  if (independent && dialect_.is_before(1, 5))
    in_.error(word, ParseCode::directive, "the independent texturing mode came with PTX 1.5");
  const std::string_view other = independent ? "texmode_unified" : "texmode_independent";
  if (word.text != "debug" &&
      std::ranges::find(module_.target_options, other) != module_.target_options.end())
    in_.error(word, ParseCode::directive, "a module has one texturing mode");
  module_.target_options.emplace_back(word.text);
}

void Parser::target() {
  module_.target.clear();
  module_.target_options.clear();
  do {
    const auto word = in_.expect_word("a target such as sm_90a");
    if (!word) return in_.skip_statement();
    if (word->text.starts_with("sm_")) {
      module_.target = word->text;
      dialect_.settle();
    } else if (word->text == "map_f64_to_f32") {
      // Without an effect: ptxas keeps 64 bits on chips that have them.
      if (!dialect_.is_for_sm_1x() || module_.target == "sm_13")
        in_.error(*word, ParseCode::directive, "`map_f64_to_f32` goes with sm_10, sm_11 and sm_12 alone");
    } else {
      target_option(*word);
    }
  } while (in_.accept(','));
  if (module_.target.empty())
    in_.error(in_.previous(), ParseCode::directive, "`.target` names no architecture such as sm_90a");
}

void Parser::address_size() {
  const Token at = in_.token();
  const auto size = numbers_.small_integer("32 or 64");
  if (size && *size != 64)
    in_.error(at, ParseCode::not_modelled, "only 64-bit addresses are modelled", "nvcc -m64 is the default");
}

void Parser::alias() {
  const auto name = in_.expect_word("the name of an alias");
  if (!name || !in_.expect(',')) return in_.skip_statement();
  const auto target_name = in_.expect_word("the function it stands for");
  if (!target_name) return in_.skip_statement();
  in_.expect(';');
  SymbolId ids[2] = {no_id, no_id};
  const Token* tokens[2] = {&*name, &*target_name};
  for (int k = 0; k < 2; ++k) {
    ids[k] = names_.find_function(tokens[k]->text);
    if (ids[k] == no_id) {
      return in_.error(*tokens[k], ParseCode::undeclared,
                       fmt::format("`{}` is no function declared above", tokens[k]->text));
    }
  }
  module_.aliases.push_back({ids[0], ids[1]});
  module_.symbols[ids[0]].function = module_.symbols[ids[1]].function;
}

// [.visible|.extern|.weak|.common] then a function or a variable.
void Parser::linkage_item() {
  Linkage linkage = Linkage::none;
  for (const auto& [word, value] : linkages)
    if (in_.accept_directive(word)) linkage = value;
  const bool is_entry = in_.token().is_directive("entry");
  if (is_entry || in_.token().is_directive("func")) {
    in_.next();
    return functions_.function(linkage, is_entry);
  }
  for (const auto& [word, space] : variable_spaces)
    if (in_.accept_directive(word)) return declarations_.variables(space, linkage);
  if (in_.accept_directive("tex")) return declarations_.old_textures(linkage);
  in_.error_expected("`.entry`, `.func` or a state space");
  in_.next();
  in_.skip_statement();
}

void Parser::item() {
  if (in_.accept(';')) return;
  if (in_.accept_directive("version")) return version();
  if (in_.accept_directive("target")) return target();
  if (in_.accept_directive("file")) return lines_.file();
  if (in_.accept_directive("section")) return lines_.section();
  if (in_.accept_directive("alias")) return alias();
  if (in_.accept_directive("loc")) return lines_.loc();
  if (in_.accept_directive("reg")) return declarations_.module_registers();
  if (in_.accept_directive("pragma")) return module_.pragmas.push_back(in_.strings());
  if (in_.accept_directive("address_size")) return address_size();
  if (at_module_item(in_.token())) return linkage_item();
  if (in_.token().is(Token::Kind::directive)) {
    Nearest nearest(in_.token().text.substr(1));
    offer_module_items(nearest);
    for (const auto word : other_words) nearest.offer(word);
    in_.error(in_.token(), ParseCode::directive,
              fmt::format("`{}` is no directive of a module", in_.token().text.substr(0, 60)),
              nearest.help());
  } else {
    in_.error_expected("a directive such as `.visible .entry`");
  }
  in_.next();
  in_.skip_statement();
  in_.accept('}');
}

tl::expected<Module, Diagnostics> Parser::module() {
  if (in_.token().is(Token::Kind::end))
    in_.error(in_.token(), ParseCode::syntax, "the text is empty", "PTX starts with `.version`");
  while (!in_.token().is(Token::Kind::end) && !in_.too_many_errors()) item();
  lines_.finish();
  initialisers_.finish();
  dialect_.finish();
  if (in_.diagnostics().empty()) return std::move(module_);
  std::ranges::stable_sort(in_.diagnostics(), {},
                           [](const Diagnostic& d) { return std::pair(d.loc.line, d.loc.column); });
  return tl::unexpected(std::move(in_.diagnostics()));
}

}  // namespace
}  // namespace detail

tl::expected<Module, Diagnostics> parse(std::string_view text, const std::string& name) {
  auto module = detail::Parser(text, name).module();
  if (module) {
    module->file = name;
    read_buffer_comments(text, *module);
  }
  return module;
}

}  // namespace palladion::isa
