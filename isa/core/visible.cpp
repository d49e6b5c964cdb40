#include "isa/core/visible.h"

#include <algorithm>

namespace palladion::isa {
namespace {

// The length of the character at the start of `text`, 0 when there is none. RFC 3629: no overlong form, no
// surrogate, nothing above U+10FFFF.
size_t character(std::string_view text) {
  const auto at = [&](size_t i) { return static_cast<unsigned char>(text[i]); };
  const unsigned first = at(0);
  if (first < 0x80) return 1;
  const size_t length = first >= 0xF0 && first <= 0xF4   ? 4
                        : first >= 0xE0 && first <= 0xEF ? 3
                        : first >= 0xC2 && first <= 0xDF ? 2
                                                         : 0;
  if (length == 0 || text.size() < length) return 0;
  for (size_t i = 1; i < length; ++i)
    if ((at(i) & 0xC0) != 0x80) return 0;
  const unsigned second = at(1);
  const bool wrong = (first == 0xE0 && second < 0xA0) || (first == 0xED && second > 0x9F) ||
                     (first == 0xF0 && second < 0x90) || (first == 0xF4 && second > 0x8F);
  return wrong ? 0 : length;
}

// C0, DEL, and C1 (two bytes in UTF-8), which terminals obey as well.
bool is_control(std::string_view character) {
  const auto first = static_cast<unsigned char>(character[0]);
  if (character.size() == 1) return first < 0x20 || first == 0x7F;
  return first == 0xC2 && static_cast<unsigned char>(character[1]) < 0xA0;
}

// The length of ESC [ digits m at the start of `text`, else 0.
size_t colour_sequence(std::string_view text) {
  if (!text.starts_with("\x1b[")) return 0;
  const size_t end = std::min(text.find_first_not_of("0123456789;", 2), text.size());
  return end < text.size() && text[end] == 'm' ? end + 1 : 0;
}

void add_escaped(std::string& out, std::string_view bytes) {
  constexpr char digits[] = "0123456789abcdef";
  for (const char c : bytes) {
    const auto byte = static_cast<unsigned char>(c);
    out += {'\\', 'x', digits[byte >> 4], digits[byte & 15]};
  }
}

template <class Keep>
std::string escaped(std::string_view bytes, Keep keep) {
  std::string out;
  out.reserve(bytes.size());
  while (!bytes.empty()) {
    const size_t length = character(bytes);
    const size_t kept = length == 0 ? 0 : keep(bytes, length);
    if (kept != 0)
      out += bytes.substr(0, kept);
    else
      add_escaped(out, bytes.substr(0, std::max<size_t>(length, 1)));
    bytes.remove_prefix(std::max<size_t>({kept, length, 1}));
  }
  return out;
}

}  // namespace

std::string valid_utf8(std::string_view bytes) {
  return escaped(bytes, [](std::string_view, size_t length) { return length; });
}

std::string visible(std::string_view bytes, bool colour) {
  return escaped(bytes, [&](std::string_view rest, size_t length) -> size_t {
    if (rest[0] == '\n' || rest[0] == '\t') return 1;
    if (colour)
      if (const size_t sequence = colour_sequence(rest)) return sequence;
    return is_control(rest.substr(0, length)) ? 0 : length;
  });
}

std::string excerpt(std::string_view line, size_t& column, size_t width) {
  const size_t at = column == 0 ? 0 : column - 1;
  const size_t start = at < width ? 0 : std::min(at - width / 2, line.size());
  const std::string_view part = line.substr(start, width);
  std::string out;
  for (size_t i = 0; i < part.size();) {
    const size_t length = character(part.substr(i));
    const bool shown = length != 0 && !is_control(part.substr(i, length));
    out += part[i] == '\t' ? " " : shown ? std::string(part.substr(i, length)) : "?";
    i += std::max<size_t>(length, 1);
  }
  if (column != 0) column -= start;
  if (start + width < line.size()) out += "...";
  return out;
}

}  // namespace palladion::isa
