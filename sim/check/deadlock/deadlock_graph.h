#pragma once
// The wait-for graph of one cluster: what each warp waits for, and which warps could still provide it.
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "sim/check/protocol/ledger.h"
#include "sim/machine/exec/exec.h"
#include "sim/machine/state/mbarrier.h"
#include "sim/program/arrays.h"
#include "sim/schedule/polled.h"

namespace palladion::sim::check {

// Lanes of a warp that are blocked, or spin.
struct Waiter {
  Origin origin;
  Wait wait;                       // of a spin at an mbarrier: as if it waited there
  bool spins = false;              // on memory: what would end it is unknown
  Polled polled;                   // where it spins
  bool looks = true;               // something in its loop could see what another thread changes
  std::vector<uint32_t> arrivers;  // waiters that could still provide what it waits for
  const MbarrierObject* object = nullptr;
  MbarrierState state;
};

class WaitGraph {
 public:
  WaitGraph(const RunView& run, const Ledger& ledger);

  const std::vector<Waiter>& waiters() const { return waiters_; }
  const Ledger& ledger() const { return ledger_; }
  const ClusterState& cluster() const { return ledger_.context().cluster; }
  const RunView& run() const { return run_; }
  // The shortest cycle, as indices of waiters; empty when there is none.
  std::vector<uint32_t> shortest_cycle() const;
  // What it waits for, without arrivers, and the object alone.
  BlockedWait blocked(const Waiter& w) const;
  Object object(const Waiter& w) const { return blocked(w).object; }
  WarpLanes actor(const Waiter& w) const;
  CycleStep step(uint32_t waiter) const { return {actor(waiters_[waiter]), object(waiters_[waiter])}; }
  bool reaches(const Waiter& w, Pc pc) const { return reach_.at(w.origin.pc)[pc]; }
  bool reaches_copy(const Waiter& w) const;
  // Whether `other` has code ahead, not behind the spin's own read, that writes as many bytes as the spin
  // reads, in the same memory and maybe in the same array.
  bool may_end(const Waiter& other, const Waiter& spin) const;

 private:
  bool may_share(Pc a, Pc b) const;
  void add(const CtaState& cta, const WarpState& warp, const LaneGroup& g);
  void find_spin(Waiter& w, const WarpState& warp) const;
  void read_object(Waiter& w) const;
  void connect(Waiter& w);
  void connect_mbarrier(Waiter& w);
  void connect_barrier(Waiter& w, bool cluster);
  void connect_warp(Waiter& w);
  void connect_warpgroup(Waiter& w);
  void connect_registers(Waiter& w);
  std::vector<Pc> signal_pcs(SharedAddress address) const;
  template <class Match>
  bool reaches_any(const Waiter& w, Match match) const;

  const RunView& run_;
  const Ledger& ledger_;
  std::vector<Waiter> waiters_;
  std::map<uint32_t, std::vector<bool>> reach_;  // by pc
  mutable std::optional<ArrayAnalysis> arrays_;  // made when it is asked
};

}  // namespace palladion::sim::check
