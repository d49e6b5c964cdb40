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

double cut(double coordinate) {
  constexpr double scale = 1 << 21;
  return std::floor(coordinate * scale) / scale;
}

std::array<uint32_t, 8> corner_weights(const std::array<uint32_t, 3>& weights, int dimensions) {
  const auto [a, b, c] = weights;
  std::array<uint32_t, 8> out{whole_weight - a, a};
  if (dimensions == 2) {
    const uint32_t both = part_of(a, b);
    out = {whole_weight - a - b + both, a - both, b - both, both};
  } else if (dimensions == 3) {  // slices first, then columns, then rows
    const uint32_t far = part_of(a, c);
    const uint32_t columns[2][2] = {{whole_weight - a - c + far, a - far}, {c - far, far}};
    for (size_t z = 0; z < 2; ++z) {
      for (size_t x = 0; x < 2; ++x) {
        const uint32_t lower = part_of(columns[z][x], b);
        out[4 * z + x] = columns[z][x] - lower;
        out[4 * z + 2 + x] = lower;
      }
    }
  }
  return out;
}

int32_t widened(uint32_t value, int bits, bool is_signed) {
  if (!is_signed) return static_cast<int32_t>(bits == 8 ? value * 257 : value);
  const int32_t number = static_cast<int32_t>(value << (32 - bits)) >> (32 - bits);
  const int32_t most = (1 << (bits - 1)) - 1;
  const int32_t size = std::min(std::abs(number), most);
  const int32_t wide = bits == 8 ? size << 8 | size << 1 | size >> 6 : size;
  return number < 0 ? -wide : wide;
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
  if (precision == Precision::unorm16) return static_cast<float>(rounded(sum, 1) / 65535);
  if (precision == Precision::snorm16) return static_cast<float>(rounded(sum, 1) / 32767);
  if (sum == 0 || !std::isfinite(sum)) return static_cast<float>(sum);
  const bool half = precision == Precision::f16;
  const int exponent = std::max(std::ilogb(sum), half ? -14 : -126);
  return static_cast<float>(rounded(sum, std::ldexp(1.0, exponent - (half ? 10 : 23))));
}

}  // namespace palladion::sim::numerics::texture
