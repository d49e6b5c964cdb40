#include "report/text/codes.h"

#include <fmt/format.h>

#include <algorithm>

#include "sim/check/catalogue/catalogue.h"
#include "sim/launch/codes.h"

namespace palladion::report {
namespace {

bool names(std::string_view pattern, const isa::CodeText& text) {
  const std::string code = fmt::format("PLD{}", text.number);
  if (!pattern.ends_with('*')) return code == pattern;
  pattern.remove_suffix(1);
  return code.starts_with(pattern);
}

const isa::CodeText* find_in(std::span<const isa::CodeText> table, std::string_view pattern) {
  for (const isa::CodeText& text : table)
    if (names(pattern, text)) return &text;
  return nullptr;
}

}  // namespace

const isa::CodeText* code_text(isa::CodeNumber code) {
  const auto in = [&](std::span<const isa::CodeText> codes) {
    const auto at = std::ranges::find(codes, code.number(), &isa::CodeText::number);
    return at == codes.end() ? nullptr : &*at;
  };
  for (const auto codes : sim::check::checker_codes())
    if (const isa::CodeText* const text = in(codes)) return text;
  return in(sim::run_codes());
}

const isa::CodeText* find_code_text(std::string_view code) {
  for (const auto table : sim::check::checker_codes())
    if (const isa::CodeText* text = find_in(table, code)) return text;
  return find_in(sim::run_codes(), code);
}

}  // namespace palladion::report
