#pragma once
// Strong accesses and memory fences: release and acquire patterns through an address (PTX, "Release and
// Acquire Patterns"), and what strong reads show of the order of fence.sc.
#include <algorithm>
#include <array>
#include <unordered_map>

#include "sim/check/order/dropped_edges.h"
#include "sim/check/order/lane_views.h"
#include "sim/check/order/sc_order.h"

namespace palladion::sim::check {

inline bool acquires(isa::Order o) {
  return o == isa::Order::acquire || o == isa::Order::acq_rel || o == isa::Order::sc;
}
inline bool releases(isa::Order o) {
  return o == isa::Order::release || o == isa::Order::acq_rel || o == isa::Order::sc;
}

// A strong read. "Atomic reduction operations like red do not form acquire patterns" (PTX, "Reductions do not
// form Acquire Patterns").
bool observes(const Access& a);

// What was released, and the releasing CTA: an acquire takes it whole, or without its strict part when the
// scopes do not include both ends.
struct Released {
  CtaRank cta;
  isa::Scope scope = isa::Scope::cta;
  ViewRef view;
};
void add_release(std::vector<Released>& to, CtaRank cta, isa::Scope scope, ViewRef view);

// The fence.sc instances before a strong write.
struct Written {
  ClusterOfGrid cluster;
  CtaRank cta;
  isa::Scope scope = isa::Scope::cta;  // of the write
  Fences fences;
};

// What a strong access of an address leaves for its readers.
struct Location {
  ClusterOfGrid cluster;
  std::vector<Released> released;
  std::vector<Written> written;  // that a reader observes: read-modify-writes continue it
  uint32_t changes = 0;          // of these two
  bool relaxed = false;          // written last by a strong access that released nothing
  Origin relaxed_by;
};
using Locations = std::unordered_map<uint64_t, Location>;

class StrongAccesses {
 public:
  // `global` is shared by all clusters and touched between quanta only.
  StrongAccesses(LaneViews& views, DroppedEdges& dropped, Locations& global)
      : views_(views), dropped_(dropped), global_(global), warps_(views.warps()) {}

  // A strong access of `address`: what is released there and acquired from there.
  void access(const Access& a, uint64_t address, uint32_t lanes, bool shared);
  // The fence's half of a release pattern and of an acquire pattern.
  void fence(const Origin& origin, const isa::Fence& f);
  // These lanes have read by relaxed accesses what was released; a fence of scope `needed` acquires it.
  void note_release(WarpOfCluster warp, uint32_t lanes, const Released& r, isa::Scope needed);

  // Calls visit(scope, view) for what fences of these lanes released for relaxed writes behind them.
  template <class Visit>
  void for_each_fenced(WarpOfCluster warp, uint32_t lanes, Visit&& visit) {
    for (Fenced& f : warps_[warp].fenced)
      if ((f.lanes & lanes) != 0) visit(f.fence.scope, f.of(f.lanes & lanes));
  }

  // A lane of the CTA has read what the warp released, by a relaxed access and without a fence since.
  bool has_unacquired(CtaRank cta, ClusterOfGrid cluster, WarpOfCluster warp) const;
  // Would a fence of some warp of the CTA order that access before what follows? It has read the flag,
  // relaxed.
  bool knows_unacquired(CtaRank cta, ClusterOfGrid cluster, WarpOfCluster warp, Lane lane,
                        uint32_t when) const;
  // True when other clusters may be ordered after something that this one did.
  bool released_globally() const { return released_globally_; }

 private:
  struct Seen {
    uint32_t lanes = 0;
    isa::Scope needed = isa::Scope::cta;
    ViewRef view;
  };
  // Each lane's fence releases what this lane did (PTX, "Release and Acquire Patterns").
  struct Fenced {
    uint32_t lanes = 0;  // that have executed none of as wide a scope since
    FenceInstance fence;
    std::array<ViewRef, 32> by_lane{};
    ViewRef of(uint32_t some);
  };
  struct Warp {
    std::vector<Fenced> fenced;
    std::vector<Seen> seen;
    // The last answer of fences_before: of the lane with this view.
    ViewRef view;
    Lane lane;
    Fences before;
    // The last read, by lanes that all knew `known` behind it: a spin reads the same again and again, and
    // has nothing to learn. Null: of none.
    const Location* read = nullptr;
    uint32_t changes = 0, lanes = 0;
    isa::Order order = isa::Order::weak;
    isa::Scope scope = isa::Scope::cta;
    ViewRef known;
  };
  isa::Scope needed(ClusterOfGrid cluster, CtaRank cta, const Origin& reader) const {
    return cluster != views_.cluster() ? isa::Scope::gpu
           : cta != reader.cta_rank    ? isa::Scope::cluster
                                       : isa::Scope::cta;
  }
  void acquire_seen(const Origin& origin, isa::Scope scope);
  void acquire_fences(const Origin& origin, isa::Scope scope);
  void release_fence(const Origin& origin, isa::Scope scope, bool sc);
  void pass(const FenceInstance& fence, const Origin& origin);
  bool synchronises(const FenceInstance& earlier, const Origin& origin, isa::Scope scope) const {
    return std::min(earlier.scope, scope) >= needed(earlier.cluster, earlier.cta, origin);
  }
  void read_fences(const Access& a, uint32_t lanes, const Location& l);
  void publish_fences(const Access& a, uint32_t lanes, Location& l);
  void read(const Access& a, uint32_t lanes, const Location& l, bool shared);
  bool read_released(const Access& a, uint32_t lanes, const Location& l);
  void write(const Access& a, uint32_t lanes, Location& l, bool shared);
  void publish(Location& l, const Released& r) const;

  LaneViews& views_;
  DroppedEdges& dropped_;
  Locations shared_;
  Locations& global_;
  std::vector<Warp> warps_;
  bool released_globally_ = false;
};

}  // namespace palladion::sim::check
