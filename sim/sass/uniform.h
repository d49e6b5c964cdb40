#pragma once
// Which operands have the same value in all lanes of a warp, as far as ptxas knows.
#include <cstdint>
#include <unordered_map>
#include <unordered_set>
#include <vector>

#include "isa/core/op.h"
#include "sim/program/program.h"

namespace palladion::sim::sass {

template <class F>
void for_registers(const DecodedOperand& o, const F& f) {
  if (o.kind == DecodedOperand::Kind::lanes && !o.slot.constant) f(o.slot.offset);
  for (const DecodedOperand& e : o.elements) for_registers(e, f);
}
// The registers that an instruction writes, by their offset.
template <class F>
void for_results(const MicroOp& op, const F& f) {
  for (size_t k = 0; op.instruction != nullptr && k < op.instruction->operands.size(); ++k)
    if (op.instruction->form->operands[k].writes && op.operands[k].kind != DecodedOperand::Kind::address)
      for_registers(op.operands[k], f);
}

// By pc: whether some branch goes there.
std::vector<bool> branch_targets(const Program& program);
// By pc: whether some branch goes there from in front of it.
std::vector<bool> forward_targets(const Program& program);

class Uniformity {
 public:
  explicit Uniformity(const Program& program);
  // Whether all lanes have the same value of the instruction's operand; of an address: the same address.
  bool holds(uint32_t pc, int operand) const { return uniform_[pc] >> operand & 1; }

 private:
  void look_at(uint32_t pc);
  bool varies(uint32_t reg) const;
  bool varies(const DecodedOperand& operand) const;
  bool result_varies(uint32_t pc) const;
  void define(const MicroOp& op, bool varying);
  void part(uint32_t branch);
  uint32_t first_unmet(uint32_t pc);

  // clear() of a map takes as long as the largest block that it was used for; a new one does not.
  using Known = std::unordered_map<uint32_t, bool>;

  const Program& program_;
  std::vector<uint32_t> uniform_;                       // by pc: a bit for each operand
  std::vector<bool> targets_;                           // of branches
  std::unordered_map<uint32_t, uint32_t> definitions_;  // by register: how many
  std::unordered_set<uint32_t> varying_;                // some definition differs from lane to lane
  Known here_;                                          // of this block's last definition: whether it varies
  std::vector<uint32_t> unmet_;  // by pc: where to look on for one that no parting has met
  bool more_ = false;            // something is known that was not
};

}  // namespace palladion::sim::sass
