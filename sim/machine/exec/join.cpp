#include "sim/machine/exec/join.h"

namespace palladion::sim {
namespace {

void put_lane(const Exec& x, const DecodedOperand& o, int lane, uint64_t value) {
  switch (o.width) {
    case 1: {
      uint32_t& mask = x.predicate(o);
      mask = (mask & ~(1U << lane)) | static_cast<uint32_t>(value & 1) << lane;
      return;
    }
    case 8:
      x.lanes<uint8_t>(o)[lane] = static_cast<uint8_t>(value);
      return;
    case 16:
      x.lanes<uint16_t>(o)[lane] = static_cast<uint16_t>(value);
      return;
    case 32:
      x.lanes<uint32_t>(o)[lane] = static_cast<uint32_t>(value);
      return;
    default:
      x.lanes<uint64_t>(o)[lane] = value;
  }
}

// The register's own value: a negated predicate is not inverted.
uint64_t get_lane(const Exec& x, const DecodedOperand& o, int lane) {
  return o.width == 1 ? x.predicate(o) >> lane & 1 : x.lane_value(o, lane);
}

size_t operand_count(const MicroOp& op) { return op.instruction->operands.size(); }

}  // namespace

uint32_t joinable_lanes(const WarpState& warp, const LaneGroup& g) {
  uint32_t lanes = g.mask;
  if (g.wait.value == 0) return lanes;
  for (const LaneGroup& other : warp.groups)
    if (other.wait.kind == Wait::Kind::convergence && other.wait.value == g.wait.value) lanes |= other.mask;
  return lanes;
}

Join::Join(Exec& x) : x_(x), lanes_(x.self().mask) {
  const MicroOp& mine = x.op_at(x.self().pc);
  for (uint32_t i = 0; i < x.warp->groups.size(); ++i) {
    const LaneGroup& other = x.warp->groups[i];
    if (i == x.group || other.wait.kind != Wait::Kind::convergence || other.wait.value != x.self().wait.value)
      continue;
    const MicroOp& theirs = x.op_at(other.pc);
    if (!matches(mine, theirs)) continue;
    take(i, mine, theirs);
    partners_.push_back(i);
    lanes_ |= other.mask;
  }
}

// The same modifiers, and constants where this group's instruction has them.
bool Join::matches(const MicroOp& mine, const MicroOp& theirs) const {
  if (mine.instruction->form != theirs.instruction->form ||
      mine.instruction->mods != theirs.instruction->mods || operand_count(mine) != operand_count(theirs))
    return false;
  for (size_t k = 0; k < operand_count(mine); ++k) {
    const DecodedOperand &a = mine.operands[k], &b = theirs.operands[k];
    if (a.kind != b.kind || a.width != b.width || a.negated != b.negated) return false;
    if (a.kind == DecodedOperand::Kind::lanes && a.slot.constant &&
        !(b.slot.constant && a.offset == b.offset))
      return false;
  }
  return true;
}

void Join::take(uint32_t group, const MicroOp& mine, const MicroOp& theirs) {
  for (size_t k = 0; k < operand_count(mine); ++k) {
    const DecodedOperand &a = mine.operands[k], &b = theirs.operands[k];
    if (a.kind != DecodedOperand::Kind::lanes || a.slot.constant) continue;
    Saved saved{.group = group, .operand = k, .values = {}};
    for (uint32_t m = x_.warp->groups[group].mask; m != 0; m &= m - 1) {
      const int lane = std::countr_zero(m);
      saved.values[lane] = get_lane(x_, a, lane);
    }
    saved_.push_back(saved);
    for (uint32_t m = x_.warp->groups[group].mask; m != 0; m &= m - 1) {
      const int lane = std::countr_zero(m);
      put_lane(x_, a, lane, get_lane(x_, b, lane));
    }
  }
}

void Join::finish() {
  const MicroOp& mine = x_.op_at(x_.pc);
  // Results first, all of them, then the registers as they were, last saved first.
  std::vector<Saved> results;
  for (const Saved& s : saved_) {
    if (!mine.instruction->form->operands[s.operand].writes) continue;
    Saved r{.group = s.group, .operand = s.operand, .values = {}};
    for (int lane = 0; lane < 32; ++lane) r.values[lane] = get_lane(x_, mine.operands[s.operand], lane);
    results.push_back(r);
  }
  for (auto s = saved_.rbegin(); s != saved_.rend(); ++s)
    for (uint32_t m = x_.warp->groups[s->group].mask; m != 0; m &= m - 1)
      put_lane(x_, mine.operands[s->operand], std::countr_zero(m), s->values[std::countr_zero(m)]);
  for (const Saved& r : results) {
    const MicroOp& theirs = x_.op_at(x_.warp->groups[r.group].pc);
    for (uint32_t m = x_.warp->groups[r.group].mask; m != 0; m &= m - 1)
      put_lane(x_, theirs.operands[r.operand], std::countr_zero(m), r.values[std::countr_zero(m)]);
  }
  for (const uint32_t partner : partners_) {
    LaneGroup& g = x_.warp->groups[partner];
    ++g.pc;
    g.wait = {};
  }
}

}  // namespace palladion::sim
