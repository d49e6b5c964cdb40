#pragma once
// The texts of the checkers' codes, independent of any execution: findings, `palladion explain` and reports
// read them here.
#include <span>
#include <string_view>

#include "isa/core/code_text.h"
#include "sim/check/catalogue/code.h"
#include "sim/launch/finding.h"

namespace palladion::sim::check {

const isa::CodeText& text_of(Code code);
// All entries of a range of numbers, in ascending order: 4001 to 4909, 6001 to 7009.
std::span<const std::span<const isa::CodeText>> checker_codes();

// A group of the taxonomy: its entry MB-13 is the code 4113.
struct CodeGroup {
  std::string_view letters;
  int hundreds;
};
inline constexpr CodeGroup code_groups[] = {{"MB", 41}, {"TX", 42}, {"TM", 43}, {"WG", 44}, {"TC", 45},
                                            {"NB", 46}, {"DV", 47}, {"CL", 48}, {"DL", 49}, {"GM", 60},
                                            {"UN", 61}, {"RS", 62}, {"NU", 63}};

// Gives the finding its code. A code that is always strict makes the finding so.
void complete(Finding& finding, Code code);

}  // namespace palladion::sim::check
