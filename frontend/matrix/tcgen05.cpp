#include "frontend/matrix/tcgen05.h"

#include <fmt/format.h>

#include <algorithm>

#include "frontend/core/program_ids.h"
#include "frontend/core/verbs.h"
#include "frontend/matrix/operands.h"
#include "frontend/matrix/side_operands.h"
#include "isa/arch/target.h"
#include "isa/formats/tcgen05_descriptor.h"

namespace palladion::plgpu {

namespace {

using isa::Tcgen05Kind;

constexpr int64_t widest_product = 256;

bool is_byte_float(DType d) { return d == DType::e4m3 || d == DType::e5m2; }
bool is_byte_integer(DType d) { return d == DType::s8 || d == DType::u8; }

std::optional<Tcgen05Kind> kind_of(DType a, DType b, bool scaled) {
  if (is_byte_float(a) && is_byte_float(b)) return scaled ? Tcgen05Kind::mxf8f6f4 : Tcgen05Kind::f8f6f4;
  if (a == DType::e2m1 && b == DType::e2m1 && scaled) return Tcgen05Kind::mxf4nvf4;
  if (scaled) return std::nullopt;
  if (a == b && (a == DType::f16 || a == DType::bf16)) return Tcgen05Kind::f16;
  if (a == b && a == DType::f32) return Tcgen05Kind::tf32;
  if (is_byte_integer(a) && is_byte_integer(b)) return Tcgen05Kind::i8;
  return std::nullopt;
}

bool accumulates(Tcgen05Kind kind, DType a, DType acc) {
  if (kind == Tcgen05Kind::i8) return acc == DType::s32;
  return acc == DType::f32 || (acc == DType::f16 && (a == DType::f16 || kind == Tcgen05Kind::f8f6f4));
}

Tcgen05Kind check_types(DType acc, DType a, DType b, const Tcgen05Options& options) {
  const bool scaled = options.a_scale.has_value();
  if (scaled != options.b_scale.has_value())
    fail(Code::mma_dtype,
         fmt::format("tcgen05_mma: {} is given, {} is not", scaled ? "a_scale" : "b_scale",
                     scaled ? "b_scale" : "a_scale"),
         "both operands have scales, or none");
  const auto kind = kind_of(a, b, scaled);
  if (kind && accumulates(*kind, a, acc)) return *kind;
  fail(Code::mma_dtype,
       fmt::format("tcgen05_mma: {} and {} operands {}into a {} accumulator", pl::name(a), pl::name(b),
                   scaled ? "with scales " : "", pl::name(acc)),
       scaled
           ? "e4m3, e5m2 and e2m1 have scales, and accumulate in f32 then"
           : "f16, bf16, f32 (as tf32), e4m3 and e5m2 accumulate in f32; f16, e4m3 and e5m2 also in f16; s8 "
             "and u8 in s32; e2m1 needs scales");
}

// The sizes of the whole product, of the pair if there is one.
struct TensorProduct {
  Tcgen05Kind kind;
  int ctas = 1;
  int64_t m, n, k;      // n, of B in one instruction: at most 256
  bool sparse = false;  // A has k / 2 columns
  ScaledBlocks blocks = {};

  int64_t stored_k() const { return sparse ? k / 2 : k; }
  OperandShape shape() const { return {kind, ctas, m, n, k, sparse}; }
  int64_t k_of_instruction() const { return isa::tcgen05_k(kind, sparse); }
};

void check_accumulator(const Ref& acc, int ctas) {
  if (acc.space() != MemorySpace::tmem)
    fail(Code::bad_accumulator,
         fmt::format("tcgen05_mma: the accumulator must be in TMEM, it is {}", to_string(acc)),
         "allocate it with plgpu::TMEM({128, n}, pl::f32)");
  const TensorPlacement& place = acc.base().tensor;
  if (place.layout)
    fail(Code::bad_accumulator,
         fmt::format("tcgen05_mma: the accumulator {} is in {}", to_string(acc), name(*place.layout)),
         "allocate it without a layout: plgpu::TMEM({128, n}, pl::f32)");
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

TensorProduct check_matrices(const Recorder& r, const Ref& acc, const Ref& a, const Ref& b, int ctas,
                             const Tcgen05Options& options) {
  if (a.rank() != 2 || b.rank() != 2)
    fail(Code::mma_shape,
         fmt::format("tcgen05_mma takes matrices; a is {}, b is {}", pl::to_string(a.shape()),
                     pl::to_string(b.shape())),
         "drop leading dimensions with .at(index)");
  const bool sparse = options.a_sparse_metadata.has_value();
  TensorProduct p{check_types(acc.dtype(), a.dtype(), b.dtype(), options),
                  ctas,
                  acc.shape(0) * ctas,
                  acc.shape(1),
                  a.shape(1) * (sparse ? 2 : 1),
                  sparse};
  check_chip_has(r, p.kind);
  if (a.shape(0) != acc.shape(0) || b.shape(0) != p.k || b.shape(1) * ctas != p.n)
    fail(Code::mma_shape,
         fmt::format("tcgen05_mma: the accumulator {} is not the product of a {}{} and b {}{}",
                     pl::to_string(acc.shape()), pl::to_string(a.shape()),
                     sparse ? " (half of K, sparse)" : "", pl::to_string(b.shape()),
                     ctas == 2 ? ", each CTA's half of the columns" : ""),
         "b is (k, n); use plgpu::transpose_ref when it is stored as (n, k)");
  const int64_t step = (p.kind == Tcgen05Kind::i8 ? 16 : 8) * ctas;
  const int64_t part = std::min(p.n, widest_product);
  if (part % step != 0 || p.n % part != 0 || (p.n > widest_product && ctas == 2) ||
      p.n > r.arch().tensor_columns)
    fail(Code::mma_shape, fmt::format("tcgen05_mma: n is {}, it must be a multiple of {} up to 256{}", p.n,
                                      step, ctas == 2 ? " for a pair of CTAs" : ", or 512"));
  if (options.a_scale) p.blocks = check_scales(p.shape(), *options.a_scale, *options.b_scale);
  if (sparse) check_metadata(p.shape(), *options.a_sparse_metadata);
  return p;
}

isa::Type element_type(DType d) { return d == DType::f32 ? isa::Type::tf32 : pl::isa_type(d); }

// A in SMEM or TMEM.
struct LeftMatrix {
  std::optional<MatrixOperand> smem;
  TensorAddress tmem;
  int64_t bits;  // of an element
  bool mn_major() const { return smem && smem->mn_major; }
};

// Elements that share a byte count as bytes (matrix_operand).
int64_t in_operand(int64_t k, int64_t bits) { return bits < 8 ? k * bits / 8 : k; }

Operand left_of(Recorder& r, const LeftMatrix& a, int64_t k) {
  if (!a.smem) return a.tmem.at(k * a.bits / 32);
  return matrix_descriptor(r, *a.smem, isa::encode_tcgen05(a.smem->format()), 0, in_operand(k, a.bits));
}

LeftMatrix left_matrix(Recorder& r, const Ref& a) {
  const int64_t bits = pl::bits(a.dtype());
  if (a.space() != MemorySpace::tmem) return {matrix_operand(r, a, 0, 1, "tcgen05_mma", 'a'), {}, bits};
  if (a.shape(0) != 128 || a.base().tensor.layout || (bits < 32 && !a.base().tensor.packed))
    fail(Code::mma_shape, fmt::format("tcgen05_mma: a in TMEM is {}", to_string(a)),
         "a in TMEM has 128 rows and is packed: TMEM({128, k}, dtype, {.packed = true})");
  return {std::nullopt, tensor_address(a, "tcgen05_mma"), bits};
}

void check_operands(const TensorProduct& p, const LeftMatrix& a, const MatrixOperand& b, const Ref& left,
                    const Ref& right) {
  const auto check_k = [&](int64_t stored, const Ref& of, const char* part) {
    const int64_t swizzle = of.base().physical.swizzle, unit = swizzle * 8 / a.bits;
    if (stored % unit == 0) return;
    fail(Code::mma_shape,
         fmt::format("tcgen05_mma: {} is {}, it must be a multiple of {} (swizzle {} / {} {})", part, stored,
                     unit, swizzle, a.bits < 8 ? a.bits : a.bits / 8, a.bits < 8 ? "bits" : "bytes"));
  };
  check_k(p.k, right, "k");
  if (a.smem) check_k(p.stored_k(), left, p.sparse ? "the stored half of k" : "k");
  if (p.k % p.k_of_instruction() != 0)
    fail(Code::mma_shape,
         fmt::format("tcgen05_mma: k is {}, it must be a multiple of {}", p.k, p.k_of_instruction()));
  const bool transposes = a.mn_major() || b.mn_major;
  if (transposes && (a.bits == 32 || a.bits == 4))
    fail(Code::mma_transform,
         fmt::format("tcgen05_mma: {} operands cannot be transposed", a.bits == 32 ? "f32" : "e2m1"),
         "store them with K along the rows of SMEM");
}

void emit_products(Recorder& r, const Ref& acc, const Ref& a, const Ref& b, const TensorProduct& p,
                   const Tcgen05Options& options) {
  const LeftMatrix left = left_matrix(r, a);
  const MatrixOperand right = matrix_operand(r, b, 1, 0, "tcgen05_mma", 'b');
  check_operands(p, left, right, a, b);
  const TensorAddress d = tensor_address(acc, "tcgen05_mma");
  const SideOperands side(p.shape(), p.blocks, options);
  isa::Tcgen05Descriptor descriptor{.m = static_cast<int>(p.m),
                                    .n = static_cast<int>(std::min(p.n, widest_product)),
                                    .d = pl::isa_type(acc.dtype()),
                                    .a = element_type(a.dtype()),
                                    .b = element_type(b.dtype()),
                                    .transpose_a = left.mn_major(),
                                    .transpose_b = right.mn_major,
                                    .sparse = p.sparse};
  const std::string mnemonic = fmt::format("tcgen05.mma{}.cta_group::{}.kind::{}{}", p.sparse ? ".sp" : "",
                                           p.ctas, isa::name(p.kind), p.blocks.words());
  const Operand always = frontend::constant(DType::bool_, int64_t{1});
  const Operand first = options.accumulate.astype(DType::bool_).operand();
  const int64_t k_elements = p.k_of_instruction(), width = std::min(p.n, widest_product);
  for (int64_t n = 0; n < p.n; n += width)
    for (int64_t k = 0; k < p.k; k += k_elements) {
      side.describe(k / k_elements, descriptor);
      std::vector<Operand> operands{d.at(n), left_of(r, left, p.sparse ? k / 2 : k),
                                    matrix_descriptor(r, right, isa::encode_tcgen05(right.format()),
                                                      n / p.ctas, in_operand(k, pl::bits(b.dtype())))};
      side.add_metadata(k / k_elements, operands);
      operands.push_back(r.pure("mov.b32", {Operand::imm(isa::encode(descriptor, p.kind))}, Type::b32));
      side.add_scales(k / k_elements, operands);
      operands.push_back(k == 0 ? first : always);
      r.emit(mnemonic, std::move(operands), r.elected());
    }
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
  check_tcgen05(r, "tcgen05_mma");
  const int ctas = ctas_of(options.collective_axis, "tcgen05_mma");
  check_accumulator(acc, ctas);
  const TensorProduct p = check_matrices(r, acc, a, b, ctas, options);
  emit_products(r, acc, a, b, p, options);
  if (barrier != nullptr) commit(r, *barrier, ctas, "tcgen05_mma");
}

}  // namespace

void tcgen05_mma(const Ref& acc, const Ref& a, const Ref& b, const BarrierRef& barrier,
                 const Tcgen05Options& options, std::source_location loc) {
  const VerbScope at(loc);
  record_product(acc, a, b, &barrier, options);
}

void tcgen05_mma(const Ref& acc, const Ref& a, const Ref& b, const Tcgen05Options& options,
                 std::source_location loc) {
  const VerbScope at(loc);
  record_product(acc, a, b, nullptr, options);
}

void tcgen05_commit_arrive(const BarrierRef& barrier, const CommitOptions& options,
                           std::source_location loc) {
  const VerbScope at(loc);
  Recorder& r = Recorder::current();
  commit(r, barrier, ctas_of(options.collective_axis, "tcgen05_commit_arrive"), "tcgen05_commit_arrive");
}

}  // namespace palladion::plgpu
