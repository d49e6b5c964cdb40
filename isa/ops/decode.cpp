#include "isa/ops/decode.h"

#include <fmt/format.h>
#include <charconv>

#include <algorithm>
#include <deque>
#include <mutex>
#include <set>

namespace palladion::isa::decode {
namespace {

// One group <k:x;y> of a template.
struct Group {
  size_t begin, end;  // of the text with its brackets
  char key;
  std::vector<std::string_view> alternatives;
};

std::vector<Group> groups_of(std::string_view text) {
  std::vector<Group> groups;
  for (size_t at = text.find('<'); at != std::string_view::npos; at = text.find('<', at + 1)) {
    const size_t close = text.find('>', at);
    PLD_CHECK(close != std::string_view::npos && text.substr(at + 2, 1) == ":", std::string(text));
    Group g{at, close + 1, text[at + 1], {}};
    std::string_view body = text.substr(at + 3, close - at - 3);
    for (size_t cut = body.find(';'); cut != std::string_view::npos; cut = body.find(';')) {
      g.alternatives.push_back(body.substr(0, cut));
      body.remove_prefix(cut + 1);
    }
    g.alternatives.push_back(body);
    groups.push_back(std::move(g));
  }
  return groups;
}

struct Choice {
  char key;
  size_t count, chosen = 0;
};

std::vector<Choice> choices_of(const std::vector<Group>& groups, std::string_view text) {
  std::vector<Choice> choices;
  for (const Group& g : groups) {
    const auto it = std::ranges::find(choices, g.key, &Choice::key);
    if (it == choices.end()) {
      choices.push_back({g.key, g.alternatives.size()});
    } else {
      PLD_CHECK(it->count == g.alternatives.size(), std::string(text));
    }
  }
  return choices;
}

bool advance(std::vector<Choice>& choices) {
  for (size_t n = choices.size(); n-- > 0;) {
    if (++choices[n].chosen < choices[n].count) return true;
    choices[n].chosen = 0;
  }
  return false;
}

std::string define(std::string text, Definitions definitions) {
  for (size_t at = text.find('$'); at != std::string::npos; at = text.find('$', at)) {
    const Definition* best = nullptr;  // the longest name that fits
    for (const Definition& d : definitions) {
      if (text.compare(at, d.name.size(), d.name) == 0 &&
          (best == nullptr || d.name.size() > best->name.size()))
        best = &d;
    }
    PLD_CHECK(best != nullptr, text);
    text.replace(at, best->name.size(), best->text);
  }
  return text;
}

void expand_one(const std::string& text, std::vector<std::string_view>& forms) {
  const std::vector<Group> groups = groups_of(text);
  std::vector<Choice> choices = choices_of(groups, text);
  do {
    std::string form;
    size_t at = 0;
    for (const Group& g : groups) {
      form.append(text, at, g.begin - at);
      form += g.alternatives[std::ranges::find(choices, g.key, &Choice::key)->chosen];
      at = g.end;
    }
    form.append(text, at);
    forms.push_back(keep(std::move(form)));
  } while (advance(choices));
}

}  // namespace

std::string_view keep(std::string text) {
  static std::mutex mutex;
  static auto& kept = *new std::deque<std::string>;  // the tables of instructions, which stay, refer to it
  const std::lock_guard lock(mutex);
  return kept.emplace_back(std::move(text));
}

std::vector<std::string_view> expand(std::initializer_list<std::string_view> templates,
                                     Definitions definitions) {
  std::vector<std::string_view> forms;
  for (const std::string_view text : templates) expand_one(define(std::string(text), definitions), forms);
  return forms;
}

Space space(const Instruction& i, Space absent, std::string_view slot) {
  return space_named(i.mod(slot)).value_or(absent);
}

Order order(const Instruction& i, Order absent) { return order_named(i.mod("sem")).value_or(absent); }

Scope scope(const Instruction& i, Scope absent) { return scope_named(i.mod("scope")).value_or(absent); }

int elements(const Instruction& i) {
  const std::string_view word = i.mod("vec");
  return word.empty() ? 1 : word[1] - '0';
}

AtomicOp atomic_op(const Instruction& i) {
  using enum AtomicOp;
  static constexpr std::pair<std::string_view, AtomicOp> words[] = {
      {"add", add},  {"sub", sub}, {"min", min},  {"max", max},   {"inc", inc}, {"dec", dec},
      {"and", and_}, {"or", or_},  {"xor", xor_}, {"exch", exch}, {"cas", cas}};
  return word_of(i.mod("op"), words);
}

BulkOp bulk_op(const Instruction& i) {
  using enum BulkOp;
  static constexpr std::pair<std::string_view, BulkOp> words[] = {{"", copy},    {"add", add}, {"min", min},
                                                                  {"max", max},  {"inc", inc}, {"dec", dec},
                                                                  {"and", and_}, {"or", or_},  {"xor", xor_}};
  return word_of(i.mod("op"), words);
}

int index(const Instruction& i, std::string_view operand) { return i.operand_index(operand); }

int written(const Instruction& i, std::string_view operand) {
  const int n = i.operand_index(operand);
  return n >= 0 && i.operands[n].is(Operand::Kind::sink) ? -1 : n;
}

int immediate(const Instruction& i, std::string_view operand) {
  const Operand* o = i.operand(operand);
  return o != nullptr && o->is(Operand::Kind::imm) ? static_cast<int>(o->bits) : 0;
}

bool is_predicate(const Operand& o, const DecodeContext& c) {
  return o.is(Operand::Kind::reg) && c.width(o) == 1;
}

MatrixShape shape_of(const Instruction& i) {
  const std::string_view s = i.mod("shape");
  const char* end = s.data() + s.size();
  MatrixShape shape;
  const auto after_m = std::from_chars(s.data() + 1, end, shape.m).ptr;
  const auto after_n = std::from_chars(after_m + 1, end, shape.n).ptr;
  std::from_chars(after_n + 1, end, shape.k);
  return shape;
}

std::string mnemonic(const Instruction& i) {
  std::string text(i.op->name);
  for (size_t n = 0; n < i.form->slots.size(); ++n) {
    if (i.mods[n] < 0) continue;
    text += '.';
    text += i.form->slots[n].words[i.mods[n]];
  }
  return text;
}

// Reasons are few: one an instruction with modifiers. So an Effect needs no memory of its own, and is copied
// as bytes.
Effect unsupported(const Instruction& i, std::string_view why) {
  static std::mutex mutex;
  static auto& reasons = *new std::set<std::string>;  // for the program's whole life, and its end
  const std::lock_guard lock(mutex);
  return Unsupported{*reasons.insert(fmt::format("`{}`: {}", mnemonic(i), why)).first};
}

}  // namespace palladion::isa::decode
