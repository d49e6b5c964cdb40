// tcgen05.cp: rows of shared memory to tensor memory (PTX, "tcgen05.cp").
#include "sim/machine/async/tcgen05.h"

namespace palladion::sim {
namespace {

struct CopyShape {
  int rows;
  uint32_t row_bytes;
};
CopyShape size_of(isa::TensorCopyShape shape) {
  using enum isa::TensorCopyShape;
  switch (shape) {
    case l128x256b:
      return {128, 32};
    case l4x256b:
      return {4, 32};
    case l128x128b:
      return {128, 16};
    case l64x128b_02_13:
    case l64x128b_01_23:
      return {64, 16};
    case l32x128b:
      return {32, 16};
  }
  return {};
}

// Calls visit(lane) for each lane that a row goes to.
template <class Visit>
void for_each_lane(isa::TensorCopyShape shape, int row, Visit&& visit) {
  using enum isa::TensorCopyShape;
  switch (shape) {
    case l128x256b:
    case l128x128b:
      return visit(row);
    case l4x256b:
      return visit(32 * row);
    case l64x128b_02_13:
      visit(row);
      return visit(row + 64);
    case l64x128b_01_23:
      visit(row % 32 + 64 * (row / 32));
      return visit(row % 32 + 64 * (row / 32) + 32);
    case l32x128b:
      for (int quarter = 0; quarter < 4; ++quarter) visit(row + 32 * quarter);
  }
}

const isa::TensorMemoryCopy& stated_copy(const ClusterRun& run, const AsyncOp& op) {
  return effect<isa::TensorMemoryCopy>(run.program.code[op.pc]);
}

SharedMatrix source_of(const TensorCopyIn& c, const isa::TensorMemoryCopy& e) {
  const CopyShape size = size_of(e.shape);
  return {.descriptor = c.descriptor, .rows = size.rows, .row_bytes = size.row_bytes};
}

void announce_copy(Exec& x, const AsyncOp& op, const TensorCopyIn& c, const isa::TensorMemoryCopy& e) {
  if (!x.wants<AsyncIssue>()) return;
  std::vector<Piece> reads, writes;
  const CopyShape size = size_of(e.shape);
  const auto column = static_cast<uint32_t>(isa::tensor_place(c.target).column);
  for (CtaRank r(c.leader); r < c.leader + c.ctas; ++r) {
    const uint32_t window = uint32_t{r} << cta_rank_shift;
    for_each_tcgen05_chunk(source_of(c, e), [&](uint32_t address) {
      append(reads, shared_piece(SharedAddress(address | window), 16));
    });
    for (uint32_t k = 0; k < size.row_bytes / 4; ++k)
      for (int row = 0; row < size.rows; ++row)
        for_each_lane(e.shape, row, [&](int lane) {
          append(writes, {isa::Space::tensor, tensor_byte(r, static_cast<uint32_t>(lane), column + k), 4});
        });
  }
  AsyncIssue issue = issue_of(x, op);
  issue.reads = reads;
  issue.writes = writes;
  issue.layout = layout_of(c.descriptor);
  x.emit(issue);
}

}  // namespace

void TensorCopyIn::read(const ClusterRun& run, const AsyncOp& op) {
  if (!moves) return;
  const isa::TensorMemoryCopy& e = stated_copy(run, op);
  for (uint32_t c = 0; c < ctas; ++c) {
    RawTile tile;
    read_tcgen05_matrix(run.cluster.ctas[leader + c], source_of(*this, e), tile);
    rows[c] = std::move(tile.bytes);
    if (e.unpack == isa::TensorUnpack::b4x16_p64) {
      spread_narrow_elements(isa::Type::e2m1, rows[c]);
      for (uint8_t& byte : rows[c])
        byte = static_cast<uint8_t>(byte << 2);  // E2M1 in bits 2 to 5 of its byte
    } else if (e.unpack == isa::TensorUnpack::b6x16_p32) {
      spread_narrow_elements(isa::Type::e2m3, rows[c]);
    }
  }
}

void TensorCopyIn::land(const ClusterRun& run, const AsyncOp& op) {
  if (!moves) return;
  const isa::TensorMemoryCopy& e = stated_copy(run, op);
  const CopyShape size = size_of(e.shape);
  const auto column = static_cast<size_t>(isa::tensor_place(target).column);
  for (uint32_t c = 0; c < ctas; ++c)
    for (int row = 0; row < size.rows; ++row)
      for_each_lane(e.shape, row, [&](int lane) {
        std::memcpy(run.cluster.ctas[leader + c].tensor.row(static_cast<uint32_t>(lane)) + column,
                    rows[c].data() + static_cast<size_t>(row) * size.row_bytes, size.row_bytes);
      });
}

void TensorCopyIn::describe(const AsyncOp&, Traffic& t) const {
  t.source = isa::Space::shared_cta;
  t.destination = isa::Space::tensor;
  t.bytes = bytes;
  t.ctas = ((1U << ctas) - 1) << leader;
}

Step exec(Exec& x, const MicroOp& op, const isa::TensorMemoryCopy& e) {
  if (!check_one_thread(x, "tcgen05.cp")) return Step::fault;
  TensorCopyIn copy;
  copy.moves = op.moves;
  copy.ctas = static_cast<uint32_t>(e.ctas);
  if (!find_pair(x, e.ctas, "tcgen05.cp", copy.leader)) return Step::fault;
  copy.target = tensor_operand(x, op, e.address);
  copy.descriptor = x.uniform_value(op.operands[e.descriptor]);
  copy.bytes = static_cast<uint32_t>(size_of(e.shape).rows) * size_of(e.shape).row_bytes;
  if (!check_matrix(x, "tcgen05.cp", "source", copy.descriptor)) return Step::fault;
  if (!has_tensor_memory(x, copy.leader, e.ctas, "tcgen05.cp")) return Step::fault;
  if (!check_place(x, "tcgen05.cp", "the target", copy.target,
                   static_cast<int>(size_of(e.shape).row_bytes / 4)))
    return Step::fault;
  const AsyncOp& issued = x.issue(std::move(copy), x.active);
  announce_copy(x, issued, std::get<TensorCopyIn>(issued.payload), e);
  return Step::next;
}

}  // namespace palladion::sim
