#include "frontend/refs/ref.h"

#include <fmt/format.h>

#include <algorithm>

#include "frontend/core/verbs.h"

namespace palladion::plgpu {

namespace {

std::string_view name(MemorySpace s) {
  constexpr std::string_view names[] = {"GMEM", "SMEM", "REGS", "TMEM"};
  return names[static_cast<size_t>(s)];
}

void check_integer(const Scalar& index) {
  if (!pl::is_integer(index.dtype()))
    fail(Code::bad_index,
         fmt::format("an index is of dtype {}: it must be an integer", pl::name(index.dtype())),
         "convert it with .astype(pl::s32)");
}

// Elements of a dimension of the allocation that share a byte.
int64_t per_byte(const Ref& ref, int base_dim) {
  return static_cast<size_t>(base_dim) + 1 == ref.base().shape.size() ? pl::per_byte(ref.dtype()) : 1;
}

// Whether neighbours along the dimension are neighbours in memory.
bool is_minor(const Ref& ref, const PhysicalLayout::Dim& d) {
  const int64_t size = pl::per_byte(ref.dtype()) > 1 ? 1 : pl::bytes(ref.dtype());
  return d.tile == 1 ? d.outer == size : d.inner == size;
}

// A slice with a stride picks rows: of tiles it takes one row each, and a swizzle's span stays whole.
void check_strided(const Ref& ref, size_t dim, int base_dim, const pl::Slice& slice) {
  if (slice.stride < 1) {
    fail(Code::bad_index,
         fmt::format("a slice of {} with stride {}: it must be at least 1", to_string(ref), slice.stride),
         "leave the stride away for every element, or index one element with .at(i)");
  }
  if (ref.space() == MemorySpace::regs || ref.space() == MemorySpace::tmem || base_dim < 0 ||
      per_byte(ref, base_dim) > 1)
    fail(Code::bad_index, fmt::format("a slice with a stride along dimension {} of {}", dim, to_string(ref)));
  pl::volume({slice.size, slice.stride});  // an Error where they span more than any array
  const int64_t last = (slice.size - 1) * slice.stride;
  const int64_t start = slice.start.is_constant() ? slice.start.as_int() : 0;
  if (start < 0 || start > ref.shape(dim) || start + last >= ref.shape(dim)) {
    fail(Code::out_of_bounds,
         fmt::format("a slice of {} elements, every {}, from {} on, of dimension {} of {} is out of bounds",
                     slice.size, slice.stride,
                     slice.start.is_constant() ? std::to_string(start) : "any place", dim, to_string(ref)),
         "the last element is start + (size - 1) * stride: take fewer elements");
  }
  const auto& p = ref.base().physical;
  const auto& d = p.dims[static_cast<size_t>(base_dim)];
  if (p.swizzle != 16 && is_minor(ref, d))
    fail(Code::swizzled_slice,
         fmt::format("Swizzled dims cannot be sliced: dimension {} of {}", dim, to_string(ref)),
         "slice another dimension, or allocate the array without a swizzle");
  if (d.tile != 1 && slice.stride % d.tile != 0) {
    fail(Code::unaligned_slice,
         fmt::format("a slice with stride {} of dimension {} of {}: the stride must be a "
                     "multiple of the tile of {}",
                     slice.stride, dim, to_string(ref), d.tile),
         "allocate the array without a TilingTransform, or slice it with stride 1 and whole tiles");
  }
}

// Everything that a window must keep along one dimension of the allocation.
void check_slice(const Ref& ref, size_t dim, int base_dim, const pl::Slice& slice) {
  if (slice.size < 1)
    fail(Code::bad_index, fmt::format("a slice of {} elements of {}", slice.size, to_string(ref)),
         "give a size of at least 1: .at(pl::ds(start, size))");
  pl::volume({slice.size});  // an Error where it is larger than any array
  if (slice.stride != 1) return check_strided(ref, dim, base_dim, slice);
  const bool known = slice.start.is_constant();
  // TMA fills or drops what lies outside of a GMEM array; element accesses check for themselves.
  if (ref.space() != MemorySpace::gmem && known &&
      (slice.start.as_int() < 0 || slice.start.as_int() > ref.shape(dim) - slice.size)) {
    fail(Code::out_of_bounds,
         fmt::format("slice [{}, {}) of dimension {} of {} is out of bounds", slice.start.as_int(),
                     slice.start.as_int() + slice.size, dim, to_string(ref)),
         "indices count from 0; the start and the size of a slice add up to at most the dimension's size");
  }
  if (base_dim < 0) return;
  const bool in_memory = ref.space() == MemorySpace::smem || ref.space() == MemorySpace::gmem;
  if (const int64_t per = per_byte(ref, base_dim);
      in_memory && (slice.size % per != 0 || slice.start.multiple() % per != 0))
    fail(Code::unaligned_slice,
         fmt::format("a slice of {} elements of dimension {} of {}: {} of them share a byte", slice.size, dim,
                     to_string(ref), per),
         fmt::format("start and size are multiples of {}; pl::multiple_of promises it of a start", per));
  if (ref.space() != MemorySpace::smem) return;
  const auto& p = ref.base().physical;
  const auto& d = p.dims[static_cast<size_t>(base_dim)];
  const int64_t tile = d.tile == 1 ? 1 : d.tile * per_byte(ref, base_dim);
  const bool whole = slice.size == ref.shape(dim) && known && slice.start.as_int() == 0;
  const bool swizzled = p.swizzle != 16 && d.tile > 1 && is_minor(ref, d);
  const bool untiled_swizzled =
      p.swizzle != 16 && !p.tiled() && static_cast<size_t>(base_dim) + 1 == p.dims.size();
  if (untiled_swizzled && !whole) {
    fail(Code::swizzled_slice,
         fmt::format("Swizzled dims cannot be sliced: dimension {} of {}", dim, to_string(ref)),
         "tile the array with TilingTransform and slice by whole tiles");
  }
  if (tile == 1 || whole) return;
  if ((known && slice.start.as_int() % tile != 0) || slice.size % tile != 0) {
    fail(swizzled ? Code::swizzled_slice : Code::unaligned_slice,
         fmt::format("Expected slice start ({}) and slice size ({}) to be divisible by the tile size ({}) "
                     "along dimension {} of {}",
                     known ? std::to_string(slice.start.as_int()) : "dynamic", slice.size, tile, dim,
                     to_string(ref)),
         "slice whole tiles, or allocate the array with a smaller tile");
  }
}

}  // namespace

std::string_view name(TMEMLayout layout) {
  constexpr std::string_view names[] = {"SCALES_LAYOUT", "SPARSE_METADATA_LAYOUT", "M64_COLLECTIVE_LAYOUT",
                                        "SCALES_M64_COLLECTIVE_LAYOUT"};
  return names[static_cast<size_t>(layout)];
}

TensorPlacement::Group TensorPlacement::group(DType dtype, int64_t rows) const {
  if (layout == TMEMLayout::SCALES_LAYOUT) return {4, rows / 32};
  if (layout == TMEMLayout::SPARSE_METADATA_LAYOUT) return {16, 1};
  return {elements_per_column(dtype), 1};
}

Indexer detail::to_indexer(const Array&) {
  frontend::unsupported(
      "a reference indexed with an array behind its first dimension: TMA gathers and scatters whole rows",
      "plgpu::load(ref, {indices}) and plgpu::store(ref, {indices}, values) gather and scatter "
      "single elements");
}

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
  home_.check();
  frontend::check_alive(base_->scope, "reference", base_->name);
  return *base_;
}

Ref Ref::index(const std::vector<Indexer>& indices, std::source_location loc) const {
  const At at(loc);
  if (indices.size() > rank()) {
    fail(Code::bad_index,
         fmt::format("{} indices for {}, which has {} dimensions", indices.size(), to_string(*this), rank()),
         "give at most one index or slice for each dimension");
  }
  Ref out = view();
  out.dims_.clear();
  for (size_t i = 0; i < rank(); ++i) {
    const Dim& d = dims_[i];
    if (i >= indices.size() || std::holds_alternative<pl::All>(indices[i])) {
      out.dims_.push_back(d);
      continue;
    }
    const auto* scalar = std::get_if<Scalar>(&indices[i]);
    check_integer(scalar != nullptr ? *scalar : std::get<pl::Slice>(indices[i]).start);
    const pl::Slice slice = scalar != nullptr ? pl::Slice{*scalar, 1, 1} : std::get<pl::Slice>(indices[i]);
    if (scalar == nullptr) {
      check_slice(*this, i, d.base, slice);
      out.dims_.push_back({d.base, slice.size});
    } else if (scalar->is_constant() && (scalar->as_int() < 0 || scalar->as_int() >= d.size)) {
      fail(Code::out_of_bounds,
           fmt::format("index {} is out of bounds for dimension {} of {}", scalar->as_int(), i,
                       to_string(*this)),
           "indices count from 0");
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
  for (size_t i = 0, shown = 0; i < indices.size(); ++i) {
    const auto* slice = std::get_if<pl::Slice>(&indices[i]);
    if (slice != nullptr && slice->stride != 1) out.stride_dim(shown, *slice);
    shown += static_cast<size_t>(!std::holds_alternative<Scalar>(indices[i]));
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
         fmt::format("a transpose of {} needs a permutation of its {} dimensions", to_string(*this), rank()),
         "name each dimension once: {1, 0} transposes a matrix");
  }
  if (space() == MemorySpace::regs) fail(Code::bad_transpose, "an accumulator cannot be transposed");
  if (space() == MemorySpace::tmem) fail(Code::bad_transpose, "tensor memory cannot be transposed");
  Ref out = view();
  for (size_t i = 0; i < permutation.size(); ++i) out.dims_[i] = dims_[static_cast<size_t>(permutation[i])];
  out.refresh_shape();
  return out;
}

// The allocation's dimension becomes two: the old one, no longer shown, with the slice's start, and behind it
// one of the slice's elements.
void Ref::stride_dim(size_t dim, const pl::Slice& slice) {
  const int b = dims_[dim].base;
  const auto at = static_cast<std::ptrdiff_t>(b) + 1;
  auto base = std::make_shared<Allocation>(*base_);
  const PhysicalLayout::Dim d = base->physical.dims[static_cast<size_t>(b)];
  const int64_t step = slice.size == 1 ? d.outer : d.outer * (slice.stride / d.tile);
  base->shape.insert(base->shape.begin() + at, slice.size);
  base->physical.dims.insert(base->physical.dims.begin() + at, {1, step, 0});
  base->open_stride |= space() == MemorySpace::gmem && !slice.start.is_constant();
  starts_.insert(starts_.begin() + at, Scalar(0));
  for (Dim& other : dims_) other.base += static_cast<int>(other.base > b);
  dims_[dim].base = b + 1;
  base_ = std::move(base);
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

Ref Ref::as_bytes() const {
  const int64_t per = pl::per_byte(dtype());
  if (per == 1) return *this;
  auto bytes = std::make_shared<Allocation>(base());
  const auto minor = static_cast<int>(bytes->shape.size()) - 1;
  bytes->dtype = DType::u8;
  bytes->shape.back() /= per;
  Ref out = view();
  const auto refuse = [&] {
    fail(Code::unaligned_slice, fmt::format("{}: {} elements share a byte", to_string(*this), per),
         "index the other dimensions; slice this one by whole bytes");
  };
  bool shown = false;
  for (Dim& d : out.dims_) {
    if (d.base != minor) continue;
    shown = true;
    if (d.size % per != 0) refuse();
    d.size /= per;
  }
  Scalar& start = out.starts_.back();
  if (!shown || start.multiple() % per != 0) refuse();
  start = start / per;
  out.base_ = std::move(bytes);
  out.refresh_shape();
  return out;
}

Ref Ref::squeeze(std::source_location loc) const {
  const At at(loc);
  Ref out = view();
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

Shape without_ones(Shape shape) {
  std::erase(shape, 1);
  return shape;
}

// The dimensions of a shape that differs from the old one in dimensions of size 1 only.
std::vector<Ref::Dim> carried_over(const std::vector<Ref::Dim>& from, const Shape& shape) {
  std::vector<Ref::Dim> dims;
  size_t next = 0;
  for (const int64_t d : shape) {
    if (d == 1) {
      dims.push_back({-1, 1});
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
  const At at(loc);
  if (pl::volume(shape) != pl::volume(shape_)) {
    fail(Code::bad_reshape,
         fmt::format("{} cannot be reshaped to {}: the numbers of elements differ", to_string(*this),
                     pl::to_string(shape)),
         "multiply the sizes out: both shapes hold the same number of elements");
  }
  Ref out = view();
  if (without_ones(shape_) == without_ones(shape)) {
    out.dims_ = carried_over(dims_, shape);
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
  const At at(loc);
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
  if (!found)
    fail(Code::unknown_axis, fmt::format("the cluster has no axis named \"{}\"", axis),
         "name an axis of cluster_names");
  if (const int64_t size = pl::axis_size(axis, loc);
      index.is_constant() && (index.as_int() < 0 || index.as_int() >= size))
    fail(Code::out_of_bounds,
         fmt::format("cluster_ref: index {} along axis \"{}\" of {} CTAs", index.as_int(), axis, size),
         "CTAs count from 0 along each axis; wrap around with % of the axis' size");
  auto base = std::make_shared<Allocation>(ref.base());
  base->cluster_rank = rank;
  return ref.with_base(std::move(base));
}

std::string to_string(const Ref& ref) {
  return fmt::format("{} reference{}{} {}{}", name(ref.space()), ref.name().empty() ? "" : " ", ref.name(),
                     pl::name(ref.dtype()), pl::to_string(ref.shape()));
}

}  // namespace palladion::plgpu
