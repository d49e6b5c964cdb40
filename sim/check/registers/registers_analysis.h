#pragma once
// Where a register may be read that was never written, found once a program: a forward dataflow of "may be
// unwritten". Only registers with such a use are tracked, and only their uses and definitions are watched.
//
// The rule. A register of a lane is unwritten until an instruction writes it. Moves, selections and
// arithmetic carry that on (a pack of several registers only when all are unwritten); instructions whose
// result may be defined all the same (and, or, xor, shifts, bit fields, permutes, shuffles, votes) end it. It
// is a finding when an unwritten value matters: as an address, a guard, a branch index, an operand of a
// barrier or of a copy, in a matrix operation (error); as the data of a store or an atomic (strict: another
// thread might never read it).
#include <cstdint>
#include <vector>

#include "isa/core/cfg.h"
#include "sim/check/registers/watch.h"

namespace palladion::sim::check {

// Where the value of a register matters.
enum class RegisterSink : uint8_t { address, guard, operand, matrix, accumulator, data };
// What it means that the value is used; false: nothing, or it is an operand of a computation.
bool sink_of(const Program& program, const MicroOp& op, const RegisterUse& use, RegisterSink& sink);
Does does_with(RegisterSink sink);

class UnwrittenAnalysis {
 public:
  // What an instruction does with an unwritten source.
  enum class Rule : uint8_t { ends, any, all, select };
  using Sink = RegisterSink;
  struct Use {
    uint32_t tracked = 0;
    Sink sink = Sink::operand;
  };
  struct Watched {
    Rule rule = Rule::ends;
    std::vector<uint32_t> sources, destinations;  // tracked
    std::vector<Use> sinks;
    uint32_t source_count = 0;  // registers read as values, tracked or not
    // select: the tracked registers of d = c ? a : b that may be unwritten; `none` otherwise.
    uint32_t selected[2] = {none, none}, selector = none;
    uint32_t address_lanes = ~0U;  // those whose addresses count
  };
  static constexpr uint32_t none = ~0U;

  explicit UnwrittenAnalysis(const Program& program);

  bool watches(Pc pc) const { return watched_of_[pc] != 0; }
  const Watched& watched(Pc pc) const { return watched_[watched_of_[pc] - 1]; }
  uint32_t tracked() const { return static_cast<uint32_t>(registers_.size()); }
  uint32_t register_at(uint32_t tracked) const { return registers_[tracked]; }

 private:
  // One byte a candidate: may be unwritten.
  using State = std::vector<uint8_t>;
  void find_candidates(const Program& program, uint32_t function, const isa::Cfg& cfg);
  bool may_be_unwritten(const State& unwritten, uint32_t reg) const {
    return candidate_of_[reg] != 0 && unwritten[candidate_of_[reg] - 1] != 0;
  }
  bool passes_on(const Program& program, const MicroOp& op, const State& unwritten) const;
  void flow_over(const Program& program, const MicroOp& op, State& unwritten) const;
  template <class Visit>
  void walk(const Program& program, uint32_t function, const isa::Cfg& cfg, const std::vector<State>& at,
            Visit&& visit) const;
  void find_tracked(const Program& program, uint32_t function);
  void watch(const Program& program, const MicroOp& op, const State& unwritten);

  std::vector<uint32_t> watched_of_;  // by pc; index + 1
  std::vector<Watched> watched_;
  std::vector<uint32_t> registers_, tracked_of_;  // tracked_of_: by register, index + 1
  // Registers of this function that may be unwritten where they are read: in most functions none.
  std::vector<uint32_t> candidates_, candidate_of_;  // candidate_of_: by register, index + 1
};

}  // namespace palladion::sim::check
