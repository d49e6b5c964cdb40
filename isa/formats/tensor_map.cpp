#include "isa/formats/tensor_map.h"

#include <fmt/format.h>

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

// Fields whose layout in the 128 bytes is a plain little-endian integer.
struct Place {
  uint8_t offset, bytes;
};
constexpr Place magic_at{0, 4}, version_at{4, 1}, mode_at{5, 1}, data_type_at{6, 1}, rank_at{7, 1},
    address_at{8, 8}, interleave_at{80, 1}, swizzle_mode_at{81, 1}, atomicity_at{82, 1}, l2_at{83, 1},
    fill_at{84, 1}, channels_at{98, 2}, pixels_at{100, 2};
constexpr Place dim_at(int i) { return {static_cast<uint8_t>(16 + 5 * i), 5}; }
constexpr Place stride_at(int i) { return {static_cast<uint8_t>(41 + 6 * i), 6}; }
constexpr Place box_at(int i) { return {static_cast<uint8_t>(65 + 2 * i), 2}; }
constexpr Place element_stride_at(int i) { return {static_cast<uint8_t>(75 + i), 1}; }
constexpr Place lower_at(int i) { return {static_cast<uint8_t>(86 + 2 * i), 2}; }
constexpr Place upper_at(int i) { return {static_cast<uint8_t>(92 + 2 * i), 2}; }

constexpr uint64_t magic = 0x4D544C50;  // "PLTM"
constexpr uint64_t version = 1;

constexpr uint64_t largest(Place p) { return p.bytes == 8 ? ~uint64_t{0} : (uint64_t{1} << 8 * p.bytes) - 1; }

// Too large a value is kept as the largest that fits, which no rule allows, so validate still sees it.
void put(std::byte* bytes, Place p, uint64_t value) {
  if (value > largest(p)) value = largest(p);
  for (int i = 0; i < p.bytes; ++i) bytes[p.offset + i] = static_cast<std::byte>(value >> 8 * i);
}
uint64_t get(const std::byte* bytes, Place p) {
  uint64_t value = 0;
  std::memcpy(&value, bytes + p.offset, p.bytes);
  return value;
}
void put_corner(std::byte* bytes, Place p, int32_t value) {
  const int32_t clamped = value < -32768 ? -32768 : value > 32767 ? 32767 : value;
  put(bytes, p, static_cast<uint16_t>(clamped));
}
int32_t get_corner(const std::byte* bytes, Place p) { return static_cast<int16_t>(get(bytes, p)); }

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
  put(b, magic_at, magic);
  put(b, version_at, version);
  put(b, mode_at, static_cast<uint8_t>(map.mode));
  put(b, data_type_at, static_cast<uint8_t>(map.data_type));
  put(b, rank_at, static_cast<uint64_t>(map.rank < 0 ? 0 : map.rank));
  put(b, address_at, map.global_address);
  for (int i = 0; i < 5; ++i) {
    put(b, dim_at(i), map.dims[i]);
    put(b, box_at(i), map.box[i]);
    put(b, element_stride_at(i), map.element_strides[i]);
  }
  for (int i = 0; i < 4; ++i) put(b, stride_at(i), map.strides[i]);
  put(b, interleave_at, static_cast<uint8_t>(map.interleave));
  put(b, swizzle_mode_at, parts(map.swizzle).mode);
  put(b, atomicity_at, parts(map.swizzle).atomicity);
  put(b, l2_at, static_cast<uint8_t>(map.l2_promotion));
  put(b, fill_at, static_cast<uint8_t>(map.oob_fill));
  for (int i = 0; i < 3; ++i) {
    put_corner(b, lower_at(i), map.lower_corner[i]);
    put_corner(b, upper_at(i), map.upper_corner[i]);
  }
  put(b, channels_at, map.channels_per_pixel);
  put(b, pixels_at, map.pixels_per_column);
  return out;
}

namespace {

void get_arrays(const std::byte* b, TensorMap& map) {
  for (int i = 0; i < 5; ++i) {
    map.dims[i] = get(b, dim_at(i));
    map.box[i] = static_cast<uint32_t>(get(b, box_at(i)));
    map.element_strides[i] = static_cast<uint32_t>(get(b, element_stride_at(i)));
  }
  for (int i = 0; i < 4; ++i) map.strides[i] = get(b, stride_at(i));
  for (int i = 0; i < 3; ++i) {
    map.lower_corner[i] = get_corner(b, lower_at(i));
    map.upper_corner[i] = get_corner(b, upper_at(i));
  }
}

// Reads an enumeration of `count` values.
template <class Enum>
bool get_enum(const std::byte* b, Place p, int count, Enum& out) {
  const uint64_t value = get(b, p);
  out = static_cast<Enum>(value);
  return value < static_cast<uint64_t>(count);
}

}  // namespace

tl::expected<TensorMap, std::string> decode_tensor_map(std::span<const std::byte, tensor_map_bytes> bytes) {
  const std::byte* b = bytes.data();
  if (get(b, magic_at) != magic || get(b, version_at) != version)
    return tl::unexpected(
        std::string("these 128 bytes are not a tensor map (never encoded, or overwritten)"));
  TensorMap map;
  bool known = get_enum(b, mode_at, 4, map.mode);
  known &= get_enum(b, data_type_at, tensor_data_type_count, map.data_type);
  known &= get_enum(b, interleave_at, 3, map.interleave);
  known &= get_enum(b, l2_at, 4, map.l2_promotion);
  known &= get_enum(b, fill_at, 2, map.oob_fill);
  if (!known)
    return tl::unexpected(std::string("the tensor map holds an enumeration value that does not exist"));
  const SwizzleParts swizzle_fields{static_cast<uint8_t>(get(b, swizzle_mode_at)),
                                    static_cast<uint8_t>(get(b, atomicity_at))};
  const auto swizzle = swizzle_of(swizzle_fields);
  if (!swizzle)
    return tl::unexpected(fmt::format("the tensor map's swizzle mode {} does not exist with atomicity {}",
                                      swizzle_fields.mode, swizzle_fields.atomicity));
  map.swizzle = *swizzle;
  map.rank = static_cast<int>(get(b, rank_at));
  map.global_address = get(b, address_at);
  get_arrays(b, map);
  map.channels_per_pixel = static_cast<uint32_t>(get(b, channels_at));
  map.pixels_per_column = static_cast<uint32_t>(get(b, pixels_at));
  return map;
}

namespace {

struct FieldFacts {
  std::string_view name;
  int ordinals;    // how many array elements; 0 for a scalar
  uint32_t limit;  // enumerations: values below it exist; 0 for numbers
};
constexpr FieldFacts fields[] = {
    {"global_address", 0, 0},    {"rank", 0, 0},
    {"box_dim", 5, 0},           {"global_dim", 5, 0},
    {"global_stride", 4, 0},     {"element_stride", 5, 0},
    {"elemtype", 0, 16},         {"interleave_layout", 0, 3},
    {"swizzle_mode", 0, 5},      {"fill_mode", 0, 2},
    {"swizzle_atomicity", 0, 4},
};
const FieldFacts& facts_of(TensorMapField f) { return fields[static_cast<int>(f)]; }

Place place_of(TensorMapField field, int ordinal) {
  switch (field) {
    case TensorMapField::global_address:
      return address_at;
    case TensorMapField::rank:
      return rank_at;
    case TensorMapField::box_dim:
      return box_at(ordinal);
    case TensorMapField::global_dim:
      return dim_at(ordinal);
    case TensorMapField::global_stride:
      return stride_at(ordinal);
    case TensorMapField::element_stride:
      return element_stride_at(ordinal);
    case TensorMapField::elemtype:
      return data_type_at;
    case TensorMapField::interleave_layout:
      return interleave_at;
    case TensorMapField::swizzle_mode:
      return swizzle_mode_at;
    case TensorMapField::fill_mode:
      return fill_at;
    case TensorMapField::swizzle_atomicity:
      return atomicity_at;
  }
  return address_at;
}

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
  // Zeros are a map without a tensor: compilers make a map of them, field by field.
  if (std::ranges::all_of(bytes, [](std::byte byte) { return byte == std::byte{0}; })) {
    put(b, magic_at, magic);
    put(b, version_at, version);
  }
  if (get(b, magic_at) != magic)
    return tl::unexpected(std::string("tensormap.replace on 128 bytes that are not a tensor map"));
  const FieldFacts& f = facts_of(field);
  if (f.ordinals > 0 && (ordinal < 0 || ordinal >= f.ordinals))
    return tl::unexpected(fmt::format("ordinal {} of .{} is outside 0..{}", ordinal, f.name, f.ordinals - 1));
  if (f.limit > 0 && value >= f.limit)
    return tl::unexpected(fmt::format("value {} of .{} is outside 0..{}", value, f.name, f.limit - 1));
  if (field == TensorMapField::elemtype)
    value = static_cast<uint64_t>(*data_type_of_replace_number(static_cast<uint32_t>(value)));
  if (field == TensorMapField::rank) value += 1;
  put(b, place_of(field, ordinal), value);
  return {};
}

}  // namespace palladion::isa
