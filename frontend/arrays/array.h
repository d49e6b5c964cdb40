#pragma once
// plgpu::Array: an immutable array spread over the registers of a warpgroup.
#include <concepts>
#include <functional>
#include <memory>
#include <optional>
#include <source_location>
#include <string>
#include <variant>
#include <vector>

#include "frontend/core/elementwise.h"
#include "frontend/core/errors.h"
#include "frontend/core/layout.h"
#include "frontend/core/scalar.h"
#include "frontend/refs/ref.h"

namespace palladion::frontend {
[[noreturn]] void fail_unassigned();  // an Error: the array was never assigned, or was moved away
}

namespace palladion::pl {

struct NewAxis {};                   // the type of pl::newaxis
inline constexpr NewAxis newaxis{};  // a new dimension of size 1, as `None` in Python

}  // namespace palladion::pl

namespace palladion::plgpu {

struct ArrayArg;

// Of a dimension of an array: a part of it, all of it, or a new dimension.
using ArrayIndex = std::variant<pl::Slice, pl::All, pl::NewAxis>;

class Array {  // values in a warpgroup's registers: shape, element type, layout; operators make new ones
 public:
  Array() = default;
  Array(const Array&) = default;
  Array(Array&&) = default;
  ~Array() = default;
  // An Error where *this was declared outside of the body of control flow that is being recorded.
  Array& operator=(const Array&) & = default;
  Array& operator=(Array&&) & = default;  // NOLINT: it may throw
  template <class T>
  void operator=(const T&) const&& {
    static_assert(
        frontend::never<T>,
        "an assignment to a temporary plgpu::Array stores nothing: arrays are values; ref.store(value) "
        "writes memory, plgpu::where(condition, a, b) selects elements");
  }
  template <std::same_as<bool> B>
  explicit operator B() const {
    static_assert(
        frontend::never<B>,
        "a plgpu::Array is known when the kernel runs, not while it is recorded: elements are selected with "
        "plgpu::where(condition, a, b), minima with plgpu::minimum; pl::when takes one pl::Scalar");
    return {};
  }
  // Registers as described at `registers()`.
  Array(DType dtype, Shape shape, Layout layout, std::vector<isa::Operand> registers);
  static Array from_elements(DType dtype, Shape shape, Layout layout,
                             const std::vector<isa::Operand>& elements);
  static Array splat(const Scalar& value, Shape shape);

  // Its element type.
  DType dtype() const { return dtype_; }
  // Sizes of its dimensions; () is one element.
  const Shape& shape() const { return shape_; }
  // An Error for a dimension that the array does not have.
  int64_t shape(size_t i, std::source_location loc = std::source_location::current()) const {
    return pl::dimension(shape_, i, loc);
  }
  size_t rank() const { return shape_.size(); }     // number of dimensions
  const Layout& layout() const { return layout_; }  // where its elements lie

  // What one lane holds. Neighbours of a vector share a register: two 16-bit elements or four 8-bit
  // ones in 32 bits (two in 16), when the layout's vectors are that long; others have one each.
  // An Error where the body that made the array has ended.
  const std::vector<isa::Operand>& registers() const {
    lifetime_.check();
    if (registers_.empty()) frontend::fail_unassigned();
    return registers_;
  }
  int pack() const { return pack_of(dtype_, layout_); }  // elements of a register: 1, 2 or 4
  // An Error for an array that was never assigned (default-constructed, moved away), or whose body has ended.
  void check_assigned(const std::source_location& loc) const;
  // One operand an element, in the order of Layout::index's `e`.
  std::vector<isa::Operand> elements() const;
  static int pack_of(DType dtype, const Layout& layout);
  static isa::Type packed_type(DType dtype, int pack);

  // Every element converted: rounded to nearest even, integers truncated toward zero (PTX cvt).
  Array astype(DType dtype, std::source_location loc = std::source_location::current()) const;
  // The same bits as another type of the same width.
  Array bitcast(DType dtype, std::source_location loc = std::source_location::current()) const;
  // The same elements in row-major order; Error where the layout cannot keep them in place.
  Array reshape(Shape shape, std::source_location loc = std::source_location::current()) const;
  // Along an axis, which goes; warps exchange through SMEM where it spans them.
  Array sum(int axis, std::source_location loc = std::source_location::current()) const;
  // Largest along an axis; NaN if one is.
  Array max(int axis, std::source_location loc = std::source_location::current()) const;
  // Smallest along an axis; NaN if one is.
  Array min(int axis, std::source_location loc = std::source_location::current()) const;
  // Product along an axis.
  Array prod(int axis, std::source_location loc = std::source_location::current()) const;
  // Over all dimensions.
  Scalar sum_all(std::source_location loc = std::source_location::current()) const;
  Scalar max_all(std::source_location loc = std::source_location::current()) const;
  Scalar min_all(std::source_location loc = std::source_location::current()) const;
  Scalar prod_all(std::source_location loc = std::source_location::current()) const;
  // The same values for an array of this shape of which this is a trailing part or has sizes of 1.
  Array broadcast_to(Shape shape, std::source_location loc = std::source_location::current()) const;
  Array& operator+=(const ArrayArg& other) &;
  Array& operator-=(const ArrayArg& other) &;
  Array& operator*=(const ArrayArg& other) &;
  Array& operator/=(const ArrayArg& other) &;
  // A splat as a number.
  Scalar scalar(std::source_location loc = std::source_location::current()) const;

  // NumPy's basic indexing: a slice (start known while recording, stride 1) or pl::all for each dimension,
  // and pl::newaxis for a new one of size 1: x.max(1)[{pl::all, pl::newaxis}] is x.max(1)[:, None]. Missing
  // trailing ones are pl::all. Costs nothing. Errors: PLD2101 more indices than dimensions, PLD2102 bounds,
  // PLD2003 a slice in a layout that is not tiled.
  Array operator[](const std::vector<ArrayIndex>& indices) const;
  // Elementwise; numbers take the array's dtype, and shapes broadcast (broadcast_together). Friends, so that
  // scalars do not find them.
  friend Array operator+(ArrayArg a, ArrayArg b);
  friend Array operator-(ArrayArg a, ArrayArg b);
  friend Array operator*(ArrayArg a, ArrayArg b);
  friend Array operator/(ArrayArg a, ArrayArg b);
  friend Array operator%(ArrayArg a, ArrayArg b);
  friend Array operator&(ArrayArg a, ArrayArg b);
  friend Array operator|(ArrayArg a, ArrayArg b);
  friend Array operator^(ArrayArg a, ArrayArg b);
  friend Array operator<<(ArrayArg a, ArrayArg b);
  friend Array operator>>(ArrayArg a, ArrayArg b);
  // Exact matches, which the built-in operators on bool would hide otherwise; recorded at the last verb's
  // line.
  friend Array operator&&(const Array& a, const Array& b);
  friend Array operator&&(const Array& a, const Scalar& b);
  friend Array operator&&(const Scalar& a, const Array& b);
  friend Array operator&&(const Array& a, bool b);
  friend Array operator&&(bool a, const Array& b);
  friend Array operator||(const Array& a, const Array& b);
  friend Array operator||(const Array& a, const Scalar& b);
  friend Array operator||(const Scalar& a, const Array& b);
  friend Array operator||(const Array& a, bool b);
  friend Array operator||(bool a, const Array& b);
  friend Array operator==(ArrayArg a, ArrayArg b);
  friend Array operator!=(ArrayArg a, ArrayArg b);
  friend Array operator<(ArrayArg a, ArrayArg b);
  friend Array operator<=(ArrayArg a, ArrayArg b);
  friend Array operator>(ArrayArg a, ArrayArg b);
  friend Array operator>=(ArrayArg a, ArrayArg b);
  friend Array operator-(ArrayArg a);
  friend Array operator!(const Array& a);
  friend Array operator~(ArrayArg a);

 private:
  frontend::Lifetime<frontend::Handle::array> lifetime_;
  DType dtype_ = DType::f32;
  Shape shape_;
  Layout layout_;
  std::vector<isa::Operand> registers_;
};

// An operand of an operator, with the place where it stands.
struct ArrayArg {
  Array array;               // the array, unless is_scalar
  bool is_scalar = false;    // a number, which takes the shape of the other operands
  Scalar value;              // the number
  std::source_location loc;  // the author's line
  ArrayArg(const Array& a, std::source_location l = std::source_location::current())  // NOLINT
      : array(a), loc(l) {
    a.check_assigned(l);
  }
  ArrayArg(const Scalar& s, std::source_location l = std::source_location::current())  // NOLINT
      : is_scalar(true), value(s), loc(l) {}
  template <class T>
    requires std::integral<T> || std::floating_point<T>
  ArrayArg(T v, std::source_location l = std::source_location::current())
      : is_scalar(true), value(v), loc(l) {}  // NOLINT
};

// A where the condition (bool) holds, b elsewhere; one shape after broadcasting.
Array where(ArrayArg condition, ArrayArg a, ArrayArg b);
Array minimum(ArrayArg a, ArrayArg b);  // NaN if an operand is, as jnp.minimum
Array maximum(ArrayArg a, ArrayArg b);  // NaN if an operand is, as jnp.maximum
Array pow(ArrayArg a, ArrayArg b);      // a to the power b, floating point
Array rem(ArrayArg a, ArrayArg b);      // remainder with the sign of a, as lax.rem
// a * b + c with one rounding.
Array fma(ArrayArg a, ArrayArg b, ArrayArg c);

Array exp(ArrayArg a);                        // e to the power a
Array exp2(ArrayArg a);                       // 2 to the power a
Array log(ArrayArg a);                        // natural logarithm
Array log2(ArrayArg a);                       // logarithm to base 2
Array log1p(ArrayArg a);                      // log(1 + a), also for small a
Array expm1(ArrayArg a);                      // exp(a) - 1, also for small a
Array sin(ArrayArg a);                        // sine of radians
Array cos(ArrayArg a);                        // cosine of radians
Array tanh(ArrayArg a);                       // hyperbolic tangent
Array sqrt(ArrayArg a);                       // square root; NaN of negative numbers
Array rsqrt(ArrayArg a);                      // 1 / sqrt(a)
Array erf(ArrayArg a);                        // the error function
Array logistic(ArrayArg a);                   // 1 / (1 + exp(-a))
Array reciprocal(ArrayArg a);                 // 1 / a
Array abs(ArrayArg a);                        // magnitude
Array sign(ArrayArg a);                       // -1, 0 or 1
Array round(ArrayArg a);                      // to nearest even
Array floor(ArrayArg a);                      // toward minus infinity
Array ceil(ArrayArg a);                       // toward plus infinity
Array trunc(ArrayArg a);                      // toward zero
Array clz(ArrayArg a);                        // leading zero bits of integers
Array population_count(ArrayArg a);           // one bits of integers
Array integer_pow(ArrayArg a, int exponent);  // by repeated products; a negative exponent: of the reciprocal

// --- shapes and layouts
Array layout_cast(const Array& x, const Layout& layout,
                  std::source_location loc = std::source_location::current());
// Dimension i of the operand becomes dimension `dimensions[i]` of the result.
Array broadcast_in_dim(const Array& x, Shape shape, const std::vector<int>& dimensions, const Layout& layout,
                       std::source_location loc = std::source_location::current());
Array broadcast_in_dim(const Array& x, Shape shape, const std::vector<int>& dimensions,
                       std::source_location loc = std::source_location::current());
Array broadcasted_iota(DType dtype, Shape shape, int dimension, const Layout& layout,
                       std::source_location loc = std::source_location::current());
Array broadcasted_iota(DType dtype, Shape shape, int dimension,
                       std::source_location loc = std::source_location::current());
Array full(Shape shape, const Scalar& value, DType dtype,
           std::source_location loc = std::source_location::current());
Array zeros(Shape shape, DType dtype, std::source_location loc = std::source_location::current());
Array squeeze(const Array& x, const std::vector<int>& dimensions,
              std::source_location loc = std::source_location::current());
Array concatenate(const std::vector<Array>& arrays, int axis,
                  std::source_location loc = std::source_location::current());
Array slice(const Array& x, const Shape& start, const Shape& limit,
            std::source_location loc = std::source_location::current());
// The index of every element along `dimension`, as s32 operands of one lane.
std::vector<isa::Operand> element_indices(const Shape& shape, const Layout& layout, int dimension);

// The widest WG_STRIDED layout that fits; WG_PADDED when 128 lanes do not divide the number of elements.
Layout default_layout(const Shape& shape, DType dtype,
                      std::source_location loc = std::source_location::current());
// The options of plgpu::load.
struct LoadOptions {
  // The layout that the array gets; none: that of the mask, else default_layout.
  std::optional<Layout> layout = {};
  bool optimized = true;  // an error when the loads would have bank conflicts; not with a mask
  // Bool, of the window's shape after broadcasting: elements where it is false are not read, and the window
  // may leave the array there. They become `other`.
  ArrayArg mask = true;
  ArrayArg other = 0;
};
// The options of plgpu::store.
struct StoreOptions {
  ArrayArg mask =
      true;  // bool, of the window's shape after broadcasting: only elements where it holds are written
};
// A window of GMEM, SMEM, TMEM or an accumulator, as an array; Error where the layout does not fit its shape.
Array load(const Ref& ref, const LoadOptions& options,
           std::source_location loc = std::source_location::current());
// The same in the layout of default_layout; of an accumulator in its own.
Array load(const Ref& ref, std::source_location loc = std::source_location::current());
// A store with a mask, into GMEM or SMEM. `value` is an array of the window's dtype, or a number; it
// broadcasts. Each lane decides for its own elements. Errors: PLD2001 shapes, PLD2002 dtypes, PLD2003
// layouts, PLD2107 an accumulator or tensor memory, PLD2008 elements that share a byte.
void store(const Ref& ref, const ArrayArg& value, const StoreOptions& options,
           std::source_location loc = std::source_location::current());
// Gathers and scatters: element ref[i0, i1, ...] for every place of the index arrays, one s32 or u32 array
// for each dimension of a reference in GMEM or SMEM, within bounds where the mask holds. The arrays
// broadcast; the result has their shape and layout. An index that stands twice in a store is a race. (TMA's
// own gathers, of rows, begin with sm_100.) Errors: PLD2001 shapes, PLD2101 indices that are no integers of
// 32 bits, PLD2107 an accumulator.
Array load(const Ref& ref, const std::vector<Array>& indices,
           std::source_location loc = std::source_location::current());
Array load(const Ref& ref, const std::vector<Array>& indices, const ArrayArg& mask, const ArrayArg& other = 0,
           std::source_location loc = std::source_location::current());
void store(const Ref& ref, const std::vector<Array>& indices, const Array& values,
           std::source_location loc = std::source_location::current());
void store(const Ref& ref, const std::vector<Array>& indices, const Array& values, const ArrayArg& mask,
           std::source_location loc = std::source_location::current());
// Bool, of the window's shape: whether each element lies within the array that the window was cut from. The
// mask of a tile that may stand over the array's end: load(w, {.mask = in_bounds(w), .other = 0}).
Array in_bounds(const Ref& window, std::source_location loc = std::source_location::current());
Array in_bounds(const Ref& window, const Layout& layout,
                std::source_location loc = std::source_location::current());

// Elementwise, for other files: f gets one element of each array (all of one layout after splats are spread).
Array map(DType result, const std::vector<Array>& arrays,
          const std::function<isa::Operand(const std::vector<isa::Operand>&)>& f);
// All in one layout and shape; an error names both when they differ.
void unify_layouts(std::vector<Array>& arrays);
// All in one layout and of the shape to which they broadcast by NumPy's rule: dimensions are compared from
// the last one on, and two agree where they are equal or one is 1. An array that is stretched costs nothing
// where each lane already holds what it needs; else its elements go through the scratch of reductions in
// SMEM, where CompilerParams::reduction_scratch_bytes has room for them. Errors: PLD2001 shapes, PLD2003
// layouts of arrays of the whole shape, PLD2007 no room.
void broadcast_together(std::vector<Array>& arrays);

std::string to_string(const Array& a);  // shape, type and layout, for messages

}  // namespace palladion::plgpu
