#include "frontend/arrays/matrix_access.h"

#include <fmt/format.h>

#include <numeric>

#include "frontend/refs/access.h"

namespace palladion::frontend {

using pl::DType;
using pl::Shape;
using plgpu::Array;
using plgpu::Layout;
using plgpu::MemorySpace;
using plgpu::Ref;

namespace {

// A warp's share of a WGMMA fragment of 16-bit elements is a row of 8x8 matrices, four of which one
// instruction moves: rows 0-7 and 8-15 of two neighbouring column blocks.

bool is_wgmma_half(const Layout& layout, DType dtype, const Ref& ref) {
  return layout == Layout::WGMMA && pl::bits(dtype) == 16 && ref.space() == MemorySpace::smem &&
         !ref.base().cluster_rank && ref.rank() >= 2;
}

// Whether 8 elements along view dimension `dim` lie together, 16-byte aligned.
bool holds_rows(const Ref& ref, int dim) {
  const int b = ref.dims()[static_cast<size_t>(dim)].base;
  if (b < 0) return false;
  const auto& d = ref.base().physical.dims[static_cast<size_t>(b)];
  const int64_t step = d.tile == 1 ? d.outer : d.inner;
  if (step != 2 || (d.tile != 1 && d.tile % 8 != 0)) return false;
  for (const auto& other : ref.dims()) {
    if (other.base < 0 || other.base == b || other.size == 1) continue;
    const auto& o = ref.base().physical.dims[static_cast<size_t>(other.base)];
    if (o.outer % 16 != 0 || o.inner % 16 != 0) return false;
  }
  const int64_t window = std::gcd(window_offset(ref).multiple(), int64_t{16});
  return window == 16;
}

struct Matrices {
  Access access;
  bool transposed;
  int64_t columns, row_blocks;
};

// The address of a lane is that of row lane % 8 of matrix lane / 8.
Matrices matrices(Recorder& r, const Ref& ref, bool transposed) {
  const int rows = static_cast<int>(ref.rank()) - 2, cols = rows + 1;
  std::vector<ThreadTerm> terms;
  if (!transposed)
    terms = {{rows, 1, 8, 1}, {rows, 8, 2, 8}, {cols, 16, 2, 8}, {rows, 32, 4, 16}};
  else
    terms = {{cols, 1, 8, 1}, {rows, 8, 2, 8}, {cols, 16, 2, 8}, {rows, 32, 4, 16}};
  return {Access(r, ref, std::move(terms)), transposed, ref.shape().back(), ref.shape(ref.rank() - 2) / 64};
}

// Calls visit(first register, count, address): count is 4, or 2 for a last block of 8 columns.
template <class Visit>
void walk_matrices(const Ref& ref, Matrices& m, const Visit& visit) {
  const int64_t batches = pl::volume(Shape(ref.shape().begin(), ref.shape().end() - 2));
  const int64_t per_block = m.columns / 8 * 2;
  for (int64_t batch = 0; batch < batches; ++batch) {
    Shape index(ref.rank(), 0);
    int64_t rest = batch;
    for (size_t d = ref.rank() - 2; d-- > 0;) {
      index[d] = rest % ref.shape(d);
      rest /= ref.shape(d);
    }
    for (int64_t block = 0; block < m.row_blocks; ++block) {
      for (int64_t j = 0; j < m.columns / 8; j += 2) {
        index[ref.rank() - 2] = block * 64;
        index[ref.rank() - 1] = j * 8;
        const int64_t first = (batch * m.row_blocks + block) * per_block + j * 2;
        visit(first, j + 1 < m.columns / 8 ? 4 : 2, index);
      }
    }
  }
}

}  // namespace

bool matrix_way(const Ref& ref, const Layout& layout, DType dtype, bool* transposed) {
  if (!is_wgmma_half(layout, dtype, ref) || ref.shape().back() % 16 != 0) return false;
  const int cols = static_cast<int>(ref.rank()) - 1;
  *transposed = !holds_rows(ref, cols);
  return !*transposed || holds_rows(ref, cols - 1);
}

void store_matrices(Recorder& r, const Ref& ref, const Array& value, bool transposed) {
  Matrices m = matrices(r, ref, transposed);
  walk_matrices(ref, m, [&](int64_t first, int64_t n, const Shape& index) {
    const auto& regs = value.registers();
    r.emit(fmt::format("stmatrix.sync.aligned.m8n8.x{}{}.shared.b16", n, transposed ? ".trans" : ""),
           {m.access.at(index).operand(), Operand::vector({regs.begin() + first, regs.begin() + first + n})});
  });
}

Array load_matrices(Recorder& r, const Ref& ref, const Layout& layout, bool transposed) {
  Matrices m = matrices(r, ref, transposed);
  std::vector<Operand> registers;
  walk_matrices(ref, m, [&](int64_t, int64_t n, const Shape& index) {
    std::vector<Operand> four;
    for (int64_t i = 0; i < n; ++i) four.push_back(r.reg(Type::b32));
    r.emit(fmt::format("ldmatrix.sync.aligned.m8n8.x{}{}.shared.b16", n, transposed ? ".trans" : ""),
           {Operand::vector(four), m.access.at(index).operand()});
    registers.insert(registers.end(), four.begin(), four.end());
  });
  return Array(ref.dtype(), ref.shape(), layout, std::move(registers));
}

}  // namespace palladion::frontend
