#include "sim/machine/exec/lane_values.h"

#include <algorithm>
#include <cstring>

#include "sim/machine/exec/exec.h"

namespace palladion::sim {

uint64_t value_bits(const Program& program, const WarpState& warp, const DecodedOperand& o, int lane) {
  if (o.kind != DecodedOperand::Kind::lanes && o.kind != DecodedOperand::Kind::address)
    return uint64_t{o.id} ^ static_cast<uint64_t>(o.offset);
  if (o.width == 0) return static_cast<uint64_t>(o.offset);
  const uint8_t* const block =
      (o.slot.constant ? program.constants.data() : warp.registers.data()) + o.slot.offset;
  if (o.width == 1) {
    uint32_t mask = 0;
    std::memcpy(&mask, block, sizeof mask);
    return mask >> lane & 1;
  }
  const size_t bytes = o.width / 8U;
  uint64_t words[2] = {0, 0};
  std::memcpy(words, block + bytes * static_cast<size_t>(lane), std::min(bytes, sizeof words));
  return bytes > sizeof words[0] ? words[0] ^ scramble(words[1]) : words[0];
}

int selected_operand(const Program& program, const WarpState& warp, const MicroOp& selp, int lane) {
  const bool taken = value_bits(program, warp, selp.operands[3], lane) != 0;
  return taken != selp.instruction->operands[3].negated ? 1 : 2;
}

uint64_t operation_hash(const isa::Instruction& i) {
  uint64_t hash = scramble(reinterpret_cast<uintptr_t>(i.form));
  const auto mix = [&](uint64_t v) { hash = scramble(hash ^ scramble(v)); };
  mix(reinterpret_cast<uintptr_t>(i.op));
  for (const int8_t mod : i.mods) mix(static_cast<uint64_t>(mod));
  return hash;
}

bool crosses_lanes(const isa::Footprint& f) {
  return f.values == isa::Values::combined || f.participants != isa::Participants::lanes;
}

}  // namespace palladion::sim
