#include "isa/text/parse_lines.h"

#include <fmt/format.h>

namespace palladion::isa::detail {

// .file 1 "name"[, timestamp, size]
void SourceLines::file() {
  const auto index = numbers_.small_integer("a file number");
  if (!index) return in_.skip_statement();
  if (!in_.token().is(Token::Kind::string)) {
    in_.error_expected("a file name in quotes");
    return in_.skip_statement();
  }
  in_.next();
  file_names_.emplace_back(*index, in_.previous().text.substr(1, in_.previous().text.size() - 2));
  while (in_.accept(','))
    if (!numbers_.integer("a time stamp or size")) return;
}

// .loc file line column[, function_name label[+n], inlined_at file line column]
void SourceLines::loc() {
  const auto file_index = numbers_.small_integer("a file number");
  const auto line = file_index ? numbers_.small_integer("a line") : std::nullopt;
  const auto column = line ? numbers_.small_integer("a column") : std::nullopt;
  if (!column) return in_.skip_statement();
  while (in_.accept(',')) {
    const auto word = in_.expect_word("`function_name` or `inlined_at`");
    if (!word) return in_.skip_statement();
    if (word->text == "inlined_at") {
      for (int i = 0; i < 3; ++i)
        if (!numbers_.small_integer("a number")) return in_.skip_statement();
    } else if (in_.token().is(Token::Kind::word) || in_.token().is(Token::Kind::directive)) {
      in_.next();
      if (in_.accept('+') && !numbers_.small_integer("an offset")) return in_.skip_statement();
    }
  }
  in_.accept(';');
  current_ = no_id;
  if (*line == 0) return;
  const uint64_t key = (uint64_t{*file_index} << 48) ^ (uint64_t{*line} << 16) ^ *column;
  const auto [it, is_new] = locs_.emplace(key, static_cast<uint32_t>(module_.source_locs.size()));
  if (is_new) {
    module_.source_locs.push_back({{}, *line, *column});
    loc_files_.push_back(*file_index);
  }
  current_ = it->second;
}

void SourceLines::section() {
  if (!in_.token().is(Token::Kind::directive)) {
    in_.error_expected("the name of a section");
    return in_.skip_statement();
  }
  std::string text = fmt::format(".section {}", in_.token().text);
  in_.next();
  if (!in_.token().is('{')) {
    in_.error_expected("`{`");
    return in_.skip_statement();
  }
  // The lexer is right after the brace.
  text += fmt::format("\n{{{}}}\n", in_.skip_braces());
  in_.next();
  if (!in_.expect('}')) return;
  module_.debug_sections.push_back(std::move(text));
}

void SourceLines::finish() {
  for (auto& [index, name] : file_names_) {
    if (index == 0 || index > 65536) continue;
    if (module_.files.size() < index) module_.files.resize(index);
    module_.files[index - 1] = name;
  }
  for (size_t i = 0; i < loc_files_.size(); ++i) {
    const uint32_t index = loc_files_[i];
    if (index != 0 && index <= module_.files.size()) module_.source_locs[i].file = module_.files[index - 1];
  }
}

}  // namespace palladion::isa::detail
