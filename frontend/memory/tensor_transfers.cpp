// Loads and stores of tensor memory.
#include <fmt/format.h>

#include <algorithm>
#include <bit>
#include <map>

#include "frontend/core/verbs.h"
#include "frontend/memory/tensor_memory.h"
#include "isa/arch/target.h"
#include "isa/formats/tensor_memory.h"

namespace palladion::plgpu {

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
  const VerbScope at(loc);
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
  const VerbScope at(loc);
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
  const VerbScope at(loc);
  wait_and_meet("tcgen05.wait::ld.sync.aligned", "wait_load_tmem");
}

void async_store_tmem(const Ref& dst, const Array& value, std::source_location loc) {
  const VerbScope at(loc);
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
  const VerbScope at(loc);
  wait_and_meet("tcgen05.wait::st.sync.aligned", "commit_tmem");
}

}  // namespace palladion::plgpu
