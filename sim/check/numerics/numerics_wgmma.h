#pragma once
// NU-01 and NU-02 for wgmma: accumulators are checked when a wgmma lands. Only then are operands and earlier
// accumulators searched for infinities and NaNs, so that ordinary numbers cost one pass over the tile.
#include <map>
#include <set>
#include <vector>

#include "sim/check/core/context.h"
#include "sim/check/numerics/numerics_values.h"

namespace palladion::sim::check {

class WgmmaNumerics {
 public:
  explicit WgmmaNumerics(const ClusterContext& context) : context_(context) {}

  void on(const AsyncJoined& event);
  void on(const AsyncIssue& e);
  void on(const AsyncLanded& event);

 private:
  // The accumulators of a warpgroup that begin at a register.
  struct Tile {
    uint32_t cta_rank = 0, warpgroup = 0, first_register = 0;
    friend auto operator<=>(const Tile&, const Tile&) = default;
  };
  struct Pending {
    Origin origin;  // the last warp that issued it
    std::vector<Piece> reads;
    Tile tile;
    bool special_before = false;  // an accumulator, when it was issued
  };

  Pending& pending(uint64_t id);
  Tile tile_of(const Origin& origin) const;
  bool special_accumulators(const Origin& origin) const;
  bool special_operands(const Pending& p, bool infinities) const;
  void judge(const Pending& p, const uint8_t* words);
  void report(const Pending& p, Code code, int row, int column);

  const ClusterContext& context_;
  std::map<uint64_t, Pending> pending_;
  std::vector<std::map<uint64_t, Pending>::node_type> spare_;  // with the memory of their lists
  std::set<Tile> special_;  // tiles that the last wgmma left with an infinity or a NaN
};

}  // namespace palladion::sim::check
