#include "sim/program/stack_charge.h"

#include <algorithm>

#include "sim/program/liveness.h"
#include "sim/program/registers.h"

namespace palladion::sim {
namespace {

constexpr uint32_t return_address = 8, alignment = 8;

// The most bytes of registers that are live across a call of the function.
uint32_t live_across_calls(const Program& program, uint32_t function) {
  const isa::Function& f = program.module->functions[function];
  const isa::Cfg cfg = isa::build_cfg(f);
  const Liveness live(program, function, cfg);
  const uint32_t base = program.register_offsets_base[function];
  std::vector<uint8_t> is_live(f.registers.size());
  uint32_t now = 0, most = 0;  // bytes
  const auto set = [&](uint32_t r, bool to) {
    if (is_live[r] == static_cast<uint8_t>(to)) return;
    is_live[r] = static_cast<uint8_t>(to);
    const uint32_t bytes = isa::bits(f.registers[r].type) / 8U;  // predicates: 0
    now = to ? now + bytes : now - bytes;
  };
  for (uint32_t b = 0; b < cfg.blocks.size(); ++b) {
    for (uint32_t r = 0; r < is_live.size(); ++r) set(r, false);
    live.for_each_out(b, [&](uint32_t r) { set(r, true); });
    for (uint32_t i = cfg.blocks[b].last; i-- > cfg.blocks[b].first;) {
      const MicroOp& op = program.code[program.function_start[function] + i];
      for_each_register(program, op, [&](const RegisterUse& u) {
        if (u.writes && op.guard < 0) set(u.reg - base, false);
      });
      if (op.effect != nullptr && std::holds_alternative<isa::Call>(*op.effect)) most = std::max(most, now);
      for_each_register(program, op, [&](const RegisterUse& u) {
        if (u.reads) set(u.reg - base, true);
      });
    }
  }
  return most;
}

}  // namespace

void charge_stack(Program& program) {
  for (uint32_t f = 0; f < program.frames.size(); ++f) {
    Frame& frame = program.frames[f];
    if (!frame.exists) continue;
    const uint32_t bytes = frame.charge + live_across_calls(program, f) + return_address;
    frame.charge = static_cast<uint32_t>(align_up(bytes, alignment));
  }
}

}  // namespace palladion::sim
