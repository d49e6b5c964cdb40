#pragma once
// The catalogue's tables, each for some groups of the taxonomy.
#include <algorithm>
#include <span>
#include <string_view>

#include "isa/core/code_text.h"
#include "sim/check/catalogue/code.h"

namespace palladion::sim::check {

std::span<const isa::CodeText> race_codes(), copy_codes(), thread_codes(), memory_codes(), tensor_codes();

// A row of a table. `rule` names sections of the PTX manual (begins with "CUDA" when of the CUDA guide, with
// "PTX" when it is a whole reference), `effect` what hardware does, `fix` what to change: lower case, no full
// stop.
consteval isa::CodeText row(int number, std::string_view title, std::string_view meaning,
                            std::string_view rule, std::string_view effect, std::string_view fix,
                            isa::CodeSeverity severity = isa::CodeSeverity::error) {
  return {.number = number,
          .title = title,
          .meaning = meaning,
          .rule = rule,
          .effect = effect,
          .fix = fix,
          .severity = severity};
}

// A row whose mistake the machine itself detects and reports as `code`.
consteval isa::CodeText reported_as(int code, isa::CodeText row) {
  row.reported_as = code;
  return row;
}

// True when the table has exactly the catalogued codes of this range, in their order.
template <size_t n>
constexpr bool states_all(const isa::CodeText (&table)[n], int from, int to) {
  const auto* const begin = std::ranges::lower_bound(catalogued, from);
  const auto* const end = std::ranges::upper_bound(catalogued, to);
  return std::ranges::equal(table, std::span(begin, end), {}, &isa::CodeText::number);
}

}  // namespace palladion::sim::check
