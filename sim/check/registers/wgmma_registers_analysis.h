#pragma once
// Which instructions can break the rules for registers of wgmma, found once a program. Only these are
// watched: a kernel that keeps the rules on every path costs nothing.
//
// Forward, the number of commit_groups since the latest wgmma on a register says whether a wait_group has
// covered it; backward, whether a wgmma on the register can follow without a wgmma.fence in between.
#include <cstdint>
#include <vector>

#include "isa/core/cfg.h"
#include "sim/check/registers/watch.h"

namespace palladion::sim::check {

class WgmmaAnalysis {
 public:
  explicit WgmmaAnalysis(const Program& program);

  bool watches(Pc pc) const { return access_[pc] != 0; }

  // Registers that the same operands of wgmma name are one fragment: what happens to one by wgmma happens to
  // all. A tile of accumulators is one, usually.
  uint32_t fragments() const { return fragments_; }

  // What an ordinary instruction does to fragments; one part is enough for several registers of one.
  struct Part {
    uint32_t fragment = 0;
    uint32_t reg = 0;  // a register of it
    bool writes = false;
    bool copies = false;  // a mov between registers: compilers leave many, and ptxas makes them vanish
    bool looks = false;   // the copy is computed with before a wgmma.wait_group
  };
  using Access = std::vector<Part>;
  const Access& access(Pc pc) const { return accesses_[access_[pc] - 1]; }

  struct Operands {
    const isa::Wgmma* wgmma = nullptr;
    std::vector<uint32_t> accumulators, a;  // fragments
    std::vector<uint32_t> accumulator_registers, a_registers;
  };
  // The first of an operand's registers that belongs to the fragment.
  uint32_t one_of(uint32_t fragment, const std::vector<uint32_t>& registers) const;
  // nullptr when the instruction is no wgmma.
  const Operands* wgmma(Pc pc) const { return wgmma_[pc] == 0 ? nullptr : &operands_[wgmma_[pc] - 1]; }
  // Distinguishes the instructions of the wgmma family by their text; 0: none of them.
  uint32_t text_id(Pc pc) const { return text_[pc]; }

 private:
  void find_operands(const Program& program);
  void find_fragments();
  void number_texts(const Program& program);
  void find_accesses(const Program& program, uint32_t function);
  void add_access(const Program& program, const isa::Cfg& cfg, Pc pc, const std::vector<uint8_t>& ages,
                  const std::vector<uint8_t>& exposed);
  void flow_over(const MicroOp& op, std::vector<uint8_t>& ages) const;
  void flow_back(const MicroOp& op, std::vector<uint8_t>& exposed) const;

  std::vector<uint32_t> access_, wgmma_, text_;  // by pc; index + 1
  std::vector<Access> accesses_;
  std::vector<Operands> operands_;
  std::vector<uint32_t> fragment_of_;  // by register; index + 1
  uint32_t fragments_ = 0;
};

}  // namespace palladion::sim::check
