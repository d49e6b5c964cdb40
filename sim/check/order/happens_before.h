#pragma once
// The views of a cluster's lanes and how they grow: barriers, mbarriers, fences, atomics, groups. The
// table of edges is README.md's; there are no others.
#include <array>
#include <bit>
#include <deque>
#include <map>
#include <unordered_map>

#include "sim/check/order/history.h"
#include "sim/check/order/meetings.h"
#include "sim/check/order/tensor_order.h"
#include "sim/launch/event.h"
#include "sim/launch/phases.h"
#include "sim/machine/state/cluster.h"

namespace palladion::sim::check {

// What was released, and the releasing CTA: an acquire takes it whole, or without its strict part when the
// scopes do not include both ends.
struct Released {
  uint32_t cta = 0;  // rank in the cluster
  isa::Scope scope = isa::Scope::cta;
  ViewRef view;
};

// What a strong access of an address leaves for its readers (PTX, "Release and Acquire Patterns").
struct Location {
  uint32_t cluster = 0;
  std::vector<Released> released;
  bool relaxed = false;  // written last by a strong access that released nothing
  Origin relaxed_by;
};
using Locations = std::unordered_map<uint64_t, Location>;

// An edge that was not made, kept to explain a race.
struct DroppedEdge {
  // release_scope: the release itself was of .cta scope; scope: only the acquire was.
  enum class Why : uint8_t { relaxed, scope, release_scope } why = Why::relaxed;
  Origin releaser, acquirer;
  bool in_global_memory = false;  // what they wrote and read
};

class HappensBefore final : public OrderQueries {
 public:
  // `global` is shared by all clusters and touched between quanta only.
  // `tensor_memory`: the program uses it.
  HappensBefore(const ClusterState& cluster, uint32_t mma_warps, Locations& global,
                bool tensor_memory = false);

  // --- views of lanes ---
  WarpOfCluster index(const Origin& origin) const {
    return WarpOfCluster(origin.cta_rank * warps_per_cta_ + origin.warp);
  }
  CtaRank cta_of(WarpOfCluster warp) const { return CtaRank(warp / warps_per_cta_); }
  WarpOfCta in_cta(WarpOfCluster warp) const { return WarpOfCta(warp % warps_per_cta_); }
  uint32_t time(WarpOfCluster warp) const { return warps_[warp].time; }
  const View& view(WarpOfCluster warp, uint32_t lane) const { return *warps_[warp].view(lane); }
  ViewRef view_ref(WarpOfCluster warp, uint32_t lane) const { return warps_[warp].view(lane); }
  ViewRef nothing() const { return empty(); }
  // Calls visit(view, those of the lanes whose view it is) for each view among them.
  template <class Visit>
  void for_each_view(WarpOfCluster warp, uint32_t lanes, Visit&& visit) const {
    const WarpViews& w = warps_[warp];
    if (w.split == nullptr) return visit(ViewRef(w.all), lanes);
    for (uint32_t left = lanes; left != 0;) {
      const ViewRef view = (*w.split)[static_cast<size_t>(std::countr_zero(left))];
      uint32_t same = 0;
      for (uint32_t m = left; m != 0; m &= m - 1)
        if ((*w.split)[static_cast<size_t>(std::countr_zero(m))] == view) same |= m & (0 - m);
      left &= ~same;
      visit(view, same);
    }
  }
  // Up to when the lane's own accesses are ordered before its asynchronous ones.
  uint32_t own(Visibility visibility, WarpOfCluster warp, uint32_t lane) const {
    return warps_[warp].own[static_cast<size_t>(visibility)][lane];
  }
  // The actor for which `done` is evaluated, and its time.
  struct Asker {
    const View* view = nullptr;
    Visibility visibility = Visibility::generic;
    uint32_t rank = 0;  // of the CTA whose shared memory is meant
    uint32_t lane = 0;  // that touched the byte, for operations whose lanes wait each for their own
    WarpOfCluster warp;
    uint32_t lanes = 0, time = 0;
  };
  // True when the reads (or all accesses) of `op` are done for the asker.
  bool done(const AsyncRecord& op, bool reads_only, const Asker& asker) const;

  // --- tensor memory ---
  // How an earlier asynchronous access of tensor memory relates to a later one.
  enum class TensorRelation : uint8_t {
    ordered,
    unfenced_before,  // complete and ordered by barriers, but for tcgen05.fence::before_thread_sync
    unfenced_after,   // the same, fence::after_thread_sync
    unordered,
  };
  TensorRelation tensor_relation(const AsyncRecord& earlier, const Record& then, const AsyncRecord& later,
                                 const Record& now) const;
  const TensorOrder& tensor() const { return tensor_; }
  // A load or store of a warp, as an operation that its tcgen05.wait completes.
  std::shared_ptr<AsyncRecord> accessed(const TensorAccess& a);
  // The registers of all loads of the warp with a number less than `before` have been read.
  void loads_read(const Origin& origin, uint64_t before);

  Point now(const Origin& origin) const override;
  bool before(const Point& p, const Origin& origin) const override;

  // --- events ---
  void on(const Fenced& event);
  void on(const WarpSynced& event);
  void on(const Executed& event);  // of instructions at which lanes meet
  // The warp did something that orders no memory: what is before it and behind it has different times.
  void step(WarpOfCluster warp);
  void accessed(WarpOfCluster warp) { meetings_.accessed(warp, warps_[warp].time); }
  // Not of a wait whose result no instruction reads.
  void mbarrier(const MbarrierEvent& e);
  void on(const CtaBarrierEvent& e);
  void on(const ClusterBarrierEvent& e);
  // A strong access of `address`: what is released there and acquired from there.
  void strong(const Access& a, uint64_t address, uint32_t lanes, bool shared);
  void on(const AsyncJoined& event);
  // The record of an operation in flight; new ones are to be filled in.
  std::shared_ptr<AsyncRecord> record(uint64_t id);
  void issued(const Origin& origin, const std::shared_ptr<AsyncRecord>& op);
  // The view of an operation's issuers: of a wgmma, all its warps.
  ViewRef issuers_view(const Origin& origin, const AsyncRecord& op);
  void on(const ArrivalDeferred& event);
  void on(const AsyncLanded& event);
  void on(const GroupCommitted& event);
  void on(const GroupWaited& event);

  uint32_t warps_per_cta() const { return warps_per_cta_; }

  // --- explanations ---
  // Has the thread that issued the operation ever waited for groups of its kind?
  bool issuer_waits(const AsyncRecord& op) const;
  // A lane of the CTA has read what the warp released, by a relaxed access and without a fence since.
  bool has_unacquired(uint32_t cta, uint32_t cluster, WarpOfCluster warp) const;
  // Would a fence of some warp of the CTA order that access before what follows? It has read the flag,
  // relaxed.
  bool knows_unacquired(uint32_t cta, uint32_t cluster, WarpOfCluster warp, uint32_t lane,
                        uint32_t when) const;
  // True when other clusters may be ordered after something that this one did.
  bool released_globally() const { return released_globally_; }
  const std::deque<DroppedEdge>& dropped() const { return dropped_; }
  // Where the lanes of the earlier access met behind it: with those of the later one, or, of another warp,
  // with a lane that went on and synchronised with the later one. Null: nowhere.
  const Meeting* meeting(const Record& then, const Record& now, const View& later) const;
  // Where the warp released or synchronised last before `time`; no_id when it never did.
  uint32_t release_site(WarpOfCluster warp, uint32_t time) const;

 private:
  struct Issued {
    std::shared_ptr<AsyncRecord> op;  // null: a commit
    uint32_t lanes = 0;
  };
  struct Seen {  // read by relaxed accesses of these lanes; a fence of that scope acquires it
    uint32_t lanes = 0;
    isa::Scope needed = isa::Scope::cta;
    ViewRef view;
  };
  struct WarpViews {
    uint32_t time = 1;
    uint32_t initial = 0;  // lanes that began
    ViewRef all;           // of every lane, while they agree
    std::unique_ptr<std::array<ViewRef, 32>> split;
    std::array<std::array<uint32_t, 32>, visibility_count> own{};
    // Fence patterns: what a fence released for the relaxed writes after it, what relaxed reads have seen.
    ViewRef fenced;
    uint32_t fenced_lanes = 0;
    isa::Scope fenced_scope = isa::Scope::cta;
    std::vector<Seen> seen;
    // Operations that relaxed waits have seen complete, the same way.
    std::deque<std::pair<std::shared_ptr<AsyncRecord>, Publication>> seen_operations;
    std::deque<Issued> groups[3];
    uint32_t waited[3] = {};              // lanes that have ever executed a wait_group
    std::vector<uint32_t> release_sites;  // by time: pc

    const ViewRef& view(uint32_t lane) const { return split ? (*split)[lane] : all; }
  };
  // What a tcgen05.commit covers: of this stream all operations before this id, and whatever its thread knew
  // to be complete when it issued them.
  struct Commit {
    uint32_t stream = 0;
    uint64_t before = 0;
    ViewRef known;
  };
  struct Phase {
    std::vector<Released> released;
    std::vector<std::shared_ptr<AsyncRecord>> operations;
    std::vector<Commit> commits;
  };
  struct Mbarrier {
    NewestPhases<Phase> phases;
    Origin last_relaxed;
    bool any_relaxed = false;
  };
  struct Generation {
    uint64_t number = 0;
    ViewRef joined;
  };

  // What the lanes release: their views and their own accesses. Advances the warp's time.
  std::shared_ptr<View> release(WarpOfCluster warp, uint32_t lanes, uint32_t pc);
  void acquire(WarpOfCluster warp, uint32_t lanes, const View& what, bool strict = true);
  void acquire(const Origin& origin, const std::vector<Released>& all, isa::Scope scope);
  void unite(WarpOfCluster warp);
  void set_view(WarpOfCluster warp, uint32_t lanes, const ViewRef& to);
  void publish_seen(const Origin& origin);
  void publish(AsyncRecord& op, const Origin& origin, const Publication& p);
  void advance(WarpOfCluster warp, uint32_t pc);
  void add_release(std::vector<Released>& to, uint32_t cta, isa::Scope scope, ViewRef view);
  static void see(WarpViews& w, uint32_t lanes, const Released& r, isa::Scope needed);
  void wait_on(const MbarrierEvent& e);
  void fence_memory(const Origin& origin, const isa::Fence& f);
  void commit(const ArrivalDeferred& event);
  void wait_for_tensor_memory(const Origin& origin, bool stores);
  void fence_tensor_memory(const Origin& origin, bool after);
  bool tensor_complete(const AsyncRecord& op, const View& view, WarpOfCluster warp, uint32_t lanes,
                       uint32_t time, bool fenced) const;
  ViewRef empty() const {
    return std::make_shared<View>(cluster_, static_cast<uint32_t>(warps_.size()), tensor_memory_);
  }
  Generation& generation(std::deque<Generation>& of, uint64_t number);
  void drop(DroppedEdge::Why why, const Origin& releaser, const Origin& acquirer,
            bool in_global_memory = false);

  uint32_t cluster_, warps_per_cta_;
  uint32_t mma_warps_;  // of a warpgroup
  bool tensor_memory_;
  std::vector<WarpViews> warps_;
  TensorOrder tensor_;
  Meetings meetings_;
  std::unordered_map<uint32_t, Mbarrier> mbarriers_;     // by shared address with rank
  std::map<uint32_t, std::deque<Generation>> barriers_;  // by rank << 4 | id
  std::deque<Generation> cluster_barrier_;
  Locations shared_locations_;
  Locations& global_locations_;
  std::unordered_map<uint64_t, std::shared_ptr<AsyncRecord>> in_flight_;
  std::unordered_map<uint64_t, std::vector<std::shared_ptr<AsyncRecord>>> deferred_;
  std::unordered_map<uint64_t, Commit> commits_;                 // of tcgen05, under way
  std::unordered_map<uint64_t, std::shared_ptr<View>> joining_;  // wgmma that not all warps have issued
  std::deque<DroppedEdge> dropped_;
  bool released_globally_ = false;
};

}  // namespace palladion::sim::check
