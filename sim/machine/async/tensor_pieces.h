#pragma once
// The bytes that a tensor copy reads and writes, for observers.
#include <vector>

#include "sim/machine/async/tensor_copies.h"

namespace palladion::sim {

class TilePieces {
 public:
  explicit TilePieces(const TileCopy& tile);
  // Emits the AsyncIssue of the operation that was issued for the tile.
  void announce(const Exec& x, const AsyncOp& op) const;

 private:
  void add_fills(const TileCopy& tile, CtaRank rank);
  void add_tile(const TileCopy& tile, CtaRank rank);
  void add_global(const TileCopy& tile);

  std::vector<Piece> global_, shared_, fills_;
  std::vector<SharedAddress> mbarriers_;
  std::vector<uint32_t> mbarrier_bytes_;
  uint8_t layout_;
};

}  // namespace palladion::sim
