#pragma once
// The tokens of a PTX text, and the errors at them.
#include <optional>
#include <string>
#include <string_view>

#include "isa/core/diagnostic.h"
#include "isa/core/parse_codes.h"
#include "isa/text/lex.h"

namespace palladion::isa::detail {

// `found` minimises the edit distance to `word`; empty when nothing is near.
class Nearest {
 public:
  explicit Nearest(std::string_view word) : word_(word), best_(word.size() / 3 + 2) {}
  void offer(std::string_view candidate);
  std::string_view found() const { return found_; }
  std::string help() const;  // "did you mean `x`?" or empty

 private:
  std::string_view word_, found_;
  size_t best_;
};

// `file`: the name that diagnostics carry.
class Tokens {
 public:
  Tokens(std::string_view text, std::string file) : lexer_(text), file_(std::move(file)) { next(); }

  const Token& token() const { return token_; }        // the one to be read
  const Token& previous() const { return previous_; }  // the one read last
  void next() {
    previous_ = token_;
    token_ = lexer_.next();
  }
  // Reads the token if it is this one.
  bool accept(char c);
  bool accept_directive(std::string_view s);
  bool expect(char c);  // else an error
  std::optional<Token> expect_word(std::string_view what);
  std::string strings();  // "a", "b" up to the end of the statement: a", "b
  void skip_statement();  // past the next ';', or before a brace

  // What the lexer sees behind the token.
  void extend_mnemonic() { lexer_.extend_mnemonic(token_); }
  bool label_follows() { return lexer_.label_follows(); }
  char peek() { return lexer_.peek(); }
  char adjoining() const { return lexer_.adjoining(); }
  std::string_view skip_braces() { return lexer_.skip_braces(); }

  void error(const Token& at, ParseCode code, std::string message, std::string help = {});
  void error_expected(std::string_view what);
  bool too_many_errors() const;
  Diagnostics& diagnostics() { return diagnostics_; }

 private:
  Lexer lexer_;
  std::string file_;
  Token token_, previous_;
  Diagnostics diagnostics_;
};

}  // namespace palladion::isa::detail
