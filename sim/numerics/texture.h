#pragma once
// The texture unit's arithmetic: positions and weights of filtering, numbers of texels outside the image,
// texels as numbers. Pure functions; sim/machine/exec/textures.cpp reads the texels.
#include <array>
#include <cstdint>
#include <optional>
#include <span>

namespace palladion::sim::numerics::texture {

// A position between texels `index` and `index` + 1: `weight` / 256 of the latter (fixed point with 8 bits).
struct Position {
  int64_t index = 0;
  uint32_t weight = 0;
};
inline constexpr uint32_t whole_weight = 256;

Position linear_position(double texel);  // in texels; texel n reaches from n to n + 1
int64_t nearest(double texel);

enum class Outside : uint8_t { wrap, clamp, mirror, border };
// The texel that stands for `index`; nothing: the border's colour.
std::optional<uint32_t> inside(int64_t index, uint32_t size, Outside mode);

// A direction's face of a cube, and the position on it from 0 to 1.
struct CubePosition {
  uint32_t face = 0;
  double s = 0, t = 0;
};
CubePosition cube_position(float x, float y, float z);

// `total` of 256 split over the 2, 4 or 8 corners (bit d of a corner's number: the next texel along d): over
// slices, then columns, then rows, each product rounded to a multiple of 1/256 and the rest a difference.
std::array<uint32_t, 8> corner_weights(uint32_t total, const std::array<uint32_t, 3>& weights,
                                       int dimensions);
// A part of 256 of a weight, rounded.
inline uint32_t part_of(uint32_t weight, uint32_t part) { return (weight * part + 128) >> 8; }
// A normalised coordinate as the unit takes it: 21 bits behind the point.
double cut(double coordinate);

// How sums are rounded: to the texel's floating type, or to integers of 16 bits (normalised integers of 8
// bits are widened first). Ties of floats go away from
// zero, of integers up.
enum class Precision : uint8_t { f32, f16, unorm16, snorm16 };
struct Weighted {
  double value = 0;     // of unorm16, snorm16: the integer
  uint32_t weight = 0;  // of 256
};
float filtered(std::span<const Weighted> terms, Precision precision);
// A normalised integer as the filter takes it: 255 of 8 bits is 65535, signed ones stay but for -128, which
// is -127.
int32_t widened(uint32_t value, int bits, bool is_signed);

}  // namespace palladion::sim::numerics::texture
