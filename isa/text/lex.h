#pragma once
// PTX text to tokens. Never fails: other text is a token of kind `bad`.
#include <cstdint>
#include <string_view>

namespace palladion::isa {

struct Token {
  enum class Kind : uint8_t {
    end,
    word,       // add, %r1, $L_1, _foo; at the start of a statement with its modifiers: add.s32
    directive,  // .reg, .shared::cta
    number,     // 5, 0x1F, 0f3F800000, 1.5, 7U
    string,     // "text", with the quotes
    punct,      // one character
    bad
  };
  Kind kind = Kind::end;
  std::string_view text;
  uint32_t line = 1, column = 1;
  // The line where the inline assembly begins within which it stands, between the comments that NVVM and LLVM
  // write around it; 0: it stands in none.
  uint32_t inline_assembly = 0;

  bool is(char c) const { return kind == Kind::punct && text[0] == c; }
  bool is(Kind k) const { return kind == k; }
  bool is_directive(std::string_view s) const { return kind == Kind::directive && text.substr(1) == s; }
};

class Lexer {
 public:
  explicit Lexer(std::string_view text) : text_(text) {}

  Token next();
  // Makes `mnemonic`, the token that next() gave last, as long as the words joined to it by dots.
  void extend_mnemonic(Token& mnemonic);
  // The character that follows the last token, white space aside; 0 at the end.
  char peek();
  // Whether the last token, a word, is followed by a single ':'.
  bool label_follows();
  // Text up to the brace that closes one already open; for debug sections.
  std::string_view skip_braces();
  // The character right behind the last token; 0 at the end.
  char adjoining() const { return at(at_); }

 private:
  void skip_space();
  void skip_line_comment();
  void skip_block_comment();
  size_t end_of_word(size_t at) const;
  size_t end_of_number(size_t at) const;
  size_t end_of_string(size_t at) const;
  Token take(Token::Kind kind, size_t end);
  char at(size_t i) const { return i < text_.size() ? text_[i] : '\0'; }

  std::string_view text_;
  size_t at_ = 0;
  size_t line_start_ = 0;
  uint32_t line_ = 1;
  uint32_t inline_assembly_ = 0;
};

}  // namespace palladion::isa
