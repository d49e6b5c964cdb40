#include "frontend/core/types.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <array>

namespace palladion::pl {
namespace {

struct Row {
  std::string_view name;
  int bits;
  isa::Type type;
};
constexpr std::array<Row, 15> rows = {{{"bool", 8, isa::Type::pred},
                                       {"s8", 8, isa::Type::s8},
                                       {"s16", 16, isa::Type::s16},
                                       {"s32", 32, isa::Type::s32},
                                       {"s64", 64, isa::Type::s64},
                                       {"u8", 8, isa::Type::u8},
                                       {"u16", 16, isa::Type::u16},
                                       {"u32", 32, isa::Type::u32},
                                       {"u64", 64, isa::Type::u64},
                                       {"f16", 16, isa::Type::f16},
                                       {"bf16", 16, isa::Type::bf16},
                                       {"f32", 32, isa::Type::f32},
                                       {"f64", 64, isa::Type::f64},
                                       {"e4m3", 8, isa::Type::e4m3},
                                       {"e5m2", 8, isa::Type::e5m2}}};
const Row& row(DType dtype) { return rows[static_cast<size_t>(dtype)]; }

}  // namespace

int bits(DType dtype) { return row(dtype).bits; }
std::string_view name(DType dtype) { return row(dtype).name; }
isa::Type isa_type(DType dtype) { return row(dtype).type; }
bool is_float(DType dtype) { return dtype >= DType::f16; }
bool is_signed(DType dtype) { return dtype >= DType::s8 && dtype <= DType::s64; }
bool is_integer(DType dtype) { return dtype >= DType::s8 && dtype <= DType::u64; }

int64_t volume(const Shape& shape) {
  int64_t v = 1;
  for (int64_t d : shape) v *= d;
  return v;
}

Shape strides_of(const Shape& shape) {
  Shape strides(shape.size(), 1);
  for (size_t i = shape.size(); i-- > 1;) strides[i - 1] = strides[i] * shape[i];
  return strides;
}

std::string to_string(const Shape& shape) { return fmt::format("[{}]", fmt::join(shape, ", ")); }
std::string to_string(const ShapeDtype& type) {
  return fmt::format("{}{}", name(type.dtype), to_string(type.shape));
}

}  // namespace palladion::pl
