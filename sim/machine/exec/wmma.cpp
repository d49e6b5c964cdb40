// wmma: whole matrices of a warp. Loads and stores move rows (or columns) between memory and the fragments of
// isa/formats/wmma_fragments.h; a product is as many mma.sync as the chip makes of it.
#include "isa/formats/wmma_fragments.h"
#include "sim/launch/phrases/phrase.h"

#include "isa/num/convert.h"
#include "sim/machine/exec/elements.h"
#include "sim/machine/exec/fragment_tiles.h"
#include "sim/machine/exec/handlers.h"
#include "sim/machine/exec/mma_words.h"

namespace palladion::sim {
namespace wmma {
namespace {

namespace tc = numerics::tc;
namespace num = isa::num;
using isa::WmmaMatrix;

// A fragment; m8n32k16 is held as what it is the transpose of.
struct Fragment {
  WmmaMatrix matrix;
  int m, n, k;
  isa::Type type;
  bool row;  // of the matrix in memory

  static Fragment of(WmmaMatrix matrix, int m, int n, int k, isa::Type type, bool row = true) {
    if (isa::wmma::is_transposed(m, n)) return {isa::wmma::transposed(matrix), n, m, k, type, !row};
    return {matrix, m, n, k, type, row};
  }
  isa::wmma::Size size() const { return isa::wmma::size_of(matrix, m, n, k); }
  int bits() const { return isa::bits(type); }
  // Lines of memory: rows or columns.
  int lines() const { return row ? size().rows : size().cols; }
  int line_elements() const { return row ? size().cols : size().rows; }
  // Lines of a fragment, which are also those of its product: columns of B, rows of A and C.
  Fragment by_its_lines() const { return {matrix, m, n, k, type, matrix != WmmaMatrix::b}; }
  bool has_its_lines() const { return row == (matrix != WmmaMatrix::b); }
  size_t line_bytes() const { return static_cast<size_t>(line_elements() * bits()) / 8; }
};

// Packed lines; the largest matrix has 256 elements of 4 bytes.
struct Matrix {
  alignas(64) uint8_t bytes[1024];
};

// Calls visit(tile, first register, function that finds a line of it in the packed lines of the fragment).
void for_each_tile(const Fragment& f, uint8_t* bytes, auto visit) {
  const size_t line_bytes = f.by_its_lines().line_bytes();
  const int registers = isa::wmma::registers(f.matrix, f.m, f.n, f.k, f.type);
  for (int first = 0, number = 0; first < registers; ++number) {
    const isa::wmma::Tile t = isa::wmma::tile(f.matrix, f.m, f.n, f.k, f.type, number);
    const bool columns = f.matrix == WmmaMatrix::b;
    const int line = columns ? t.first.col : t.first.row, along = columns ? t.first.row : t.first.col;
    uint8_t* base =
        bytes + static_cast<size_t>(line) * line_bytes + static_cast<size_t>(along * f.bits()) / 8;
    visit(t.layout, first, [=](int i) { return base + static_cast<size_t>(i) * line_bytes; });
    first += t.layout.registers;
  }
}

void collect(const Exec& x, const DecodedOperand& o, const Fragment& f, Matrix& to) {
  for_each_tile(f, to.bytes, [&](const isa::FragmentLayout& layout, int first, auto line) {
    collect_tile(x, o, first, layout, f.bits(), line);
  });
}

void spread(const Exec& x, const DecodedOperand& o, const Fragment& f, Matrix& from) {
  for_each_tile(f, from.bytes, [&](const isa::FragmentLayout& layout, int first, auto line) {
    spread_tile(x, o, first, layout, f.bits(), line);
  });
}

template <class T>
void transpose(const uint8_t* from, int lines, int length, uint8_t* to) {
  T in[sizeof(Matrix) / sizeof(T)], out[sizeof(Matrix) / sizeof(T)];
  std::memcpy(in, from, sizeof in);
  for (int i = 0; i < lines; ++i)
    for (int k = 0; k < length; ++k) out[k * lines + i] = in[i * length + k];
  std::memcpy(to, out, sizeof(T) * static_cast<size_t>(lines * length));
}

// `lines` lines become as many columns. Elements below a byte lie in memory only as their fragments have
// them.
Matrix turned(const Matrix& from, const Fragment& f, int lines, int length) {
  Matrix to;
  switch (f.bits()) {
    case 8:
      transpose<uint8_t>(from.bytes, lines, length, to.bytes);
      break;
    case 16:
      transpose<uint16_t>(from.bytes, lines, length, to.bytes);
      break;
    case 32:
      transpose<uint32_t>(from.bytes, lines, length, to.bytes);
      break;
    default:
      transpose<uint64_t>(from.bytes, lines, length, to.bytes);
      break;
  }
  return to;
}

// The rows (or columns) of a matrix in memory, one a lane; false after a fault.
struct Lines {
  uint64_t addresses[32] = {};
  uint8_t* bytes[32] = {};
  isa::Space space = isa::Space::generic;
  int count = 0;
  uint64_t size = 0;

  bool global(int i) const { return space_of(space, addresses[i]) == isa::Space::global; }
  const uint8_t* seen(const Exec& x, int i, uint8_t* copy) const {
    return global(i) ? x.cluster.stores.visible(Address(addresses[i]), bytes[i], size, copy) : bytes[i];
  }
  void put(const Exec& x, int i, const uint8_t* line) const {
    if (global(i))
      x.store(Address(addresses[i]), bytes[i], line, size);
    else
      std::memcpy(bytes[i], line, size);
  }
};

bool find_lines(Exec& x, const Fragment& f, isa::Space space, const DecodedOperand& address,
                const DecodedOperand* stride, Lines& lines, const char* what) {
  const int bits = f.bits();
  const uint64_t apart = stride != nullptr && stride->kind != DecodedOperand::Kind::none
                             ? static_cast<uint32_t>(x.uniform_value(*stride))
                             : static_cast<uint64_t>(f.line_elements());
  const uint64_t first = x.address_of_lane(address, std::countr_zero(x.active));
  lines.count = f.lines();
  lines.size = f.line_bytes();
  lines.space = space;
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
    step = x.fault(Code::partial_warp, say<Phrase::by_part_of_warp>("wmma"));
  else
    return true;
  return false;
}

Step load(Exec& x, const MicroOp& op, const isa::WmmaLoad& e) {
  Step step = Step::next;
  if (!whole_warp(x, step)) return step;
  const Fragment f = Fragment::of(e.matrix, e.m, e.n, e.k, e.type, e.row);
  Lines lines;
  if (!find_lines(x, f, e.space, op.operands[e.address], optional(op, e.stride), lines, "read of a matrix"))
    return Step::fault;
  notify(x, Access::Kind::read, e.space, lines);
  if (!op.moves) return Step::next;
  Matrix matrix;
  for (int i = 0; i < lines.count; ++i) {
    uint8_t* const to = matrix.bytes + static_cast<size_t>(i) * lines.size;
    if (const uint8_t* const from = lines.seen(x, i, to); from != to) std::memcpy(to, from, lines.size);
  }
  if (!f.has_its_lines()) matrix = turned(matrix, f, f.lines(), f.line_elements());
  spread(x, op.operands[e.dst], f, matrix);
  return Step::next;
}

Step store(Exec& x, const MicroOp& op, const isa::WmmaStore& e) {
  Step step = Step::next;
  if (!whole_warp(x, step)) return step;
  const Fragment f = Fragment::of(WmmaMatrix::c, e.m, e.n, e.k, e.type, e.row);
  Lines lines;
  if (!find_lines(x, f, e.space, op.operands[e.address], optional(op, e.stride), lines, "write of a matrix"))
    return Step::fault;
  notify(x, Access::Kind::write, e.space, lines);
  x.changed();
  if (!op.moves) return Step::next;
  Matrix matrix;
  collect(x, op.operands[e.src], f, matrix);
  if (!f.has_its_lines()) matrix = turned(matrix, f, f.line_elements(), f.lines());
  for (int i = 0; i < lines.count; ++i) lines.put(x, i, matrix.bytes + static_cast<size_t>(i) * lines.size);
  return Step::next;
}

// --- products -------------------------------------------------------------------------------------------
constexpr int max_elements = 256;

void to_floats(Matrix& c) {
  uint16_t half[max_elements];
  uint32_t single[max_elements];
  std::memcpy(half, c.bytes, sizeof half);
  for (int i = 0; i < max_elements; ++i) single[i] = num::to_f32_bits<num::F16>(half[i]);
  std::memcpy(c.bytes, single, sizeof single);
}

void to_halves(Matrix& d) {
  uint32_t single[max_elements];
  uint16_t half[max_elements];
  std::memcpy(single, d.bytes, sizeof single);
  for (int i = 0; i < max_elements; ++i)
    half[i] = static_cast<uint16_t>(num::cvt<num::F16, num::F32, num::Rounding::rn>(single[i], {}));
  std::memcpy(d.bytes, half, sizeof half);
}

Step product_of(Exec& x, const MicroOp& op, const isa::Wmma& e) {
  Step step = Step::next;
  if (!whole_warp(x, step)) return step;
  const auto a_element = element_of(e.a), b_element = element_of(e.b);
  if (!a_element || !b_element) return x.unsupported(say<Phrase::wmma_of_these_types>());
  if (!op.moves) return Step::next;
  const auto fragment = [&](WmmaMatrix matrix, isa::Type type) {
    return Fragment::of(matrix, e.m, e.n, e.k, type).by_its_lines();
  };
  Matrix a, b, c;
  const Fragment fc = fragment(WmmaMatrix::c, e.c);
  collect(x, op.operands[e.ra], fragment(WmmaMatrix::a, e.a), a);
  collect(x, op.operands[e.rb], fragment(WmmaMatrix::b, e.b), b);
  collect(x, op.operands[e.rc], fc, c);
  // Products of tf32 are two of K = 4, one after the other.
  const int steps = e.a == isa::Type::tf32 ? 2 : 1;
  tc::MmaSync product{.a = *a_element,
                      .b = *b_element,
                      .d = result_of(e.d),
                      .m = fc.m,
                      .n = fc.n,
                      .k = e.k / steps,
                      .steps = steps,
                      .saturate = e.satfinite};
  product.bit_op = e.xor_popc ? tc::MmaSync::BitOp::xor_popc : tc::MmaSync::BitOp::and_popc;
  product.rounding = rounding_of(e.rounding);
  // Halves beside floats: the product is made in floats.
  const bool mixed = e.c != e.d;
  if (mixed) product.d = tc::Result::f32;
  if (mixed && e.c == isa::Type::f16) to_floats(c);
  const bool swapped = isa::wmma::is_transposed(e.m, e.n);
  tc::mma_sync(product, swapped ? b.bytes : a.bytes, swapped ? a.bytes : b.bytes, c.bytes, c.bytes);
  if (mixed && e.d == isa::Type::f16) to_halves(c);
  spread(x, op.operands[e.dst], fragment(WmmaMatrix::c, e.d), c);
  return Step::next;
}

}  // namespace
}  // namespace wmma

Step exec(Exec& x, const MicroOp& op, const isa::WmmaLoad& e) { return wmma::load(x, op, e); }
Step exec(Exec& x, const MicroOp& op, const isa::WmmaStore& e) { return wmma::store(x, op, e); }
Step exec(Exec& x, const MicroOp& op, const isa::Wmma& e) { return wmma::product_of(x, op, e); }

}  // namespace palladion::sim
