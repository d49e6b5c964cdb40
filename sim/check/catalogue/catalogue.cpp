#include "sim/check/catalogue/catalogue.h"

#include <algorithm>
#include <iterator>

#include "isa/core/diagnostic.h"

namespace palladion::sim::check {
namespace {

using enum isa::CodeSeverity;

consteval isa::CodeText entry(int number, std::string_view name, int reported_as, std::string_view title,
                              std::string_view meaning, std::string_view rule, std::string_view effect,
                              std::string_view fix, isa::CodeSeverity severity = error) {
  return {.number = number,
          .title = title,
          .meaning = meaning,
          .rule = rule,
          .effect = effect,
          .fix = fix,
          .reported_as = reported_as,
          .severity = severity,
          .name = name};
}

constexpr isa::CodeText table[] = {
#define PLD_CODE(number, name, ...) entry(number, #name, 0, __VA_ARGS__),
#define PLD_CODE_OF_MACHINE(number, name, machines, ...) entry(number, #name, machines, __VA_ARGS__),
#include "sim/check/catalogue/codes.inc"
#undef PLD_CODE
#undef PLD_CODE_OF_MACHINE
};
static_assert(std::ranges::is_sorted(table, {}, &isa::CodeText::number));

// Codes of the devices lie between the two.
constexpr const isa::CodeText* first_of_6000 =
    std::ranges::lower_bound(table, 6000, {}, &isa::CodeText::number);

}  // namespace

std::span<const std::span<const isa::CodeText>> checker_codes() {
  static const std::span<const isa::CodeText> tables[] = {{std::begin(table), first_of_6000},
                                                          {first_of_6000, std::end(table)}};
  return tables;
}

const isa::CodeText& text_of(Code code) {
  const auto* const at = std::ranges::lower_bound(table, number_of(code), {}, &isa::CodeText::number);
  PLD_CHECK(at != std::end(table) && at->number == number_of(code), "a code without a text");
  return *at;
}

void complete(Finding& finding, Code code) {
  finding.code = code;
  if (text_of(code).severity == isa::CodeSeverity::strict) finding.severity = FindingSeverity::strict;
}

}  // namespace palladion::sim::check
