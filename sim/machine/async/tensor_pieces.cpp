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

uint32_t flip_of(const TileCopy& tile, uint32_t address) {
  return isa::swizzle_bits((address & shared_offset_mask) >> 7, tile.swizzle);
}

}  // namespace

TilePieces::TilePieces(const TileCopy& tile) : layout_(layout_of(tile.swizzle)) {
  add_global(tile);
  if (tile.ctas == 0) add_tile(tile, rank_of(tile.shared));
  for_each_rank(tile.ctas, [&](CtaRank rank) {
    add_tile(tile, rank);
    add_fills(tile, rank);
    mbarriers_.push_back(tile.mbarrier_of(rank));
    mbarrier_bytes_.push_back(tile.walk.transaction_bytes());
  });
}

void TilePieces::add_global(const TileCopy& tile) {
  tile.walk.for_each_run([&](const isa::BoxRun& run) {
    if (run.in_bounds)
      append(global_,
             global_piece(tile.global_address + static_cast<uint64_t>(run.global_offset), run.bytes));
  });
}

// A swizzle permutes 16-byte chunks inside whole lines; a tile of whole lines stays one piece.
void TilePieces::add_tile(const TileCopy& tile, CtaRank rank) {
  const uint32_t rows = tile.walk.rows(), pitch = tile.walk.row_pitch();
  const uint32_t inner = tile.walk.row_bytes();
  const SharedAddress base = at_rank(tile.shared, rank);
  const bool whole = pitch == inner && (layout_ == layout_plain || (base | rows * inner) % 128 == 0);
  if (whole) {
    append(shared_, shared_piece(base, rows * inner));
    return;
  }
  for (uint32_t row = 0; row < rows; ++row)
    for (uint32_t at = 0; at < inner; at += 16) {
      const SharedAddress address = base + row * pitch + at;
      const uint32_t flip = flip_of(tile, address) & ~15U;
      append(shared_, shared_piece(SharedAddress(address ^ flip), std::min(16U, inner - at)));
    }
}

void TilePieces::add_fills(const TileCopy& tile, CtaRank rank) {
  const SharedAddress base = at_rank(tile.shared, rank);
  tile.walk.for_each_run([&](const isa::BoxRun& run) {
    for (uint32_t at = 0; !run.in_bounds && at < run.bytes;) {
      const SharedAddress address = base + run.tile_offset + at;
      const uint32_t flip = flip_of(tile, address);
      const uint32_t chunk = (flip & 8) != 0 ? 8 : 16,
                     bytes = std::min(chunk - address % chunk, run.bytes - at);
      append(fills_, shared_piece(SharedAddress(address ^ flip), bytes));
      at += bytes;
    }
  });
}

void TilePieces::announce(const Exec& x, const AsyncOp& op) const {
  const auto& tile = std::get<TileCopy>(op.payload);
  AsyncIssue issue = issue_of(x, op);
  issue.reduces = tile.reduce != nullptr;
  issue.reads = tile.load ? global_ : shared_;
  issue.writes = tile.load ? shared_ : global_;
  issue.fills = fills_;
  issue.mbarriers = mbarriers_;
  issue.mbarrier_bytes = mbarrier_bytes_;
  issue.layout = layout_;
  issue.tensor_map = tile.tensor_map;
  x.emit(issue);
}

}  // namespace palladion::sim
