#pragma once
// The parameters of a kernel: each array, and each tensor map of one, is one, loaded at the kernel's entry.
#include <optional>
#include <string>
#include <string_view>
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
  // Numbers given at launch: each is a parameter, in this order, also where the kernel does not read it.
  void declare(plgpu::ScalarParam scalar);
  // Its register; none where no such scalar is declared.
  std::optional<Operand> scalar(std::string_view name);

  const std::vector<plgpu::Param>& list() const { return params_; }

 private:
  Operand pointer(plgpu::Param param);
  isa::SymbolId add(isa::Variable variable);
  Operand keep(plgpu::Param param, Operand value);

  Emitter& emitter_;
  std::vector<plgpu::Param> params_;
  std::vector<Operand> values_;  // of each; of a scalar its symbol
};

}  // namespace palladion::frontend
