#include "frontend/memory/tensor_memory.h"

#include <fmt/format.h>

#include <bit>

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
  if (type.options.layout) return check_layout(type, name, loc);
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
  if (r.tensor_ctas() != 0 && r.tensor_ctas() != ctas)
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

}  // namespace

Ref make_tmem(const TmemType& type, const std::string& name, std::source_location loc) {
  const At at(loc);
  Recorder& r = Recorder::current();
  check_chip(r, fmt::format("TMEM \"{}\"", name), loc);
  check_shape(type, name, loc);
  check_pairs(r, type, name, loc);
  auto a = std::make_shared<Allocation>();
  a->space = MemorySpace::tmem;
  a->name = r.distinct_name(name);
  a->dtype = type.dtype;
  a->shape = type.shape;
  a->physical.dims = {{type.shape[0], 0, 0}, {1, 1, 0}};
  a->tensor = {.packed = type.options.packed.value_or(false),
               .collective = type.options.collective,
               .layout = type.options.layout};
  const auto [elements, group_columns] = a->tensor.group(type.dtype, type.shape[0]);
  const int64_t columns = pl::cdiv(type.shape[1], elements) * group_columns;
  const int ctas = type.options.collective ? 2 : 1;
  constexpr int64_t copied_columns = 4;  // that one copy of scales or metadata fills
  if (const int64_t odd = r.tensor_mark() % copied_columns; type.options.layout && odd != 0)
    r.allocate_tensor(copied_columns - odd, ctas);
  a->tensor.column = r.allocate_tensor(columns, ctas);
  if (a->tensor.column + columns > r.arch().tensor_columns)
    fail(Code::too_much_smem,
         fmt::format(
             "the kernel exceeds the available tensor memory: {} columns with \"{}\", {} are available",
             a->tensor.column + columns, name, r.arch().tensor_columns),
         loc, "use smaller accumulators, or fewer slots of them");
  return Ref(std::move(a));
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
  const auto [elements, columns] = base.tensor.group(base.dtype, base.shape[0]);
  const Scalar& start = ref.starts()[1];
  const bool aligned = start.is_constant() || base.tensor.layout ? start.multiple() % elements == 0 : true;
  if (!aligned || ref.shape(1) % elements != 0)
    fail(Code::unaligned_slice, fmt::format("{} of {}: {} elements {}", verb, to_string(ref), elements,
                                            base.tensor.layout ? "of a row lie together" : "share a column"));
  const Scalar group = elements == 1 ? start : start / elements;
  const Scalar column = Scalar::from_register(DType::s32, r.tensor_base(), true) +
                        (columns == 1 ? group : group * columns) + base.tensor.column;
  return {column.without_offset().as_register(), column.offset()};
}

namespace {

using isa::TensorShape;

// How a layout lies in the lanes: the shape of tcgen05.ld, and how many of them begin at lane 0, 16, ... of a
// warp.
struct Mapping {
  TensorShape shape;
  std::string_view word;
  int parts;        // of 16 lanes; 1 for a shape of 32
  int64_t columns;  // elements of a row that one repetition covers
  int registers;    // of one repetition
};

std::optional<Mapping> mapping_of(const Ref& ref, const Layout& layout) {
  if (ref.shape(0) == 128 && layout == Layout::TCGEN05)
    return Mapping{TensorShape::l16x256b, "16x256b", 2, 8, 4};
  if (ref.shape(0) == 64 && layout == Layout::WGMMA)
    return Mapping{TensorShape::l16x256b, "16x256b", 1, 8, 4};
  if (ref.shape(0) == 128 && layout.name().starts_with("TCGEN05_TMEM_NATIVE"))
    return Mapping{TensorShape::l32x32b, "32x32b", 1, 1, 1};
  return std::nullopt;
}

[[noreturn]] void wrong_layout(const Ref& ref, std::string_view verb, const Layout& layout) {
  fail(Code::layout_mismatch, fmt::format("{} of {} with layout {}", verb, to_string(ref), to_string(layout)),
       ref.shape(0) == 128 ? "128 rows: Layout::TCGEN05 or Layout::TCGEN05_TMEM_NATIVE"
                           : "64 rows: Layout::WGMMA");
}

// The element of a lane that register `r` of a part holds, behind `first` repetitions; see Layout::index.
int64_t element_of(const Mapping& m, int64_t repetition, int part, int r) {
  if (m.shape == TensorShape::l32x32b) return repetition;
  // 8 columns: for each group of 8 rows of the warp a pair of neighbours.
  return repetition * 4 * m.parts + (2 * part + (r >> 1)) * 2 + (r & 1);
}

// The lanes of this warp, from which all its addresses count.
TensorAddress warp_address(Recorder& r, const Ref& ref, std::string_view verb) {
  const TensorAddress first = tensor_address(ref, verb);
  const Operand lanes = r.pure("shl.b32", {r.warp_index(), Operand::imm(21)}, Type::b32);
  return {r.pure("add.s32", {first.base, lanes}, Type::b32), first.offset};
}

void check_elements(const Ref& ref, const Mapping& m, std::string_view verb) {
  if (ref.base().tensor.layout)
    fail(Code::bad_space,
         fmt::format("{} of {} in {}: scales and metadata have no layout in registers", verb, to_string(ref),
                     name(*ref.base().tensor.layout)),
         "copy them from SMEM: async_copy_scales_to_tmem, async_copy_sparse_metadata_to_tmem");
  const bool halves = pl::bits(ref.dtype()) == 16;
  if (pl::bits(ref.dtype()) != 32 && !halves)
    frontend::unsupported(fmt::format("{} of {} elements", verb, pl::name(ref.dtype())));
  if (halves && ref.base().tensor.packed && m.shape != TensorShape::l32x32b)
    fail(Code::layout_mismatch, fmt::format("{} of packed {}", verb, to_string(ref)),
         "packed elements move with Layout::TCGEN05_TMEM_NATIVE");
  const int64_t step = halves ? std::max<int64_t>(2, m.columns) : m.columns;
  if (ref.shape(1) % step != 0)
    fail(Code::bad_shape,
         fmt::format("{} of {}: the columns must be a multiple of {}", verb, to_string(ref), step));
}

// Pieces of the window: each a power of two repetitions, at most 64 registers.
template <class Visit>
void for_each_piece(const Ref& ref, const Mapping& m, Visit&& visit) {
  // Packed elements count as one register for two; of others two 16-bit columns make one register.
  const int64_t per_register = pl::bits(ref.dtype()) == 16 && m.shape == TensorShape::l32x32b ? 2 : 1;
  int64_t left = ref.shape(1) / m.columns / per_register, done = 0;
  while (left > 0) {
    const auto most = static_cast<uint64_t>(std::min<int64_t>(left, 64 / m.registers));
    const auto repeat = static_cast<int64_t>(std::bit_floor(most));
    visit(done, repeat);
    done += repeat;
    left -= repeat;
  }
}

}  // namespace

Array async_load_tmem(const Ref& src, const TmemLoadOptions& options, std::source_location loc) {
  const At at(loc);
  Recorder& r = Recorder::current();
  r.needs_warpgroup("async_load_tmem");
  const TensorAddress address = warp_address(r, src, "async_load_tmem");
  const Layout layout = options.layout       ? *options.layout
                        : src.shape(0) == 64 ? Layout::WGMMA
                                             : Layout::TCGEN05;
  const auto mapping = mapping_of(src, layout);
  if (!mapping) wrong_layout(src, "async_load_tmem", layout);
  check_elements(src, *mapping, "async_load_tmem");
  if (pl::bits(src.dtype()) == 16) frontend::unsupported("async_load_tmem of 16-bit elements");
  const bool single = src.dtype() == DType::f32;
  std::vector<Operand> elements(static_cast<size_t>(layout.elements(src.shape())));
  for_each_piece(src, *mapping, [&](int64_t done, int64_t repeat) {
    for (int part = 0; part < mapping->parts; ++part) {
      std::vector<Operand> registers;
      for (int64_t i = 0; i < repeat * mapping->registers; ++i) {
        registers.push_back(r.reg(single ? Type::f32 : Type::b32));
        elements[static_cast<size_t>(element_of(*mapping, done + i / mapping->registers, part,
                                                static_cast<int>(i % mapping->registers)))] =
            registers.back();
      }
      r.emit(fmt::format("tcgen05.ld.sync.aligned.{}.x{}.b32", mapping->word, repeat),
             {Operand::vector(std::move(registers)),
              address.at(done * mapping->columns + (int64_t{part} << 20))});
    }
  });
  return Array::from_elements(src.dtype(), src.shape(), layout, elements);
}

namespace {

// Waits for the own accesses to TMEM, and orders them before what the warpgroup's other warps do next.
void wait_and_meet(const char* wait, const char* verb) {
  Recorder& r = Recorder::current();
  r.needs_warpgroup(verb);
  r.emit(wait, {});
  r.emit("tcgen05.fence::before_thread_sync", {});
  r.warpgroup_barrier();
  r.emit("tcgen05.fence::after_thread_sync", {});
}

}  // namespace

void wait_load_tmem(std::source_location loc) {
  const At at(loc);
  wait_and_meet("tcgen05.wait::ld.sync.aligned", "wait_load_tmem");
}

void async_store_tmem(const Ref& dst, const Array& value, std::source_location loc) {
  const At at(loc);
  value.check_assigned(loc);
  Recorder& r = Recorder::current();
  r.needs_warpgroup("async_store_tmem");
  if (value.shape() != dst.shape() || value.dtype() != dst.dtype())
    fail(Code::shape_mismatch,
         fmt::format("async_store_tmem of an {} into {}", to_string(value), to_string(dst)),
         "shape and dtype are the window's: .reshape, .astype");
  const TensorAddress address = warp_address(r, dst, "async_store_tmem");
  const auto mapping = mapping_of(dst, value.layout());
  if (!mapping) wrong_layout(dst, "async_store_tmem", value.layout());
  check_elements(dst, *mapping, "async_store_tmem");
  const bool packed = pl::bits(dst.dtype()) == 16;
  if (packed && !dst.base().tensor.packed)
    frontend::unsupported("async_store_tmem of 16-bit elements, not packed");
  const std::vector<Operand> elements = packed ? value.registers() : value.elements();
  for_each_piece(dst, *mapping, [&](int64_t done, int64_t repeat) {
    for (int part = 0; part < mapping->parts; ++part) {
      std::vector<Operand> registers;
      for (int64_t i = 0; i < repeat * mapping->registers; ++i)
        registers.push_back(elements[static_cast<size_t>(element_of(
            *mapping, done + i / mapping->registers, part, static_cast<int>(i % mapping->registers)))]);
      r.emit(fmt::format("tcgen05.st.sync.aligned.{}.x{}.b32", mapping->word, repeat),
             {address.at(done * mapping->columns + (int64_t{part} << 20)),
              Operand::vector(std::move(registers))});
    }
  });
}

void commit_tmem(std::source_location loc) {
  const At at(loc);
  wait_and_meet("tcgen05.wait::st.sync.aligned", "commit_tmem");
}

}  // namespace palladion::plgpu
