#pragma once
// Just enough of the protobuf wire format to write messages (protobuf.dev, "Encoding"). By hand: protobuf's
// library and generator would be more than these lines, and Debian has no package of Perfetto's messages.
#include <cstdint>
#include <string>
#include <string_view>

namespace palladion::traces {

class Message {
 public:
  Message& integer(uint32_t field, uint64_t value) {
    tag(field, 0);
    varint(value);
    return *this;
  }
  Message& fixed64(uint32_t field, uint64_t value) {
    tag(field, 1);
    for (int i = 0; i < 8; ++i) bytes_ += static_cast<char>(value >> 8 * i & 0xFF);
    return *this;
  }
  Message& text(uint32_t field, std::string_view value) {
    tag(field, 2);
    varint(value.size());
    bytes_ += value;
    return *this;
  }
  Message& message(uint32_t field, const Message& value) { return text(field, value.bytes_); }

  const std::string& bytes() const { return bytes_; }
  bool empty() const { return bytes_.empty(); }
  void clear() { bytes_.clear(); }

 private:
  void tag(uint32_t field, uint32_t wire_type) { varint(uint64_t{field} << 3 | wire_type); }
  void varint(uint64_t value) {
    for (; value >= 0x80; value >>= 7) bytes_ += static_cast<char>((value & 0x7F) | 0x80);
    bytes_ += static_cast<char>(value);
  }

  std::string bytes_;
};

}  // namespace palladion::traces
