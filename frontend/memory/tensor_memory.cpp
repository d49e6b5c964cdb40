#include "frontend/memory/tensor_memory.h"

#include <fmt/format.h>

#include <algorithm>
#include <bit>
#include <map>

#include "frontend/core/verbs.h"
#include "isa/arch/target.h"
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
  const At at(loc);
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

namespace {

using isa::TensorShape;

// How a layout lies in the lanes: the shape of tcgen05.ld, and how many of them begin at lane 0, 16, ... of a
// warp.
struct Mapping {
  TensorShape shape;
  std::string_view word;
  int parts;  // of 16 lanes; 1 for a shape of 32
};

std::optional<Mapping> mapping_of(const Ref& ref, const Layout& layout) {
  // Eight columns, a pair of neighbours in a lane: in two registers, or in one.
  const auto fragments = [&](int parts) {
    return pl::bits(ref.dtype()) == 16 ? Mapping{TensorShape::l16x128b, "16x128b", parts}
                                       : Mapping{TensorShape::l16x256b, "16x256b", parts};
  };
  constexpr Mapping native{TensorShape::l32x32b, "32x32b", 1};
  if (ref.base().tensor.folded) {
    const int64_t columns = ref.shape(1);
    if (layout == Layout::TCGEN05_M64_COLLECTIVE(columns)) return fragments(2);
    for (const int packing : {1, 2})
      if (layout == Layout::TCGEN05_M64_COLLECTIVE_NATIVE(columns, packing)) return native;
    return std::nullopt;
  }
  if (ref.shape(0) == 128 && layout == Layout::TCGEN05) return fragments(2);
  if (ref.shape(0) == 64 && layout == Layout::WGMMA) return fragments(1);
  if (ref.shape(0) == 128 && layout.name().starts_with("TCGEN05_TMEM_NATIVE")) return native;
  return std::nullopt;
}

[[noreturn]] void wrong_layout(const Ref& ref, std::string_view verb, const Layout& layout) {
  fail(Code::layout_mismatch, fmt::format("{} of {} with layout {}", verb, to_string(ref), to_string(layout)),
       ref.base().tensor.folded ? "64 rows of a pair: Layout::TCGEN05_M64_COLLECTIVE(n) or ..._NATIVE(n)"
       : ref.shape(0) == 128    ? "128 rows: Layout::TCGEN05 or Layout::TCGEN05_TMEM_NATIVE"
                                : "64 rows: Layout::WGMMA");
}

// A window and an array of its shape, register by register.
class Transfer {
 public:
  Transfer(const Ref& ref, const Layout& layout, std::string_view verb)
      : bits_(pl::bits(ref.dtype())), packed_(ref.base().tensor.packed) {
    const auto mapping = mapping_of(ref, layout);
    if (!mapping) wrong_layout(ref, verb, layout);
    mapping_ = *mapping;
    check(ref, layout, verb);
    columns_ = ref.shape(1) / (ref.base().tensor.folded ? 2 : 1) / elements();
    for (int64_t e = 0; e < layout.elements(ref.shape()); e += elements()) {
      const Shape index = layout.index(ref.shape(), 0, e);
      place_.emplace(std::pair{index[0], index[1]}, static_cast<size_t>(e / elements()));
    }
  }

  const Mapping& mapping() const { return mapping_; }
  size_t registers() const { return place_.size(); }
  // Elements of 16 bits that have a column each share a register.
  bool converts() const { return bits_ == 16 && !packed_; }

  // Calls visit(repetitions, from, which) for each instruction: `from` is its first lane and column, `which`
  // the array's registers in its order; at most 64 of them.
  template <class Visit>
  void for_each_instruction(Visit&& visit) const {
    const isa::TensorShapeSize size = isa::size_of(mapping_.shape);
    for (int64_t done = 0; done < columns_;) {
      const auto most =
          static_cast<uint64_t>(std::min<int64_t>((columns_ - done) / size.columns, 64 / size.registers));
      const auto repeat = static_cast<int>(std::bit_floor(most));
      for (int part = 0; part < mapping_.parts; ++part) {
        std::vector<size_t> which;
        for (int i = 0; i < repeat * size.registers; ++i) which.push_back(place_of(part, done, i));
        visit(repeat, (int64_t{part} << 20) + done * (converts() ? 2 : 1), which);
      }
      done += int64_t{repeat} * size.columns;
    }
  }

 private:
  int64_t elements() const { return 32 / bits_; }  // of a register: neighbours in a row

  void check(const Ref& ref, const Layout& layout, std::string_view verb) const {
    if (ref.base().tensor.layout)
      fail(Code::bad_space,
           fmt::format("{} of {} in {}: scales and metadata have no layout in registers", verb,
                       to_string(ref), name(*ref.base().tensor.layout)),
           "copy them from SMEM: async_copy_scales_to_tmem, async_copy_sparse_metadata_to_tmem");
    if (bits_ != 32 && bits_ != 16)
      frontend::unsupported(fmt::format("{} of {} elements", verb, pl::name(ref.dtype())));
    if (layout.vector_length() % elements() != 0)
      fail(Code::layout_mismatch,
           fmt::format("{} of {} with layout {}: elements of 16 bits move in pairs", verb, to_string(ref),
                       to_string(layout)),
           "use a layout whose vectors have two elements: Layout::TCGEN05_TMEM_NATIVE");
    const int64_t step = isa::size_of(mapping_.shape).columns * elements();
    if (ref.shape(1) % step != 0)
      fail(Code::bad_shape,
           fmt::format("{} of {}: the columns must be a multiple of {}", verb, to_string(ref), step));
  }

  // Of thread 0, which stands for all.
  size_t place_of(int part, int64_t first, int i) const {
    const isa::TensorPlace p = isa::tensor_fragment(mapping_.shape, 0, i, 0);
    return place_.at({16 * part + p.lane, (first + p.column) * elements()});
  }

  Mapping mapping_{};
  int bits_;
  bool packed_;
  int64_t columns_ = 0;  // of registers
  std::map<std::pair<int64_t, int64_t>, size_t> place_;
};

// The lanes of this warp, from which all its addresses count.
TensorAddress warp_address(Recorder& r, const Ref& ref, std::string_view verb) {
  const TensorAddress first = tensor_address(ref, verb);
  const Operand lanes = r.pure("shl.b32", {r.thread.warp_index(), Operand::imm(21)}, Type::b32);
  return {r.pure("add.s32", {first.base, lanes}, Type::b32), first.offset};
}

Layout usual_layout(const Ref& ref) {
  if (ref.base().tensor.folded) return Layout::TCGEN05_M64_COLLECTIVE(ref.shape(1));
  return ref.shape(0) == 64 ? Layout::WGMMA : Layout::TCGEN05;
}

}  // namespace

Array async_load_tmem(const Ref& src, const TmemLoadOptions& options, std::source_location loc) {
  const At at(loc);
  Recorder& r = Recorder::current();
  r.needs_warpgroup("async_load_tmem");
  const TensorAddress address = warp_address(r, src, "async_load_tmem");
  const Layout layout = options.layout ? *options.layout : usual_layout(src);
  const Transfer transfer(src, layout, "async_load_tmem");
  const Type type = Array::packed_type(src.dtype(), Array::pack_of(src.dtype(), layout));
  std::vector<Operand> registers(transfer.registers());
  transfer.for_each_instruction([&](int repeat, int64_t from, const std::vector<size_t>& which) {
    std::vector<Operand> loaded;
    for (const size_t i : which) loaded.push_back(registers[i] = r.reg(type));
    r.emit(fmt::format("tcgen05.ld.sync.aligned.{}.x{}{}.b32", transfer.mapping().word, repeat,
                       transfer.converts() ? ".pack::16b" : ""),
           {Operand::vector(std::move(loaded)), address.at(from)});
  });
  return Array(src.dtype(), src.shape(), layout, std::move(registers));
}

namespace {

// ".max.abs.f32"
std::string reduction_of(const Ref& src, std::string_view reduce) {
  const bool absolute = reduce.starts_with("abs");
  const std::string_view op = absolute ? reduce.substr(3) : reduce;
  if (op != "min" && op != "max")
    fail(Code::bad_reduction,
         fmt::format("async_load_tmem: reduce is \"min\", \"max\", \"absmin\" or \"absmax\", not \"{}\"",
                     reduce));
  const DType d = src.dtype();
  if (d != DType::f32 && d != DType::s32 && d != DType::u32)
    fail(Code::bad_reduction,
         fmt::format("async_load_tmem of {} with reduce: f32, s32 and u32 are reduced", to_string(src)),
         "load it, and reduce the array: .max(1)");
  if (absolute && d != DType::f32)
    fail(Code::bad_reduction,
         fmt::format("async_load_tmem of {}: \"{}\" is of f32 alone", to_string(src), reduce),
         "integers have \"min\" and \"max\"");
  return fmt::format(".{}{}.{}", op, absolute ? ".abs" : "", pl::name(d));
}

}  // namespace

std::pair<Array, Array> async_load_tmem(const Ref& src, std::string_view reduce,
                                        const TmemLoadOptions& options, std::source_location loc) {
  const At at(loc);
  Recorder& r = Recorder::current();
  constexpr std::string_view verb = "async_load_tmem";
  r.needs_warpgroup(verb);
  const TensorAddress address = warp_address(r, src, verb);
  const std::string reduction = reduction_of(src, reduce);
  if (!isa::provides(r.arch().ptx_target, "sm_103a"))
    frontend::unsupported(fmt::format("async_load_tmem with reduce: {} ({}) has no loads that reduce",
                                      r.arch().name, r.arch().ptx_target),
                          "record for a B300 (--arch b300), or reduce the array: .max(1)");
  const Layout layout = options.layout.value_or(Layout::TCGEN05_TMEM_NATIVE);
  const Transfer transfer(src, layout, verb);
  if (transfer.mapping().shape != TensorShape::l32x32b || src.base().tensor.folded)
    fail(Code::layout_mismatch,
         fmt::format("async_load_tmem of {} with reduce and layout {}: a lane must have a whole row",
                     to_string(src), to_string(layout)),
         "128 rows in Layout::TCGEN05_TMEM_NATIVE");
  if (src.shape(1) % 2 != 0)
    fail(Code::bad_shape,
         fmt::format("async_load_tmem of {} with reduce: the columns must be a multiple of 2",
                     to_string(src)));
  const Type type = Array::packed_type(src.dtype(), 1);
  std::vector<Operand> registers(transfer.registers());
  Operand reduced;
  transfer.for_each_instruction([&](int repeat, int64_t from, const std::vector<size_t>& which) {
    std::vector<Operand> loaded;
    for (const size_t i : which) loaded.push_back(registers[i] = r.reg(type));
    const Operand part = r.reg(type);
    r.emit(fmt::format("tcgen05.ld.red.sync.aligned.32x32b.x{}{}", repeat, reduction),
           {Operand::vector(std::move(loaded)), part, address.at(from)});
    const std::string combine =
        fmt::format("{}.{}", reduction.starts_with(".min") ? "min" : "max", pl::name(src.dtype()));
    reduced = reduced.is(Operand::Kind::reg) ? r.pure(combine, {reduced, part}, type) : part;
  });
  return {Array(src.dtype(), src.shape(), layout, std::move(registers)),
          Array::from_elements(src.dtype(), {src.shape(0)}, layout.reduce(1), {reduced})};
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
  const Transfer transfer(dst, value.layout(), "async_store_tmem");
  const std::vector<Operand>& registers = value.registers();
  transfer.for_each_instruction([&](int repeat, int64_t to, const std::vector<size_t>& which) {
    std::vector<Operand> stored;
    for (const size_t i : which) stored.push_back(registers[i]);
    r.emit(fmt::format("tcgen05.st.sync.aligned.{}.x{}{}.b32", transfer.mapping().word, repeat,
                       transfer.converts() ? ".unpack::16b" : ""),
           {address.at(to), Operand::vector(std::move(stored))});
  });
}

void commit_tmem(std::source_location loc) {
  const At at(loc);
  wait_and_meet("tcgen05.wait::st.sync.aligned", "commit_tmem");
}

}  // namespace palladion::plgpu
