#pragma once
// The bytes that a tensor copy reads and writes, for observers.
#include <vector>

#include "sim/machine/async/tensor_copies.h"

namespace palladion::sim {

class TilePieces {
 public:
  explicit TilePieces(const TileMove& move);
  // Fills in what the move knows of `issue` and tells the observer.
  void announce(const Exec& x, const AsyncOrigin& origin, AsyncIssue issue) const;

 private:
  void add_fills(const TileMove& move, uint32_t rank);
  void add_tile(const TileMove& move, uint32_t rank);
  void add_global(const TileMove& move);

  std::vector<Piece> global_, shared_, fills_;
  std::vector<uint32_t> mbarriers_, mbarrier_bytes_;
  uint64_t tensor_map_;
  uint8_t layout_;
};

}  // namespace palladion::sim
