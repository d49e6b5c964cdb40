#pragma once
// The SMs that one cluster occupies, with all clusters that share them: the unit of parallel work. Its
// events are simulated up to the end of a quantum; what it asks of L2 and HBM is answered between quanta.
#include <cstdint>
#include <memory>
#include <queue>
#include <vector>

#include "sim/launch/event.h"
#include "sim/schedule/cluster_runner.h"
#include "sim/clock/memory/memory.h"
#include "sim/sass/price.h"
#include "sim/clock/sm/sm.h"

namespace palladion::sim::hardware {

// A strong access of GMEM: performed at the edge, in the order of its time over all groups.
struct EdgeAccess {
  uint64_t time = 0;  // as others see it
  uint64_t issued = 0;
  uint32_t warp = 0;  // of the group
};

// A reduction into GMEM whose results land.
struct EdgeLanding {
  uint64_t time = 0;
  ClusterState* cluster = nullptr;
  uint64_t id = 0;
};

struct Finished {
  uint64_t time = 0;
  ClusterState* cluster = nullptr;
};

inline bool computes(Resource pipe) {
  return pipe == Resource::alu || pipe == Resource::fma || pipe == Resource::sfu;
}

inline bool runnable(const Wait& wait) {
  return wait.kind == Wait::Kind::none || wait.kind == Wait::Kind::poll;
}

class SmGroup {
 public:
  // SMs [first, first + count) of the chip. `l1_bytes` of each are left beside shared memory.
  SmGroup(const RunContext& context, const Prices& prices, const isa::ClockParameters& parameters,
          uint32_t first, uint32_t count, uint64_t l1_bytes);

  // Neighbouring groups use the same ways to the clusters' network.
  void crowd() {
    for (Sm& sm : sms_) sm.crowded = true;
  }
  // The cluster's first instructions issue at `time`; its CTAs exist.
  void start(ClusterState& cluster, uint64_t time);
  // What its instructions take is added to `lines`, by pc: sums that many groups may share.
  void run_until(uint64_t end, std::vector<LineTime>& lines);
  // Cycle of the next event; `never` when all warps wait.
  uint64_t next_event() const;

  // Between quanta, in this order.
  void perform(const EdgeAccess& access);
  void land(const EdgeLanding& landing);
  void answer();  // the batch has been served
  // mbarrier waits give up; false when there is none that has not since the last change, or none if `again`.
  bool time_out(ClusterState& cluster, uint64_t time, bool again);

  std::vector<EdgeAccess> accesses;
  std::vector<EdgeLanding> landings;
  std::vector<Finished> finished;
  Batch batch;

  // The cluster has been taken away.
  void remove(const ClusterState& cluster);
  uint64_t drained() const { return drained_; }
  const std::vector<Sm>& sms() const { return sms_; }
  uint64_t instructions() const { return instructions_; }
  uint64_t bank_conflicts() const { return bank_conflicts_; }

 private:
  // What is known of a register's value.
  struct Value {
    uint64_t ready = 0;  // cycle in which it is there; `never` while it depends on a request that L2 has
                         // not answered
    uint32_t answer = 0, offset = 0;  // then: of which, and how many cycles after the answer
    Stall source = Stall::wait;       // what gives it
    Resource pipe = Resource::issue;  // that computes it
    uint8_t board = 0;                // from 1: the scoreboard of the load that brings it
  };
  struct Warp {
    enum class State : uint8_t { done, queued, slot, memory, blocked, edge };
    ClusterState* cluster = nullptr;
    CtaState* cta = nullptr;
    WarpState* warp = nullptr;
    uint32_t sm = 0, sub = 0;
    State state = State::done;
    Stall why = Stall::wait;
    uint64_t next = 0;          // its next instruction issues no earlier
    uint64_t since = 0;         // of its last issue
    uint32_t turns = 0;         // instructions in a row of one lane group beside others
    std::vector<Value> values;  // by register number
    // Loads that share a scoreboard: the registers that wait for it; which of them have any, a bit each.
    std::array<std::vector<uint32_t>, board_count> boards;
    uint8_t boards_used = 0;
    bool unanswered = false, deferred = false;  // some register waits; some instruction's operand
    bool drain = false;                         // nothing issues before `horizon`
    uint64_t last_store = 0;       // a fence of a wide scope begins when its stores have come so far
    uint64_t last_async = 0;       // and ends no sooner than its asynchronous stores
    uint64_t arrived = 0;          // at the cluster's barrier
    uint32_t last_mbarrier = ~0U;  // at which it arrived through the cluster's window
    uint64_t fence_end = 0;        // of a fence that may have to wait longer
    bool fenced = false;           // the fence of the release that it is about to issue is done
    uint64_t arrive_free = 0;      // its next mbarrier arrival issues no earlier
    uint64_t block = 0;            // since the last branch
    double busy = 0;               // by its own instructions: sequences, instruction fetches
    uint64_t horizon = 0;          // the last instruction so far has had its operands
    uint32_t iterations = 0;       // taken branches backwards
  };
  struct Event {
    enum class Kind : uint8_t { warp, slot, read, land };
    uint64_t time = 0;
    uint64_t order = 0;
    Kind kind = Kind::warp;
    uint32_t index = 0;               // warp, or sm * 4 + sub-core
    ClusterState* cluster = nullptr;  // read, land
    uint64_t id = 0;
    bool operator<(const Event& other) const {
      return time != other.time ? time > other.time : order > other.order;
    }
  };
  static constexpr uint32_t no_request = ~0U;
  // So many cycles after an answer.
  struct Due {
    bool waits = false;
    uint32_t answer = 0, offset = 0;
  };
  // A load (`warp`) or a copy (`cluster`, `id`) that waits for a request; or what waits for two `parts`.
  struct Pending {
    uint32_t request = no_request;
    uint32_t also = no_request;  // an earlier request that brings some of its lines
    uint32_t warp = 0;
    ClusterState* cluster = nullptr;
    uint64_t id = 0;
    double extra = 0;   // cycles from the request's end until a copy lands
    uint64_t load = 0;  // of a copy by TMA, on SM `sm`: its number there
    uint32_t sm = 0;
    uint64_t not_before = 0;
    std::array<Due, 2> parts{};
  };
  struct Fill {  // of a line of L1
    uint32_t sm = 0;
    uint64_t line = 0;
    uint32_t request = 0;
  };
  struct Write {
    uint32_t request = 0, sm = 0;
    uint64_t id = 0;  // of a copy, which lands no sooner than at `not_before`
    ClusterState* cluster = nullptr;
    uint64_t not_before = 0;
  };
  struct Arrival {
    ClusterState* cluster = nullptr;
    uint64_t id = 0;
  };

  // An instruction issues at `time`; the cluster's counts before it.
  struct Since {
    uint64_t time = 0, async = 0, progress = 0;
  };

  // The last arrival from another CTA at an mbarrier: the network brings it when the phase has long been over
  // for the machine's state.
  struct RemoteArrival {
    const ClusterState* cluster = nullptr;
    uint32_t mbarrier = 0;  // shared address with its CTA's rank
    uint64_t time = 0;      // it is there
  };

  void push(uint64_t time, Event::Kind kind, uint32_t index) {
    events_.push({time, order_++, kind, index, nullptr, 0});
  }
  void push(uint64_t time, Event::Kind kind, ClusterState& c, uint64_t id) {
    events_.push({time, order_++, kind, 0, &c, id});
  }
  // Of warps that wait for the same unit the one goes first that has not issued for the longest time.
  void wait_for_unit(const Warp& w, uint32_t index, uint64_t time) {
    events_.push({time, w.since, Event::Kind::warp, index, nullptr, 0});
  }
  void prefetch() const;
  void handle(const Event& e);
  void give_slot(uint32_t sub_core, uint64_t now);
  void wait_for_slot(Warp& w, uint32_t index);
  void consider(uint32_t index, uint64_t now);
  bool pass_free(Warp& w, uint32_t pc, int lane_group);
  bool drained(Warp& w, uint32_t index);
  uint64_t operands_ready(Warp& w, const Price& p, uint64_t at) const;
  uint64_t hand_over(Resource from, Resource to) const;
  bool runs_on(const Warp& w, const Price& p) const;
  void set_ready(Warp& w, const Price& p, uint64_t time);
  void set_unanswered(Warp& w, const Price& p, uint32_t answer, uint32_t offset);
  void share_board(Warp& w, const Price& p);
  void pass_board(Warp& w, const Price& p);
  Due join(const Warp& w, const Due& a, const Due& b);
  void defer(Warp& w, const Price& p, uint64_t now, uint32_t latency);
  Exec exec(Warp& w) const;

  // group_issue.cpp
  bool unit_free(Warp& w, const Price& p, uint64_t& at, uint64_t now);
  void issue(Warp& w, uint32_t index, int lane_group, uint32_t pc, uint64_t now);
  void execute(Warp& w, Exec& x, uint32_t pc, const Price& p, uint64_t now);
  bool blocks(Warp& w, uint32_t index, const Price& p, uint32_t pc, LaneGroup* group, const Since& since);
  void after(Warp& w, uint32_t index, const Price& p, uint32_t pc, bool resumed, const Since& since,
             uint64_t start);
  void charge(Warp& w, uint32_t pc, uint64_t now);
  double fetch(Warp& w, uint32_t pc, const Price& p);
  uint64_t occupy(Sm& unit, SubCore& s, const Price& p, uint64_t now);
  void hold(Warp& w, const Price& p, uint64_t now, double fetching);
  void take_branch(Warp& w, const Price& p, uint32_t from, uint32_t to) const;
  uint64_t seen(const Price& p, uint64_t now) const;
  uint32_t guarded(const Exec& x, uint32_t pc, uint32_t mask) const;
  void take_addresses(Exec& x, uint32_t pc, uint32_t mask);
  static void book(Sm& sm, Resource r, double cycles) { sm.busy[static_cast<size_t>(r)] += cycles; }

  // group_waits.cpp
  void wake(ClusterState& cluster, uint64_t now, bool by_copy);
  uint64_t delay(const Warp& w, const Wait& wait, uint64_t now, bool by_copy) const;
  void meet(Warp& w, uint32_t pc, bool resumed, uint64_t now);
  uint64_t barrier_delay(const NamedBarrier& barrier) const;
  void retire(ClusterState& cluster, uint64_t now);

  // group_memory.cpp
  double left_by_tensor_core(const Sm& unit, double time) const;
  void resolve(Warp& w);
  uint32_t passes_of(const Price& p) const;
  void spin_in_shared(Warp& w, const Price& p, uint64_t now);
  void access_shared(Warp& w, const Price& p, uint64_t now);
  void count_alike(LineAccess* lines, uint32_t count, uint32_t lanes) const;
  void stored(Sm& unit, const Price& p, const LineAccess* lines, uint32_t count, double start);
  void access_global(Warp& w, uint32_t index, const Price& p, uint64_t now);
  void load_through_l1(Warp& w, uint32_t index, const Price& p, double start, uint32_t first, uint32_t count);
  uint32_t add_request(Request::Kind kind, uint32_t sm, double time, double step, uint32_t first);

  // group_cluster.cpp
  double send(Sm& from, Sm& to, double time, double packets, double crowded);
  double write(Sm& from, Sm& to, double time, double packets);
  void queue_store(Sm& unit, const Price& p, uint64_t now) const;
  void access_cluster(Warp& w, const Price& p, uint64_t now);
  void store_async(Warp& w, const Price& p, uint64_t id, uint64_t now);
  void copy_to_cluster(Warp& w, uint64_t id, const Traffic& t, uint64_t now);
  uint64_t fence(Warp& w, uint32_t latency, uint64_t now);
  bool release(Warp& w, const Price& p, uint32_t pc, uint32_t mask, uint64_t& at);
  uint64_t cluster_barrier_delay(const Warp& w) const;
  void arrive_remote(Warp& w, uint64_t now);
  uint64_t remote_delay(const Warp& w, uint64_t mbarrier, uint64_t now) const;

  // group_async.cpp
  void issue_async(Warp& w, const Price& p, uint64_t now, uint64_t first_id);
  void start_copy(Warp& w, const AsyncOp& op, const Traffic& t, uint64_t now);
  double take_copy(Warp& w, double& free, uint64_t id, const Traffic& t, double cycles, double issued);
  void start_tma_load(Warp& w, uint64_t id, const Traffic& t, uint32_t first, double start);
  void start_tma_store(Warp& w, uint64_t id, const Traffic& t, uint32_t first, double start);
  void start_wgmma(Warp& w, uint64_t now);
  double tensor_opens(const Sm& unit) const;
  static uint64_t warpgroup_of(const Warp& w);
  static Sm::Products& products_of(Sm& unit, const Warp& w);
  double sequences_open(const Sm& unit, const Warp& w, double time) const;
  void add_lines(const std::vector<Piece>& pieces);
  void landed(ClusterState& cluster, uint64_t id, uint64_t now);
  void settle(ClusterState& cluster, uint64_t now);
  void try_arrivals(uint64_t now);
  static AsyncOp* pending(ClusterState& cluster, uint64_t id);

  const RunContext& context_;
  const Prices& prices_;
  const isa::ClockParameters& p_;
  std::vector<Sm> sms_;
  std::vector<Warp> warps_;
  std::vector<uint32_t> free_warps_;
  std::priority_queue<Event> events_;
  std::vector<Pending> pending_;
  std::vector<uint32_t> parked_;   // warps that wait for a register of a request
  std::vector<uint64_t> answers_;  // by pending_
  std::vector<Fill> fills_;
  std::vector<Write> writes_;
  std::vector<Arrival> arrivals_;
  std::vector<RemoteArrival> remote_arrivals_;
  LineTime* lines_ = nullptr;           // of the quantum
  uint64_t order_ = uint64_t{1} << 48;  // of events of one cycle, after those of warps that wait for a unit
  uint64_t instructions_ = 0, bank_conflicts_ = 0;
  uint64_t end_ = 0;      // of the quantum
  uint64_t drained_ = 0;  // the last store is in L2
  bool yield_after_ = false;
  uint64_t addresses_[32] = {};  // of the memory instruction that issues
  uint32_t lanes_ = 0;
  uint32_t gathered_ = 0;  // cycles until one of its lanes has the sum of all
};

}  // namespace palladion::sim::hardware
