#include "frontend/core/scalar.h"

#include <fmt/format.h>

#include <bit>
#include <cmath>
#include <numeric>
#include <optional>

#include "frontend/core/verbs.h"

namespace palladion::pl {

using frontend::Loc;

Scalar Scalar::constant(DType dtype, int64_t value) {
  Scalar s(value);
  s.dtype_ = dtype;
  s.number_ = static_cast<double>(value);
  s.weak_ = false;
  return s;
}

Scalar Scalar::constant(DType dtype, double value) {
  Scalar s(value);
  s.dtype_ = dtype;
  s.offset_ = is_float(dtype) ? 0 : static_cast<int64_t>(value);
  s.weak_ = false;
  return s;
}

Scalar Scalar::from_register(DType dtype, const Operand& reg, bool nonnegative, int64_t multiple) {
  if (reg.is(Operand::Kind::imm)) return constant(dtype, static_cast<int64_t>(reg.bits));
  Scalar s;
  s.dtype_ = dtype;
  s.register_ = reg.id;
  s.nonnegative_ = nonnegative;
  s.multiple_ = multiple;
  s.weak_ = false;
  return s;
}

int64_t Scalar::multiple() const {
  if (is_constant()) return offset_;
  return std::gcd(multiple_, offset_);
}

Scalar Scalar::without_offset() const {
  Scalar s = *this;
  s.offset_ = 0;
  return s;
}

int64_t Scalar::not_known(const Loc& loc) {
  fail(Code::not_known, "as_int() and as_double() of a pl::Scalar that is known when the kernel runs only",
       frontend::author_line(loc),
       "is_constant() tells; what depends on it is recorded: pl::when, pl::where, ref.at(scalar)");
}

Operand Scalar::operand() const {
  lifetime_.check(is_constant());
  if (is_constant()) {
    return is_float(dtype_) ? frontend::constant(dtype_, number_) : frontend::constant(dtype_, offset_);
  }
  const Operand reg = Operand::reg(register_);
  if (offset_ == 0) return reg;
  const bool wide = bits(dtype_) == 64;
  return Recorder::current().pure(wide ? "add.s64" : "add.s32", {reg, Operand::imm(offset_)},
                                  wide ? isa::Type::b64 : isa::Type::b32);
}

Operand Scalar::as_register() const {
  const Operand o = operand();
  if (o.is(Operand::Kind::reg)) return o;
  return Recorder::current().pure(fmt::format("mov.{}", frontend::bits_suffix(dtype_)), {o},
                                  frontend::register_type(dtype_));
}

namespace {
// A number of the host as an integer of this dtype; its bit pattern may stand for a signed one.
int64_t fitting(double number, int64_t integer, bool is_double, bool weak, DType dtype) {
  const auto refuse = [&](std::string_view why) {
    fail(Code::bad_conversion,
         is_double ? fmt::format("{} {} {}", number, why, name(dtype))
                   : fmt::format("{} {} {}", integer, why, name(dtype)),
         "give the array or the reference the dtype of its numbers, or convert with .astype");
  };
  if (is_double) {
    if (!(std::abs(number) < 0x1p63)) refuse("does not fit");
    if (weak && number != std::trunc(number)) refuse("has a fraction and cannot become");
    integer = static_cast<int64_t>(number);
  }
  const int width = bits(dtype);
  if (width < 64 && (integer < -(int64_t{1} << (width - 1)) || integer >= int64_t{1} << width))
    refuse("does not fit");
  return integer;
}
}  // namespace

Scalar Scalar::astype(DType dtype, std::source_location loc) const {
  const VerbScope at(loc);
  check(loc);
  if (dtype == dtype_) {
    Scalar s = *this;
    s.weak_ = false;
    return s;
  }
  if (is_constant()) {
    if (is_float(dtype)) return constant(dtype, as_double());
    if (dtype == DType::bool_) return constant(dtype, int64_t{as_double() != 0});
    return constant(dtype, fitting(number_, offset_, is_float(dtype_), weak_, dtype));
  }
  const Operand d = frontend::element_convert(Recorder::current(), dtype_, dtype, operand());
  const bool widened = is_integer(dtype_) && is_integer(dtype) && bits(dtype) >= bits(dtype_);
  return from_register(dtype, d, widened && nonnegative(), widened ? multiple() : 1);
}

Scalar multiple_of(const Scalar& value, int64_t n, std::source_location loc) {
  const VerbScope at(loc);
  if (n < 1)
    fail(Code::unaligned_slice, fmt::format("multiple_of takes a number of at least 1, not {}", n),
         "leave multiple_of away where nothing is known");
  if (value.is_constant()) {
    if (value.as_int() % n != 0) {
      fail(Code::unaligned_slice, fmt::format("{} was promised to be a multiple of {}", value.as_int(), n),
           "promise a number that divides the value");
    }
    return value;
  }
  Scalar s = Scalar::from_register(value.dtype(), value.operand(), value.nonnegative(), 1);
  s.multiple_ = std::lcm(value.multiple_ == 0 ? 1 : value.multiple_, n);
  return s;
}

}  // namespace palladion::pl
