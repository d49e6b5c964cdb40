#include "frontend/memory/atomics.h"

#include <fmt/format.h>

#include "frontend/core/verbs.h"
#include "frontend/refs/access.h"

namespace palladion::plgpu {

using frontend::Address;

namespace {

// The instruction's type for an operation; empty when there is none.
std::string_view type_of(std::string_view op, DType d) {
  const bool bitwise = op == "and" || op == "or" || op == "xor";
  if (bitwise) return !pl::is_integer(d) ? "" : pl::bits(d) == 32 ? "b32" : pl::bits(d) == 64 ? "b64" : "";
  if (pl::is_integer(d) && pl::bits(d) == 32) return d == DType::s32 ? "s32" : "u32";
  // An addition of two's complement numbers does not know their sign.
  if (pl::is_integer(d) && pl::bits(d) == 64) return d == DType::s64 && op != "add" ? "s64" : "u64";
  if (op != "add") return "";
  if (d == DType::f32 || d == DType::f64) return d == DType::f32 ? "f32" : "f64";
  if (d == DType::f16) return "noftz.f16";
  return d == DType::bf16 ? "noftz.bf16" : "";
}

void check_place(const Ref& ref, DType dtype, std::string_view op) {
  if (ref.space() == MemorySpace::regs)
    fail(Code::bad_space, fmt::format("atomic_{} of {}: it must be in SMEM or GMEM", op, to_string(ref)));
  if (type_of(op, dtype).empty())
    fail(Code::unsupported_dtype, fmt::format("atomic_{} is not defined for {}", op, pl::name(dtype)),
         "add takes floats and 32- or 64-bit integers, the other atomics integers alone");
}

void check(const Ref& ref, const Shape& shape, DType dtype, std::string_view op) {
  if (ref.shape() != shape || ref.dtype() != dtype) {
    fail(Code::shape_mismatch, fmt::format("atomic_{} of a {}{} into {}: shape and dtype must match", op,
                                           pl::name(dtype), pl::to_string(shape), to_string(ref)));
  }
  check_place(ref, dtype, op);
}

void check_indexed(const Ref& ref, const Array& indices, const Array& values) {
  if (ref.rank() != 1 || indices.shape() != values.shape() || indices.dtype() != DType::s32 ||
      ref.dtype() != values.dtype()) {
    fail(Code::shape_mismatch,
         fmt::format("atomic_add of an {} at an {} into {}: one dimension, s32 indices of the values' shape, "
                     "and one dtype are needed",
                     to_string(values), to_string(indices), to_string(ref)),
         "load the indices as s32 in the layout of the values");
  }
  check_place(ref, values.dtype(), "add");
}

std::string mnemonic(std::string_view op, std::string_view space, DType d) {
  return fmt::format("red.relaxed.{}.{}.{}.{}",
                     space == "global"        ? "gpu"
                     : space == "shared::cta" ? "cta"
                                              : "cluster",
                     space, op, type_of(op, d));
}

void atomic(const Ref& ref, const Array& value, std::string_view op, std::source_location loc) {
  const VerbScope at(loc);
  Recorder& r = Recorder::current();
  check(ref, value.shape(), value.dtype(), op);
  Array v = value;
  if (v.layout().is_splat()) v = layout_cast(v, default_layout(v.shape(), v.dtype(), loc), loc);
  const std::vector<Operand> elements = v.elements();
  std::string_view space;
  frontend::walk_elements(
      r, ref, v.layout(),
      [&](int64_t e, const auto& where, int64_t) {
        const Operand guard = frontend::one_of_the_copies(r, v.layout(), e);
        for (int64_t k = 0; k < v.layout().vector_length(); ++k) {
          r.emit(mnemonic(op, space, ref.dtype()), {where(k).operand(), elements[static_cast<size_t>(e + k)]},
                 guard);
        }
      },
      &space);
}

}  // namespace

void atomic_add(const Ref& ref, const Array& v, std::source_location loc) { atomic(ref, v, "add", loc); }
void atomic_max(const Ref& ref, const Array& v, std::source_location loc) { atomic(ref, v, "max", loc); }
void atomic_min(const Ref& ref, const Array& v, std::source_location loc) { atomic(ref, v, "min", loc); }
void atomic_and(const Ref& ref, const Array& v, std::source_location loc) { atomic(ref, v, "and", loc); }
void atomic_or(const Ref& ref, const Array& v, std::source_location loc) { atomic(ref, v, "or", loc); }
void atomic_xor(const Ref& ref, const Array& v, std::source_location loc) { atomic(ref, v, "xor", loc); }

void atomic_add(const Ref& ref, const Array& indices, const Array& values, std::source_location loc) {
  const VerbScope at(loc);
  Recorder& r = Recorder::current();
  check_indexed(ref, indices, values);
  std::vector<Array> both{indices, values};
  unify_layouts(both);
  if (both[0].layout().is_splat()) {
    for (Array& a : both) a = layout_cast(a, default_layout(a.shape(), a.dtype(), loc), loc);
  }
  const std::vector<Operand> where = both[0].elements(), what = both[1].elements();
  frontend::Access access(r, ref, {});
  const std::string instruction = mnemonic("add", access.space(), ref.dtype());
  for (size_t e = 0; e < where.size(); ++e) {
    const Address a = access.at_dynamic({Scalar::from_register(DType::s32, where[e], true)});
    r.emit(instruction, {a.operand(), what[e]},
           frontend::one_of_the_copies(r, both[0].layout(), static_cast<int64_t>(e)));
  }
}

namespace {

void atomic_element(const Ref& ref, const Scalar& value, std::string_view op, std::source_location loc) {
  const VerbScope at(loc);
  Recorder& r = Recorder::current();
  const Scalar v = value.weak() ? value.astype(ref.dtype()) : value;
  check(ref, Shape(ref.rank(), 1), v.dtype(), op);
  frontend::Access access(r, ref, {});
  r.emit(mnemonic(op, access.space(), ref.dtype()),
         {access.at(Shape(ref.rank(), 0)).operand(), v.as_register()}, r.elected());
}

}  // namespace

#define PLD_ATOMIC_ELEMENT(op)                                                      \
  void atomic_##op(const Ref& ref, const Scalar& value, std::source_location loc) { \
    atomic_element(ref, value, #op, loc);                                           \
  }
PLD_ATOMIC_ELEMENT(add)
PLD_ATOMIC_ELEMENT(max)
PLD_ATOMIC_ELEMENT(min)
PLD_ATOMIC_ELEMENT(and)
PLD_ATOMIC_ELEMENT(or)
PLD_ATOMIC_ELEMENT(xor)
#undef PLD_ATOMIC_ELEMENT

}  // namespace palladion::plgpu
