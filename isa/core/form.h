#pragma once
// The grammar in which an op states its syntax, close to the manual's own lines.
//
//   "[8.0 sm_90] ld{.sem:relaxed|acquire}{.scope:cta|gpu}.space:global|shared{.vec:v2|v4}.type:%b|%u
//   =d:type^vec, a:mem"
//
//   [8.0 sm_90a]      optional: the PTX version and the target it needs (default 1.0 sm_20)
//   [8.7 sm_100a|sm_103a]  either of these targets
//   [3.0..6.3 sm_30: use .sync]  the last PTX version that has it, and what to write instead
//   .slot:a|b|c       a required modifier, one of the words; code refers to the slot by its name
//   {.slot:a|b}       an optional one
//   .wide / {.ftz}    a slot whose only word is its name
//   %u %s %b %f %i    u8..u64, s8..s64, b8..b64 (with .b128 only where written), f16 f32 f64..., %i = %u|%s
// Operands, in PTX order, separated by ", " or, for d|p pairs, "|":
//   =d:KIND           written          a:KIND   read        +d:KIND  both        name?:KIND  optional
//   =_d:KIND          written; `_` throws the result away
// KIND:
//   type / u32        a value of the slot's type, or of a literal type: register, immediate or special
//   2*type            twice as wide (mul.wide)
//   type+             a register may be wider (ld, st, cvt)
//   type/pred         or a predicate
//   type^vec          a vector of as many elements as slot `vec` says (v2, v4, v8), a scalar when absent
//   type^4            a vector of 4
//   type^*            a vector of any length (checked by the op)
//   pred              a predicate register        imm  an integer constant
//   mem               an address [a]              tensor  [map, {coordinates}]
//   tmem              an address [a] of tensor memory, 32 bits
//                     in the space that the slot of its name says (dst, src), or else slot `space`
//   pack              a value of slot `type`, or a vector of its parts (mov)
//   label, func, list, any                        any = whatever (checked by the op)
// Behind a KIND, the constants that an operand may be, and why:
//   imm[128]  imm[4|8|16: cp.async copies 4, 8 or 16 bytes]  u32[0..15]  u32[0../16] a multiple of 16
//   u32[0..size] up to the constant operand `size`
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "isa/core/types.h"

namespace palladion::isa {

struct SlotDef {
  std::string_view name;
  bool optional = false;
  std::vector<std::string_view> words;
  int find(std::string_view word) const;  // index, or -1
};

enum class OperandKind : uint8_t {
  value,
  predicate,
  immediate,
  address,
  tensor,
  label,
  function,
  list,
  pack,
  any
};

// Constants that an operand may be: `values`, or if there are none least, least + step, ... up to most.
struct ConstantRange {
  int64_t least = 0, most = INT64_MAX, step = 1;
  std::vector<int64_t> values;
  std::string_view most_operand;  // whose constant is the most, if not empty
  std::string_view why;           // a sentence for the user; may be empty
  bool has(int64_t value) const;
  std::string words() const;  // "4, 8 or 16", "0 to 1024 in steps of 32"
};

struct OperandDef {
  std::string_view name;
  bool reads = true, writes = false, optional = false;
  bool joined = false;     // stands after '|'
  bool droppable = false;  // written, or `_`
  bool widens = false;     // a register may be wider than the type
  bool or_predicate = false;
  bool tensor_memory = false;  // an address there
  OperandKind kind = OperandKind::value;
  std::string_view type_slot;  // slot whose word is the type; empty when literal
  Type literal = Type::none;
  int width_factor = 1;         // 2 for 2*type
  std::string_view count_slot;  // ^vec
  int count = 1;                // ^4; 0 = any length
  std::optional<ConstantRange> constants;
};

struct OpDef;

struct Form {
  const OpDef* def = nullptr;  // the definition that states it
  std::string_view text;       // as stated
  std::string_view op;         // "ld"
  uint32_t ptx_version = 10;   // 8.0 -> 80
  uint32_t last_version = ~0U;
  std::string_view instead;  // of a form that later versions do not have
  std::string_view target = "sm_20";
  std::vector<SlotDef> slots;
  std::vector<OperandDef> operands;
  int slot(std::string_view name) const;     // -1 when the form has none
  int operand(std::string_view name) const;  // -1 when the form has none
  size_t required_operands() const;
};

// Compiles a form's text; a malformed one is our bug (checked).
Form compile_form(std::string_view text);

// Matches the words after the op's name ("relaxed", "gpu", "global", "f32") against the slots in
// order; fills one index a slot (-1 = absent). False when they do not fit.
bool match_modifiers(const Form& form, const std::vector<std::string_view>& words, int8_t* slots);

// The type of a value operand under the words chosen in `slots`; Type::none when its slot is absent.
Type operand_type(const Form& form, const OperandDef& def, const int8_t* slots);
// Its number of elements: 1 = a scalar, 0 = a vector of any length.
int operand_count(const Form& form, const OperandDef& def, const int8_t* slots);

}  // namespace palladion::isa
