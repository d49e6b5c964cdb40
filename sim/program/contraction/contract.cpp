#include "sim/program/contraction/contract.h"

#include <algorithm>
#include <array>
#include <map>
#include <optional>
#include <span>
#include <utility>

#include "isa/core/cfg.h"
#include "isa/ops/contracted.h"
#include "sim/program/approx.h"
#include "sim/program/contraction/lasting.h"
#include "sim/program/contraction/passes.h"
#include "sim/program/contraction/regions.h"
#include "sim/program/contraction/words.h"

namespace palladion::sim {
namespace {

using namespace contraction;

// A register's content while a region is walked: the definition that it came from, perhaps negated.
struct Content {
  uint32_t value = isa::no_id;
  bool negated = false;
  friend bool operator==(const Content&, const Content&) = default;
};
constexpr uint32_t other_use = isa::no_id;  // one that is no sum

struct Value {
  uint32_t product = isa::no_id;  // the instruction, or none
  std::vector<uint32_t> uses;     // the sums, or other_use
  bool lasting = false;           // other blocks may take it in
};
struct Source {
  Content content;  // of a register
  const Operand* operand = nullptr;
  friend bool operator==(const Source& a, const Source& b) {
    return a.content == b.content &&
           (a.content.value != isa::no_id || (a.operand != nullptr && *a.operand == *b.operand));
  }
};
struct Sum {
  uint32_t index = 0;             // the instruction
  std::array<Source, 2> sources;  // its operands
  // Where a product's factors still are when the sum is executed; by operand of the sum.
  std::array<std::vector<std::optional<isa::RegId>>, 2> factors;
  int fused = -1;  // the operand that is the product
};

class Contraction {
 public:
  Contraction(Program& program, uint32_t function, bool fmad)
      : p_(program),
        fmad_(fmad),
        code_{program, program.module->functions[function], program.function_start[function]},
        exposed_(code_.function.registers.size(), false),
        current_(code_.function.registers.size()) {}

  void run() {
    if (std::ranges::none_of(code_.function.body,
                             [&](const Instruction& i) { return is_sum(i) && contracts(i); }))
      return;
    const isa::Cfg cfg = isa::build_cfg(code_.function);
    kept_ = kept(code_);
    const LastingProducts products(code_, cfg, kept_);
    products_ = &products;
    find_lasting();
    const std::vector<Region> all = regions(code_, cfg);
    for (const Region& r : all) find_exposed(r);
    for (const Region& r : all) walk(r);
    choose();
    std::vector<bool> fused(code_.size(), false);
    for (const Sum& s : sums_)
      if (s.fused >= 0) fused[s.index] = fuse(s);
    if (fmad_) p_.sums_across_passes += sums_across_passes(code_, cfg, products.loops(), fused);
  }

 private:
  bool contracts(const Instruction& sum) const { return fmad_ || is_always_contracted(type_of(sum)); }

  // Products that several regions may take in get their values first.
  void find_lasting() {
    lasting_.assign(code_.function.registers.size(), {});
    std::map<uint32_t, uint32_t> of;  // values, by product
    for (isa::RegId r = 0; r < code_.function.registers.size(); ++r) {
      const LastingProducts::Content c = products_->content(r);
      if (c.product == isa::no_id) continue;
      const auto [at, is_new] = of.emplace(c.product, static_cast<uint32_t>(values_.size()));
      if (is_new) values_.push_back({.product = c.product, .lasting = true});
      lasting_[r] = {at->second, c.negated};
    }
  }

  // Registers that some region reads before it writes them: they live across an edge.
  void find_exposed(const Region& region) {
    std::vector<isa::RegId> written;
    for (const uint32_t i : region) {
      if (!kept_[i]) continue;
      code_.registers(i, [&](const RegisterUse& use) {
        if (use.reads && current_[use.reg].value == isa::no_id) exposed_[use.reg] = true;
      });
      if (code_[i].guard.reg != isa::no_id) continue;
      code_.registers(i, [&](const RegisterUse& use) {
        if (!use.writes) return;
        current_[use.reg].value = 0;
        written.push_back(use.reg);
      });
    }
    for (const isa::RegId r : written) current_[r] = {};
  }

  void use(isa::RegId r, uint32_t i, uint32_t by) {
    const uint32_t v = content(r, i).value;
    values_[v].uses.push_back(by);
  }

  // Of a register that instruction `i` reads.
  Content content(isa::RegId r, uint32_t i) {
    if (current_[r].value != isa::no_id) return current_[r];
    const Content c = lasting_[r];
    if (c.value != isa::no_id && products_->reaches(values_[c.value].product, i)) {
      current_[r] = c;
      touched_.push_back(r);
      return c;
    }
    if (c.value != isa::no_id) values_[c.value].uses.push_back(other_use);
    define(r, isa::no_id);
    return current_[r];
  }

  void define(isa::RegId r, uint32_t product) {
    current_[r] = {static_cast<uint32_t>(values_.size()), false};
    values_.push_back({product, {}});
    touched_.push_back(r);
  }

  Source source(const Operand& o, uint32_t i) {
    return o.is(Operand::Kind::reg) ? Source{content(o.id, i), &o} : Source{{}, &o};
  }

  void walk(uint32_t i) {
    const Instruction& in = code_[i];
    if (is_copy(in) || is_negation(in)) {
      Content c = content(in.operands[1].id, i);
      c.negated ^= is_negation(in);
      current_[in.operands[0].id] = c;
      touched_.push_back(in.operands[0].id);
      return;
    }
    if (is_sum(in)) {
      Sum s{.index = i, .sources = {source(in.operands[1], i), source(in.operands[2], i)}};
      for (const int j : {0, 1}) {
        const Content c = s.sources[static_cast<size_t>(j)].content;
        if (c.value == isa::no_id) continue;
        values_[c.value].uses.push_back(i);
        if (values_[c.value].product != isa::no_id)
          s.factors[static_cast<size_t>(j)] = locate(values_[c.value], i);
      }
      sums_.push_back(std::move(s));
      sum_of_[i] = static_cast<uint32_t>(sums_.size() - 1);
    } else {
      code_.registers(i, [&](const RegisterUse& u) {
        if (u.reads) use(u.reg, i, other_use);
      });
    }
    if (is_product(in, code_.effect(i))) {
      auto& of = sources_[i];
      for (size_t k = 1; k < in.operands.size(); ++k) of.push_back(source(in.operands[k], i));
    }
    const bool product = is_product(in, code_.effect(i)) && in.operands[0].is(Operand::Kind::reg);
    code_.registers(i, [&](const RegisterUse& u) {
      if (!u.writes) return;
      if (in.guard.reg != isa::no_id) use(u.reg, i, other_use);  // the old value may stay
      if (const Content c = lasting_[u.reg]; product && c.value != isa::no_id) {
        current_[u.reg] = c;
        touched_.push_back(u.reg);
      } else {
        define(u.reg, product ? i : isa::no_id);
      }
    });
  }

  // The registers that hold a product's factors now; nullopt: an operand that is no register.
  std::vector<std::optional<isa::RegId>> locate(const Value& value, uint32_t i) {
    std::vector<std::optional<isa::RegId>> out;
    if (value.lasting && products_->reaches(value.product, i)) {
      for (const Operand& o : std::span(code_[value.product].operands).subspan(1))
        out.push_back(o.is(Operand::Kind::reg) ? std::optional(o.id) : std::nullopt);
      return out;
    }
    for (const Source& s : sources_[value.product]) {
      if (s.content.value == isa::no_id) {
        out.emplace_back();
        continue;
      }
      isa::RegId found = s.operand->id;
      if (content(found, i) != s.content) {
        const auto at =
            std::ranges::find_if(touched_, [&](isa::RegId r) { return current_[r] == s.content; });
        if (at == touched_.end()) return {};  // overwritten: it stays a product and a sum
        found = *at;
      }
      out.emplace_back(found);
    }
    return out;
  }

  void walk(const Region& region) {
    touched_.clear();
    for (const uint32_t i : region)
      if (kept_[i]) walk(i);
    std::ranges::sort(touched_);
    touched_.erase(std::ranges::unique(touched_).begin(), touched_.end());
    for (const isa::RegId r : touched_)
      if (exposed_[r] && !(lasting_[r].value != isa::no_id && current_[r] == lasting_[r]))
        values_[current_[r].value].uses.push_back(other_use);
    for (const isa::RegId r : touched_) current_[r] = {};
  }

  const Value& value(const Sum& s, int j) const {
    static const Value none;
    const uint32_t v = s.sources[static_cast<size_t>(j)].content.value;
    return v == isa::no_id ? none : values_[v];
  }

  // The product's and the sum's words agree.
  bool matches(const Sum& s, int j) {
    const Value& v = value(s, j);
    if (v.product == isa::no_id) return false;
    const Instruction& product = code_[v.product];
    const Instruction& sum = code_[s.index];
    return contracts(sum) && type_of(product) == type_of(sum) && has(product, "ftz") == has(sum, "ftz") &&
           rounding_of(product) == rounding_of(sum);
  }

  // p + p, p - p; of two equal products ptxas computes one and adds it to itself.
  bool is_double(const Sum& s) {
    const uint32_t a = s.sources[0].content.value, b = s.sources[1].content.value;
    if (a == isa::no_id || b == isa::no_id) return false;
    if (a == b) return true;
    if (isa::operation(code_[s.index]) != Operation::add) return false;
    const uint32_t p = values_[a].product, q = values_[b].product;
    if (p == isa::no_id || q == isa::no_id || code_[p].op != code_[q].op) return false;
    const auto& x = sources_[p];
    const auto& y = sources_[q];
    return x == y || (is_multiplication(code_[p]) && x.size() == 2 && x[0] == y[1] && x[1] == y[0]);
  }

  // A product with several uses goes into none of its sums, or into all.
  bool all_uses_are_sums(const Sum& s, int j) {
    const uint32_t v = s.sources[static_cast<size_t>(j)].content.value;
    for (const uint32_t u : values_[v].uses) {
      if (u == other_use) return false;
      const Sum& by = sums_[sum_of_.at(u)];
      if (by.fused >= 0 ? by.sources[static_cast<size_t>(by.fused)].content.value != v : is_double(by))
        return false;
      if (!matches(by, by.sources[0].content.value == v ? 0 : 1)) return false;
    }
    return true;
  }

  // Products with one use first, in the order of the sums, then those with several. Where both operands are
  // products, the one with fewer uses, then the first one.
  void choose() {
    for (Sum& s : sums_)
      for (int j = 0; j < 2 && s.fused < 0 && !is_double(s); ++j)
        if (matches(s, j) && value(s, j).uses.size() == 1 && value(s, j).uses.front() == s.index) s.fused = j;
    for (Sum& s : sums_) {
      if (s.fused >= 0 || is_double(s)) continue;
      int best = -1;
      for (int j = 0; j < 2; ++j) {
        if (!matches(s, j) || !all_uses_are_sums(s, j)) continue;
        if (best < 0 || value(s, j).uses.size() < value(s, best).uses.size()) best = j;
      }
      s.fused = best;
    }
  }

  bool fuse(const Sum& s) {
    const auto j = static_cast<size_t>(s.fused);
    const uint32_t product = value(s, s.fused).product;
    if (s.factors[j].empty()) return false;
    const Instruction& sum = code_[s.index];
    const bool subtracts = isa::operation(sum) == Operation::subtract;
    const isa::Contracted words{.type = type_of(sum),
                                .ftz = has(sum, "ftz"),
                                .sat = has(sum, "sat"),
                                .negated_product = s.sources[j].content.negated != (subtracts && j == 1),
                                .negated_addend = subtracts && j == 0,
                                .rounding = rounding_of(sum)};
    MicroOp& op = p_.code[code_.start + s.index];
    const MicroOp& factors = p_.code[code_.start + product];
    const auto* approx = std::get_if<isa::Approx>(factors.effect);
    const isa::LanesFn fn =
        approx != nullptr ? approx_contracted(*approx, words) : isa::contracted_lanes(words);
    if (fn == nullptr) return false;
    const Slot addend = op.s[1 - j];
    const uint32_t base = p_.register_offsets_base[op.function];
    for (size_t k = 0; k < s.factors[j].size(); ++k) {
      op.s[k] = factors.s[k];
      if (const auto& r = s.factors[j][k]) op.s[k] = {p_.register_offsets[base + *r], false};
    }
    op.s[s.factors[j].size()] = addend;
    op.sources = static_cast<uint8_t>(s.factors[j].size() + 1);
    op.fn = fn;
    p_.contracted.push_back({code_.start + s.index, code_.start + product});
    return true;
  }

  Program& p_;
  bool fmad_;
  FunctionCode code_;
  const LastingProducts* products_ = nullptr;
  std::vector<bool> kept_, exposed_;
  std::vector<Content> lasting_;  // by register: products that other blocks may take in
  std::vector<Value> values_;
  std::vector<Sum> sums_;
  // While a region is walked, by register.
  std::vector<Content> current_;
  std::vector<isa::RegId> touched_;
  std::map<uint32_t, std::vector<Source>> sources_;  // of products, by instruction
  std::map<uint32_t, uint32_t> sum_of_;              // by instruction
};

}  // namespace

void contract(Program& program, bool fmad) {
  for (uint32_t f = 0; f < program.function_start.size(); ++f)
    if (program.function_start[f] != isa::no_id) Contraction(program, f, fmad).run();
}

}  // namespace palladion::sim
