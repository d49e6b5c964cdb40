#pragma once
// How the views of a cluster's lanes grow: barriers, mbarriers, fences, strong accesses, groups. The table of
// edges is in docs/concepts/happens_before.md; there are no others.
#include <deque>
#include <map>
#include <unordered_map>

#include "sim/check/order/history.h"
#include "sim/check/order/meetings.h"
#include "sim/check/order/strong_accesses.h"
#include "sim/check/order/tensor_order.h"
#include "sim/launch/phases.h"

namespace palladion::sim::check {

class HappensBefore final : public LaneViews {
 public:
  // `global` is shared by all clusters and touched between quanta only.
  HappensBefore(const ClusterState& cluster, uint32_t mma_warps, Locations& global, RareProxies proxies);

  // The actor for which `done` is evaluated, and its time.
  struct Asker {
    const View* view = nullptr;
    Visibility visibility = Visibility::generic;
    CtaRank rank;        // of the CTA whose shared memory is meant
    uint32_t parts = 1;  // of which lanes, of operations whose lanes each issued their own bytes
    WarpOfCluster warp;
    uint32_t lanes = 0, time = 0;
    uint32_t own_async = 0;  // up to when its own accesses are ordered before those of `visibility`
  };
  // True when the reads (or all accesses) of `op` are done for the asker; of several parts, when one wait is
  // known to cover them all.
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
  // Threads that had waited for the operation have exited, and the cluster barrier that this warp has passed
  // needed their exits. That orders no memory, but the operation is over.
  bool over_by_exits(const AsyncRecord& op, WarpOfCluster warp) const;

  // --- events ---
  void on(const Fenced& event);
  void on(const WarpSynced& event);
  void on(const Executed& event);  // of instructions at which lanes meet
  // The warp did something that orders no memory: what is before it and behind it has different times.
  void step(WarpOfCluster warp);
  void accessed(WarpOfCluster warp) { meetings_.accessed(warp, time(warp)); }
  void stored_to_shared(WarpOfCluster warp, uint32_t lanes) {
    stores_[warp] = {.time = time(warp), .lanes = stores_[warp].lanes | lanes};
  }
  // Not of a wait whose result no instruction reads.
  void mbarrier(const MbarrierEvent& e);
  void on(const CtaBarrierEvent& e);
  void on(const ClusterBarrierEvent& e);
  void on(const Exited& event);
  StrongAccesses& strong() { return strong_; }
  const StrongAccesses& strong() const { return strong_; }
  void on(const AsyncJoined& event);
  // The record of an operation in flight; new ones are to be filled in.
  std::shared_ptr<AsyncRecord> record(uint64_t id);
  void issued(const Origin& origin, const std::shared_ptr<AsyncRecord>& op);
  // The view of an operation's issuers: of a wgmma, all its warps.
  ViewRef issuers_view(const Origin& origin, AsyncRecord& op);
  void on(const ArrivalDeferred& event);
  void on(const AsyncLanded& event);
  void on(const GroupCommitted& event);
  void on(const GroupWaited& event);

  // --- explanations ---
  // Has the thread that issued the operation ever waited for groups of its kind?
  bool issuer_waits(const AsyncRecord& op) const;
  const std::deque<DroppedEdge>& dropped() const { return dropped_.all(); }
  // Where the lanes of the earlier access met behind it: with those of the later one, or, of another warp,
  // with a lane that went on and synchronised with the later one. Null: nowhere.
  std::optional<Pc> met_before(const Point& p, const Origin& origin) const override;
  const Meeting* meeting(const Record& then, const Record& now, const View& later) const;

 private:
  struct Issued {
    std::shared_ptr<AsyncRecord> op;  // null: a commit
    uint32_t lanes = 0;
  };
  struct WarpOperations {
    // That relaxed waits have seen complete; a fence makes them visible.
    std::deque<std::pair<std::shared_ptr<AsyncRecord>, Publication>> seen;
    std::deque<Issued> groups[3];
    uint32_t waited[3] = {};  // lanes that have ever executed a wait_group
  };
  // What a tcgen05.commit covers: of this stream all operations before this id, and whatever its thread knew
  // to be complete when it issued them.
  struct Commit {
    uint32_t stream = 0;
    uint64_t before = 0;
    ViewRef known;
  };
  // What a phase of an mbarrier waits for: the parts of these lanes.
  struct Completed {
    std::shared_ptr<AsyncRecord> op;
    uint32_t parts = ~0U;
  };
  struct Phase {
    std::vector<Released> released;
    std::vector<Completed> operations;
    std::vector<Commit> commits;
    ViewRef relaxed;    // what relaxed arrivals would have released; null: there was none
    Origin relaxed_by;  // the last of them
  };
  struct Generation {
    uint64_t number = 0;
    ViewRef joined;
  };

  // Exits of threads that take no part in a generation of the cluster barrier any more.
  struct Exits {
    struct Exit {
      uint64_t from = 0;  // the first generation without them
      ViewRef view;
    };
    uint64_t open = 0;              // the generation that threads arrive in
    std::vector<uint32_t> arrived;  // lanes, by warp, in that
    std::vector<Exit> all;
    std::vector<ViewRef> known;  // by warp: what those of its last passed generation had known
  };

  uint32_t known_stores(WarpOfCluster of, const View& view) const;
  void note_exits(const ClusterBarrierEvent& e);
  void acquire_released(const Origin& origin, const std::vector<Released>& all, isa::Scope scope);
  void publish_seen(const Origin& origin);
  void publish(AsyncRecord& op, const Origin& origin, const Publication& p);
  void fence_proxy(const Origin& origin, const isa::Fence& f);
  void order_before(WarpOfCluster warp, uint32_t lanes, Visibility from, Visibility to);
  void arrive_relaxed(Phase& phase, const Origin& origin, const isa::Mbarrier& m);
  void wait_on(const MbarrierEvent& e);
  void commit(const ArrivalDeferred& event);
  void wait_for_tensor_memory(const Origin& origin, bool stores);
  void fence_tensor_memory(const Origin& origin, bool after);
  bool tensor_complete(const AsyncRecord& op, const View& view, WarpOfCluster warp, uint32_t lanes,
                       uint32_t time, bool fenced) const;
  Generation& generation(std::deque<Generation>& of, uint64_t number);

  uint32_t mma_warps_;  // of a warpgroup
  DroppedEdges dropped_;
  StrongAccesses strong_;
  std::vector<WarpOperations> operations_;
  struct Stores {                  // to shared memory, by threads
    uint32_t time = 0, lanes = 0;  // the last one's; of all
  };
  std::vector<Stores> stores_;  // by warp
  TensorOrder tensor_;
  Meetings meetings_;
  std::unordered_map<uint32_t, NewestPhases<Phase>> mbarriers_;  // by shared address with rank
  std::map<uint32_t, std::deque<Generation>> barriers_;          // by rank << 4 | id
  std::deque<Generation> cluster_barrier_;
  Exits exits_;
  std::unordered_map<uint64_t, std::shared_ptr<AsyncRecord>> in_flight_;
  std::unordered_map<uint64_t, std::vector<Completed>> deferred_;
  std::unordered_map<uint64_t, Commit> commits_;                 // of tcgen05, under way
  std::unordered_map<uint64_t, std::shared_ptr<View>> joining_;  // wgmma that not all warps have issued
};

}  // namespace palladion::sim::check
