// mma.sync: fragments of one warp to matrices and back; the arithmetic is sim/numerics'.
#include "sim/launch/phrases/phrase.h"
#include "sim/machine/exec/elements.h"
#include "sim/machine/exec/fragment_tiles.h"
#include "sim/machine/exec/handlers.h"
#include "sim/machine/exec/mma_words.h"
#include "sim/machine/exec/sparse.h"
#include "sim/machine/exec/sparse_mma.h"

namespace palladion::sim {
namespace {

namespace tc = numerics::tc;

uint64_t lane_bits(const Exec& x, const DecodedOperand& o, int lane) { return x.lane_value(o, lane); }

auto rows_of(uint8_t* matrix, size_t row_bytes) {
  return [=](int r) { return matrix + static_cast<size_t>(r) * row_bytes; };
}

void collect(const Exec& x, const DecodedOperand& o, const isa::FragmentLayout& f, int bits, uint8_t* matrix,
             size_t row_bytes) {
  collect_tile(x, o, 0, f, bits, rows_of(matrix, row_bytes));
}

// A in dense form; false when the metadata are not defined. Elements of 4 bits are stored and selected by
// pairs.
bool collect_sparse(const Exec& x, const MicroOp& op, const isa::Mma& e, SparseRows& places,
                    uint8_t* matrix) {
  const int bits = isa::bits(e.a);
  const bool pairs = bits == 4;
  const SparseShape shape{pairs ? 8 : bits, pairs ? e.k / 2 : e.k,
                          static_cast<int>(op.operands[e.selector].offset)};
  uint32_t metadata[32];
  for (int lane = 0; lane < 32; ++lane)
    metadata[lane] = static_cast<uint32_t>(lane_bits(x, op.operands[e.metadata], lane));
  if (!read_sparse_metadata(metadata, shape, places)) return false;
  const size_t row = static_cast<size_t>(e.k * bits) / 8;
  uint8_t stored[SparseRows::count * 32] = {};
  collect(x, op.operands[e.ra], isa::mma_a(e.m, e.k / 2, bits), bits, stored, row / 2);
  expand_sparse_rows(stored, row / 2, shape, places, matrix, row);
  return true;
}

}  // namespace

Step exec(Exec& x, const MicroOp& op, const isa::Mma& e) {
  const auto a = element_of(e.a), b = element_of(e.b);
  if (!a || !b || !e.a_row || !e.b_col || e.c != e.d) return x.unsupported(say<Phrase::mma_of_this_shape>());
  if (!x.converged(x.warp->alive)) return x.wait(Wait::Kind::convergence, x.missing(x.warp->alive));
  if (x.active != ~0U) return x.fault(Code::partial_warp, say<Phrase::by_part_of_warp>("mma.sync"));
  tc::MmaSync m{.a = *a,
                .b = *b,
                .d = result_of(e.d),
                .m = e.m,
                .n = e.n,
                .k = e.k,
                .saturate = e.satfinite,
                .sparse = e.sparse};
  m.bit_op = e.xor_popc ? tc::MmaSync::BitOp::xor_popc : tc::MmaSync::BitOp::and_popc;
  if (e.a == isa::Type::f64) m.rounding = rounding_of(e.rounding);
  if (!(e.sparse ? sparse_mma_is_modelled(m) : tc::is_modelled(m)))
    return x.unsupported(say<Phrase::mma_of_this_shape>());
  if (!op.moves) return Step::next;
  const int bits_ab = isa::bits(e.a), bits_cd = isa::bits(e.d);
  const size_t row_ab = static_cast<size_t>(e.k) * static_cast<size_t>(bits_ab) / 8;
  const size_t row_cd = static_cast<size_t>(e.n) * static_cast<size_t>(bits_cd) / 8;
  alignas(64) uint8_t ma[16 * 128], mb[8 * 128], mc[16 * 8 * 8], md[16 * 8 * 8];
  SparseRows places;
  if (!e.sparse)
    collect(x, op.operands[e.ra], isa::mma_a(e.m, e.k, bits_ab), bits_ab, ma, row_ab);
  else if (!collect_sparse(x, op, e, places, ma))
    return x.fault(Code::sparse_metadata, say<Phrase::undefined_metadata>());
  collect(x, op.operands[e.rb], isa::mma_b(e.k, bits_ab), bits_ab, mb, row_ab);
  const isa::FragmentLayout cd = isa::mma_c(e.m, bits_cd);
  collect(x, op.operands[e.rc], cd, bits_cd, mc, row_cd);
  if (e.sparse)
    sparse_mma(m, ma, mb, mc, md, places.selected);
  else
    tc::mma_sync(m, ma, mb, mc, md);
  spread_tile(x, op.operands[e.dst], 0, cd, bits_cd, rows_of(md, row_cd));
  return Step::next;
}

}  // namespace palladion::sim
