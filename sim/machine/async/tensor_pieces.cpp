#include "sim/machine/async/tensor_pieces.h"

#include <algorithm>

#include "isa/formats/swizzle.h"

namespace palladion::sim {
namespace {

LayoutTag layout_of(isa::Swizzle s) {
  switch (isa::span_bytes(s)) {
    case 32:
      return layout_32b;
    case 64:
      return layout_64b;
    case 128:
      return layout_128b;
    default:
      return layout_plain;
  }
}

}  // namespace

TilePieces::TilePieces(const TileMove& move)
    : tensor_map_(move.tensor_map), layout_(layout_of(move.swizzle)) {
  add_global(move);
  if (move.ctas == 0) add_tile(move, rank_of(move.shared));
  for_each_rank(move.ctas, [&](uint32_t rank) {
    add_tile(move, rank);
    add_fills(move, rank);
    mbarriers_.push_back(at_rank(move.mbarrier, rank));
    mbarrier_bytes_.push_back(move.walk.transaction_bytes());
  });
}

void TilePieces::add_global(const TileMove& move) {
  move.walk.for_each_run([&](const isa::BoxRun& run) {
    if (run.in_bounds)
      append(global_, {false, move.global_address + static_cast<uint64_t>(run.global_offset), run.bytes});
  });
}

// A swizzle permutes 16-byte chunks inside whole lines; a tile of whole lines stays one piece.
void TilePieces::add_tile(const TileMove& move, uint32_t rank) {
  const uint32_t rows = move.walk.rows(), pitch = move.walk.row_pitch();
  const uint32_t inner = move.walk.transaction_bytes() / rows, tile = at_rank(move.shared, rank);
  const bool whole = pitch == inner && (layout_ == layout_plain || (tile | rows * inner) % 128 == 0);
  if (whole) {
    append(shared_, {true, tile, rows * inner});
    return;
  }
  for (uint32_t row = 0; row < rows; ++row)
    for (uint32_t at = 0; at < inner; at += 16) {
      const uint32_t address = tile + row * pitch + at;
      const uint32_t flip = isa::swizzle_bits((address & shared_offset_mask) >> 7, move.swizzle);
      append(shared_, {true, address ^ flip, std::min(16U, inner - at)});
    }
}

void TilePieces::add_fills(const TileMove& move, uint32_t rank) {
  const uint32_t tile = at_rank(move.shared, rank);
  move.walk.for_each_run([&](const isa::BoxRun& run) {
    for (uint32_t at = 0; !run.in_bounds && at < run.bytes;) {
      const uint32_t address = tile + run.tile_offset + at,
                     bytes = std::min(16 - address % 16, run.bytes - at);
      const uint32_t flip = isa::swizzle_bits((address & shared_offset_mask) >> 7, move.swizzle);
      append(fills_, {true, address ^ flip, bytes});
      at += bytes;
    }
  });
}

void TilePieces::announce(const Exec& x, const AsyncOrigin& origin, AsyncIssue issue) const {
  const bool load = !mbarriers_.empty();
  issue.reads = load ? global_ : shared_;
  issue.writes = load ? shared_ : global_;
  issue.fills = fills_;
  issue.mbarriers = mbarriers_;
  issue.mbarrier_bytes = mbarrier_bytes_;
  issue.layout = layout_;
  issue.tensor_map = tensor_map_;
  issue.origin = origin.origin();
  x.emit(issue);
}

}  // namespace palladion::sim
