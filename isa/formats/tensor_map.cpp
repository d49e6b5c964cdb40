#include "isa/formats/tensor_map.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstring>

namespace palladion::isa {
namespace {

struct DataTypeFacts {
  std::string_view name;
  uint8_t bits;
  bool floating;
  uint8_t replace_number;  // PTX, "tensormap.replace", table of .elemtype values
};

constexpr DataTypeFacts facts[tensor_data_type_count] = {
    {"UINT8", 8, false, 0},          {"UINT16", 16, false, 1},       {"UINT32", 32, false, 2},
    {"INT32", 32, false, 3},         {"UINT64", 64, false, 4},       {"INT64", 64, false, 5},
    {"FLOAT16", 16, true, 6},        {"FLOAT32", 32, true, 7},       {"FLOAT64", 64, true, 9},
    {"BFLOAT16", 16, true, 10},      {"FLOAT32_FTZ", 32, true, 8},   {"TFLOAT32", 32, true, 11},
    {"TFLOAT32_FTZ", 32, true, 12},  {"16U4_ALIGN8B", 4, false, 13}, {"16U4_ALIGN16B", 4, false, 14},
    {"16U6_ALIGN16B", 6, false, 15},
};
const DataTypeFacts& facts_of(TensorDataType t) { return facts[static_cast<int>(t)]; }

// A field of the 128 bytes: `bits` from bit `at` of 64-bit word `word` (tensor_map_layout.md).
struct Place {
  uint8_t word, at, bits;
};
constexpr Place address_at{0, 0, 64};
constexpr Place im2col_at{1, 0, 1}, rank_at{1, 4, 3}, element_at{1, 7, 4}, interleave_at{1, 11, 2},
    swizzle_mode_at{1, 13, 2}, fill_at{1, 15, 1}, tf32_at{1, 16, 1}, l2_at{1, 17, 2}, atomicity_at{1, 19, 2},
    swizzle_96_at{1, 22, 1};
constexpr Place channels_at{6, 56, 8}, pixels_at{7, 32, 10};
// What the driver notes behind the words that the chip reads: bytes of a box, and what its shared address
// must be aligned to. Ours: which of the im2col modes of sm_100 the map was made for; the driver writes zeros
// there.
constexpr int words_read = 8;
constexpr Place box_bytes_at{8, 0, 32}, shared_alignment_at{9, 0, 32}, wide_mode_at{15, 0, 64};

constexpr uint8_t number(int i) { return static_cast<uint8_t>(i); }
constexpr Place dim_at(int i) { return {number(4 + i / 2), number(32 * (i % 2)), 32}; }
// Bytes / 16, in two pieces.
constexpr Place stride_low_at(int i) { return {number(1 + (i + 1) / 2), number(32 * ((i + 1) % 2)), 32}; }
constexpr Place stride_high_at(int i) { return {3, number(32 + 4 * i), 4}; }
constexpr Place box_at(int i) { return i == 0 ? Place{6, 56, 8} : Place{7, number(8 * (i - 1)), 8}; }
constexpr Place element_stride_at(int i) { return {6, number(32 + 3 * i), 3}; }
// The bounding box of im2col: 16 bits for each corner, shared by the spatial dimensions.
constexpr int corner_bits(int rank) { return rank == 3 ? 16 : rank == 4 ? 8 : 5; }
constexpr Place corner_at(bool upper, int i, int rank) {
  return {7, number((upper ? 16 : 0) + corner_bits(rank) * i), number(corner_bits(rank))};
}

constexpr uint64_t largest(Place p) { return p.bits == 64 ? ~uint64_t{0} : (uint64_t{1} << p.bits) - 1; }

uint64_t word_of(const std::byte* bytes, int word) {
  uint64_t value = 0;
  std::memcpy(&value, bytes + 8 * word, 8);
  return value;
}
void put(std::byte* bytes, Place p, uint64_t value) {
  const uint64_t mask = largest(p) << p.at;
  const uint64_t word = (word_of(bytes, p.word) & ~mask) | (value << p.at & mask);
  std::memcpy(bytes + 8 * p.word, &word, 8);
}
uint64_t get(const std::byte* bytes, Place p) { return word_of(bytes, p.word) >> p.at & largest(p); }

void put_stride(std::byte* bytes, int i, uint64_t value) {
  put(bytes, stride_low_at(i), value / 16);
  put(bytes, stride_high_at(i), value / 16 >> 32);
}
uint64_t get_stride(const std::byte* bytes, int i) {
  return (get(bytes, stride_high_at(i)) << 32 | get(bytes, stride_low_at(i))) * 16;
}

// Types in the map: the driver's, but tf32 is f32 with a bit of its own, and bf16 comes before the 4-bit
// types.
constexpr uint8_t element_numbers[tensor_data_type_count] = {0, 1,  2, 3, 4, 5,  6,  7,
                                                             9, 10, 8, 7, 8, 11, 12, 13};
bool is_tf32(TensorDataType type) { return type == TensorDataType::tf32 || type == TensorDataType::tf32_ftz; }
std::optional<TensorDataType> element_type(const std::byte* bytes) {
  for (int i = 0; i < tensor_data_type_count; ++i) {
    const auto type = static_cast<TensorDataType>(i);
    if (element_numbers[i] == get(bytes, element_at) && is_tf32(type) == (get(bytes, tf32_at) != 0))
      return type;
  }
  return std::nullopt;
}

// Bits that neither the driver nor CuTe DSL sets. Bits 1 and 21 of word 1 are none of them
// (tensor_map_layout.md).
constexpr uint64_t unused_bits[words_read] = {0, 0xFF80'000C,           0, uint64_t{0xFFFF} << 48, 0,
                                              0, uint64_t{0x1FF} << 47, 0};

bool is_zero(std::span<const std::byte, tensor_map_bytes> bytes) {
  return std::ranges::all_of(bytes.first<8 * words_read>(),
                             [](std::byte byte) { return byte == std::byte{0}; });
}
bool has_unused_bits(const std::byte* bytes) {
  for (int i = 0; i < words_read; ++i)
    if ((word_of(bytes, i) & unused_bits[i]) != 0) return true;
  return false;
}

// Behind the words that are read can be anything: CuTe DSL leaves there what the memory held.
TensorMapMode im2col_mode(const std::byte* bytes) {
  for (int i = 10; i < 15; ++i)
    if (word_of(bytes, i) != 0) return TensorMapMode::im2col;
  for (const TensorMapMode mode : {TensorMapMode::im2col_w, TensorMapMode::im2col_w_128})
    if (get(bytes, wide_mode_at) == static_cast<uint64_t>(mode)) return mode;
  return TensorMapMode::im2col;
}

}  // namespace

int bits(TensorDataType type) { return facts_of(type).bits; }
bool is_float(TensorDataType type) { return facts_of(type).floating; }
bool is_packed(TensorDataType type) { return type >= TensorDataType::u4x16_align8b; }
std::string_view name(TensorDataType type) { return facts_of(type).name; }
std::string_view name(TensorMapMode mode) {
  constexpr std::string_view names[] = {".tile", ".im2col", ".im2col::w", ".im2col::w::128"};
  return names[static_cast<int>(mode)];
}
TensorUnit unit_of(TensorDataType type) {
  switch (type) {
    case TensorDataType::u4x16_align8b:
      return {2, 1, 1};
    case TensorDataType::u4x16_align16b:
      return {16, 8, 16};
    case TensorDataType::u6x16_align16b:
      return {16, 12, 16};
    default:
      return {1, bits(type) / 8, bits(type) / 8};
  }
}
uint32_t replace_number(TensorDataType type) { return facts_of(type).replace_number; }

std::optional<TensorDataType> data_type_of_replace_number(uint32_t number) {
  for (int i = 0; i < tensor_data_type_count; ++i)
    if (facts[i].replace_number == number) return static_cast<TensorDataType>(i);
  return std::nullopt;
}

std::optional<TensorDataType> tensor_data_type(Type type) {
  switch (type) {
    case Type::b8:
    case Type::u8:
    case Type::s8:
    case Type::e4m3:
    case Type::e5m2:
      return TensorDataType::u8;
    case Type::b16:
    case Type::u16:
    case Type::s16:
      return TensorDataType::u16;
    case Type::b32:
    case Type::u32:
      return TensorDataType::u32;
    case Type::s32:
      return TensorDataType::s32;
    case Type::b64:
    case Type::u64:
      return TensorDataType::u64;
    case Type::s64:
      return TensorDataType::s64;
    case Type::f16:
      return TensorDataType::f16;
    case Type::bf16:
      return TensorDataType::bf16;
    case Type::f32:
      return TensorDataType::f32;
    case Type::tf32:
      return TensorDataType::tf32;
    case Type::f64:
      return TensorDataType::f64;
    default:
      return std::nullopt;
  }
}

EncodedTensorMap encode(const TensorMap& map) {
  EncodedTensorMap out;
  std::byte* b = out.bytes.data();
  put(b, address_at, map.global_address);
  put(b, rank_at, static_cast<uint64_t>(map.rank - 1));
  put(b, element_at, element_numbers[static_cast<int>(map.data_type)]);
  put(b, tf32_at, is_tf32(map.data_type));
  put(b, interleave_at, static_cast<uint8_t>(map.interleave));
  put(b, swizzle_mode_at, parts(map.swizzle).mode);
  put(b, swizzle_96_at, map.swizzle == Swizzle::b96);
  put(b, atomicity_at, parts(map.swizzle).atomicity);
  put(b, fill_at, static_cast<uint8_t>(map.oob_fill));
  put(b, l2_at, static_cast<uint8_t>(map.l2_promotion));
  uint64_t count = 1;
  for (int i = 0; i < map.rank; ++i) {
    put(b, dim_at(i), map.dims[i] - 1);
    put(b, element_stride_at(i), map.element_strides[i] - 1);
    if (i > 0) put_stride(b, i - 1, map.strides[i - 1]);
    if (map.is_im2col()) continue;
    put(b, box_at(i), map.box[i] - 1);
    count *= map.box[i] / map.element_strides[i];  // whole steps, as the driver counts
  }
  if (map.is_im2col()) {
    put(b, im2col_at, 1);
    for (int i = 0; i < map.rank - 2; ++i) {
      put(b, corner_at(false, i, map.rank), static_cast<uint32_t>(map.lower_corner[i]));
      put(b, corner_at(true, i, map.rank), static_cast<uint32_t>(map.upper_corner[i]));
    }
    put(b, channels_at, map.channels_per_pixel - 1);
    put(b, pixels_at, map.pixels_per_column - 1);
    count = uint64_t{map.channels_per_pixel} * map.pixels_per_column;
    if (map.mode != TensorMapMode::im2col) put(b, wide_mode_at, static_cast<uint8_t>(map.mode));
  }
  put(b, box_bytes_at, count * static_cast<uint64_t>(bits(map.data_type)) / 8);
  put(b, shared_alignment_at, parts(map.swizzle).mode == 0 ? 16 : 128u << parts(map.swizzle).mode);
  return out;
}

namespace {

// Sign-extends the low bits.
int32_t corner_of(uint64_t value, int bits) {
  return static_cast<int32_t>(static_cast<uint32_t>(value) << (32 - bits)) >> (32 - bits);
}

void get_arrays(const std::byte* b, TensorMap& map) {
  for (int i = 0; i < std::min(map.rank, max_tensor_rank); ++i) {
    map.dims[i] = get(b, dim_at(i)) + 1;
    map.element_strides[i] = static_cast<uint32_t>(get(b, element_stride_at(i))) + 1;
    if (i > 0) map.strides[i - 1] = get_stride(b, i - 1);
    if (!map.is_im2col()) map.box[i] = static_cast<uint32_t>(get(b, box_at(i))) + 1;
  }
  if (!map.is_im2col()) return;
  for (int i = 0; i < std::min(map.rank, max_tensor_rank) - 2; ++i) {
    map.lower_corner[i] = corner_of(get(b, corner_at(false, i, map.rank)), corner_bits(map.rank));
    map.upper_corner[i] = corner_of(get(b, corner_at(true, i, map.rank)), corner_bits(map.rank));
  }
  map.channels_per_pixel = static_cast<uint32_t>(get(b, channels_at)) + 1;
  map.pixels_per_column = static_cast<uint32_t>(get(b, pixels_at)) + 1;
}

}  // namespace

tl::expected<TensorMap, std::string> decode_tensor_map(std::span<const std::byte, tensor_map_bytes> bytes) {
  const std::byte* b = bytes.data();
  if (is_zero(bytes) || has_unused_bits(b))
    return tl::unexpected(
        std::string("these 128 bytes are not a tensor map (never encoded, or overwritten)"));
  TensorMap map;
  const auto type = element_type(b);
  if (!type || get(b, interleave_at) > static_cast<uint64_t>(Interleave::b32))
    return tl::unexpected(std::string("the tensor map holds an enumeration value that does not exist"));
  map.data_type = *type;
  map.interleave = static_cast<Interleave>(get(b, interleave_at));
  map.l2_promotion = static_cast<L2Promotion>(get(b, l2_at));
  map.oob_fill = static_cast<OobFill>(get(b, fill_at));
  const uint8_t span =
      get(b, swizzle_96_at) != 0 ? parts(Swizzle::b96).mode : static_cast<uint8_t>(get(b, swizzle_mode_at));
  const SwizzleParts swizzle_fields{span, static_cast<uint8_t>(get(b, atomicity_at))};
  const auto swizzle = swizzle_of(swizzle_fields);
  if (!swizzle)
    return tl::unexpected(fmt::format("the tensor map's swizzle mode {} does not exist with atomicity {}",
                                      swizzle_fields.mode, swizzle_fields.atomicity));
  map.swizzle = *swizzle;
  map.rank = static_cast<int>(get(b, rank_at)) + 1;
  map.global_address = get(b, address_at);
  if (get(b, im2col_at) != 0) map.mode = im2col_mode(b);
  get_arrays(b, map);
  return map;
}

namespace {

struct FieldFacts {
  std::string_view name;
  int ordinals;         // how many array elements; 0 for a scalar
  uint64_t low, limit;  // values from low to limit - 1 exist, or fit into the field's bits; limit 0: any
};
constexpr FieldFacts fields[] = {
    {"global_address", 0, 0, 0},
    {"rank", 0, 0, 8},
    {"box_dim", 5, 1, 257},
    {"global_dim", 5, 1, (uint64_t{1} << 32) + 1},
    {"global_stride", 4, 0, uint64_t{1} << 40},
    {"element_stride", 5, 1, 9},
    {"elemtype", 0, 0, 16},
    {"interleave_layout", 0, 0, 3},
    {"swizzle_mode", 0, 0, 5},
    {"fill_mode", 0, 0, 2},
    {"swizzle_atomicity", 0, 0, 4},
};
const FieldFacts& facts_of(TensorMapField f) { return fields[static_cast<int>(f)]; }

}  // namespace

std::optional<TensorMapField> tensor_map_field_named(std::string_view s) {
  for (size_t i = 0; i < std::size(fields); ++i)
    if (fields[i].name == s) return static_cast<TensorMapField>(i);
  return std::nullopt;
}
std::string_view name(TensorMapField field) { return facts_of(field).name; }
bool has_ordinal(TensorMapField field) { return facts_of(field).ordinals > 0; }

tl::expected<void, std::string> replace_field(std::span<std::byte, tensor_map_bytes> bytes,
                                              TensorMapField field, int ordinal, uint64_t value) {
  std::byte* b = bytes.data();
  if (has_unused_bits(b))
    return tl::unexpected(std::string("tensormap.replace on 128 bytes that are not a tensor map"));
  const FieldFacts& f = facts_of(field);
  if (f.ordinals > 0 && (ordinal < 0 || ordinal >= f.ordinals))
    return tl::unexpected(fmt::format("ordinal {} of .{} is outside 0..{}", ordinal, f.name, f.ordinals - 1));
  // A dimension of 2^32 is 0 in the 32 bits of the instruction.
  if (field == TensorMapField::global_dim && value == 0) value = uint64_t{1} << 32;
  if (f.limit > 0 && (value < f.low || value >= f.limit))
    return tl::unexpected(
        fmt::format("value {} of .{} is outside {}..{}", value, f.name, f.low, f.limit - 1));
  switch (field) {
    case TensorMapField::global_address:
      put(b, address_at, value);
      break;
    case TensorMapField::rank:
      put(b, rank_at, value);
      break;
    case TensorMapField::box_dim:
      put(b, box_at(ordinal), value - 1);
      break;
    case TensorMapField::global_dim:
      put(b, dim_at(ordinal), value - 1);
      break;
    case TensorMapField::global_stride:
      put_stride(b, ordinal, value);
      break;
    case TensorMapField::element_stride:
      put(b, element_stride_at(ordinal), value - 1);
      break;
    case TensorMapField::elemtype: {
      const TensorDataType type = *data_type_of_replace_number(static_cast<uint32_t>(value));
      put(b, element_at, element_numbers[static_cast<int>(type)]);
      if (is_tf32(type)) put(b, tf32_at, 1);  // no other type clears it: so does ptxas 13.0
      break;
    }
    case TensorMapField::interleave_layout:
      put(b, interleave_at, value);
      break;
    case TensorMapField::swizzle_mode:
      put(b, swizzle_96_at, value == parts(Swizzle::b96).mode);
      put(b, swizzle_mode_at, value % 4);
      break;
    case TensorMapField::fill_mode:
      put(b, fill_at, value);
      break;
    case TensorMapField::swizzle_atomicity:
      put(b, atomicity_at, value);
      break;
  }
  return {};
}

}  // namespace palladion::isa
