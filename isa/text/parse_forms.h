#pragma once
// The forms of an instruction that fit its words and its operands, or why none does.
#include <array>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "isa/core/op.h"
#include "isa/text/parse_names.h"

namespace palladion::isa::detail {

class Dialect;

// Forms of an op that the words of a mnemonic fit.
struct Candidates {
  struct One {
    const Form* form;
    std::array<int8_t, max_modifiers> mods;
  };
  const Op* op = nullptr;
  std::vector<One> forms;
  bool of_texels = false;  // textures and surfaces: [T, sampler, {x, y}], [T, x]
};

// "add.s32" -> add, s32
std::vector<std::string_view> split_words(std::string_view mnemonic);

// `ld.global.b16 {%rs1}, [%rd1]`, `mov.b32 {%r1}, %r2`, `sust.b.2d.b32.trap [...], {%r1}`: ptxas takes braces
// around one register where a vector may stand.
bool is_scalar_in_braces(const OperandDef& def, int count, const Operand& o);

class Forms {
 public:
  Forms(Tokens& in, const Dialect& dialect, const NameTable& names)
      : in_(in), dialect_(dialect), names_(names) {}

  const Candidates& candidates(std::string_view mnemonic);
  void no_candidate(const Token& mnemonic, const Candidates& c);  // the error
  // The first that takes the operands; where one may be left out, of kind none.
  bool select(Instruction& i, const Token& mnemonic, const Candidates& c, std::vector<Operand>& written);

 private:
  void no_fit(const Token& mnemonic, const Candidates& c, const std::vector<Operand>& written);
  bool fits(const OperandDef& def, const Candidates::One& c, const Operand& o) const;
  bool fits_value(const OperandDef& def, const Candidates::One& c, const Operand& o) const;
  // Where each written operand goes among the form's; optional ones may be left out.
  bool align(const Candidates::One& c, const std::vector<Operand>& written, size_t w, size_t d,
             std::array<int8_t, 32>& where) const;

  Tokens& in_;
  const Dialect& dialect_;
  const NameTable& names_;
  std::unordered_map<std::string_view, Candidates> candidates_;  // by mnemonic
};

}  // namespace palladion::isa::detail
