#include "isa/formats/sampler.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <span>
#include <vector>

namespace palladion::isa {
namespace {

constexpr uint64_t tag = 0x5341'4d50;  // in the upper half: no address of a device has it
constexpr std::array<std::string_view, 3> address_fields = {"addr_mode_0", "addr_mode_1", "addr_mode_2"};
constexpr std::string_view filter_field = "filter_mode", unnormalized_field = "force_unnormalized_coords";

std::optional<uint32_t> index_of(std::span<const std::string_view> words, std::string_view word) {
  const auto at = std::ranges::find(words, word);
  if (at == words.end()) return std::nullopt;
  return static_cast<uint32_t>(at - words.begin());
}

// A field takes four bits: 0 if it is not set, else one more than its number.
uint64_t nibble(std::optional<uint32_t> number, int place) {
  return uint64_t{number ? *number + 1 : 0} << (4 * place);
}

}  // namespace

bool Sampler::set(std::string_view field, std::string_view word) {
  if (field == unnormalized_field) {
    force_unnormalized = word == "1";
    return word == "0" || word == "1";
  }
  const auto dimension = index_of(address_fields, field);
  if (!dimension && field != filter_field) return false;
  const auto number = dimension ? index_of(address_words, word) : index_of(filter_words, word);
  if (number) (dimension ? address[*dimension] : filter) = number;
  return number.has_value();
}

std::string Sampler::text() const {
  std::vector<std::string> fields;
  for (size_t d = 0; d < 3; ++d)
    if (address[d]) fields.push_back(fmt::format("{} = {}", address_fields[d], address_words[*address[d]]));
  if (filter) fields.push_back(fmt::format("{} = {}", filter_field, filter_words[*filter]));
  if (force_unnormalized) fields.push_back(fmt::format("{} = 1", unnormalized_field));
  return fmt::format("{{ {} }}", fmt::join(fields, ", "));
}

uint64_t Sampler::packed() const {
  uint64_t word = tag << 32 | uint64_t{force_unnormalized} << 16 | nibble(filter, 3);
  for (int d = 0; d < 3; ++d) word |= nibble(address[static_cast<size_t>(d)], d);
  return word;
}

std::optional<Sampler> Sampler::unpacked(uint64_t word) {
  const auto field = [word](int place) -> std::optional<uint32_t> {
    const auto number = static_cast<uint32_t>(word >> (4 * place) & 15);
    return number == 0 ? std::nullopt : std::optional(number - 1);
  };
  Sampler s{{field(0), field(1), field(2)}, field(3), (word >> 16 & 1) != 0};
  const bool valid = std::ranges::all_of(
      s.address, [](const auto& mode) { return mode.value_or(0) < address_words.size(); });
  if (!valid || s.filter.value_or(0) >= filter_words.size() || s.packed() != word) return std::nullopt;
  return s;
}

}  // namespace palladion::isa
