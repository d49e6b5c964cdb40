#include "sim/sass/boards.h"

#include <algorithm>
#include <unordered_set>
#include <vector>

#include "sim/sass/uniform.h"

namespace palladion::sim::hardware {
namespace {

class Boards {
 public:
  Boards(const Program& program, std::span<Price> prices)
      : program_(program), prices_(prices), targets_(branch_targets(program)) {}

  // Loads that the same instruction waits for first share a board. The last one is for all others, and for
  // those that another block waits for.
  void give() {
    for (uint32_t pc = 0; pc < prices_.size(); ++pc) {
      if (prices_[pc].path != Path::global_load || prices_[pc].free) continue;
      const uint32_t user = first_user(pc);
      prices_[pc].board = static_cast<uint8_t>(user == none ? board_count : board_of(pc, user));
    }
  }

 private:
  static constexpr uint32_t none = ~0U;

  // The first instruction of the block that reads what the load at `load` brings.
  uint32_t first_user(uint32_t load) const {
    std::unordered_set<uint32_t> held;
    for_results(program_.code[load], [&](uint32_t r) { held.insert(r); });
    for (uint32_t pc = load + 1; pc < prices_.size() && !targets_[pc]; ++pc) {
      const MicroOp& op = program_.code[pc];
      if (op.instruction == nullptr) return none;
      const bool uses = reads(op, held);
      if (uses && !prices_[pc].free) return pc;
      if (uses) for_results(op, [&](uint32_t r) { held.insert(r); });
      if (prices_[pc].branches) return none;
    }
    return none;
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

  // A board is free again when its user has passed.
  uint32_t board_of(uint32_t load, uint32_t user) {
    const auto known = std::ranges::find(users_, user);
    if (known != users_.end()) return static_cast<uint32_t>(known - users_.begin()) + 1;
    if (std::ranges::all_of(users_, [&](uint32_t u) { return u < load; })) users_.clear();
    if (users_.size() + 1 >= board_count) return board_count;
    users_.push_back(user);
    return static_cast<uint32_t>(users_.size());
  }

  const Program& program_;
  std::span<Price> prices_;
  const std::vector<bool> targets_;
  std::vector<uint32_t> users_;  // by board
};

}  // namespace

void give_boards(const Program& program, std::span<Price> prices) { Boards(program, prices).give(); }

}  // namespace palladion::sim::hardware
