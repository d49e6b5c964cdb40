#include "sim/numerics/texture.h"

#include <algorithm>
#include <cmath>

namespace palladion::sim::numerics::texture {
namespace {

// Beyond it no image has texels; NaN is 0.
double bounded(double v) {
  constexpr double most = 1e12;
  return std::isnan(v) ? 0 : std::clamp(v, -most, most);
}

}  // namespace

Position linear_position(double texel) {
  const auto fixed = static_cast<int64_t>(std::floor(bounded(texel - 0.5) * whole_weight + 0.5));
  return {fixed >> 8, static_cast<uint32_t>(fixed & 255)};
}

int64_t nearest(double texel) { return static_cast<int64_t>(std::floor(bounded(texel))); }

std::optional<uint32_t> inside(int64_t index, uint32_t size, Outside mode) {
  const int64_t n = size;
  switch (mode) {
    case Outside::wrap:
      return static_cast<uint32_t>(((index % n) + n) % n);
    case Outside::mirror: {
      const int64_t twice = ((index % (2 * n)) + 2 * n) % (2 * n);
      return static_cast<uint32_t>(twice < n ? twice : 2 * n - 1 - twice);
    }
    case Outside::clamp:
      return static_cast<uint32_t>(std::clamp<int64_t>(index, 0, n - 1));
    case Outside::border:
      break;
  }
  if (index < 0 || index >= n) return std::nullopt;
  return static_cast<uint32_t>(index);
}

float normalised(uint32_t value, int bits, bool is_signed) {
  if (!is_signed) return static_cast<float>(value / static_cast<double>((1U << bits) - 1));
  const int32_t number = static_cast<int32_t>(value << (32 - bits)) >> (32 - bits);
  return static_cast<float>(std::max(number / static_cast<double>((1 << (bits - 1)) - 1), -1.0));
}

float srgb_to_linear(uint8_t value) {
  const double c = value / 255.0;
  return static_cast<float>(c <= 0.04045 ? c / 12.92 : std::pow((c + 0.055) / 1.055, 2.4));
}

CubePosition cube_position(float x, float y, float z) {
  const float ax = std::fabs(x), ay = std::fabs(y), az = std::fabs(z);
  uint32_t face = 0;
  double s = 0, t = 0, major = 0;
  if (az >= ax && az >= ay) {
    face = z >= 0 ? 4 : 5;
    s = z >= 0 ? x : -x;
    t = -y;
    major = az;
  } else if (ay >= ax) {
    face = y >= 0 ? 2 : 3;
    s = x;
    t = y >= 0 ? z : -z;
    major = ay;
  } else {
    face = x >= 0 ? 0 : 1;
    s = x >= 0 ? -z : z;
    t = -y;
    major = ax;
  }
  return {face, (s / major + 1) / 2, (t / major + 1) / 2};
}

float filtered(const Weighted* terms, int count) {
  double sum = 0;
  for (int i = 0; i < count; ++i)
    if (terms[i].weight != 0) sum += terms[i].weight * terms[i].value;
  return static_cast<float>(sum);
}

}  // namespace palladion::sim::numerics::texture
