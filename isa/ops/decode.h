#pragma once
// Help for the families that touch memory or order threads: stating many close forms at once, and
// turning an instruction's words into the fields of isa/core/effects.h.
#include <initializer_list>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "isa/arch/arch.h"
#include "isa/core/diagnostic.h"
#include "isa/core/footprint.h"
#include "isa/core/op.h"

namespace palladion::isa::decode {

// --- stating forms --------------------------------------------------------------------------------
// PTX allows words in combinations that one line of the form grammar cannot say ("a policy operand
// exactly when .L2::cache_hint is there"). A template states them:
//   $name        is replaced by its definition
//   <k:x;y;z>    one form for each alternative; groups of the same key k change together
// The texts live as long as the program: OpDef holds views.
struct Definition {
  std::string_view name, text;
};
using Definitions = std::span<const Definition>;
std::vector<std::string_view> expand(std::initializer_list<std::string_view> templates,
                                     Definitions definitions = {});

// Text that lives as long as the program.
std::string_view keep(std::string text);

// --- reading words --------------------------------------------------------------------------------
Space space(const Instruction& i, Space absent = Space::generic, std::string_view slot = "space");
Order order(const Instruction& i, Order absent);
Scope scope(const Instruction& i, Scope absent);
int elements(const Instruction& i);  // slot vec: 1, 2, 4, 8
AtomicOp atomic_op(const Instruction& i);
BulkOp bulk_op(const Instruction& i);  // copy when the form has no op

// What a word stands for; one that is not in the table is our bug (checked).
template <class T, size_t n>
T word_of(std::string_view word, const std::pair<std::string_view, T> (&table)[n]) {
  for (const auto& [text, value] : table)
    if (text == word) return value;
  PLD_CHECK(false, std::string(word));
  return {};
}

// Bytes of `elements` of a type.
inline uint32_t size_of(Type type, int elements) { return static_cast<uint32_t>(bytes(type) * elements); }
inline AsyncGroup group_of(Completion c) {
  return c == Completion::bulk_group ? AsyncGroup::bulk : AsyncGroup::none;
}

// "m64n8k16", the word of the slot `shape`.
struct MatrixShape {
  int m = 0, n = 0, k = 0;
};
MatrixShape shape_of(const Instruction& i);

// Index of an operand, -1 when absent; `written` also gives -1 for the sink `_`.
int index(const Instruction& i, std::string_view operand);
int written(const Instruction& i, std::string_view operand);
// An immediate operand's value; 0 when it is none (the verifier reports it).
int immediate(const Instruction& i, std::string_view operand);
bool is_predicate(const Operand& o, const DecodeContext& c);

// "ld.global.v2.f32": the words of an instruction.
std::string mnemonic(const Instruction& i);
// Known to the verifier, not run by the machine: "`tex.1d.v4.f32.s32`: textures are not modelled".
Effect unsupported(const Instruction& i, std::string_view why);

}  // namespace palladion::isa::decode

namespace palladion::isa::ops {
std::vector<OpDef> launch_control();  // of the family tcgen05
}
