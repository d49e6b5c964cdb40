#include "frontend/memory/tma.h"

#include <fmt/format.h>

#include <algorithm>

namespace palladion::frontend {

using pl::Scalar;
using plgpu::MemorySpace;
using plgpu::Ref;

namespace {

// Digits of the window in row-major order, without tiles (prefetch).
std::vector<CopyDigit> plain_digits(const Ref& gmem) {
  std::vector<CopyDigit> digits;
  for (size_t d = 0; d < gmem.rank(); ++d) digits.push_back({static_cast<int>(d), gmem.shape(d), 1, 0});
  return digits;
}

struct Stride {
  int64_t elements;  // of the GMEM array, along a view dimension
  int64_t size;      // of that dimension of the array
  Scalar start;
};

Stride gmem_stride(const Ref& gmem, int dim) {
  const int b = gmem.dims()[static_cast<size_t>(dim)].base;
  if (b < 0) return {0, 1, Scalar(0)};
  return {gmem.base().physical.dims[static_cast<size_t>(b)].outer / pl::bytes(gmem.dtype()),
          gmem.base().shape[static_cast<size_t>(b)], gmem.starts()[static_cast<size_t>(b)]};
}

// A dimension of the tensor map, outermost first while it is being built.
struct MapDim {
  int view_dim;
  int64_t step;    // indices of the view's dimension that one step makes
  int64_t extent;  // of the array, in steps
  int64_t stride;  // elements
  int64_t box;
  Scalar coordinate;
};

// Neighbouring digits of one dimension become one again when their product is a legal box.
std::vector<CopyDigit> merge(const std::vector<CopyDigit>& digits, const std::vector<bool>& keep_apart) {
  std::vector<CopyDigit> out;
  for (size_t i = 0; i < digits.size(); ++i) {
    const CopyDigit& d = digits[i];
    if (!out.empty() && out.back().dim == d.dim && out.back().gmem_step == d.gmem_step * d.size &&
        out.back().size * d.size <= Recorder::current().arch().max_box && !keep_apart[i]) {
      out.back().size *= d.size;
      out.back().gmem_step = d.gmem_step;
      out.back().smem_stride = d.smem_stride;
    } else {
      out.push_back(d);
    }
  }
  return out;
}

[[noreturn]] void limit(std::string_view verb, const Ref& gmem, const std::string& what,
                        std::string help = {}) {
  fail(Code::copy_limits, fmt::format("{} of {}: {}", verb, plgpu::to_string(gmem), what), std::move(help));
}

// The map's dimensions for the digits of a window; digits of size 1 whose window start is handled by
// another digit vanish.
std::vector<MapDim> map_dims(const Ref& gmem, const std::vector<CopyDigit>& digits, std::string_view verb) {
  std::vector<MapDim> dims;
  std::vector<bool> has_start(gmem.rank());
  for (const CopyDigit& digit : digits) {
    const Stride s = gmem_stride(gmem, digit.dim);
    if (s.elements == 0 && digit.size > 1)
      limit(verb, gmem,
            fmt::format("a slice of {} elements of dimension {}, which a reshape has added: it has one",
                        digit.size, digit.dim),
            "copy what the reference has before it is reshaped");
    if (s.elements == 0) continue;
    const bool outermost = !has_start[static_cast<size_t>(digit.dim)];
    has_start[static_cast<size_t>(digit.dim)] = true;
    MapDim m{digit.dim, digit.gmem_step, 0, s.elements * digit.gmem_step, digit.size, Scalar(0)};
    if (outermost) {
      if (digit.gmem_step > 1 && s.size % digit.gmem_step != 0) {
        limit(verb, gmem,
              fmt::format("dimension {} of the array is {}, which the tile of {} does not divide", digit.dim,
                          s.size, digit.gmem_step),
              "pad the array, or use a tile whose columns are one swizzle span so that its rows stay one "
              "dimension");
      }
      if (s.start.is_constant() && s.start.as_int() % digit.gmem_step != 0) {
        limit(verb, gmem,
              fmt::format("the slice starts at {}, which is not a multiple of the tile of {}",
                          s.start.as_int(), digit.gmem_step));
      }
      m.extent = s.size / digit.gmem_step;
      m.coordinate = digit.gmem_step == 1 ? s.start : s.start / digit.gmem_step;
    } else {
      m.extent = digit.size;
    }
    dims.push_back(m);
  }
  // Dimensions that were indexed away still have a place.
  for (size_t b = 0; b < gmem.base().shape.size(); ++b) {
    const bool shown =
        std::ranges::any_of(gmem.dims(), [&](const Ref::Dim& d) { return d.base == static_cast<int>(b); });
    const Scalar& start = gmem.starts()[b];
    if (shown || gmem.base().shape[b] == 1) continue;
    const int64_t stride = gmem.base().physical.dims[b].outer / pl::bytes(gmem.dtype());
    dims.insert(dims.begin(), MapDim{-1, 1, gmem.base().shape[b], stride, 1, start});
  }
  return dims;
}

// Dimensions of box 1 that start at 0 and add nothing are dropped while there are too many.
void drop_unit_dims(std::vector<MapDim>& dims) {
  for (size_t i = 0; i + 1 < dims.size() && dims.size() > 1;) {
    const MapDim& d = dims[i];
    if (d.box == 1 && d.extent == 1 && d.coordinate.is_constant() && d.coordinate.as_int() == 0) {
      dims.erase(dims.begin() + static_cast<int64_t>(i));
    } else {
      ++i;
    }
  }
}

// Two indexed-away dimensions become one: c0 * n1 + c1. (Out of bounds of the inner one is then not seen.)
void fold_indices(std::vector<MapDim>& dims) {
  for (size_t i = 0; i + 1 < dims.size() && dims.size() > isa::max_tensor_rank;) {
    MapDim& a = dims[i];
    MapDim& b = dims[i + 1];
    if (a.box == 1 && a.stride == b.stride * b.extent && b.view_dim == -1 && a.view_dim == -1) {
      b.coordinate = a.coordinate * b.extent + b.coordinate;
      b.extent *= a.extent;
      dims.erase(dims.begin() + static_cast<int64_t>(i));
    } else {
      ++i;
    }
  }
}

TmaBox box_of(const Ref& gmem, std::vector<MapDim> dims, isa::Swizzle swizzle, std::string_view verb) {
  const int64_t size = pl::bytes(gmem.dtype());
  drop_unit_dims(dims);
  fold_indices(dims);
  if (dims.empty()) dims.push_back({-1, 1, 1, 1, 1, Scalar(0)});
  if (dims.back().stride != 1) {
    // TMA's innermost dimension is contiguous in global memory.
    limit(verb, gmem, "the minor dimension of the SMEM window is not the contiguous one of the array",
          "copy it untransposed and transpose the SMEM reference with plgpu::transpose_ref; what a slice "
          "with a "
          "stride along this dimension picks is loaded with .load()");
  }
  if (dims.size() > isa::max_tensor_rank) {
    limit(verb, gmem, fmt::format("the copy needs {} dimensions, TMA has 5", dims.size()),
          "copy fewer tiles at once");
  }
  TmaBox box;
  const isa::ArchSpec& arch = Recorder::current().arch();
  isa::TensorMap& m = box.map;
  m.data_type = tensor_data_type(gmem, verb);
  m.rank = static_cast<int>(dims.size());
  m.swizzle = swizzle;
  m.l2_promotion = isa::L2Promotion::b256;
  box.bytes = size;
  for (int i = 0; i < m.rank; ++i) {
    const MapDim& d = dims[dims.size() - 1 - static_cast<size_t>(i)];
    m.dims[static_cast<size_t>(i)] = static_cast<uint64_t>(d.extent);
    m.box[static_cast<size_t>(i)] = static_cast<uint32_t>(d.box);
    if (i > 0) m.strides[static_cast<size_t>(i) - 1] = static_cast<uint64_t>(d.stride * size);
    if (d.box > arch.max_box)
      limit(verb, gmem,
            fmt::format("{} elements along one dimension, TMA copies at most {}", d.box, arch.max_box),
            "split the copy");
    if (i > 0 && d.stride * size % 16 != 0) {
      limit(
          verb, gmem,
          fmt::format("a stride of {} bytes: all strides except the minor one must be multiples of 16 bytes",
                      d.stride * size));
    }
    box.coordinates.push_back(d.coordinate);
    box.bytes *= d.box;
  }
  if (dims.back().box * size % 16 != 0) {
    limit(verb, gmem,
          fmt::format("the minor dimension of the copy is {} bytes, it must be a multiple of 16",
                      dims.back().box * size));
  }
  for (const std::string& rule : isa::validate(m, arch))
    limit(verb, gmem, "the tensor map breaks a rule: " + rule);
  return box;
}

}  // namespace

namespace {

void check_windows(const Ref& gmem, const Ref& smem, std::string_view verb) {
  if (gmem.space() != MemorySpace::gmem || smem.space() != MemorySpace::smem) {
    fail(Code::bad_space,
         fmt::format("{} copies between GMEM and SMEM; these are {} and {}", verb, plgpu::to_string(gmem),
                     plgpu::to_string(smem)),
         "copy within one memory space with dst.store(src.load())");
  }
  if (smem.base().cluster_rank)
    fail(Code::bad_space,
         fmt::format("{}: SMEM of another CTA: use collective_axes or async_store_smem", verb));
  if (gmem.shape() != smem.shape()) {
    fail(Code::copy_mismatch,
         fmt::format("{}: Expected source shape to be {}, but the windows are {} and {}", verb,
                     pl::to_string(smem.shape()), plgpu::to_string(gmem), plgpu::to_string(smem)),
         "slice the larger reference with .at(pl::ds(start, size)), or allocate SMEM of the copy's shape");
  }
  if (gmem.dtype() != smem.dtype()) {
    fail(
        Code::copy_mismatch,
        fmt::format("{}: the dtypes differ: {} and {}", verb, plgpu::to_string(gmem), plgpu::to_string(smem)),
        "allocate the SMEM with the dtype of the GMEM array and convert after the load with .astype(dtype)");
  }
}

}  // namespace

isa::TensorDataType tensor_data_type(const Ref& gmem, std::string_view verb) {
  const pl::DType d = gmem.dtype();
  if (d == pl::DType::bool_ || pl::bits(d) == 8) return isa::TensorDataType::u8;
  const auto type = isa::tensor_data_type(pl::isa_type(d));
  if (type) return *type;
  if (d == pl::DType::s16) return isa::TensorDataType::u16;
  limit(verb, gmem, fmt::format("TMA does not carry {}", pl::name(d)));
}

Scalar aligned_address(const Ref& smem, std::string_view verb) {
  Scalar address = shared_address(smem);
  if (address.multiple() % 128 != 0)
    fail(Code::copy_limits,
         fmt::format("{}: the window {} does not start at a multiple of 128 bytes of shared memory", verb,
                     plgpu::to_string(smem)));
  return address;
}

isa::Operand tensor_operand(Recorder& r, const Ref& gmem, const TmaBox& box) {
  std::vector<isa::Operand> coordinates;
  for (const Scalar& c : box.coordinates) coordinates.push_back(c.astype(pl::DType::s32).as_register());
  return isa::Operand::address(r.params.tensor_map(gmem.base().array, box.map), 0, std::move(coordinates));
}

std::vector<CopyDigit> copy_digits(const Ref& gmem, const Ref& smem, std::string_view verb) {
  check_windows(gmem, smem, verb);
  return window_digits(smem, verb);
}

std::vector<CopyDigit> window_digits(const Ref& elements, std::string_view verb) {
  const Ref smem = elements.as_bytes();
  // Digits in the order of SMEM bytes.
  std::vector<CopyDigit> digits;
  for (size_t d = 0; d < smem.rank(); ++d) {
    const int b = smem.dims()[d].base;
    if (b < 0) continue;
    const auto& p = smem.base().physical.dims[static_cast<size_t>(b)];
    const int64_t n = smem.shape(d);
    if (p.tile == 1) {
      digits.push_back({static_cast<int>(d), n, 1, p.outer});
      continue;
    }
    digits.push_back({static_cast<int>(d), n / p.tile, p.tile, p.outer});
    digits.push_back({static_cast<int>(d), p.tile, 1, p.inner});
  }
  std::ranges::stable_sort(digits, std::ranges::greater{}, &CopyDigit::smem_stride);
  int64_t expected = pl::bytes(smem.dtype());
  for (size_t i = digits.size(); i-- > 0;) {
    if (digits[i].size == 1) continue;
    if (digits[i].smem_stride != expected) {
      fail(Code::copy_limits,
           fmt::format("{}: the window {} is not contiguous in shared memory", verb, plgpu::to_string(smem)),
           "copy whole leading slices of the allocation");
    }
    expected *= digits[i].size;
  }
  return digits;
}

namespace {

// Splits the outermost digit that `parts` divides; its index is given back.
size_t partition_digit(std::vector<CopyDigit>& digits, int64_t parts, const Ref& gmem,
                       std::string_view verb) {
  for (size_t i = 0; i < digits.size(); ++i) {
    if (digits[i].size % parts == 0) {
      digits[i].size /= parts;
      return i;
    }
    if (digits[i].size != 1) break;
  }
  fail(Code::bad_collective,
       fmt::format("{} of {}: the {} CTAs of the collective axes do not divide its leading dimension", verb,
                   plgpu::to_string(gmem), parts));
}

// The window of one part: moved along the partitioned digit.
Ref moved(const Ref& ref, const CopyDigit& digit, const Scalar& part) {
  std::vector<plgpu::Indexer> index(ref.rank(), pl::All{});
  const int64_t n = digit.size * digit.gmem_step;
  index[static_cast<size_t>(digit.dim)] = pl::Slice{part * n, n, 1};
  return ref.index(index);
}

}  // namespace

Transfer make_transfer(Recorder&, const Ref& source, const Ref& target, const Partition& partition,
                       std::string_view verb) {
  std::vector<CopyDigit> digits = copy_digits(source, target, verb);
  const Ref gmem = source.as_bytes(), smem = target.as_bytes();
  if (gmem.base().array < 0) {
    limit(
        verb, gmem,
        "the launcher makes tensor maps of the kernel's arguments alone, and this copy needs one: without, a "
        "copy is of contiguous windows and a multiple of 16 bytes",
        "copy whole rows of untiled SMEM, or pass the array as an argument");
  }
  Ref from = gmem, to = smem;
  if (partition.parts > 1) {
    const size_t which = partition_digit(digits, partition.parts, gmem, verb);
    from = moved(gmem, digits[which], partition.part);
    to = moved(smem, digits[which], partition.part);
    digits = copy_digits(from, to, verb);
  }
  std::erase_if(digits, [&](const CopyDigit& d) {
    return d.size == 1 && std::ranges::any_of(digits, [&](const CopyDigit& o) {
             return o.dim == d.dim && (&o != &d) && o.size >= 1 && o.gmem_step < d.gmem_step;
           });
  });
  digits = merge(digits, std::vector<bool>(digits.size()));
  Transfer t;
  t.box = box_of(from, map_dims(from, digits, verb), to.base().physical.mode(), verb);
  t.smem_address = aligned_address(to, verb);
  return t;
}

TmaBox make_box(const Ref& source, const Partition& partition, std::string_view verb) {
  const Ref gmem = source.as_bytes();
  std::vector<CopyDigit> digits = plain_digits(gmem);
  Ref from = gmem;
  if (partition.parts > 1) {
    const size_t which = partition_digit(digits, partition.parts, gmem, verb);
    from = moved(gmem, digits[which], partition.part);
    digits = plain_digits(from);
  }
  return box_of(from, map_dims(from, digits, verb), isa::Swizzle::none, verb);
}

}  // namespace palladion::frontend
