#pragma once
// What is recorded of every mbarrier object: the signals in this phase and the last, the warps that have
// observed it.
#include <cstdint>
#include <map>
#include <optional>
#include <vector>

#include "sim/check/protocol/protocol.h"

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
  static constexpr size_t signals_kept = 256;  // more are added to the last one
  int64_t number = -1;                         // -1: before the first one, complete from the start
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
  Pc pc;
  uint32_t nth = 0;
};

// Why a wait did not order a reader after an operation that signals at an mbarrier.
struct WaitVerdict {
  Code code = Code::none;  // a wrong parity, phase or form
  Origin wait;
  uint32_t time = 0;        // of the warp's last wait at any mbarrier
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
  SharedAddress address;
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

// A signal of an asynchronous operation that has not landed.
struct Flight {
  uint64_t id = 0;
  SharedAddress address;
  uint32_t serial = 0, bytes = 0, nth = 0, inside = 0;
  int64_t phase = 0;
  Origin origin;
  Causality::Clock clock;
};

}  // namespace palladion::sim::check
