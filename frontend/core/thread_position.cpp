#include "frontend/core/thread_position.h"

namespace palladion::frontend {

Operand ThreadPosition::tid() {
  return emitter_.at_entry("mov.u32", {Operand::special_reg(isa::Special::tid, 0)}, Type::b32);
}

Operand ThreadPosition::lane_in_group() {
  if (threads_ == 1) return tid();
  return emitter_.at_entry("and.b32", {tid(), Operand::imm(127)}, Type::b32);
}

// The value of lane 0, which is then uniform in the warp for ptxas as well.
Operand ThreadPosition::broadcast_lane_0(const Operand& value) {
  return emitter_.at_entry("shfl.sync.idx.b32", {value, Operand::imm(0), Operand::imm(31), Operand::imm(-1)},
                           Type::b32);
}

Operand ThreadPosition::index() {
  if (threads_ == 1) return Operand::imm(0);
  index_ = broadcast_lane_0(emitter_.at_entry("shr.u32", {tid(), Operand::imm(7)}, Type::b32));
  return index_;
}

Operand ThreadPosition::warp_index() {
  return broadcast_lane_0(emitter_.at_entry("shr.u32", {lane_in_group(), Operand::imm(5)}, Type::b32));
}

Operand ThreadPosition::elected_in_warp() {
  if (!elected_in_warp_.is(Operand::Kind::reg)) {
    emitter_.in_prologue([&] {
      elected_in_warp_ = emitter_.reg(Type::pred);
      Operand joined = elected_in_warp_;
      joined.joined = true;
      emitter_.emit("elect.sync", {Operand::sink(), joined, Operand::imm(-1)});
    });
  }
  return elected_in_warp_;
}

Operand ThreadPosition::elected() {
  const Operand first = emitter_.at_entry("setp.eq.s32", {warp_index(), Operand::imm(0)}, Type::pred);
  elected_ = emitter_.at_entry("and.pred", {first, elected_in_warp()}, Type::pred);
  return elected_;
}

// Named barrier 0 is the whole CTA's; thread t of several has barrier t + 1.
Operand ThreadPosition::named_barrier() {
  if (threads_ == 1) return Operand::imm(0);
  return emitter_.at_entry("add.s32", {index(), Operand::imm(1)}, Type::b32);
}

}  // namespace palladion::frontend
