#pragma once
// CUDA arrays, and the texture and surface objects that a launch may name by 64-bit handles. Values and
// limits are the CUDA driver API's: "Texture Object Management", "Surface Object Management",
// cuArray3DCreate.
#include <array>
#include <cstdint>
#include <string>
#include <string_view>

#include "cuda/bundle/contents.h"

namespace palladion::cuda::bundle {

// What a texel is made of.
struct Texel {
  enum class Format : uint8_t { u8, u16, u32, s8, s16, s32, f16, f32 };
  Format format = Format::f32;  // of a channel
  uint32_t channels = 1;        // 1, 2 or 4
};
inline constexpr std::array<std::string_view, 8> format_names{"u8",  "u16", "u32", "s8",
                                                              "s16", "s32", "f16", "f32"};
uint64_t bytes_of(const Texel& texel);

// A CUDA array, or all levels of a mipmapped one. Its contents are those of the levels, the largest first,
// each dense: texels of a row, rows of a slice, slices (of a volume, layers, or faces of cubes).
struct TexelArray {
  std::string name;  // "array0"
  Texel texel;
  std::array<uint32_t, 3> size{1, 0, 0};  // width, height, depth as cuArray3DCreate takes them: 0 is none
  bool layered = false, cubemap = false;
  uint32_t levels = 1;
  Contents before, after;
};
// Of all levels, at most 4 GiB each. 0: the size is none of an array.
uint64_t bytes_of(const TexelArray& array);

// How a texture is read: CUDA_TEXTURE_DESC.
struct Sampling {
  enum class Address : uint8_t { wrap, clamp, mirror, border };  // CUaddress_mode
  std::array<Address, 3> address{Address::wrap, Address::wrap, Address::wrap};
  bool linear = false, linear_levels = false;
  bool normalized = false, integers = false, srgb = false, seamless = false;
  uint32_t anisotropy = 0;
  // Bits of f32: level bias, least and most level, the border's four channels.
  std::array<uint32_t, 7> numbers{};
};

inline constexpr std::array<std::string_view, 4> address_names{"wrap", "clamp", "mirror", "border"};

// A part of an array, or its texels as another type: CUDA_RESOURCE_VIEW_DESC.
struct View {
  bool other_texel = false;
  Texel texel;
  uint32_t first_level = 0, last_level = 0, first_layer = 0, last_layer = 0;
};

struct Object {
  enum class Kind : uint8_t { texture, surface };
  enum class Resource : uint8_t {
    array,
    linear,       // 1D, `size[0]` texels at `address`
    pitched,      // 2D, rows of `pitch` bytes at `address`
    unsupported,  // `reason` says why it is not recorded
  };
  Kind kind = Kind::texture;
  uint64_t handle = 0;
  Resource resource = Resource::array;
  std::string array;   // its name
  uint32_t level = 0;  // of a surface on a level of a mipmapped array, or a texture of one level
  bool one_level = false;
  uint64_t address = 0, pitch = 0;  // linear, pitched
  std::array<uint64_t, 2> size{};
  Texel texel;
  std::string reason;
  Sampling sampling;  // of a texture
  bool has_view = false;
  View view;
};

// Lists of JSON, as `text` of a manifest holds them.
std::string text(const TexelArray& array);
std::string text(const Object& object);

}  // namespace palladion::cuda::bundle
