#pragma once
// Keeps the record of every mbarrier object, and asks the rules at each of its events.
#include <cstdint>
#include <deque>
#include <functional>
#include <map>
#include <optional>
#include <vector>

#include "sim/check/protocol/ledger_flow.h"
#include "sim/check/protocol/missable_waits.h"
#include "sim/check/protocol/state_tokens.h"

namespace palladion::sim::check {

// Phases of a run that are the same in every schedule, and why the first other one is not.
struct ForcedPhases {
  uint64_t forced = 0, unforced = 0;
  Statement reason;
};

class MbarrierLedger {
 public:
  explicit MbarrierLedger(const Protocol& protocol)
      : p_(protocol),
        rules_(protocol),
        missable_(protocol, rules_),
        tokens_(protocol, rules_),
        last_waits_(protocol.causality.warps()) {}

  void on(const MbarrierEvent& e);
  void on(const AsyncIssue& e);
  void on(const ArrivalDeferred& e);
  void on(const Access& a);
  void on(const ClusterEnded&);

  // The mbarrier at which the warp has last waited; 0: none yet.
  SharedAddress last_waited(WarpOfCluster warp) const { return last_waits_[warp].address; }
  // The newest object at the address; null when there was none.
  const MbarrierObject* find(SharedAddress address) const;
  const std::map<SharedAddress, MbarrierObject>& objects() const { return objects_; }
  const ForcedPhases& forced() const { return forced_; }
  // Why the waits of `origin` at the mbarriers of operation `id` (issued lately) have not ordered it after
  // that operation. Nothing: it has not waited there, or its wait was correct.
  std::optional<WaitVerdict> explain_wait(uint64_t id, const Origin& origin) const;
  // False for a test_wait or try_wait whose result no instruction reads: it orders nothing.
  bool result_used(Pc pc) const;
  // Called when a warp has learned that operations signalled at a CTA's mbarrier; drops the ids that need no
  // further report.
  using Observed = std::function<void(std::vector<uint64_t>& ids, CtaRank cta_rank, const Point& now)>;
  void on_observed(Observed f) { observed_ = std::move(f); }

 private:
  void fly(const Origin& origin, const Flight& flight);
  void init(const MbarrierEvent& e);
  void invalidate(const MbarrierEvent& e);
  void signal(const MbarrierEvent& e);
  void wait(const MbarrierEvent& e);
  void observe(MbarrierObject& b, const Origin& origin);
  void complete(MbarrierObject& b, int64_t phase);
  void note_signal(MbarrierObject& b, const MbarrierEvent& e, uint32_t nth, uint32_t inside);
  MbarrierObject* live(SharedAddress address);
  uint32_t land(MbarrierObject& b, const MbarrierEvent& e, uint32_t& inside);
  void use(MbarrierObject& b, const Origin& origin);

  void dead(const MbarrierEvent& e) const;
  void overwritten(const Origin& origin, SharedAddress address, uint32_t bytes, const char* what) const;
  const MbarrierObject* stale_wait(const Origin& origin) const;
  void judge_forced(MbarrierObject& b, const Origin& origin);
  void unforced(MbarrierPhase& phase, const MbarrierObject& b, const Origin& origin, Phrase why);

  const Protocol& p_;
  const MbarrierRules rules_;
  MissableWaits missable_;
  StateTokens tokens_;
  std::map<SharedAddress, MbarrierObject> objects_;
  std::vector<Flight> flights_;
  struct Issued {  // where an operation will signal
    uint64_t id = 0;
    SharedAddress address;
    int64_t phase = 0;
  };
  struct WarpWait {
    SharedAddress address;  // 0: none
    uint32_t time = 0;      // of the warp (Point::time)
  };
  std::vector<WarpWait> last_waits_;  // by warp, at any mbarrier
  std::deque<Issued> issued_;         // the newest, by ascending id
  ForcedPhases forced_;
  mutable UsedResults used_results_;
  Observed observed_;
  uint32_t serials_ = 0;
  uint32_t lowest_ = ~0U, highest_ = 0;  // offsets of objects: an access outside cannot overlap one
};

}  // namespace palladion::sim::check
