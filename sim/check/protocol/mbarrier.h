#pragma once
// The record of every mbarrier object: the signals in this phase and the last, the warps that have observed
// it; and the rules of its use (PTX, "mbarrier").
#include <array>
#include <cstdint>
#include <deque>
#include <functional>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "sim/check/protocol/protocol.h"
#include "sim/machine/state/mbarrier.h"

namespace palladion::sim::check {

// What one instruction, or the operation that it issued, did to a phase.
struct Signal {
  Origin origin;
  uint32_t nth = 0;  // the warp's n-th execution of the instruction
  uint32_t arrivals = 0;
  int64_t expected = 0, delivered = 0;  // bytes
  int64_t inside = 0;                   // of those delivered: read from inside the tensor
  bool async = false;                   // by an operation that `origin` issued
};

// What is wrong with the bytes of a phase: missing_expect_tx, expected_valid_part_only, duplicate_copy or
// wrong_expected_bytes.
struct MbarrierPhase;
Code bytes_code(const MbarrierPhase& phase);

// A warp saw that a phase had completed, between these times of it.
struct Observation {
  Point first;
  uint32_t latest = 0;
};

struct MbarrierPhase {
  int64_t number = -1;  // -1: before the first one, complete from the start
  std::vector<Signal> signals;
  std::vector<Observation> observers;
  std::vector<Observation> announcements;  // expect_tx apart from an arrival
  std::vector<uint64_t> operations;        // asynchronous ones that signalled, not yet known by the owner
  Causality::Clock arrived;
  bool forced = true;

  void begin(int64_t phase);
  int64_t expected() const;
  int64_t delivered() const;
  uint32_t arrivals() const;
};

struct LastWait {
  bool any = false, succeeded = false, parity = false;
  int64_t phase = 0;      // that it observed, or waits for
  bool ignored = false;   // no instruction reads its result
  bool by_state = false;  // not by parity
  bool repeated = false;  // these lanes had observed that phase before
  uint32_t pc = 0, nth = 0;
};

// Why a wait did not order a reader after an operation that signals at an mbarrier.
struct WaitVerdict {
  Code code = Code::none;  // a wrong parity, phase or form
  Origin wait;
  Statement message, help;  // of the race's finding; no help: the code's
  Statement note;           // with the values of this wait
};

// The state of a warp at an object.
struct MbarrierUser {
  bool knows_init = false;
  LastWait wait;
  int64_t observed = -2;        // the newest phase that it has observed; -2: none
  uint32_t observed_lanes = 0;  // lanes that have
  Point last_point;             // of its last use; time 0: none
  Origin last_origin;
};

struct MbarrierObject {
  uint32_t address = 0;
  uint32_t serial = 0;  // distinguishes objects at one address
  Origin init;
  Point init_point;
  uint32_t count = 0;
  int64_t number = 0;  // of the current phase
  MbarrierPhase current, last, before_last;
  std::vector<MbarrierUser> users;      // by warp of the cluster
  std::map<uint64_t, Origin> arrivers;  // all that ever signalled, by warp and pc
  Origin end;                           // mbarrier.inval
  bool alive = true, overrun = false;
};

// Phases of a run that are the same in every schedule, and why the first other one is not.
struct ForcedPhases {
  uint64_t forced = 0, unforced = 0;
  Statement reason;
};

class MbarrierLedger {
 public:
  explicit MbarrierLedger(const Protocol& protocol)
      : p_(protocol),
        last_waits_(protocol.causality.warps()),
        missable_(protocol.causality.warps()),
        acts_(protocol.causality.warps()) {}

  void on(const MbarrierEvent& e);
  void on(const AsyncIssue& e);
  void on(const ArrivalDeferred& e);
  void on(const Access& a);
  void on(const ClusterEnded&);

  // The newest object at the address; null when there was none.
  const MbarrierObject* find(uint32_t address) const;
  const std::map<uint32_t, MbarrierObject>& objects() const { return objects_; }
  const ForcedPhases& forced() const { return forced_; }
  // Why the waits of `origin` at the mbarriers of operation `id` (issued lately) have not ordered it after
  // that operation. Nothing: it has not waited there, or its wait was correct.
  std::optional<WaitVerdict> explain_wait(uint64_t id, const Origin& origin) const;
  // False for a test_wait or try_wait whose result no instruction reads: it orders nothing.
  bool result_used(uint32_t pc) const;
  // Called when a warp has learned that operations signalled at a CTA's mbarrier; drops the ids that need no
  // further report.
  using Observed = std::function<void(std::vector<uint64_t>& ids, CtaRank cta_rank, const Point& now)>;
  void on_observed(Observed f) { observed_ = std::move(f); }

 private:
  struct Flight {  // an operation's signal that has not landed
    uint64_t id = 0;
    uint32_t address = 0, serial = 0, bytes = 0, nth = 0, inside = 0;
    int64_t phase = 0;
    Origin origin;
    Causality::Clock clock;
  };

  void fly(const Origin& origin, const Flight& flight);
  void init(const MbarrierEvent& e);
  void invalidate(const MbarrierEvent& e);
  void signal(const MbarrierEvent& e);
  void wait(const MbarrierEvent& e);
  void observe(MbarrierObject& b, const Origin& origin);
  void complete(MbarrierObject& b, int64_t phase);
  void note_signal(MbarrierObject& b, const MbarrierEvent& e, uint32_t nth, uint32_t inside);
  void note_token(const MbarrierObject& b, const MbarrierEvent& e);
  MbarrierObject* live(uint32_t address);
  uint32_t land(MbarrierObject& b, const MbarrierEvent& e, uint32_t& inside);
  void use(MbarrierObject& b, const Origin& origin);
  bool known(const std::vector<Observation>& list, const Origin& origin) const;
  bool known_complete(const MbarrierPhase& phase, const Origin& origin) const;
  bool by_several_warps(const MbarrierPhase& phase) const;
  bool knows_all(const Causality::Clock& arrived, const Origin& origin) const;
  void check_missable(const MbarrierObject& b, const Observation& wait);
  void note_act(WarpOfCluster warp);
  bool others_wait_otherwise(const MbarrierObject& b, WarpOfCluster warp, bool parity) const;
  void check_dead(const MbarrierEvent& e);

  // --- rules ---
  bool are_together(const MbarrierObject& b, const MbarrierEvent& e) const;
  void check_reinit(const MbarrierObject& b, const Origin& origin, bool together);
  void check_init_known(MbarrierObject& b, const Origin& origin);
  void check_overrun(MbarrierObject& b, const Origin& origin, uint32_t nth, bool async);
  void check_landing(const MbarrierObject& b, const Flight& f);
  void check_uses_known(const MbarrierObject& b, const Origin& origin);
  void check_waiters(const MbarrierObject& b, const Origin& origin);
  void check_leftover(const MbarrierObject& b, const Origin& origin);
  void check_commits(const MbarrierObject& b, const Origin& origin);
  void check_special_forms(const MbarrierObject& b, const MbarrierEvent& e);
  void check_overwritten(const Origin& origin, uint32_t address, uint32_t bytes, const char* what);
  void check_balance(const MbarrierObject& b);
  void check_late_announcement(const MbarrierObject& b, WarpOfCluster warp);
  void check_token(const MbarrierObject& b, const Origin& origin);
  const MbarrierObject* stale_wait(const Origin& origin) const;
  void report_stale_wait(const MbarrierObject& b, const MbarrierObject& waited, const Origin& origin);
  void check_skipped(const MbarrierObject& b, const Origin& origin);
  void judge_forced(MbarrierObject& b, const Origin& origin);
  void unforced(MbarrierPhase& phase, const MbarrierObject& b, const Origin& origin, Phrase why);
  Finding finding(const MbarrierObject& b, Statement message, FindingSeverity severity) const;
  Site init_site(const MbarrierObject& b) const;
  Site signal_site(const Signal& s) const;

  const Protocol& p_;
  std::map<uint32_t, MbarrierObject> objects_;
  std::vector<Flight> flights_;
  struct Issued {  // where an operation will signal
    uint64_t id = 0;
    uint32_t address = 0;
    int64_t phase = 0;
  };
  struct Token {  // the state that an arrival gave
    uint32_t address = 0, serial = 0;
    int64_t phase = 0;
    std::array<uint64_t, 32> values{};
  };
  std::map<std::pair<uint32_t, uint32_t>, Token> tokens_;  // by warp and offset of the register
  std::vector<uint32_t> last_waits_;                       // by warp: address of the mbarrier; 0: none
  std::deque<Issued> issued_;                              // the newest, by ascending id
  ForcedPhases forced_;
  mutable std::map<uint32_t, bool> result_used_;  // by pc
  Observed observed_;
  std::vector<std::map<FindingKey, Finding>> missable_;  // by warp that has not acted yet: its waits
  std::vector<bool> acts_;                               // by warp: it has arrived or copied, not only waited
  uint32_t serials_ = 0;
  uint32_t lowest_ = ~0U, highest_ = 0;  // offsets of objects: an access outside cannot overlap one
};

}  // namespace palladion::sim::check
