#include "frontend/matrix/wgmma.h"

#include <fmt/format.h>

#include "frontend/arrays/accumulators.h"
#include "frontend/core/verbs.h"
#include "frontend/matrix/operands.h"

namespace palladion::plgpu {

namespace {

int64_t bytes_per_k() { return Recorder::current().arch().mma_k_bytes; }

using frontend::is_fp8;

MatrixOperand describe(Recorder& r, const Ref& ref, int mn, int k, char which) {
  const MatrixOperand o = matrix_operand(r, ref, mn, k, "wgmma", which);
  if (o.mn_major && pl::bytes(ref.dtype()) != 2) {
    fail(Code::mma_transform,
         fmt::format("wgmma: {} is {}: only 16-bit operands may be transposed", which, to_string(ref)));
  }
  return o;
}

Operand descriptor(Recorder& r, const MatrixOperand& o, int64_t mn, int64_t k) {
  return matrix_descriptor(r, o, isa::encode(o.format()), mn, k);
}

std::string_view operand_type(DType d) { return d == DType::f32 ? "tf32" : pl::name(d); }

void check_dtypes(DType acc, DType a, DType b) {
  if (a != b && !(is_fp8(a) && is_fp8(b))) {
    fail(Code::mma_dtype, fmt::format("wgmma: a is {}, b is {}: the dtypes must be equal, or both fp8",
                                      pl::name(a), pl::name(b)));
  }
  const bool halves = a == DType::f16 || is_fp8(a);
  const bool ok = (acc == DType::f32 && (halves || a == DType::bf16 || a == DType::f32)) ||
                  (acc == DType::f16 && halves) || (acc == DType::s32 && a == DType::s8);
  if (!ok) {
    fail(Code::mma_dtype, fmt::format("wgmma: {} operands into a {} accumulator", pl::name(a), pl::name(acc)),
         "f16, bf16, f32 (as tf32), e4m3, e5m2 accumulate in f32; f16, e4m3, e5m2 also in f16; s8 in s32");
  }
}

struct Product {
  int64_t m, n, k;
};

Product check_shapes(const Ref& acc, const Shape& a, const Ref& b) {
  Recorder::current().needs_warpgroup("wgmma");
  if (acc.space() != MemorySpace::regs)
    fail(Code::bad_accumulator,
         fmt::format("wgmma: the accumulator must be ACC in registers, it is {}", to_string(acc)));
  if (acc.rank() != 2 || a.size() != 2 || b.rank() != 2) {
    fail(Code::mma_shape,
         fmt::format("wgmma takes matrices; the shapes are {}, {} and {}", pl::to_string(acc.shape()),
                     pl::to_string(a), pl::to_string(b.shape())),
         "drop leading dimensions with .at(index)");
  }
  const Product p{acc.shape(0), acc.shape(1), a[1]};
  if (a[0] != p.m || b.shape(0) != p.k || b.shape(1) != p.n) {
    fail(Code::mma_shape,
         fmt::format("wgmma: the accumulator {} is not the product of a {} and b {}",
                     pl::to_string(acc.shape()), pl::to_string(a), pl::to_string(b.shape())),
         "b is (k, n); use plgpu::transpose_ref when it is stored as (n, k)");
  }
  const bool integer = acc.dtype() == DType::s32;
  const isa::ArchSpec& arch = Recorder::current().arch();
  if (p.m % arch.mma_m != 0)
    fail(Code::mma_shape, fmt::format("wgmma: m is {}, it must be a multiple of {}", p.m, arch.mma_m));
  if (p.n % arch.mma_n_step != 0 || p.n > arch.mma_max_n)
    fail(Code::mma_shape, fmt::format("wgmma: n is {}, it must be a multiple of {} up to {}", p.n,
                                      arch.mma_n_step, arch.mma_max_n));
  if (integer && p.n % 16 != 0 && p.n != 8 && p.n != 24)
    fail(Code::mma_shape,
         fmt::format("wgmma: n is {}, integer products need 8, 24 or a multiple of 16", p.n));
  return p;
}

// A swizzled row is whole: of an operand whose rows run along k it is a unit of k, of others it is not.
void check_k(const Product& p, const MatrixOperand& o, int64_t swizzle, DType d) {
  const int64_t unit = (o.mn_major ? bytes_per_k() : swizzle) / pl::bytes(d);
  if (p.k % unit != 0) {
    fail(Code::mma_shape, o.mn_major ? fmt::format("wgmma: k is {}, it must be a multiple of {}", p.k, unit)
                                     : fmt::format("wgmma: k is {}, it must be a multiple of {} (swizzle {} "
                                                   "/ {} bytes)",
                                                   p.k, unit, swizzle, pl::bytes(d)));
  }
}

struct Left {
  const MatrixOperand* smem = nullptr;
  const Array* registers = nullptr;
  DType dtype;
};

Operand left_operand(Recorder& r, const Left& a, const Product& p, int64_t block, int64_t k,
                     int64_t k_elements) {
  if (a.smem != nullptr) return descriptor(r, *a.smem, block * accumulator_rows, k);
  // Two blocks of the layout (8 columns of 16 bits, 16 of 8) make one K step; two row halves each.
  const int64_t columns = k_elements / 2;
  const int64_t first = (block * (p.k / columns) + k / columns) * 2;
  const auto& regs = a.registers->registers();
  return Operand::vector({regs.begin() + first, regs.begin() + first + 4});
}

void emit_product(Recorder& r, const Ref& acc, const Left& a, const MatrixOperand& b, DType b_dtype,
                  const Product& p) {
  const int64_t k_elements = bytes_per_k() / pl::bytes(a.dtype);
  const std::string mnemonic =
      fmt::format("wgmma.mma_async.sync.aligned.m64n{}k{}.{}.{}.{}", p.n, k_elements, pl::name(acc.dtype()),
                  operand_type(a.dtype), operand_type(b_dtype));
  const Operand accumulate = frontend::constant(DType::bool_, int64_t{1});
  r.emit("wgmma.fence.sync.aligned", {});
  for (int64_t k = 0; k < p.k; k += k_elements) {
    for (int64_t block = 0; block < p.m / accumulator_rows; ++block) {
      std::vector<Operand> operands{Operand::vector(accumulator_registers(acc, block)),
                                    left_operand(r, a, p, block, k, k_elements), descriptor(r, b, 0, k),
                                    accumulate};
      if (acc.dtype() != DType::s32) operands.insert(operands.end(), {Operand::imm(1), Operand::imm(1)});
      if (pl::bytes(a.dtype) == 2) {
        if (a.smem != nullptr) operands.push_back(Operand::imm(a.smem->mn_major));
        operands.push_back(Operand::imm(b.mn_major));
      }
      r.emit(mnemonic, std::move(operands));
    }
  }
  r.emit("wgmma.commit_group.sync.aligned", {});
  r.emit("wgmma.wait_group.sync.aligned", {Operand::imm(1)});
}

}  // namespace

void wgmma(const Ref& acc, const Ref& a, const Ref& b, std::source_location loc) {
  const VerbScope at(loc);
  Recorder& r = Recorder::current();
  const Product p = check_shapes(acc, a.shape(), b);
  check_dtypes(acc.dtype(), a.dtype(), b.dtype());
  const MatrixOperand left = describe(r, a, 0, 1, 'a'), right = describe(r, b, 1, 0, 'b');
  if (left.swizzle != right.swizzle) {
    fail(Code::mma_transform,
         fmt::format("wgmma: a has swizzle {}, b {}: they must be equal", isa::name(left.swizzle),
                     isa::name(right.swizzle)),
         "allocate both operands with the same SwizzleTransform");
  }
  check_k(p, left, a.base().physical.swizzle, a.dtype());
  check_k(p, right, b.base().physical.swizzle, b.dtype());
  emit_product(r, acc, {&left, nullptr, a.dtype()}, right, b.dtype(), p);
}

void wgmma(const Ref& acc, const Array& a, const Ref& b, std::source_location loc) {
  const VerbScope at(loc);
  Recorder& r = Recorder::current();
  const Product p = check_shapes(acc, a.shape(), b);
  check_dtypes(acc.dtype(), a.dtype(), b.dtype());
  const int bits = pl::bits(a.dtype());
  if (bits > 16) frontend::unsupported("wgmma with a in registers of f32 (tf32)", "pass a through SMEM");
  const Layout& wanted = bits == 16 ? Layout::WGMMA : Layout::WGMMA_8BIT;
  if (!(a.layout() == wanted)) {
    fail(Code::layout_mismatch,
         fmt::format("wgmma: a in registers must have layout {}, it is {}", to_string(wanted), to_string(a)));
  }
  const MatrixOperand right = describe(r, b, 1, 0, 'b');
  check_k(p, right, b.base().physical.swizzle, a.dtype());
  emit_product(r, acc, {nullptr, &a, a.dtype()}, right, b.dtype(), p);
}

void wgmma_wait(int n, std::source_location loc) {
  const VerbScope at(loc);
  Recorder::current().needs_warpgroup("wgmma_wait");
  if (n < 0 || n > 7)
    fail(Code::mma_shape, fmt::format("wgmma_wait({}): the number of groups left must be 0 to 7", n),
         "wait for all products with wgmma_wait(0)");
  Recorder::current().emit("wgmma.wait_group.sync.aligned", {Operand::imm(n)});
}

Array wgmma_accumulator_load(const Ref& acc, int wait_n, std::source_location loc) {
  return load_accumulator(acc, wait_n, loc);
}

}  // namespace palladion::plgpu
