#pragma once
// Values that a shuffle takes from lanes that have exited, do not exist, are not in the member mask or do not
// execute it: PTX leaves them undefined. They are followed through registers, private memory and calls, and
// reported where they reach shared or global memory, an address, a branch or an operand of synchronisation.
// So is the first CTA of an answer of clusterlaunchcontrol that gives no cluster.
//
// A computation carries them on in the lanes where its result changes when they do: it is performed with a
// few other values in their place. So what is masked, multiplied by zero or not selected is dropped.
#include <algorithm>
#include <array>
#include <unordered_map>
#include <vector>

#include "sim/check/core/context.h"
#include "sim/check/registers/absent_lanes_analysis.h"
#include "sim/check/registers/registers_analysis.h"
#include "sim/machine/exec/actuals.h"

namespace palladion::sim::check {

class AbsentLanes {
 public:
  AbsentLanes(const ClusterContext& context, const AbsentLanesAnalysis& analysis);

  void on(const Reached& event);    // its guard has not been applied
  void on(const Executing& event);  // before it is executed
  void on(const Access& event);     // while it is executed
  void on(const Executed& event);
  void on(const ClusterEnded&);

 private:
  // A shuffle that took absent values, or a question about a refused answer.
  struct Taken {
    Code code = Code::absent_lane_value;
    bool reported = false;
    Origin origin;
    uint32_t lanes = 0, from = 0;  // masks: those that took them, and of which lanes
    Phrase why{};
  };
  struct Taint {
    uint32_t lanes = 0;    // that hold an absent value
    uint32_t shuffle = 0;  // index in `taken_`
  };
  // The first shuffle that took one is the cause of both.
  static Taint both(const Taint& a, const Taint& b) {
    if (a.lanes == 0 || b.lanes == 0) return a.lanes == 0 ? b : a;
    return {a.lanes | b.lanes, std::min(a.shuffle, b.shuffle)};
  }
  using Registers = std::unordered_map<uint32_t, Taint>;  // by slot in the warp's block
  static uint64_t byte_key(uint64_t address, Lane lane) { return local_offset(address) * 32 + lane; }
  static void put(Registers& registers, uint32_t slot, Lane lane, const Taint& value);
  // Of a function with frames: its frame's offset in local memory, and the registers that it saved.
  struct Activation {
    uint64_t frame = 0;
    Registers saved;
  };
  struct Warp {
    Registers registers;
    std::unordered_map<uint64_t, Taint> memory;           // private, by byte and lane
    std::array<std::vector<Activation>, 32> activations;  // of each lane, the innermost last
    Registers results;                                    // of the instruction that is being executed
    Taint guard, stored;                                  // of it: its guard, and what it stores
  };

  Warp& warp_of(const Origin& origin);
  const MicroOp& op_at(const Origin& origin) const { return context_.run.program->code[origin.pc]; }
  const uint8_t* block_of(const Origin& origin) const;
  Taint taint_of(const Warp& warp, uint32_t slot, uint32_t lanes) const;
  void judge(const Origin& origin, Warp& warp);
  void compute(const Origin& origin, Warp& warp);
  uint32_t changed_lanes(const Origin& origin, const Warp& warp, int destination) const;
  void shuffle(const Origin& origin, const isa::Shuffle& e, Warp& warp);
  void decode_answer(const Origin& origin, const isa::QueryCancel& e, Warp& warp);
  Taint any_source(const Origin& origin, const Warp& warp) const;
  void set_results(const Origin& origin, Warp& warp, const Taint& value) const;
  // Calls: absent_lanes_calls.cpp. A place is one lane's register, or bytes of its local memory.
  struct Place {
    uint32_t slot = isa::no_id;  // no_id: in local memory
    uint64_t offset = 0;
  };
  using Passed = std::vector<std::vector<Taint>>;  // by parameter and byte
  void call(const Origin& origin, const isa::Call& e, Warp& warp);
  void enter(const Origin& origin, const isa::Call& e, uint32_t callee, Lane lane, Warp& warp) const;
  void leave(const Origin& origin, const isa::Call& e, uint32_t callee, Lane lane, Warp& warp) const;
  uint64_t value_of(const Origin& origin, const DecodedOperand& o, Lane lane) const;
  Place actual(const Origin& origin, int list, size_t index, Lane lane) const;
  Place formal(uint32_t callee, isa::SymbolId id, const Activation& activation) const;
  std::vector<Taint> at(const Warp& warp, const Place& place, uint64_t bytes, Lane lane) const;
  static void put(Warp& warp, const Place& place, const std::vector<Taint>& values, Lane lane);
  uint32_t keep(const Taken& taken);
  void report(const Origin& origin, RegisterSink sink, const Taint& value);
  void report(const FindingKey& key, const Taken& taken, std::optional<Site> use);

  const ClusterContext& context_;
  const AbsentLanesAnalysis& analysis_;
  uint32_t warps_ = 0;  // of a CTA
  std::vector<Warp> state_;
  std::vector<Taken> taken_;
  std::unordered_map<uint64_t, uint32_t> taken_at_;  // by warp and pc: index
};

}  // namespace palladion::sim::check
