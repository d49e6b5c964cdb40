#pragma once
// Numbers and texts in bytes of which nothing is believed: what lies outside them is 0, or empty.
#include <cstdint>
#include <cstring>
#include <string_view>

namespace palladion::cuda::cubin {

template <class T>
T number_at(std::string_view bytes, uint64_t at) {
  T value{};
  if (at <= bytes.size() && bytes.size() - at >= sizeof value)
    std::memcpy(&value, bytes.data() + at, sizeof value);
  return value;
}

// Up to its zero.
inline std::string_view text_at(std::string_view bytes, uint64_t at) {
  if (at >= bytes.size()) return {};
  const std::string_view rest = bytes.substr(at);
  return rest.substr(0, rest.find('\0'));
}

// Reads on from where it stands; behind the end everything is 0.
class Cursor {
 public:
  explicit Cursor(std::string_view bytes, uint64_t at = 0) : bytes_(bytes), at_(at) {}

  uint64_t at() const { return at_; }
  bool at_end() const { return at_ >= bytes_.size(); }
  void skip(uint64_t bytes) {
    at_ = bytes > bytes_.size() || at_ + bytes > bytes_.size() ? bytes_.size() : at_ + bytes;
  }
  template <class T>
  T take() {
    const T value = number_at<T>(bytes_, at_);
    skip(sizeof value);
    return value;
  }
  std::string_view text() {
    const std::string_view out = text_at(bytes_, at_);
    skip(out.size() + 1);
    return out;
  }
  // LEB128
  uint64_t number() { return leb(false); }
  int64_t signed_number() { return static_cast<int64_t>(leb(true)); }

 private:
  uint64_t leb(bool is_signed) {
    uint64_t value = 0;
    uint8_t byte = 0x80;
    unsigned shift = 0;
    for (; (byte & 0x80) != 0 && !at_end(); shift += 7) {
      byte = take<uint8_t>();
      if (shift < 64) value |= uint64_t{byte & 0x7fu} << shift;
    }
    if (is_signed && shift < 64 && (byte & 0x40) != 0) value |= ~uint64_t{0} << shift;
    return value;
  }

  std::string_view bytes_;
  uint64_t at_;
};

}  // namespace palladion::cuda::cubin
