#pragma once
// The facts of a run of the original program that the rules of equivalence need.
#include <map>
#include <mutex>

#include "sim/launch/observer.h"
#include "sim/launch/per_cluster.h"
#include "sim/mutate/mutate.h"

namespace palladion::sim::check {

// Of one instruction.
struct SiteFacts {
  uint64_t executed = 0;    // by warps
  bool whole_warps = true;  // always with all 32 lanes
  // Of wait_group: the most groups that a lane had committed, and not yet awaited to this degree, when it
  // came here.
  uint64_t most_pending = 0;
  // Of a barrier: some of the threads that completed it with this instruction arrived by another one.
  bool shared = false;
  // Of a CTA's barrier: between it and the next one a warp touched memory that was not its own since the
  // CTA began.
  bool used_before = false;
  // A thread had touched memory of the cluster or the grid by an ordinary access when this was executed.
  bool accessed_before = false;
  // A warp that has executed it has then touched memory, arrived at an mbarrier or issued something; or one
  // that met it at a barrier since.
  bool acted_after = false;
  // Of an mbarrier's wait: some of what it waited for were bytes of copies; or anything but tcgen05.commit.
  bool awaits_bytes = false, awaits_others = false;
  // Of a CTA's barrier: without it two conflicting accesses are not ordered (reduced_order.h).
  bool orders = false;
};

class ClusterFacts;

// Give it to RunOptions::observer; the module must stay where it is.
class RunFacts final : public Observer {
 public:
  explicit RunFacts(const isa::Module& module);
  ~RunFacts() override;

  void start(const RunView& run) override;
  void observe(ClusterState& cluster, ClusterEvents& events) override;
  void retire(ClusterState& cluster) override;
  bool watches(Pc pc) const override;

  // Of an instruction of the module that was given.
  SiteFacts of(uint32_t function, uint32_t instruction) const;
  uint32_t ctas_of_cluster() const { return ctas_; }
  uint32_t warps_of_cta() const { return warps_; }
  // Every access of another CTA's shared memory was an arrival or bytes at an mbarrier there, in a phase that
  // a thread there has waited for.
  bool remote_actions_are_awaited() const { return remote_actions_are_awaited_; }

  // Every two conflicting accesses are ordered by other things than arrivals that announce bytes
  // (reduced_order.h).
  bool ordered_without_announcements() const { return ordered_; }

 private:
  friend class ClusterFacts;
  using Sites = std::map<const isa::Instruction*, SiteFacts>;  // looked up, never iterated in order
  void add(const Sites& more, bool remote_actions_are_awaited, bool ordered);

  const isa::Module& module_;
  const Program* program_ = nullptr;  // of the run
  PerCluster<ClusterFacts> clusters_;
  std::mutex mutex_;
  Sites sites_;
  uint32_t ctas_ = 1, warps_ = 1;
  bool remote_actions_are_awaited_ = true, ordered_ = true;
};

}  // namespace palladion::sim::check
