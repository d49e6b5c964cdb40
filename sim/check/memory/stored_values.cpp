#include "sim/check/memory/stored_values.h"

#include <cstring>

namespace palladion::sim::check {

StoredValues::StoredValues(const ClusterContext& context, const Access& access)
    : op_(context.run.program->code[access.origin.pc]),
      store_(op_.moves && access.size <= most_bytes ? std::get_if<isa::Store>(access.origin.effect)
                                                    : nullptr),
      constants_(context.run.program->constants.data()),
      registers_(context.cluster.ctas[access.origin.cta_rank].warps[access.origin.warp].registers.data()) {}

void StoredValues::read(Lane lane, uint8_t* bytes, uint32_t lanes) const {
  const auto size = static_cast<size_t>(isa::bytes(store_->type));
  const size_t stride = size * static_cast<size_t>(store_->elements);
  for (int k = 0; k < store_->elements; ++k, bytes += size) {
    const DecodedOperand& s = op_.operands[store_->src].element(k);
    const size_t width = s.width / 8;
    const uint8_t* const from = (s.slot.constant ? constants_ : registers_) + s.slot.offset + width * lane;
    if (store_->elements == 1 && width == size) {  // as the lanes lie in the register
      std::memcpy(bytes, from, stride * lanes);
      continue;
    }
    for (size_t i = 0; i < lanes; ++i) std::memcpy(bytes + stride * i, from + width * i, size);
  }
}

}  // namespace palladion::sim::check
