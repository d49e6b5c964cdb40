// References of another shape, or dtype, over the same bytes.
#include <fmt/format.h>

#include "frontend/core/verbs.h"
#include "frontend/refs/ref.h"

namespace palladion::plgpu {

namespace {

// Groups of old and new dimensions with equal products, left to right.
struct Group {
  size_t old_first, old_last, new_first, new_last;
};
std::vector<Group> match_shapes(const Shape& from, const Shape& to) {
  std::vector<Group> groups;
  size_t i = 0, j = 0;
  while (i < from.size() || j < to.size()) {
    const size_t i0 = i, j0 = j;
    int64_t a = i < from.size() ? from[i++] : 1, b = j < to.size() ? to[j++] : 1;
    while (a != b) {
      if (a < b)
        a *= from[i++];
      else
        b *= to[j++];
    }
    groups.push_back({i0, i, j0, j});
  }
  return groups;
}

Shape without_ones(Shape shape) {
  std::erase(shape, 1);
  return shape;
}

// The dimensions of a shape that differs from the old one in dimensions of size 1 only. One of the
// allocation's stays one: copies know where it ends.
std::vector<Ref::Dim> carried_over(const Ref& ref, const Shape& shape) {
  const std::vector<Ref::Dim>& from = ref.dims();
  const auto is_one_of_allocation = [&](const Ref::Dim& d) {
    return d.base >= 0 && d.size == 1 && ref.base().shape[static_cast<size_t>(d.base)] == 1;
  };
  std::vector<Ref::Dim> dims;
  size_t next = 0;
  for (const int64_t d : shape) {
    if (d == 1) {
      const bool kept = next < from.size() && is_one_of_allocation(from[next]);
      dims.push_back(kept ? from[next++] : Ref::Dim{-1, 1});
      continue;
    }
    while (from[next].size == 1) ++next;
    dims.push_back(from[next++]);
  }
  return dims;
}

// An allocation of another shape over the same bytes. Dimensions that change must be plain and whole.
class Reshaping {
 public:
  std::vector<Ref::Dim> dims;
  std::vector<Scalar> starts;
  std::shared_ptr<Allocation> base;

  Reshaping(const Ref& from, const Shape& shape)
      : base(std::make_shared<Allocation>(from.base())), from_(from), shape_(shape) {
    base->shape.clear();
    base->physical.dims.clear();
    keep_hidden();
    if (from.is_transposed())
      fail(Code::bad_reshape, fmt::format("a transposed reference cannot be reshaped: {}", to_string(from)));
    for (const Group& g : match_shapes(from.shape(), shape)) {
      if (g.old_last - g.old_first == 1 && g.new_last - g.new_first == 1 && old(g.old_first).base >= 0)
        dims.push_back({keep(old(g.old_first).base), shape[g.new_first]});
      else
        replace(g);
    }
  }

 private:
  const Ref::Dim& old(size_t i) const { return from_.dims()[i]; }

  int keep(int b) {
    const auto at = static_cast<size_t>(b);
    const Allocation& old_base = from_.base();
    base->shape.push_back(old_base.shape[at]);
    if (!old_base.physical.dims.empty()) base->physical.dims.push_back(old_base.physical.dims[at]);
    starts.push_back(from_.starts()[at]);
    return static_cast<int>(base->shape.size()) - 1;
  }

  // Dimensions dropped by integer indices stay in front, in their old order.
  void keep_hidden() {
    std::vector<bool> shown(from_.base().shape.size());
    for (const Ref::Dim& d : from_.dims())
      if (d.base >= 0) shown[static_cast<size_t>(d.base)] = true;
    for (size_t b = 0; b < shown.size(); ++b)
      if (!shown[b]) keep(static_cast<int>(b));
  }

  [[noreturn]] void impossible(const std::string& why) const {
    fail(Code::bad_reshape,
         fmt::format("{} cannot be reshaped to {}: {}", to_string(from_), pl::to_string(shape_), why),
         "allocate the array without transforms, or reshape it after the load");
  }

  // Bytes between neighbours along the last of the old dimensions.
  int64_t stride_of(const Group& g) const {
    int64_t stride = pl::bytes(from_.dtype()), joined = 0;
    for (size_t i = g.old_last; i-- > g.old_first;) {
      const Ref::Dim& d = old(i);
      if (d.base < 0) continue;
      const auto& p = from_.base().physical.dims[static_cast<size_t>(d.base)];
      const bool whole = d.size == from_.base().shape[static_cast<size_t>(d.base)] || i == g.old_first;
      if (p.tile != 1 || !whole)
        impossible(fmt::format("dimension {} is {}", i, p.tile != 1 ? "tiled" : "sliced"));
      if (joined != 0 && d.size != 1 && p.outer != joined)
        impossible(fmt::format("the elements along dimension {} are no neighbours of the others", i));
      if (joined == 0) stride = p.outer;
      if (joined == 0 || d.size != 1) joined = p.outer * d.size;
    }
    return stride;
  }

  // The first old dimension may be a slice: its start moves to the first new one.
  Scalar start_of(const Group& g) const {
    const auto inner = [](const Shape& shape, size_t first, size_t last) {
      return pl::volume(
          Shape(shape.begin() + static_cast<int64_t>(first) + 1, shape.begin() + static_cast<int64_t>(last)));
    };
    const int b = old(g.old_first).base;
    const Scalar start = b >= 0 ? from_.starts()[static_cast<size_t>(b)] : Scalar(0);
    if (start.is_constant() && start.as_int() == 0) return start;
    const int64_t inner_old = inner(from_.shape(), g.old_first, g.old_last),
                  inner_new = inner(shape_, g.new_first, g.new_last);
    if ((start.multiple() * inner_old) % inner_new != 0)
      impossible(fmt::format("its slice does not start at a multiple of {}", inner_new));
    return inner_old >= inner_new ? start * (inner_old / inner_new) : start / (inner_new / inner_old);
  }

  void replace(const Group& g) {
    int64_t stride = stride_of(g);
    const Scalar start = start_of(g);
    std::vector<int64_t> strides;
    for (size_t j = g.new_last; j-- > g.new_first;) {
      strides.insert(strides.begin(), stride);
      stride *= shape_[j];
    }
    for (size_t j = g.new_first; j < g.new_last; ++j) {
      base->shape.push_back(shape_[j]);
      base->physical.dims.push_back({1, strides[j - g.new_first], 0});
      starts.push_back(j == g.new_first ? start : Scalar(0));
      dims.push_back({static_cast<int>(base->shape.size()) - 1, shape_[j]});
    }
  }

  const Ref& from_;
  const Shape& shape_;
};

}  // namespace

// Dimensions that keep their size are carried over; others are split or joined, which needs the
// allocation's own dimensions, untiled and whole: then the reference gets an allocation of the new shape.
Ref Ref::reshape(Shape shape, std::source_location loc) const {
  const VerbScope at(loc);
  if (pl::volume(shape) != pl::volume(shape_)) {
    fail(Code::bad_reshape,
         fmt::format("{} cannot be reshaped to {}: the numbers of elements differ", to_string(*this),
                     pl::to_string(shape)),
         "multiply the sizes out: both shapes hold the same number of elements");
  }
  Ref out = view();
  if (without_ones(shape_) == without_ones(shape)) {
    out.dims_ = carried_over(*this, shape);
  } else {
    if (pl::per_byte(dtype()) > 1)
      frontend::unsupported(fmt::format("reshape of {}, whose elements share a byte", to_string(*this)),
                            "allocate the array in this shape");
    Reshaping reshaping(*this, shape);
    out.dims_ = std::move(reshaping.dims);
    out.starts_ = std::move(reshaping.starts);
    out.base_ = std::move(reshaping.base);
  }
  out.refresh_shape();
  return out;
}

Ref Ref::with_flat_dim(std::shared_ptr<const Allocation> base) const {
  Ref out = view();
  out.dims_ = {{static_cast<int>(base->shape.size()) - 1, base->shape.back()}};
  out.starts_.push_back(Scalar(0));
  out.base_ = std::move(base);
  out.refresh_shape();
  return out;
}

Ref Ref::bitcast(DType target, std::source_location loc) const {
  const VerbScope at(loc);
  if (pl::bits(target) != pl::bits(dtype())) {
    fail(Code::bad_conversion,
         fmt::format("a bitcast of {} to {}: the widths differ", to_string(*this), pl::name(target)));
  }
  auto base = std::make_shared<Allocation>(this->base());
  base->dtype = target;
  Ref out = view();
  out.base_ = std::move(base);
  return out;
}

}  // namespace palladion::plgpu
