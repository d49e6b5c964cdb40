#pragma once
// A function's body as the operators and the rules look at it: what each instruction does, which values are
// there, what comes before and after.
#include <functional>
#include <optional>
#include <vector>

#include "isa/core/cfg.h"
#include "isa/core/footprint.h"
#include "isa/core/op.h"

namespace palladion::sim::check {

class Flow {
 public:
  Flow(const isa::Module& module, const isa::Function& function, const isa::ArchSpec& arch);

  const isa::Module& module() const { return module_; }
  const isa::Function& function() const { return function_; }
  const isa::ArchSpec& arch() const { return arch_; }
  uint32_t size() const { return uint32_t(function_.body.size()); }
  const isa::Instruction& at(uint32_t index) const { return function_.body[index]; }
  const isa::Effect& effect(uint32_t index) const { return effects_[index]; }
  const isa::Footprint& footprint(uint32_t index) const { return footprints_[index]; }
  template <class T>
  const T* as(uint32_t index) const {
    return std::get_if<T>(&effects_[index]);
  }
  const isa::Operand* operand(uint32_t index, int operand) const {
    return operand < 0 ? nullptr : &at(index).operands[size_t(operand)];
  }

  // Every way to `index` has passed through `by`.
  bool dominated(uint32_t index, uint32_t by) const;
  // The operand has its value from instructions that come before `index` on every way; each register is
  // written once in the function.
  bool available(const isa::Operand& operand, uint32_t index) const;

  // Visits the instructions before (after) `index`, on all ways, each once. `visit` says whether to go on
  // beyond one. True when the start of the function was reached.
  using Visit = std::function<bool(uint32_t)>;
  bool backward(uint32_t index, const Visit& visit) const;
  void forward(uint32_t index, const Visit& visit) const;

 private:
  void find_dominators();
  void find_definitions();

  const isa::Module& module_;
  const isa::Function& function_;
  const isa::ArchSpec& arch_;
  isa::Cfg cfg_;
  std::vector<isa::Effect> effects_;
  std::vector<isa::Footprint> footprints_;
  std::vector<std::vector<bool>> dominators_;       // of each block: the blocks that dominate it
  std::vector<std::vector<uint32_t>> definitions_;  // of each register: the instructions that write it
};

}  // namespace palladion::sim::check
