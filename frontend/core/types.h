#pragma once
// Dtypes, shapes and slices: the words of a kernel's signature.
#include <cstdint>
#include <initializer_list>
#include <source_location>
#include <string>
#include <string_view>
#include <vector>

#include "isa/core/types.h"

namespace palladion::pl {

// The last three are for products of the tensor core alone: they are copied, and multiplied in memory, but
// are never in registers. ue8m0: a power of two, 2^(x - 127), or NaN. e2m1 and u2 share a byte, the first in
// its low bits.
enum class DType : uint8_t {
  bool_,
  s8,
  s16,
  s32,
  s64,
  u8,
  u16,
  u32,
  u64,
  f16,
  bf16,
  f32,
  f64,
  e4m3,
  e5m2,
  ue8m0,
  e2m1,
  u2
};
inline constexpr int dtypes = static_cast<int>(DType::u2) + 1;  // how many element types there are

// Element types by Pallas' and JAX's names: bool, integers, floating point, 8-bit and 4-bit floats, 2-bit
// integers.
inline constexpr DType bool_ = DType::bool_, s8 = DType::s8, s16 = DType::s16, s32 = DType::s32,
                       s64 = DType::s64, u8 = DType::u8, u16 = DType::u16, u32 = DType::u32, u64 = DType::u64,
                       f16 = DType::f16, bf16 = DType::bf16, f32 = DType::f32, f64 = DType::f64,
                       e4m3 = DType::e4m3, e5m2 = DType::e5m2, ue8m0 = DType::ue8m0, e2m1 = DType::e2m1,
                       u2 = DType::u2;
// JAX's spellings.
inline constexpr DType int8 = s8, int16 = s16, int32 = s32, int64 = s64, uint8 = u8, uint16 = u16,
                       uint32 = u32, uint64 = u64, float16 = f16, bfloat16 = bf16, float32 = f32,
                       float64 = f64, float8_e4m3fn = e4m3, float8_e5m2 = e5m2, float8_e8m0fnu = ue8m0,
                       float4_e2m1fn = e2m1, uint2 = u2;

// Bits in memory; a bool takes a byte.
int bits(DType dtype);
// An Error for those that share a byte.
int bytes(DType dtype);
// Elements that share a byte: 1, 2 (e2m1) or 4 (u2).
inline int64_t per_byte(DType dtype) { return bits(dtype) < 8 ? 8 / bits(dtype) : 1; }
bool is_register_type(DType dtype);
std::string_view name(DType dtype);
bool is_float(DType dtype);
bool is_signed(DType dtype);  // signed integers
bool is_integer(DType dtype);
// The PTX type of a value of this dtype ("f16", "s32"), pred for bool.
isa::Type isa_type(DType dtype);

using Shape = std::vector<int64_t>;  // sizes of dimensions, outermost first
// The number of elements. An Error for negative sizes, more than 64 dimensions and more than 2^48 elements,
// so that bytes of a shape never overflow.
int64_t volume(const Shape& shape);
// An Error for a dimension that the shape does not have.
int64_t dimension(const Shape& shape, size_t i, const std::source_location& loc);
std::string to_string(const Shape& shape);
// Row-major strides in elements.
Shape strides_of(const Shape& shape);

// The type of an argument, a result or an allocation: dtype and shape.
struct ShapeDtype {
  DType dtype = DType::f32;  // element type
  Shape shape;               // sizes of dimensions
  int64_t bytes() const;     // of all elements; those shorter than a byte are packed
  friend bool operator==(const ShapeDtype&, const ShapeDtype&) = default;
};
std::string to_string(const ShapeDtype& type);  // as f32[16,32]

// A / b rounded up; both positive.
constexpr int64_t cdiv(int64_t a, int64_t b) { return (a + b - 1) / b; }
// A rounded up to a multiple of b.
constexpr int64_t align_to(int64_t a, int64_t b) { return cdiv(a, b) * b; }
// The smallest power of two that is at least a.
constexpr int64_t next_power_of_2(int64_t a) {
  int64_t p = 1;
  while (p < a) p *= 2;
  return p;
}

}  // namespace palladion::pl
