#include "report/explain/op_text.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>

#include "report/explain/paragraph.h"
#include "verify/arrays/words.h"

namespace palladion::report {
namespace {

std::string_view unit_name(isa::Unit unit) {
  static constexpr std::string_view names[] = {"none", "alu",     "fma",  "fp64", "sfu",   "branch",
                                               "lsu",  "uniform", "sync", "tma",  "tensor"};
  return names[size_t(unit)];
}

// What the timing function answers for the form with each slot's first word.
std::string timing_text(const isa::Op& op, const isa::Form& form) {
  isa::Instruction i;
  i.op = &op;
  i.form = &form;
  std::ranges::fill(i.mods, int8_t{-1});
  for (size_t s = 0; s < form.slots.size(); ++s)
    if (!form.slots[s].optional) i.mods[s] = 0;
  const isa::Timing t = isa::timing(i);
  return t.latency.empty() ? fmt::format("unit {}", unit_name(t.unit))
                           : fmt::format("unit {}, latency class {}", unit_name(t.unit), t.latency);
}

std::string slot_text(const isa::SlotDef& slot) {
  constexpr size_t longest = 32, first = 2;
  std::string words = fmt::format("{}", fmt::join(slot.words, "|"));
  if (words.size() > longest && slot.words.size() > first + 1)
    words = fmt::format("{}|...|{}", fmt::join(slot.words.begin(), slot.words.begin() + first, "|"),
                        slot.words.back());
  if (slot.words.size() > 1) words = "(" + words + ")";
  return slot.optional ? "{." + words + "}" : "." + words;
}

std::string operand_text(const isa::OperandDef& o) {
  std::string text(o.name);
  if (o.kind == isa::OperandKind::address) text = "[" + text + "]";
  if (o.kind == isa::OperandKind::tensor) text = "[" + text + ", {...}]";
  if (!o.count_slot.empty() || o.count != 1) text = "{" + text + ", ...}";
  return o.optional ? "{" + text + "}" : text;
}

// "ld{.(relaxed|acquire)}.(global|shared).type d, [a]"
std::string form_text(const isa::Form& form) {
  std::string text(form.op);
  for (const isa::SlotDef& slot : form.slots) text += slot_text(slot);
  for (size_t i = 0; i < form.operands.size(); ++i)
    text += (i == 0 ? " " : form.operands[i].joined ? "|" : ", ") + operand_text(form.operands[i]);
  return text;
}

std::string described(const isa::Op& op, const isa::Form& form, const isa::Form* before) {
  std::string out, about;
  if (before == nullptr || before->def != form.def) out = wrapped(form.def->doc.value, "  ");
  if (form.ptx_version > 10)
    about = fmt::format("PTX {}.{}, {}; ", form.ptx_version / 10, form.ptx_version % 10, form.target);
  return out + fmt::format("    {}\n      {}{}\n", form_text(form), about, timing_text(op, form));
}

}  // namespace

const isa::Op* op_of(std::string_view word) { return isa::find_op(word.substr(0, word.find('.'))); }

std::string op_text(const isa::Op& op, std::string_view word) {
  const auto words = word.size() > op.name.size() ? split(word.substr(op.name.size() + 1), ".")
                                                  : std::vector<std::string_view>{};
  const auto chosen = [&](const isa::Form& form) {
    return std::ranges::all_of(words, [&](std::string_view w) {
      return std::ranges::any_of(form.slots, [&](const isa::SlotDef& slot) { return slot.find(w) >= 0; });
    });
  };
  const bool some = std::ranges::any_of(op.forms, chosen);
  std::string out = fmt::format("{}\n", op.name);
  const isa::Form* before = nullptr;
  for (const isa::Form& form : op.forms) {
    if (some && !chosen(form)) continue;
    out += described(op, form, before);
    before = &form;
  }
  return out;
}

}  // namespace palladion::report
