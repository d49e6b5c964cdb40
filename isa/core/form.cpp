#include "isa/core/form.h"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>

#include "isa/core/diagnostic.h"

namespace palladion::isa {
namespace {

struct Set {
  std::string_view name;
  std::vector<std::string_view> words;
};

const std::vector<Set>& sets() {
  static const auto& all = *new const std::vector<Set>{
      // never destroyed, as the tables in op.cpp
      {"%u", {"u8", "u16", "u32", "u64"}},
      {"%s", {"s8", "s16", "s32", "s64"}},
      {"%b", {"b8", "b16", "b32", "b64"}},
      {"%i", {"u8", "u16", "u32", "u64", "s8", "s16", "s32", "s64"}},
      {"%f", {"f16", "bf16", "f32", "f64"}},
      {"%rnd", {"rn", "rz", "rm", "rp"}},
      {"%scope", {"cta", "cluster", "gpu", "sys"}},
      {"%cmp",
       {"eq", "ne", "lt", "le", "gt", "ge", "lo", "ls", "hi", "hs", "equ", "neu", "ltu", "leu", "gtu", "geu",
        "num", "nan"}},
      {"%bool", {"and", "or", "xor"}},
  };
  return all;
}

std::vector<std::string_view> split(std::string_view s, char separator) {
  std::vector<std::string_view> parts;
  while (true) {
    const size_t at = s.find(separator);
    parts.push_back(s.substr(0, at));
    if (at == std::string_view::npos) return parts;
    s.remove_prefix(at + 1);
  }
}

// A name ends at the first ':' that is not part of "::".
size_t name_end(std::string_view s) {
  for (size_t i = 0; i < s.size(); ++i) {
    if (s[i] != ':') continue;
    if (i + 1 < s.size() && s[i + 1] == ':') {
      ++i;
      continue;
    }
    return i;
  }
  return s.size();
}

SlotDef compile_slot(std::string_view s, bool optional) {
  SlotDef slot;
  const size_t end = name_end(s);
  slot.name = s.substr(0, end);
  slot.optional = optional;
  if (end == s.size()) {
    slot.words = {slot.name};
    return slot;
  }
  for (std::string_view word : split(s.substr(end + 1), '|')) {
    const auto set = std::ranges::find(sets(), word, &Set::name);
    if (set == sets().end()) {
      slot.words.push_back(word);
    } else {
      slot.words.insert(slot.words.end(), set->words.begin(), set->words.end());
    }
  }
  return slot;
}

void compile_mnemonic(Form& form, std::string_view s) {
  form.op = s.substr(0, s.find_first_of(".{"));
  s.remove_prefix(form.op.size());
  while (!s.empty()) {
    const bool optional = s[0] == '{';
    PLD_CHECK(s.substr(optional, 1) == ".", std::string(form.text));
    s.remove_prefix(optional ? 2 : 1);
    const size_t end = optional ? s.find('}') : std::min(s.find_first_of(".{"), s.size());
    PLD_CHECK(end != std::string_view::npos, std::string(form.text));
    form.slots.push_back(compile_slot(s.substr(0, end), optional));
    s.remove_prefix(optional ? end + 1 : end);
  }
  PLD_CHECK(form.slots.size() <= 14, std::string(form.text));
}

int64_t number(const Form& form, std::string_view s) {
  int64_t value = 0;
  PLD_CHECK(std::from_chars(s.data(), s.data() + s.size(), value).ec == std::errc{}, std::string(form.text));
  return value;
}

// Cuts ": why" off.
std::string_view cut_reason(std::string_view& s) {
  const size_t colon = s.find(": ");
  if (colon == std::string_view::npos) return {};
  const std::string_view why = s.substr(colon + 2);
  s = s.substr(0, colon);
  return why;
}

// "16", "4|8|16", "0..15", "0../16", "0..size", each with ": why" behind it.
ConstantRange compile_range(const Form& form, std::string_view s) {
  ConstantRange range;
  range.why = cut_reason(s);
  const size_t dots = s.find("..");
  if (dots == std::string_view::npos) {
    for (const std::string_view value : split(s, '|')) range.values.push_back(number(form, value));
    range.least = range.values.front();
    range.most = range.values.back();
    return range;
  }
  if (const size_t slash = s.find('/'); slash != std::string_view::npos) {
    range.step = number(form, s.substr(slash + 1));
    s = s.substr(0, slash);
  }
  range.least = number(form, s.substr(0, dots));
  const std::string_view most = s.substr(dots + 2);
  if (form.operand(most) >= 0)
    range.most_operand = most;
  else if (!most.empty())
    range.most = number(form, most);
  return range;
}

void compile_value_kind(const Form& form, OperandDef& operand, std::string_view kind) {
  if (kind.ends_with("/pred")) {
    operand.or_predicate = true;
    kind.remove_suffix(5);
  }
  if (kind.starts_with("2*")) {
    operand.width_factor = 2;
    kind.remove_prefix(2);
  }
  const size_t caret = kind.find('^');
  if (caret != std::string_view::npos) {
    const std::string_view count = kind.substr(caret + 1);
    kind = kind.substr(0, caret);
    if (count == "*") {
      operand.count = 0;
    } else if (std::from_chars(count.data(), count.data() + count.size(), operand.count).ec != std::errc{}) {
      PLD_CHECK(form.slot(count) >= 0, std::string(form.text));
      operand.count_slot = count;
    }
  }
  if (kind.ends_with('+')) {
    operand.widens = true;
    kind.remove_suffix(1);
  }
  if (form.slot(kind) >= 0) {
    operand.type_slot = kind;
  } else {
    const auto type = type_named(kind);
    PLD_CHECK(type.has_value(), std::string(form.text) + " operand " + std::string(operand.name));
    operand.literal = *type;
  }
}

// At the first ',' or '|' that is not part of a range.
size_t operand_end(std::string_view s) {
  bool in_range = false;
  for (size_t i = 0; i < s.size(); ++i) {
    if (s[i] == '[' || s[i] == ']') in_range = s[i] == '[';
    if (!in_range && (s[i] == ',' || s[i] == '|')) return i;
  }
  return s.size();
}

OperandDef compile_operand(const Form& form, std::string_view s, bool joined) {
  OperandDef operand;
  operand.joined = joined;
  if (s[0] == '=' || s[0] == '+') {
    operand.writes = true;
    operand.reads = s[0] == '+';
    s.remove_prefix(1);
    operand.droppable = s[0] == '_';
    s.remove_prefix(operand.droppable ? 1 : 0);
  }
  const size_t colon = s.find(':');
  PLD_CHECK(colon != std::string_view::npos, std::string(form.text));
  operand.name = s.substr(0, colon);
  if (operand.name.ends_with('?')) {
    operand.optional = true;
    operand.name.remove_suffix(1);
  }
  std::string_view kind = s.substr(colon + 1);
  if (const size_t bracket = kind.find('['); bracket != std::string_view::npos) {
    operand.constants = compile_range(form, kind.substr(bracket + 1, kind.size() - bracket - 2));
    kind = kind.substr(0, bracket);
  }
  using K = OperandKind;
  static constexpr std::pair<std::string_view, K> words[] = {
      {"pred", K::predicate}, {"imm", K::immediate}, {"mem", K::address},   {"tmem", K::address},
      {"tensor", K::tensor},  {"label", K::label},   {"func", K::function}, {"list", K::list},
      {"pack", K::pack},      {"any", K::any}};
  operand.tensor_memory = kind == "tmem";
  for (const auto& [word, value] : words) {
    if (word == kind) {
      operand.kind = value;
      return operand;
    }
  }
  compile_value_kind(form, operand, kind);
  return operand;
}

// "8.0", "8.0 sm_90a", "8.7 sm_100a|sm_103a", "3.0..6.3 sm_30: use .sync"
void compile_needs(Form& form, std::string_view s) {
  const auto version = [](std::string_view v) {
    return static_cast<uint32_t>((v[0] - '0') * 10 + (v[2] - '0'));
  };
  form.instead = cut_reason(s);
  for (const std::string_view need : split(s, ' ')) {
    if (need.starts_with("sm_")) {
      form.target = need;
      continue;
    }
    form.ptx_version = version(need);
    if (need.size() > 5) form.last_version = version(need.substr(5));
  }
}

}  // namespace

bool ConstantRange::has(int64_t value) const {
  if (!values.empty()) return std::ranges::find(values, value) != values.end();
  return value >= least && value <= most && (value - least) % step == 0;
}

std::string ConstantRange::words() const {
  std::string text;
  for (size_t i = 0; i < values.size(); ++i)
    text += fmt::format("{}{}", i == 0 ? "" : i + 1 == values.size() ? " or " : ", ", values[i]);
  if (!values.empty()) return text;
  text = most == INT64_MAX ? fmt::format("{} or more", least) : fmt::format("{} to {}", least, most);
  return step == 1 ? text : fmt::format("{} in steps of {}", text, step);
}

int SlotDef::find(std::string_view word) const {
  const auto it = std::ranges::find(words, word);
  return it == words.end() ? -1 : static_cast<int>(it - words.begin());
}

int Form::slot(std::string_view name) const {
  const auto it = std::ranges::find(slots, name, &SlotDef::name);
  return it == slots.end() ? -1 : static_cast<int>(it - slots.begin());
}

int Form::operand(std::string_view name) const {
  const auto it = std::ranges::find(operands, name, &OperandDef::name);
  return it == operands.end() ? -1 : static_cast<int>(it - operands.begin());
}

size_t Form::required_operands() const {
  return static_cast<size_t>(
      std::ranges::count_if(operands, [](const OperandDef& o) { return !o.optional; }));
}

Form compile_form(std::string_view text) {
  Form form;
  form.text = text;
  std::string_view s = text;
  if (s[0] == '[') {
    const size_t end = s.find("] ");
    PLD_CHECK(end != std::string_view::npos, std::string(text));
    compile_needs(form, s.substr(1, end - 1));
    s.remove_prefix(end + 2);
  }
  const size_t space = s.find(' ');
  compile_mnemonic(form, s.substr(0, space));
  if (space == std::string_view::npos) return form;
  s.remove_prefix(space + 1);
  bool joined = false;
  while (!s.empty()) {
    const size_t end = operand_end(s);
    form.operands.push_back(compile_operand(form, s.substr(0, end), joined));
    if (end == s.size()) break;
    joined = s[end] == '|';
    s.remove_prefix(end + 1);
    while (s.starts_with(' ')) s.remove_prefix(1);
  }
  return form;
}

bool match_modifiers(const Form& form, const std::vector<std::string_view>& words, int8_t* slots) {
  size_t w = 0;
  for (size_t i = 0; i < form.slots.size(); ++i) {
    const SlotDef& slot = form.slots[i];
    const int found = w < words.size() ? slot.find(words[w]) : -1;
    if (found < 0 && !slot.optional) return false;
    slots[i] = static_cast<int8_t>(found);
    w += found >= 0;
  }
  return w == words.size();
}

Type operand_type(const Form& form, const OperandDef& def, const int8_t* slots) {
  if (def.type_slot.empty()) return def.literal;
  const int slot = form.slot(def.type_slot);
  if (slot < 0 || slots[slot] < 0) return Type::none;
  const auto& words = form.slots[static_cast<size_t>(slot)].words;
  return type_named(words[static_cast<size_t>(slots[slot])]).value_or(Type::none);
}

int operand_count(const Form& form, const OperandDef& def, const int8_t* slots) {
  if (def.count_slot.empty()) return def.count;
  const int slot = form.slot(def.count_slot);
  if (slot < 0 || slots[slot] < 0) return 1;
  const char last = form.slots[static_cast<size_t>(slot)].words[static_cast<size_t>(slots[slot])].back();
  return last >= '1' && last <= '9' ? last - '0' : 0;
}

}  // namespace palladion::isa
