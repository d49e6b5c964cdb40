#include "kernels/frame/activations.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <numbers>

namespace palladion::kernels {
namespace {

// Hendrycks and Gimpel, "Gaussian Error Linear Units", with tanh.
constexpr double gelu_cubic = 0.044715;
const double gelu_scale = std::sqrt(2 / std::numbers::pi);

plgpu::Array gelu(const plgpu::Array& x) {
  const plgpu::Array inner = (x + x * x * x * gelu_cubic) * gelu_scale;
  return x * 0.5 * (plgpu::tanh(inner) + 1);
}
double gelu_on_host(double x) { return 0.5 * x * (1 + std::tanh(gelu_scale * (x + gelu_cubic * x * x * x))); }

}  // namespace

const Activation& activation_named(const std::string& name) {
  static const std::array<Activation, 3> all = {
      Activation{"none", [](const plgpu::Array& x) { return x; }, [](double x) { return x; }},
      Activation{"relu", [](const plgpu::Array& x) { return plgpu::maximum(x, 0); },
                 [](double x) { return std::max(x, 0.0); }},
      Activation{"gelu", gelu, gelu_on_host, 1.13, 1e-5}};
  const auto at = std::ranges::find(all, name, &Activation::name);
  return at == all.end() ? all[0] : *at;
}

Setting activation_setting() {
  return {"activation", "none", "applied to the product", {"none", "relu", "gelu"}};
}

Array activated(const Array& x, const Activation& activation, pl::DType out) {
  std::vector<double> values = to_doubles(x);
  for (double& v : values) v = activation.on_host(v);
  return from_doubles({out, x.type.shape}, values);
}

Tolerance activated(const Tolerance& before, const Activation& activation) {
  return {.relative = before.relative * activation.steepest,
          .absolute = before.absolute * activation.steepest + activation.error};
}

}  // namespace palladion::kernels
