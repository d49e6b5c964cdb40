// Tensor maps: the 128 bytes are those of NVIDIA's driver (isa/formats/tensor_map.h).
#include "isa/formats/tensor_map.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstring>

#include "cuda/driver/state.h"

using namespace palladion::cuda::driver;

namespace {

using palladion::isa::TensorMap;
using palladion::isa::TensorMapMode;

// What the three functions have in common.
struct Common {
  int type;
  uint32_t rank;
  void* address;
  const uint64_t *dims, *strides;
  const uint32_t* element_strides;
  int interleave, swizzle, promotion, fill;
};

bool known(const Common& c) {
  return c.type >= 0 && c.type < palladion::isa::tensor_data_type_count && c.rank >= 1 &&
         c.rank <= palladion::isa::max_tensor_rank && c.interleave >= 0 && c.interleave <= 2 &&
         c.swizzle >= 0 && c.swizzle <= 6 && c.promotion >= 0 && c.promotion <= 3 && c.fill >= 0 &&
         c.fill <= 1 && c.dims != nullptr && (c.rank == 1 || c.strides != nullptr) &&
         c.element_strides != nullptr;
}

TensorMap map_of(const Common& c, TensorMapMode mode) {
  TensorMap m;
  m.mode = mode;
  m.data_type = static_cast<palladion::isa::TensorDataType>(c.type);
  m.rank = static_cast<int>(c.rank);
  m.global_address = reinterpret_cast<uint64_t>(c.address);
  std::copy_n(c.dims, c.rank, m.dims.begin());
  if (c.rank > 1) std::copy_n(c.strides, c.rank - 1, m.strides.begin());
  std::copy_n(c.element_strides, c.rank, m.element_strides.begin());
  m.interleave = static_cast<palladion::isa::Interleave>(c.interleave);
  m.swizzle = static_cast<palladion::isa::Swizzle>(c.swizzle);
  m.l2_promotion = static_cast<palladion::isa::L2Promotion>(c.promotion);
  m.oob_fill = static_cast<palladion::isa::OobFill>(c.fill);
  return m;
}

Status encoded(void* out, const TensorMap& map) {
  const auto broken = palladion::isa::validate(map, *state().arch);
  for (const std::string& rule : broken)
    fmt::print(stderr, "palladion exec: the tensor map is refused: {}\n", rule);
  if (out == nullptr || !broken.empty()) return invalid_value;
  const auto bytes = palladion::isa::encode(map);
  return std::memcpy(out, &bytes, sizeof bytes), success;
}

}  // namespace

PLD_CUDA cuTensorMapEncodeTiled(void* out, int type, uint32_t rank, void* address, const uint64_t* dims,
                                const uint64_t* strides, const uint32_t* box, const uint32_t* element_strides,
                                int interleave, int swizzle, int promotion, int fill) {
  const Common c{type, rank, address, dims, strides, element_strides, interleave, swizzle, promotion, fill};
  if (!known(c) || box == nullptr) return invalid_value;
  TensorMap map = map_of(c, TensorMapMode::tiled);
  std::copy_n(box, rank, map.box.begin());
  return encoded(out, map);
}
PLD_CUDA cuTensorMapEncodeIm2col(void* out, int type, uint32_t rank, void* address, const uint64_t* dims,
                                 const uint64_t* strides, const int* lower, const int* upper,
                                 uint32_t channels, uint32_t pixels, const uint32_t* element_strides,
                                 int interleave, int swizzle, int promotion, int fill) {
  const Common c{type, rank, address, dims, strides, element_strides, interleave, swizzle, promotion, fill};
  if (!known(c) || rank < 3 || lower == nullptr || upper == nullptr) return invalid_value;
  TensorMap map = map_of(c, TensorMapMode::im2col);
  std::copy_n(lower, rank - 2, map.lower_corner.begin());
  std::copy_n(upper, rank - 2, map.upper_corner.begin());
  map.channels_per_pixel = channels;
  map.pixels_per_column = pixels;
  return encoded(out, map);
}
PLD_CUDA cuTensorMapEncodeIm2colWide(void* out, int type, uint32_t rank, void* address, const uint64_t* dims,
                                     const uint64_t* strides, int lower, int upper, uint32_t channels,
                                     uint32_t pixels, const uint32_t* element_strides, int interleave,
                                     int mode, int swizzle, int promotion, int fill) {
  const Common c{type, rank, address, dims, strides, element_strides, interleave, swizzle, promotion, fill};
  if (!known(c) || rank < 3 || mode < 0 || mode > 1) return invalid_value;
  TensorMap map = map_of(c, mode == 0 ? TensorMapMode::im2col_w : TensorMapMode::im2col_w_128);
  map.lower_corner[0] = lower;
  map.upper_corner[0] = upper;
  map.channels_per_pixel = channels;
  map.pixels_per_column = pixels;
  return encoded(out, map);
}
PLD_CUDA cuTensorMapReplaceAddress(void* map, void* address) {
  if (map == nullptr) return invalid_value;
  const std::span<std::byte, palladion::isa::tensor_map_bytes> bytes(static_cast<std::byte*>(map),
                                                                     palladion::isa::tensor_map_bytes);
  const auto done = palladion::isa::replace_field(bytes, palladion::isa::TensorMapField::global_address, 0,
                                                  reinterpret_cast<uint64_t>(address));
  return done ? success : invalid_value;
}
