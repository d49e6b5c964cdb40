#include "sim/machine/exec/actuals.h"

#include "sim/machine/exec/frames.h"

namespace palladion::sim {
namespace {

uint8_t* block_of(const Exec& x, const Actuals& list, size_t i, int lane) {
  return local_bytes_at(x, lane, local_offset(x.lane_value((*list.decoded)[i], lane)));
}

}  // namespace

Actuals actuals(const MicroOp& op, int index) {
  if (index < 0) return {};
  return {&op.instruction->operands[static_cast<size_t>(index)].elements, &op.operands[index].elements};
}

bool is_block(const Program& program, const isa::Operand& o) {
  if (!o.is(isa::Operand::Kind::symbol)) return false;
  const isa::Symbol& s = program.module->symbols[o.id];
  return s.kind == isa::Symbol::Kind::variable && s.variable.space == isa::Space::param;
}

void read_actual(const Exec& x, const Actuals& list, size_t i, int lane, uint64_t size, uint8_t* to) {
  const isa::Operand& o = (*list.written)[i];
  const DecodedOperand& d = (*list.decoded)[i];
  if (is_block(x.program, o)) {
    std::memcpy(to, block_of(x, list, i, lane), size);
    return;
  }
  const bool constant = o.is(isa::Operand::Kind::imm) || o.is(isa::Operand::Kind::symbol);
  const uint64_t value = constant ? static_cast<uint64_t>(d.offset) : x.lane_value(d, lane);
  std::memcpy(to, &value, std::min<uint64_t>(size, 8));
}

void put_register(uint8_t* block, int width, int lane, const uint8_t* from) {
  if (width == 1) {
    uint32_t mask;
    std::memcpy(&mask, block, 4);
    mask = (mask & ~(1U << lane)) | static_cast<uint32_t>(*from & 1) << lane;
    std::memcpy(block, &mask, 4);
  } else {
    const size_t bytes = static_cast<size_t>(width) / 8;
    std::memcpy(block + bytes * static_cast<size_t>(lane), from, bytes);
  }
}

void write_actual(const Exec& x, const Actuals& list, size_t i, int lane, uint64_t size,
                  const uint8_t* from) {
  const DecodedOperand& d = (*list.decoded)[i];
  if (is_block(x.program, (*list.written)[i]))
    std::memcpy(block_of(x, list, i, lane), from, size);
  else if ((*list.written)[i].is(isa::Operand::Kind::reg))
    put_register(x.lanes<uint8_t>(d), d.width, lane, from);
}

}  // namespace palladion::sim
