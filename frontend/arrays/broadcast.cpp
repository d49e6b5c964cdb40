// Broadcasts by NumPy's rule, and those that name the dimensions.
#include "frontend/arrays/broadcast.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <numeric>

#include "frontend/arrays/lanes.h"
#include "frontend/core/verbs.h"
#include "frontend/refs/access.h"

namespace palladion::plgpu {

namespace {

Array spread_splat(const Array& x, const Shape& shape, const Layout& layout) {
  if (layout.is_splat()) return Array(x.dtype(), shape, Layout::WG_SPLAT(shape), x.registers());
  const std::vector<Operand> elements(static_cast<size_t>(layout.elements(shape)), x.registers().front());
  return Array::from_elements(x.dtype(), shape, layout, elements);
}

// The index of the element of `x` that the result has at `index`.
Shape source_of(const Array& x, const Broadcast& to, const Shape& index) {
  Shape out(x.rank());
  for (size_t i = 0; i < x.rank(); ++i)
    out[i] = x.shape(i) == 1 ? 0 : index[static_cast<size_t>(to.dimensions[i])];
  return out;
}

// Which of its own elements a lane takes for each of the result's; the same in all lanes.
using LanePlan = std::vector<size_t>;

// Tiled layouts: an index is a sum of the lane's part and the register's.
std::optional<LanePlan> plan_of_tiles(const Array& x, const Broadcast& to, const Layout& layout) {
  for (int64_t t = 0; t < warpgroup_size; ++t)
    if (x.layout().thread_index(x.shape(), t) != source_of(x, to, layout.thread_index(to.shape, t)))
      return std::nullopt;
  std::map<Shape, size_t> from;
  for (int64_t e = 0; e < x.layout().elements(x.shape()); ++e)
    from.emplace(x.layout().element_index(x.shape(), e), static_cast<size_t>(e));
  LanePlan plan;
  for (int64_t e = 0; e < layout.elements(to.shape); ++e) {
    const auto it = from.find(source_of(x, to, layout.element_index(to.shape, e)));
    if (it == from.end()) return std::nullopt;
    plan.push_back(it->second);
  }
  return plan;
}

std::optional<LanePlan> plan_of_lanes(const Array& x, const Broadcast& to, const Layout& layout) {
  const int64_t own = x.layout().elements(x.shape());
  LanePlan plan;
  for (int64_t e = 0; e < layout.elements(to.shape); ++e) {
    std::vector<int64_t> held(static_cast<size_t>(own));
    std::iota(held.begin(), held.end(), 0);
    for (int64_t t = 0; t < warpgroup_size && !held.empty(); ++t) {
      const Shape wanted = source_of(x, to, layout.index(to.shape, t, e));
      std::erase_if(held, [&](int64_t h) { return x.layout().index(x.shape(), t, h) != wanted; });
    }
    if (held.empty()) return std::nullopt;
    plan.push_back(static_cast<size_t>(held.front()));
  }
  return plan;
}

std::optional<LanePlan> plan_in_lanes(const Array& x, const Broadcast& to, const Layout& layout) {
  if (layout.is_splat()) return std::nullopt;
  return layout.is_tiled() && x.layout().is_tiled() ? plan_of_tiles(x, to, layout)
                                                    : plan_of_lanes(x, to, layout);
}

Array through_scratch(const Array& x, const Broadcast& to, const Layout& layout) {
  Recorder& r = Recorder::current();
  const std::string what = fmt::format("a broadcast of an {} to {} of layout {}", to_string(x),
                                       pl::to_string(to.shape), to_string(layout));
  frontend::InScratch scratch(r, x, what);
  std::vector<Scalar> number(static_cast<size_t>(layout.elements(to.shape)), Scalar(0));
  for (size_t i = 0; i < x.rank(); ++i) {
    if (x.shape(i) == 1) continue;
    const auto index = frontend::index_scalars(r, to.shape, layout, static_cast<size_t>(to.dimensions[i]));
    for (size_t e = 0; e < number.size(); ++e) number[e] = number[e] * x.shape(i) + index[e];
  }
  std::vector<Operand> out;
  for (const Scalar& n : number) out.push_back(scratch.load(n));
  return Array::from_elements(x.dtype(), to.shape, layout, out);
}

// The last dimensions of the shape.
Broadcast trailing(const Array& x, const Shape& shape) {
  Broadcast to{shape, {}};
  for (size_t i = 0; i < x.rank(); ++i)
    to.dimensions.push_back(static_cast<int>(shape.size() - x.rank() + i));
  return to;
}

[[noreturn]] void no_common_shape(const Shape& a, const Shape& b) {
  fail(
      Code::shape_mismatch,
      fmt::format("arrays of shapes {} and {} do not broadcast together", pl::to_string(a), pl::to_string(b)),
      "NumPy's rule: dimensions are compared from the last one on, and two agree where they are equal or one "
      "is 1; x[{pl::all, pl::newaxis}] adds a dimension of size 1");
}

// The layout of a result that no operand has in full: the tensor core's, where all operands hold their parts
// of it.
Layout joint_layout(const std::vector<Array>& arrays, const Shape& shape) {
  bool only_splats = true;
  for (const Array& a : arrays) only_splats &= a.layout().is_splat();
  if (only_splats) return Layout::WG_SPLAT(shape);
  for (const Layout* l : {&Layout::WGMMA, &Layout::WGMMA_TRANSPOSED, &Layout::WGMMA_8BIT,
                          &Layout::WGMMA_UPCAST_2X, &Layout::WGMMA_UPCAST_4X, &Layout::TCGEN05}) {
    const bool fits =
        l->misfit(shape).empty() && std::ranges::all_of(arrays, [&](const Array& a) {
          return a.layout().is_splat() || (a.layout().is_tiled() && plan_of_tiles(a, trailing(a, shape), *l));
        });
    if (fits) return *l;
  }
  return default_layout(shape, arrays.front().dtype(), Recorder::current().loc());
}

}  // namespace

Shape broadcast_shape(const std::vector<Shape>& shapes) {
  Shape common;
  for (const Shape& own : shapes) {
    Shape shape = own;
    if (shape.size() < common.size()) shape.insert(shape.begin(), common.size() - shape.size(), 1);
    Shape other = common;
    other.insert(other.begin(), shape.size() - other.size(), 1);
    for (size_t i = 0; i < shape.size(); ++i) {
      if (shape[i] != other[i] && shape[i] != 1 && other[i] != 1) no_common_shape(common, own);
      if (shape[i] == 1) shape[i] = other[i];
    }
    common = std::move(shape);
  }
  return common;
}

std::optional<Array> broadcast_in_lanes(const Array& x, const Broadcast& to, const Layout& layout) {
  if (x.layout().is_splat()) return spread_splat(x, to.shape, layout);
  const auto plan = plan_in_lanes(x, to, layout);
  if (!plan) return std::nullopt;
  const std::vector<Operand> elements = x.elements();
  std::vector<Operand> out;
  for (const size_t e : *plan) out.push_back(elements[e]);
  return Array::from_elements(x.dtype(), to.shape, layout, out);
}

Array broadcast_to_layout(const Array& x, const Broadcast& to, const Layout& layout) {
  if (x.shape() == to.shape && !x.layout().is_splat()) {
    if (x.layout() == layout) return x;
    fail(Code::layout_mismatch,
         fmt::format("an elementwise operation on arrays of different layouts: {} and {}", to_string(layout),
                     to_string(x.layout())),
         "bring one into the other's layout with plgpu::layout_cast, or load both with the same layout");
  }
  const auto in_lanes = broadcast_in_lanes(x, to, layout);
  return in_lanes ? *in_lanes : through_scratch(x, to, layout);
}

Array broadcast_to_layout(const Array& x, const Shape& shape, const Layout& layout) {
  if (broadcast_shape({shape, x.shape()}) != shape) no_common_shape(x.shape(), shape);
  return broadcast_to_layout(x, trailing(x, shape), layout);
}

void unify_layouts(std::vector<Array>& arrays) {
  const Array* leader = &arrays.front();
  for (const Array& a : arrays)
    if (leader->layout().is_splat() && !a.layout().is_splat()) leader = &a;
  const Layout layout = leader->layout();
  const Shape shape = leader->shape();
  for (Array& a : arrays) {
    if (a.shape() != shape && !(a.layout().is_splat() && a.shape().empty())) {
      fail(Code::shape_mismatch,
           fmt::format("an elementwise operation on arrays of different shapes: {} and {}",
                       pl::to_string(shape), pl::to_string(a.shape())),
           "use broadcast_in_dim or broadcast_to");
    }
    if (a.layout() == layout && a.shape() == shape) continue;
    a = broadcast_to_layout(a, trailing(a, shape), layout);
  }
}

void broadcast_together(std::vector<Array>& arrays) {
  std::vector<Shape> shapes;
  for (const Array& a : arrays) shapes.push_back(a.shape());
  const Shape shape = broadcast_shape(shapes);
  const auto leader = std::ranges::find_if(
      arrays, [&](const Array& a) { return !a.layout().is_splat() && a.shape() == shape; });
  const Layout layout = leader != arrays.end() ? leader->layout() : joint_layout(arrays, shape);
  for (Array& a : arrays) {
    if (a.layout() == layout && a.shape() == shape) continue;
    a = broadcast_to_layout(a, trailing(a, shape), layout);
  }
}

namespace {

void check_broadcast(const Array& x, const Broadcast& to) {
  if (to.dimensions.size() != x.rank()) {
    fail(Code::bad_axis,
         fmt::format("broadcast_in_dim of an {}: {} dimensions are named, it has {}", to_string(x),
                     to.dimensions.size(), x.rank()),
         "name a dimension of the result for each dimension of the array");
  }
  for (size_t i = 0; i < to.dimensions.size(); ++i) {
    const int d = to.dimensions[i];
    if (d < 0 || static_cast<size_t>(d) >= to.shape.size() ||
        (x.shape(i) != to.shape[static_cast<size_t>(d)] && x.shape(i) != 1)) {
      fail(Code::shape_mismatch,
           fmt::format("broadcast_in_dim: dimension {} of an {} cannot become dimension {} of {}", i,
                       to_string(x), d, pl::to_string(to.shape)),
           "name a dimension of the result that has the same size");
    }
  }
}

// The layout that a broadcast of `x` along the other dimension of a matrix most likely means.
Layout broadcast_layout(const Array& x, const Broadcast& to) {
  for (const Layout* l : {&Layout::WGMMA, &Layout::WGMMA_TRANSPOSED, &Layout::WGMMA_8BIT,
                          &Layout::WGMMA_UPCAST_2X, &Layout::WGMMA_UPCAST_4X}) {
    if (x.rank() == 1 && to.shape.size() == 2 && l->misfit(to.shape).empty() &&
        x.layout() == l->reduce(1 - to.dimensions[0]))
      return *l;
  }
  if (x.rank() == to.shape.size()) return x.layout();
  fail(Code::layout_mismatch,
       fmt::format("broadcast_in_dim of an {} to {}: give the layout of the result", to_string(x),
                   pl::to_string(to.shape)),
       "load it with Layout::WGMMA.reduce(0) or .reduce(1) and give Layout::WGMMA");
}

}  // namespace

Array broadcast_in_dim(const Array& x, Shape shape, const std::vector<int>& dimensions, const Layout& layout,
                       std::source_location loc) {
  const VerbScope at(loc);
  const Broadcast to{std::move(shape), dimensions};
  check_broadcast(x, to);
  if (!x.layout().is_splat())
    if (const std::string misfit = layout.misfit(to.shape); !misfit.empty())
      fail(Code::layout_shape, misfit,
           "choose a layout for the array's shape, e.g. Layout::WG_STRIDED, or slice whole tiles");
  if (const auto out = broadcast_in_lanes(x, to, layout)) return *out;
  fail(Code::layout_mismatch,
       fmt::format("broadcast_in_dim of an {} to {} with layout {}: the lanes do not hold what they need",
                   to_string(x), pl::to_string(to.shape), to_string(layout)),
       "rows of a WGMMA array have layout Layout::WGMMA.reduce(1), columns Layout::WGMMA.reduce(0)");
}

Array broadcast_in_dim(const Array& x, Shape shape, const std::vector<int>& dimensions,
                       std::source_location loc) {
  const VerbScope at(loc);
  const Broadcast to{shape, dimensions};
  check_broadcast(x, to);
  if (x.layout().is_splat()) return Array(x.dtype(), shape, Layout::WG_SPLAT(shape), x.registers());
  return broadcast_in_dim(x, std::move(shape), dimensions, broadcast_layout(x, to), loc);
}

Array Array::broadcast_to(Shape shape, std::source_location loc) const {
  std::vector<int> dimensions;
  const int first = static_cast<int>(shape.size()) - static_cast<int>(rank());
  for (size_t i = 0; i < rank(); ++i) dimensions.push_back(first + static_cast<int>(i));
  return broadcast_in_dim(*this, std::move(shape), dimensions, loc);
}

}  // namespace palladion::plgpu
