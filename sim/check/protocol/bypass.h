#pragma once
// Lanes that go around an instruction which the whole warp executes together, and end: those that execute it
// then have nobody to wait for, so no run stops. Lanes that end in front of it, or leave a loop of barriers,
// are no mistake.
#include <array>
#include <map>
#include <set>
#include <tuple>
#include <unordered_map>
#include <vector>

#include "sim/check/core/context.h"
#include "sim/check/protocol/bypass_analysis.h"

namespace palladion::sim::check {

class Bypass {
 public:
  Bypass(const ClusterContext& context, const BypassAnalysis& analysis);

  void on(const Reached& e);    // a decision: its guard has not been applied
  void on(const Executing& e);  // a branch with several targets
  void on(const Executed& e);
  void on(const Exited& e);
  void on(const CtaBarrierEvent& e);
  void on(const ClusterBarrierEvent& e);
  void on(const WarpSynced& e) { met(e.origin); }

 private:
  // What the lanes of a warp did at a decision.
  struct Decided {
    std::array<uint32_t, 32> times{};  // how often they came to it
    std::array<Pc, 32> side{};         // where they went on, last
    std::array<uint32_t, 32> since{};  // the first of the times at which they went on there without a change
    uint32_t waiting = 0;              // lanes that try the guarded instruction again
    void went(uint32_t lane, Pc to);
  };
  struct Ended {
    uint32_t lanes = 0;
    std::array<Pc, 32> at{};
  };

  uint64_t key(const Origin& o, Pc pc) const { return (uint64_t{o.cta_rank} * warps_ + o.warp) << 32 | pc; }
  const WarpState& warp_of(const Origin& o) const { return context_.cluster.ctas[o.cta_rank].warps[o.warp]; }
  Ended& ended(const Origin& o);
  void met(const Origin& meeting);
  void judge(const Origin& meeting, const LaneGroup& group, uint32_t lanes);
  void judge(const Origin& meeting, Pc in, Pc decision, uint32_t lanes);
  bool goes_around(Pc decision, Pc side, Pc in, std::optional<Pc> exit);
  void report(const Origin& meeting, Pc in, Pc decision, uint32_t lanes);

  const ClusterContext& context_;
  const BypassAnalysis& analysis_;
  uint32_t warps_ = 0;                             // of a CTA
  std::unordered_map<uint64_t, Decided> decided_;  // by warp of the cluster and pc
  std::vector<Ended> ended_;                       // by warp of the cluster
  std::map<Pc, std::vector<Pc>> before_;           // the decisions before it
  std::set<std::pair<uint64_t, Pc>> reported_;     // of a warp: instruction and decision
  std::map<std::tuple<Pc, Pc, Pc, std::optional<Pc>>, bool> around_;
};

}  // namespace palladion::sim::check
