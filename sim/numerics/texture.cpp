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
  const auto fixed = static_cast<int64_t>(std::floor((bounded(texel) - 0.5) * whole_weight + 0.5));
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

double cut(double coordinate) {
  constexpr double scale = 1 << 21;
  return std::floor(coordinate * scale) / scale;
}

std::array<uint32_t, 8> corner_weights(uint32_t total, const std::array<uint32_t, 3>& weights,
                                       int dimensions) {
  const auto [a, b, c] = weights;
  const uint32_t far = dimensions == 3 ? part_of(total, c) : 0;
  const uint32_t slices[2] = {total - far, far};
  std::array<uint32_t, 8> out{};
  for (size_t z = 0; z < (dimensions == 3 ? 2 : 1); ++z) {
    const uint32_t right = part_of(slices[z], a), left = slices[z] - right;
    if (dimensions == 1) {
      out[0] = left;
      out[1] = right;
      continue;
    }
    out[4 * z] = part_of(left, whole_weight - b);
    out[4 * z + 2] = left - out[4 * z];
    out[4 * z + 3] = part_of(right, b);
    out[4 * z + 1] = right - out[4 * z + 3];
  }
  return out;
}

int32_t widened(uint32_t value, int bits, bool is_signed) {
  if (!is_signed) return static_cast<int32_t>(bits == 8 ? value * 257 : value);
  const int32_t number = static_cast<int32_t>(value << (32 - bits)) >> (32 - bits);
  const int32_t most = (1 << (bits - 1)) - 1;
  const int32_t size = std::min(std::abs(number), most);
  return number < 0 ? -size : size;
}

namespace {

// To a multiple of `unit`, ties away from zero.
double rounded(double v, double unit) {
  return std::copysign(std::floor(std::fabs(v) / unit + 0.5) * unit, v);
}

}  // namespace

float filtered(std::span<const Weighted> terms, Precision precision) {
  double sum = 0;
  for (const Weighted& t : terms)
    if (t.weight != 0) sum += t.weight * t.value;
  sum /= whole_weight;
  if (precision == Precision::unorm16) return static_cast<float>(std::floor(sum + 0.5) / 65535);
  if (precision == Precision::snorm16) return static_cast<float>(std::floor(sum + 0.5) / 32767);
  if (sum == 0 || !std::isfinite(sum)) return static_cast<float>(sum);
  const bool half = precision == Precision::f16;
  const int exponent = std::max(std::ilogb(sum), half ? -14 : -126);
  return static_cast<float>(rounded(sum, std::ldexp(1.0, exponent - (half ? 10 : 23))));
}

}  // namespace palladion::sim::numerics::texture
