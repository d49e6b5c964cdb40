#include "frontend/matrix/tcgen05.h"

#include <fmt/format.h>

#include <algorithm>

#include "frontend/core/program_ids.h"
#include "frontend/core/verbs.h"
#include "frontend/matrix/operands.h"
#include "isa/arch/target.h"
#include "isa/formats/tcgen05_descriptor.h"

namespace palladion::plgpu {

namespace {

using isa::Tcgen05Kind;

constexpr int64_t tensor_k_bytes = 32, widest_product = 256;

bool is_byte_float(DType d) { return d == DType::e4m3 || d == DType::e5m2; }
bool is_byte_integer(DType d) { return d == DType::s8 || d == DType::u8; }

std::optional<Tcgen05Kind> kind_of(DType a, DType b) {
  if (a == b && (a == DType::f16 || a == DType::bf16)) return Tcgen05Kind::f16;
  if (a == b && a == DType::f32) return Tcgen05Kind::tf32;
  if (is_byte_float(a) && is_byte_float(b)) return Tcgen05Kind::f8f6f4;
  if (is_byte_integer(a) && is_byte_integer(b)) return Tcgen05Kind::i8;
  return std::nullopt;
}

bool accumulates(Tcgen05Kind kind, DType a, DType acc) {
  if (kind == Tcgen05Kind::i8) return acc == DType::s32;
  return acc == DType::f32 || (acc == DType::f16 && (a == DType::f16 || kind == Tcgen05Kind::f8f6f4));
}

Tcgen05Kind check_types(DType acc, DType a, DType b) {
  const auto kind = kind_of(a, b);
  if (kind && accumulates(*kind, a, acc)) return *kind;
  fail(Code::mma_dtype,
       fmt::format("tcgen05_mma: {} and {} operands into a {} accumulator", pl::name(a), pl::name(b),
                   pl::name(acc)),
       "f16, bf16, f32 (as tf32), e4m3 and e5m2 accumulate in f32; f16, e4m3 and e5m2 also in f16; s8 and u8 "
       "in s32");
}

// The sizes of the whole product, of the pair if there is one.
struct TensorProduct {
  Tcgen05Kind kind;
  int ctas = 1;
  int64_t m, n, k;  // n, of B in one instruction: at most 256
};

int ctas_of(const std::string& axis, std::string_view what) {
  if (axis.empty()) return 1;
  if (!frontend::is_pair_axis(axis))
    fail(
        Code::bad_collective,
        fmt::format("{}: collective_axis \"{}\" is not the last axis of the cluster with 2 CTAs", what, axis),
        "give the cluster a last axis of size 2: .cluster = {2}, .cluster_names = {\"cluster\"}");
  return 2;
}

void check_accumulator(const Ref& acc, int ctas) {
  if (acc.space() != MemorySpace::tmem)
    fail(Code::bad_accumulator,
         fmt::format("tcgen05_mma: the accumulator must be in TMEM, it is {}", to_string(acc)),
         "allocate it with plgpu::TMEM({128, n}, pl::f32)");
  const TensorPlacement& place = acc.base().tensor;
  if (place.packed)
    fail(Code::bad_accumulator, fmt::format("tcgen05_mma: the accumulator {} is packed", to_string(acc)),
         "accumulators have a column for each element: {.packed = false}");
  if (place.collective != (ctas == 2))
    fail(Code::bad_collective,
         fmt::format("tcgen05_mma: the accumulator {} is {}collective, the product is {}", to_string(acc),
                     place.collective ? "" : "not ", ctas == 2 ? "of a pair of CTAs" : "of one CTA"),
         "TMEM(..., {.collective = true}) goes with .collective_axis");
}

// PTX, "tcgen05.mma: target ISA notes".
void check_chip_has(const Recorder& r, Tcgen05Kind kind) {
  if (kind != Tcgen05Kind::i8 || isa::provides(r.arch().ptx_target, "sm_100a")) return;
  fail(Code::mma_dtype,
       fmt::format("tcgen05_mma: {} ({}) has no products of integers", r.arch().name, r.arch().ptx_target),
       "record for a B200 (--arch b200), or multiply floats: e4m3, e5m2, f16, bf16");
}

TensorProduct check_matrices(const Recorder& r, const Ref& acc, const Ref& a, const Ref& b, int ctas) {
  const TensorProduct p{check_types(acc.dtype(), a.dtype(), b.dtype()), ctas, acc.shape(0) * ctas,
                        acc.shape(1), a.shape(1)};
  check_chip_has(r, p.kind);
  if (a.rank() != 2 || b.rank() != 2)
    fail(Code::mma_shape,
         fmt::format("tcgen05_mma takes matrices; a is {}, b is {}", pl::to_string(a.shape()),
                     pl::to_string(b.shape())),
         "drop leading dimensions with .at(index)");
  if (a.shape(0) != acc.shape(0) || b.shape(0) != p.k || b.shape(1) * ctas != p.n)
    fail(Code::mma_shape,
         fmt::format("tcgen05_mma: the accumulator {} is not the product of a {} and b {}{}",
                     pl::to_string(acc.shape()), pl::to_string(a.shape()), pl::to_string(b.shape()),
                     ctas == 2 ? ", each CTA's half of the columns" : ""),
         "b is (k, n); use plgpu::transpose_ref when it is stored as (n, k)");
  if (ctas == 2 && acc.shape(0) == 64)
    frontend::unsupported("tcgen05_mma of a pair of CTAs with 64 rows each");
  const int64_t step = (p.kind == Tcgen05Kind::i8 ? 16 : 8) * ctas;
  const int64_t part = std::min(p.n, widest_product);
  if (part % step != 0 || p.n % part != 0 || (p.n > widest_product && ctas == 2) ||
      p.n > r.arch().tensor_columns)
    fail(Code::mma_shape, fmt::format("tcgen05_mma: n is {}, it must be a multiple of {} up to 256{}", p.n,
                                      step, ctas == 2 ? " for a pair of CTAs" : ", or 512"));
  return p;
}

isa::Type element_type(DType d) { return d == DType::f32 ? isa::Type::tf32 : pl::isa_type(d); }

int64_t instruction_descriptor(const TensorProduct& p, DType acc, DType a, DType b, bool mn_major_a,
                               bool mn_major_b) {
  isa::Tcgen05Descriptor d;
  d.m = static_cast<int>(p.m);
  d.n = static_cast<int>(std::min(p.n, widest_product));
  d.d = pl::isa_type(acc);
  d.a = element_type(a);
  d.b = element_type(b);
  d.transpose_a = mn_major_a;
  d.transpose_b = mn_major_b;
  return isa::encode(d, p.kind);
}

// A in SMEM or TMEM.
struct LeftMatrix {
  std::optional<MatrixOperand> smem;
  TensorAddress tmem;
  int64_t bytes;  // of an element
};

Operand left_of(Recorder& r, const LeftMatrix& a, int64_t k) {
  if (!a.smem) return a.tmem.at(k * a.bytes / 4);
  return matrix_descriptor(r, *a.smem, isa::encode_tcgen05(a.smem->format()), 0, k);
}

LeftMatrix left_matrix(Recorder& r, const Ref& a) {
  const int64_t bytes = pl::bytes(a.dtype());
  if (a.space() != MemorySpace::tmem) return {matrix_operand(r, a, 0, 1, "tcgen05_mma", 'a'), {}, bytes};
  if (a.shape(0) != 128 || (bytes < 4 && !a.base().tensor.packed))
    fail(Code::mma_shape, fmt::format("tcgen05_mma: a in TMEM is {}", to_string(a)),
         "a in TMEM has 128 rows and is packed: TMEM({128, k}, dtype, {.packed = true})");
  return {std::nullopt, tensor_address(a, "tcgen05_mma"), bytes};
}

void check_operands(const TensorProduct& p, const LeftMatrix& a, const MatrixOperand& b, const Ref& right) {
  if (a.smem && a.smem->swizzle != b.swizzle)
    fail(Code::mma_transform,
         fmt::format("tcgen05_mma: a has swizzle {}, b {}: they must be equal", isa::name(a.smem->swizzle),
                     isa::name(b.swizzle)),
         "allocate both operands with the same SwizzleTransform");
  const int64_t unit = right.base().physical.swizzle / a.bytes;
  if (p.k % unit != 0)
    fail(Code::mma_shape,
         fmt::format("tcgen05_mma: k is {}, it must be a multiple of {} (swizzle {} / {} bytes)", p.k, unit,
                     right.base().physical.swizzle, a.bytes));
  const bool transposes = (a.smem && a.smem->mn_major) || b.mn_major;
  if (transposes && a.bytes == 4)
    fail(Code::mma_transform, "tcgen05_mma: f32 operands cannot be transposed",
         "store them with K along the rows of SMEM");
}

void emit_products(Recorder& r, const Ref& acc, const Ref& a, const Ref& b, const TensorProduct& p,
                   const Scalar& accumulate) {
  const LeftMatrix left = left_matrix(r, a);
  const MatrixOperand right = matrix_operand(r, b, 1, 0, "tcgen05_mma", 'b');
  check_operands(p, left, right, b);
  const TensorAddress d = tensor_address(acc, "tcgen05_mma");
  const std::string mnemonic = fmt::format("tcgen05.mma.cta_group::{}.kind::{}", p.ctas, isa::name(p.kind));
  const Operand idesc =
      r.pure("mov.b32",
             {Operand::imm(instruction_descriptor(p, acc.dtype(), a.dtype(), b.dtype(),
                                                  left.smem && left.smem->mn_major, right.mn_major))},
             Type::b32);
  const Operand always = frontend::constant(DType::bool_, int64_t{1});
  const Operand first = accumulate.astype(DType::bool_).operand();
  const int64_t k_elements = tensor_k_bytes / left.bytes, width = std::min(p.n, widest_product);
  for (int64_t n = 0; n < p.n; n += width)
    for (int64_t k = 0; k < p.k; k += k_elements)
      r.emit(mnemonic,
             {d.at(n), left_of(r, left, k),
              matrix_descriptor(r, right, isa::encode_tcgen05(right.format()), n / p.ctas, k), idesc,
              k == 0 ? first : always},
             r.elected());
}

// The CTAs of this one's pair.
Operand pair_mask(Recorder& r) {
  if (r.mesh().cluster_size() == 2) return r.pure("mov.b16", {Operand::imm(3)}, Type::b16);
  const Operand first = r.pure(
      "and.b32", {frontend::cluster_rank().as_register(), Operand::imm(~int64_t{1} & 0xFFFFFFFF)}, Type::b32);
  const Operand mask = r.pure("shl.b32", {r.pure("mov.b32", {Operand::imm(3)}, Type::b32), first}, Type::b32);
  return r.pure("cvt.u16.u32", {mask}, Type::b16);
}

void commit(Recorder& r, const BarrierRef& barrier, int ctas, const char* verb) {
  int64_t offset = 0;
  const Operand address = barrier.address(verb, &offset);
  if (!barrier.state().type.options.orders_tensor_core)
    fail(Code::bad_barrier,
         fmt::format("{}: barrier \"{}\" does not order the tensor core", verb, barrier.state().name),
         "allocate it with .orders_tensor_core = true");
  barrier.state().commit_arrival(r, address, offset, ctas, ctas == 2 ? pair_mask(r) : Operand());
}

void record_product(const Ref& acc, const Ref& a, const Ref& b, const BarrierRef* barrier,
                    const Tcgen05Options& options) {
  Recorder& r = Recorder::current();
  if (!r.arch().has_tcgen05())
    fail(Code::bad_space,
         fmt::format("tcgen05_mma: {} has no tcgen05, Blackwell (sm_100) has", r.arch().name),
         "record for a Blackwell chip (--arch b200), or use plgpu::wgmma");
  const int ctas = ctas_of(options.collective_axis, "tcgen05_mma");
  check_accumulator(acc, ctas);
  const TensorProduct p = check_matrices(r, acc, a, b, ctas);
  emit_products(r, acc, a, b, p, options.accumulate);
  if (barrier != nullptr) commit(r, *barrier, ctas, "tcgen05_mma");
}

}  // namespace

void tcgen05_mma(const Ref& acc, const Ref& a, const Ref& b, const BarrierRef& barrier,
                 const Tcgen05Options& options, std::source_location loc) {
  const At at(loc);
  record_product(acc, a, b, &barrier, options);
}

void tcgen05_mma(const Ref& acc, const Ref& a, const Ref& b, const Tcgen05Options& options,
                 std::source_location loc) {
  const At at(loc);
  record_product(acc, a, b, nullptr, options);
}

void tcgen05_commit_arrive(const BarrierRef& barrier, const CommitOptions& options,
                           std::source_location loc) {
  const At at(loc);
  Recorder& r = Recorder::current();
  commit(r, barrier, ctas_of(options.collective_axis, "tcgen05_commit_arrive"), "tcgen05_commit_arrive");
}

}  // namespace palladion::plgpu
