#include "isa/text/lex.h"

#include <algorithm>
#include <array>

namespace palladion::isa {
namespace {

enum CharClass : uint8_t { other, letter, digit, space };

constexpr std::array<uint8_t, 256> char_classes = [] {
  std::array<uint8_t, 256> classes{};
  for (int c = 'a'; c <= 'z'; ++c) classes[c] = letter;
  for (int c = 'A'; c <= 'Z'; ++c) classes[c] = letter;
  for (int c = '0'; c <= '9'; ++c) classes[c] = digit;
  for (const char c : {'_', '$', '%'}) classes[static_cast<unsigned char>(c)] = letter;
  for (const char c : {' ', '\t', '\r', '\n', '\f', '\v'}) classes[static_cast<unsigned char>(c)] = space;
  return classes;
}();

uint8_t class_of(char c) { return char_classes[static_cast<unsigned char>(c)]; }
bool is_digit(char c) { return class_of(c) == digit; }
bool follows_in_word(char c) { return (class_of(c) == letter || class_of(c) == digit) && c != '%'; }

}  // namespace

void Lexer::skip_line_comment() {
  const size_t end = std::min(text_.find('\n', at_), text_.size());
  const std::string_view comment = text_.substr(at_, end - at_);
  if (comment.starts_with("// begin inline asm")) inline_assembly_ = line_;
  if (comment.starts_with("// end inline asm")) inline_assembly_ = 0;
  at_ = end;
}

void Lexer::skip_block_comment() {
  at_ += 2;
  while (at_ < text_.size() && !(text_[at_] == '*' && at(at_ + 1) == '/')) {
    if (text_[at_++] != '\n') continue;
    ++line_;
    line_start_ = at_;
  }
  at_ = std::min(at_ + 2, text_.size());
}

void Lexer::skip_space() {
  while (at_ < text_.size()) {
    const char c = text_[at_];
    if (c == '\n') {
      ++line_;
      line_start_ = ++at_;
    } else if (class_of(c) == space) {
      ++at_;
    } else if (c == '/' && at(at_ + 1) == '/') {
      skip_line_comment();
    } else if (c == '/' && at(at_ + 1) == '*') {
      skip_block_comment();
    } else {
      return;
    }
  }
}

size_t Lexer::end_of_word(size_t i) const {
  while (i < text_.size()) {
    if (follows_in_word(text_[i])) {
      ++i;
    } else if (text_[i] == ':' && at(i + 1) == ':' && follows_in_word(at(i + 2))) {
      i += 2;
    } else {
      break;
    }
  }
  return i;
}

size_t Lexer::end_of_number(size_t i) const {
  const bool prefixed =
      text_[i] == '0' && class_of(at(i + 1)) == letter && at(i + 1) != 'e' && at(i + 1) != 'E';
  const auto word = [&] {
    while (follows_in_word(at(i))) ++i;
  };
  if (prefixed) {
    word();
    return i;
  }
  while (is_digit(at(i))) ++i;
  if (at(i) == '.' && class_of(at(i + 1)) != letter) {
    ++i;
    while (is_digit(at(i))) ++i;
  }
  if ((at(i) == 'e' || at(i) == 'E') && (at(i + 1) == '-' || at(i + 1) == '+') && is_digit(at(i + 2))) i += 2;
  word();
  return i;
}

size_t Lexer::end_of_string(size_t i) const {
  for (++i; i < text_.size() && text_[i] != '\n'; ++i) {
    if (text_[i] == '"') return i + 1;
    if (text_[i] == '\\' && i + 1 < text_.size() && text_[i + 1] != '\n') ++i;
  }
  return std::string_view::npos;
}

Token Lexer::take(Token::Kind kind, size_t end) {
  Token t{kind, text_.substr(at_, end - at_), line_, static_cast<uint32_t>(at_ - line_start_ + 1),
          inline_assembly_};
  at_ = end;
  return t;
}

Token Lexer::next() {
  skip_space();
  if (at_ >= text_.size()) return take(Token::Kind::end, at_);
  const char c = text_[at_];
  if (class_of(c) == letter) return take(Token::Kind::word, end_of_word(at_ + 1));
  if (class_of(c) == digit) return take(Token::Kind::number, end_of_number(at_));
  if (c == '.') {
    if (is_digit(at(at_ + 1))) return take(Token::Kind::number, end_of_number(at_));
    if (follows_in_word(at(at_ + 1))) return take(Token::Kind::directive, end_of_word(at_ + 1));
  }
  if (c == '"') {
    const size_t end = end_of_string(at_);
    if (end != std::string_view::npos) return take(Token::Kind::string, end);
    const size_t line_end = text_.find('\n', at_);
    return take(Token::Kind::bad, line_end == std::string_view::npos ? text_.size() : line_end);
  }
  const bool printable = c > ' ' && c < '\x7f';
  return take(printable ? Token::Kind::punct : Token::Kind::bad, at_ + 1);
}

void Lexer::extend_mnemonic(Token& mnemonic) {
  const size_t begin = at_ - mnemonic.text.size();
  while (at(at_) == '.' && follows_in_word(at(at_ + 1))) at_ = end_of_word(at_ + 1);
  mnemonic.text = text_.substr(begin, at_ - begin);
}

char Lexer::peek() {
  skip_space();
  return at(at_);
}

bool Lexer::label_follows() { return peek() == ':' && at(at_ + 1) != ':'; }

std::string_view Lexer::skip_braces() {
  const size_t begin = at_;
  while (at_ < text_.size() && text_[at_] != '}') {
    if (text_[at_] == '"') {
      const size_t end = end_of_string(at_);
      at_ = end == std::string_view::npos ? at_ + 1 : end;
    } else if (text_[at_] == '/' && at(at_ + 1) == '/') {
      skip_line_comment();
    } else if (text_[at_++] == '\n') {
      ++line_;
      line_start_ = at_;
    }
  }
  return text_.substr(begin, at_ - begin);
}

}  // namespace palladion::isa
