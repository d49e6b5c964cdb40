#include "frontend/control/control.h"

#include <fmt/format.h>

#include <algorithm>
#include <numeric>

namespace palladion::frontend {

using pl::Scalar;

namespace {

Operand negated(const Operand& p) {
  Operand n = p;
  n.negated = !n.negated;
  return n;
}

void user_code(Recorder& r, std::string_view verb, const std::function<void()>& body) {
  const Region region(r, verb);
  const UserCode user;
  body();
}

Scalar as_bool(const Scalar& s) { return s.astype(pl::DType::bool_); }

}  // namespace

void record_when(const Scalar& condition, const std::function<void()>& body, std::string_view verb) {
  record_if(condition, body, nullptr, verb);
}

void record_if(const Scalar& condition, const std::function<void()>& yes, const std::function<void()>& no,
               std::string_view verb) {
  Recorder& r = Recorder::current();
  const Scalar c = as_bool(condition);
  if (c.is_constant()) {
    const auto& chosen = c.as_int() != 0 ? yes : no;
    if (chosen) user_code(r, verb, chosen);
    return;
  }
  const int64_t mark = r.smem.mark();
  const Operand otherwise = r.label("else"), end = r.label("end");
  r.emit("bra", {no ? otherwise : end}, negated(c.operand()));
  user_code(r, verb, yes);
  if (no) {
    r.emit("bra", {end});
    r.place(otherwise);
    user_code(r, verb, no);
  }
  r.place(end);
  r.smem.release(mark);
}

bool loop_runs_at_least_once(const Scalar& lower, const Scalar& upper) {
  return lower.is_constant() && upper.is_constant() && lower.as_int() < upper.as_int();
}

namespace {

// What one body computed from a carry is not known to the next, whose carry has another value.
void unrolled(const Scalar& i, int64_t step, int64_t unroll, const std::function<void(const Scalar&)>& body,
              std::string_view verb) {
  const Loc loc = last_verb();
  for (int64_t u = 0; u < unroll; ++u) {
    const Region region(Recorder::current(), verb);
    body([&] {
      const VerbScope at(loc);
      return i + u * step;
    }());
  }
}

}  // namespace

void record_loop(const Scalar& lower, const Scalar& upper, int64_t step, int64_t unroll,
                 const std::function<void(const Scalar&)>& body, std::string_view verb) {
  Recorder& r = Recorder::current();
  for (const Scalar& bound : {lower, upper})
    if (!pl::is_integer(bound.dtype()))
      fail(Code::bad_carry,
           fmt::format("a bound of a loop is of dtype {}: it must be an integer", pl::name(bound.dtype())),
           "convert it with .astype(pl::s32)");
  if (step < 1)
    fail(Code::bad_carry, fmt::format("a loop with step {}: it must be at least 1", step),
         "count upwards, and compute the falling index in the body: last - i");
  const bool known = lower.is_constant() && upper.is_constant();
  const int64_t trips = known ? std::max<int64_t>(0, pl::cdiv(upper.as_int() - lower.as_int(), step)) : -1;
  if (unroll < 1 || (known && trips % unroll != 0) || (!known && unroll != 1)) {
    fail(Code::bad_carry,
         fmt::format("a loop cannot be unrolled {} times: the number of steps is {}", unroll,
                     known ? std::to_string(trips) : "dynamic"),
         "unroll must divide the number of steps, which must be known while recording");
  }
  if (trips == 0) return;
  if (trips == unroll) {
    user_code(r, verb, [&] { unrolled(lower, step, unroll, body, verb); });
    return;
  }
  const pl::DType dtype = pl::bits(upper.dtype()) > pl::bits(lower.dtype()) ? upper.dtype() : lower.dtype();
  const Scalar first = lower.astype(dtype), last = upper.astype(dtype);
  const Operand limit = last.operand();
  const Operand i = element_copy(r, dtype, first.operand());
  const Operand head = r.label("loop"), end = r.label("loop_end");
  const std::string compare = fmt::format("setp.lt.{}", pl::name(dtype));
  if (!known) {
    const Operand enters = r.reg(Type::pred);
    r.emit(compare, {enters, i, limit});
    r.emit("bra", {end}, negated(enters));
  }
  r.place(head);
  const Scalar index = Scalar::from_register(
      dtype, i, lower.nonnegative(), lower.is_constant() ? std::gcd(lower.as_int(), step * unroll) : 1);
  user_code(r, verb, [&] { unrolled(index, step, unroll, body, verb); });
  const Operand again = r.reg(Type::pred);
  r.emit(fmt::format("add.{}", pl::name(dtype)), {i, i, Operand::imm(step * unroll)});
  r.emit(compare, {again, i, limit});
  r.emit("bra", {head}, again);
  r.place(end);
}

void record_while(const std::function<Scalar()>& condition, const std::function<void()>& body) {
  Recorder& r = Recorder::current();
  const Operand head = r.label("while"), end = r.label("while_end");
  r.place(head);
  const Region region(r, "pl::while_loop");
  const Scalar c = as_bool([&] {
    const UserCode user;
    return condition();
  }());
  if (c.is_constant() && c.as_int() == 0) {
    r.place(end);
    return;
  }
  if (c.is_constant())
    fail(Code::endless, "pl::while_loop: its condition is true while recording, so that it never ends",
         "compute it from the carry: [&](pl::Scalar x) { return x < n; }");
  r.emit("bra", {end}, negated(c.as_register()));
  user_code(r, "pl::while_loop", body);
  r.emit("bra", {head});
  r.place(end);
}

}  // namespace palladion::frontend
