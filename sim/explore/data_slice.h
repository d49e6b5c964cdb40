#pragma once
// What may depend on data, by the text of a program: the registers that hold what was loaded, or made of it,
// and that can get into what decides what happens. A run needs to look at these alone.
#include <vector>

#include "sim/program/deciding.h"

namespace palladion::sim::check {

// What is followed: loaded values, or which cluster of the grid it is whose work a cluster does.
enum class Sources : uint8_t { data, work };

class DataSlice {
 public:
  DataSlice() = default;
  explicit DataSlice(const Program& program, Sources sources = Sources::data);

  // Nothing that decides can depend on data.
  bool empty() const { return empty_; }
  // The instruction computes such a register, or is decided by one.
  bool watches(Pc pc) const { return watched_[pc] != 0; }
  // A branch that decides values alone, which get into nothing that decides more; of data.
  bool is_harmless(Pc pc) const { return harmless_[pc]; }
  // A place among the registers that are tracked; no_id: it is not.
  uint32_t index_of(uint32_t reg) const { return index_[reg]; }
  uint32_t tracked() const { return tracked_; }
  // Values come through shared or local memory.
  bool through_memory() const { return through_memory_; }

 private:
  bool gives(const Program& program, const MicroOp& op) const;
  std::vector<bool> find_deciding(const Program& program);
  std::vector<bool> deciding_without_harmless(const Program& program);
  void find_data(const Program& program, std::vector<bool>& data) const;
  bool loads_for_decisions(const Program& program, const std::vector<bool>& deciding) const;

  Sources sources_ = Sources::data;
  bool empty_ = true, through_memory_ = false, has_calls_ = false;
  std::vector<bool> harmless_;    // by pc
  std::vector<uint8_t> watched_;  // by pc
  std::vector<uint32_t> index_;   // by register
  uint32_t tracked_ = 0;
};

// What happens depends on the operand. Arguments of calls in registers are not followed, so they do; where a
// prefetch goes does not matter.
inline bool matters(const isa::Footprint& f, const RegisterUse& use) {
  return !f.hint && (decides(f, use) || (use.reads && f.next == isa::Control::calls));
}
// Its results are data, or what lanes stored: loads, atomics, products. `calls`: parameters of functions are
// memory as well.
bool gives_data(const isa::Footprint& f, bool calls);
// It tells which cluster of the grid this one is, or where that is executed.
bool tells_of_cluster(isa::Special special);

}  // namespace palladion::sim::check
