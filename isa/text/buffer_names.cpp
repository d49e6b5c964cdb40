#include "isa/text/buffer_names.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <charconv>
#include <optional>
#include <sstream>

namespace palladion::isa {
namespace {

constexpr std::string_view buffer_mark = "//@buffer ";

// The whole text as a number.
template <class T>
std::optional<T> whole_number(std::string_view text) {
  T value{};
  const auto [end, failed] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (failed != std::errc{} || end != text.data() + text.size()) return std::nullopt;
  return value;
}

// "mbarrier[4,2]" into element and shape.
bool take_type(std::string_view type, BufferName& into) {
  const size_t bracket = type.find('[');
  into.element = type.substr(0, bracket);
  if (bracket == std::string_view::npos) return true;
  if (!type.ends_with(']')) return false;
  type = type.substr(bracket + 1, type.size() - bracket - 2);
  while (!type.empty()) {
    const size_t comma = std::min(type.find(','), type.size());
    const auto extent = whole_number<int64_t>(type.substr(0, comma));
    if (!extent || *extent <= 0) return false;
    into.shape.push_back(*extent);
    type.remove_prefix(std::min(comma + 1, type.size()));
  }
  return true;
}

std::optional<BufferName> parse_buffer(std::string_view line, const Module& module) {
  std::istringstream words{std::string(line)};
  std::string place, bytes, name, type;
  if (!(words >> place >> bytes >> type >> std::ws) || !std::getline(words, name)) return std::nullopt;
  const size_t plus = place.rfind('+');
  if (plus == std::string::npos) return std::nullopt;
  const auto offset = whole_number<uint64_t>(std::string_view(place).substr(plus + 1));
  const auto size = whole_number<uint64_t>(bytes);
  BufferName buffer{.symbol = module.find_symbol(place.substr(0, plus)), .name = name};
  if (buffer.symbol == no_id || !offset || !size || !take_type(type, buffer)) return std::nullopt;
  buffer.offset = *offset;
  buffer.bytes = *size;
  return buffer;
}

}  // namespace

std::string buffer_comments(const Module& module) {
  std::string out;
  for (const BufferName& b : module.buffers) {
    const bool one_line = !b.name.empty() && b.name.find_first_of("\r\n") == std::string::npos;
    if (!one_line || b.element.empty()) continue;
    const std::string shape = b.shape.empty() ? "" : fmt::format("[{}]", fmt::join(b.shape, ","));
    out += fmt::format("{}{}+{} {} {}{} {}\n", buffer_mark, module.symbols[b.symbol].name, b.offset, b.bytes,
                       b.element, shape, b.name);
  }
  return out;
}

void read_buffer_comments(std::string_view text, Module& module) {
  for (size_t at = text.find(buffer_mark); at != std::string_view::npos; at = text.find(buffer_mark, at)) {
    const bool starts_line = at == 0 || text[at - 1] == '\n';
    const size_t end = std::min(text.find('\n', at), text.size());
    const std::string_view line = text.substr(at + buffer_mark.size(), end - at - buffer_mark.size());
    at = end;
    if (!starts_line) continue;
    if (auto buffer = parse_buffer(line, module)) module.buffers.push_back(std::move(*buffer));
  }
}

}  // namespace palladion::isa
