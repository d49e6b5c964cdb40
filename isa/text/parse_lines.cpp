#include "isa/text/parse_lines.h"

#include <fmt/format.h>

#include "isa/text/debug_strings.h"

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

std::optional<SourceLines::Place> SourceLines::place() {
  const auto file_index = numbers_.small_integer("a file number");
  const auto line = file_index ? numbers_.small_integer("a line") : std::nullopt;
  const auto column = line ? numbers_.small_integer("a column") : std::nullopt;
  if (!column) return std::nullopt;
  return Place{*file_index, *line, *column};
}

// "$L__info_string0+8"
std::optional<std::string> SourceLines::label() {
  if (!in_.token().is(Token::Kind::word) && !in_.token().is(Token::Kind::directive)) {
    in_.error_expected("a label of a debug section");
    return std::nullopt;
  }
  std::string text(in_.token().text);
  in_.next();
  if (!in_.accept('+')) return text;
  const auto offset = numbers_.small_integer("an offset");
  if (!offset) return std::nullopt;
  return fmt::format("{}+{}", text, *offset);
}

uint32_t SourceLines::frame_at(const Place& at, const std::string& label, uint32_t caller) {
  const auto [it, is_new] =
      frames_.emplace(Key{at, label, caller}, static_cast<uint32_t>(module_.frames.size()));
  if (is_new) {
    module_.frames.push_back({{{}, at[1], at[2]}, {}, label, caller});
    frame_files_.push_back(at[0]);
  }
  return recent_[at] = it->second;
}

// Where a function was inlined has had a .loc of its own, which says where that was inlined in turn.
uint32_t SourceLines::caller_at(const Place& at) {
  const auto known = recent_.find(at);
  return known != recent_.end() ? known->second : frame_at(at, {}, no_id);
}

// Whether a .loc within inline assembly says no more than how many lines of it stand above: an instruction,
// or the place in front of the assembly, has said where it is.
bool SourceLines::is_numbered_on(const Token& keyword, const Place& at) {
  const uint32_t within = keyword.inline_assembly;
  if (within == 0) return false;
  if (within != locs_within_.assembly) locs_within_ = {within, 0};
  const uint32_t above = keyword.line - within - 1 - locs_within_.count++;
  if (within == executed_within_) return true;
  if (current_ == no_id || above == 0) return false;
  const SourceLoc& front = module_.frames[current_].at;
  return frame_files_[current_] == at[0] && front.line + above == at[1] && front.column == at[2];
}

// .loc file line column[, function_name label[+n], inlined_at file line column]
// Within inline assembly LLVM numbers on with each line of the assembly: the author's is the first line's.
void SourceLines::loc() {
  const Token keyword = in_.previous();
  const auto at = place();
  if (!at) return in_.skip_statement();
  const bool numbered_on = is_numbered_on(keyword, *at);
  std::string name;
  uint32_t caller = no_id;
  while (in_.accept(',')) {
    const auto word = in_.expect_word("`function_name` or `inlined_at`");
    if (!word) return in_.skip_statement();
    if (word->text == "inlined_at") {
      const auto inlined_at = place();
      if (!inlined_at) return in_.skip_statement();
      caller = caller_at(*inlined_at);
    } else if (auto text = label()) {
      name = std::move(*text);
    } else {
      return in_.skip_statement();
    }
  }
  in_.accept(';');
  if (numbered_on) return;
  // Line 0: the compiler's own, of which only the caller is known.
  current_ = (*at)[1] == 0 ? caller : frame_at(*at, name, caller);
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
  for (size_t i = 0; i < frame_files_.size(); ++i) {
    const uint32_t index = frame_files_[i];
    if (index != 0 && index <= module_.files.size()) module_.frames[i].at.file = module_.files[index - 1];
  }
  name_functions();
}

void SourceLines::name_functions() {
  const DebugStrings strings(module_.debug_sections);
  for (SourceFrame& frame : module_.frames)
    if (!frame.label.empty()) frame.function = strings.at(frame.label);
}

}  // namespace palladion::isa::detail
