#pragma once
// The SMs that one cluster occupies, with all clusters that share them: the unit of parallel work. Its
// events are simulated up to the end of a quantum; what it asks of L2 and HBM is answered between quanta.
#include <cstdint>
#include <vector>

#include "sim/clock/group/async_engine.h"
#include "sim/clock/group/events.h"
#include "sim/clock/group/execution.h"
#include "sim/clock/group/residents.h"
#include "sim/clock/group/wake_ups.h"
#include "sim/clock/sm/requests.h"
#include "sim/clock/sm/sm.h"
#include "sim/schedule/cluster_runner.h"

namespace palladion::sim::hardware {

// A strong access of GMEM: performed at the quantum boundary, in the order of its time over all groups.
struct StrongAccess {
  Cycle time;  // as others see it
  Cycle issued;
  uint32_t warp = 0;  // of the group
};

// A reduction into GMEM whose results land, at the quantum boundary too. Clusters are named by their number
// in the group.
struct Landing {
  Cycle time;
  ClusterOfGroup cluster;
  uint64_t id = 0;
};

struct Finished {
  Cycle time;
  ClusterOfGroup cluster;
};

// The event loop of these SMs. Their units say when they would serve an instruction; here are the ways of
// instructions from unit to unit. Copying a group is a snapshot: what it refers to is constant but for the
// machine's state, to which `rebind` joins it again.
class SmGroup {
 public:
  // SMs [first, first + count) of the chip. `l1_bytes` of each are left beside shared memory.
  SmGroup(const RunContext& context, const InstructionCosts& costs, const isa::ClockParameters& parameters,
          uint32_t first, uint32_t count, uint64_t l1_bytes);

  // Neighbouring groups use the same ways to the clusters' network.
  void share_network();
  // The cluster's first instructions issue at `time`; its CTAs exist.
  void start(ClusterState& cluster, Cycle time);
  // What its instructions take is added to `lines`, by pc: sums that many groups may share.
  void run_until(Cycle end, std::vector<LineTime>& lines);
  // Cycle of the next event; `never` when all warps wait.
  Cycle next_event() const;

  // Between quanta, in this order.
  void perform(const StrongAccess& access);
  void land(const Landing& landing);
  void answer();  // the batch has been served
  // mbarrier waits give up; false when there is none that has not since the last change, or none if `again`.
  bool time_out(ClusterState& cluster, Cycle time, bool again);

  std::vector<StrongAccess> accesses;
  std::vector<Landing> landings;
  std::vector<Finished> finished;
  Batch& batch() { return requests_.batch; }

  ClusterState& cluster(ClusterOfGroup number) const { return residents_.cluster(number); }
  // The cluster has been taken away.
  void remove(const ClusterState& cluster);
  void rebind() { residents_.rebind(); }

  Cycle drained() const { return drained_; }
  const std::vector<Sm>& sms() const { return sms_; }

 private:
  // An instruction that issues at `now`, and the cluster's counts before it.
  struct Issuing {
    Warp& warp;
    const InstructionCost& cost;
    Pc pc;
    uint32_t lane_group = 0;
    Cycle now;
    bool resumed = false;  // after a wait
    uint64_t async = 0, progress = 0;
  };

  // group.cpp: events, and what lands
  void handle(const Event& e);
  void give_slot(uint32_t sm, uint32_t sub_core, Cycle now);
  void wait_for_slot(Warp& w, Cycle now);
  void wake(ClusterState& cluster, Cycle now, bool by_copy);
  void retire(ClusterOfGroup cluster, Cycle now);
  void freed_tensor_memory(Cycle now);
  void landed(ClusterOfGroup cluster, uint64_t id, Cycle now);
  void settle(ClusterOfGroup cluster, Cycle now);
  void try_arrivals(Cycle now);
  void written(const Write& write);

  // group_issue.cpp: which instruction issues next, and what it sets going
  void consider(uint32_t index, Cycle now);
  bool operands_ready(Warp& w, const InstructionCost& cost, Cycle& at);
  bool may_issue(Warp& w, const InstructionCost& cost, const LaneGroup& group, Cycle& at, Cycle now);
  bool fences_first(Warp& w, const InstructionCost& cost, const LaneGroup& group, Cycle& at);
  void issue(Warp& w, uint32_t lane_group, Cycle now);
  bool blocks(const Issuing& i, LaneGroup* group);
  void after(const Issuing& i, const LaneAddresses& access, Cycle start);
  void access_memory(const Issuing& i, const LaneAddresses& access);
  void synchronise(const Issuing& i, const LaneAddresses& access);
  void meet(const Issuing& i);
  void start_operations(const Issuing& i, const LaneAddresses& access);
  void start_operation(Warp& w, const AsyncOp& op, const Traffic& t, Cycle now);
  Sm& sm_of(const Warp& w) { return sms_[w.sm]; }

  const RunContext* context_;
  const InstructionCosts* costs_;
  const isa::ClockParameters* p_;
  std::vector<Sm> sms_;
  Execution execution_;
  Residents residents_;
  Events events_;
  Requests requests_;
  AsyncEngine async_;
  WakeUps wake_ups_;
  std::vector<uint32_t> parked_;  // warps that wait for an answer
  struct Arrival {
    ClusterOfGroup cluster;
    uint64_t id = 0;
  };
  std::vector<Arrival> arrivals_;  // that cp.async.mbarrier.arrive has put off until copies have landed
  LineTime* lines_ = nullptr;      // of the quantum
  Cycle end_;                      // of the quantum
  Cycle drained_;                  // the last store is in L2
};

}  // namespace palladion::sim::hardware
