#include "sim/program/compile/injected_waits.h"

#include <algorithm>
#include <map>
#include <variant>

#include "isa/core/cfg.h"
#include "sim/program/registers.h"

namespace palladion::sim {
namespace {

// Of one function: which products may be in flight at an instruction.
class ProductFlow {
 public:
  ProductFlow(Program& program, const isa::Function& function, uint32_t start)
      : p_(program), f_(function), start_(start) {}

  void run() {
    find_products();
    if (products_.empty()) return;
    const isa::Cfg cfg = isa::build_cfg(f_);
    const std::vector<State> at_start = flow(cfg);
    for (uint32_t b = 0; b < cfg.blocks.size(); ++b) {
      if (at_start[b].empty()) continue;
      State s = at_start[b];
      for (uint32_t i = cfg.blocks[b].first; i < cfg.blocks[b].last; ++i) {
        mark(s, i);
        step(s, i);
      }
    }
  }

 private:
  // By product: how many commits have followed it at least; `landed`: it is not in flight.
  using State = std::vector<uint8_t>;
  static constexpr uint8_t landed = 255, most_commits = 254;

  void find_products() {
    for (uint32_t i = 0; i < f_.body.size(); ++i) {
      if (wgmma(i) == nullptr) continue;
      const auto number = static_cast<uint32_t>(products_.size());
      number_[i] = number;
      products_.push_back(i);
      for_each_register(p_, op(i), [&](const RegisterUse& use) {
        if (use.operand == wgmma(i)->acc) writers_[use.reg].push_back(number);
      });
    }
  }

  // The state at the start of each block; empty where control does not come.
  std::vector<State> flow(const isa::Cfg& cfg) {
    std::vector<State> at_start(cfg.blocks.size());
    at_start[0] = State(products_.size(), landed);
    std::vector<uint32_t> work{0};
    while (!work.empty()) {
      const uint32_t b = work.back();
      work.pop_back();
      State s = at_start[b];
      for (uint32_t i = cfg.blocks[b].first; i < cfg.blocks[b].last; ++i) step(s, i);
      for (const uint32_t next : cfg.blocks[b].successors)
        if (merge(at_start[next], s)) work.push_back(next);
    }
    return at_start;
  }

  const MicroOp& op(uint32_t i) const { return p_.code[start_ + i]; }
  const isa::Wgmma* wgmma(uint32_t i) const {
    return op(i).effect == nullptr ? nullptr : std::get_if<isa::Wgmma>(op(i).effect);
  }

  void step(State& s, uint32_t i) {
    const isa::Effect* e = op(i).effect;
    if (e == nullptr) return;
    if (std::holds_alternative<isa::Wgmma>(*e)) {
      s[number_.at(i)] = 0;
    } else if (std::holds_alternative<isa::WgmmaCommit>(*e)) {
      for (uint8_t& commits : s)
        if (commits < most_commits) ++commits;
    } else if (const auto* wait = std::get_if<isa::WgmmaWait>(e)) {
      for (uint8_t& commits : s)
        if (commits > wait->n) commits = landed;
    }
  }

  static bool merge(State& into, const State& from) {
    if (into.empty()) {
      into = from;
      return true;
    }
    bool changed = false;
    for (size_t k = 0; k < into.size(); ++k) {
      changed |= from[k] < into[k];
      into[k] = std::min(into[k], from[k]);
    }
    return changed;
  }

  void mark(const State& s, uint32_t i) {
    if (wgmma(i) != nullptr) return;
    InjectedWait wait;
    for_each_register(p_, op(i), [&](const RegisterUse& use) {
      const auto writers = writers_.find(use.reg);
      if (writers == writers_.end()) return;
      for (const uint32_t k : writers->second)
        if (s[k] != landed) wait.products.push_back(op(products_[k]).pc);
    });
    if (wait.products.empty()) return;
    std::ranges::sort(wait.products);
    p_.injected_waits.emplace(op(i).pc, std::move(wait));
  }

  Program& p_;
  const isa::Function& f_;
  uint32_t start_;
  std::vector<uint32_t> products_;       // the wgmmas of the function, by number
  std::map<uint32_t, uint32_t> number_;  // by instruction
  std::map<uint32_t, std::vector<uint32_t>>
      writers_;  // by register: numbers of the wgmmas that accumulate there
};

}  // namespace

void place_injected_waits(Program& program) {
  for (uint32_t f = 0; f < program.function_start.size(); ++f)
    if (program.function_start[f] != isa::no_id)
      ProductFlow(program, program.module->functions[f], program.function_start[f]).run();
}

}  // namespace palladion::sim
