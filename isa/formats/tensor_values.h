#pragma once
// What a tensor copy does to values on their way (measured on an H200, tests/device/tma.md: documented
// nowhere).
#include <cstdint>
#include <span>

#include "isa/formats/tensor_map.h"

namespace palladion::isa {

// CU_TENSOR_MAP_FLOAT_OOB_FILL_NAN_REQUEST_ZERO_FMA: every 16 bits of what is outside, whatever the type.
inline constexpr uint16_t tensor_nan_fill = 0x7FF7;

// TFLOAT32 and TFLOAT32_FTZ: loads round f32 to the nearest tf32, ties to even. Subnormal numbers stay;
// NaN becomes 0x7FFFE000. All other types, FLOAT32_FTZ too, are moved as they are.
bool is_rounded_by_loads(TensorDataType type);

// In place, whole elements. Only for types that loads round.
void round_loaded(std::span<uint8_t> bytes);

}  // namespace palladion::isa
