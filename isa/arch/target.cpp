#include "isa/arch/target.h"

#include <charconv>

namespace palladion::isa {

Target parse_target(std::string_view word) {
  Target t;
  if (!word.starts_with("sm_")) return t;
  const auto [end, failed] = std::from_chars(word.data() + 3, word.data() + word.size(), t.number);
  if (failed == std::errc{}) t.suffix = word.substr(static_cast<size_t>(end - word.data()));
  return t;
}

int ptx_version_of(std::string_view target) {
  const int number = parse_target(target).number;
  return number == 103 || number == 121 ? 88 : 87;
}

bool provides(std::string_view have, std::string_view need) {
  if (const size_t bar = need.find('|'); bar != std::string_view::npos)
    return provides(have, need.substr(0, bar)) || provides(have, need.substr(bar + 1));
  const Target h = parse_target(have), n = parse_target(need);
  if (n.suffix == "a") return h.number == n.number && h.suffix == "a";
  if (n.suffix == "f") return h.number / 10 == n.number / 10 && h.number >= n.number && !h.suffix.empty();
  return h.number >= n.number;
}

}  // namespace palladion::isa
