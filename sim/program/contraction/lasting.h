#pragma once
// Products that ptxas takes into sums of other blocks: those with a factor that needs no register, so that
// the other factor takes the register that the product would take. README.md has the rule.
#include <cstdint>
#include <map>
#include <vector>

#include "isa/core/cfg.h"
#include "sim/program/contraction/function_code.h"
#include "sim/program/loops.h"

namespace palladion::sim {

// Of one function. Instructions and registers have the function's numbers.
class LastingProducts {
 public:
  // `kept`: by instruction, see regions.h.
  LastingProducts(const contraction::FunctionCode& code, const isa::Cfg& cfg, const std::vector<bool>& kept);

  struct Content {
    uint32_t product = isa::no_id;  // the instruction; no_id: no such product
    bool negated = false;
  };
  // What the register holds wherever `reaches` says so.
  Content content(isa::RegId r) const { return contents_[r]; }
  // Instruction `i` reads that very product, and its factors are still in their registers: not what a loop
  // has left behind, as ptxas unrolls loops.
  bool reaches(uint32_t product, uint32_t i) const;
  const Loops& loops() const { return loops_; }

 private:
  void find_definitions(const std::vector<bool>& kept);
  uint32_t only_definition(isa::RegId r) const;
  bool comes_before(uint32_t i, uint32_t j) const;
  bool is_constant(const isa::Operand& o, uint32_t reader) const;
  bool is_number(const isa::Operand& o) const;
  bool is_lasting(uint32_t i) const;
  bool is_overwritten(uint32_t product, uint32_t i) const;
  std::vector<bool> blocks_after_writes(uint32_t product, const std::vector<uint32_t>& writes) const;

  const contraction::FunctionCode& code_;
  const isa::Cfg& cfg_;
  Loops loops_;
  std::vector<uint32_t> definitions_;  // by register: the instruction that writes it, none, or several
  std::map<isa::RegId, std::vector<uint32_t>> several_;  // the instructions that write it, in order
  std::vector<Content> contents_;                        // by register
  // By product: blocks that may begin after one of its factors was written again; found when asked for.
  mutable std::map<uint32_t, std::vector<bool>> after_writes_;
};

}  // namespace palladion::sim
