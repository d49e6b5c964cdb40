#include "sim/program/early_waits.h"

#include <algorithm>
#include <optional>

#include "sim/program/deciding.h"

namespace palladion::sim {
namespace {

const isa::Mbarrier* wait_at(const MicroOp& op) {
  const auto* const e = op.effect == nullptr ? nullptr : std::get_if<isa::Mbarrier>(op.effect);
  const bool waits = e != nullptr && (e->action == isa::MbarrierAction::try_wait ||
                                      e->action == isa::MbarrierAction::test_wait);
  return waits ? e : nullptr;
}

// Of a direct branch; no_id: it is none.
uint32_t target_of(const Program& program, uint32_t pc) {
  const MicroOp& op = program.code[pc];
  if (op.instruction == nullptr || program.footprint(op).next != isa::Control::branches) return isa::no_id;
  uint32_t target = isa::no_id;
  for (size_t k = 0; k < op.instruction->operands.size(); ++k) {
    const DecodedOperand& o = op.operands[k];
    if (o.kind != DecodedOperand::Kind::target || target != isa::no_id) return isa::no_id;
    target = o.id;
  }
  return target;
}

class Finder {
 public:
  explicit Finder(const Program& program) : program_(program), readers_(register_count(program)) {
    for (const MicroOp& op : program.code)
      for_each_value(program, op, [&](const RegisterUse& use) {
        if (use.reads) readers_[use.reg].push_back(op.pc);
      });
  }

  // Where the value that the try_wait gives gets to: computation, and at last branches that skip waits alone;
  // or no branch.
  std::optional<std::vector<Pc>> skipped_by(Pc ask) const {
    std::vector<Pc> waits;
    std::vector<uint32_t> reached;
    std::vector<bool> seen(readers_.size());
    add_results(ask, reached, seen);
    while (!reached.empty()) {
      const uint32_t reg = reached.back();
      reached.pop_back();
      for (const Pc pc : readers_[reg]) {
        const MicroOp& op = program_.code[pc];
        if (only_computes(program_.footprint(op)) && !op.dynamic_special)
          add_results(pc, reached, seen);
        else if (!add_waits(pc, ask, waits))
          return std::nullopt;
      }
    }
    std::ranges::sort(waits);
    const auto twice = std::ranges::unique(waits);
    waits.erase(twice.begin(), twice.end());
    return waits;
  }

 private:
  void add_results(Pc pc, std::vector<uint32_t>& reached, std::vector<bool>& seen) const {
    for_each_value(program_, program_.code[pc], [&](const RegisterUse& use) {
      if (!use.writes || seen[use.reg]) return;
      seen[use.reg] = true;
      reached.push_back(use.reg);
    });
  }

  // The branch skips waits that acquire as `ask` does, their loops and computation for them, no more.
  bool add_waits(Pc branch, Pc ask, std::vector<Pc>& waits) const {
    const isa::Mbarrier& asked = *wait_at(program_.code[ask]);
    const MicroOp& first = program_.code[branch];
    const uint32_t end = target_of(program_, branch);
    if (end == isa::no_id || end <= branch || first.guard < 0 || first.instruction->has("uni")) return false;
    bool some = false;
    for (Pc at = branch + 1; at < end; ++at) {
      const MicroOp& op = program_.code[at];
      if (op.function != first.function || op.instruction == nullptr) return false;
      if (const isa::Mbarrier* const e = wait_at(op)) {
        if (e->order != asked.order || e->scope != asked.scope || e->parity != asked.parity) return false;
        waits.push_back(at);
        some = true;
      } else if (const uint32_t to = target_of(program_, at); to != isa::no_id) {
        if (to <= branch || to > end) return false;
      } else if (!only_computes(program_.footprint(op)) || op.dynamic_special) {
        return false;
      }
      if (is_read_outside(at, branch, end)) return false;
    }
    return some;
  }

  bool is_read_outside(Pc pc, Pc branch, uint32_t end) const {
    bool outside = false;
    for_each_value(program_, program_.code[pc], [&](const RegisterUse& use) {
      if (use.writes)
        outside |= std::ranges::any_of(readers_[use.reg], [&](Pc r) { return r <= branch || r >= end; });
    });
    return outside;
  }

  const Program& program_;
  std::vector<std::vector<Pc>> readers_;  // by register
};

// The next instruction branches by the result: a loop that waits.
bool loops(const Program& program, Pc pc) {
  if (pc + 1 >= program.code.size()) return false;
  const MicroOp& next = program.code[pc + 1];
  const DecodedOperand& result = program.code[pc].operands[wait_at(program.code[pc])->dst];
  return target_of(program, pc + 1) != isa::no_id && result.kind == DecodedOperand::Kind::lanes &&
         next.guard == static_cast<int32_t>(result.slot.offset);
}

}  // namespace

std::map<Pc, std::vector<Pc>> find_early_waits(const Program& program) {
  std::map<Pc, std::vector<Pc>> skipped;
  std::vector<Pc> asks;
  for (const MicroOp& op : program.code) {
    const isa::Mbarrier* const e = wait_at(op);
    if (e != nullptr && e->action == isa::MbarrierAction::try_wait && !loops(program, op.pc))
      asks.push_back(op.pc);
  }
  if (asks.empty()) return skipped;
  const Finder finder(program);
  for (const Pc ask : asks)
    if (auto waits = finder.skipped_by(ask)) skipped.emplace(ask, std::move(*waits));
  return skipped;
}

}  // namespace palladion::sim
