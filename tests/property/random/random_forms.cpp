// Which forms programs are made of, and which words of them.
#include <algorithm>
#include <fstream>

#include "isa/core/op.h"
#include "tests/property/random/random_program.h"

namespace palladion::random_program {
namespace {

constexpr size_t most_entries_a_form = 96;

bool runs_on_sm_90a(const isa::Form& f) {
  if (f.target == "sm_90a") return true;
  return f.target.back() != 'a' && f.target.back() != 'f' && std::stoi(std::string(f.target.substr(3))) <= 90;
}

bool is_scalar(const isa::Form& f) {
  for (const char* name : {"integer", "floating", "half", "conversions", "comparisons", "logic"})
    for (const isa::OpDef& def : isa::family(name))
      if (f.def == &def) return true;
  return false;
}

// cvt between bytes and bf16 takes registers of eight bits alone, which these programs do not have
// (tests/isa/ops_conversions_test.cpp computes with them).
bool needs_byte_registers(const isa::Form& f) {
  return f.op == "cvt" && f.text.find("u8|s8") != std::string_view::npos && !f.operands.back().widens;
}

// mma.sync of dense fragments, row by column; m8n8k4 of halves is Volta's layout.
bool is_modelled_product(const isa::Form& f) {
  if (f.op != "mma" || f.slot("sparse") >= 0) return false;
  return !(f.text.find("m8n8k4") != std::string_view::npos &&
           f.text.find("atype:f16") != std::string_view::npos);
}

// ptxas may fuse a product without rounding into an fma.
bool must_be_written(const isa::Form& f, size_t slot) {
  return f.slots[slot].name == "rnd" && (f.op == "add" || f.op == "sub" || f.op == "mul");
}

}  // namespace

std::vector<std::string> computing_forms() {
  std::vector<std::string> texts;
  for (const isa::Op& op : isa::all_ops()) {
    for (const isa::Form& f : op.forms) {
      const bool documented = f.slot("oob") < 0;  // the pattern of an out-of-bounds NaN is not
      if (runs_on_sm_90a(f) && documented && !needs_byte_registers(f) &&
          (is_scalar(f) || is_modelled_product(f)))
        texts.emplace_back(f.text);
    }
  }
  return texts;
}

std::vector<std::string> read_forms(const std::string& path) {
  std::vector<std::string> texts;
  std::ifstream in(path);
  for (std::string line; std::getline(in, line);)
    if (!line.empty() && line[0] != '#') texts.push_back(line);
  return texts;
}

Catalogue::Catalogue(const std::vector<std::string>& form_texts) {
  Rng rng(1);
  for (const std::string& text : form_texts) {
    texts_.push_back(text);
    forms_.push_back(isa::compile_form(texts_.back()));
    add_entries(forms_.back(), rng);
  }
}

void Catalogue::add_entries(const isa::Form& form, Rng& rng) {
  std::vector<Entry>& to = form.op == "mma" ? products_ : scalars_;
  std::vector<int> first(form.slots.size());
  size_t all = 1;
  for (size_t s = 0; s < form.slots.size(); ++s) {
    first[s] = form.slots[s].optional && !must_be_written(form, s) ? -1 : 0;
    all *= form.slots[s].words.size() - static_cast<size_t>(first[s]);
  }
  const auto add = [&](size_t n) {
    Entry e{&form, std::vector<int8_t>(form.slots.size())};
    for (size_t s = 0; s < form.slots.size(); ++s) {
      const size_t choices = form.slots[s].words.size() - static_cast<size_t>(first[s]);
      e.words[s] = static_cast<int8_t>(static_cast<int>(n % choices) + first[s]);
      n /= choices;
    }
    to.push_back(std::move(e));
  };
  if (all <= most_entries_a_form) {
    for (size_t n = 0; n < all; ++n) add(n);
    return;
  }
  // A stride that has no factor in common with any slot's choices reaches every word of every slot.
  for (size_t n = 0; n < most_entries_a_form; ++n) add(n < 48 ? n * 10007 % all : rng.next() % all);
}

const Catalogue::Entry& Catalogue::nth(const std::vector<Entry>& entries, uint64_t n) {
  const uint64_t size = entries.size(), round = n / size;
  // An affine map over a prime modulus at least as large, walked until it falls inside: a permutation.
  constexpr uint64_t prime = 65537;
  const uint64_t a = 1 + (round * 7919 + 12345) % (prime - 1), b = round * 104729 % prime;
  uint64_t at = n % size;
  do at = (a * at + b) % prime;
  while (at >= size);
  return entries[at];
}

std::string instruction_words(const Catalogue::Entry& entry) {
  std::string s(entry.form->op);
  for (size_t i = 0; i < entry.words.size(); ++i)
    if (entry.words[i] >= 0) (s += '.') += entry.form->slots[i].words[static_cast<size_t>(entry.words[i])];
  return s;
}

const Catalogue& computing_catalogue() {
  static const Catalogue all(computing_forms());
  return all;
}

}  // namespace palladion::random_program
