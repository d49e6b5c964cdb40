#include "report/explain/codes.h"

#include <fmt/format.h>

#include <algorithm>
#include <cctype>
#include <vector>

#include "cuda/native/codes.h"
#include "frontend/core/codes.h"
#include "isa/arch/codes.h"
#include "isa/text/codes.h"
#include "isa/verify/codes.h"
#include "kernels/frame/codes.h"
#include "report/explain/capture_codes.h"
#include "sim/check/catalogue/catalogue.h"
#include "sim/launch/codes.h"
#include "verify/arrays/words.h"

namespace palladion::report {
namespace {

using sim::check::code_groups, sim::check::CodeGroup;

std::string in_capitals(std::string_view word) {
  std::string out(word);
  for (char& c : out) c = char(std::toupper(static_cast<unsigned char>(c)));
  return out;
}

}  // namespace

std::span<const std::span<const CodeText>> all_codes() {
  static const std::vector<std::span<const CodeText>> tables = [] {
    std::vector<std::span<const CodeText>> all{
        isa::text_codes(),       isa::verify_codes(), frontend::record_codes(),     sim::run_codes(),
        kernels::kernel_codes(), isa::clock_codes(),  cuda::native::device_codes(), capture_codes()};
    const auto checkers = sim::check::checker_codes();
    all.insert(all.end(), checkers.begin(), checkers.end());
    std::ranges::sort(all, {}, [](std::span<const CodeText> table) { return table.front().number; });
    return all;
  }();
  return tables;
}

const CodeText* find_code(int number) {
  for (const auto codes : all_codes()) {
    const auto at = std::ranges::find(codes, number, &CodeText::number);
    if (at != codes.end()) return &*at;
  }
  return nullptr;
}

int code_number(std::string_view word) {
  const std::string upper = in_capitals(word);
  word = upper;
  if (word.size() == 5 && word[2] == '-') {
    const auto group = std::ranges::find(code_groups, word.substr(0, 2), &CodeGroup::letters);
    const auto number = number_in<int>(word.substr(3));
    return group != std::end(code_groups) && number ? group->hundreds * 100 + *number : 0;
  }
  if (word.size() == 7 && word.starts_with("PLD")) word.remove_prefix(3);
  return word.size() == 4 ? number_in<int>(word).value_or(0) : 0;
}

std::string entry_of(int number) {
  const auto group = std::ranges::find(code_groups, number / 100, &CodeGroup::hundreds);
  return group == std::end(code_groups) ? "" : fmt::format("{}-{:02}", group->letters, number % 100);
}

}  // namespace palladion::report
