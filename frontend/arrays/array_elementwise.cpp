// Operations on arrays, element by element.
#include <fmt/format.h>

#include "frontend/arrays/array.h"
#include "frontend/core/verbs.h"

namespace palladion::plgpu {

using frontend::Binary;
using frontend::Compare;
using frontend::last_verb;
using frontend::Unary;

Array map(DType result, const std::vector<Array>& arrays,
          const std::function<Operand(const std::vector<Operand>&)>& f) {
  std::vector<std::vector<Operand>> elements;
  for (const Array& a : arrays) elements.push_back(a.elements());
  std::vector<Operand> out;
  std::vector<Operand> args(arrays.size());
  for (size_t e = 0; e < elements.front().size(); ++e) {
    for (size_t i = 0; i < arrays.size(); ++i) args[i] = elements[i][e];
    out.push_back(f(args));
  }
  return Array::from_elements(result, arrays.front().shape(), arrays.front().layout(), out);
}

namespace {

// Numbers without a dtype take the array's; others must match.
Array to_array(const ArrayArg& x, const ArrayArg& partner) {
  if (!x.is_scalar) return x.array;
  if (partner.is_scalar) return Array::splat(x.value, {});
  Scalar v = x.value;
  const DType d = partner.array.dtype();
  const bool fits = v.weak() && (pl::is_float(d) || !pl::is_float(v.dtype()));
  if (v.dtype() != d && fits) v = v.astype(d);
  return Array::splat(v, partner.array.shape());
}

void check_dtypes(const Array& a, const Array& b, std::string_view what) {
  if (a.dtype() == b.dtype()) return;
  fail(Code::dtype_mismatch,
       fmt::format("{} of arrays of different dtypes: {} and {}", what, pl::name(a.dtype()),
                   pl::name(b.dtype())),
       "convert one with .astype(dtype)");
}

// Two halves at once.
bool packs_halves(const Array& a) {
  return a.pack() == 2 && (a.dtype() == DType::f16 || a.dtype() == DType::bf16);
}

// What is wrong whatever the elements are.
void check_constant(Binary op, const Array& a, const ArrayArg& y) {
  if (!y.is_scalar || !y.value.is_constant() || !pl::is_integer(a.dtype())) return;
  const int64_t n = y.value.as_int();
  if ((op == Binary::div || op == Binary::rem) && n == 0)
    fail(Code::bad_index, fmt::format("{} of an {} by the constant zero", frontend::name(op), to_string(a)),
         "check the divisor on the host before the kernel is recorded");
  if ((op == Binary::shl || op == Binary::shr) && (n < 0 || n >= pl::bits(a.dtype())))
    fail(Code::bad_index, fmt::format("a shift of an {} by {} bits: 0 to {} are possible", to_string(a), n,
                                      pl::bits(a.dtype()) - 1));
}

Array binary(Binary op, const ArrayArg& x, const ArrayArg& y) {
  const VerbScope at(x.loc);
  std::vector<Array> arrays{to_array(x, y), to_array(y, x)};
  check_dtypes(arrays[0], arrays[1], frontend::name(op));
  check_constant(op, arrays[0], y);
  broadcast_together(arrays);
  Recorder& r = Recorder::current();
  const DType d = arrays[0].dtype();
  const std::string_view verb = frontend::float_verb(op);
  if (packs_halves(arrays[0]) && op != Binary::div && !verb.empty()) {
    std::vector<Operand> out;
    const std::string mnemonic = fmt::format("{}.{}x2", verb, pl::name(d));
    for (size_t i = 0; i < arrays[0].registers().size(); ++i) {
      out.push_back(r.pure(mnemonic, {arrays[0].registers()[i], arrays[1].registers()[i]}, Type::b32));
    }
    return Array(d, arrays[0].shape(), arrays[0].layout(), std::move(out));
  }
  return map(d, arrays, [&](const auto& e) { return frontend::element_binary(r, op, d, e[0], e[1]); });
}

Array compare(Compare op, const ArrayArg& x, const ArrayArg& y) {
  const VerbScope at(x.loc);
  std::vector<Array> arrays{to_array(x, y), to_array(y, x)};
  check_dtypes(arrays[0], arrays[1], "a comparison");
  broadcast_together(arrays);
  Recorder& r = Recorder::current();
  return map(DType::bool_, arrays,
             [&](const auto& e) { return frontend::element_compare(r, op, arrays[0].dtype(), e[0], e[1]); });
}

Array unary(Unary op, const ArrayArg& x) {
  const VerbScope at(x.loc);
  const Array a = x.is_scalar ? Array::splat(x.value, {}) : x.array;
  Recorder& r = Recorder::current();
  if (packs_halves(a) && (op == Unary::neg || op == Unary::abs)) {
    std::vector<Operand> out;
    for (const Operand& reg : a.registers()) {
      out.push_back(
          r.pure(fmt::format("{}.{}x2", frontend::name(op), pl::name(a.dtype())), {reg}, Type::b32));
    }
    return Array(a.dtype(), a.shape(), a.layout(), std::move(out));
  }
  return map(a.dtype(), {a}, [&](const auto& e) { return frontend::element_unary(r, op, a.dtype(), e[0]); });
}

}  // namespace

#define PLD_ARRAY_BINARY(symbol, op) \
  Array operator symbol(ArrayArg a, ArrayArg b) { return binary(Binary::op, a, b); }
#define PLD_ARRAY_COMPARE(symbol, op) \
  Array operator symbol(ArrayArg a, ArrayArg b) { return compare(Compare::op, a, b); }
#define PLD_ARRAY_UNARY(function, op) \
  Array function(ArrayArg a) { return unary(Unary::op, a); }
PLD_ARRAY_BINARY(+, add)
PLD_ARRAY_BINARY(-, sub)
PLD_ARRAY_BINARY(*, mul)
PLD_ARRAY_BINARY(/, div)
PLD_ARRAY_BINARY(%, rem)
PLD_ARRAY_BINARY(&, and_)
PLD_ARRAY_BINARY(|, or_)
PLD_ARRAY_BINARY(^, xor_)
PLD_ARRAY_BINARY(<<, shl)
PLD_ARRAY_BINARY(>>, shr)
PLD_ARRAY_COMPARE(==, eq)
PLD_ARRAY_COMPARE(!=, ne)
PLD_ARRAY_COMPARE(<, lt)
PLD_ARRAY_COMPARE(<=, le)
PLD_ARRAY_COMPARE(>, gt)
PLD_ARRAY_COMPARE(>=, ge)
PLD_ARRAY_UNARY(operator-, neg)
PLD_ARRAY_UNARY(operator~, not_)
PLD_ARRAY_UNARY(exp, exp)
PLD_ARRAY_UNARY(exp2, exp2)
PLD_ARRAY_UNARY(log, log)
PLD_ARRAY_UNARY(log2, log2)
PLD_ARRAY_UNARY(log1p, log1p)
PLD_ARRAY_UNARY(expm1, expm1)
PLD_ARRAY_UNARY(sin, sin)
PLD_ARRAY_UNARY(cos, cos)
PLD_ARRAY_UNARY(tanh, tanh)
PLD_ARRAY_UNARY(sqrt, sqrt)
PLD_ARRAY_UNARY(rsqrt, rsqrt)
PLD_ARRAY_UNARY(erf, erf)
PLD_ARRAY_UNARY(logistic, logistic)
PLD_ARRAY_UNARY(reciprocal, reciprocal)
PLD_ARRAY_UNARY(abs, abs)
PLD_ARRAY_UNARY(sign, sign)
PLD_ARRAY_UNARY(round, round)
PLD_ARRAY_UNARY(floor, floor)
PLD_ARRAY_UNARY(ceil, ceil)
PLD_ARRAY_UNARY(trunc, trunc)
PLD_ARRAY_UNARY(clz, clz)
PLD_ARRAY_UNARY(population_count, popc)

#define PLD_ARRAY_LOGICAL(symbol, op, A, B) \
  Array operator symbol(A a, B b) { return binary(Binary::op, {a, last_verb()}, {b, last_verb()}); }
PLD_ARRAY_LOGICAL(&&, and_, const Array&, const Array&)
PLD_ARRAY_LOGICAL(&&, and_, const Array&, const Scalar&)
PLD_ARRAY_LOGICAL(&&, and_, const Scalar&, const Array&)
PLD_ARRAY_LOGICAL(&&, and_, const Array&, bool)
PLD_ARRAY_LOGICAL(&&, and_, bool, const Array&)
PLD_ARRAY_LOGICAL(||, or_, const Array&, const Array&)
PLD_ARRAY_LOGICAL(||, or_, const Array&, const Scalar&)
PLD_ARRAY_LOGICAL(||, or_, const Scalar&, const Array&)
PLD_ARRAY_LOGICAL(||, or_, const Array&, bool)
PLD_ARRAY_LOGICAL(||, or_, bool, const Array&)
#undef PLD_ARRAY_LOGICAL
Array operator!(const Array& a) { return unary(Unary::not_, {a, last_verb()}); }
#undef PLD_ARRAY_BINARY
#undef PLD_ARRAY_COMPARE
#undef PLD_ARRAY_UNARY

Array& Array::operator+=(const ArrayArg& other) & {
  return *this = binary(Binary::add, {*this, other.loc}, other);
}
Array& Array::operator-=(const ArrayArg& other) & {
  return *this = binary(Binary::sub, {*this, other.loc}, other);
}
Array& Array::operator*=(const ArrayArg& other) & {
  return *this = binary(Binary::mul, {*this, other.loc}, other);
}
Array& Array::operator/=(const ArrayArg& other) & {
  return *this = binary(Binary::div, {*this, other.loc}, other);
}

Array minimum(ArrayArg a, ArrayArg b) { return binary(Binary::min, a, b); }
Array maximum(ArrayArg a, ArrayArg b) { return binary(Binary::max, a, b); }
Array pow(ArrayArg a, ArrayArg b) { return binary(Binary::pow, a, b); }
Array rem(ArrayArg a, ArrayArg b) { return binary(Binary::rem, a, b); }

Array fma(ArrayArg a, ArrayArg b, ArrayArg c) {
  const VerbScope at(a.loc);
  const ArrayArg& leader = !a.is_scalar ? a : !b.is_scalar ? b : c;
  std::vector<Array> arrays{to_array(a, leader), to_array(b, leader), to_array(c, leader)};
  check_dtypes(arrays[0], arrays[1], "fma");
  check_dtypes(arrays[0], arrays[2], "fma");
  broadcast_together(arrays);
  Recorder& r = Recorder::current();
  const DType d = arrays[0].dtype();
  return map(d, arrays, [&](const auto& e) { return frontend::element_fma(r, d, e[0], e[1], e[2]); });
}

Array where(ArrayArg condition, ArrayArg a, ArrayArg b) {
  const VerbScope at(condition.loc);
  const ArrayArg& leader = !a.is_scalar ? a : b;
  Array c = condition.is_scalar ? Array::splat(condition.value, {}) : condition.array;
  if (c.dtype() != DType::bool_)
    fail(Code::dtype_mismatch, fmt::format("the condition of where is {}, it must be bool", to_string(c)));
  std::vector<Array> arrays{c, to_array(a, leader), to_array(b, leader)};
  if (a.is_scalar && b.is_scalar) {
    const Scalar pair = a.value.weak() ? b.value : a.value;
    for (size_t i : {1, 2})
      arrays[i] = Array::splat((i == 1 ? a.value : b.value).astype(pair.dtype()), c.shape());
  }
  check_dtypes(arrays[1], arrays[2], "where");
  broadcast_together(arrays);
  Recorder& r = Recorder::current();
  const DType d = arrays[1].dtype();
  return map(d, arrays, [&](const auto& e) { return frontend::element_select(r, d, e[0], e[1], e[2]); });
}

Array integer_pow(ArrayArg a, int exponent) {
  const VerbScope at(a.loc);
  Array base = a.is_scalar ? Array::splat(a.value, {}) : a.array;
  if (exponent < 0) return reciprocal(integer_pow(base, -exponent));
  Array result = full(base.shape(), Scalar(1), base.dtype());
  for (int e = exponent; e > 0; e >>= 1) {
    if ((e & 1) != 0) result = result * base;
    if (e > 1) base = base * base;
  }
  return result;
}

}  // namespace palladion::plgpu
