// Loads and stores of arrays: which instructions, which widths, which synchronisation.
#include <fmt/format.h>

#include <algorithm>
#include <numeric>

#include "frontend/arrays/accumulators.h"
#include "frontend/arrays/array.h"
#include "frontend/arrays/masked.h"
#include "frontend/arrays/matrix_access.h"
#include "frontend/arrays/mover.h"
#include "frontend/core/verbs.h"
#include "frontend/refs/access.h"

namespace palladion::plgpu {

using frontend::Access;
using frontend::Address;

namespace {

void check_layout(const Layout& layout, const Ref& ref, std::string_view verb) {
  const std::string misfit = layout.misfit(ref.shape());
  if (!misfit.empty())
    fail(Code::layout_shape, fmt::format("{} of {}: {}", verb, to_string(ref), misfit),
         "choose a layout for the array's shape, e.g. Layout::WG_STRIDED, or slice whole tiles");
}

void check_bounds(const Ref& ref, std::string_view verb) {
  for (const auto& d : ref.dims()) {
    if (d.base < 0) continue;
    const Scalar& s = ref.starts()[static_cast<size_t>(d.base)];
    if (s.is_constant() &&
        (s.as_int() < 0 || s.as_int() + d.size > ref.base().shape[static_cast<size_t>(d.base)])) {
      fail(Code::out_of_bounds,
           fmt::format("{} of {}: [{}, {}) is out of bounds of a dimension of {}", verb, to_string(ref),
                       s.as_int(), s.as_int() + d.size, ref.base().shape[static_cast<size_t>(d.base)]));
    }
  }
}

Array load_elements(Recorder& r, const Ref& ref, const Layout& layout) {
  if (const auto way = frontend::matrix_load_way(ref, layout))
    return frontend::load_matrices(r, ref, layout, *way);
  std::vector<Operand> registers;
  const int pack = Array::pack_of(ref.dtype(), layout);
  std::string_view space;
  frontend::walk_elements(
      r, ref, layout,
      [&](int64_t, const auto& at, int64_t width) {
        frontend::Mover{r, ref.dtype(), space}.load_vector(at, layout.vector_length(), width, pack,
                                                           registers);
      },
      &space);
  return Array(ref.dtype(), ref.shape(), layout, std::move(registers));
}

void store_elements(Recorder& r, const Ref& ref, const Array& value) {
  const Layout& layout = value.layout();
  if (const auto way = frontend::matrix_store_way(ref, layout))
    return frontend::store_matrices(r, ref, value, *way);
  const int64_t vector = layout.vector_length();
  const int pack = value.pack();
  std::string_view space;
  frontend::walk_elements(
      r, ref, layout,
      [&](int64_t e, const auto& at, int64_t width) {
        const auto first = value.registers().begin() + e / pack;
        const Operand guard = frontend::one_of_the_copies(r, layout, e);
        frontend::Mover{r, ref.dtype(), space}.store_vector(at, {first, first + vector / pack}, vector, width,
                                                            pack, guard);
      },
      &space);
}

// A number into every element, whatever their count.
void store_splat(Recorder& r, const Ref& ref, const Array& value) {
  const int64_t n = pl::volume(ref.shape());
  if (n % 128 == 0) {
    const Layout layout = default_layout(ref.shape(), ref.dtype());
    const std::vector<Operand> elements(static_cast<size_t>(layout.elements(ref.shape())),
                                        value.registers().front());
    return store_elements(r, ref, Array::from_elements(ref.dtype(), ref.shape(), layout, elements));
  }
  Access access(r, ref, {});
  const Scalar lane = frontend::lane_scalar(r);
  for (int64_t first = 0; first < n; first += 128) {
    Scalar flat = lane + first;
    const Operand guard = n - first >= 128 ? Operand{} : (flat < n).operand();
    std::vector<Scalar> index(ref.rank());
    for (size_t d = ref.rank(); d-- > 0;) {
      index[d] = d == 0 ? flat : flat % ref.shape(d);
      flat = flat / ref.shape(d);
    }
    frontend::Mover{r, ref.dtype(), access.space()}.store(access.at_dynamic(index),
                                                          {value.registers().front()}, 1, guard);
  }
}

}  // namespace

Layout default_layout(const Shape& shape, DType dtype, std::source_location loc) {
  const VerbScope at(loc);
  const int64_t n = pl::volume(shape);
  const int64_t widest = std::max(1, 128 / pl::bits(dtype));
  if (n % 128 != 0) {
    // Vectors, as long as they keep all lanes busy.
    int64_t vector = std::gcd(n, widest);
    while (vector > 1 && n / vector < 128) vector /= 2;
    return Layout::WG_PADDED(shape, static_cast<int>(vector));
  }
  return Layout::WG_STRIDED(shape, static_cast<int>(std::gcd(n / 128, widest)));
}

Array Ref::load(Layout layout, std::source_location loc) const {
  const VerbScope at(loc);
  frontend::check_loads_array();
  Recorder& r = Recorder::current();
  if (space() == MemorySpace::regs) {
    const Array a = load_accumulator(*this, 0, loc);
    return layout == a.layout() ? a : layout_cast(a, layout, loc);
  }
  check_bounds(*this, "a load");
  if (layout.is_splat()) {
    const Scalar first = index(std::vector<Indexer>(rank(), Scalar(0)), loc).load_scalar(loc);
    if (pl::volume(shape_) != 1)
      fail(Code::layout_mismatch,
           fmt::format("a load of {} with layout WG_SPLAT: its elements may differ", to_string(*this)));
    return Array::splat(first, shape_);
  }
  check_layout(layout, *this, "a load");
  return load_elements(r, *this, layout);
}

Array Ref::load(std::source_location loc) const {
  const VerbScope at(loc);
  frontend::check_loads_array();
  if (space() == MemorySpace::regs) return load_accumulator(*this, 0, loc);
  if (rank() == 0 || pl::volume(shape_) == 1) {
    const Scalar first = index(std::vector<Indexer>(rank(), Scalar(0)), loc).load_scalar(loc);
    return Array::splat(first, shape_);
  }
  return load(default_layout(shape_, dtype(), loc), loc);
}

Scalar Ref::load_scalar(std::source_location loc) const {
  const VerbScope at(loc);
  Recorder& r = Recorder::current();
  if (pl::volume(shape_) != 1 || space() == MemorySpace::regs) {
    fail(Code::bad_index,
         fmt::format("load_scalar of {}: index a single element of SMEM or GMEM first", to_string(*this)));
  }
  check_bounds(*this, "a load");
  Access access(r, *this, {});
  std::vector<Operand> out;
  frontend::Mover{r, dtype(), access.space()}.load(access.at(Shape(rank(), 0)), 1, 1, out);
  return Scalar::from_register(dtype(), out.front(), !pl::is_signed(dtype()));
}

void Ref::store(const Array& value, std::source_location loc) const {
  const VerbScope at(loc);
  value.check_assigned(loc);
  Recorder& r = Recorder::current();
  if (value.shape() != shape_ && !(value.layout().is_splat() && value.shape().empty())) {
    fail(Code::shape_mismatch,
         fmt::format("a store of an {} into {}: the shapes differ", to_string(value), to_string(*this)),
         "store into a slice of the array's shape, or change the array with .reshape or .broadcast_to");
  }
  if (value.dtype() != dtype()) {
    fail(Code::dtype_mismatch,
         fmt::format("a store of an {} into {}: the dtypes differ", to_string(value), to_string(*this)),
         fmt::format("convert it with .astype(pl::{})", pl::name(dtype())));
  }
  if (space() == MemorySpace::regs) return store_accumulator(*this, value, loc);
  check_bounds(*this, "a store");
  if (!value.layout().is_splat()) check_layout(value.layout(), *this, "a store");
  frontend::barrier_around_store(r, *this);
  if (value.layout().is_splat())
    store_splat(r, *this, value);
  else
    store_elements(r, *this, value);
  frontend::barrier_around_store(r, *this);
}

void Ref::store(const Scalar& value, std::source_location loc) const {
  const VerbScope at(loc);
  Recorder& r = Recorder::current();
  const Scalar v = value.weak() ? value.astype(dtype()) : value;
  if (v.dtype() != dtype()) {
    fail(Code::dtype_mismatch,
         fmt::format("a store of a {} number into {}", pl::name(v.dtype()), to_string(*this)));
  }
  if (pl::volume(shape_) != 1) return store(Array::splat(v, shape_), loc);
  check_bounds(*this, "a store");
  frontend::barrier_around_store(r, *this);
  Access access(r, *this, {});
  frontend::Mover{r, dtype(), access.space()}.store(access.at(Shape(rank(), 0)), {v.as_register()}, 1,
                                                    r.elected());
  frontend::barrier_around_store(r, *this);
}

Array load(const Ref& ref, const LoadOptions& options, std::source_location loc) {
  const VerbScope at(loc);
  if (!frontend::always(options.mask)) return frontend::load_masked(ref, options);
  if (!options.layout) return ref.load(loc);
  const Layout& layout = *options.layout;
  const bool by_matrices = frontend::matrix_load_way(ref, layout).has_value();
  if (options.optimized && ref.space() == MemorySpace::smem && layout.is_tiled() &&
      layout.misfit(ref.shape()).empty() && !by_matrices) {
    const int64_t conflicts = frontend::bank_conflicts(ref, layout);
    if (conflicts > 1) {
      fail(Code::bank_conflicts,
           fmt::format("a load of {} with layout {}: {} lanes of a warp want the same bank", to_string(ref),
                       to_string(layout), conflicts),
           "tile and swizzle the array, choose another layout, or accept it with .optimized = false");
    }
  }
  return ref.load(layout, loc);
}
Array load(const Ref& ref, std::source_location loc) { return ref.load(loc); }

}  // namespace palladion::plgpu
