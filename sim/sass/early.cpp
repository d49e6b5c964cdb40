#include "sim/sass/early.h"

#include <algorithm>
#include <vector>

#include "sim/sass/uniform.h"

namespace palladion::sim::sass {
namespace {

class Placement {
 public:
  Placement(const Program& program, const RegisterUses& uses, std::span<LoweredInstruction> code)
      : uses_(uses), code_(code), targets_(branch_targets(program)) {}

  void run() {
    for (uint32_t pc = 0; pc < size(); ++pc)
      if (code_[pc].branches) mark_spin(pc);
    for (uint32_t pc = 0; pc < size(); ++pc) {
      if (code_[pc].branches) {
        compare_early(pc);
        unroll(pc);
      }
      if (code_[pc].path == Path::async && code_[pc].unit == isa::Unit::tma) address_early(pc);
    }
  }

 private:
  uint32_t size() const { return uses_.size(); }
  const MicroOp& at(uint32_t pc) const { return uses_.at(pc); }

  // Where the arithmetic that `pc` needs may be done: its block, and what stands in front of waits there,
  // which try once before they spin elsewhere.
  uint32_t block_of(uint32_t pc) const {
    while (pc > 0) {
      if (code_[pc - 1].branches && !code_[pc - 1].spins) break;
      if (targets_[pc] && !spins_to(pc)) break;
      --pc;
    }
    return pc;
  }
  bool spins_to(uint32_t begin) const {
    uint32_t pc = begin;
    while (pc < size() && !code_[pc].branches) ++pc;
    return pc < size() && code_[pc].spins && uses_.target(pc) == begin;
  }
  // A branch back to a wait for an mbarrier, with nothing else on the way.
  void mark_spin(uint32_t branch) {
    const uint32_t begin = uses_.target(branch);
    if (begin >= branch || at(branch).guard < 0) return;
    for (uint32_t pc = begin; pc < branch; ++pc)
      if (!code_[pc].is_folded() && !uses_.footprint(pc).at(isa::Sync::Object::mbarrier)) return;
    code_[branch].spins = true;
  }

  // So is where copies go and come from.
  void address_early(uint32_t copy) {
    const uint32_t begin = block_of(copy);
    for (size_t k = 0; k < at(copy).instruction->operands.size(); ++k)
      address_early(at(copy).operands[k], begin, copy);
  }
  void address_early(const DecodedOperand& o, uint32_t begin, uint32_t copy) {
    const bool is_register = o.kind == DecodedOperand::Kind::lanes || o.kind == DecodedOperand::Kind::address;
    if (is_register && !o.slot.constant) mark_early(*uses_.find(o.slot.offset), begin, copy);
    for (const DecodedOperand& e : o.elements) address_early(e, begin, copy);
  }

  // What a branch depends on is computed as early in its block as its operands allow.
  void compare_early(uint32_t branch) {
    if (at(branch).guard < 0) return;
    const uint32_t begin = block_of(branch);
    const Register* const guard = uses_.find(static_cast<uint32_t>(at(branch).guard));
    counted_ = guard != nullptr;
    if (counted_) mark_early(*guard, begin, branch);
  }
  void mark_early(const Register& r, uint32_t begin, uint32_t end) {
    // In ascending order: a register may have very many definitions, a block has few.
    for (auto d = std::ranges::lower_bound(r.definitions, begin); d != r.definitions.end() && *d < end; ++d) {
      const uint32_t pc = *d;
      if (code_[pc].early) continue;
      counted_ &= code_[pc].defers;
      if (!code_[pc].defers) continue;
      code_[pc].early = true;
      for (size_t k = 1; k < at(pc).instruction->operands.size(); ++k) {
        const DecodedOperand& o = at(pc).operands[k];
        if (o.kind == DecodedOperand::Kind::lanes && !o.slot.constant)
          mark_early(*uses_.find(o.slot.offset), begin, pc);
      }
    }
  }
  // ptxas unrolls, by four, short counted loops of one block; longer ones if they wait for memory.
  void unroll(uint32_t branch) {
    constexpr uint32_t longest = 22, longest_with_loads = 36;
    const uint32_t begin = uses_.target(branch);
    if (begin > branch || !counted_) return;
    uint32_t slots = 0;
    bool loads = false;
    for (uint32_t pc = begin; pc < branch; ++pc) {
      const LoweredInstruction& p = code_[pc];
      if (p.branches || (pc > begin && targets_[pc]) || p.path == Path::waits || p.path == Path::async)
        return;
      slots += p.slots;
      loads |= p.path == Path::global_load || p.path == Path::shared_load;
    }
    if (slots > (loads ? longest_with_loads : longest)) return;
    code_[branch].unrolled = true;
    for (uint32_t pc = begin; pc < branch; ++pc)
      if (code_[pc].early) code_[pc].fold_as(Fold::unrolled, branch);
  }

  const RegisterUses& uses_;
  std::span<LoweredInstruction> code_;
  const std::vector<bool> targets_;
  bool counted_ = false;  // the branch looked at depends on no load of its block
};

}  // namespace

void place_early(const Program& program, const RegisterUses& uses, std::span<LoweredInstruction> code) {
  Placement(program, uses, code).run();
}

}  // namespace palladion::sim::sass
