// Arrays of other shapes and layouts: casts, broadcasts, reshapes, slices, iota.
#include <fmt/format.h>

#include <algorithm>
#include <map>

#include "frontend/arrays/array.h"
#include "frontend/core/verbs.h"
#include "frontend/refs/access.h"

namespace palladion::plgpu {

namespace {

Array spread_splat(const Array& x, const Layout& layout) {
  if (layout.is_splat()) return x;
  const std::vector<Operand> elements(static_cast<size_t>(layout.elements(x.shape())), x.registers().front());
  return Array::from_elements(x.dtype(), x.shape(), layout, elements);
}

void check_fits(const Layout& layout, const Shape& shape) {
  const std::string misfit = layout.misfit(shape);
  if (!misfit.empty())
    fail(Code::layout_shape, misfit,
         "choose a layout for the array's shape, e.g. Layout::WG_STRIDED, or slice whole tiles");
}

// Where index tuples sit in a lane's elements, for the part that is the same in all lanes.
using Places = std::map<Shape, size_t>;
Places places(const Layout& layout, const Shape& shape) {
  Places out;
  for (int64_t e = 0; e < layout.elements(shape); ++e)
    out.emplace(layout.element_index(shape, e), static_cast<size_t>(e));
  return out;
}

bool same_threads(const Layout& a, const Shape& shape_a, const Layout& b, const Shape& shape_b,
                  const std::function<Shape(const Shape&)>& b_to_a) {
  for (int64_t t = 0; t < 128; ++t) {
    if (a.thread_index(shape_a, t) != b_to_a(b.thread_index(shape_b, t))) return false;
  }
  return true;
}

}  // namespace

Array full(Shape shape, const Scalar& value, DType dtype, std::source_location loc) {
  const VerbScope at(loc);
  return Array::splat(value.astype(dtype), std::move(shape));
}

Array zeros(Shape shape, DType dtype, std::source_location loc) {
  return full(std::move(shape), Scalar(0), dtype, loc);
}

namespace {
void check_broadcast(const Array& x, const Shape& shape, const std::vector<int>& dimensions) {
  if (dimensions.size() != x.rank()) {
    fail(Code::bad_axis,
         fmt::format("broadcast_in_dim of an {}: {} dimensions are named, it has {}", to_string(x),
                     dimensions.size(), x.rank()),
         "name a dimension of the result for each dimension of the array");
  }
  for (size_t i = 0; i < dimensions.size(); ++i) {
    const int d = dimensions[i];
    if (d < 0 || static_cast<size_t>(d) >= shape.size() ||
        (x.shape(i) != shape[static_cast<size_t>(d)] && x.shape(i) != 1)) {
      fail(Code::shape_mismatch,
           fmt::format("broadcast_in_dim: dimension {} of an {} cannot become dimension {} of {}", i,
                       to_string(x), d, pl::to_string(shape)),
           "name a dimension of the result that has the same size");
    }
  }
}
}  // namespace

Array broadcast_in_dim(const Array& x, Shape shape, const std::vector<int>& dimensions, const Layout& layout,
                       std::source_location loc) {
  const VerbScope at(loc);
  check_broadcast(x, shape, dimensions);
  if (x.layout().is_splat())
    return spread_splat(Array(x.dtype(), shape, Layout::WG_SPLAT(shape), x.registers()), layout);
  check_fits(layout, shape);
  const auto project = [&](const Shape& index) {
    Shape out(x.rank());
    for (size_t i = 0; i < x.rank(); ++i)
      out[i] = x.shape(i) == 1 ? 0 : index[static_cast<size_t>(dimensions[i])];
    return out;
  };
  if (!layout.is_tiled() || !x.layout().is_tiled() ||
      !same_threads(x.layout(), x.shape(), layout, shape, project)) {
    fail(Code::layout_mismatch,
         fmt::format("broadcast_in_dim of an {} to {} with layout {}: the lanes do not hold what they need",
                     to_string(x), pl::to_string(shape), to_string(layout)),
         "rows of a WGMMA array have layout Layout::WGMMA.reduce(1), columns Layout::WGMMA.reduce(0)");
  }
  const Places from = places(x.layout(), x.shape());
  const std::vector<Operand> elements = x.elements();
  std::vector<Operand> out;
  for (int64_t e = 0; e < layout.elements(shape); ++e) {
    const auto it = from.find(project(layout.element_index(shape, e)));
    if (it == from.end())
      fail(Code::layout_mismatch,
           fmt::format("broadcast_in_dim of an {}: the layouts cut different tiles", to_string(x)));
    out.push_back(elements[it->second]);
  }
  return Array::from_elements(x.dtype(), shape, layout, out);
}

namespace {

// The layout that a broadcast of `x` along the other dimension of a matrix most likely means.
Layout broadcast_layout(const Array& x, const Shape& shape, const std::vector<int>& dimensions) {
  for (const Layout* l : {&Layout::WGMMA, &Layout::WGMMA_TRANSPOSED, &Layout::WGMMA_8BIT,
                          &Layout::WGMMA_UPCAST_2X, &Layout::WGMMA_UPCAST_4X}) {
    if (x.rank() == 1 && shape.size() == 2 && l->misfit(shape).empty() &&
        x.layout() == l->reduce(1 - dimensions[0]))
      return *l;
  }
  if (x.rank() == shape.size()) return x.layout();
  fail(Code::layout_mismatch,
       fmt::format("broadcast_in_dim of an {} to {}: give the layout of the result", to_string(x),
                   pl::to_string(shape)),
       "load it with Layout::WGMMA.reduce(0) or .reduce(1) and give Layout::WGMMA");
}

}  // namespace

Array broadcast_in_dim(const Array& x, Shape shape, const std::vector<int>& dimensions,
                       std::source_location loc) {
  const VerbScope at(loc);
  check_broadcast(x, shape, dimensions);
  if (x.layout().is_splat()) return Array(x.dtype(), shape, Layout::WG_SPLAT(shape), x.registers());
  const Layout layout = broadcast_layout(x, shape, dimensions);
  return broadcast_in_dim(x, std::move(shape), dimensions, layout, loc);
}

Array Array::broadcast_to(Shape shape, std::source_location loc) const {
  std::vector<int> dimensions;
  const int first = static_cast<int>(shape.size()) - static_cast<int>(rank());
  for (size_t i = 0; i < rank(); ++i) dimensions.push_back(first + static_cast<int>(i));
  return broadcast_in_dim(*this, std::move(shape), dimensions, loc);
}

std::vector<Operand> element_indices(const Shape& shape, const Layout& layout, int dimension) {
  Recorder& r = Recorder::current();
  const Scalar lane = frontend::lane_scalar(r);
  std::vector<Operand> out;
  const size_t d = static_cast<size_t>(dimension);
  if (layout.is_tiled()) {
    const int first = static_cast<int>(shape.size() - layout.tile().size());
    Scalar base(0);
    for (const auto& p : layout.parts()) {
      if (p.role != Layout::Part::Role::thread || first + p.dim != dimension) continue;
      base = base + lane / p.place % p.size * p.stride;
    }
    for (int64_t e = 0; e < layout.elements(shape); ++e)
      out.push_back((base + layout.element_index(shape, e)[d]).as_register());
    return out;
  }
  int64_t inner = 1;
  for (size_t i = d + 1; i < shape.size(); ++i) inner *= shape[i];
  const int64_t vector = layout.vector_length();
  for (int64_t e = 0; e < layout.elements(shape); ++e) {
    const Scalar own = frontend::lane_that_holds(r, layout, e) * vector;
    const Scalar flat = own + (e / vector * 128 * vector + e % vector);
    out.push_back((d == 0 ? flat / inner : flat / inner % shape[d]).as_register());
  }
  return out;
}

Array broadcasted_iota(DType dtype, Shape shape, int dimension, const Layout& layout,
                       std::source_location loc) {
  const VerbScope at(loc);
  if (dimension < 0 || static_cast<size_t>(dimension) >= shape.size()) {
    fail(Code::bad_axis,
         fmt::format("broadcasted_iota: {} has no dimension {}", pl::to_string(shape), dimension),
         "dimensions count from 0");
  }
  if (layout.is_splat())
    fail(Code::layout_mismatch, "broadcasted_iota cannot have layout WG_SPLAT: its elements differ");
  check_fits(layout, shape);
  Recorder& r = Recorder::current();
  std::vector<Operand> elements = element_indices(shape, layout, dimension);
  for (Operand& e : elements) e = frontend::element_convert(r, DType::s32, dtype, e);
  return Array::from_elements(dtype, std::move(shape), layout, elements);
}

Array broadcasted_iota(DType dtype, Shape shape, int dimension, std::source_location loc) {
  const VerbScope at(loc);
  const Layout layout = default_layout(shape, dtype, loc);
  return broadcasted_iota(dtype, std::move(shape), dimension, layout, loc);
}

Array Array::reshape(Shape shape, std::source_location loc) const {
  const VerbScope at(loc);
  if (pl::volume(shape) != pl::volume(shape_)) {
    fail(Code::shape_mismatch,
         fmt::format("a reshape of an {} to {}: the numbers of elements differ", plgpu::to_string(*this),
                     pl::to_string(shape)),
         "multiply the sizes out: both shapes hold the same number of elements");
  }
  if (layout_.is_splat()) return Array(dtype_, shape, Layout::WG_SPLAT(shape), registers());
  if (layout_.is_strided()) return Array(dtype_, shape, layout_.with_shape(shape), registers());
  // A tiled layout holds the trailing dimensions; leading ones may change, as long as they stay registers.
  const size_t tiled = layout_.tile().size();
  const bool keeps =
      shape.size() >= tiled && std::equal(shape.end() - static_cast<int64_t>(tiled), shape.end(),
                                          shape_.end() - static_cast<int64_t>(tiled));
  if (!keeps) {
    fail(Code::layout_mismatch,
         fmt::format("a reshape of an {} to {} would move elements between lanes", plgpu::to_string(*this),
                     pl::to_string(shape)),
         "go through SMEM, or reshape the reference");
  }
  return Array(dtype_, std::move(shape), layout_, registers());
}

Array squeeze(const Array& x, const std::vector<int>& dimensions, std::source_location loc) {
  const VerbScope at(loc);
  for (const int d : dimensions)
    if (d < 0 || static_cast<size_t>(d) >= x.rank())
      fail(Code::bad_axis, fmt::format("squeeze: an {} has no dimension {}", to_string(x), d),
           "dimensions count from 0");
  Shape shape;
  for (size_t i = 0; i < x.rank(); ++i) {
    const bool drop = std::ranges::find(dimensions, static_cast<int>(i)) != dimensions.end();
    if (drop && x.shape(i) != 1)
      fail(Code::bad_axis,
           fmt::format("squeeze of dimension {} of an {}: its size is not 1", i, to_string(x)),
           "name dimensions of size 1, or reduce the dimension with .sum(axis) or .max(axis)");
    if (!drop) shape.push_back(x.shape(i));
  }
  return x.reshape(shape, loc);
}

// Slices and concatenations along dimensions of whole tiles only pick registers.
Array slice(const Array& x, const Shape& start, const Shape& limit, std::source_location loc) {
  const VerbScope at(loc);
  if (start.size() != x.rank() || limit.size() != x.rank())
    fail(Code::bad_index, fmt::format("slice of an {}: {} dimensions are given", to_string(x), start.size()),
         "give a start and a limit for each dimension");
  Shape shape;
  for (size_t i = 0; i < x.rank(); ++i) {
    if (start[i] < 0 || limit[i] > x.shape(i) || start[i] >= limit[i]) {
      fail(Code::out_of_bounds,
           fmt::format("slice [{}, {}) of dimension {} of an {} is out of bounds", start[i], limit[i], i,
                       to_string(x)),
           "give 0 <= start < limit <= size in each dimension");
    }
    shape.push_back(limit[i] - start[i]);
  }
  if (x.layout().is_splat()) return Array(x.dtype(), shape, Layout::WG_SPLAT(shape), x.registers());
  if (!x.layout().is_tiled())
    fail(Code::layout_mismatch,
         fmt::format("slice of an {}: only tiled layouts can be sliced in registers", to_string(x)),
         "slice the reference before loading");
  const size_t first = x.rank() - x.layout().tile().size();
  for (size_t i = first; i < x.rank(); ++i) {
    const int64_t tile = x.layout().tile()[i - first];
    if (start[i] % tile != 0 || shape[i] % tile != 0) {
      fail(Code::unaligned_slice, fmt::format("slice [{}, {}) of dimension {} of an {}: start and size must "
                                              "be multiples of the layout's tile of {}",
                                              start[i], limit[i], i, to_string(x), tile));
    }
  }
  const Places from = places(x.layout(), x.shape());
  const std::vector<Operand> elements = x.elements();
  std::vector<Operand> out;
  for (int64_t e = 0; e < x.layout().elements(shape); ++e) {
    Shape index = x.layout().element_index(shape, e);
    for (size_t i = 0; i < index.size(); ++i) index[i] += start[i];
    out.push_back(elements[from.at(index)]);
  }
  return Array::from_elements(x.dtype(), shape, x.layout(), out);
}

Array Array::operator[](const std::vector<pl::Slice>& slices) const {
  Shape start, limit;
  for (const pl::Slice& s : slices) {
    if (!s.start.is_constant())
      fail(Code::bad_index, "arrays are registers: they can only be sliced at numbers known while recording");
    if (s.stride != 1)
      fail(Code::bad_index, "arrays are registers: they cannot be sliced with a stride",
           "slice the reference before loading");
    start.push_back(s.start.as_int());
    limit.push_back(pl::volume({std::max<int64_t>(0, s.start.as_int())}) + pl::volume({s.size}));
  }
  return slice(*this, start, limit, Recorder::current().loc());
}

Array concatenate(const std::vector<Array>& arrays, int axis, std::source_location loc) {
  const VerbScope at(loc);
  if (arrays.empty()) fail(Code::bad_axis, "concatenate of no arrays", "give at least one array");
  const Array& first = arrays.front();
  const size_t d = static_cast<size_t>(axis);
  if (axis < 0 || d >= first.rank())
    fail(Code::bad_axis, fmt::format("concatenate: an {} has no dimension {}", to_string(first), axis),
         "dimensions count from 0");
  Shape shape = first.shape();
  shape[d] = 0;
  for (const Array& a : arrays) {
    Shape other = a.shape();
    if (other.size() == shape.size()) other[d] = shape[d];
    if (other != shape || a.dtype() != first.dtype() || !(a.layout() == first.layout())) {
      fail(Code::shape_mismatch,
           fmt::format("concatenate of an {} and an {}: all but dimension {} must agree", to_string(first),
                       to_string(a), axis));
    }
    shape[d] += a.shape(d);
  }
  if (!first.layout().is_tiled())
    fail(
        Code::layout_mismatch,
        fmt::format("concatenate of an {}: only tiled layouts can be joined in registers", to_string(first)));
  check_fits(first.layout(), shape);
  std::map<Shape, Operand> all;
  int64_t offset = 0;
  for (const Array& a : arrays) {
    const std::vector<Operand> elements = a.elements();
    for (const auto& [index, e] : places(a.layout(), a.shape())) {
      Shape moved = index;
      moved[d] += offset;
      all.emplace(std::move(moved), elements[e]);
    }
    offset += a.shape(d);
  }
  std::vector<Operand> out;
  for (int64_t e = 0; e < first.layout().elements(shape); ++e)
    out.push_back(all.at(first.layout().element_index(shape, e)));
  return Array::from_elements(first.dtype(), shape, first.layout(), out);
}

}  // namespace palladion::plgpu
