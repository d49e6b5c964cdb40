#pragma once
// The rules of mbarrier objects and of their phases (PTX, "mbarrier"): each finding breaks a sentence of PTX
// in an execution that took place.
#include <span>

#include "sim/check/protocol/mbarrier_record.h"

namespace palladion::sim::check {

class MbarrierRules {
 public:
  explicit MbarrierRules(const Protocol& protocol) : p_(protocol) {}

  // One of these observations comes before what `origin` does.
  bool known(const std::vector<Observation>& list, const Origin& origin) const;
  bool known_complete(const MbarrierPhase& phase, const Origin& origin) const;
  bool others_wait_otherwise(const MbarrierObject& b, WarpOfCluster warp, bool parity) const;
  bool are_together(const MbarrierObject& b, const MbarrierEvent& e) const;

  // mbarrier_rules.cpp: the life of an object
  void check_reinit(const MbarrierObject& b, const Origin& origin, bool together) const;
  void check_init_known(MbarrierObject& b, const Origin& origin) const;
  void check_uses_known(const MbarrierObject& b, const Origin& origin) const;
  void check_waiters(const MbarrierObject& b, const Origin& origin) const;
  void check_leftover(const MbarrierObject& b, std::span<const Flight> flights, const Origin& origin) const;
  void check_dead(const MbarrierObject& b, const MbarrierEvent& e) const;
  void check_overwritten(const MbarrierObject& b, const Origin& origin, const char* what) const;

  // mbarrier_phases.cpp: arrivals, bytes, waits. `waited`: where the warp waited last, if that wait was
  // stale.
  bool is_early(const MbarrierObject& b, const Origin& origin, bool async) const;
  void check_early(MbarrierObject& b, const Origin& origin, uint32_t nth, bool async,
                   const MbarrierObject* waited) const;
  void check_landing(const MbarrierObject& b, const Flight& f) const;
  void check_special_forms(const MbarrierObject& b, const MbarrierEvent& e) const;
  void check_balance(const MbarrierObject& b) const;
  void check_late_announcement(const MbarrierObject& b, WarpOfCluster warp) const;
  void check_skipped(const MbarrierObject& b, const Origin& origin) const;

  Finding finding(const MbarrierObject& b, Statement message, FindingSeverity severity) const;
  Site init_site(const MbarrierObject& b) const;
  Site signal_site(const Signal& s) const;

 private:
  bool by_several_warps(const MbarrierPhase& phase) const;
  bool knows_all(const Causality::Clock& arrived, const Origin& origin) const;
  void check_commits(const MbarrierObject& b, const Origin& origin) const;
  void report_stale_wait(const MbarrierObject& b, const MbarrierObject& waited, const Origin& origin) const;

  const Protocol& p_;
};

}  // namespace palladion::sim::check
