// Every combination of modifiers that the floating, half and conversion families state is PTX to ptxas, in
// the PTX version and for the target that the form names.
#include <map>

#include "isa/core/op.h"
#include "tests/isa/ops_harness.h"
#include "tests/support/toolkit.h"

namespace palladion::isa {
namespace {

bool in_family(const Form& form) {
  for (const char* name : {"floating", "half", "conversions"})
    for (const OpDef& def : family(name))
      if (form.def == &def) return true;
  return false;
}

std::string register_for(const Form& form, const std::vector<int>& words, const OperandDef& def,
                         size_t index) {
  if (def.kind == OperandKind::predicate) return "%p" + std::to_string(index);
  Type type = def.literal;
  if (!def.type_slot.empty()) {
    const int slot = form.slot(def.type_slot);
    type = *type_named(form.slots[slot].words[words[slot]]);
  }
  switch (bits(type)) {
    case 8:
      return "%q" + std::to_string(index);
    case 16:
      return "%h" + std::to_string(index);
    case 64:
      return "%d" + std::to_string(index);
    default:
      return "%r" + std::to_string(index);
  }
}

std::string instance(const Form& form, const std::vector<int>& words, bool with_optional) {
  std::string text(form.op);
  for (size_t k = 0; k < words.size(); ++k)
    if (words[k] >= 0) text += "." + std::string(form.slots[k].words[words[k]]);
  std::string separator = " ";
  for (size_t k = 0; k < form.operands.size(); ++k) {
    const OperandDef& def = form.operands[k];
    if (def.optional && !with_optional) continue;
    text += (def.joined ? "|" : separator) + register_for(form, words, def, k + 1);
    separator = ", ";
  }
  return text + ";";
}

void all_instances(const Form& form, std::vector<std::string>& lines) {
  std::vector<int> words(form.slots.size());
  for (size_t k = 0; k < words.size(); ++k) words[k] = form.slots[k].optional ? -1 : 0;
  while (true) {
    lines.push_back(instance(form, words, true));
    if (form.required_operands() < form.operands.size()) lines.push_back(instance(form, words, false));
    size_t k = 0;
    for (; k < words.size(); ++k) {
      if (++words[k] < static_cast<int>(form.slots[k].words.size())) break;
      words[k] = form.slots[k].optional ? -1 : 0;
    }
    if (k == words.size()) return;
  }
}

// ptxas 13.0 knows sm_75 and later, from PTX 6.3.
std::pair<uint32_t, std::string> need(const Form& form) {
  const std::string target(form.target);
  const bool old = target < "sm_75" && target.size() == 5;
  return {std::max(form.ptx_version, 63U), old ? "sm_75" : target};
}

TEST(ComputeForms, PtxasTakesEveryCombination) {
  PLD_NEEDS_TOOL("ptxas");
  std::map<std::pair<uint32_t, std::string>, std::vector<std::string>> groups;
  size_t forms = 0;
  for (const Op& op : all_ops()) {
    for (const Form& form : op.forms) {
      if (!in_family(form) || form.target.starts_with("sm_10")) continue;
      all_instances(form, groups[need(form)]);
      ++forms;
    }
  }
  EXPECT_GT(forms, 100U);
  for (const auto& [version_target, lines] : groups) {
    const auto& [version, target] = version_target;
    std::string text =
        ".version " + std::to_string(version / 10) + "." + std::to_string(version % 10) + "\n.target " +
        target +
        "\n.address_size 64\n.visible .entry k()\n{\n.reg .pred %p<9>;\n.reg .b8 %q<9>;\n.reg .b16 %h<9>;\n"
        ".reg .b32 %r<9>;\n.reg .b64 %d<9>;\n";
    const auto header = static_cast<size_t>(std::ranges::count(text, '\n'));
    for (const std::string& line : lines) text += line + "\n";
    text += "ret;\n}\n";
    const toolkit::Assembly assembly = toolkit::assemble(text);
    if (assembly.ok) continue;
    std::istringstream log(assembly.log);
    int shown = 0;
    for (std::string message; std::getline(log, message) && shown < 12;) {
      const size_t at = message.find("line ");
      if (at == std::string::npos) continue;
      const size_t number = std::stoul(message.substr(at + 5)) - 1 - header;
      ADD_FAILURE() << "PTX " << version << ' ' << target << ": "
                    << (number < lines.size() ? lines[number] : "") << "  " << message;
      ++shown;
    }
    EXPECT_GT(shown, 0) << assembly.log;
  }
}

TEST(ComputeForms, EveryCombinationDecodes) {
  size_t combinations = 0;
  for (const Op& op : all_ops()) {
    for (const Form& form : op.forms) {
      if (!in_family(form) || form.target.starts_with("sm_10")) continue;
      std::vector<std::string> lines;
      all_instances(form, lines);
      for (const std::string& line : lines) {
        const std::string mnemonic = line.substr(0, line.find(' '));
        const test::Bench bench(mnemonic, {}, static_cast<size_t>(std::ranges::count(line, '%')));
        const bool known = bench.is_pure() || std::holds_alternative<Approx>(bench.effect()) ||
                           std::holds_alternative<Unsupported>(bench.effect());
        ASSERT_TRUE(known) << line;
        ASSERT_NE(bench.unit(), Unit::none) << line;
        ++combinations;
      }
    }
  }
  EXPECT_GT(combinations, 4000U);
}

}  // namespace
}  // namespace palladion::isa
