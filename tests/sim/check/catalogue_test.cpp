// The catalogue of the checkers' codes, and what a finding takes from it.
#include "sim/check/catalogue/catalogue.h"

#include <gtest/gtest.h>

namespace palladion::sim::check {
namespace {

static_assert(number_of(Code::read_without_proxy_fence) == 4309);

TEST(Catalogue, EveryNameHasItsText) {
  for (const auto table : checker_codes())
    for (const isa::CodeText& text : table) {
      EXPECT_EQ(&text_of(Code{static_cast<uint16_t>(text.number)}), &text);
      EXPECT_FALSE(text.name.empty()) << text.number;
    }
  EXPECT_EQ(text_of(Code::read_without_proxy_fence).name, "read_without_proxy_fence");
  EXPECT_EQ(name_of(Code::read_without_proxy_fence), "PLD4309");
}

TEST(Catalogue, AFindingTakesRuleAndHelpFromItsCode) {
  Finding f;
  complete(f, Code::read_without_proxy_fence);
  EXPECT_EQ(f.code, "PLD4309");
  EXPECT_EQ(f.rule, text_of(Code::read_without_proxy_fence).rule);
  EXPECT_EQ(f.help, text_of(Code::read_without_proxy_fence).fix);
  EXPECT_EQ(f.severity, FindingSeverity::error);
}

TEST(Catalogue, WhatTheCaseSaysItselfStays) {
  Finding f;
  f.help = "give each role its own barrier id";
  complete(f, Code::barrier_of_two_groups);
  EXPECT_EQ(f.help, "give each role its own barrier id");
  EXPECT_EQ(f.rule, text_of(Code::barrier_of_two_groups).rule);
}

TEST(Catalogue, CodesThatAreAlwaysStrictMakeTheFindingStrict) {
  Finding f;
  complete(f, Code::narrow_overflow);
  EXPECT_EQ(f.severity, FindingSeverity::strict);
}

}  // namespace
}  // namespace palladion::sim::check
