#pragma once
// The parts of a register that an operand of a video instruction names: %r1.b2, %r1.h10, %r1.b7610. An
// operand of kind reg keeps them in its `offset`.
#include <array>
#include <optional>
#include <string>
#include <string_view>

#include "isa/core/instruction.h"

namespace palladion::isa::selector {

struct Selector {
  bool bytes = true;  // .b; else .h
  int count = 1;
  std::array<int, 4> digits{};  // as written
};

inline std::optional<Selector> read(const Operand& o) {
  if (!o.is(Operand::Kind::reg) || o.offset == 0) return std::nullopt;
  Selector s{.bytes = (o.offset >> 20 & 1) == 0, .count = static_cast<int>(o.offset >> 16 & 7), .digits = {}};
  for (int k = 0; k < s.count && k < 4; ++k)
    s.digits[static_cast<size_t>(k)] = static_cast<int>(o.offset >> (3 * k) & 7);
  return s;
}

// "b2", "h10"; false: no selector.
inline bool write(Operand& o, std::string_view word) {
  if (word.size() < 2 || word.size() > 5 || (word[0] != 'b' && word[0] != 'h')) return false;
  int64_t bits = (word[0] == 'h' ? int64_t{1} << 20 : 0) | static_cast<int64_t>(word.size() - 1) << 16;
  for (size_t k = 1; k < word.size(); ++k) {
    if (word[k] < '0' || word[k] > '7') return false;
    bits |= static_cast<int64_t>(word[k] - '0') << (3 * (k - 1));
  }
  o.offset = bits;
  return true;
}

inline std::string text(const Selector& s) {
  std::string t(1, s.bytes ? 'b' : 'h');
  for (int k = 0; k < s.count && k < 4; ++k) t += static_cast<char>('0' + s.digits[static_cast<size_t>(k)]);
  return t;
}

}  // namespace palladion::isa::selector
