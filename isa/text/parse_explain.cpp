// Diagnostics for an instruction whose words or operands match no form.
#include <fmt/format.h>

#include <algorithm>

#include "isa/core/manual.h"
#include "isa/text/parse_forms.h"

namespace palladion::isa::detail {
namespace {

std::string form_usage(std::string_view mnemonic, const Form& form) {
  std::string s(mnemonic);
  for (size_t i = 0; i < form.operands.size(); ++i) {
    const OperandDef& d = form.operands[i];
    const std::string separator = i == 0 ? " " : d.joined ? "|" : ", ";
    const std::string text = d.kind == OperandKind::address  ? fmt::format("[{}]", d.name)
                             : d.kind == OperandKind::tensor ? fmt::format("[{}, {{coordinates}}]", d.name)
                                                             : std::string(d.name);
    s += d.optional ? fmt::format("{{{}{}}}", separator, text) : separator + text;
  }
  return s;
}

// The words that a form takes after those that fit it.
struct Progress {
  size_t taken = 0;
  std::vector<std::string_view> expected;
  std::vector<std::string_view> missing;  // words of the slot that the next word would fit behind
};

Progress progress(const Form& form, const std::vector<std::string_view>& words) {
  Progress p;
  for (const SlotDef& slot : form.slots) {
    const int found = p.taken < words.size() ? slot.find(words[p.taken]) : -1;
    if (found >= 0) {
      ++p.taken;
      p.expected.clear();
      continue;
    }
    p.expected.insert(p.expected.end(), slot.words.begin(), slot.words.end());
    if (slot.optional) continue;
    const auto fits_later = [&](const SlotDef& later) {
      return p.taken < words.size() && later.find(words[p.taken]) >= 0;
    };
    if (std::any_of(&slot, form.slots.data() + form.slots.size(), fits_later)) p.missing = slot.words;
    break;
  }
  return p;
}

std::string list_of(std::vector<std::string_view> words) {
  std::string s;
  std::vector<std::string_view> seen;
  for (const auto w : words) {
    if (std::ranges::find(seen, w) != seen.end()) continue;
    if (seen.size() == 24) return s + ", ...";
    seen.push_back(w);
    s += fmt::format("{}`.{}`", s.empty() ? "" : ", ", w);
  }
  return s;
}

std::string describe(const Operand& o, const Function& f) {
  using K = Operand::Kind;
  switch (o.kind) {
    case K::none:
      return "nothing";
    case K::reg:
      return fmt::format("`{}{}` (`.{}`)", o.negated ? "!" : "", f.registers[o.id].name,
                         name(f.registers[o.id].type));
    case K::imm:
      return o.imm_type == Operand::ImmType::integer ? "an integer" : "a floating-point constant";
    case K::special:
      return "a special register";
    case K::symbol:
      return "a name";
    case K::label:
      return "a label";
    case K::address:
      return o.elements.size() > 1 ? "a tensor with coordinates" : "an address";
    case K::vector:
      return fmt::format("a vector of {}", o.elements.size());
    case K::sink:
      return "`_`";
  }
  return "?";
}

std::string expectation(const OperandDef& def, const Candidates::One& c) {
  switch (def.kind) {
    case OperandKind::predicate:
      return "a predicate register";
    case OperandKind::immediate:
      return "an integer constant";
    case OperandKind::address:
      return "an address such as `[%rd1+16]`";
    case OperandKind::tensor:
      return "a tensor such as `[map, {c0, c1}]`";
    case OperandKind::label:
      return "a label";
    case OperandKind::function:
      return "a function";
    case OperandKind::list:
      return "a list";
    case OperandKind::pack:
    case OperandKind::any:
      return "an operand";
    case OperandKind::value:
      break;
  }
  const int count = operand_count(*c.form, def, c.mods.data());
  const std::string_view type = name(operand_type(*c.form, def, c.mods.data()));
  if (count > 1) return fmt::format("a vector of {} `.{}` elements", count, type);
  if (count == 0) return fmt::format("`.{}` registers", type);
  if (def.writes) return fmt::format("a register for `.{}`", type);
  return fmt::format("a `.{}` register{}or constant", type, def.or_predicate ? ", a predicate " : " ");
}

}  // namespace

std::vector<std::string_view> split_words(std::string_view mnemonic) {
  std::vector<std::string_view> words;
  while (true) {
    const size_t end = mnemonic.find('.');
    words.push_back(mnemonic.substr(0, end));
    if (end == std::string_view::npos) return words;
    mnemonic.remove_prefix(end + 1);
  }
}

void Forms::no_candidate(const Token& mnemonic, const Candidates& c) {
  if (const std::string_view name = unstated_instruction(mnemonic.text); !name.empty()) {
    in_.error(mnemonic, ParseCode::not_modelled, fmt::format("`{}` is not modelled", name),
              "`palladion explain` lists the instructions that are");
    return;
  }
  std::vector<std::string_view> words = split_words(mnemonic.text);
  if (c.op == nullptr) {
    Nearest nearest(words[0]);
    for (const Op& op : all_ops()) nearest.offer(op.name);
    return in_.error(mnemonic, ParseCode::unknown_instruction,
                     fmt::format("unknown instruction `{}`", words[0].substr(0, 60)), nearest.help());
  }
  const std::string_view op = words[0];
  words.erase(words.begin());
  Progress best;
  for (const Form& form : c.op->forms) {
    Progress p = progress(form, words);
    if (p.taken < best.taken) continue;
    if (p.taken == best.taken) {
      p.expected.insert(p.expected.begin(), best.expected.begin(), best.expected.end());
      p.missing.insert(p.missing.begin(), best.missing.begin(), best.missing.end());
    }
    best = std::move(p);
  }
  Token at = mnemonic;
  std::string fitting(op);
  for (size_t i = 0; i < best.taken; ++i) fitting += fmt::format(".{}", words[i]);
  at.column += static_cast<uint32_t>(best.taken < words.size() ? fitting.size() : 0);
  std::string message = best.taken < words.size() ? fmt::format("`{}` does not take `.{}` here", fitting,
                                                                words[best.taken].substr(0, 60))
                                                  : fmt::format("`{}` lacks a modifier", fitting);
  std::string help;
  if (!best.missing.empty()) {
    message = fmt::format("`{}` needs a modifier before `.{}`", fitting, words[best.taken]);
    best.expected = best.missing;
  } else if (best.taken < words.size()) {
    Nearest nearest(words[best.taken]);
    for (const auto w : best.expected) nearest.offer(w);
    if (!nearest.found().empty()) help = fmt::format("did you mean `.{}`? ", nearest.found());
  }
  help += best.expected.empty() ? fmt::format("no modifier follows `{}`", fitting)
                                : fmt::format("`{}` goes on with {}", fitting, list_of(best.expected));
  in_.error(at, ParseCode::modifiers, std::move(message), std::move(help));
}

void Forms::no_fit(const Token& mnemonic, const Candidates& c, const std::vector<Operand>& written) {
  std::string help;
  for (const Candidates::One& one : c.forms) {
    const std::string usage = fmt::format("`{}`", form_usage(mnemonic.text, *one.form));
    if (help.size() < 400 && help.find(usage) == std::string::npos)
      help += (help.empty() ? "it is written " : " or ") + usage;
  }
  const auto takes = [&](const Candidates::One& one) {
    return written.size() >= one.form->required_operands() && written.size() <= one.form->operands.size();
  };
  const auto one = std::ranges::find_if(c.forms, takes);
  if (one == c.forms.end()) {
    return in_.error(mnemonic, ParseCode::operands,
                     fmt::format("`{}` does not take {} operands", mnemonic.text, written.size()), help);
  }
  size_t w = 0;
  for (const OperandDef& def : one->form->operands) {
    if (w < written.size() && fits(def, *one, written[w])) {
      ++w;
    } else if (!def.optional) {
      const std::string found = w < written.size() ? describe(written[w], names_.function()) : "nothing";
      return in_.error(mnemonic, ParseCode::operands,
                       fmt::format("operand {} of `{}` must be {}, found {}", w + 1, mnemonic.text,
                                   expectation(def, *one), found),
                       help);
    }
  }
  in_.error(mnemonic, ParseCode::operands, fmt::format("these operands do not fit `{}`", mnemonic.text),
            help);
}

}  // namespace palladion::isa::detail
