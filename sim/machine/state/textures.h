#pragma once
// Texture and surface objects of one device. The bytes of an image are GMEM of the machine: linear memory, or
// an allocation made for it (a CUDA array), so that surfaces write what textures read, and checkers and
// snapshots see it.
#include <array>
#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "isa/core/effects.h"
#include "sim/launch/index.h"

namespace palladion::sim {

enum class TexelKind : uint8_t { unsigned_int, signed_int, floating };

struct TexelFormat {
  TexelKind kind = TexelKind::floating;
  int bits = 32;     // of a channel: 8, 16 or 32
  int channels = 1;  // 1, 2 or 4
  uint32_t bytes() const { return static_cast<uint32_t>(bits / 8 * channels); }
};

// One mipmap level. Texel (x, y, z) lies at address + z * slice + y * pitch + x * bytes of a texel.
struct ImageLevel {
  Address address;
  uint64_t pitch = 0, slice = 0;
  uint32_t width = 1, height = 1;
  uint32_t depth = 1;  // slices of a 3D image; layers of a layered one; 6 faces times cubes
};

struct Image {
  isa::Geometry geometry = isa::Geometry::d2;
  TexelFormat format;
  std::vector<ImageLevel> levels;  // at least one
  bool linear_memory = false;      // 1D over GMEM: read by texel numbers, zero outside
  std::string unsupported;         // why the machine does not have this image; empty: it does

  // Dense levels one after the other from `address` on: what `bytes()` of GMEM hold.
  static Image dense(isa::Geometry geometry, TexelFormat format, uint32_t width, uint32_t height,
                     uint32_t depth, Address address, uint32_t levels = 1);
  uint64_t bytes() const;
  // The object of one level, for surfaces.
  Image level(uint32_t n) const;
};

enum class AddressMode : uint8_t { wrap, clamp, mirror, border };

struct Sampling {
  std::array<AddressMode, 3> address{AddressMode::clamp, AddressMode::clamp, AddressMode::clamp};
  bool linear = false;         // else the nearest texel
  bool linear_levels = false;  // between mipmap levels
  bool normalized = false;     // coordinates from 0 to 1
  bool as_float = false;       // integers of 8 and 16 bits are read as 0 to 1, or -1 to 1
  bool srgb = false;           // 8-bit colours become linear
  std::array<float, 4> border{};
  float level_bias = 0, least_level = 0, most_level = 0;
  uint32_t anisotropy = 0;  // at most; 0 and 1: none
};

struct Texture {
  Image image;
  Sampling sampling;
};

// What the machine does not model, or the driver refuses; empty: nothing.
std::string problem_of(const Texture& texture);

class TextureTable {
 public:
  // Handles, as kernels get them in 64-bit parameters; never 0.
  uint64_t create(Texture texture);
  uint64_t create_surface(Image image);
  // The same by a handle that the caller chooses, of a launch that was recorded. False: there is one.
  bool create_at(uint64_t handle, Texture texture);
  bool create_surface_at(uint64_t handle, Image image);
  bool destroy(uint64_t handle);  // false: there is none

  const Texture* texture(uint64_t handle) const;
  const Image* surface(uint64_t handle) const;

 private:
  std::map<uint64_t, Texture> textures_;
  std::map<uint64_t, Image> surfaces_;
  uint64_t next_ = 1;
};

}  // namespace palladion::sim
