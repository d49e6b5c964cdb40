#include "cuda/driver/cudnn/pointwise.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <numbers>

namespace palladion::cuda::cudnn {
namespace {

namespace PointwiseMode {  // cudnnPointwiseMode_t
enum : int {
  add = 0,
  multiply = 1,
  minimum = 2,
  maximum = 3,
  square_root = 4,
  divide = 6,
  subtract = 9,
  absolute = 10,
  exponential = 13,
  logarithm = 15,
  negate = 16,
  rsqrt = 17,
  identity = 21,
  reciprocal = 22,
  relu = 100,
  tanh = 101,
  sigmoid = 102,
  elu = 103,
  gelu = 104,
  softplus = 105,
  swish = 106,
  gelu_tanh = 107,
};
}  // namespace PointwiseMode
constexpr int first_of_relu = 3;  // CUDNN_ATTR_POINTWISE_RELU_LOWER_CLIP, upper clip, slope
constexpr int of_elu = 6, of_softplus = 7, of_swish = 8, scale_of_x = 754, scale_of_b = 755;

double sigmoid_of(double x) { return 1 / (1 + std::exp(-x)); }

double limited(const Function& f, double x) {
  if (std::isnan(x)) return x;
  return x > f.lower ? std::min(x, f.upper) : f.lower + f.slope * (x - f.lower);
}

double of_one(const Function& f, double x) {
  switch (f.mode) {
    case PointwiseMode::square_root:
      return std::sqrt(x);
    case PointwiseMode::absolute:
      return std::abs(x);
    case PointwiseMode::exponential:
      return std::exp(x);
    case PointwiseMode::logarithm:
      return std::log(x);
    case PointwiseMode::negate:
      return -x;
    case PointwiseMode::rsqrt:
      return 1 / std::sqrt(x);
    case PointwiseMode::reciprocal:
      return 1 / x;
    case PointwiseMode::relu:
      return limited(f, x);
    case PointwiseMode::tanh:
      return std::tanh(x);
    case PointwiseMode::sigmoid:
      return sigmoid_of(x);
    case PointwiseMode::elu:
      return x > 0 ? x : f.alpha * std::expm1(x);
    case PointwiseMode::gelu:
      return x / 2 * (1 + std::erf(x / std::numbers::sqrt2));
    case PointwiseMode::softplus:
      return std::log1p(std::exp(f.beta * x)) / f.beta;
    case PointwiseMode::swish:
      return x * sigmoid_of(f.beta * x);
    case PointwiseMode::gelu_tanh:
      return x / 2 * (1 + std::tanh(std::sqrt(2 / std::numbers::pi) * (x + 0.044715 * x * x * x)));
    default:
      return x;
  }
}

double of_two(int mode, double x, double b) {
  switch (mode) {
    case PointwiseMode::multiply:
      return x * b;
    case PointwiseMode::minimum:
      return std::isnan(x) || x < b ? x : b;
    case PointwiseMode::maximum:
      return std::isnan(x) || x > b ? x : b;
    case PointwiseMode::divide:
      return x / b;
    case PointwiseMode::subtract:
      return x - b;
    default:
      return x + b;
  }
}

// Where the elements of y find those of a tensor that fits.
std::vector<int64_t> places(const Tensor& of, const Tensor& y) {
  std::vector<int64_t> strides = dense_strides(of.sizes);
  strides.resize(y.sizes.size(), 0);
  for (size_t d = 0; d < std::min(of.sizes.size(), y.sizes.size()); ++d)
    if (of.sizes[d] == 1) strides[d] = 0;
  return offsets(y.sizes, strides);
}

}  // namespace

bool fits(const Tensor& of, const Tensor& y) {
  const auto size = [](const Tensor& t, size_t d) { return d < t.sizes.size() ? t.sizes[d] : 1; };
  for (size_t d = 0; d < std::max(of.sizes.size(), y.sizes.size()); ++d)
    if (size(of, d) != 1 && size(of, d) != size(y, d)) return false;
  return true;
}

bool Function::has_two() const {
  return mode == PointwiseMode::add || mode == PointwiseMode::multiply || mode == PointwiseMode::minimum ||
         mode == PointwiseMode::maximum || mode == PointwiseMode::divide || mode == PointwiseMode::subtract;
}
bool Function::is_known() const {
  constexpr int of_one_argument[] = {
      PointwiseMode::square_root, PointwiseMode::absolute,   PointwiseMode::exponential,
      PointwiseMode::logarithm,   PointwiseMode::negate,     PointwiseMode::rsqrt,
      PointwiseMode::identity,    PointwiseMode::reciprocal, PointwiseMode::relu,
      PointwiseMode::tanh,        PointwiseMode::sigmoid,    PointwiseMode::elu,
      PointwiseMode::gelu,        PointwiseMode::softplus,   PointwiseMode::swish,
      PointwiseMode::gelu_tanh};
  return has_two() || std::ranges::find(of_one_argument, mode) != std::ranges::end(of_one_argument);
}
double Function::operator()(double x, double b) const {
  return has_two() ? of_two(mode, first * x, second * b) : of_one(*this, first * x);
}

Function function_of(const Contents& function, const Contents& operation) {
  Function f;
  f.mode = static_cast<int>(function.integer(0, PointwiseMode::identity));
  f.lower = function.real(first_of_relu, 0);
  f.upper = function.real(first_of_relu + 1, std::numeric_limits<double>::infinity());
  f.slope = function.real(first_of_relu + 2, 0);
  f.alpha = function.real(of_elu, 1);
  f.beta = function.real(f.mode == PointwiseMode::swish ? of_swish : of_softplus, 1);
  f.first = operation.real(scale_of_x, 1);
  f.second = operation.real(scale_of_b, 1);
  return f;
}

Values pointwise(const Function& f, const Tensor& x, const Values& x_values, const Tensor& b,
                 const Values& b_values, const Tensor& y) {
  const std::vector<int64_t> of_x = places(x, y);
  const std::vector<int64_t> of_b = f.has_two() ? places(b, y) : std::vector<int64_t>(of_x.size(), 0);
  Values out(of_x.size());
  for (size_t i = 0; i < out.size(); ++i)
    out[i] =
        f(x_values[static_cast<size_t>(of_x[i])], f.has_two() ? b_values[static_cast<size_t>(of_b[i])] : 0);
  return out;
}

}  // namespace palladion::cuda::cudnn
