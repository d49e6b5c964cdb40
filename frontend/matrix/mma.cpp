#include "frontend/matrix/mma.h"

#include <fmt/format.h>

#include "frontend/core/verbs.h"

namespace palladion::plgpu {

namespace {

bool is_mma_operand(DType d) {
  return d == DType::f16 || d == DType::bf16 || d == DType::e4m3 || d == DType::e5m2 || d == DType::s8 ||
         d == DType::u8;
}

void check_mma_types(const Array& acc, const Array& a, const Array& b) {
  const bool matrices = acc.rank() == 2 && a.rank() == 2 && b.rank() == 2;
  if (!matrices || acc.shape(0) != a.shape(0) || acc.shape(1) != b.shape(1) || a.shape(1) != b.shape(0)) {
    fail(Code::mma_shape,
         fmt::format("mma: acc {}, a {} and b {} are not (m, n), (m, k) and (k, n)",
                     pl::to_string(acc.shape()), pl::to_string(a.shape()), pl::to_string(b.shape())),
         "slice or transpose the references before the loads");
  }
  if (a.dtype() != b.dtype() || !is_mma_operand(a.dtype())) {
    fail(Code::mma_dtype, fmt::format("mma: a is {} and b is {}", pl::name(a.dtype()), pl::name(b.dtype())),
         "both must be f16, bf16, e4m3, e5m2, s8 or u8");
  }
  const DType wanted = pl::is_float(a.dtype()) ? DType::f32 : DType::s32;
  if (acc.dtype() != wanted) {
    fail(Code::mma_dtype,
         fmt::format("mma: acc is {}, products of {} are added in {}", pl::name(acc.dtype()),
                     pl::name(a.dtype()), pl::name(wanted)),
         "allocate or create the accumulator with the dtype in which the products are added");
  }
}

// How many warps share the rows, as the operand a says.
int rows_of_warps(const Array& a) {
  for (const int m_warps : {4, 2, 1})
    if (a.layout() == Layout::MMA_LHS(a.dtype(), m_warps)) return m_warps;
  fail(Code::layout_mismatch, fmt::format("mma: a is an {}", to_string(a)),
       "load it with plgpu::load(ref, {.layout = Layout::MMA_LHS(dtype)}), or use plgpu::layout_cast");
}

void check_mma_layout(const Array& x, const Layout& wanted, std::string_view which) {
  if (x.layout() == wanted) return;
  fail(Code::layout_mismatch,
       fmt::format("mma: {} is an {}, with this a it must have layout {}", which, to_string(x),
                   to_string(wanted)),
       "load it with that layout");
}

struct MmaTiles {
  int64_t m, n, k;
};

// d = a b + c on one tile of each warp: 4, 4, 2 and 4 registers.
void record_mma(Recorder& r, std::string_view mnemonic, std::vector<Operand>& acc, int64_t c,
                const Operand* a, const Operand* b, Type type) {
  const auto at = acc.begin() + 4 * c;
  std::vector<Operand> d;
  for (int i = 0; i < 4; ++i) d.push_back(r.reg(type));
  r.emit(mnemonic, {Operand::vector(d), Operand::vector({a, a + 4}), Operand::vector({b, b + 2}),
                    Operand::vector({at, at + 4})});
  std::copy(d.begin(), d.end(), at);
}

}  // namespace

Array mma(const Array& acc, const Array& a, const Array& b, std::source_location loc) {
  const VerbScope at(loc);
  for (const Array* x : {&acc, &a, &b}) x->check_assigned(loc);
  check_mma_types(acc, a, b);
  const int m_warps = rows_of_warps(a);
  const Layout result = Layout::MMA_ACC(a.dtype(), m_warps);
  check_mma_layout(b, Layout::MMA_RHS(a.dtype(), m_warps), "b");
  const Array start = acc.layout().is_splat() ? layout_cast(acc, result, loc) : acc;
  check_mma_layout(start, result, "acc");
  Recorder& r = Recorder::current();
  const bool integer = !pl::is_float(a.dtype());
  const std::string_view sum = integer ? "s32" : "f32", element = pl::name(a.dtype());
  const std::string mnemonic = fmt::format("mma.sync.aligned.m16n8k{}.row.col.{}.{}.{}.{}",
                                           256 / pl::bits(a.dtype()), sum, element, element, sum);
  const MmaTiles tiles{acc.shape(0) / result.tile()[0], acc.shape(1) / result.tile()[1],
                       a.shape(1) / a.layout().tile()[1]};
  std::vector<Operand> registers = start.registers();
  for (int64_t k = 0; k < tiles.k; ++k) {
    for (int64_t m = 0; m < tiles.m; ++m) {
      for (int64_t n = 0; n < tiles.n; ++n) {
        record_mma(r, mnemonic, registers, m * tiles.n + n, a.registers().data() + 4 * (m * tiles.k + k),
                   b.registers().data() + 2 * (k * tiles.n + n), integer ? Type::b32 : Type::f32);
      }
    }
  }
  return Array(acc.dtype(), acc.shape(), result, std::move(registers));
}

}  // namespace palladion::plgpu
