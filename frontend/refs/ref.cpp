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
  lifetime_.check();
  frontend::check_alive(base_->scope, "reference", base_->name);
  return *base_;
}

Ref Ref::index(const std::vector<Indexer>& indices, std::source_location loc) const {
  const VerbScope at(loc);
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
  const VerbScope at(loc);
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
  const VerbScope at(loc);
  Ref out = view();
  std::erase_if(out.dims_, [](const Dim& d) { return d.size == 1; });
  out.refresh_shape();
  return out;
}

Ref transpose_ref(const Ref& ref, std::vector<int> permutation, std::source_location loc) {
  return ref.transpose(std::move(permutation), loc);
}

Ref cluster_ref(const Ref& ref, const std::string& axis, const Scalar& index, std::source_location loc) {
  const VerbScope at(loc);
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
