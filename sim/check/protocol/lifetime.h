#pragma once
// Shared memory exists as long as its CTA: no access, asynchronous operations included, may come before the
// CTA has begun or after it has exited. Also: groups of operations whose ends no thread waits for.
#include <cstdint>
#include <deque>
#include <map>
#include <vector>

#include "sim/check/protocol/protocol.h"

namespace palladion::sim::check {

class Lifetime {
 public:
  explicit Lifetime(const Protocol& protocol);

  void on(const Access& a);
  void on(const MbarrierEvent& e);
  void on(const AsyncIssue& e);
  void on(const ArrivalDeferred& e);
  void on(const AsyncLanded& event);
  void on(const GroupCommitted& event);
  void on(const GroupWaited& event);
  void on(const RegistersSet& event);
  void on(const Exited& event);
  // A warp has learned that these operations signalled at that CTA's mbarrier.
  void observed(std::vector<uint64_t>& ids, CtaRank cta_rank, const Point& now);

  // The warp's setmaxnreg instructions: registers before and after.
  const std::vector<std::pair<uint32_t, uint32_t>>& registers_of(WarpOfCluster warp) const {
    return registers_[warp];
  }
  // Where the exited lanes of a warp exited; null when none has.
  const Origin* exit_of(WarpOfCluster warp) const {
    return exits_[warp].instruction ? &exits_[warp] : nullptr;
  }

 private:
  // How an operation uses the shared memory of one CTA.
  struct Interest {
    CtaRank cta_rank;
    bool writes = false;
    uint32_t address = 0, bytes = 0;
  };
  struct Operation {
    Origin origin;
    const char* name = "";
    isa::AsyncGroup group = isa::AsyncGroup::none;
    uint32_t nth = 0;
    bool landed = false, committed = false, tensor = false;
    Origin foreign_commit;  // by other lanes, while it was not committed
    Point issued;           // of a tcgen05.commit
    std::vector<Interest> interests;
    std::vector<Point> knowers;  // warps that know its end, and since when
  };
  struct Entry {      // of a warp's bulk operations and commits, in program order
    uint64_t id = 0;  // 0: a commit
    uint32_t lanes = 0;
  };
  struct Use {    // a warp's newest access of another CTA's shared memory
    Point point;  // time 0: none
    Origin origin;
    SharedAddress address;
  };

  // A tcgen05.commit: the thread, whose operations before it are complete with it, and the last of these.
  struct Commit {
    WarpOfCluster warp;
    uint32_t lanes = 0;
    uint64_t last = 0;
    std::vector<Point> knowers;
  };

  void add_knower(uint64_t id, CtaRank cta_rank, const Point& now);
  void use(const Origin& origin, SharedAddress address, const Part& part);
  Use& use_of(CtaRank cta_rank, WarpOfCluster warp) { return uses_[cta_rank * p_.causality.warps() + warp]; }
  void release(uint64_t id, CtaRank cta_rank);
  void sweep();
  bool known(const Operation& o, CtaRank cta_rank) const;
  bool only_signals(uint64_t id, const Operation& o, CtaRank cta_rank) const;
  void cta_exited(const Origin& origin);
  void check_started(const Origin& origin, SharedAddress address, const Part& part);
  void check_uses(const Origin& origin);
  void check_operations(const Origin& origin);
  void check_registers(const Origin& origin);
  void check_group_owner(const Origin& origin, uint32_t lanes_with_groups);
  void report_operation(uint64_t id, const Operation& o, const Interest& i, const Origin& origin);

  const Protocol& p_;
  std::map<uint64_t, Operation> operations_;
  std::map<uint64_t, Commit> commits_;
  std::vector<uint64_t> last_;           // by warp of the cluster: its newest operation of tcgen05
  std::vector<std::deque<Entry>> bulk_;  // by warp of the cluster
  std::vector<Use> uses_;                // by CTA used, then warp
  std::vector<std::vector<std::pair<uint32_t, uint32_t>>> registers_;
  std::vector<Origin> exits_;
  size_t next_sweep_ = 1024;
};

}  // namespace palladion::sim::check
