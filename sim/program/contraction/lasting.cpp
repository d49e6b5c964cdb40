#include "sim/program/contraction/lasting.h"

#include <algorithm>
#include <array>
#include <span>
#include <utility>

#include "sim/program/contraction/words.h"

namespace palladion::sim {
namespace {

constexpr uint32_t several_definitions = isa::no_id - 1;

}  // namespace

using namespace contraction;

LastingProducts::LastingProducts(const FunctionCode& code, const isa::Cfg& cfg, const std::vector<bool>& kept)
    : code_(code),
      cfg_(cfg),
      loops_(cfg),
      definitions_(code.function.registers.size(), isa::no_id),
      contents_(code.function.registers.size()) {
  find_definitions(kept);
  for (uint32_t i = 0; i < code_.size(); ++i) {
    if (!kept[i]) continue;
    const Instruction& in = code_[i];
    if (is_lasting(i)) {
      contents_[in.operands[0].id] = {i, false};
    } else if ((is_copy(in) || is_negation(in)) && only_definition(in.operands[0].id) == i) {
      Content c = contents_[in.operands[1].id];
      if (c.product == isa::no_id || !reaches(c.product, i)) continue;
      c.negated ^= is_negation(in);
      contents_[in.operands[0].id] = c;
    }
  }
}

void LastingProducts::find_definitions(const std::vector<bool>& kept) {
  for (uint32_t i = 0; i < code_.size(); ++i) {
    if (!kept[i]) continue;
    code_.registers(i, [&](const RegisterUse& use) {
      if (!use.writes) return;
      uint32_t& d = definitions_[use.reg];
      if (d == i) return;
      if (d != isa::no_id) {
        std::vector<uint32_t>& all = several_[use.reg];
        if (all.empty()) all.push_back(d);
        all.push_back(i);
        d = several_definitions;
      } else {
        d = i;
      }
    });
  }
}

uint32_t LastingProducts::only_definition(isa::RegId r) const {
  return definitions_[r] == several_definitions ? isa::no_id : definitions_[r];
}

bool LastingProducts::comes_before(uint32_t i, uint32_t j) const {
  const uint32_t a = cfg_.block_of[i], b = cfg_.block_of[j];
  return a == b ? i < j : loops_.dominates(a, b);
}

bool LastingProducts::reaches(uint32_t product, uint32_t i) const {
  return comes_before(product, i) && loops_.stays(cfg_.block_of[product], cfg_.block_of[i]) &&
         !is_overwritten(product, i);
}

// A register that several instructions write, as where ways join, keeps a factor until the next one of them.
bool LastingProducts::is_overwritten(uint32_t product, uint32_t i) const {
  std::vector<uint32_t> writes;
  for (const Operand& o : std::span(code_[product].operands).subspan(1))
    if (const auto w = o.is(Operand::Kind::reg) ? several_.find(o.id) : several_.end(); w != several_.end())
      writes.insert(writes.end(), w->second.begin(), w->second.end());
  if (writes.empty()) return false;
  const uint32_t from = cfg_.block_of[product], to = cfg_.block_of[i];
  const uint32_t first = from == to ? product + 1 : cfg_.blocks[to].first;
  if (std::ranges::any_of(writes, [&](uint32_t w) { return first <= w && w < i; })) return true;
  if (from == to) return false;
  auto at = after_writes_.find(product);
  if (at == after_writes_.end())
    at = after_writes_.emplace(product, blocks_after_writes(product, writes)).first;
  return at->second[to];
}

// Blocks on ways from the product that pass one of the writes and not the product again.
std::vector<bool> LastingProducts::blocks_after_writes(uint32_t product,
                                                       const std::vector<uint32_t>& writes) const {
  std::vector<bool> writing(cfg_.blocks.size(), false);
  for (const uint32_t w : writes) writing[cfg_.block_of[w]] = true;
  const uint32_t from = cfg_.block_of[product];
  writing[from] =
      std::ranges::any_of(writes, [&](uint32_t w) { return product < w && w < cfg_.blocks[from].last; });
  std::array<std::vector<bool>, 2> seen;  // before and after a write
  for (auto& s : seen) s.assign(cfg_.blocks.size(), false);
  std::vector<std::pair<uint32_t, bool>> work{{from, false}};
  while (!work.empty()) {
    const auto [b, written] = work.back();
    work.pop_back();
    const bool after = written || writing[b];
    for (const uint32_t next : cfg_.blocks[b].successors) {
      if (next == from || seen[after ? 1 : 0][next]) continue;
      seen[after ? 1 : 0][next] = true;
      work.emplace_back(next, after);
    }
  }
  return std::move(seen[1]);
}

// ptxas reads it as a constant or from the constant bank: an immediate, a parameter of the entry, a constant
// at a fixed address; their negations and absolute values.
bool LastingProducts::is_constant(const Operand& o, uint32_t reader) const {
  if (o.is(Operand::Kind::imm)) return true;
  if (!o.is(Operand::Kind::reg)) return false;
  const uint32_t i = only_definition(o.id);
  if (i == isa::no_id || !comes_before(i, reader)) return false;
  const Instruction& in = code_[i];
  if (in.guard.reg != isa::no_id) return false;
  if (const auto* load = std::get_if<isa::Load>(&code_.effect(i))) {
    bool is_fixed = load->order != isa::Order::volatile_;
    code_.registers(i, [&](const RegisterUse& use) { is_fixed &= !use.reads; });
    return is_fixed && (load->space == isa::Space::const_ ||
                        (load->space == isa::Space::param && &code_.function == code_.program.entry));
  }
  const Operation op = isa::operation(in);
  return (op == Operation::move || op == Operation::negate || op == Operation::absolute) &&
         in.operands.size() == 2 && is_constant(in.operands[1], i);
}

// An immediate, perhaps through copies: ptxas computes the reciprocal of such a divisor itself.
bool LastingProducts::is_number(const Operand& o) const {
  if (o.is(Operand::Kind::imm)) return true;
  const uint32_t i = o.is(Operand::Kind::reg) ? only_definition(o.id) : isa::no_id;
  if (i == isa::no_id || code_[i].guard.reg != isa::no_id) return false;
  const Operation op = isa::operation(code_[i]);
  return (op == Operation::move || op == Operation::negate || op == Operation::absolute) &&
         code_[i].operands.size() == 2 && is_number(code_[i].operands[1]);
}

// One factor is a constant, the other one is in a register; `reaches` says how long.
bool LastingProducts::is_lasting(uint32_t i) const {
  const Instruction& in = code_[i];
  if (!is_product(in, code_.effect(i)) || !in.operands[0].is(Operand::Kind::reg) ||
      only_definition(in.operands[0].id) != i)
    return false;
  const auto constant = [&](const Operand& o) { return is_constant(o, i); };
  const auto stays = [&](const Operand& o) {
    if (!o.is(Operand::Kind::reg)) return false;
    if (several_.contains(o.id)) return true;
    const uint32_t d = only_definition(o.id);
    return d != isa::no_id && code_[d].guard.reg == isa::no_id && comes_before(d, i);
  };
  const auto factors = std::span(in.operands).subspan(1);
  const bool has_constant = is_multiplication(in)
                                ? std::ranges::any_of(factors, constant)
                                : isa::operation(in) == Operation::divide && is_number(factors.back());
  return has_constant &&
         std::ranges::all_of(factors, [&](const Operand& o) { return constant(o) || stays(o); });
}

}  // namespace palladion::sim
