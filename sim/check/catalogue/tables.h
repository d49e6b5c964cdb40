#pragma once
// The catalogue's tables, each for some groups of the taxonomy.
#include <algorithm>
#include <span>

#include "isa/core/code_text.h"
#include "sim/check/catalogue/code.h"

namespace palladion::sim::check {

std::span<const isa::CodeText> race_codes(), copy_codes(), thread_codes(), memory_codes();

// True when the table has exactly the catalogued codes of this range, in their order.
template <size_t n>
constexpr bool states_all(const isa::CodeText (&table)[n], int from, int to) {
  const auto* const begin = std::ranges::lower_bound(catalogued, from);
  const auto* const end = std::ranges::upper_bound(catalogued, to);
  return std::ranges::equal(table, std::span(begin, end), {}, &isa::CodeText::number);
}

}  // namespace palladion::sim::check
