// wmma: whole matrices of a warp. Loads and stores move rows (or columns) between memory and the fragments of
// isa/formats/wmma_fragments.h; a product is as many mma.sync as the chip makes of it.
#include "isa/formats/wmma_fragments.h"

#include "isa/num/convert.h"
#include "sim/machine/exec/elements.h"
#include "sim/machine/exec/handlers.h"
#include "sim/machine/exec/mma_words.h"

namespace palladion::sim {
namespace wmma {
namespace {

namespace tc = numerics::tc;
namespace num = isa::num;
using isa::WmmaMatrix;

// Rows of packed elements.
struct Matrix {
  alignas(64) uint8_t bytes[2048] = {};
  int cols = 0, bits = 0;

  size_t row_bytes() const { return static_cast<size_t>(cols) * static_cast<size_t>(bits) / 8; }
  uint8_t* row(int r) { return bytes + static_cast<size_t>(r) * row_bytes(); }
  uint64_t get(int r, int c) {
    const int bit = c * bits;
    uint64_t v = 0;
    std::memcpy(&v, row(r) + bit / 8, bits >= 8 ? static_cast<size_t>(bits) / 8 : 1);
    return bits >= 8 ? v : v >> (bit % 8) & ((1U << bits) - 1);
  }
  void put(int r, int c, uint64_t value) {
    const int bit = c * bits;
    uint8_t* at = row(r) + bit / 8;
    if (bits >= 8) {
      std::memcpy(at, &value, static_cast<size_t>(bits) / 8);
      return;
    }
    const auto mask = static_cast<uint8_t>(((1U << bits) - 1) << (bit % 8));
    *at = static_cast<uint8_t>((*at & ~mask) | (static_cast<uint8_t>(value << (bit % 8)) & mask));
  }
};

// Which fragment it is, and how the matrix lies in a Matrix: B by columns.
struct Fragment {
  WmmaMatrix matrix;
  int m, n, k;
  isa::Type type;

  isa::wmma::Size size() const { return isa::wmma::size_of(matrix, m, n, k); }
  Matrix empty(bool by_columns) const {
    Matrix x;
    x.cols = by_columns ? size().rows : size().cols;
    x.bits = isa::bits(type);
    return x;
  }
  void for_each(auto visit) const {  // lane, register, shift in it, place
    const int registers = isa::wmma::registers(matrix, m, n, k, type), parts = isa::wmma::parts(type);
    for (int lane = 0; lane < 32; ++lane)
      for (int r = 0; r < registers; ++r)
        for (int part = 0; part < parts; ++part)
          visit(lane, r, part * isa::bits(type), isa::wmma::element(matrix, m, n, k, type, lane, r, part));
  }
};

void collect(const Exec& x, const DecodedOperand& o, const Fragment& f, bool by_columns, Matrix& to) {
  to = f.empty(by_columns);
  const uint64_t mask = to.bits == 64 ? ~0ULL : (1ULL << to.bits) - 1;
  f.for_each([&](int lane, int r, int shift, isa::MatrixIndex at) {
    const uint64_t value = x.lane_value(o.element(r), lane) >> shift & mask;
    by_columns ? to.put(at.col, at.row, value) : to.put(at.row, at.col, value);
  });
}

void spread(const Exec& x, const DecodedOperand& o, const Fragment& f, bool by_columns, Matrix& from) {
  f.for_each([&](int lane, int r, int shift, isa::MatrixIndex at) {
    const uint64_t value = by_columns ? from.get(at.col, at.row) : from.get(at.row, at.col);
    const DecodedOperand& d = o.element(r);
    if (d.width == 64) {
      x.lanes<uint64_t>(d)[lane] = value;
      return;
    }
    uint32_t& word = x.lanes<uint32_t>(d)[lane];
    word = (shift == 0 ? 0 : word) | static_cast<uint32_t>(value << shift);
  });
}

// The rows (or columns) of a matrix in memory, one a lane; false after a fault.
struct Lines {
  uint64_t addresses[32] = {};
  uint8_t* bytes[32] = {};
  int count = 0;
  uint64_t size = 0;
};

bool find_lines(Exec& x, const Fragment& f, isa::Space space, bool row, const DecodedOperand& address,
                const DecodedOperand* stride, Lines& lines, const char* what) {
  const isa::wmma::Size s = f.size();
  const int bits = isa::bits(f.type), length = row ? s.cols : s.rows;
  const uint64_t apart = stride != nullptr && stride->kind != DecodedOperand::Kind::none
                             ? static_cast<uint32_t>(x.uniform_value(*stride))
                             : static_cast<uint64_t>(length);
  const uint64_t first = x.address_of_lane(address, std::countr_zero(x.active));
  lines.count = row ? s.rows : s.cols;
  lines.size = static_cast<uint64_t>(length * bits) / 8;
  for (int i = 0; i < lines.count; ++i) {
    lines.addresses[i] = first + static_cast<uint64_t>(i) * apart * static_cast<uint64_t>(bits) / 8;
    lines.bytes[i] = x.resolve(space, lines.addresses[i], lines.size, 0, what);
    if (lines.bytes[i] == nullptr) return false;
  }
  return true;
}

void notify(const Exec& x, Access::Kind kind, isa::Space space, const Lines& lines) {
  if (!x.wants<Access>()) return;
  const uint32_t lanes = lines.count == 32 ? ~0U : (1U << lines.count) - 1;
  x.emit(Access{x.origin(), kind, space, static_cast<uint32_t>(lines.size), lines.addresses, lanes,
                isa::Order::weak, isa::Scope::cta, 0});
}

const DecodedOperand* optional(const MicroOp& op, int index) {
  return index < 0 ? nullptr : &op.operands[index];
}

// Waits for the whole warp; false: `step` is the handler's result.
bool whole_warp(Exec& x, Step& step) {
  if (!x.converged(x.warp->alive))
    step = x.wait(Wait::Kind::convergence, x.missing(x.warp->alive));
  else if (x.active != ~0U)
    step = x.fault("PLD3061", "wmma is executed by part of a warp");
  else
    return true;
  return false;
}

// --- products -------------------------------------------------------------------------------------------
Matrix converted(Matrix& from, int rows, bool to_half) {
  Matrix to;
  to.cols = from.cols;
  to.bits = to_half ? 16 : 32;
  for (int r = 0; r < rows; ++r)
    for (int c = 0; c < from.cols; ++c) {
      const auto v = static_cast<uint32_t>(from.get(r, c));
      to.put(r, c,
             to_half ? uint64_t{num::cvt<num::F16, num::F32, num::Rounding::rn>(v, {})}
                     : uint64_t{num::to_f32_bits<num::F16>(static_cast<uint16_t>(v))});
    }
  return to;
}

// Columns [k, k + op.k) of `rows` rows.
Matrix columns_of(Matrix& x, int first, int rows, int k, int count) {
  Matrix part;
  part.cols = count;
  part.bits = x.bits;
  for (int r = 0; r < rows; ++r)
    std::memcpy(part.row(r), x.row(first + r) + static_cast<size_t>(k) * static_cast<size_t>(x.bits) / 8,
                part.row_bytes());
  return part;
}

// One mma.sync, or as many as K has steps, one after the other: products of tf32 are two of K = 4.
void step_through_k(const tc::MmaSync& op, Matrix& a, int row, Matrix& b, int column, Matrix& c, Matrix& d) {
  if (op.k == a.cols) {
    tc::mma_sync(op, a.row(row), b.row(column), c.bytes, d.bytes);
    return;
  }
  Matrix sum = c;
  for (int k = 0; k < a.cols; k += op.k) {
    Matrix ak = columns_of(a, row, op.m, k, op.k), bk = columns_of(b, column, 8, k, op.k);
    tc::mma_sync(op, ak.bytes, bk.bytes, sum.bytes, d.bytes);
    sum = d;
  }
}

// D = A B + C by tiles of 16 (or 8) rows and 8 columns; b by columns.
void multiply(const tc::MmaSync& op, Matrix& a, Matrix& b, Matrix& c, Matrix& d, int rows, int columns) {
  Matrix tile_c, tile_d;
  tile_c.cols = tile_d.cols = 8;
  tile_c.bits = tile_d.bits = c.bits;
  for (int r = 0; r < rows; r += op.m) {
    for (int n = 0; n < columns; n += 8) {
      for (int i = 0; i < op.m; ++i)
        std::memcpy(tile_c.row(i), c.row(r + i) + n * c.bits / 8, tile_c.row_bytes());
      step_through_k(op, a, r, b, n, tile_c, tile_d);
      for (int i = 0; i < op.m; ++i)
        std::memcpy(d.row(r + i) + n * d.bits / 8, tile_d.row(i), tile_d.row_bytes());
    }
  }
}

Step load(Exec& x, const MicroOp& op) {
  const auto& e = effect<isa::WmmaLoad>(op);
  Step step = Step::next;
  if (!whole_warp(x, step)) return step;
  const Fragment f{e.matrix, e.m, e.n, e.k, e.type};
  Lines lines;
  if (!find_lines(x, f, e.space, e.row, op.operands[e.address], optional(op, e.stride), lines,
                  "read of a matrix"))
    return Step::fault;
  notify(x, Access::Kind::read, e.space, lines);
  if (!op.moves) return Step::next;
  Matrix matrix = f.empty(!e.row);
  for (int i = 0; i < lines.count; ++i) std::memcpy(matrix.row(i), lines.bytes[i], lines.size);
  spread(x, op.operands[e.dst], f, !e.row, matrix);
  return Step::next;
}

Step store(Exec& x, const MicroOp& op) {
  const auto& e = effect<isa::WmmaStore>(op);
  Step step = Step::next;
  if (!whole_warp(x, step)) return step;
  const Fragment f{WmmaMatrix::c, e.m, e.n, e.k, e.type};
  Lines lines;
  if (!find_lines(x, f, e.space, e.row, op.operands[e.address], optional(op, e.stride), lines,
                  "write of a matrix"))
    return Step::fault;
  notify(x, Access::Kind::write, e.space, lines);
  x.changed();
  if (!op.moves) return Step::next;
  Matrix matrix;
  collect(x, op.operands[e.src], f, !e.row, matrix);
  for (int i = 0; i < lines.count; ++i) std::memcpy(lines.bytes[i], matrix.row(i), lines.size);
  return Step::next;
}

Step product_of(Exec& x, const MicroOp& op) {
  const auto& e = effect<isa::Wmma>(op);
  Step step = Step::next;
  if (!whole_warp(x, step)) return step;
  const auto a_element = element_of(e.a), b_element = element_of(e.b);
  if (!a_element || !b_element) return x.unsupported("wmma of these types");
  if (!op.moves) return Step::next;
  const bool swapped = e.m == 8 && e.n == 32;  // D^T = B^T A^T
  const int rows = swapped ? e.n : e.m, columns = swapped ? e.m : e.n;
  tc::MmaSync product{.a = *a_element,
                      .b = *b_element,
                      .d = result_of(e.d),
                      .m = rows < 16 ? rows : 16,
                      .n = 8,
                      .k = e.a == isa::Type::tf32 ? 4 : e.k,
                      .saturate = e.satfinite};
  product.bit_op = e.xor_popc ? tc::MmaSync::BitOp::xor_popc : tc::MmaSync::BitOp::and_popc;
  product.rounding = rounding_of(e.rounding);
  // Halves beside floats: the product is made in floats.
  const bool mixed = e.c != e.d;
  if (mixed) product.d = tc::Result::f32;
  Matrix a, b, c;
  collect(x, op.operands[e.ra], {WmmaMatrix::a, e.m, e.n, e.k, e.a}, false, a);
  collect(x, op.operands[e.rb], {WmmaMatrix::b, e.m, e.n, e.k, e.b}, true, b);
  collect(x, op.operands[e.rc], {WmmaMatrix::c, e.m, e.n, e.k, e.c}, swapped, c);
  if (mixed && e.c == isa::Type::f16) c = converted(c, rows, false);
  Matrix d;
  d.cols = columns;
  d.bits = c.bits;
  swapped ? multiply(product, b, a, c, d, rows, columns) : multiply(product, a, b, c, d, rows, columns);
  if (mixed && e.d == isa::Type::f16) d = converted(d, rows, true);
  spread(x, op.operands[e.dst], {WmmaMatrix::c, e.m, e.n, e.k, e.d}, swapped, d);
  return Step::next;
}

}  // namespace
}  // namespace wmma

Step exec_wmma_load(Exec& x, const MicroOp& op) { return wmma::load(x, op); }
Step exec_wmma_store(Exec& x, const MicroOp& op) { return wmma::store(x, op); }
Step exec_wmma(Exec& x, const MicroOp& op) { return wmma::product_of(x, op); }

}  // namespace palladion::sim
