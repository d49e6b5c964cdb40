#pragma once
// Checks of matrix descriptors and tensor copies of shared memory: WG-08 (bytes that are not the CTA's),
// WG-09 (encoding; one descriptor a warpgroup), TM-05 (tiles that do not start where their swizzle does).
// That the writer of a tile and its reader agree on the swizzle (TM-04) is checked in the shadow memory.
#include <array>
#include <map>
#include <set>
#include <tuple>
#include <vector>

#include "sim/check/core/context.h"

namespace palladion::sim::check {

class Descriptors {
 public:
  explicit Descriptors(const ClusterContext& context) : context_(context) {}

  void on(const AsyncJoined& event);
  void on(const AsyncIssue& e);
  void on(const ClusterEnded&);

 private:
  // Of A (0 when it is in registers) and B, as the first lane gives them.
  using Values = std::array<uint64_t, 2>;
  // A wgmma that not all four warps have issued: the values of the first one.
  struct Open {
    Values values{};
    Origin first;
    uint32_t warps = 0;
  };

  // A swizzled tile that does not begin where its pattern does.
  struct OffPattern {
    FindingKey key;
    Finding finding;
    Origin origin;
    uint64_t base = 0;
    uint8_t layout = 0;
  };

  using LaneValues = std::array<std::array<uint64_t, 32>, 2>;  // the same of each lane
  LaneValues lane_values(const Origin& origin) const;
  void judge_lanes(const Origin& origin, const LaneValues& values);
  void judge_encoding(const Origin& origin, const Values& values);
  void judge_range(const AsyncIssue& e);
  bool is_window(const OffPattern& o) const;
  void judge_tile(const AsyncIssue& e, std::span<const Piece> tile);
  void report_difference(const Origin& origin, const Origin& other, int operand, uint64_t mine,
                         uint64_t theirs);

  const ClusterContext& context_;
  std::map<uint64_t, Open> open_;
  std::set<std::tuple<uint8_t, uint64_t, uint64_t>> tiles_;  // layout, begin, end with the CTA's rank
  std::vector<OffPattern> off_pattern_;
};

}  // namespace palladion::sim::check
