// ldmatrix, stmatrix, movmatrix: 8x8 matrices of 16-bit elements in the registers of a warp.
#include <immintrin.h>

#include "isa/formats/fragments.h"
#include "sim/launch/phrases/phrase.h"
#include "sim/machine/exec/handlers.h"
#include "sim/machine/exec/lane_writes.h"
#include "sim/machine/exec/values_checked.h"

namespace palladion::sim {
namespace {

// .aligned: every thread of the warp that has not exited.
Step gather_warp(Exec& x) {
  if (x.converged(x.warp->alive)) return Step::next;
  return x.wait(Wait::Kind::convergence, x.missing(x.warp->alive));
}

// The 32 lanes of a register are the matrix row by row, two elements a lane.
constexpr bool lanes_are_rows() {
  for (int lane = 0; lane < 32; ++lane)
    for (int part = 0; part < 2; ++part)
      if (isa::ldmatrix_element(lane, part, false) != isa::MatrixIndex{lane / 4, 2 * lane % 8 + part})
        return false;
  return isa::ldmatrix_address_lane(3, 7) == 31;  // row r of matrix k is named by lane 8 k + r
}
static_assert(lanes_are_rows());

struct alignas(32) Matrix {
  uint32_t lanes[warp_size];
};

void transpose(Matrix& matrix) {
  __m128i r[8], t[8];
  auto* rows = reinterpret_cast<__m128i*>(matrix.lanes);
  for (int i = 0; i < 8; ++i) r[i] = _mm_load_si128(rows + i);
  // Interleaving row i with row i + 4 three times brings the columns together.
  for (int round = 0; round < 3; ++round) {
    for (int i = 0; i < 4; ++i) {
      t[2 * i] = _mm_unpacklo_epi16(r[i], r[i + 4]);
      t[2 * i + 1] = _mm_unpackhi_epi16(r[i], r[i + 4]);
    }
    std::memcpy(r, t, sizeof r);
  }
  for (int i = 0; i < 8; ++i) _mm_store_si128(rows + i, r[i]);
}

// The 16 bytes of row `row` of matrix `k`, named by lane 8 k + row.
uint8_t* row_at(Exec& x, isa::Space space, const DecodedOperand& address, int lane, const char* what) {
  const uint64_t a = x.address_of_lane(address, lane);
  if (a % 16 != 0) {
    x.fault(Code::misaligned_matrix_row, say<Phrase::misaligned_row>(what, a & shared_offset_mask));
    return nullptr;
  }
  if (space == isa::Space::generic && space_of(a) != isa::Space::shared_cluster) {
    x.fault(Code::matrix_space, say<Phrase::row_outside_shared>(what, a));
    return nullptr;
  }
  return x.shared(a, 16, what);
}

void notify(const Exec& x, Access::Kind kind, int rows, const DecodedOperand& address,
            uint32_t unchanged = 0) {
  if (!x.wants<Access>()) return;
  uint64_t addresses[warp_size];
  x.addresses(address, addresses);
  const auto lanes = static_cast<uint32_t>((uint64_t{1} << rows) - 1);
  x.emit(Access{x.origin(), kind, isa::Space::shared_cta, 16, addresses, lanes, isa::Order::weak,
                isa::Scope::cta, unchanged});
}

}  // namespace

Step exec(Exec& x, const MicroOp& op, const isa::LoadMatrix& e) {
  if (e.type != isa::Type::b16) return x.unsupported(say<Phrase::matrix_of_bytes>("ldmatrix"));
  if (const Step s = gather_warp(x); s != Step::next) return s;
  const DecodedOperand& address = op.operands[e.address];
  Matrix matrices[4];
  for (int row = 0; row < 8 * e.count; ++row) {
    const uint8_t* bytes = row_at(x, e.space, address, row, "ldmatrix");
    if (bytes == nullptr) return Step::fault;
    std::memcpy(matrices[row / 8].lanes + 4 * (row % 8), bytes, 16);
  }
  notify(x, Access::Kind::read, 8 * e.count, address);
  if (!op.moves) return Step::next;
  for (int k = 0; k < e.count; ++k) {
    if (e.transposed) transpose(matrices[k]);
    write_lanes(x, op.operands[e.dst].element(k), matrices[k].lanes, x.active);
  }
  return Step::next;
}

Step exec(Exec& x, const MicroOp& op, const isa::StoreMatrix& e) {
  if (e.type != isa::Type::b16) return x.unsupported(say<Phrase::matrix_of_bytes>("stmatrix"));
  if (const Step s = gather_warp(x); s != Step::next) return s;
  const DecodedOperand& address = op.operands[e.address];
  uint8_t* rows[warp_size];
  for (int row = 0; row < 8 * e.count; ++row) {
    rows[row] = row_at(x, e.space, address, row, "stmatrix");
    if (rows[row] == nullptr) return Step::fault;
  }
  Matrix matrices[4];
  uint32_t unchanged = 0;  // rows, by the lane that names them, whose values are in memory already
  for (int k = 0; k < e.count && op.moves; ++k) {
    Matrix& matrix = matrices[k];
    std::memcpy(matrix.lanes, x.lanes<uint32_t>(op.operands[e.src].element(k)), sizeof matrix.lanes);
    if (e.transposed) transpose(matrix);
    for (int row = 0; row < 8; ++row)
      if (std::memcmp(rows[8 * k + row], matrix.lanes + 4 * row, 16) == 0) unchanged |= 1U << (8 * k + row);
  }
  notify(x, Access::Kind::write, 8 * e.count, address, unchanged);
  for (int row = 0; row < 8 * e.count && !op.moves; ++row)
    note_shared(x.cluster, Exec::shared_address(x.address_of_lane(address, row)), 16, false);
  for (int k = 0; k < e.count && op.moves; ++k)
    for (int row = 0; row < 8; ++row) std::memcpy(rows[8 * k + row], matrices[k].lanes + 4 * row, 16);
  x.changed();
  return Step::next;
}

Step exec(Exec& x, const MicroOp& op, const isa::MoveMatrix& e) {
  if (const Step s = gather_warp(x); s != Step::next) return s;
  Matrix matrix;
  std::memcpy(matrix.lanes, x.lanes<uint32_t>(op.operands[e.src]), sizeof matrix.lanes);
  transpose(matrix);
  write_lanes(x, op.operands[e.dst], matrix.lanes, x.active);
  return Step::next;
}

}  // namespace palladion::sim
