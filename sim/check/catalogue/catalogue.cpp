#include "sim/check/catalogue/catalogue.h"

#include <fmt/format.h>

#include <algorithm>

#include "isa/core/diagnostic.h"
#include "sim/check/catalogue/tables.h"

namespace palladion::sim::check {

std::string Code::name() const { return fmt::format("PLD{:04}", number_); }

std::span<const std::span<const isa::CodeText>> checker_codes() {
  static const std::span<const isa::CodeText> tables[] = {race_codes(), copy_codes(), tensor_codes(),
                                                          thread_codes(), memory_codes()};
  return tables;
}

const isa::CodeText& text_of(Code code) {
  for (const auto table : checker_codes()) {
    const auto at = std::ranges::lower_bound(table, code.number(), {}, &isa::CodeText::number);
    if (at != table.end() && at->number == code.number()) return *at;
  }
  PLD_CHECK(false, "a code without a text");
  std::abort();
}

void complete(Finding& finding, Code code) {
  const isa::CodeText& text = text_of(code);
  finding.code = code.name();
  if (finding.rule.empty()) finding.rule = text.rule;
  if (finding.help.empty()) finding.help = text.fix;
  if (text.severity == isa::CodeSeverity::strict) finding.severity = FindingSeverity::strict;
}

}  // namespace palladion::sim::check
