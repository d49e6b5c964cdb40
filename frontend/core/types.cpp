#include "frontend/core/types.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <array>

#include "frontend/core/errors.h"

namespace palladion::pl {
namespace {

using T = isa::Type;
// In the order of DType.
constexpr std::array types{T::pred, T::s8,   T::s16, T::s32, T::s64,  T::u8,   T::u16, T::u32,  T::u64,
                           T::f16,  T::bf16, T::f32, T::f64, T::e4m3, T::e5m2, T::u8,  T::e2m1, T::b8};
static_assert(types.size() == dtypes);

}  // namespace

isa::Type isa_type(DType dtype) { return types[static_cast<size_t>(dtype)]; }
int bits(DType dtype) {
  if (dtype == DType::bool_) return 8;
  return dtype == DType::u2 ? 2 : isa::bits(isa_type(dtype));
}
int bytes(DType dtype) {
  if (bits(dtype) < 8)
    frontend::unsupported(
        fmt::format("{} elements one by one: {} of them share a byte", name(dtype), per_byte(dtype)),
        "they are copied, and multiplied by tcgen05_mma, in memory");
  return bits(dtype) / 8;
}
std::string_view name(DType dtype) {
  switch (dtype) {
    case DType::bool_:
      return "bool";
    case DType::ue8m0:
      return "ue8m0";
    case DType::u2:
      return "u2";
    default:
      return isa::name(isa_type(dtype));
  }
}
bool is_float(DType dtype) { return dtype >= DType::f16 && dtype != DType::u2; }
bool is_signed(DType dtype) { return dtype >= DType::s8 && dtype <= DType::s64; }
bool is_integer(DType dtype) { return (dtype >= DType::s8 && dtype <= DType::u64) || dtype == DType::u2; }
bool is_register_type(DType dtype) { return dtype < DType::ue8m0; }

int64_t ShapeDtype::bytes() const { return cdiv(volume(shape) * bits(dtype), 8); }

int64_t volume(const Shape& shape) {
  constexpr int64_t most = int64_t{1} << 48;
  constexpr size_t dimensions = 64;
  if (shape.size() > dimensions)
    frontend::fail(frontend::Code::bad_shape,
                   fmt::format("a shape of {} dimensions: {} are the most", shape.size(), dimensions),
                   "join dimensions: a shape [2, 3, 4] has as many elements as [2, 12]");
  if (std::ranges::any_of(shape, [](int64_t d) { return d < 0; }))
    frontend::fail(frontend::Code::bad_shape, fmt::format("a shape {} has a negative size", to_string(shape)),
                   "compute each size: a negative one does not stand for the rest");
  int64_t v = 1;
  for (int64_t d : shape) {
    if (d != 0 && v > most / d)
      frontend::fail(frontend::Code::bad_shape,
                     fmt::format("a shape {} has more than 2^48 elements", to_string(shape)),
                     "check the multiplication that gives this size, or cut the work into smaller arrays");
    v *= d;
  }
  return v;
}

int64_t dimension(const Shape& shape, size_t i, const std::source_location& loc) {
  if (i >= shape.size())
    frontend::fail(frontend::Code::bad_axis,
                   fmt::format("dimension {} of a shape {} with {}", i, to_string(shape), shape.size()),
                   frontend::author_line(loc), "dimensions count from 0; .rank() says how many there are");
  return shape[i];
}

Shape strides_of(const Shape& shape) {
  volume(shape);  // an Error where they would overflow
  Shape strides(shape.size(), 1);
  for (size_t i = shape.size(); i-- > 1;) strides[i - 1] = strides[i] * shape[i];
  return strides;
}

std::string to_string(const Shape& shape) { return fmt::format("[{}]", fmt::join(shape, ", ")); }
std::string to_string(const ShapeDtype& type) {
  return fmt::format("{}{}", name(type.dtype), to_string(type.shape));
}

}  // namespace palladion::pl
