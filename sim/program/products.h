#pragma once
// Which wgmmas may be in flight at an instruction: issued on some way to it, and not covered by a
// wgmma.wait_group there.
#include <cstdint>
#include <map>
#include <vector>

#include "isa/core/cfg.h"
#include "sim/program/program.h"

namespace palladion::sim {

// Of one function of the program. Instructions are counted from its first one, wgmmas are numbered in the
// order of the text.
class ProductFlow {
 public:
  ProductFlow(const Program& program, uint32_t function);

  // The instruction of each wgmma.
  const std::vector<uint32_t>& products() const { return products_; }
  // visit(instruction, numbers of the wgmmas that may be in flight before it), where control comes.
  template <class Visit>
  void for_each(const Visit& visit) const {
    std::vector<uint32_t> flying;
    for (uint32_t b = 0; b < cfg_.blocks.size(); ++b) {
      if (at_start_[b].empty()) continue;
      State s = at_start_[b];
      for (uint32_t i = cfg_.blocks[b].first; i < cfg_.blocks[b].last; ++i) {
        flying.clear();
        for (uint32_t k = 0; k < s.size(); ++k)
          if (s[k] != landed) flying.push_back(k);
        visit(i, flying);
        step(s, i);
      }
    }
  }
  const MicroOp& op(uint32_t instruction) const {
    return p_.code[p_.function_start[function_] + instruction];
  }
  // Null: another instruction.
  const isa::Wgmma* wgmma(uint32_t instruction) const;
  const isa::Cfg& cfg() const { return cfg_; }

 private:
  // By number: how many commits have followed it at least; `landed`: it is not in flight.
  using State = std::vector<uint8_t>;
  static constexpr uint8_t landed = 255, most_commits = 254;

  void flow();
  void step(State& s, uint32_t i) const;

  const Program& p_;
  uint32_t function_;
  std::vector<uint32_t> products_;
  std::map<uint32_t, uint32_t> number_;  // by instruction
  isa::Cfg cfg_;                         // empty without wgmmas
  std::vector<State> at_start_;          // of each block; empty where control does not come
};

}  // namespace palladion::sim
