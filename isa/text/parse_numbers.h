#pragma once
// Constants and constant expressions (PTX, "Constants", "Constant Expressions").
#include <cstdint>
#include <optional>
#include <string_view>

#include "isa/core/instruction.h"
#include "isa/text/parse_tokens.h"

namespace palladion::isa::detail {

class Constants {
 public:
  explicit Constants(Tokens& in) : in_(in) {}

  bool at_constant() const;
  std::optional<Operand> constant();        // an expression
  std::optional<Operand> constant_unary();  // one without binary operators
  std::optional<Operand> literal(const Token& t);
  std::optional<int64_t> integer(std::string_view what);
  std::optional<uint32_t> small_integer(std::string_view what);

 private:
  std::optional<Operand> constant_binary(int min_level);
  bool nested_too_deeply();

  Tokens& in_;
  int depth_ = 0;  // of recursion, to refuse what would overflow the stack
};

}  // namespace palladion::isa::detail
