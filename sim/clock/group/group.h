#pragma once
// The SMs that one cluster occupies, with all clusters that share them: the unit of parallel work. Its
// events are simulated up to the end of a quantum; what it asks of L2 and HBM is answered between quanta.
#include <cstdint>
#include <optional>
#include <vector>

#include "sim/clock/memory/memory.h"
#include "sim/clock/sm/access.h"
#include "sim/clock/sm/answers.h"
#include "sim/clock/group/events.h"
#include "sim/clock/sm/sm.h"
#include "sim/clock/sm/sub_core.h"
#include "sim/clock/sm/waits.h"
#include "sim/clock/sm/warp.h"
#include "sim/schedule/cluster_runner.h"

namespace palladion::sim::hardware {

// A strong access of GMEM: performed at the quantum boundary, in the order of its time over all groups.
struct StrongAccess {
  uint64_t time = 0;  // as others see it
  uint64_t issued = 0;
  uint32_t warp = 0;  // of the group
};

// A reduction into GMEM whose results land, at the quantum boundary too. Clusters are named by their number
// in the group.
struct Landing {
  uint64_t time = 0;
  uint32_t cluster = 0;
  uint64_t id = 0;
};

struct Finished {
  uint64_t time = 0;
  uint32_t cluster = 0;
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
  void crowd();
  // The cluster's first instructions issue at `time`; its CTAs exist.
  void start(ClusterState& cluster, uint64_t time);
  // What its instructions take is added to `lines`, by pc: sums that many groups may share.
  void run_until(uint64_t end, std::vector<LineTime>& lines);
  // Cycle of the next event; `never` when all warps wait.
  uint64_t next_event() const;

  // Between quanta, in this order.
  void perform(const StrongAccess& access);
  void land(const Landing& landing);
  void answer();  // the batch has been served
  // mbarrier waits give up; false when there is none that has not since the last change, or none if `again`.
  bool time_out(ClusterState& cluster, uint64_t time, bool again);

  std::vector<StrongAccess> accesses;
  std::vector<Landing> landings;
  std::vector<Finished> finished;
  Batch batch;

  ClusterState& cluster(uint32_t number) const { return *clusters_[number]; }
  // The cluster has been taken away.
  void remove(const ClusterState& cluster);
  // The clusters' state was put back from a snapshot: clusters stay in their slots, what is in them may move.
  void rebind();

  uint64_t drained() const { return drained_; }
  const std::vector<Sm>& sms() const { return sms_; }
  uint64_t instructions() const { return instructions_; }
  uint64_t bank_conflicts() const { return bank_conflicts_; }
  uint64_t tcgen05_products() const { return tcgen05_products_; }

 private:
  // An instruction issues at `time`; the cluster's counts before it.
  struct Since {
    uint64_t time = 0, async = 0, progress = 0;
  };

  // group.cpp: events, and which warp goes next
  uint32_t add(ClusterState& cluster);
  uint32_t free_warp();
  void prefetch() const;
  void handle(const Event& e);
  void give_slot(uint32_t sub_core, uint64_t now);
  void wait_for_slot(Warp& w, uint32_t index, uint64_t now);
  bool operands_ready(Warp& w, const InstructionCost& cost, uint64_t& at) const;
  void consider(uint32_t index, uint64_t now);
  bool pass_free(Warp& w, uint32_t pc, int lane_group);
  void park(Warp& w, uint32_t index);
  void wake(ClusterState& cluster, uint64_t now, bool by_copy);
  uint64_t delay(const Warp& w, const Wait& wait, uint64_t now, bool by_copy) const;
  void retire(uint32_t cluster, uint64_t now);
  Exec exec(Warp& w) const;
  uint64_t warpgroup_of(const Warp& w) const;
  void share_tensor_memory();
  void freed_tensor_memory(uint64_t now);
  Sm& sm_of(const Warp& w) { return sms_[w.sm]; }
  SubCore& sub_core_of(const Warp& w) { return sub_cores_[w.sub_core]; }

  // group_issue.cpp: an instruction issues
  bool runs_on(const Warp& w, const InstructionCost& cost) const;
  bool unit_opens(Warp& w, const InstructionCost& cost, uint64_t& at, uint64_t now);
  bool release(Warp& w, const InstructionCost& cost, uint32_t pc, uint32_t mask, uint64_t& at);
  void issue(Warp& w, uint32_t index, int lane_group, uint32_t pc, uint64_t now);
  void charge(Warp& w, uint32_t pc, uint64_t now);
  void execute(Warp& w, Exec& x, uint32_t pc, const InstructionCost& cost);
  uint32_t guarded(const Exec& x, uint32_t pc, uint32_t mask) const;
  void take_addresses(Exec& x, uint32_t pc, uint32_t mask);
  uint64_t occupy(Sm& unit, SubCore& s, const InstructionCost& cost, uint64_t now);
  bool blocks(Warp& w, uint32_t index, const InstructionCost& cost, uint32_t pc, LaneGroup* group,
              const Since& since);
  void take_branch(Warp& w, const InstructionCost& cost, uint32_t from, uint32_t to) const;
  uint64_t seen(const InstructionCost& cost, uint64_t now) const;
  void after(Warp& w, const InstructionCost& cost, uint32_t pc, bool resumed, const Since& since,
             uint64_t start);
  uint64_t fence(const Warp& w, uint32_t latency, uint64_t now);
  void meet(Warp& w, uint32_t pc, bool resumed, uint64_t now);

  // group_memory.cpp: loads, stores, atomics
  uint32_t passes_of(const InstructionCost& cost) const;
  void access_shared(Warp& w, const InstructionCost& cost, uint64_t now);
  void spin_in_shared(Warp& w, const InstructionCost& cost, uint64_t now);
  void access_global(Warp& w, const InstructionCost& cost, uint64_t now);
  void load(Warp& w, const InstructionCost& cost, double start, uint32_t first);
  void store(Sm& unit, bool atomic, uint32_t first, double start);
  void count_alike(uint32_t first, uint32_t lanes);
  void access_cluster(Warp& w, const InstructionCost& cost, uint64_t now);
  double store_to(Sm& unit, Sm& peer, const InstructionCost& cost, uint64_t now);
  void arrive_remote(Warp& w, uint64_t now);
  uint64_t remote_delay(const Warp& w, uint64_t mbarrier, uint64_t now) const;
  uint32_t add_request(Request::Kind kind, uint32_t sm, double time, double step, uint32_t first);

  // group_async.cpp: operations that land on their own
  void issue_async(Warp& w, const InstructionCost& cost, uint64_t now, uint64_t first_id);
  void start_copy(Warp& w, const AsyncOp& op, const Traffic& t, uint64_t now);
  void copy_lanes(const Warp& w, uint64_t id, uint32_t first, uint64_t now);
  void store_async(Warp& w, const InstructionCost& cost, uint64_t id, uint64_t now);
  void copy_to_cluster(Warp& w, uint64_t id, const Traffic& t, uint64_t now);
  double take_copy(const Warp& w, TmaUnit::Direction direction, uint64_t id, const Traffic& t, double issued,
                   double cycles);
  void start_tma_load(const Warp& w, uint64_t id, const Traffic& t, uint32_t first, double start);
  void start_tma_store(const Warp& w, uint64_t id, const Traffic& t, uint32_t first, double start);
  void join_store(const Warp& w, uint64_t id, uint32_t first);
  void start_wgmma(const Warp& w, uint64_t now);
  void start_tcgen05(const Warp& w, const AsyncOp& op, const Traffic& t, uint64_t now);
  void add_lines(const std::vector<Piece>& pieces);
  void landed(uint32_t cluster, uint64_t id, uint64_t now);
  void settle(uint32_t cluster, uint64_t now);
  void try_arrivals(uint64_t now);
  void land_answered();
  void written(const Write& write);

  const RunContext* context_;
  const InstructionCosts* costs_;
  const isa::ClockParameters* p_;
  Waits waits_;
  std::vector<Sm> sms_;
  uint32_t sub_cores_per_sm_;
  std::vector<SubCore> sub_cores_;       // SM after SM
  std::vector<ClusterState*> clusters_;  // by number; null: the number is free
  std::vector<Warp> warps_;
  std::vector<uint32_t> free_warps_;
  Events events_;
  Answers answers_;
  std::vector<Write> writes_;
  // The last bulk store of the instruction that issues now.
  struct Store {
    uint64_t tensor_map = 0;
    uint32_t bytes = 0;
    std::vector<Piece> global;
    uint64_t read = 0, done = 0;
    std::optional<uint32_t> request;  // none: all of it lies outside the tensor
  };
  std::optional<Store> store_;
  std::vector<uint32_t> parked_;  // warps that wait for an answer
  struct Arrival {
    uint32_t cluster = 0;
    uint64_t id = 0;
  };
  std::vector<Arrival> arrivals_;  // that cp.async.mbarrier.arrive has put off until copies have landed
  RemoteArrivals remote_arrivals_;
  LineTime* lines_ = nullptr;  // of the quantum
  uint64_t instructions_ = 0, bank_conflicts_ = 0, tcgen05_products_ = 0;
  uint64_t end_ = 0;      // of the quantum
  uint64_t drained_ = 0;  // the last store is in L2
  bool yield_after_ = false;
  LaneAddresses access_;   // of the memory instruction that issues
  uint32_t gathered_ = 0;  // cycles until one of its lanes has the sum of all
};

}  // namespace palladion::sim::hardware
