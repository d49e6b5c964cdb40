#pragma once
// Operands as written. A name that is no register has kind `symbol` and no id until its role is known.
#include <optional>
#include <vector>

#include "isa/text/parse_names.h"
#include "isa/text/parse_numbers.h"

namespace palladion::isa::detail {

class Operands {
 public:
  Operands(Tokens& in, Constants& numbers, NameTable& names) : in_(in), numbers_(numbers), names_(names) {}

  void begin_instruction() { open_names_.clear(); }
  bool list(std::vector<Operand>& list, bool of_texels);
  struct CallText {
    Operand returns, function, arguments, targets;  // of kind none where not written
  };
  bool call(CallText& call);

  static bool is_name(const Operand& o) { return o.is(Operand::Kind::symbol) && o.id == no_id; }
  const Token& name_of(const Operand& o) const { return open_names_[o.bits]; }

 private:
  bool call_list(Operand& list);
  std::optional<Operand> operand(bool of_texels = false);
  std::optional<Operand> name_operand();
  std::optional<Operand> negated_operand();
  std::optional<Operand> vector_operand();
  std::optional<Operand> address_operand(bool of_texels);
  bool coordinates(Operand& address);
  bool texel_coordinates(Operand& address);
  bool address_offset(Operand& address);
  std::optional<Operand> special_register(const Token& t);
  std::optional<Operand> vector_register(std::string_view name, uint32_t elements);

  Tokens& in_;
  Constants& numbers_;
  NameTable& names_;
  std::vector<Token> open_names_;
};

}  // namespace palladion::isa::detail
