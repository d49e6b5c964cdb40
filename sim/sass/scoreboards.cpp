#include "sim/sass/scoreboards.h"

#include <algorithm>
#include <unordered_set>
#include <vector>

#include "sim/sass/uniform.h"

namespace palladion::sim::sass {
namespace {

class Scoreboards {
 public:
  Scoreboards(const Program& program, std::span<LoweredInstruction> code)
      : program_(program), code_(code), targets_(branch_targets(program)) {}

  // Loads that the same instruction waits for first share a scoreboard. The last one is for all others, and
  // for those that another block waits for.
  void assign() {
    for (uint32_t pc = 0; pc < code_.size(); ++pc) {
      if (code_[pc].path != Path::global_load || code_[pc].is_folded()) continue;
      const uint32_t user = first_user(pc);
      code_[pc].scoreboard = static_cast<uint8_t>(user == no_pc ? scoreboard_count : scoreboard_of(pc, user));
    }
  }

 private:
  // The first instruction of the block that reads what the load at `load` brings.
  uint32_t first_user(uint32_t load) const {
    std::unordered_set<uint32_t> held;
    for_results(program_.code[load], [&](uint32_t r) { held.insert(r); });
    for (uint32_t pc = load + 1; pc < code_.size() && !targets_[pc]; ++pc) {
      const MicroOp& op = program_.code[pc];
      if (op.instruction == nullptr) return no_pc;
      const bool uses = reads(op, held);
      if (uses && !code_[pc].is_folded()) return pc;
      if (uses) for_results(op, [&](uint32_t r) { held.insert(r); });
      if (code_[pc].branches) return no_pc;
    }
    return no_pc;
  }
  static bool reads(const MicroOp& op, const std::unordered_set<uint32_t>& held) {
    bool any = op.guard >= 0 && held.contains(static_cast<uint32_t>(op.guard));
    for (size_t k = 0; k < op.instruction->operands.size(); ++k) {
      const isa::OperandDef& def = op.instruction->form->operands[k];
      const DecodedOperand& o = op.operands[k];
      if (o.kind == DecodedOperand::Kind::address)
        any |= !o.slot.constant && held.contains(o.slot.offset);
      else if (def.reads || !def.writes)
        for_registers(o, [&](uint32_t r) { any |= held.contains(r); });
    }
    return any;
  }

  // A scoreboard is free again when its user has passed.
  uint32_t scoreboard_of(uint32_t load, uint32_t user) {
    const auto known = std::ranges::find(users_, user);
    if (known != users_.end()) return static_cast<uint32_t>(known - users_.begin()) + 1;
    if (std::ranges::all_of(users_, [&](uint32_t u) { return u < load; })) users_.clear();
    if (users_.size() + 1 >= scoreboard_count) return scoreboard_count;
    users_.push_back(user);
    return static_cast<uint32_t>(users_.size());
  }

  const Program& program_;
  std::span<LoweredInstruction> code_;
  const std::vector<bool> targets_;
  std::vector<uint32_t> users_;  // by scoreboard
};

}  // namespace

void assign_scoreboards(const Program& program, std::span<LoweredInstruction> code) {
  Scoreboards(program, code).assign();
}

}  // namespace palladion::sim::sass
