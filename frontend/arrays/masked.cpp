#include "frontend/arrays/masked.h"

#include <fmt/format.h>

#include <algorithm>

#include "frontend/arrays/broadcast.h"
#include "frontend/arrays/lanes.h"
#include "frontend/arrays/mover.h"
#include "frontend/core/verbs.h"
#include "frontend/refs/access.h"

namespace palladion::frontend {

using pl::Scalar;
using plgpu::Array;
using plgpu::ArrayArg;
using plgpu::Layout;
using plgpu::MemorySpace;
using plgpu::Ref;

bool always(const ArrayArg& mask) {
  return mask.is_scalar && mask.value.dtype() == pl::DType::bool_ && mask.value.is_constant() &&
         mask.value.as_int() != 0;
}

Array mask_array(const ArrayArg& mask, std::string_view what) {
  const Array m = mask.is_scalar ? Array::splat(mask.value, {}) : mask.array;
  if (m.dtype() != pl::DType::bool_)
    fail(Code::dtype_mismatch,
         fmt::format("{}: the mask is an {}, it must be bool", what, plgpu::to_string(m)),
         "compare: index < length");
  return m;
}

Array value_array(const ArrayArg& value, pl::DType dtype, std::string_view what) {
  Scalar number = value.value;
  const bool takes = number.weak() && (pl::is_float(dtype) || !pl::is_float(number.dtype()));
  if (value.is_scalar && takes) number = number.astype(dtype);
  const Array v = value.is_scalar ? Array::splat(number, {}) : value.array;
  if (v.dtype() != dtype)
    fail(Code::dtype_mismatch,
         fmt::format("{}: an {} where {} is needed", what, plgpu::to_string(v), pl::name(dtype)),
         fmt::format("convert it with .astype(pl::{})", pl::name(dtype)));
  return v;
}

Operand both(Recorder& r, const Operand& a, const Operand& b) {
  if (!a.is(Operand::Kind::reg)) return b;
  if (!b.is(Operand::Kind::reg)) return a;
  return r.pure("and.pred", {a, b}, Type::pred);
}

namespace {

void check_place(const Ref& ref, std::string_view what) {
  if (ref.space() != MemorySpace::smem && ref.space() != MemorySpace::gmem)
    fail(Code::bad_space, fmt::format("{} with a mask: only SMEM and GMEM have masks", what),
         "load the whole window and choose elements with plgpu::where");
}

// The layout of the first of these that has all elements; none else.
std::optional<Layout> layout_of(const std::vector<const Array*>& arrays, const pl::Shape& shape) {
  for (const Array* a : arrays)
    if (!a->layout().is_splat() && a->shape() == shape) return a->layout();
  return std::nullopt;
}

void check_fits(const Layout& layout, const Ref& ref, std::string_view what) {
  if (const std::string misfit = layout.misfit(ref.shape()); !misfit.empty())
    fail(Code::layout_shape, fmt::format("{}: {}", what, misfit),
         "choose a layout for the array's shape, e.g. Layout::WG_STRIDED");
}

// A number, from one address.
Array load_one(Recorder& r, const Ref& ref, const Array& mask, const Array& other) {
  Access access(r, ref, {});
  const Operand value = Mover{r, ref.dtype(), access.space()}.load_where(
      access.at(pl::Shape(ref.rank(), 0)), mask.registers().front(), other.registers().front());
  return Array(ref.dtype(), ref.shape(), Layout::WG_SPLAT(ref.shape()), {value});
}

}  // namespace

Array load_masked(const Ref& ref, const plgpu::LoadOptions& options) {
  Recorder& r = Recorder::current();
  check_loads_array();
  const std::string what = fmt::format("a load of {}", plgpu::to_string(ref));
  check_place(ref, what);
  Array mask = mask_array(options.mask, what), other = value_array(options.other, ref.dtype(), what);
  const bool numbers = mask.layout().is_splat() && other.layout().is_splat();
  if (pl::volume(ref.shape()) == 1 && numbers && !options.layout) return load_one(r, ref, mask, other);
  const std::optional<Layout> held = layout_of({&mask, &other}, ref.shape());
  const Layout layout = options.layout ? *options.layout
                        : held         ? *held
                                       : plgpu::default_layout(ref.shape(), ref.dtype(), r.loc());
  check_fits(layout, ref, what);
  mask = plgpu::broadcast_to_layout(mask, ref.shape(), layout);
  other = plgpu::broadcast_to_layout(other, ref.shape(), layout);
  const std::vector<Operand> holds = mask.elements(), instead = other.elements();
  std::vector<Operand> out;
  std::string_view space;
  walk_elements(
      r, ref, layout,
      [&](int64_t e, const auto& at, int64_t) {
        for (int64_t v = 0; v < layout.vector_length(); ++v) {
          const auto i = static_cast<size_t>(e + v);
          out.push_back(Mover{r, ref.dtype(), space}.load_where(at(v), holds[i], instead[i]));
        }
      },
      &space);
  return Array::from_elements(ref.dtype(), ref.shape(), layout, out);
}

}  // namespace palladion::frontend

namespace palladion::plgpu {

void store(const Ref& ref, const ArrayArg& value, const StoreOptions& options, std::source_location loc) {
  const VerbScope at(loc);
  Recorder& r = Recorder::current();
  r.needs_warpgroup("a store with a mask", "store single elements in pl::when");
  const std::string what = fmt::format("a store into {}", to_string(ref));
  frontend::check_place(ref, what);
  Array v = frontend::value_array(value, ref.dtype(), what), mask = frontend::mask_array(options.mask, what);
  const auto held = frontend::layout_of({&v, &mask}, ref.shape());
  const Layout layout = held ? *held : default_layout(ref.shape(), ref.dtype(), loc);
  frontend::check_fits(layout, ref, what);
  v = broadcast_to_layout(v, ref.shape(), layout);
  mask = broadcast_to_layout(mask, ref.shape(), layout);
  const std::vector<Operand> elements = v.elements(), holds = mask.elements();
  frontend::barrier_around_store(r, ref);
  std::string_view space;
  frontend::walk_elements(
      r, ref, layout,
      [&](int64_t e, const auto& where, int64_t) {
        const Operand own = frontend::one_of_the_copies(r, layout, e);
        for (int64_t k = 0; k < layout.vector_length(); ++k) {
          const auto i = static_cast<size_t>(e + k);
          frontend::Mover{r, ref.dtype(), space}.store(where(k), {elements[i]}, 1,
                                                       frontend::both(r, holds[i], own));
        }
      },
      &space);
  frontend::barrier_around_store(r, ref);
}

Array in_bounds(const Ref& window, const Layout& layout, std::source_location loc) {
  const VerbScope at(loc);
  Recorder& r = Recorder::current();
  frontend::check_loads_array();
  const Allocation& array = window.base();
  if (array.open_stride)
    fail(Code::bad_index,
         fmt::format("in_bounds of {}: it steps over the array from a start that is known at run time",
                     to_string(window)),
         "compare the indices: first + plgpu::broadcasted_iota(...) * stride < length");
  frontend::check_fits(layout, window, "in_bounds");
  Array inside = Array::splat(Scalar(true), window.shape());
  for (size_t b = 0; b < array.shape.size(); ++b) {
    const Scalar& start = window.starts()[b];
    const auto shown = std::ranges::find(window.dims(), static_cast<int>(b), &Ref::Dim::base);
    const int64_t size = shown == window.dims().end() ? 1 : shown->size;
    const bool above = start.nonnegative();
    if (above && start.is_constant() && start.as_int() + size <= array.shape[b]) continue;
    Array index = Array::splat(start, window.shape());
    if (shown != window.dims().end()) {
      const auto dim = static_cast<size_t>(shown - window.dims().begin());
      std::vector<Operand> places;
      DType dtype = DType::s32;
      for (const Scalar& i : frontend::index_scalars(r, window.shape(), layout, dim)) {
        const Scalar place = start + i;
        dtype = place.dtype();
        places.push_back(place.as_register());
      }
      index = Array::from_elements(dtype, window.shape(), layout, places);
    }
    inside = inside && index < array.shape[b];
    if (!above) inside = inside && index >= 0;
  }
  return inside;
}

Array in_bounds(const Ref& window, std::source_location loc) {
  const VerbScope at(loc);
  return in_bounds(window, default_layout(window.shape(), window.dtype(), loc), loc);
}

}  // namespace palladion::plgpu
