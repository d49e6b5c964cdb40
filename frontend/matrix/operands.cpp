#include "frontend/matrix/operands.h"

#include <fmt/format.h>

#include "frontend/core/program_ids.h"
#include "frontend/core/verbs.h"
#include "frontend/refs/access.h"

namespace palladion::plgpu {

Scalar start_in_16_bytes(Recorder& r, const Ref& ref) {
  // Descriptors hold 18 address bits: in a cluster the CTA's rank stands above them.
  const Operand base = r.at_entry("bfe.u32", {r.smem.base(), Operand::imm(4), Operand::imm(14)}, Type::b32);
  Scalar at = Scalar::from_register(DType::s32, base, true, 64) + ref.base().smem_offset / 16;
  for (size_t b = 0; b < ref.base().shape.size(); ++b) {
    const auto& d = ref.base().physical.dims[b];
    const Scalar& start = ref.starts()[b];
    at = at + (start.is_constant() ? Scalar(d.offset(start.as_int()) / 16) : start / d.tile * (d.outer / 16));
  }
  return at;
}

void check_tcgen05(const Recorder& r, std::string_view verb) {
  if (r.arch().has_tcgen05()) return;
  fail(Code::bad_space, fmt::format("{}: {} has no tcgen05, Blackwell (sm_100) has", verb, r.arch().name),
       "record for a Blackwell chip (--arch b200), or use plgpu::wgmma");
}

int ctas_of(const std::string& axis, std::string_view verb) {
  if (axis.empty()) return 1;
  if (!frontend::is_pair_axis(axis))
    fail(
        Code::bad_collective,
        fmt::format("{}: collective_axis \"{}\" is not the last axis of the cluster with 2 CTAs", verb, axis),
        "give the cluster a last axis of size 2: .cluster = {2}, .cluster_names = {\"cluster\"}");
  return 2;
}

namespace {

[[noreturn]] void bad_tiles(const Ref& ref, std::string_view verb, char which) {
  const int64_t bits = pl::bits(ref.dtype());
  fail(
      Code::mma_transform,
      fmt::format("{}: {} is {} without the tiles and the swizzle of an operand", verb, which,
                  to_string(ref)),
      fmt::format(
          "allocate it with TilingTransform({{8, {0}}}) and SwizzleTransform(128), or {1} and 64, {2} and 32",
          128 * 8 / bits, 64 * 8 / bits, 32 * 8 / bits));
}

}  // namespace

MatrixOperand matrix_operand(Recorder& r, const Ref& elements, int mn, int k, std::string_view verb,
                             char which) {
  const Ref ref = elements.space() == MemorySpace::smem ? elements.as_bytes() : elements;
  if (ref.space() != MemorySpace::smem) {
    fail(Code::bad_space, fmt::format("{}: {} must be in SMEM, it is {}", verb, which, to_string(ref)));
  }
  if (ref.base().cluster_rank)
    fail(Code::bad_space, fmt::format("{}: {} is in another CTA's SMEM", verb, which));
  const auto& physical = ref.base().physical;
  const int64_t size = pl::bytes(ref.dtype());
  const int bm = ref.dims()[static_cast<size_t>(mn)].base, bk = ref.dims()[static_cast<size_t>(k)].base;
  if (bm < 0 || bk < 0 || physical.swizzle == 16) bad_tiles(elements, verb, which);
  MatrixOperand o;
  o.mn = physical.dims[static_cast<size_t>(bm)];
  o.k = physical.dims[static_cast<size_t>(bk)];
  o.swizzle = physical.mode();
  o.mn_major = o.mn.inner == size && o.mn.tile > 1;
  const auto& fast = o.mn_major ? o.mn : o.k;
  const auto& slow = o.mn_major ? o.k : o.mn;
  if (fast.inner != size || fast.tile * size != physical.swizzle || slow.tile != 8 ||
      slow.inner != physical.swizzle) {
    bad_tiles(elements, verb, which);
  }
  o.leading = static_cast<uint32_t>(o.mn_major ? o.mn.outer : 16);
  o.stride = static_cast<uint32_t>(slow.outer);
  o.start16 = start_in_16_bytes(r, ref);
  return o;
}

Operand matrix_descriptor(Recorder& r, const MatrixOperand& o, uint64_t fixed, int64_t mn, int64_t k) {
  const int64_t offset = (o.mn.offset(mn) + o.k.offset(k)) / 16;
  const Scalar low = o.start16 + (offset + static_cast<int64_t>(fixed & 0xFFFFFFFF));
  const Operand high = r.at_entry("mov.b32", {Operand::imm(static_cast<int64_t>(fixed >> 32))}, Type::b32);
  return r.pure("mov.b64", {Operand::vector({low.as_register(), high})}, Type::b64);
}

}  // namespace palladion::plgpu
