#include "cli/options/kernel_word.h"

#include <algorithm>
#include <array>

namespace palladion::cli {

std::optional<KernelFileWord> kernel_file_word(std::string_view word) {
  constexpr std::array<std::string_view, 4> endings = {".cpp", ".cc", ".cxx", ".so"};
  const auto is_file = [&](std::string_view name) {
    return std::ranges::any_of(endings, [&](std::string_view end) { return name.ends_with(end); });
  };
  if (is_file(word)) return KernelFileWord{std::string(word), {}};
  const size_t colon = word.rfind(':');
  if (colon == std::string_view::npos || !is_file(word.substr(0, colon))) return std::nullopt;
  return KernelFileWord{std::string(word.substr(0, colon)), std::string(word.substr(colon + 1))};
}

}  // namespace palladion::cli
