#include "frontend/memory/copies.h"

#include <fmt/format.h>

#include <array>

#include "frontend/core/program_ids.h"
#include "frontend/core/verbs.h"
#include "frontend/memory/tma.h"

namespace palladion::plgpu {

using frontend::Partition;

namespace {

Operand with_predicate(Recorder& r, const Operand& elected, const std::optional<Scalar>& predicate) {
  if (!predicate) return elected;
  return r.pure("and.pred", {elected, predicate->astype(DType::bool_).as_register()}, Type::pred);
}

struct Collective {
  Partition partition;
  Operand mask;  // 16 bits: the CTAs that get the data
};

// CTAs along the axes that share this one's place on all others.
Collective collective(Recorder& r, const std::vector<std::string>& axes, std::string_view verb) {
  frontend::check_distinct(axes, verb);
  Collective c;
  Scalar base(0), part(0);
  int64_t pattern = 1;
  int64_t stride = r.mesh().cluster_size();
  for (const auto& a : r.mesh().cluster) {
    stride /= a.size;
    const Scalar here = pl::axis_index(a.name);
    bool among = false;
    for (const auto& name : axes) among |= name == a.name;
    if (!among) {
      base = base + here * stride;
      continue;
    }
    part = part * a.size + here;
    c.partition.parts *= a.size;
    int64_t wider = 0;
    for (int64_t i = 0; i < a.size; ++i) wider |= pattern << (i * stride);
    pattern = wider;
  }
  for (const auto& name : axes) {
    bool known = false;
    for (const auto& a : r.mesh().cluster) known |= a.name == name;
    if (!known)
      fail(Code::unknown_axis, fmt::format("{}: the cluster has no axis named \"{}\"", verb, name),
           "name an axis of cluster_names");
  }
  c.partition.part = part;
  Operand mask = (Scalar(pattern).astype(DType::s32) << base).as_register();
  c.mask = r.pure("cvt.u16.u32", {mask}, Type::b16);
  return c;
}

int64_t bytes_of(const Ref& ref) { return pl::ShapeDtype{ref.dtype(), ref.shape()}.bytes(); }

// One run of bytes on both sides: no tensor map is needed.
bool copies_linearly(const Ref& gmem, const Ref& smem, OOBFillMode mode) {
  const int64_t bytes = bytes_of(gmem);
  return (mode != OOBFillMode::ZEROS || gmem.base().array < 0) && bytes % 16 == 0 &&
         frontend::is_contiguous(gmem.as_bytes()) && frontend::is_contiguous(smem.as_bytes());
}

Operand global_address(Recorder& r, const Ref& elements, int64_t* offset) {
  const Ref gmem = elements.as_bytes();
  frontend::Access access(r, gmem, {});
  const frontend::Address a = access.at(Shape(gmem.rank(), 0));
  *offset = a.offset;
  return a.base;
}

void linear_copy_in(Recorder& r, const Ref& src, const Ref& dst, const Operand& mbar, int64_t mbar_offset,
                    const Operand& guard) {
  frontend::copy_digits(src, dst, "copy_gmem_to_smem");
  int64_t offset = 0;
  const Operand from = global_address(r, src, &offset);
  const Scalar to = frontend::shared_address(dst.as_bytes());
  r.emit("cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes",
         {Operand::address(to.without_offset().as_register(), to.offset()), Operand::address(from, offset),
          Operand::imm(bytes_of(src)), Operand::address(mbar, mbar_offset)},
         guard);
}

void linear_copy_out(Recorder& r, const Ref& src, const Ref& dst, const Operand& guard) {
  frontend::copy_digits(dst, src, "copy_smem_to_gmem");
  int64_t offset = 0;
  const Operand to = global_address(r, dst, &offset);
  const Scalar from = frontend::shared_address(src.as_bytes());
  r.emit("cp.async.bulk.global.shared::cta.bulk_group",
         {Operand::address(to, offset), Operand::address(from.without_offset().as_register(), from.offset()),
          Operand::imm(bytes_of(src))},
         guard);
}

// A slice with a stride has a dimension of its own in the tensor map, which knows nothing of the array's end.
void check_oob_mode(const Ref& gmem, OOBFillMode mode) {
  if (mode != OOBFillMode::ZEROS || !gmem.base().open_stride) return;
  fail(
      Code::copy_limits,
      fmt::format("copy_gmem_to_smem of {}: a slice with a stride and a start that is known only at run time "
                  "is not filled with zeros behind the array's end",
                  to_string(gmem)),
      "promise that it lies within: {.oob_mode = plgpu::OOBFillMode::PROMISE_IN_BOUNDS}");
}

}  // namespace

namespace {

void check_pair(const Recorder& r, const CopyInOptions& options, const Ref& src, const Ref& dst) {
  if (!r.arch().has_tcgen05())
    frontend::unsupported(
        fmt::format("copy_gmem_to_smem with leader_tracked on {}: it is Blackwell's (sm_100)", r.arch().name),
        "a collective copy (.collective_axes) arrives at each CTA's own barrier");
  if (options.collective_axes.size() != 1 || !frontend::is_pair_axis(options.collective_axes[0]))
    fail(Code::bad_collective,
         "copy_gmem_to_smem with leader_tracked: collective_axes is not the last axis of the cluster with 2 "
         "CTAs",
         ".cluster = {2}, .cluster_names = {\"cluster\"}, and .collective_axes = {\"cluster\"}");
  if (options.predicate) fail(Code::bad_collective, "copy_gmem_to_smem: a predicate on a collective copy");
  const int axis = options.leader_tracked->axis;
  if (axis == CopyPartition::REPLICATED.axis) return;
  if (axis < 0 || static_cast<size_t>(axis) >= src.rank() || src.rank() != dst.rank() ||
      src.shape(static_cast<size_t>(axis)) != 2 * dst.shape(static_cast<size_t>(axis)))
    fail(Code::copy_mismatch,
         fmt::format("copy_gmem_to_smem of {} to {}, each CTA's half along dimension {}", to_string(src),
                     to_string(dst), axis),
         "the source is both CTAs' window, the destination has half of it along the axis");
}

// What this CTA gets of the source.
Ref part_of(const Ref& src, const CopyInOptions& options) {
  if (options.leader_tracked->axis == CopyPartition::REPLICATED.axis) return src;
  std::vector<Indexer> indices(src.rank(), pl::all);
  const auto axis = static_cast<size_t>(options.leader_tracked->axis);
  const int64_t half = src.shape(axis) / 2;
  indices[axis] = pl::ds(pl::axis_index(options.collective_axes[0]) * half, half);
  return src.index(indices);
}

// A copy by both CTAs of a pair, whose bytes the first one's barrier counts.
void copy_for_leader(Recorder& r, const Ref& src, const Ref& dst, const BarrierRef& barrier,
                     const CopyInOptions& options) {
  constexpr std::string_view verb = "copy_gmem_to_smem";
  check_pair(r, options, src, dst);
  int64_t mbar_offset = 0;
  const Operand mbar = barrier.address(verb, &mbar_offset);
  const Scalar place = pl::axis_index(options.collective_axes[0]);
  const Operand own =
      mbar_offset == 0 ? mbar : r.pure("add.s32", {mbar, Operand::imm(mbar_offset)}, Type::b32);
  const Operand leader =
      r.pure("mapa.shared::cluster.u32", {own, (frontend::cluster_rank() - place).operand()}, Type::b32);
  const auto t = frontend::make_transfer(r, part_of(src, options), dst, {}, verb);
  const int64_t bytes = 2 * bytes_of(dst);
  barrier.state().copy_arrival(r, mbar, mbar_offset, Operand::imm(bytes),
                               with_predicate(r, r.elected(), place == 0));
  r.emit(fmt::format(
             "cp.async.bulk.tensor.{}d.shared::cluster.global.tile.mbarrier::complete_tx::bytes.cta_group::2",
             t.box.map.rank),
         {Operand::address(t.smem_address.without_offset().as_register(), t.smem_address.offset()),
          frontend::tensor_operand(r, src, t.box), Operand::address(leader)},
         r.elected());
}

}  // namespace

void copy_gmem_to_smem(const Ref& src, const Ref& dst, const BarrierRef& barrier,
                       const CopyInOptions& options, std::source_location loc) {
  const VerbScope at(loc);
  Recorder& r = Recorder::current();
  constexpr std::string_view verb = "copy_gmem_to_smem";
  check_oob_mode(src, options.oob_mode);
  if (options.leader_tracked) return copy_for_leader(r, src, dst, barrier, options);
  int64_t mbar_offset = 0;
  const Operand mbar = barrier.address(verb, &mbar_offset);
  const Operand elected = r.elected();
  const Operand guard = with_predicate(r, elected, options.predicate);
  const int64_t bytes = bytes_of(dst);
  Operand announced = Operand::imm(bytes);
  if (options.predicate) {
    announced = options.predicate->is_constant()
                    ? Operand::imm(options.predicate->as_int() != 0 ? bytes : 0)
                    : r.pure("selp.b32", {Operand::imm(bytes), Operand::imm(0), options.predicate->operand()},
                             Type::b32);
  }
  const bool multicast = !options.collective_axes.empty();
  Collective c;
  if (multicast) c = collective(r, options.collective_axes, verb);
  if (multicast && c.partition.parts > 1 && options.predicate)
    fail(Code::bad_collective, "copy_gmem_to_smem: a predicate on a collective copy");
  if (!multicast && copies_linearly(src, dst, options.oob_mode)) {
    barrier.state().copy_arrival(r, mbar, mbar_offset, announced, elected);
    return linear_copy_in(r, src, dst, mbar, mbar_offset, guard);
  }
  const auto t = frontend::make_transfer(r, src, dst, c.partition, verb);
  barrier.state().copy_arrival(r, mbar, mbar_offset, announced, elected);
  std::vector<Operand> operands{
      Operand::address(t.smem_address.without_offset().as_register(), t.smem_address.offset()),
      frontend::tensor_operand(r, src, t.box), Operand::address(mbar, mbar_offset)};
  const bool casts = multicast && c.partition.parts > 1;
  if (casts) operands.push_back(c.mask);
  r.emit(fmt::format("cp.async.bulk.tensor.{}d.shared::cluster.global.tile.mbarrier::complete_tx::bytes{}",
                     t.box.map.rank, casts ? ".multicast::cluster" : ""),
         std::move(operands), guard);
}

namespace {

void check_reduction(const std::string& op, DType d) {
  static constexpr std::array<std::string_view, 8> known = {"add", "min", "max", "inc",
                                                            "dec", "and", "or",  "xor"};
  bool found = false;
  for (auto k : known) found |= k == op;
  if (!found)
    fail(Code::bad_reduction, fmt::format("copy_smem_to_gmem: there is no reduction \"{}\"", op),
         "add, min, max, inc, dec, and, or, xor");
  const bool arithmetic = d == DType::f16 || d == DType::bf16 || d == DType::s32 || d == DType::u32 ||
                          d == DType::s64 || d == DType::u64;
  bool ok = false;
  if (op == "add") ok = (arithmetic && d != DType::s64) || d == DType::f32 || d == DType::f64;
  if (op == "min" || op == "max") ok = arithmetic;
  if (op == "inc" || op == "dec") ok = d == DType::u32;
  if (op == "and" || op == "or" || op == "xor")
    ok = d == DType::s32 || d == DType::u32 || d == DType::s64 || d == DType::u64;
  if (!ok)
    fail(Code::bad_reduction,
         fmt::format("copy_smem_to_gmem: the reduction \"{}\" is not defined for {}", op, pl::name(d)),
         "add: floats, s32, u32, u64; min, max: f16, bf16, 32- or 64-bit integers; and, or, xor: these "
         "integers; inc, dec: u32");
}

}  // namespace

void copy_smem_to_gmem(const Ref& src, const Ref& dst, const CopyOutOptions& options,
                       std::source_location loc) {
  const VerbScope at(loc);
  Recorder& r = Recorder::current();
  if (!options.reduction_op.empty()) check_reduction(options.reduction_op, src.dtype());
  const Operand guard = with_predicate(r, r.elected(), options.predicate);
  if (dst.base().array < 0 && options.reduction_op.empty() &&
      copies_linearly(dst, src, OOBFillMode::PROMISE_IN_BOUNDS)) {
    linear_copy_out(r, src, dst, guard);
    if (options.commit_group) r.emit("cp.async.bulk.commit_group", {}, r.elected());
    return;
  }
  const auto t = frontend::make_transfer(r, dst, src, {}, "copy_smem_to_gmem");
  const Operand from =
      Operand::address(t.smem_address.without_offset().as_register(), t.smem_address.offset());
  const std::string mnemonic =
      options.reduction_op.empty()
          ? fmt::format("cp.async.bulk.tensor.{}d.global.shared::cta.tile.bulk_group", t.box.map.rank)
          : fmt::format("cp.reduce.async.bulk.tensor.{}d.global.shared::cta.{}.tile.bulk_group",
                        t.box.map.rank, options.reduction_op);
  r.emit(mnemonic, {frontend::tensor_operand(r, dst, t.box), from}, guard);
  if (options.commit_group) r.emit("cp.async.bulk.commit_group", {}, r.elected());
}

void commit_smem_to_gmem_group(std::source_location loc) {
  const VerbScope at(loc);
  Recorder& r = Recorder::current();
  r.emit("cp.async.bulk.commit_group", {}, r.elected());
}

void wait_smem_to_gmem(int n, bool wait_read_only, std::source_location loc) {
  const VerbScope at(loc);
  Recorder& r = Recorder::current();
  if (n < 0)
    fail(Code::copy_limits,
         fmt::format("wait_smem_to_gmem({}): the number of groups left cannot be negative", n),
         "wait for all copies with wait_smem_to_gmem(0)");
  r.emit(wait_read_only ? "cp.async.bulk.wait_group.read" : "cp.async.bulk.wait_group", {Operand::imm(n)});
  r.warpgroup_barrier();
}

void async_prefetch(const Ref& ref, const PrefetchOptions& options, std::source_location loc) {
  const VerbScope at(loc);
  Recorder& r = Recorder::current();
  if (ref.space() != MemorySpace::gmem || ref.base().array < 0) {
    fail(Code::bad_space,
         fmt::format("async_prefetch takes a reference of a GMEM argument, this is {}", to_string(ref)));
  }
  Partition partition;
  if (!options.collective_axes.empty())
    partition = collective(r, options.collective_axes, "async_prefetch").partition;
  const auto box = frontend::make_box(ref, partition, "async_prefetch");
  r.emit(fmt::format("cp.async.bulk.prefetch.tensor.{}d.L2.global.tile", box.map.rank),
         {frontend::tensor_operand(r, ref, box)}, with_predicate(r, r.elected(), options.predicate));
}

}  // namespace palladion::plgpu
