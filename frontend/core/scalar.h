#pragma once
// pl::Scalar: a number that all lanes of a warpgroup share (loop indices, program ids, predicates,
// single elements). Known numbers stay on the host; the rest is folded and shared while recording.
#include <concepts>
#include <cstdint>
#include <source_location>
#include <string>
#include <type_traits>

#include "frontend/core/elementwise.h"
#include "frontend/core/lifetime.h"
#include "frontend/core/types.h"

namespace palladion::pl {

struct ScalarArg;

class Scalar {  // one number of a kernel: an immediate while recording, or in a register of each lane
 public:
  Scalar() : Scalar(0) {}
  template <std::integral T>
  Scalar(T value)  // NOLINT: host numbers are scalars
      : dtype_(std::same_as<T, bool> ? DType::bool_
               : std::unsigned_integral<T> && static_cast<int64_t>(value) < 0
                   ? DType::u64
                   : default_dtype(static_cast<int64_t>(value))),
        offset_(static_cast<int64_t>(value)),
        weak_(true) {}
  template <std::floating_point T>
  Scalar(T value) : dtype_(DType::f32), number_(value), weak_(true) {}  // NOLINT

  Scalar(const Scalar&) = default;
  Scalar(Scalar&&) = default;
  ~Scalar() = default;
  // An Error where *this was declared outside of the body of control flow that is being recorded.
  Scalar& operator=(const Scalar&) & = default;
  Scalar& operator=(Scalar&&) & = default;  // NOLINT: it may throw
  template <class T>
  void operator=(const T&) const&& {
    static_assert(frontend::never<T>,
                  "an assignment to a temporary pl::Scalar stores nothing: use ref.store(value)");
  }
  template <class B>
    requires std::is_arithmetic_v<B>
  explicit operator B() const {
    static_assert(
        frontend::never<B>,
        "a pl::Scalar is known when the kernel runs, not while it is recorded: if (x) is pl::when(x, body), "
        "while (x) is pl::while_loop, x ? a : b is pl::where(x, a, b), std::min is pl::minimum; "
        "a number of the host stays an int64_t or a bool");
    return {};
  }

  // A number that is known while recording; Error where the type does not hold it.
  static Scalar constant(DType dtype, int64_t value);
  static Scalar constant(DType dtype, double value);  // The same of floating point, rounded to the type.
  // A value in a register. `nonnegative`: never below zero; `multiple`: always a multiple of it.
  static Scalar from_register(DType dtype, const isa::Operand& reg, bool nonnegative = false,
                              int64_t multiple = 1);

  // Its type.
  DType dtype() const { return dtype_; }
  // Known while recording: costs no register.
  bool is_constant() const { return register_ == isa::no_id; }
  // The value; an Error where it is not known on the host.
  int64_t as_int(std::source_location loc = std::source_location::current()) const {
    lifetime_.check(is_constant(), loc);
    return is_constant() ? offset_ : not_known(loc);
  }
  double as_double(std::source_location loc = std::source_location::current()) const {  // as a double
    return is_float(dtype_) && is_constant() ? number_ : static_cast<double>(as_int(loc));
  }
  bool nonnegative() const { return is_constant() ? offset_ >= 0 : nonnegative_ && offset_ >= 0; }  // known
  // The largest number that is known to divide it (0 divides into everything).
  int64_t multiple() const;
  // A host number without a dtype of its own: it takes that of its partner.
  bool weak() const { return weak_; }

  // As an instruction operand: an immediate or a register.
  isa::Operand operand() const;
  // As a register even when constant.
  isa::Operand as_register() const;

  // Converted, rounded to nearest even; integers truncated toward zero.
  Scalar astype(DType dtype, std::source_location loc = std::source_location::current()) const;

  // Register and constant part of an integer: value = register + offset.
  bool has_register() const { return register_ != isa::no_id; }
  Scalar without_offset() const;
  int64_t offset() const { return offset_; }

  Scalar& operator+=(const ScalarArg& other) &;
  Scalar& operator-=(const ScalarArg& other) &;
  Scalar& operator*=(const ScalarArg& other) &;
  Scalar& operator/=(const ScalarArg& other) &;

  // For verbs: an Error where the body that made the value has ended.
  void check(const std::source_location& loc) const { lifetime_.check(is_constant(), loc); }

 private:
  friend Scalar binary(frontend::Binary op, Scalar a, Scalar b);
  friend Scalar multiple_of(const Scalar& value, int64_t n, std::source_location loc);
  static DType default_dtype(int64_t v) { return v == static_cast<int32_t>(v) ? DType::s32 : DType::s64; }

  frontend::Lifetime<frontend::Handle::scalar>
      lifetime_;  // first: it refuses an assignment before anything changes
  DType dtype_;
  uint32_t register_ = isa::no_id;
  int64_t offset_ = 0;
  double number_ = 0;
  int64_t multiple_ = 1;
  bool nonnegative_ = false;
  bool weak_ = false;

  Scalar& update(frontend::Binary op, const ScalarArg& other);
  [[noreturn]] static int64_t not_known(const std::source_location& loc);
};
using Index = Scalar;  // what fori_loop and grids count with: s32

// A scalar argument of an operator, with the place where the operator stands.
struct ScalarArg {
  Scalar value;              // the number
  std::source_location loc;  // the author's line
  ScalarArg(const Scalar& v, std::source_location l = std::source_location::current())
      : value(v), loc(l) {  // NOLINT
    v.check(l);
  }
  template <class T>
    requires std::integral<T> || std::floating_point<T>
  ScalarArg(T v, std::source_location l = std::source_location::current()) : value(v), loc(l) {}  // NOLINT
};

Scalar operator+(ScalarArg a, ScalarArg b);
Scalar operator-(ScalarArg a, ScalarArg b);
Scalar operator*(ScalarArg a, ScalarArg b);
// As in C: integers are divided towards zero.
Scalar operator/(ScalarArg a, ScalarArg b);
Scalar operator%(ScalarArg a, ScalarArg b);
Scalar operator&(ScalarArg a, ScalarArg b);
Scalar operator|(ScalarArg a, ScalarArg b);
Scalar operator^(ScalarArg a, ScalarArg b);
Scalar operator<<(ScalarArg a, ScalarArg b);
Scalar operator>>(ScalarArg a, ScalarArg b);
// Exact matches, which the built-in operators on bool would hide otherwise; recorded at the last verb's line.
Scalar operator&&(const Scalar& a, const Scalar& b);
Scalar operator&&(const Scalar& a, bool b);
Scalar operator&&(bool a, const Scalar& b);
Scalar operator||(const Scalar& a, const Scalar& b);
Scalar operator||(const Scalar& a, bool b);
Scalar operator||(bool a, const Scalar& b);
Scalar operator!(const Scalar& a);
Scalar operator~(ScalarArg a);
Scalar operator-(ScalarArg a);
Scalar operator==(ScalarArg a, ScalarArg b);
Scalar operator!=(ScalarArg a, ScalarArg b);
Scalar operator<(ScalarArg a, ScalarArg b);
Scalar operator<=(ScalarArg a, ScalarArg b);
Scalar operator>(ScalarArg a, ScalarArg b);
Scalar operator>=(ScalarArg a, ScalarArg b);

Scalar minimum(ScalarArg a, ScalarArg b);  // the smaller one
Scalar maximum(ScalarArg a, ScalarArg b);  // the larger one
// A where the condition holds, else b; both are computed.
Scalar where(ScalarArg condition, ScalarArg a, ScalarArg b);
Scalar unary(frontend::Unary op, ScalarArg a);  // one operation of one operand, folded where it is known
Scalar binary(frontend::Binary op, Scalar a, Scalar b);    // of two operands of one type
Scalar compare(frontend::Compare op, Scalar a, Scalar b);  // the result is bool_

// A promise that `value` is a multiple of n: dynamic slices of tiled references rely on it.
Scalar multiple_of(const Scalar& value, int64_t n,
                   std::source_location loc = std::source_location::current());

// Dynamic versions of the host's cdiv for nonnegative a.
Scalar cdiv(ScalarArg a, ScalarArg b);

// start, size and stride of a slice, `pl::ds(start, size, stride)`: elements start + i stride.
struct Slice {
  Scalar start;        // first index
  int64_t size = 0;    // how many, known while recording
  int64_t stride = 1;  // from one to the next; positive
};
// `size` indices from `start`, every `stride`-th.
inline Slice ds(const Scalar& start, int64_t size, int64_t stride = 1) { return {start, size, stride}; }
// Ds by its older name.
inline Slice dslice(const Scalar& start, int64_t size, int64_t stride = 1) { return {start, size, stride}; }
struct All {};               // the type of pl::all
inline constexpr All all{};  // a whole dimension, as `:` in Python

// The position along a named axis of the grid, the cluster or the threads, and its size.
Scalar axis_index(const std::string& name, std::source_location loc = std::source_location::current());
int64_t axis_size(const std::string& name, std::source_location loc = std::source_location::current());
// Of the grid, by number.
Scalar program_id(int axis, std::source_location loc = std::source_location::current());
int64_t num_programs(int axis, std::source_location loc = std::source_location::current());

}  // namespace palladion::pl
