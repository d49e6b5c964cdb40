#pragma once
// Where the four warps of a Pallas thread must meet before a copy. Pallas puts a warpgroup barrier before
// every copy into SMEM; ours has one where a path leads to the copy on which the warps may be apart:
//   - one of them may still wait, and what the copy starts could complete the phase after the awaited one, so
//     that the late warp never sees its own. It can where the copy arrives at the awaited mbarrier itself,
//     and where only other threads arrive at that mbarrier, as they do when they have used what was copied;
//     or
//   - one may still access memory that the copy overwrites (not with `unsafe_no_auto_barriers`).
#include <cstddef>
#include <cstdint>
#include <optional>
#include <unordered_map>
#include <vector>

#include "frontend/core/recorder.h"
#include "isa/core/footprint.h"
#include "isa/core/op.h"

namespace palladion::frontend {

class Meetings {
 public:
  struct Known {
    Operand thread;   // the register with the Pallas thread's number, if the kernel has used it
    Operand elected;  // the predicate of one lane of the thread, likewise
    bool auto_barriers;
  };
  Meetings(const isa::DecodeContext& kernel, const std::vector<BarrierUse>& uses, Known known);
  // Indices of instructions before which thread number `thread` must meet; they add up over the threads.
  void follow(int64_t thread);
  const std::vector<bool>& needed() const { return needed_; }

 private:
  // Bits: the thread comes here; memory was accessed; a barrier was waited for at which the thread does not
  // arrive; barriers that were waited for.
  using State = uint64_t;
  using Use = State (Meetings::*)(const BarrierUse&, State);
  State bit_of(const void* barrier);
  State note_arrival(const BarrierUse& u, State s);
  State use(const BarrierUse& u, State s);
  void flow(Use what);
  State pass(size_t i, State s);
  State branch(const isa::Instruction& i, State s);
  std::optional<bool> holds(const Operand& predicate) const;
  std::optional<bool> value_of(const isa::Instruction& i, int64_t thread) const;
  enum class Kind : uint8_t { other, access, meeting, branch, end };
  Kind kind_of(const isa::Instruction& i, const isa::Footprint& f) const;
  bool elects(isa::RegId guard) const;
  void define(const isa::Instruction& i);
  bool defines_predicate(const isa::Instruction& i) const;

  const std::vector<isa::Instruction>& body_;
  const std::vector<isa::Label>& labels_;
  const std::vector<BarrierUse>& uses_;
  Known known_;
  std::vector<Kind> kinds_;                                             // of each instruction
  std::unordered_map<isa::RegId, const isa::Instruction*> predicates_;  // null: not known
  std::unordered_map<isa::RegId, bool> values_;                         // of predicates, for one thread
  std::vector<const void*> barriers_;
  std::unordered_multimap<size_t, size_t> labels_at_;
  std::vector<State> at_label_;
  State own_ = 0;  // barriers at which the thread arrives
  std::vector<bool> needed_;
  bool changed_ = false;
};

}  // namespace palladion::frontend
