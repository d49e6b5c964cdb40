#include "isa/text/debug_strings.h"

#include <algorithm>
#include <charconv>
#include <cstdint>
#include <optional>

#include "isa/core/trim.h"

namespace palladion::isa::detail {
namespace {

constexpr std::string_view strings_section = ".debug_str";

std::optional<size_t> number_in(std::string_view text) {
  const bool hex = text.starts_with("0x");
  if (hex) text.remove_prefix(2);
  size_t value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value, hex ? 16 : 10);
  if (error != std::errc() || end != text.data() + text.size()) return std::nullopt;
  return value;
}

// What stands before `end`, which is taken off.
std::string_view take_until(std::string_view& text, char end) {
  const size_t at = std::min(text.find(end), text.size());
  const std::string_view head = text.substr(0, at);
  text.remove_prefix(std::min(at + 1, text.size()));
  return trimmed(head);
}

}  // namespace

DebugStrings::DebugStrings(const std::vector<std::string>& sections) {
  constexpr std::string_view word = ".section ";
  for (const std::string& section : sections) {
    std::string_view text = section;
    text.remove_prefix(std::min(word.size(), text.size()));
    if (take_until(text, '\n') != strings_section) continue;
    take_until(text, '{');
    labels_.emplace(strings_section, bytes_.size());
    read(take_until(text, '}'));
  }
}

void DebugStrings::read(std::string_view section) {
  while (!section.empty()) {
    std::string_view line = take_until(section, '\n');
    line = trimmed(line.substr(0, line.find("//")));
    if (line.ends_with(':')) {
      line.remove_suffix(1);
      labels_.emplace(line, bytes_.size());
    } else if (line.starts_with(".b8")) {
      values(line.substr(3));
    }
  }
}

void DebugStrings::values(std::string_view line) {
  while (!line.empty())
    if (const auto value = number_in(take_until(line, ','))) bytes_ += static_cast<char>(*value);
}

std::string DebugStrings::at(std::string_view reference) const {
  const auto label = labels_.find(take_until(reference, '+'));
  const size_t offset = number_in(reference).value_or(0);
  if (label == labels_.end() || label->second + offset >= bytes_.size()) return {};
  return bytes_.c_str() + label->second + offset;
}

}  // namespace palladion::isa::detail
