#include "frontend/core/elementwise.h"

#include <fmt/format.h>

#include <bit>
#include <cmath>
#include <cstring>
#include <utility>

namespace palladion::frontend {
namespace {

using pl::DType;

constexpr std::string_view unary_names[] = {
    "neg",  "abs",      "sign",  "not",   "clz",  "popc",  "exp",      "exp2",  "log",
    "log2", "log1p",    "expm1", "sin",   "cos",  "tanh",  "sqrt",     "rsqrt", "reciprocal",
    "erf",  "logistic", "round", "floor", "ceil", "trunc", "is_finite"};
constexpr std::string_view binary_names[] = {"add", "sub", "mul", "div", "rem", "min", "max",
                                             "and", "or",  "xor", "shl", "shr", "pow"};

[[noreturn]] void no_such(std::string_view op, DType d) {
  fail(Code::unsupported_dtype, fmt::format("{} is not defined for {}", op, pl::name(d)));
}

Operand through_f32(Recorder& r, Binary op, DType d, const Operand& a, const Operand& b) {
  const Operand x = element_convert(r, d, DType::f32, in_register(r, d, a));
  const Operand y = element_convert(r, d, DType::f32, in_register(r, d, b));
  return element_convert(r, DType::f32, d, element_binary(r, op, DType::f32, x, y));
}

Operand float_power(Recorder& r, const Operand& a, const Operand& b) {
  const Operand log = math_f32(r, Unary::log2, a);
  return math_f32(r, Unary::exp2, r.pure("mul.rn.f32", {log, b}, Type::f32));
}

Operand float_remainder(Recorder& r, DType d, const Operand& a, const Operand& b) {
  const std::string s(arithmetic_suffix(d));
  const Type t = register_type(d);
  const Operand q = r.pure("div.rn." + s, {a, b}, t);
  const Operand whole = r.pure(fmt::format("cvt.rzi.{0}.{0}", s), {q}, t);
  const Operand minus = r.pure("neg." + s, {whole}, t);
  return r.pure("fma.rn." + s, {minus, b, a}, t);
}

Operand float_binary(Recorder& r, Binary op, DType d, const Operand& a, const Operand& b) {
  if (op == Binary::rem) return float_remainder(r, d, a, b);
  if (op == Binary::pow) return float_power(r, a, b);
  std::string_view verb = float_verb(op);
  if (verb.empty()) no_such(name(op), d);
  if (d == DType::f64 && verb.ends_with(".NaN")) verb.remove_suffix(4);  // no such form for f64
  return r.pure(fmt::format("{}.{}", verb, arithmetic_suffix(d)), {a, b}, register_type(d));
}

Operand shift_amount(Recorder& r, DType d, const Operand& b) {
  if (b.is(Operand::Kind::imm) || pl::bits(d) == 32) return b;
  return r.pure(pl::bits(d) == 64 ? "cvt.u32.u64" : "cvt.u32.u16", {b}, Type::b32);
}

struct IntVerb {
  Binary op;
  std::string_view verb;
  bool of_bits = false;  // its type is "b32", not "s32"
  bool widens = false;   // the result of an 8-bit type may have more bits
};
constexpr IntVerb int_verbs[] = {{Binary::add, "add", false, true},
                                 {Binary::sub, "sub", false, true},
                                 {Binary::mul, "mul.lo", false, true},
                                 {Binary::div, "div", false, true},
                                 {Binary::rem, "rem"},
                                 {Binary::min, "min"},
                                 {Binary::max, "max"},
                                 {Binary::and_, "and", true},
                                 {Binary::or_, "or", true},
                                 {Binary::xor_, "xor", true},
                                 {Binary::shl, "shl", true, true},
                                 {Binary::shr, "shr"}};

Operand int_binary(Recorder& r, Binary op, DType d, const Operand& a, const Operand& b) {
  const bool shifts = op == Binary::shl || op == Binary::shr;
  for (const IntVerb& row : int_verbs) {
    if (row.op != op) continue;
    const std::string word =
        fmt::format("{}.{}", row.verb, row.of_bits ? bits_suffix(d) : arithmetic_suffix(d));
    const Operand result = r.pure(word, {a, shifts ? shift_amount(r, d, b) : b}, register_type(d));
    return row.widens ? narrow(r, d, result) : result;
  }
  no_such(name(op), d);
}

Operand bool_binary(Recorder& r, Binary op, const Operand& a, const Operand& b) {
  switch (op) {
    case Binary::min:
    case Binary::mul:
    case Binary::and_:
      return r.pure("and.pred", {a, b}, Type::pred);
    case Binary::max:
    case Binary::or_:
      return r.pure("or.pred", {a, b}, Type::pred);
    case Binary::xor_:
      return r.pure("xor.pred", {a, b}, Type::pred);
    default:
      no_such(name(op), DType::bool_);
  }
}

Operand float_unary(Recorder& r, Unary op, DType d, const Operand& a) {
  const std::string s(arithmetic_suffix(d));
  const Type t = register_type(d);
  switch (op) {
    case Unary::neg:
      return r.pure("neg." + s, {a}, t);
    case Unary::abs:
      return r.pure("abs." + s, {a}, t);
    case Unary::sign: {
      const Operand zero = in_register(r, d, constant(d, 0.0));
      const Operand up = element_compare(r, Compare::gt, d, a, zero),
                    down = element_compare(r, Compare::lt, d, a, zero);
      const Operand minus = element_select(r, d, down, constant(d, -1.0), a);
      return element_select(r, d, up, constant(d, 1.0), minus);
    }
    default:
      break;
  }
  if (d == DType::f64) {
    if (op == Unary::sqrt) return r.pure("sqrt.rn.f64", {a}, t);
    if (op == Unary::reciprocal) return r.pure("rcp.rn.f64", {a}, t);
    if (op == Unary::floor) return r.pure("cvt.rmi.f64.f64", {a}, t);
    if (op == Unary::ceil) return r.pure("cvt.rpi.f64.f64", {a}, t);
    if (op == Unary::round) return r.pure("cvt.rni.f64.f64", {a}, t);
    if (op == Unary::trunc) return r.pure("cvt.rzi.f64.f64", {a}, t);
    unsupported(fmt::format("{} of f64", name(op)), "convert to f32 with .astype(pl::f32)");
  }
  if (d == DType::f32) return math_f32(r, op, a);
  return element_convert(r, DType::f32, d, math_f32(r, op, element_convert(r, d, DType::f32, a)));
}

Operand int_unary(Recorder& r, Unary op, DType d, const Operand& a) {
  const std::string s(arithmetic_suffix(d)), bit(bits_suffix(d));
  const Type t = register_type(d);
  const int width = std::max(16, pl::bits(d));
  switch (op) {
    case Unary::neg:
      return int_binary(r, Binary::sub, d, Operand::imm(0), a);
    case Unary::abs:
      if (!pl::is_signed(d)) return a;
      return narrow(r, d, r.pure("abs." + s, {a}, t));
    case Unary::not_:
      return narrow(r, d, r.pure("not." + bit, {a}, t));
    case Unary::sign: {
      const Operand low = int_binary(r, Binary::min, d, a, Operand::imm(1));
      return pl::is_signed(d) ? int_binary(r, Binary::max, d, low, Operand::imm(-1)) : low;
    }
    case Unary::clz:
    case Unary::popc: {
      // Counts are taken in 32 or 64 bits, then corrected for what the extension added.
      const DType unsigned_type = width == 64 ? DType::u64 : DType::u32;
      Operand wide = a;
      if (width < 32)
        wide =
            r.pure("cvt.u32.u16",
                   {pl::bits(d) == 8 ? r.pure("and.b16", {a, Operand::imm(255)}, Type::b16) : a}, Type::b32);
      Operand n = r.pure(fmt::format("{}.b{}", name(op), pl::bits(unsigned_type)), {wide}, Type::b32);
      if (op == Unary::clz && width < 32)
        n = r.pure("sub.s32", {n, Operand::imm(32 - pl::bits(d))}, Type::b32);
      return element_convert(r, DType::u32, d, n);
    }
    default:
      no_such(name(op), d);
  }
}

}  // namespace

Operand in_register(Recorder& r, DType d, const Operand& a) {
  if (!a.is(Operand::Kind::imm) || (!is_half(d) && !is_fp8(d))) return a;
  return r.pure("mov.b16", {a}, Type::b16);
}

Operand narrow(Recorder& r, DType d, const Operand& a) {
  if (d == DType::s8) return r.pure("cvt.s16.s8", {a}, Type::b16);
  if (d == DType::u8) return r.pure("and.b16", {a, Operand::imm(255)}, Type::b16);
  return a;
}

std::string_view name(Unary op) { return unary_names[static_cast<size_t>(op)]; }
std::string_view name(Binary op) { return binary_names[static_cast<size_t>(op)]; }

void check_register_type(DType d) {
  if (pl::is_register_type(d)) return;
  unsupported(fmt::format("{} in registers", pl::name(d)),
              pl::bits(d) == 8 ? "compute its bits in u8, and store them through .bitcast(pl::u8)"
                               : "such arrays are copied, and multiplied by tcgen05_mma, in memory");
}

Type register_type(DType d) {
  check_register_type(d);
  if (d == DType::bool_) return Type::pred;
  if (d == DType::f32) return Type::f32;
  if (d == DType::f64) return Type::f64;
  const int b = pl::bits(d);
  return b == 64 ? Type::b64 : b == 32 ? Type::b32 : Type::b16;
}

std::string_view arithmetic_suffix(DType d) {
  if (d == DType::s8) return "s16";
  if (d == DType::u8) return "u16";
  return pl::name(d);
}

std::string_view bits_suffix(DType d) {
  if (d == DType::bool_) return "pred";
  const int b = pl::bits(d);
  return b == 64 ? "b64" : b == 32 ? "b32" : "b16";
}

std::string_view float_verb(Binary op) {
  constexpr std::pair<Binary, std::string_view> verbs[] = {
      {Binary::add, "add.rn"}, {Binary::sub, "sub.rn"},  {Binary::mul, "mul.rn"},
      {Binary::div, "div.rn"}, {Binary::min, "min.NaN"}, {Binary::max, "max.NaN"}};
  for (const auto& [of, verb] : verbs)
    if (of == op) return verb;
  return {};
}

Operand element_unary(Recorder& r, Unary op, DType d, const Operand& a) {
  const Operand x = in_register(r, d, a);
  if (d == DType::bool_) {
    if (op == Unary::not_) return r.pure("not.pred", {x}, Type::pred);
    no_such(name(op), d);
  }
  if (is_fp8(d)) {
    return element_convert(r, DType::f32, d,
                           float_unary(r, op, DType::f32, element_convert(r, d, DType::f32, x)));
  }
  return pl::is_float(d) ? float_unary(r, op, d, x) : int_unary(r, op, d, x);
}

Operand element_binary(Recorder& r, Binary op, DType d, const Operand& a, const Operand& b) {
  if (d == DType::bool_) return bool_binary(r, op, a, b);
  if (!pl::is_float(d)) return int_binary(r, op, d, a, b);
  const bool half_native = op != Binary::div && op != Binary::rem && op != Binary::pow;
  if (is_fp8(d) || (is_half(d) && !half_native)) return through_f32(r, op, d, a, b);
  return float_binary(r, op, d, in_register(r, d, a), in_register(r, d, b));
}

Operand element_fma(Recorder& r, DType d, const Operand& a, const Operand& b, const Operand& c) {
  if (!pl::is_float(d) || is_fp8(d)) {
    return element_binary(r, Binary::add, d, element_binary(r, Binary::mul, d, a, b), c);
  }
  return r.pure(fmt::format("fma.rn.{}", arithmetic_suffix(d)),
                {in_register(r, d, a), in_register(r, d, b), in_register(r, d, c)}, register_type(d));
}

Operand element_compare(Recorder& r, Compare op, DType d, const Operand& a, const Operand& b) {
  static constexpr std::string_view words[] = {"eq", "ne", "lt", "le", "gt", "ge"};
  if (d == DType::bool_) {
    const Operand differ = r.pure("xor.pred", {a, b}, Type::pred);
    if (op == Compare::ne) return differ;
    if (op == Compare::eq) return r.pure("not.pred", {differ}, Type::pred);
    no_such("an ordering", d);
  }
  if (is_fp8(d)) {
    return element_compare(r, op, DType::f32, element_convert(r, d, DType::f32, a),
                           element_convert(r, d, DType::f32, b));
  }
  const std::string_view word = pl::is_float(d) && op == Compare::ne ? "neu" : words[static_cast<size_t>(op)];
  return r.pure(fmt::format("setp.{}.{}", word, arithmetic_suffix(d)),
                {in_register(r, d, a), in_register(r, d, b)}, Type::pred);
}

Operand element_select(Recorder& r, DType d, const Operand& p, const Operand& a, const Operand& b) {
  if (d == DType::bool_) {
    const Operand yes = r.pure("and.pred", {p, a}, Type::pred);
    const Operand no = r.pure("and.pred", {r.pure("not.pred", {p}, Type::pred), b}, Type::pred);
    return r.pure("or.pred", {yes, no}, Type::pred);
  }
  const std::string_view type = d == DType::f32 ? "f32" : d == DType::f64 ? "f64" : bits_suffix(d);
  return r.pure(fmt::format("selp.{}", type), {a, b, p}, register_type(d));
}

Operand element_copy(Recorder& r, DType d, const Operand& a) {
  const Operand c = r.reg(register_type(d));
  element_assign(r, d, c, a);
  return c;
}

void element_assign(Recorder& r, DType d, const Operand& target, const Operand& a) {
  const std::string_view type = d == DType::f32 ? "f32" : d == DType::f64 ? "f64" : bits_suffix(d);
  r.emit(fmt::format("mov.{}", type), {target, a});
}

Operand pack2(Recorder& r, const Operand& low, const Operand& high) {
  const auto reg = [&](const Operand& o) {
    return o.is(Operand::Kind::imm) ? r.pure("mov.b16", {o}, Type::b16) : o;
  };
  return r.pure("mov.b32", {Operand::vector({reg(low), reg(high)})}, Type::b32);
}

std::pair<Operand, Operand> unpack2(Recorder& r, const Operand& packed) {
  return r.pure_pair("mov.b32", packed, Type::b16);
}

}  // namespace palladion::frontend
