// Operations on scalars: folded on the host where both are known, else recorded.
#include <fmt/format.h>

#include <bit>
#include <cmath>
#include <numeric>
#include <optional>

#include "frontend/core/scalar.h"
#include "frontend/core/verbs.h"

namespace palladion::pl {

using frontend::Binary;
using frontend::Compare;
using frontend::Loc;
using frontend::Unary;

namespace {

// Both in one dtype: a host number takes its partner's; 32-bit integers widen to 64.
void unify(Scalar& a, Scalar& b) {
  if (a.dtype() == b.dtype()) return;
  const auto takes = [](const Scalar& s, const Scalar& partner) {
    if (!s.weak() || partner.dtype() == DType::bool_) return false;
    return is_float(partner.dtype()) || !is_float(s.dtype());
  };
  if (takes(a, b)) {
    a = a.astype(b.dtype());
  } else if (takes(b, a)) {
    b = b.astype(a.dtype());
  } else if (is_integer(a.dtype()) && is_integer(b.dtype())) {
    if (bits(a.dtype()) < bits(b.dtype()))
      a = a.astype(b.dtype());
    else
      b = b.astype(a.dtype());
  } else {
    fail(Code::dtype_mismatch,
         fmt::format("an operation on scalars of different dtypes: {} and {}", name(a.dtype()),
                     name(b.dtype())),
         "convert one with .astype(dtype)");
  }
}

bool wraps_32(DType d) { return d == DType::s32 || d == DType::u32; }

// Integers that may be kept as register + offset: additions wrap at the register's width.
bool affine(DType d) { return wraps_32(d) || d == DType::s64 || d == DType::u64; }

int64_t wrap(DType d, int64_t v) {
  if (d == DType::bool_) return v & 1;
  if (!is_integer(d)) return v;
  const int above = 64 - bits(d);
  return is_signed(d) ? v << above >> above
                      : static_cast<int64_t>(static_cast<uint64_t>(v) << above >> above);
}

// What integers and floating-point numbers share.
template <class T>
std::optional<T> fold(Binary op, T a, T b) {
  switch (op) {
    case Binary::add:
      return a + b;
    case Binary::sub:
      return a - b;
    case Binary::min:
      return std::min(a, b);
    case Binary::max:
      return std::max(a, b);
    default:
      return std::nullopt;
  }
}

int64_t fold_int(Binary op, DType d, int64_t a, int64_t b) {
  if ((op == Binary::div || op == Binary::rem) && b == 0) {
    fail(Code::bad_index, "a division by the constant zero",
         "check the divisor on the host before the kernel is recorded");
  }
  const auto ua = static_cast<uint64_t>(a), ub = static_cast<uint64_t>(b);
  const bool wide_unsigned = d == DType::u64;
  switch (op) {
    case Binary::mul:
      return static_cast<int64_t>(ua * ub);
    case Binary::div:
      return wide_unsigned ? static_cast<int64_t>(ua / ub) : a / b;
    case Binary::rem:
      return wide_unsigned ? static_cast<int64_t>(ua % ub) : a % b;
    case Binary::and_:
      return a & b;
    case Binary::or_:
      return a | b;
    case Binary::xor_:
      return a ^ b;
    case Binary::shl:
      return b >= 64 ? 0 : static_cast<int64_t>(ua << b);
    case Binary::shr:
      return b >= 64 ? (a < 0 ? -1 : 0) : a >> b;
    case Binary::pow:
      return static_cast<int64_t>(std::llround(std::pow(static_cast<double>(a), static_cast<double>(b))));
    default:
      return fold(op, a, b).value_or(0);
  }
}

std::optional<double> fold_float(Binary op, double a, double b) {
  if (op == Binary::mul) return a * b;
  if (op == Binary::div) return a / b;
  if (op == Binary::pow) return std::pow(a, b);
  return fold(op, a, b);
}

Scalar from(DType d, const Operand& o, bool nonnegative, int64_t multiple = 1) {
  return Scalar::from_register(d, o, nonnegative, multiple);
}

bool power_of_two(int64_t v) { return v > 0 && std::has_single_bit(static_cast<uint64_t>(v)); }

Operand record(Binary op, const Scalar& a, const Scalar& b) {
  Operand x = a.operand(), y = b.operand();
  const bool commutes = op == Binary::add || op == Binary::mul || op == Binary::min || op == Binary::max ||
                        op == Binary::and_ || op == Binary::or_ || op == Binary::xor_;
  if (commutes && (x.is(Operand::Kind::imm) || (y.is(Operand::Kind::reg) && y.id < x.id))) std::swap(x, y);
  if (x.is(Operand::Kind::imm)) x = a.is_constant() ? a.as_register() : b.as_register();
  return frontend::element_binary(Recorder::current(), op, a.dtype(), x, y);
}

Scalar add_affine(const Scalar& a, const Scalar& b, int64_t sign) {
  const DType d = a.dtype();
  const int64_t offset = wrap(d, a.offset() + sign * b.offset());
  const Scalar constant_part = Scalar::constant(d, offset);
  if (!b.has_register()) {
    Scalar s = a.without_offset();
    return s += constant_part;
  }
  if (!a.has_register() && sign > 0) {
    Scalar s = b.without_offset();
    return s += constant_part;
  }
  const Scalar ra = a.has_register() ? a.without_offset() : Scalar::constant(d, int64_t{0});
  const Scalar rb = b.without_offset();
  Scalar s = from(d, record(sign > 0 ? Binary::add : Binary::sub, ra, rb),
                  sign > 0 && ra.nonnegative() && rb.nonnegative(), std::gcd(ra.multiple(), rb.multiple()));
  return s += constant_part;
}

Scalar multiply_constant(const Scalar& a, int64_t k) {
  const DType d = a.dtype();
  if (k == 0) return Scalar::constant(d, int64_t{0});
  if (k == 1) return a;
  const Scalar base = a.without_offset();
  const bool nonnegative = base.nonnegative() && k > 0;
  const int64_t multiple = std::max<int64_t>(1, base.multiple()) * std::abs(k);
  Operand o;
  if (power_of_two(k)) {
    const int shift = std::countr_zero(static_cast<uint64_t>(k));
    o = frontend::element_binary(Recorder::current(), Binary::shl, d, base.operand(), Operand::imm(shift));
  } else {
    o = record(Binary::mul, base, Scalar::constant(d, k));
  }
  Scalar s = from(d, o, nonnegative, multiple);
  return s += Scalar::constant(
             d, wrap(d, static_cast<int64_t>(static_cast<uint64_t>(a.offset()) * static_cast<uint64_t>(k))));
}

// x / k and x % k of a nonnegative x (or an unsigned one) by a power of two.
Scalar divide_power_of_two(Binary op, const Scalar& a, int64_t k) {
  const int shift = std::countr_zero(static_cast<uint64_t>(k));
  Recorder& r = Recorder::current();
  if (op == Binary::rem) {
    return from(a.dtype(),
                frontend::element_binary(r, Binary::and_, a.dtype(), a.operand(), Operand::imm(k - 1)), true);
  }
  const int64_t multiple = a.multiple() % k == 0 ? std::max<int64_t>(1, a.multiple() / k) : 1;
  return from(a.dtype(),
              frontend::element_binary(r, Binary::shr, a.dtype(), a.operand(), Operand::imm(shift)), true,
              multiple);
}

Scalar binary_int(Binary op, const Scalar& a, const Scalar& b) {
  const DType d = a.dtype();
  if (affine(d) && op == Binary::add) return add_affine(a, b, 1);
  if (affine(d) && op == Binary::sub) return add_affine(a, b, -1);
  if (affine(d) && op == Binary::mul && b.is_constant()) return multiply_constant(a, b.as_int());
  if (affine(d) && op == Binary::mul && a.is_constant()) return multiply_constant(b, a.as_int());
  const bool divides = op == Binary::div || op == Binary::rem;
  if (divides && b.is_constant() && b.as_int() != 0) {
    const int64_t k = b.as_int();
    if (k == 1) return op == Binary::div ? a : Scalar::constant(d, int64_t{0});
    if (op == Binary::rem && a.multiple() % k == 0) return Scalar::constant(d, int64_t{0});
    if (power_of_two(k) && (a.nonnegative() || !is_signed(d))) return divide_power_of_two(op, a, k);
  }
  if ((op == Binary::shl || op == Binary::shr) && b.is_constant() && b.as_int() == 0) return a;
  const bool nonnegative = a.nonnegative() && (b.nonnegative() || op == Binary::and_) && op != Binary::sub;
  return from(d, record(op, a, b), nonnegative);
}

}  // namespace

Scalar& Scalar::operator+=(const ScalarArg& other) & {
  const VerbScope at(other.loc);
  check(other.loc);
  if (is_integer(dtype_) && other.value.is_constant() && !is_float(other.value.dtype())) {
    lifetime_.remake();
    offset_ = wrap(dtype_, offset_ + other.value.as_int());
    return *this;
  }
  return update(Binary::add, other);
}
Scalar& Scalar::operator-=(const ScalarArg& other) & { return update(Binary::sub, other); }
Scalar& Scalar::operator*=(const ScalarArg& other) & { return update(Binary::mul, other); }
Scalar& Scalar::operator/=(const ScalarArg& other) & { return update(Binary::div, other); }

Scalar& Scalar::update(Binary op, const ScalarArg& other) {
  const VerbScope at(other.loc);
  check(other.loc);
  return *this = binary(op, *this, other.value);
}

Scalar binary(Binary op, Scalar a, Scalar b) {
  unify(a, b);
  const DType d = a.dtype();
  if (a.is_constant() && b.is_constant()) {
    if (!is_float(d)) {
      Scalar s = Scalar::constant(d, wrap(d, fold_int(op, d, a.as_int(), b.as_int())));
      s.weak_ = a.weak() && b.weak();
      return s;
    }
    if (a.weak() && b.weak())
      if (const auto folded = fold_float(op, a.as_double(), b.as_double())) return Scalar(*folded);
  }
  if (d == DType::bool_ && op != Binary::and_ && op != Binary::or_ && op != Binary::xor_) {
    fail(Code::unsupported_dtype, fmt::format("{} of bools", frontend::name(op)),
         "use &&, || or .astype(pl::s32)");
  }
  if (d == DType::bool_) {
    const Scalar& known = a.is_constant() ? a : b;
    const Scalar& other = a.is_constant() ? b : a;
    if (known.is_constant() && op == Binary::and_) return known.as_int() != 0 ? other : known;
    if (known.is_constant() && op == Binary::or_) return known.as_int() != 0 ? known : other;
  }
  if ((op == Binary::shl || op == Binary::shr) && b.is_constant() &&
      (b.as_int() < 0 || b.as_int() >= bits(d)))
    fail(Code::bad_index,
         fmt::format("a shift of an {} by {} bits: 0 to {} are possible", name(d), b.as_int(), bits(d) - 1));
  if ((op == Binary::div || op == Binary::rem) && is_integer(d) && b.is_constant() && b.as_int() == 0)
    fail(Code::bad_index, "a division by the constant zero",
         "check the divisor on the host before the kernel is recorded");
  if (is_integer(d)) return binary_int(op, a, b);
  return from(d, record(op, a, b), false);
}

Scalar compare(Compare op, Scalar a, Scalar b) {
  unify(a, b);
  if (a.is_constant() && b.is_constant()) {
    const bool f = is_float(a.dtype());
    const auto order = f ? a.as_double() <=> b.as_double() : std::partial_ordering(a.as_int() <=> b.as_int());
    bool holds = false;
    switch (op) {
      case Compare::eq:
        holds = order == 0;
        break;
      case Compare::ne:
        holds = order != 0;
        break;
      case Compare::lt:
        holds = order < 0;
        break;
      case Compare::le:
        holds = order <= 0;
        break;
      case Compare::gt:
        holds = order > 0;
        break;
      case Compare::ge:
        holds = order >= 0;
        break;
    }
    return Scalar::constant(DType::bool_, int64_t{holds});
  }
  const Operand x = a.as_register();
  return Scalar::from_register(DType::bool_,
                               frontend::element_compare(Recorder::current(), op, a.dtype(), x, b.operand()));
}

Scalar unary(Unary op, ScalarArg a) {
  const VerbScope at(a.loc);
  const Scalar& s = a.value;
  if (op == Unary::not_ && s.is_constant() && s.dtype() == DType::bool_)
    return Scalar::constant(DType::bool_, int64_t{s.as_int() == 0});
  if (op == Unary::neg && s.is_constant()) {
    return is_float(s.dtype()) ? Scalar::constant(s.dtype(), -s.as_double())
                               : Scalar::constant(s.dtype(), -s.as_int());
  }
  return Scalar::from_register(s.dtype(),
                               frontend::element_unary(Recorder::current(), op, s.dtype(), s.as_register()));
}

#define PLD_SCALAR_BINARY(symbol, op)                \
  Scalar operator symbol(ScalarArg a, ScalarArg b) { \
    const VerbScope at(a.loc);                       \
    return binary(Binary::op, a.value, b.value);     \
  }
#define PLD_SCALAR_COMPARE(symbol, op)               \
  Scalar operator symbol(ScalarArg a, ScalarArg b) { \
    const VerbScope at(a.loc);                       \
    return compare(Compare::op, a.value, b.value);   \
  }
PLD_SCALAR_BINARY(+, add)
PLD_SCALAR_BINARY(-, sub)
PLD_SCALAR_BINARY(*, mul)
PLD_SCALAR_BINARY(/, div)
PLD_SCALAR_BINARY(%, rem)
PLD_SCALAR_BINARY(&, and_)
PLD_SCALAR_BINARY(|, or_)
PLD_SCALAR_BINARY(^, xor_)
PLD_SCALAR_BINARY(<<, shl)
PLD_SCALAR_BINARY(>>, shr)
PLD_SCALAR_COMPARE(==, eq)
PLD_SCALAR_COMPARE(!=, ne)
PLD_SCALAR_COMPARE(<, lt)
PLD_SCALAR_COMPARE(<=, le)
PLD_SCALAR_COMPARE(>, gt)
PLD_SCALAR_COMPARE(>=, ge)
#undef PLD_SCALAR_BINARY
#undef PLD_SCALAR_COMPARE

namespace {
Scalar logical(Binary op, const Scalar& a, const Scalar& b) {
  const Loc loc = frontend::last_verb();
  a.check(loc);
  b.check(loc);
  const VerbScope at(loc);
  return binary(op, a.astype(DType::bool_, loc), b.astype(DType::bool_, loc));
}
}  // namespace

Scalar operator&&(const Scalar& a, const Scalar& b) { return logical(Binary::and_, a, b); }
Scalar operator&&(const Scalar& a, bool b) { return a && Scalar(b); }
Scalar operator&&(bool a, const Scalar& b) { return Scalar(a) && b; }
Scalar operator||(const Scalar& a, const Scalar& b) { return logical(Binary::or_, a, b); }
Scalar operator||(const Scalar& a, bool b) { return a || Scalar(b); }
Scalar operator||(bool a, const Scalar& b) { return Scalar(a) || b; }
Scalar operator!(const Scalar& a) {
  const Loc loc = frontend::last_verb();
  return unary(Unary::not_, {a.astype(DType::bool_, loc), loc});
}
Scalar operator~(ScalarArg a) { return unary(Unary::not_, a); }
Scalar operator-(ScalarArg a) { return unary(Unary::neg, a); }

Scalar minimum(ScalarArg a, ScalarArg b) {
  const VerbScope at(a.loc);
  return binary(Binary::min, a.value, b.value);
}
Scalar maximum(ScalarArg a, ScalarArg b) {
  const VerbScope at(a.loc);
  return binary(Binary::max, a.value, b.value);
}

Scalar where(ScalarArg condition, ScalarArg a, ScalarArg b) {
  const VerbScope at(condition.loc);
  if (condition.value.is_constant()) return condition.value.as_int() != 0 ? a.value : b.value;
  Scalar x = a.value, y = b.value;
  unify(x, y);
  const Operand o = frontend::element_select(Recorder::current(), x.dtype(), condition.value.operand(),
                                             x.operand(), y.operand());
  return from(x.dtype(), o, x.nonnegative() && y.nonnegative(), std::gcd(x.multiple(), y.multiple()));
}

Scalar cdiv(ScalarArg a, ScalarArg b) {
  const VerbScope at(a.loc);
  const Scalar up = binary(Binary::sub, binary(Binary::add, a.value, b.value), Scalar(1));
  return binary(Binary::div, up, b.value);
}

}  // namespace palladion::pl
