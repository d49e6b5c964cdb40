// The module level of PTX: version, target, files, debug sections, linkage.
#include "isa/text/parse.h"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>

#include "isa/text/buffer_names.h"
#include "isa/text/parse_internal.h"

namespace palladion::isa {
namespace detail {
namespace {

std::string unquoted(std::string_view s) { return std::string(s.substr(1, s.size() - 2)); }

constexpr std::pair<std::string_view, Linkage> linkages[] = {{"visible", Linkage::visible},
                                                             {"extern", Linkage::extern_},
                                                             {"weak", Linkage::weak},
                                                             {"common", Linkage::common}};

constexpr std::pair<std::string_view, Space> variable_spaces[] = {{"global", Space::global},
                                                                  {"const", Space::const_},
                                                                  {"shared", Space::shared_cta},
                                                                  {"local", Space::local}};
constexpr std::string_view item_words[] = {"visible", "extern", "weak",   "common", "entry", "func",
                                           "global",  "const",  "shared", "local",  "tex"};
constexpr std::string_view other_words[] = {"version", "target", "file",        "section",
                                            "alias",   "pragma", "address_size"};

std::optional<uint32_t> decimal(std::string_view s) {
  uint32_t value = 0;
  const auto [end, failed] = std::from_chars(s.data(), s.data() + s.size(), value);
  if (failed != std::errc{} || end != s.data() + s.size()) return std::nullopt;
  return value;
}

}  // namespace

void Parser::version() {
  const Token at = token_;
  const std::string_view s = token_.text;
  const size_t dot = std::min(s.find('.'), s.size());
  const auto major = decimal(s.substr(0, dot)), minor = decimal(s.substr(std::min(dot + 1, s.size())));
  if (!token_.is(Token::Kind::number) || !major || !minor || *minor > 9 || *major == 0 || *major > 99) {
    return error(at, code::directive, "`.version` takes a PTX version such as 8.7");
  }
  next();
  module.version_major = *major;
  module.version_minor = *minor;
  settle_age();
}

void Parser::target_option(const Token& word) {
  const bool independent = word.text == "texmode_independent";
  if (!independent && word.text != "texmode_unified" && word.text != "debug")
    error(word, code::directive, fmt::format("`.target` has no option `{}`", word.text.substr(0, 60)));
  if (independent && is_before(1, 5))
    error(word, code::directive, "the independent texturing mode came with PTX 1.5");
  const std::string_view other = independent ? "texmode_unified" : "texmode_independent";
  if (word.text != "debug" && std::ranges::find(module.target_options, other) != module.target_options.end())
    error(word, code::directive, "a module has one texturing mode");
  module.target_options.emplace_back(word.text);
}

void Parser::target() {
  module.target.clear();
  module.target_options.clear();
  do {
    const auto word = expect_word("a target such as sm_90a");
    if (!word) return skip_statement();
    if (word->text.starts_with("sm_")) {
      module.target = word->text;
      settle_age();
    } else if (word->text == "map_f64_to_f32") {
      // Without an effect: ptxas keeps 64 bits on chips that have them.
      if (!is_for_sm_1x_ || module.target == "sm_13")
        error(*word, code::directive, "`map_f64_to_f32` goes with sm_10, sm_11 and sm_12 alone");
    } else {
      target_option(*word);
    }
  } while (accept(','));
  if (module.target.empty())
    error(previous_, code::directive, "`.target` names no architecture such as sm_90a");
}

// .file 1 "name"[, timestamp, size]
void Parser::file_directive() {
  const auto index = small_integer("a file number");
  if (!index) return skip_statement();
  if (!token_.is(Token::Kind::string)) {
    error_expected("a file name in quotes");
    return skip_statement();
  }
  next();
  file_names_.emplace_back(*index, unquoted(previous_.text));
  while (accept(','))
    if (!integer("a time stamp or size")) return;
}

void Parser::finish_files() {
  for (auto& [index, name] : file_names_) {
    if (index == 0 || index > 65536) continue;
    if (module.files.size() < index) module.files.resize(index);
    module.files[index - 1] = name;
  }
  for (size_t i = 0; i < loc_files_.size(); ++i) {
    const uint32_t index = loc_files_[i];
    if (index != 0 && index <= module.files.size()) module.source_locs[i].file = module.files[index - 1];
  }
}

void Parser::section() {
  if (!token_.is(Token::Kind::directive)) {
    error_expected("the name of a section");
    return skip_statement();
  }
  std::string text = fmt::format(".section {}", token_.text);
  next();
  if (!token_.is('{')) {
    error_expected("`{`");
    return skip_statement();
  }
  // The lexer is right after the brace.
  text += fmt::format("\n{{{}}}\n", lexer_.skip_braces());
  next();
  if (!expect('}')) return;
  module.debug_sections.push_back(std::move(text));
}

void Parser::alias() {
  const auto name = expect_word("the name of an alias");
  if (!name || !expect(',')) return skip_statement();
  const auto target_name = expect_word("the function it stands for");
  if (!target_name) return skip_statement();
  expect(';');
  SymbolId ids[2] = {no_id, no_id};
  const Token* tokens[2] = {&*name, &*target_name};
  for (int k = 0; k < 2; ++k) {
    const auto it = module_names_.find(tokens[k]->text);
    if (it == module_names_.end() || module.symbols[it->second].kind != Symbol::Kind::function) {
      return error(*tokens[k], code::undeclared,
                   fmt::format("`{}` is no function declared above", tokens[k]->text));
    }
    ids[k] = it->second;
  }
  module.aliases.push_back({ids[0], ids[1]});
  module.symbols[ids[0]].function = module.symbols[ids[1]].function;
}

// [.visible|.extern|.weak|.common] then a function or a variable.
void Parser::linkage_item() {
  Linkage linkage = Linkage::none;
  for (const auto& [word, value] : linkages)
    if (accept_directive(word)) linkage = value;
  const bool is_entry = token_.is_directive("entry");
  if (is_entry || token_.is_directive("func")) {
    next();
    return function(linkage, is_entry);
  }
  for (const auto& [word, space] : variable_spaces)
    if (accept_directive(word)) return variables(space, linkage);
  if (accept_directive("tex")) return old_textures(linkage);
  error_expected("`.entry`, `.func` or a state space");
  next();
  skip_statement();
}

std::string Parser::pragma_text() {
  std::string text;
  do {
    if (!token_.is(Token::Kind::string)) {
      error_expected("a pragma in quotes");
      break;
    }
    next();
    text += (text.empty() ? "" : "\", \"") + unquoted(previous_.text);
  } while (accept(','));
  accept(';');
  return text;
}

bool Parser::at_module_item() const {
  return token_.is_directive("file") ||
         std::ranges::any_of(item_words, [&](std::string_view w) { return token_.is_directive(w); });
}

void Parser::module_item() {
  if (accept(';')) return;
  if (accept_directive("version")) return version();
  if (accept_directive("target")) return target();
  if (accept_directive("file")) return file_directive();
  if (accept_directive("section")) return section();
  if (accept_directive("alias")) return alias();
  if (accept_directive("loc")) return loc();
  if (accept_directive("reg")) return module_registers();
  if (accept_directive("pragma")) return module.pragmas.push_back(pragma_text());
  if (accept_directive("address_size")) {
    const Token at = token_;
    const auto size = small_integer("32 or 64");
    if (size && *size != 64)
      error(at, code::not_modelled, "only 64-bit addresses are modelled", "nvcc -m64 is the default");
    return;
  }
  if (token_.is(Token::Kind::directive)) {
    Nearest nearest(token_.text.substr(1));
    for (const auto word : item_words) {
      if (token_.is_directive(word)) return linkage_item();
      nearest.offer(word);
    }
    for (const auto word : other_words) nearest.offer(word);
    error(token_, code::directive, fmt::format("`{}` is no directive of a module", token_.text.substr(0, 60)),
          nearest.help());
  } else {
    error_expected("a directive such as `.visible .entry`");
  }
  next();
  skip_statement();
  accept('}');
}

void Parser::finish_relocations() {
  for (const PendingAddress& p : pending_addresses_) {
    const auto it = module_names_.find(p.name.text);
    if (it == module_names_.end()) {
      error(p.name, code::undeclared, fmt::format("`{}` is not declared", p.name.text));
    } else {
      auto& relocations = module.symbols[p.variable].variable.relocations;
      // A variable that is declared twice has the first one's.
      if (p.relocation < relocations.size()) relocations[p.relocation].symbol = it->second;
    }
  }
}

void Parser::run() {
  if (token_.is(Token::Kind::end))
    return error(token_, code::syntax, "the text is empty", "PTX starts with `.version`");
  while (!token_.is(Token::Kind::end) && !too_many_errors()) module_item();
  finish_files();
  finish_relocations();
  finish_old_target();
}

}  // namespace detail

tl::expected<Module, Diagnostics> parse(std::string_view text, const std::string& name) {
  detail::Parser parser(text, name);
  parser.run();
  parser.module.file = name;
  if (parser.diagnostics.empty()) {
    read_buffer_comments(text, parser.module);
    return std::move(parser.module);
  }
  std::ranges::stable_sort(parser.diagnostics, {},
                           [](const Diagnostic& d) { return std::pair(d.loc.line, d.loc.column); });
  return tl::unexpected(std::move(parser.diagnostics));
}

}  // namespace palladion::isa
