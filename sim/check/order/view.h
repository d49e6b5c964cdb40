#pragma once
// The view of an actor: for every warp, the time up to which all accesses of its lanes happen before the
// actor's next access. Kept once for each visibility scope, that is, for each way in which the next access
// may touch memory.
#include <algorithm>
#include <array>
#include <cstdint>
#include <memory>
#include <utility>
#include <vector>

#include "sim/check/order/order.h"

namespace palladion::sim::check {

// Visibility scopes. Accesses of the generic proxy are visible to the generic proxy at once, to others only
// after a proxy fence (PTX, "Proxies", "membar/fence").
enum class Visibility : uint8_t {
  generic,       // before later accesses of the generic proxy
  shared_async,  // before asynchronous accesses of shared memory
  global_async,  // before asynchronous accesses of global memory
  strict,        // generic, without edges whose scope does not include both ends
  // Programs that need none of these do not have them:
  released_tensormap,  // before a fence.proxy.tensormap::generic.acquire
  tensormap,           // before uses of a tensor map
  tensor,              // before asynchronous accesses of tensor memory
};
inline constexpr size_t visibility_count = 7, common_visibilities = 4;
using Times = std::array<uint32_t, visibility_count>;

inline constexpr Lane all_lanes{63};

class ScOrder;

class View {
 public:
  // `rare`: with all visibilities.
  View(ClusterOfGrid cluster, uint32_t warps, bool rare = false)
      : cluster_(cluster), warps_(warps), times_((rare ? visibility_count : common_visibilities) * warps) {}

  ClusterOfGrid cluster() const { return cluster_; }
  // What is known of all lanes of a warp of this cluster.
  uint32_t time(Visibility visibility, WarpOfCluster warp) const {
    const size_t i = at(visibility) + warp;
    return i < times_.size() ? times_[i] : 0;
  }
  bool knows(Visibility visibility, WarpOfCluster warp, Lane lane, uint32_t when) const {
    return time(visibility, warp) >= when ||
           (!rows_.empty() && row_knows(visibility, cluster_, warp, lane, when));
  }
  // The same of any cluster's warp.
  bool knows(Visibility visibility, ClusterOfGrid cluster, WarpOfCluster warp, Lane lane,
             uint32_t when) const {
    return cluster == cluster_ ? knows(visibility, warp, lane, when)
                               : row_knows(visibility, cluster, warp, lane, when);
  }

  // Up to which time the lane is known.
  uint32_t known(Visibility visibility, ClusterOfGrid cluster, WarpOfCluster warp, Lane lane) const;

  // True when one of the lanes is known.
  bool knows_any(Visibility visibility, ClusterOfGrid cluster, WarpOfCluster warp, uint32_t lanes,
                 uint32_t when) const {
    if (cluster == cluster_ && time(visibility, warp) >= when) return true;
    return !rows_.empty() && any_row_knows(visibility, cluster, warp, lanes, when);
  }

  void learn(WarpOfCluster warp, const Times& times);  // of all lanes
  void learn(WarpOfCluster warp, Lane lane, const Times& times);
  // Adds everything in `other`; without the strict part when `strict` is false.
  void join(const View& other, bool strict = true);
  // What is visible to `from` becomes visible to `to`; true when that changed the view.
  bool fence(Visibility from, Visibility to);
  bool would_learn(const View& other, bool strict) const;  // false: join() adds nothing
  // What is known for one visibility alone.
  View only(Visibility visibility) const;
  // What is known of the order of fence.sc (sc_order.h); null: nothing.
  const ScOrder* sc() const { return sc_.get(); }
  void set_sc(std::shared_ptr<const ScOrder> sc) { sc_ = std::move(sc); }
  void learn(const ScOrder& sc, bool strict = true);
  bool would_learn(const ScOrder& sc, bool strict = true) const;
  friend bool operator==(const View& a, const View& b);

 private:
  // Lanes that are known up to a later time than their warp, and warps of other clusters.
  struct Row {
    uint64_t key = 0;
    Times times{};
    friend bool operator==(const Row&, const Row&) = default;
  };
  static uint64_t key(ClusterOfGrid cluster, WarpOfCluster warp, Lane lane) {
    return uint64_t{cluster} << 32 | warp << 6 | lane;
  }
  size_t at(Visibility visibility) const { return static_cast<size_t>(visibility) * warps_; }
  size_t visibilities() const { return times_.size() / warps_; }
  // Calls `each` with every index of `times_`, or with those that are not of the strict part.
  template <class Each>
  void for_each_time(bool strict, Each&& each) const {
    const size_t n = strict ? times_.size() : at(Visibility::strict);
    for (size_t i = 0; i < n; ++i) each(i);
    for (size_t i = std::max(n, at(Visibility::strict) + warps_); i < times_.size(); ++i) each(i);
  }
  const Row* row_of(uint64_t key) const;                         // null: there is none
  uint32_t row_time(uint64_t key, Visibility visibility) const;  // 0: there is no such row
  bool row_knows(Visibility visibility, ClusterOfGrid cluster, WarpOfCluster warp, Lane lane,
                 uint32_t when) const;
  bool any_row_knows(Visibility visibility, ClusterOfGrid cluster, WarpOfCluster warp, uint32_t lanes,
                     uint32_t when) const;
  Row whole_warp(WarpOfCluster warp) const;  // what is known of all lanes of a warp of this cluster
  // True when the row says something that is not known; `mine`: the row of that key here, or null.
  bool would_learn(const std::vector<Row>& rows, bool strict) const;
  bool lacks(const Row& row, const Row* mine, bool strict) const;
  void raise(uint64_t key, const Times& times);
  void absorb(const Row& row);
  void absorb(const std::vector<Row>& rows, bool strict);
  std::pair<std::vector<Row>::iterator, std::vector<Row>::iterator> own_rows();  // of this cluster
  void prune();

  ClusterOfGrid cluster_;
  uint32_t warps_;
  std::vector<uint32_t> times_;
  std::vector<Row> rows_;  // ascending keys
  std::shared_ptr<const ScOrder> sc_;
};

// Adds to a view that others may share: a new one replaces it when it changes.
void join(ViewRef& into, const View& what);

}  // namespace palladion::sim::check
