#pragma once
// One element at a time: which PTX computes an operation of a dtype. Arrays and scalars share this.
//
// In registers an element of 8 or 16 bits sits in a .b16 (s8 sign-extended, u8 and fp8 zero-extended),
// of 32 in a .b32 or .f32, of 64 in a .b64 or .f64, a bool in a .pred.
#include "frontend/core/recorder.h"
#include "frontend/core/types.h"

namespace palladion::frontend {

enum class Unary : uint8_t {
  neg,
  abs,
  sign,
  not_,
  clz,
  popc,
  exp,
  exp2,
  log,
  log2,
  log1p,
  expm1,
  sin,
  cos,
  tanh,
  sqrt,
  rsqrt,
  reciprocal,
  erf,
  logistic,
  round,
  floor,
  ceil,
  trunc,
  is_finite
};
enum class Binary : uint8_t { add, sub, mul, div, rem, min, max, and_, or_, xor_, shl, shr, pow };
enum class Compare : uint8_t { eq, ne, lt, le, gt, ge };

std::string_view name(Unary op);
std::string_view name(Binary op);

inline bool is_fp8(pl::DType d) { return d == pl::DType::e4m3 || d == pl::DType::e5m2; }
inline bool is_half(pl::DType d) { return d == pl::DType::f16 || d == pl::DType::bf16; }

// Refuses what is never in registers.
void check_register_type(pl::DType dtype);
// The register type of an element.
Type register_type(pl::DType dtype);
// "f32", "s16": the instruction type for arithmetic on registers of this dtype (u8 -> u16, s8 -> s16).
std::string_view arithmetic_suffix(pl::DType dtype);
std::string_view bits_suffix(pl::DType dtype);  // "b16", "b32", "b64" of the register

Operand constant(pl::DType dtype, double value);   // of float dtypes
Operand constant(pl::DType dtype, int64_t value);  // of integer dtypes and bool (a predicate is recorded)
uint64_t encode_float(pl::DType dtype, double value);

// Half-precision instructions take no immediates: those are moved.
Operand in_register(Recorder& r, pl::DType dtype, const Operand& a);

// An 8-bit integer in its .b16 back to its canonical extension.
Operand narrow(Recorder& r, pl::DType dtype, const Operand& a);

// "add.rn", "min.NaN": PTX's instruction on floats, without its type; empty: it takes several.
std::string_view float_verb(Binary op);

Operand element_unary(Recorder& r, Unary op, pl::DType dtype, const Operand& a);
Operand element_binary(Recorder& r, Binary op, pl::DType dtype, const Operand& a, const Operand& b);
Operand element_fma(Recorder& r, pl::DType dtype, const Operand& a, const Operand& b, const Operand& c);
Operand element_compare(Recorder& r, Compare op, pl::DType dtype, const Operand& a, const Operand& b);
Operand element_select(Recorder& r, pl::DType dtype, const Operand& p, const Operand& a, const Operand& b);
Operand element_convert(Recorder& r, pl::DType from, pl::DType to, const Operand& a);
Operand element_bitcast(Recorder& r, pl::DType from, pl::DType to, const Operand& a);
// A register of its own with this value (a loop carry).
Operand element_copy(Recorder& r, pl::DType dtype, const Operand& a);
void element_assign(Recorder& r, pl::DType dtype, const Operand& d, const Operand& a);

// Packed arithmetic: two 16-bit floats in one .b32.
Operand pack2(Recorder& r, const Operand& low, const Operand& high);
std::pair<Operand, Operand> unpack2(Recorder& r, const Operand& packed);

// math.cpp: f32 functions out of approximate instructions and polynomials.
Operand math_f32(Recorder& r, Unary op, const Operand& x);

}  // namespace palladion::frontend
