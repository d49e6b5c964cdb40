#pragma once
// The parameters of a kernel: each array, and each tensor map of one, is one, loaded at the kernel's entry.
#include <string>
#include <vector>

#include "frontend/core/emitter.h"
#include "frontend/core/launch.h"

namespace palladion::frontend {

class Parameters {
 public:
  explicit Parameters(Emitter& emitter) : emitter_(emitter) {}

  Operand array_pointer(int array);                          // its global address
  Operand tensor_map(int array, const isa::TensorMap& map);  // its generic address
  Operand scratch_array(int64_t bytes, std::string name);    // global address of a new one
  Operand profile_pointer();

  const std::vector<plgpu::Param>& list() const { return params_; }

 private:
  Operand pointer(plgpu::Param param);
  isa::SymbolId add(isa::Variable variable);
  Operand keep(plgpu::Param param, Operand value);

  Emitter& emitter_;
  std::vector<plgpu::Param> params_;
  std::vector<Operand> values_;  // of each
};

}  // namespace palladion::frontend
