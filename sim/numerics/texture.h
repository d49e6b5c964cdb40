#pragma once
// The texture unit's arithmetic: positions and weights of filtering, numbers of texels outside the image,
// texels as numbers. Pure functions; sim/machine/exec/textures.cpp reads the texels.
#include <cstdint>
#include <optional>

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

float normalised(uint32_t value, int bits, bool is_signed);
float srgb_to_linear(uint8_t value);

// A direction's face of a cube, and the position on it from 0 to 1.
struct CubePosition {
  uint32_t face = 0;
  double s = 0, t = 0;
};
CubePosition cube_position(float x, float y, float z);

// The sum of up to 16 products of a value and a weight (of `unit` in all).
struct Weighted {
  float value = 0;
  double weight = 0;  // a multiple of 2^-32
};
float filtered(const Weighted* terms, int count);

}  // namespace palladion::sim::numerics::texture
