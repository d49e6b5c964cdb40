#include "isa/formats/tensor_values.h"

#include <cstring>

#include "isa/num/convert.h"

namespace palladion::isa {

bool is_rounded_by_loads(TensorDataType type) {
  return type == TensorDataType::tf32 || type == TensorDataType::tf32_ftz;
}

void round_loaded(std::span<uint8_t> bytes) {
  for (size_t i = 0; i + 4 <= bytes.size(); i += 4) {
    uint32_t word;
    std::memcpy(&word, &bytes[i], 4);
    word = num::encode_f32<num::Tf32, num::Rounding::rn>(word);
    std::memcpy(&bytes[i], &word, 4);
  }
}

}  // namespace palladion::isa
