#include "sim/mutate/edit.h"

#include "isa/core/builder.h"
#include "isa/ops/decode.h"

namespace palladion::sim::check {
namespace {

int64_t computed(std::string_view op, int64_t value, int64_t constant) {
  return op == "xor" ? value ^ constant : value + constant;
}

}  // namespace

std::string words_of(const isa::Instruction& instruction) { return isa::decode::mnemonic(instruction); }

bool set_words(isa::Instruction& instruction, const std::string& words) {
  const isa::Matched m = isa::match(words, instruction.operands);
  if (m.form == nullptr) return false;
  instruction.op = m.op;
  instruction.form = m.form;
  instruction.mods = m.mods;
  return true;
}

bool replace_word(isa::Instruction& instruction, std::string_view word, std::string_view by) {
  const std::string dotted = "." + std::string(word);
  std::string words = words_of(instruction) + ".";
  const size_t at = words.find(dotted + ".");
  if (at == std::string::npos) return false;
  words.replace(at, dotted.size(), by.empty() ? "" : "." + std::string(by));
  words.pop_back();
  return set_words(instruction, words);
}

void Edit::erase(uint32_t index) {
  function_.body.erase(function_.body.begin() + index);
  for (isa::Label& label : function_.labels)
    if (label.target != isa::no_id && label.target > index) --label.target;
  for (isa::Pragma& pragma : function_.body_pragmas)
    if (pragma.before > index) --pragma.before;
}

// A branch to the instruction now goes to the instruction inserted before it.
void Edit::insert(uint32_t index, isa::Instruction instruction) {
  function_.body.insert(function_.body.begin() + index, std::move(instruction));
  for (isa::Label& label : function_.labels)
    if (label.target != isa::no_id && label.target > index) ++label.target;
  for (isa::Pragma& pragma : function_.body_pragmas)
    if (pragma.before > index) ++pragma.before;
}

uint32_t Edit::compute(uint32_t index, int operand, std::string_view op, int64_t constant) {
  isa::Operand& value = at(index).operands[size_t(operand)];
  if (value.is(isa::Operand::Kind::imm)) {
    value.bits = uint64_t(computed(op, int64_t(value.bits), constant));
    return index;
  }
  isa::Module nowhere;
  isa::Function scratch;
  isa::Builder builder(nowhere, scratch);
  const isa::Operand changed = isa::Operand::reg(isa::RegId(function_.registers.size()));
  function_.registers.push_back({"%mutated", isa::Type::b32});
  isa::Instruction extra =
      builder.emit(op == "xor" ? "xor.b32" : "add.s32", {changed, value, isa::Operand::imm(constant)});
  extra.origin = at(index).origin;
  value = changed;
  insert(index, std::move(extra));
  return index + 1;
}

}  // namespace palladion::sim::check
