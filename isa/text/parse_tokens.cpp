#include <fmt/format.h>

#include <algorithm>
#include <numeric>

#include "isa/text/parse_tokens.h"

namespace palladion::isa::detail {
namespace {

constexpr size_t max_errors = 100;

// Levenshtein's distance; words are short.
size_t distance(std::string_view a, std::string_view b, size_t limit) {
  if (a.size() > b.size() + limit || b.size() > a.size() + limit) return limit + 1;
  std::vector<size_t> row(b.size() + 1);
  std::iota(row.begin(), row.end(), size_t{0});
  for (size_t i = 1; i <= a.size(); ++i) {
    size_t diagonal = row[0];
    row[0] = i;
    for (size_t j = 1; j <= b.size(); ++j) {
      const size_t replaced = diagonal + (a[i - 1] != b[j - 1]);
      diagonal = row[j];
      row[j] = std::min({row[j] + 1, row[j - 1] + 1, replaced});
    }
  }
  return row.back();
}

}  // namespace

void Nearest::offer(std::string_view candidate) {
  if (word_.size() > 64 || candidate == word_) return;
  const size_t d = distance(word_, candidate, best_);
  if (d >= best_ || d >= candidate.size()) return;
  best_ = d;
  found_ = candidate;
}

std::string Nearest::help() const { return found_.empty() ? "" : fmt::format("did you mean `{}`?", found_); }

bool Tokens::accept(char c) {
  if (!token_.is(c)) return false;
  next();
  return true;
}

bool Tokens::accept_directive(std::string_view s) {
  if (!token_.is_directive(s)) return false;
  next();
  return true;
}

// A token that is missing at the end of a line is reported there, not at the start of the next line.
bool Tokens::expect(char c) {
  if (accept(c)) return true;
  if (previous_.line != 0 && previous_.line < token_.line && previous_.kind != Token::Kind::end) {
    Token end = previous_;
    end.column += static_cast<uint32_t>(end.text.size());
    error(end, ParseCode::syntax, fmt::format("expected `{}` after `{}`", c, previous_.text));
  } else {
    error_expected(fmt::format("`{}`", c));
  }
  return false;
}

bool Tokens::too_many_errors() const { return diagnostics_.size() >= max_errors; }

void Tokens::error(const Token& at, ParseCode code, std::string message, std::string help) {
  if (too_many_errors()) return;
  diagnostics_.push_back(
      {code, Severity::error, std::move(message), {file_, at.line, at.column}, std::move(help)});
  if (too_many_errors()) diagnostics_.back().help += " (more errors follow; only the first 100 are shown)";
}

void Tokens::error_expected(std::string_view what) {
  if (token_.is(Token::Kind::end))
    return error(token_, ParseCode::syntax, fmt::format("expected {}, but the text ends", what));
  if (token_.is(Token::Kind::bad)) {
    const bool text = token_.text[0] == '"';
    return error(token_, ParseCode::syntax,
                 text ? "this string has no end" : "this character cannot stand in PTX");
  }
  error(token_, ParseCode::syntax, fmt::format("expected {}, found `{}`", what, token_.text.substr(0, 60)));
}

std::string Tokens::strings() {
  std::string text;
  do {
    if (!token_.is(Token::Kind::string)) {
      error_expected("a pragma in quotes");
      break;
    }
    next();
    text += (text.empty() ? "" : "\", \"") + std::string(previous_.text.substr(1, previous_.text.size() - 2));
  } while (accept(','));
  accept(';');
  return text;
}

void Tokens::skip_statement() {
  int parentheses = 0;
  const uint32_t line = token_.line;
  while (!token_.is(Token::Kind::end)) {
    if (token_.is(';')) return next();
    if (token_.is('{')) ++parentheses;
    if (token_.is('}') && parentheses-- == 0) return;
    // A directive that opens a line starts something new: the ';' was forgotten.
    if (token_.is(Token::Kind::directive) && token_.line > line && token_.column < 10 && parentheses == 0)
      return;
    next();
  }
}

std::optional<Token> Tokens::expect_word(std::string_view what) {
  if (!token_.is(Token::Kind::word)) {
    error_expected(what);
    return std::nullopt;
  }
  next();
  return previous_;
}

}  // namespace palladion::isa::detail
