#pragma once
// Records the synchronisation skeleton of each cluster of a run.
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "sim/check/protocol/ledger_flow.h"
#include "sim/explore/raw_events.h"
#include "sim/launch/observer.h"
#include "sim/launch/per_cluster.h"

namespace palladion::sim::check {

class SkeletonRecorder {
 public:
  // Of a cluster with more than `limit` events nothing is kept.
  SkeletonRecorder(const ClusterState& cluster, const Program& program, uint64_t limit = ~0ULL)
      : cluster_(cluster), program_(program), limit_(limit) {}

  void on(const ClusterBegan&);
  void on(const Executing& event);
  void on(const Access& access);
  void on(const WarpSynced& event);
  void on(const MbarrierEvent& e);
  void on(const CtaBarrierEvent& e);
  void on(const ClusterBarrierEvent& e);
  void on(const AsyncIssue& issue);
  void on(const AsyncJoined& event);
  void on(const GroupCommitted& event);
  void on(const GroupWaited& event);
  void on(const ArrivalDeferred& event);
  void on(const RegistersSet& event);
  void on(const Exited& event);
  // The skeleton is made here, on the host thread that ran the cluster.
  void on(const ClusterEnded&) {
    ended_ = true;
    skeleton_ = make();
  }

  // `executes` needs these instructions: all lanes of a warp meet at them.
  static bool watches(const isa::Instruction& instruction, const isa::Effect& effect);

  // The skeleton, without the texts of `places` and the names of objects; to be called once.
  Skeleton finish() { return skeleton_ ? std::move(*skeleton_) : make(); }
  // Adds what findings need.
  void name(const RunView& run, Skeleton& skeleton) const;

 private:
  struct Warp {
    uint32_t alive = 0;
    std::map<uint32_t, uint32_t> gathering;  // by pc: lanes that have reached an instruction for all lanes
    uint32_t failed = 0;                     // lanes whose last wait returned false
    uint32_t failed_address = 0, failed_line = 0;
    bool failed_parity = false;
    struct Asked {
      uint32_t object = 0;
      bool parity = false;
      uint64_t number = 0;  // of the warp's questions: the last one counts
    };
    std::map<std::pair<uint32_t, uint32_t>, Asked> asked;  // by pc and lane: waits that asked early
    uint64_t questions = 0;
    std::map<uint32_t, uint32_t> commits;  // by lane: its tcgen05.commits
    std::vector<uint64_t> groups;          // wgmma groups: the last operation of each
    uint64_t last_wgmma = 0;
  };

  uint32_t index(const Origin& origin) const { return origin.cta_rank * run_.warps_per_cta + origin.warp; }
  uint32_t object(SyncObject::Kind kind, CtaRank rank, uint32_t address);
  uint32_t mbarrier_object(SharedAddress address);
  uint32_t place(const Origin& origin);
  void push(const Origin& origin, RawEvent event);
  void push_together(const Origin& origin, RawEvent event);
  void together(const Origin& origin);
  void commit(const ArrivalDeferred& event);
  void arrival(const MbarrierEvent& e);
  void wait(const MbarrierEvent& e);
  void ask(const MbarrierEvent& e);
  void check_asked(const MbarrierEvent& e);
  RawEvent barrier_arrival(uint32_t object, uint64_t generation, BarrierUse use);
  void normalise(Skeleton& s);
  void froze(uint32_t line, const char* what);
  Skeleton make();
  bool full();

  const ClusterState& cluster_;
  const Program& program_;
  uint64_t limit_ = 0, events_ = 0;
  RawRun run_;
  std::vector<Warp> warps_;
  std::vector<SyncObject> objects_;
  std::map<std::pair<uint32_t, uint64_t>, uint32_t> object_index_;
  std::vector<Origin> places_;
  std::map<std::pair<uint32_t, uint32_t>, uint32_t> place_index_;
  std::map<std::pair<uint32_t, uint64_t>, uint32_t> uses_;    // object, generation
  std::map<uint64_t, std::pair<uint32_t, size_t>> deferred_;  // arrivals whose mbarrier is not yet known
  UsedResults used_results_;                                  // of atomics
  std::set<std::pair<uint32_t, std::string>> frozen_;
  std::set<uint32_t> requests_;  // lines that ask to cancel a launch
  bool ended_ = false;
  std::optional<Skeleton> skeleton_;
};

// How much is kept: of all clusters that run at once, and of finished clusters.
struct RecordLimits {
  uint64_t events = 4'000'000;      // about 90 bytes each
  uint64_t operations = 4'000'000;  // about 60 bytes each
};

// Records all clusters of a run; clusters that synchronise alike are kept once.
class SkeletonObserver final : public Observer {
 public:
  struct Recorded {
    Skeleton skeleton;
    uint64_t clusters = 0;  // that have this structure
  };

  explicit SkeletonObserver(const RecordLimits& limits = {}) : limits_(limits) {}

  void start(const RunView& run) override;
  void observe(ClusterState& cluster, ClusterEvents& events) override;
  bool watches(Pc pc) const override;
  void retire(ClusterState& cluster) override;
  // In the order in which the first of their clusters ended.
  const std::vector<Recorded>& recorded() const { return recorded_; }

 private:
  uint64_t cluster_limit() const;

  RecordLimits limits_;
  RunView run_;
  PerCluster<SkeletonRecorder> clusters_;
  uint64_t operations_ = 0;
  std::vector<Recorded> recorded_;
  std::multimap<uint64_t, size_t> by_hash_;
};

}  // namespace palladion::sim::check
