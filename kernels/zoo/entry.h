#pragma once
// "MB-13/2": the second pair of the taxonomy's entry MB-13. "MB-13" is its first.
#include <string>
#include <string_view>
#include <utility>

namespace palladion::kernels::zoo {

inline std::pair<std::string, int> parse_entry(std::string_view text) {
  const size_t slash = text.find('/');
  if (slash == std::string_view::npos) return {std::string(text), 1};
  return {std::string(text.substr(0, slash)), text.back() - '0'};
}

}  // namespace palladion::kernels::zoo
