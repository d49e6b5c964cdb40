#pragma once
// A reader of protobuf that knows nothing of the writer: fields of a message by number.
#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace palladion::traces::testing {

struct Field {
  uint64_t number = 0;     // of varint and fixed64
  std::string_view bytes;  // of length-delimited
};
using Fields = std::multimap<uint32_t, Field>;

inline std::optional<uint64_t> take_varint(std::string_view& in) {
  uint64_t value = 0;
  for (unsigned shift = 0; shift < 64; shift += 7) {
    if (in.empty()) return std::nullopt;
    const auto byte = static_cast<uint8_t>(in.front());
    in.remove_prefix(1);
    value |= uint64_t{byte & 0x7FU} << shift;
    if (byte < 0x80) return value;
  }
  return std::nullopt;
}

// Nothing when the bytes are no message.
inline std::optional<Fields> decode(std::string_view in) {
  Fields out;
  while (!in.empty()) {
    const auto tag = take_varint(in);
    if (!tag || *tag >> 3 == 0) return std::nullopt;
    Field f;
    switch (*tag & 7) {
      case 0: {
        const auto value = take_varint(in);
        if (!value) return std::nullopt;
        f.number = *value;
        break;
      }
      case 1:
        if (in.size() < 8) return std::nullopt;
        for (size_t i = 8; i-- > 0;) f.number = f.number << 8 | static_cast<uint8_t>(in[i]);
        in.remove_prefix(8);
        break;
      case 2: {
        const auto size = take_varint(in);
        if (!size || *size > in.size()) return std::nullopt;
        f.bytes = in.substr(0, *size);
        in.remove_prefix(*size);
        break;
      }
      default:
        return std::nullopt;
    }
    out.emplace(static_cast<uint32_t>(*tag >> 3), f);
  }
  return out;
}

inline std::optional<Field> one(const Fields& fields, uint32_t number) {
  const auto at = fields.find(number);
  if (at == fields.end()) return std::nullopt;
  return at->second;
}

}  // namespace palladion::traces::testing
