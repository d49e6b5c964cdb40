// Reductions: within a lane, across the lanes of a warp by shuffles, across warps through shared memory.
#include <fmt/format.h>

#include <algorithm>
#include <map>

#include "frontend/arrays/array.h"
#include "frontend/arrays/lanes.h"
#include "frontend/core/verbs.h"
#include "frontend/refs/access.h"

namespace palladion::plgpu {

using frontend::Address;
using frontend::Binary;

namespace {

Operand combine(Recorder& r, Binary op, DType d, const Operand& a, const Operand& b) {
  return frontend::element_binary(r, op, d, a, b);
}

// A tree of neighbours: short, and the same whatever else the array holds.
Operand combine_all(Recorder& r, Binary op, DType d, std::vector<Operand> values) {
  while (values.size() > 1) {
    std::vector<Operand> next;
    for (size_t i = 0; i + 1 < values.size(); i += 2)
      next.push_back(combine(r, op, d, values[i], values[i + 1]));
    if (values.size() % 2 != 0) next.push_back(values.back());
    values = std::move(next);
  }
  return values.front();
}

// Across warps: all lanes put a value where the lanes with the same number in other warps find it.
void across_warps(Recorder& r, Binary op, DType d, std::vector<Operand>& values, int64_t warp_mask) {
  const int64_t size = frontend::scratch_bytes(d), row = 128 * size;
  const int64_t at_once = r.options().reduction_scratch_bytes / row;
  if (at_once < 1) {
    fail(Code::no_scratch,
         fmt::format("a reduction across warps needs {} bytes of scratch, reduction_scratch_bytes is {}", row,
                     r.options().reduction_scratch_bytes),
         "raise compiler_params.reduction_scratch_bytes");
  }
  int64_t offset = 0;
  const Operand base = frontend::scratch_address(r, &offset);
  const Scalar lane = frontend::lane_scalar(r);
  const Operand mine = (Scalar::from_register(DType::s32, base, true) + lane * size).as_register();
  std::vector<int64_t> others;
  for (int64_t w = 0; w < 4; ++w)
    if ((w & ~warp_mask) == 0) others.push_back(w);
  // All warps read in one order, so that all get the same bits.
  const Scalar first = lane & (127 & ~(warp_mask * warp_size));
  const Operand theirs = (Scalar::from_register(DType::s32, base, true) + first * size).as_register();
  for (size_t begin = 0; begin < values.size(); begin += static_cast<size_t>(at_once)) {
    const size_t end = std::min(values.size(), begin + static_cast<size_t>(at_once));
    r.warpgroup_barrier();
    for (size_t i = begin; i < end; ++i) {
      const Operand v = d == DType::bool_ ? frontend::to_word(r, d, values[i]) : values[i];
      const Operand reg = v.is(Operand::Kind::imm) ? r.pure(fmt::format("mov.{}", frontend::scratch_type(d)),
                                                            {v}, frontend::register_type(d))
                                                   : v;
      frontend::emit_store(r, "shared::cta", {reg}, frontend::scratch_type(d),
                           Address{mine, offset + static_cast<int64_t>(i - begin) * row});
    }
    r.warpgroup_barrier();
    for (size_t i = begin; i < end; ++i) {
      std::vector<Operand> parts;
      for (int64_t w : others) {
        const Operand reg = r.reg(d == DType::bool_ ? Type::b32 : frontend::register_type(d));
        frontend::emit_load(
            r, "shared::cta", {reg}, frontend::scratch_type(d),
            Address{theirs, offset + static_cast<int64_t>(i - begin) * row + w * warp_size * size});
        parts.push_back(d == DType::bool_ ? frontend::from_word(r, d, reg) : reg);
      }
      values[i] = combine_all(r, op, d, parts);
    }
  }
}

// Which bits of the thread's number the reduced dimensions follow.
int64_t reduced_threads(const std::vector<Layout::Part>& parts, const std::vector<bool>& gone) {
  int64_t bits = 0;
  for (const auto& p : parts)
    if (p.role == Layout::Part::Role::thread && gone[static_cast<size_t>(p.dim)])
      bits |= (p.size - 1) * p.place;
  return bits;
}

void across_threads(Recorder& r, Binary op, DType d, std::vector<Operand>& values, int64_t bits) {
  for (int64_t b = 1; b < warp_size; b *= 2) {
    if ((bits & b) == 0) continue;
    for (Operand& v : values) v = combine(r, op, d, v, frontend::shuffle(r, d, v, b));
  }
  if (bits / warp_size != 0) across_warps(r, op, d, values, bits / warp_size);
}

Array reduce_splat(Recorder& r, Binary op, const Array& x, const Shape& shape, int64_t n) {
  Operand v = x.registers().front();
  const DType d = x.dtype();
  if (op == Binary::add)
    v = combine(r, Binary::mul, d, v,
                pl::is_float(d) ? frontend::constant(d, static_cast<double>(n)) : frontend::constant(d, n));
  if (op == Binary::mul) {
    const Operand base = v;
    for (int64_t i = 1; i < n; ++i) v = combine(r, op, d, v, base);
  }
  return Array(d, shape, Layout::WG_SPLAT(shape), {v});
}

// What changes nothing; copies of elements change neither a minimum nor a maximum.
Operand neutral(Binary op, DType d) {
  const int one = op == Binary::mul ? 1 : 0;
  return pl::is_float(d) ? frontend::constant(d, static_cast<double>(one))
                         : frontend::constant(d, int64_t{one});
}

// The lane's elements, with neutral ones in place of copies.
std::vector<Operand> elements_once(Recorder& r, Binary op, const Array& x) {
  std::vector<Operand> elements = x.elements();
  if (op != Binary::add && op != Binary::mul) return elements;
  for (size_t e = 0; e < elements.size(); ++e) {
    const Operand own = frontend::one_of_the_copies(r, x.layout(), static_cast<int64_t>(e));
    if (own.is(Operand::Kind::reg))
      elements[e] = frontend::element_select(r, x.dtype(), own, elements[e], neutral(op, x.dtype()));
  }
  return elements;
}

// A strided array is reduced as a whole: every lane holds some of it.
Array reduce_strided(Recorder& r, Binary op, const Array& x) {
  std::vector<Operand> one{combine_all(r, op, x.dtype(), elements_once(r, op, x))};
  across_threads(r, op, x.dtype(), one, 127);
  return Array(x.dtype(), {}, Layout::WG_SPLAT(), one);
}

Array reduce(Binary op, const Array& x, const std::vector<int>& axes) {
  Recorder& r = Recorder::current();
  const DType d = x.dtype();
  std::vector<bool> gone(x.rank());
  int64_t n = 1;
  for (int axis : axes) {
    const int a = axis < 0 ? axis + static_cast<int>(x.rank()) : axis;
    if (a < 0 || static_cast<size_t>(a) >= x.rank())
      fail(Code::bad_axis, fmt::format("a reduction of an {}: there is no dimension {}", to_string(x), axis),
           "dimensions count from 0; -1 is the last");
    gone[static_cast<size_t>(a)] = true;
    n *= x.shape(static_cast<size_t>(a));
  }
  Shape shape;
  for (size_t i = 0; i < x.rank(); ++i)
    if (!gone[i]) shape.push_back(x.shape(i));
  if (x.layout().is_splat()) return reduce_splat(r, op, x, shape, n);
  if (x.layout().is_strided()) {
    if (!shape.empty()) {
      fail(Code::layout_mismatch,
           fmt::format("a reduction of an {} along one of its dimensions: its rows are spread over all lanes",
                       to_string(x)),
           "load it with a tiled layout, e.g. Layout::WGMMA");
    }
    return reduce_strided(r, op, x);
  }
  const size_t first = x.rank() - x.layout().tile().size();
  std::vector<int> tile_axes;
  std::vector<bool> tile_gone;
  for (size_t i = first; i < x.rank(); ++i) {
    tile_gone.push_back(gone[i]);
    if (gone[i]) tile_axes.push_back(static_cast<int>(i - first));
  }
  std::map<Shape, std::vector<Operand>> groups;
  const std::vector<Operand> elements = x.elements();
  for (size_t e = 0; e < elements.size(); ++e) {
    const Shape index = x.layout().element_index(x.shape(), static_cast<int64_t>(e));
    Shape kept;
    for (size_t i = 0; i < index.size(); ++i)
      if (!gone[i]) kept.push_back(index[i]);
    groups[kept].push_back(elements[e]);
  }
  const Layout layout = x.layout().reduce(tile_axes);
  std::vector<Operand> values;
  const int64_t count = shape.empty() ? 1 : layout.elements(shape);
  for (int64_t e = 0; e < count; ++e)
    values.push_back(
        combine_all(r, op, d, groups.at(shape.empty() ? Shape{} : layout.element_index(shape, e))));
  across_threads(r, op, d, values, reduced_threads(x.layout().parts(), tile_gone));
  if (shape.empty()) return Array(d, {}, Layout::WG_SPLAT(), values);
  return Array::from_elements(d, shape, layout, values);
}

std::vector<int> all_axes(const Array& x) {
  std::vector<int> axes;
  for (size_t i = 0; i < x.rank(); ++i) axes.push_back(static_cast<int>(i));
  return axes;
}

}  // namespace

#define PLD_REDUCTION(name, op)                                    \
  Array Array::name(int axis, std::source_location loc) const {    \
    const VerbScope at(loc);                                       \
    return reduce(Binary::op, *this, {axis});                      \
  }                                                                \
  Scalar Array::name##_all(std::source_location loc) const {       \
    const VerbScope at(loc);                                       \
    return reduce(Binary::op, *this, all_axes(*this)).scalar(loc); \
  }
PLD_REDUCTION(sum, add)
PLD_REDUCTION(max, max)
PLD_REDUCTION(min, min)
PLD_REDUCTION(prod, mul)
#undef PLD_REDUCTION

}  // namespace palladion::plgpu
