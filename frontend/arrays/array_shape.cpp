// Arrays of other shapes and layouts: casts, broadcasts, reshapes, slices, iota.
#include <fmt/format.h>

#include <algorithm>
#include <map>

#include "frontend/arrays/array.h"
#include "frontend/core/verbs.h"
#include "frontend/refs/access.h"

namespace palladion::plgpu {

namespace {

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

}  // namespace

Array full(Shape shape, const Scalar& value, DType dtype, std::source_location loc) {
  const VerbScope at(loc);
  return Array::splat(value.astype(dtype), std::move(shape));
}

Array zeros(Shape shape, DType dtype, std::source_location loc) {
  return full(std::move(shape), Scalar(0), dtype, loc);
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
  if (layout.is_splat() && pl::volume(shape) == 1) return Array::splat(Scalar(0).astype(dtype), shape);
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
  std::vector<int> of_tile;  // dropped dimensions that the layout has, too
  const size_t first = x.layout().is_tiled() ? x.rank() - x.layout().tile().size() : x.rank();
  for (size_t i = 0; i < x.rank(); ++i) {
    const bool drop = std::ranges::find(dimensions, static_cast<int>(i)) != dimensions.end();
    if (drop && x.shape(i) != 1)
      fail(Code::bad_axis,
           fmt::format("squeeze of dimension {} of an {}: its size is not 1", i, to_string(x)),
           "name dimensions of size 1, or reduce the dimension with .sum(axis) or .max(axis)");
    if (!drop) shape.push_back(x.shape(i));
    if (drop && i >= first) of_tile.push_back(static_cast<int>(i - first));
  }
  if (of_tile.empty()) return x.reshape(shape, loc);
  return Array(x.dtype(), shape, x.layout().reduce(of_tile), x.registers());
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

namespace {

// The slices of the dimensions that an array has: start and limit of each.
void add_slice(const Array& x, const ArrayIndex& index, Shape* start, Shape* limit) {
  const size_t dim = start->size();
  if (dim >= x.rank())
    fail(Code::bad_index, fmt::format("more indices than the {} dimensions of an {}", x.rank(), to_string(x)),
         "pl::newaxis adds a dimension; a slice or pl::all stands for one that is there");
  const auto* s = std::get_if<pl::Slice>(&index);
  if (s == nullptr) {
    start->push_back(0);
    limit->push_back(x.shape(dim));
    return;
  }
  if (!s->start.is_constant())
    fail(Code::bad_index, "arrays are registers: they can only be sliced at numbers known while recording");
  if (s->stride != 1)
    fail(Code::bad_index, "arrays are registers: they cannot be sliced with a stride",
         "slice the reference before loading");
  start->push_back(s->start.as_int());
  limit->push_back(pl::volume({std::max<int64_t>(0, s->start.as_int())}) + pl::volume({s->size}));
}

}  // namespace

Array Array::operator[](const std::vector<ArrayIndex>& indices) const {
  const std::source_location loc = Recorder::current().loc();
  Shape start, limit;
  for (const ArrayIndex& i : indices)
    if (!std::holds_alternative<pl::NewAxis>(i)) add_slice(*this, i, &start, &limit);
  while (start.size() < rank()) add_slice(*this, pl::all, &start, &limit);
  Array x = start == Shape(rank(), 0) && limit == shape_ ? *this : slice(*this, start, limit, loc);
  for (size_t i = 0; i < indices.size(); ++i) {
    if (!std::holds_alternative<pl::NewAxis>(indices[i])) continue;
    Shape shape = x.shape();
    shape.insert(shape.begin() + static_cast<std::ptrdiff_t>(i), 1);
    const Layout layout = x.layout().is_tiled()   ? x.layout().with_new_axis(i, x.rank())
                          : x.layout().is_splat() ? Layout::WG_SPLAT(shape)
                                                  : x.layout().with_shape(shape);
    x = Array(x.dtype(), shape, layout, x.registers());
  }
  return x;
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
