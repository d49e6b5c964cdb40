#include "frontend/memory/tensor_memory.h"

#include <fmt/format.h>

#include <algorithm>

#include "frontend/core/verbs.h"
#include "isa/formats/tensor_memory.h"

namespace palladion::plgpu {

namespace {

void check_scales(const TmemType& type, const std::string& name, const std::source_location& loc) {
  if (type.dtype != DType::ue8m0 && type.dtype != DType::e4m3)
    fail(Code::bad_type,
         fmt::format("TMEM \"{}\" of {}: scales are ue8m0 or e4m3", name, pl::name(type.dtype)), loc);
  if (type.shape.size() != 2 || (type.shape[0] != 128 && type.shape[0] != 256) || type.shape[1] < 4 ||
      type.shape[1] % 4 != 0)
    fail(Code::bad_type,
         fmt::format("TMEM \"{}\": scales of shape {}; it must be (128, k) or (256, k), k a multiple of 4",
                     name, pl::to_string(type.shape)),
         loc, "rows of A or columns of B, padded to a multiple of 128, and blocks of K");
}

void check_metadata(const TmemType& type, const std::string& name, const std::source_location& loc) {
  if (type.dtype != DType::u2)
    fail(Code::bad_type, fmt::format("TMEM \"{}\" of {}: metadata are u2", name, pl::name(type.dtype)), loc);
  if (type.shape.size() != 2 || type.shape[0] != 128 || type.shape[1] < 64 || type.shape[1] % 64 != 0)
    fail(Code::bad_type,
         fmt::format("TMEM \"{}\": metadata of shape {}; it must be (128, k), k a multiple of 64", name,
                     pl::to_string(type.shape)),
         loc, "two indices for each four elements of K: (128, K / 2)");
}

// Scales or metadata.
void check_layout(const TmemType& type, const std::string& name, const std::source_location& loc) {
  if (type.options.packed)
    fail(Code::bad_type,
         fmt::format("TMEM \"{}\": `packed` is given, but {} says where elements lie", name,
                     plgpu::name(*type.options.layout)),
         loc, "leave .packed away");
  switch (*type.options.layout) {
    case TMEMLayout::SCALES_LAYOUT:
      return check_scales(type, name, loc);
    case TMEMLayout::SPARSE_METADATA_LAYOUT:
      return check_metadata(type, name, loc);
    default:
      frontend::unsupported(fmt::format("TMEM \"{}\" in {}", name, plgpu::name(*type.options.layout)),
                            "work on 128 rows in each CTA");
  }
}

void check_shape(const TmemType& type, const std::string& name, const std::source_location& loc) {
  if (type.options.layout == TMEMLayout::M64_COLLECTIVE_LAYOUT) {
    if (type.shape.size() != 2 || type.shape[0] != 64 || !type.options.collective)
      fail(Code::bad_type,
           fmt::format("TMEM \"{}\": M64_COLLECTIVE_LAYOUT of shape {}{}", name, pl::to_string(type.shape),
                       type.options.collective ? "" : ", not collective"),
           loc, "it is of collective matrices (64, n), which have no other layout");
  } else if (type.options.layout) {
    return check_layout(type, name, loc);
  }
  if (type.shape.size() != 2 || (type.shape[0] != 128 && type.shape[0] != 64) || type.shape[1] < 1)
    fail(Code::bad_type,
         fmt::format("TMEM \"{}\": the shape is {}; it must be (128, n) or (64, n)", name,
                     pl::to_string(type.shape)),
         loc, "rows are lanes of tensor memory, n are columns");
  const int bits = pl::bits(type.dtype);
  if (type.dtype == DType::bool_ || bits > 32 || !pl::is_register_type(type.dtype))
    fail(Code::bad_type,
         fmt::format("TMEM \"{}\" of {}: elements of matrices have 8, 16 or 32 bits", name,
                     pl::name(type.dtype)),
         loc, "scales and metadata have a layout of their own: .layout = plgpu::TMEMLayout::...");
  if (bits < 32 && !type.options.packed)
    fail(Code::bad_type, fmt::format("TMEM \"{}\" of {}: `packed` is not given", name, pl::name(type.dtype)),
         loc,
         "{.packed = true}: elements share a column, as the left operand of tcgen05_mma has it; false: each "
         "has a "
         "column of its own, as accumulators have it");
  if (bits == 32 && type.options.packed.value_or(false))
    fail(Code::bad_type,
         fmt::format("TMEM \"{}\" of {}: elements of 32 bits cannot be packed", name, pl::name(type.dtype)),
         loc, "leave .packed away");
  if (type.shape[0] == 64 && type.options.collective && type.shape[1] % 16 != 0)
    fail(Code::bad_type,
         fmt::format("TMEM \"{}\": the shape is {}; of a collective matrix of 64 rows the columns must be a "
                     "multiple of 16",
                     name, pl::to_string(type.shape)),
         loc, "its columns are in two halves of the lanes");
}

void check_chip(const Recorder& r, std::string_view what, const std::source_location& loc) {
  if (r.arch().has_tcgen05()) return;
  fail(Code::bad_space,
       fmt::format("{}: {} has no tensor memory, Blackwell (sm_100) has", what, r.arch().name), loc,
       "record for a Blackwell chip (--arch b200), or accumulate in registers: plgpu::ACC and plgpu::wgmma");
}

void check_pairs(const Recorder& r, const TmemType& type, const std::string& name,
                 const std::source_location& loc) {
  const int ctas = type.options.collective ? 2 : 1;
  if (r.tensor.ctas() != 0 && r.tensor.ctas() != ctas)
    fail(Code::bad_collective,
         fmt::format("TMEM \"{}\" is {}collective, another one of the kernel is{}", name,
                     type.options.collective ? "" : "not ", type.options.collective ? " not" : ""),
         loc,
         "all of a kernel's tensor memory is allocated at once: give .collective to all of it or to none");
  if (!type.options.collective || r.mesh().cluster_size() % 2 == 0) return;
  fail(
      Code::bad_collective,
      fmt::format("TMEM \"{}\" is collective, but the cluster has {}", name,
                  r.mesh().cluster_size() == 1 ? "one CTA" : fmt::format("{} CTAs", r.mesh().cluster_size())),
      loc, "pairs of CTAs need a cluster of an even size: .cluster = {2}, .cluster_names = {\"cluster\"}");
}

TensorPlacement placement_of(const TmemType& type) {
  const bool folded = type.options.collective && type.shape[0] == 64;
  return {.packed = type.options.packed.value_or(false),
          .collective = type.options.collective,
          .folded = folded,
          .layout = folded ? std::nullopt : type.options.layout};
}

}  // namespace

void check_tmem(const TmemType& type, const std::string& name, std::source_location loc) {
  const Recorder& r = Recorder::current();
  check_chip(r, fmt::format("TMEM \"{}\"", name), loc);
  check_shape(type, name, loc);
  check_pairs(r, type, name, loc);
}

int64_t tensor_columns(const TmemType& type) {
  const TensorPlacement p = placement_of(type);
  const auto [elements, columns] = p.group(type.dtype, type.shape[0]);
  return pl::cdiv(type.shape[1], (p.folded ? 2 : 1) * elements) * columns;
}

int64_t tensor_alignment(const TmemType& type) {
  constexpr int64_t copied_columns = 4;  // that one copy of scales or metadata fills
  return placement_of(type).layout ? copied_columns : 1;
}

int64_t take_tensor_columns(int64_t columns, int64_t alignment, int ctas, const std::string& name,
                            std::source_location loc) {
  Recorder& r = Recorder::current();
  if (const int64_t odd = r.tensor.mark() % alignment; odd != 0) r.tensor.allocate(alignment - odd, ctas);
  const int64_t at = r.tensor.allocate(columns, ctas);
  if (at + columns > r.arch().tensor_columns)
    fail(Code::too_much_smem,
         fmt::format(
             "the kernel exceeds the available tensor memory: {} columns with \"{}\", {} are available",
             at + columns, name, r.arch().tensor_columns),
         loc, "use smaller accumulators, or fewer slots of them");
  return at;
}

Ref tmem_at(const TmemType& type, const std::string& name, int64_t column) {
  auto a = std::make_shared<Allocation>();
  a->space = MemorySpace::tmem;
  a->name = Recorder::current().distinct_name(name);
  a->dtype = type.dtype;
  a->shape = type.shape;
  a->physical.dims = {{type.shape[0], 0, 0}, {1, 1, 0}};
  a->tensor = placement_of(type);
  a->tensor.column = column;
  return Ref(std::move(a));
}

Ref make_tmem(const TmemType& type, const std::string& name, std::source_location loc) {
  const VerbScope at(loc);
  check_tmem(type, name, loc);
  return tmem_at(type, name,
                 take_tensor_columns(tensor_columns(type), tensor_alignment(type),
                                     type.options.collective ? 2 : 1, name, loc));
}

TensorAddress tensor_address(const Ref& ref, std::string_view verb) {
  Recorder& r = Recorder::current();
  if (ref.space() != MemorySpace::tmem)
    fail(Code::bad_space, fmt::format("{} takes a reference to TMEM, this is {}", verb, to_string(ref)));
  if (ref.rank() != 2 || ref.is_transposed())
    fail(Code::bad_index,
         fmt::format("{} of {}: a matrix that is not transposed is needed", verb, to_string(ref)),
         "slice columns with .at(pl::all, pl::ds(start, size))");
  const Allocation& base = ref.base();
  const Scalar& row = ref.starts()[0];
  if (!row.is_constant() || row.as_int() != 0 || ref.shape(0) != base.shape[0])
    fail(Code::bad_index, fmt::format("{} of {}: all rows are taken", verb, to_string(ref)),
         "slice columns only: .at(pl::all, pl::ds(start, size))");
  if (base.tensor.folded && ref.shape(1) != base.shape[1])
    fail(Code::bad_index,
         fmt::format("{} of {}: all columns are taken: they are in two halves of the lanes", verb,
                     to_string(ref)),
         "allocate what is used apart as TMEM of its own");
  const auto [elements, columns] = base.tensor.group(base.dtype, base.shape[0]);
  const Scalar& start = ref.starts()[1];
  const bool aligned = start.is_constant() || base.tensor.layout ? start.multiple() % elements == 0 : true;
  if (!aligned || ref.shape(1) % elements != 0)
    fail(Code::unaligned_slice, fmt::format("{} of {}: {} elements {}", verb, to_string(ref), elements,
                                            base.tensor.layout ? "of a row lie together" : "share a column"));
  const Scalar group = elements == 1 ? start : start / elements;
  const Scalar column = Scalar::from_register(DType::s32, r.tensor.base(), true) +
                        (columns == 1 ? group : group * columns) + base.tensor.column;
  return {column.without_offset().as_register(), column.offset()};
}

}  // namespace palladion::plgpu
