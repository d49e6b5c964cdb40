
#include "sim/launch/phrases/phrase.h"
#include "sim/machine/async/tcgen05.h"

namespace palladion::sim {

bool check_one_thread(Exec& x, const char* what) {
  if (std::has_single_bit(x.active)) return true;
  x.fault(Code::several_issuers, say<Phrase::by_several_threads>(what, std::popcount(x.active)));
  return false;
}

bool has_tensor_memory(Exec& x, uint32_t leader, int ctas, const char* what) {
  for (uint32_t r = leader; r < leader + static_cast<uint32_t>(ctas); ++r) {
    if (!x.cluster.ctas[r].tensor.words.empty()) continue;
    x.fault(Code::tensor_memory_columns, say<Phrase::no_tensor_memory>(what, r));
    return false;
  }
  return true;
}

bool check_place(Exec& x, const char* what, const char* operand, uint32_t address, int columns,
                 bool may_begin_at_16) {
  const isa::TensorPlace p = isa::tensor_place(address);
  if (p.column + columns > static_cast<int>(TensorMemory::columns)) {
    x.fault(Code::tensor_memory_columns,
            say<Phrase::operand_beyond_memory>(what, operand, p.column, p.column + columns - 1));
    return false;
  }
  if (p.lane == 0 || (may_begin_at_16 && p.lane == 16)) return true;
  x.fault(Code::tensor_memory_lanes,
          may_begin_at_16 ? say<Phrase::operand_not_at_0_or_16>(what, operand, p.lane)
                          : say<Phrase::operand_not_at_0>(what, operand, p.lane),
          say<Phrase::lane_is_upper_half>());
  return false;
}

bool check_matrix(Exec& x, const char* what, const char* operand, uint64_t descriptor) {
  if (isa::is_tcgen05_matrix(descriptor)) return true;
  x.fault(Code::tcgen05_matrix_descriptor, say<Phrase::no_matrix_descriptor>(what, descriptor, operand));
  return false;
}

uint32_t tensor_operand(const Exec& x, const MicroOp& op, int index) {
  return index < 0 ? 0
                   : static_cast<uint32_t>(x.address_of_lane(op.operands[index], std::countr_zero(x.active)));
}

uint8_t layout_of(uint64_t descriptor) {
  switch (isa::decode_tcgen05_matrix(descriptor).swizzle) {
    case isa::Swizzle::none:
      return layout_plain;
    case isa::Swizzle::b32:
      return layout_32b;
    case isa::Swizzle::b64:
      return layout_64b;
    case isa::Swizzle::b128:
      return layout_128b;
    default:
      return layout_unknown;
  }
}

}  // namespace palladion::sim
