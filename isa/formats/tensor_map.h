#pragma once
// A tensor map as a value: the description of a tensor in global memory that a TMA instruction reads (CUDA
// driver API, "Tensor Map Object Management"; PTX, "Tensors") and its 128 bytes, which live in parameters,
// constants or global memory, are copied, and are edited by tensormap.replace.
#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include <tl/expected.hpp>

#include "isa/core/effects.h"
#include "isa/formats/swizzle.h"

namespace palladion::isa {

struct ArchSpec;

inline constexpr int max_tensor_rank = 5;
inline constexpr int tensor_map_bytes = 128;
inline constexpr int tensor_map_alignment = 64;
// "Shared memory address must be 128-byte aligned" (CUDA programming guide, TMA).
inline constexpr uint32_t tensor_copy_shared_alignment = 128;

// The driver's CUtensorMapDataType numbers.
enum class TensorDataType : uint8_t {
  u8,
  u16,
  u32,
  s32,
  u64,
  s64,
  f16,
  f32,
  f64,
  bf16,
  f32_ftz,
  tf32,
  tf32_ftz,
  u4x16_align8b,
  u4x16_align16b,
  u6x16_align16b
};
inline constexpr int tensor_data_type_count = 16;

int bits(TensorDataType type);  // of one element in global memory
bool is_float(TensorDataType type);
bool is_packed(TensorDataType type);  // the 4- and 6-bit types of sm_100
// What TMA moves as one piece along dimension 0. Sixteen elements of an ALIGN16B type take 8 or 12 bytes of
// global memory and 16 of shared memory, the upper 8 or 4 of which hold nothing.
struct TensorUnit {
  int elements = 1, bytes = 1, tile_bytes = 1;
};
TensorUnit unit_of(TensorDataType type);
std::string_view name(TensorDataType type);  // "FLOAT16", as the driver says it
// The type for a tensor of this PTX type; none for types that TMA cannot carry. fp8 is u8.
std::optional<TensorDataType> tensor_data_type(Type type);

// tensormap.replace.elemtype numbers its types differently from the driver.
std::optional<TensorDataType> data_type_of_replace_number(uint32_t number);
uint32_t replace_number(TensorDataType type);

enum class TensorMapMode : uint8_t { tiled, im2col, im2col_w, im2col_w_128 };
std::string_view name(TensorMapMode mode);  // ".im2col::w", as instructions name it
enum class Interleave : uint8_t { none, b16, b32 };
enum class L2Promotion : uint8_t { none, b64, b128, b256 };
enum class OobFill : uint8_t { zero, nan_request_zero_fma };

// All arrays are innermost dimension first.
struct TensorMap {
  TensorMapMode mode = TensorMapMode::tiled;
  TensorDataType data_type = TensorDataType::u8;
  int rank = 1;
  uint64_t global_address = 0;
  std::array<uint64_t, 5> dims{};     // elements
  std::array<uint64_t, 4> strides{};  // bytes; [i] steps dimension i + 1
  std::array<uint32_t, 5> box{};      // elements traversed; tiled only
  std::array<uint32_t, 5> element_strides{1, 1, 1, 1, 1};
  Interleave interleave = Interleave::none;
  Swizzle swizzle = Swizzle::none;
  L2Promotion l2_promotion = L2Promotion::none;
  OobFill oob_fill = OobFill::zero;
  // im2col: the bounding box of dimensions 1 .. rank - 2 (W, then H, then D), as offsets from the
  // tensor's first and last element of each; im2col_w and im2col_w_128: of W alone.
  std::array<int32_t, 3> lower_corner{};
  std::array<int32_t, 3> upper_corner{};
  uint32_t channels_per_pixel = 0;
  uint32_t pixels_per_column = 0;
  friend bool operator==(const TensorMap&, const TensorMap&) = default;

  int element_bytes() const { return bits(data_type) / 8; }  // 0 for packed types
  bool is_im2col() const { return mode != TensorMapMode::tiled; }
  // Elements that a copy moves along dimension i of a tiled map.
  uint32_t box_count(int i) const {
    const uint32_t step = i == 0 && interleave == Interleave::none ? 1 : element_strides[i];
    return (box[i] + step - 1) / step;
  }
};

// Every rule of the driver that the map breaks, in words that name the field and the limit; empty when
// the map is valid.
std::vector<std::string> validate(const TensorMap& map, const ArchSpec& arch);

// Why copies of this direction cannot use the map, which is valid otherwise; empty when they can.
std::string why_not_copied(const TensorMap& map, bool load);

// ---- the 128 bytes ------------------------------------------------------------------------------
// As the driver writes them and ptxas edits them (tensor_map_layout.md): maps of a device and ours are the
// same.
struct alignas(tensor_map_alignment) EncodedTensorMap {
  std::array<std::byte, tensor_map_bytes> bytes{};
};

// Of a map that validate accepts. Dimensions beyond the rank are zeros.
EncodedTensorMap encode(const TensorMap& map);
// The text says why these bytes are no tensor map (zeros, bits set that no field has, a combination of
// swizzle mode and atomicity that does not exist, ...). Rules of size are validate's.
tl::expected<TensorMap, std::string> decode_tensor_map(std::span<const std::byte, tensor_map_bytes> bytes);

// ---- tensormap.replace ---------------------------------------------------------------------------
std::optional<TensorMapField> tensor_map_field_named(std::string_view s);
std::string_view name(TensorMapField field);
bool has_ordinal(TensorMapField field);

// Writes one field of an encoded map. `value` is the instruction's: `rank` is the rank less one,
// elemtype, swizzle_mode etc. are PTX's own numbers, global_stride is in bytes (PTX before 8.5 took
// bytes / 16: the caller multiplies). The text says why the replacement is impossible, also where the
// value does not fit into the field's bits, which the chip cuts off.
tl::expected<void, std::string> replace_field(std::span<std::byte, tensor_map_bytes> bytes,
                                              TensorMapField field, int ordinal, uint64_t value);

}  // namespace palladion::isa
