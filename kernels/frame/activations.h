#pragma once
// Functions that a matrix product may apply to its result, for kernels and for their references.
#include <functional>
#include <string>

#include "frontend/plgpu.h"
#include "kernels/frame/spec.h"

namespace palladion::kernels {

struct Activation {
  std::string name;
  std::function<plgpu::Array(const plgpu::Array&)> apply;
  std::function<double(double)> on_host;
  double steepest = 1;  // the largest slope: how much it widens an error of its argument
  double error = 0;     // of its own, absolute, near 1
};

// none, relu, gelu (with tanh).
const Activation& activation_named(const std::string& name);
Setting activation_setting();
Array activated(const Array& x, const Activation& activation, pl::DType out);
// What remains of a tolerance behind an activation.
Tolerance activated(const Tolerance& before, const Activation& activation);

}  // namespace palladion::kernels
