#include "frontend/refs/ref.h"

#include <fmt/format.h>

#include <algorithm>

#include "frontend/core/verbs.h"

namespace palladion::plgpu {

namespace {

std::string_view name(MemorySpace s) {
  switch (s) {
    case MemorySpace::gmem:
      return "GMEM";
    case MemorySpace::smem:
      return "SMEM";
    case MemorySpace::regs:
      return "REGS";
  }
  return "?";
}

// Everything that a window must keep along one dimension of the allocation.
void check_slice(const Ref& ref, size_t dim, int base_dim, const pl::Slice& slice) {
  if (slice.size < 1)
    fail(Code::bad_index, fmt::format("a slice of {} elements of {}", slice.size, to_string(ref)));
  if (slice.stride != 1) fail(Code::bad_index, "strided slices of references are not supported");
  const bool known = slice.start.is_constant();
  // TMA fills or drops what lies outside of a GMEM array; element accesses check for themselves.
  if (ref.space() != MemorySpace::gmem && known &&
      (slice.start.as_int() < 0 || slice.start.as_int() + slice.size > ref.shape(dim))) {
    fail(Code::out_of_bounds,
         fmt::format("slice [{}, {}) of dimension {} of {} is out of bounds", slice.start.as_int(),
                     slice.start.as_int() + slice.size, dim, to_string(ref)));
  }
  if (base_dim < 0 || ref.space() != MemorySpace::smem) return;
  const auto& p = ref.base().physical;
  const auto& d = p.dims[static_cast<size_t>(base_dim)];
  const bool whole = slice.size == ref.shape(dim) && known && slice.start.as_int() == 0;
  const bool swizzled =
      p.swizzle != 16 && d.inner == pl::bytes(ref.dtype()) * int64_t{d.tile > 1} && d.tile > 1;
  const bool untiled_swizzled =
      p.swizzle != 16 && !p.tiled() && static_cast<size_t>(base_dim) + 1 == p.dims.size();
  if (untiled_swizzled && !whole) {
    fail(Code::swizzled_slice,
         fmt::format("Swizzled dims cannot be sliced: dimension {} of {}", dim, to_string(ref)),
         "tile the array with TilingTransform and slice by whole tiles");
  }
  if (d.tile == 1 || whole) return;
  if ((known && slice.start.as_int() % d.tile != 0) || slice.size % d.tile != 0) {
    fail(swizzled ? Code::swizzled_slice : Code::unaligned_slice,
         fmt::format("Expected slice start ({}) and slice size ({}) to be divisible by the tile size ({}) "
                     "along dimension {} of {}",
                     known ? std::to_string(slice.start.as_int()) : "dynamic", slice.size, d.tile, dim,
                     to_string(ref)));
  }
}

}  // namespace

Ref::Ref(std::shared_ptr<const Allocation> allocation) : base_(std::move(allocation)) {
  for (size_t d = 0; d < base_->shape.size(); ++d) dims_.push_back({static_cast<int>(d), base_->shape[d]});
  starts_.assign(base_->shape.size(), Scalar(0));
  refresh_shape();
}

void Ref::refresh_shape() {
  shape_.clear();
  for (const Dim& d : dims_) shape_.push_back(d.size);
}

const Allocation& Ref::base() const {
  if (base_ == nullptr)
    fail(Code::bad_index, "a reference that was never given is used",
         "references come from the kernel's arguments and from scratch");
  return *base_;
}

Ref Ref::index(const std::vector<Indexer>& indices, std::source_location loc) const {
  const At at(loc);
  if (indices.size() > rank()) {
    fail(Code::bad_index,
         fmt::format("{} indices for {}, which has {} dimensions", indices.size(), to_string(*this), rank()));
  }
  Ref out = *this;
  out.dims_.clear();
  for (size_t i = 0; i < rank(); ++i) {
    const Dim& d = dims_[i];
    if (i >= indices.size() || std::holds_alternative<pl::All>(indices[i])) {
      out.dims_.push_back(d);
      continue;
    }
    const auto* scalar = std::get_if<Scalar>(&indices[i]);
    const pl::Slice slice = scalar != nullptr ? pl::Slice{*scalar, 1, 1} : std::get<pl::Slice>(indices[i]);
    if (scalar == nullptr) {
      check_slice(*this, i, d.base, slice);
      out.dims_.push_back({d.base, slice.size});
    } else if (scalar->is_constant() && (scalar->as_int() < 0 || scalar->as_int() >= d.size)) {
      fail(Code::out_of_bounds, fmt::format("index {} is out of bounds for dimension {} of {}",
                                            scalar->as_int(), i, to_string(*this)));
    }
    if (space() == MemorySpace::regs && !slice.start.is_constant()) {
      fail(Code::bad_index,
           "accumulators are registers: they can only be indexed with numbers known while recording");
    }
    if (d.base >= 0) {
      Scalar& start = out.starts_[static_cast<size_t>(d.base)];
      start = start + slice.start;
    }
  }
  out.refresh_shape();
  return out;
}

Ref Ref::transpose(std::vector<int> permutation, std::source_location loc) const {
  const At at(loc);
  std::vector<int> sorted = permutation;
  std::ranges::sort(sorted);
  bool valid = sorted.size() == rank();
  for (size_t i = 0; valid && i < sorted.size(); ++i) valid = sorted[i] == static_cast<int>(i);
  if (!valid) {
    fail(Code::bad_transpose,
         fmt::format("a transpose of {} needs a permutation of its {} dimensions", to_string(*this), rank()));
  }
  if (space() == MemorySpace::regs) fail(Code::bad_transpose, "an accumulator cannot be transposed");
  Ref out = *this;
  for (size_t i = 0; i < permutation.size(); ++i) out.dims_[i] = dims_[static_cast<size_t>(permutation[i])];
  out.refresh_shape();
  return out;
}

bool Ref::is_transposed() const {
  int last = -1;
  for (const Dim& d : dims_) {
    if (d.base < 0) continue;
    if (d.base < last) return true;
    last = d.base;
  }
  return false;
}

Ref Ref::squeeze(std::source_location loc) const {
  const At at(loc);
  Ref out = *this;
  std::erase_if(out.dims_, [](const Dim& d) { return d.size == 1; });
  out.refresh_shape();
  return out;
}

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

}  // namespace

// Dimensions that keep their size are carried over; others are split or joined, which needs the
// allocation's own dimensions, untiled and whole: then the reference gets an allocation of the new shape.
Ref Ref::reshape(Shape shape, std::source_location loc) const {
  const At at(loc);
  if (pl::volume(shape) != pl::volume(shape_)) {
    fail(Code::bad_reshape, fmt::format("{} cannot be reshaped to {}: the numbers of elements differ",
                                        to_string(*this), pl::to_string(shape)));
  }
  Shape without_ones_old, without_ones_new;
  for (int64_t d : shape_)
    if (d != 1) without_ones_old.push_back(d);
  for (int64_t d : shape)
    if (d != 1) without_ones_new.push_back(d);
  Ref out = *this;
  out.dims_.clear();
  if (without_ones_old == without_ones_new) {
    size_t next = 0;
    for (int64_t d : shape) {
      if (d == 1) {
        out.dims_.push_back({-1, 1});
        continue;
      }
      while (dims_[next].size == 1) ++next;
      out.dims_.push_back(dims_[next++]);
    }
    out.refresh_shape();
    return out;
  }
  // A new allocation: dimensions that change must be plain and whole.
  auto base = std::make_shared<Allocation>(*base_);
  base->shape.clear();
  base->physical.dims.clear();
  out.starts_.clear();
  // Dimensions dropped by integer indices stay in front, in their old order.
  std::vector<bool> shown(base_->shape.size());
  for (const Dim& d : dims_)
    if (d.base >= 0) shown[static_cast<size_t>(d.base)] = true;
  const auto keep = [&](int b) {
    base->shape.push_back(base_->shape[static_cast<size_t>(b)]);
    if (!base_->physical.dims.empty())
      base->physical.dims.push_back(base_->physical.dims[static_cast<size_t>(b)]);
    out.starts_.push_back(starts_[static_cast<size_t>(b)]);
    return static_cast<int>(base->shape.size()) - 1;
  };
  for (size_t b = 0; b < shown.size(); ++b)
    if (!shown[b]) keep(static_cast<int>(b));
  if (is_transposed())
    fail(Code::bad_reshape, fmt::format("a transposed reference cannot be reshaped: {}", to_string(*this)));
  for (const Group& g : match_shapes(shape_, shape)) {
    if (g.old_last - g.old_first == 1 && g.new_last - g.new_first == 1 && dims_[g.old_first].base >= 0) {
      out.dims_.push_back({keep(dims_[g.old_first].base), shape[g.new_first]});
      continue;
    }
    int64_t stride = pl::bytes(dtype());
    for (size_t i = g.old_first; i < g.old_last; ++i) {
      const Dim& d = dims_[i];
      if (d.base < 0) continue;
      const auto& p = base_->physical.dims[static_cast<size_t>(d.base)];
      const bool whole = d.size == base_->shape[static_cast<size_t>(d.base)] || i == g.old_first;
      if (p.tile != 1 || !whole) {
        fail(Code::bad_reshape,
             fmt::format("{} cannot be reshaped to {}: dimension {} is {}", to_string(*this),
                         pl::to_string(shape), i, p.tile != 1 ? "tiled" : "sliced"));
      }
      stride = p.outer;
    }
    // The first old dimension may be a slice: its start moves to the first new one.
    Scalar start =
        dims_[g.old_first].base >= 0 ? starts_[static_cast<size_t>(dims_[g.old_first].base)] : Scalar(0);
    const int64_t inner_old = pl::volume(Shape(shape_.begin() + static_cast<int64_t>(g.old_first) + 1,
                                               shape_.begin() + static_cast<int64_t>(g.old_last)));
    const int64_t inner_new = pl::volume(Shape(shape.begin() + static_cast<int64_t>(g.new_first) + 1,
                                               shape.begin() + static_cast<int64_t>(g.new_last)));
    if (!(start.is_constant() && start.as_int() == 0)) {
      if ((start.multiple() * inner_old) % inner_new != 0) {
        fail(Code::bad_reshape,
             fmt::format("{} cannot be reshaped to {}: its slice does not start at a multiple of {}",
                         to_string(*this), pl::to_string(shape), inner_new));
      }
      start = inner_old >= inner_new ? start * (inner_old / inner_new) : start / (inner_new / inner_old);
    }
    std::vector<int64_t> strides;
    for (size_t j = g.new_last; j-- > g.new_first;) {
      strides.insert(strides.begin(), stride);
      stride *= shape[j];
    }
    for (size_t j = g.new_first; j < g.new_last; ++j) {
      base->shape.push_back(shape[j]);
      base->physical.dims.push_back({1, strides[j - g.new_first], 0});
      out.starts_.push_back(j == g.new_first ? start : Scalar(0));
      out.dims_.push_back({static_cast<int>(base->shape.size()) - 1, shape[j]});
    }
  }
  out.base_ = std::move(base);
  out.refresh_shape();
  return out;
}

Ref Ref::with_flat_dim(std::shared_ptr<const Allocation> base) const {
  Ref out = *this;
  out.dims_ = {{static_cast<int>(base->shape.size()) - 1, base->shape.back()}};
  out.starts_.push_back(Scalar(0));
  out.base_ = std::move(base);
  out.refresh_shape();
  return out;
}

Ref Ref::bitcast(DType target, std::source_location loc) const {
  const At at(loc);
  if (pl::bits(target) != pl::bits(dtype())) {
    fail(Code::bad_conversion,
         fmt::format("a bitcast of {} to {}: the widths differ", to_string(*this), pl::name(target)));
  }
  auto base = std::make_shared<Allocation>(*base_);
  base->dtype = target;
  Ref out = *this;
  out.base_ = std::move(base);
  return out;
}

Ref transpose_ref(const Ref& ref, std::vector<int> permutation, std::source_location loc) {
  return ref.transpose(std::move(permutation), loc);
}

Ref cluster_ref(const Ref& ref, const std::string& axis, const Scalar& index, std::source_location loc) {
  const At at(loc);
  Recorder& r = Recorder::current();
  if (ref.space() != MemorySpace::smem)
    fail(Code::bad_space, fmt::format("cluster_ref takes an SMEM reference, this is {}", to_string(ref)));
  const auto& cluster = r.mesh().cluster;
  Scalar rank(0);
  bool found = false;
  for (const auto& a : cluster) {
    const bool here = a.name == axis;
    found |= here;
    rank = rank * a.size + (here ? index : pl::axis_index(a.name, loc));
  }
  if (!found) fail(Code::unknown_axis, fmt::format("the cluster has no axis named \"{}\"", axis));
  auto base = std::make_shared<Allocation>(ref.base());
  base->cluster_rank = rank;
  return ref.with_base(std::move(base));
}

std::string to_string(const Ref& ref) {
  return fmt::format("{} reference{}{} {}{}", name(ref.space()), ref.name().empty() ? "" : " ", ref.name(),
                     pl::name(ref.dtype()), pl::to_string(ref.shape()));
}

}  // namespace palladion::plgpu
