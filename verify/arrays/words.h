// Words of texts: numbers, lists, the word that was meant.
#pragma once

#include <charconv>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace palladion {

// The whole text as a number; none: it is not one, or does not fit.
template <class T>
std::optional<T> number_in(std::string_view text) {
  int base = 10;
  if constexpr (std::is_integral_v<T>) {
    if (text.starts_with("0x")) {
      text.remove_prefix(2);
      base = 16;
    }
    T value{};
    const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value, base);
    if (error != std::errc() || end != text.data() + text.size()) return std::nullopt;
    return value;
  } else {
    T value{};
    const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
    if (error != std::errc() || end != text.data() + text.size()) return std::nullopt;
    return value;
  }
}

// true, yes, on, 1; false, no, off, 0; none for other words.
std::optional<bool> boolean_in(std::string_view text);

// Splits at any of `separators`; empty pieces are kept, an empty text has none.
inline std::vector<std::string_view> split(std::string_view text, std::string_view separators) {
  std::vector<std::string_view> parts;
  while (!text.empty()) {
    const size_t end = text.find_first_of(separators);
    parts.push_back(text.substr(0, end));
    if (end == std::string_view::npos) break;
    text.remove_prefix(end + 1);
    if (text.empty()) parts.push_back(text);
  }
  return parts;
}

// The known words nearest to `word`, all as near as the first of them and near enough to have been meant.
std::vector<std::string> nearest_words(std::string_view word, const std::vector<std::string>& known);
// The first of these: the known word nearest to `word` when it is near enough to have been meant; empty
// otherwise.
std::string nearest(std::string_view word, const std::vector<std::string>& known);

}  // namespace palladion
