#pragma once
// What every part of a cluster's checker shares: the run, the cluster, happens-before, and where
// findings go. Parts are plain classes that subscribe to the events which they need.
#include <array>
#include <compare>
#include <cstdint>
#include <map>
#include <optional>
#include <span>
#include <string>
#include <unordered_map>
#include <utility>
#include <vector>

#include "sim/check/catalogue/code.h"
#include "sim/check/order/order.h"
#include "sim/launch/finding.h"
#include "sim/launch/observer.h"

namespace palladion::sim::check {

// Findings with one key are one finding, counted. `object` distinguishes objects of one CTA (a shared offset
// without the rank, an allocation's base).
struct FindingKey {
  Code code = Code::none;
  uint32_t pc_a = ~0U, pc_b = ~0U;
  uint64_t object = 0;
  friend auto operator<=>(const FindingKey&, const FindingKey&) = default;
};

struct Reported {
  FindingKey key;
  Finding finding;
};

// The findings of one cluster, in the order in which they were made, and the roles and execution counts of
// its warps. It must be subscribed before the parts.
class Reporter {
 public:
  // More findings than these with one code, of one cluster, are counted in `dropped` alone.
  static constexpr size_t limit = 1000;

  Reporter(const RunView& run, const ClusterState& cluster);
  virtual ~Reporter() = default;

  // True when a finding with this key was made before. Counts that the lanes of `by` went wrong once more: a
  // finding's count is how often the statement went wrong in a CTA, added over CTAs, however many of its
  // threads did. `execution` tells executions apart; 0: that of the event under way.
  bool seen(const FindingKey& key, const Origin& by, uint64_t execution = 0);
  // A further load of a race that was reported with this key; nullopt: not known.
  void add_read(const FindingKey& key, const std::optional<RacingRead>& read);
  // Keeps a finding whose key has not been seen. Its code is the key's.
  void report(const FindingKey& key, Finding finding);
  // The site of a finding: text, lines, role, occurrence, and its part in it.
  Site site(const Origin& origin, const Part& part = {}) const;
  Site site(const Origin& origin, Does does) const { return site(origin, Part{.does = does}); }
  Role role(CtaRank cta_rank, WarpOfCta warp) const;
  // How often the warp has executed the synchronising instruction at `pc` up to now.
  uint32_t occurrence(CtaRank cta_rank, WarpOfCta warp, Pc pc) const;
  std::vector<Reported>& found() { return found_; }
  uint64_t dropped() const { return dropped_; }
  // Another event begins; the Reporter knows of those that it is subscribed to.
  void begin_event() { ++event_; }

  void on(const MbarrierEvent& e);
  void on(const CtaBarrierEvent& e);
  void on(const ClusterBarrierEvent& e);
  void on(const AsyncIssue& e);
  void on(const AsyncJoined& event);
  void on(const ArrivalDeferred& event);
  void on(const TensorAccess& event);
  void on(const TensorAllocated& event);
  void on(const GroupCommitted& event);
  void on(const GroupWaited& event);
  void on(const RegistersSet& event);
  void on(const AsyncLanded&) { begin_event(); }
  void on(const Executing&) { begin_event(); }
  void on(const Executed&) { begin_event(); }
  void on(const Exited&) { begin_event(); }
  void on(const ClusterEnded&) { begin_event(); }

 private:
  struct Executions {
    uint32_t count = 0;
    int last_lane = 32;
  };
  // How often each thread went wrong at a key.
  struct Wrong {
    struct Warp {
      uint64_t execution = 0;  // the last one
      uint32_t lanes = 0;      // that it counts for
      std::array<uint32_t, 32> times{};
    };
    std::unordered_map<uint32_t, Warp> warps;  // by warp of the cluster
    std::map<CtaRank, uint32_t> most;          // of the threads of each CTA
    uint64_t count = 0;                        // the sum over CTAs
    std::optional<size_t> found;               // the finding
  };
  static void count(Wrong& wrong, uint32_t warp, const Origin& by, uint64_t execution);
  void count(const Origin& origin, uint32_t lanes);
  bool is_full(Code code) const;
  WarpOfCluster index(CtaRank cta_rank, WarpOfCta warp) const {
    return WarpOfCluster(cta_rank * warps_ + warp);
  }

  const RunView& run_;
  const ClusterState& cluster_;
  uint32_t warps_ = 0;                                 // of a CTA
  std::vector<uint8_t> roles_;                         // by warp of the cluster: what it has issued
  std::unordered_map<uint64_t, Executions> executed_;  // by warp of the cluster and pc
  std::map<FindingKey, Wrong> keys_;
  std::map<Code, size_t> kept_;
  std::vector<Reported> found_;
  uint64_t dropped_ = 0;
  uint64_t event_ = 1;
};

struct ClusterContext {
  const RunView& run;
  ClusterState& cluster;
  OrderQueries& order;
  Reporter& reporter;
};

// What lies there, by the author's names. Addresses of shared memory have the CTA's rank.
Object shared_object(const RunView& run, const ClusterState& cluster, SharedAddress address, uint64_t bytes);
Object mbarrier_object(const RunView& run, const ClusterState& cluster, SharedAddress address);
Object global_object(const RunView& run, uint64_t address, uint64_t bytes);

// Names the objects of shared memory of which a finding of the machine states the address alone.
void add_names(const RunView& run, Finding& finding);

// An array of shared memory that has a name.
struct SharedObject {
  std::string name;
  uint64_t base = 0, bytes = 0;  // offset in the CTA's window
  bool open = false;             // LLVM's `.shared .b8 x;`: the base of memory that ends nowhere
};
// The author's own names, where the module has them, and those of symbols.
std::vector<SharedObject> shared_objects(const RunView& run);

// A Site without role and occurrence, for callers without a Reporter.
Site plain_site(const RunView& run, const ClusterState& cluster, const Origin& origin);

}  // namespace palladion::sim::check
