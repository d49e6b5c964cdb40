#pragma once
// FNV-1a, 64 bits: a hash that is the same on every host and in every version, so that files and reports may
// keep it. Not for tables in memory, where std::hash and Boost's are faster.
#include <cstddef>
#include <cstdint>
#include <span>
#include <string_view>

namespace palladion::isa {

class Fnv1a {
 public:
  // One unit of the input: a byte, as published, or a word where a format of ours says so.
  constexpr Fnv1a& step(uint64_t unit) {
    value_ = (value_ ^ unit) * 0x100000001B3ULL;
    return *this;
  }
  constexpr Fnv1a& add(std::span<const std::byte> bytes) {
    for (const std::byte b : bytes) step(static_cast<uint8_t>(b));
    return *this;
  }
  constexpr Fnv1a& add(std::string_view text) {
    for (const char c : text) step(static_cast<uint8_t>(c));
    return *this;
  }
  constexpr uint64_t value() const { return value_; }

 private:
  uint64_t value_ = 0xCBF29CE484222325ULL;
};

}  // namespace palladion::isa
