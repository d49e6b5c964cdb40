#pragma once
// One PTX instruction as typed data: an op, the modifiers its form allows, and operands.
#include <array>
#include <cstdint>
#include <span>
#include <string_view>
#include <vector>

#include "isa/core/types.h"

namespace palladion::isa {

struct Op;
struct Form;

using RegId = uint32_t;     // index into Function::registers
using SymbolId = uint32_t;  // index into Module::symbols
using LabelId = uint32_t;   // index into Function::labels
inline constexpr uint32_t no_id = ~0u;

struct Operand {
  enum class Kind : uint8_t {
    none,
    reg,      // %r1            id = RegId; `negated` for !%p1
    imm,      // 5, 0f3F800000  bits, imm_type
    special,  // %tid.x         special, component
    symbol,   // smem+16        id = SymbolId, offset
    label,    // $L_1           id = LabelId
    address,  // [%rd1+8]       elements[0] = base (reg, symbol or imm); offset; further elements =
              // coordinates {c0,c1}, and last, if `sampled`, the sampler of [%rd1, %rd2, {c0,c1}]
    vector,   // {%r1, %r2}     elements
    sink,     // _
  };
  enum class ImmType : uint8_t { integer, f32, f64 };

  Kind kind = Kind::none;
  bool negated = false;
  bool joined = false;   // follows the previous operand after '|' (d|p)
  bool sampled = false;  // of an address: a texture and a sampler
  ImmType imm_type = ImmType::integer;
  Special special = Special::tid;
  int8_t component = -1;  // 0..3 for .x .y .z .w; of a special register
  uint32_t id = no_id;
  uint64_t bits = 0;   // immediate: two's complement integer, or the bit pattern of an f32 / f64
  int64_t offset = 0;  // bytes, of a symbol or an address
  std::vector<Operand> elements;

  bool is(Kind k) const { return kind == k; }
  std::span<const Operand> coordinates() const;  // of an address

  static Operand reg(RegId id, bool negated = false);
  static Operand imm(int64_t value);
  static Operand f32(uint32_t bits);
  static Operand f64(uint64_t bits);
  static Operand symbol(SymbolId id, int64_t offset = 0);
  static Operand label(LabelId id);
  static Operand special_reg(Special s, int component = -1);
  static Operand address(Operand base, int64_t offset = 0, std::vector<Operand> coordinates = {});
  static Operand vector(std::vector<Operand> elements);
  static Operand sink();

  friend bool operator==(const Operand&, const Operand&) = default;
};

inline std::span<const Operand> Operand::coordinates() const {
  if (elements.empty()) return {};
  return std::span(elements).subspan(1, elements.size() - (sampled ? 2 : 1));
}

// Guard @p or @!p; `reg == no_id` means always.
struct Guard {
  RegId reg = no_id;
  bool negated = false;
  friend bool operator==(const Guard&, const Guard&) = default;
};

inline constexpr int max_modifiers = 14;

// The origin of an instruction: a line of the PTX text, and a place in the author's source
// (index into Module::frames, from .loc or from the frontend).
struct Origin {
  uint32_t ptx_line = 0;
  uint32_t source = no_id;
};

struct Instruction {
  const Op* op = nullptr;
  const Form* form = nullptr;
  // One entry for each slot of the form: index into the slot's alternatives, or -1 when absent.
  std::array<int8_t, max_modifiers> mods{};
  Guard guard;
  std::vector<Operand> operands;
  Origin origin;

  // The word in a slot ("rn" for slot "rnd"), empty when absent. `slot` must be one that some form
  // of the op names: a typo is an internal error and is checked.
  std::string_view mod(std::string_view slot) const;
  bool has(std::string_view slot) const { return !mod(slot).empty(); }
  // The slot's word as a type; Type::none when absent.
  Type type(std::string_view slot = "type") const;
  // The operand that the form calls `name`; nullptr when an optional one is absent.
  const Operand* operand(std::string_view name) const;
  int operand_index(std::string_view name) const;  // -1 when absent
};

}  // namespace palladion::isa
