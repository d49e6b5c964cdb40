// The catalogue of the checkers' codes, and what a finding takes from it.
#include "sim/check/catalogue/catalogue.h"

#include <gtest/gtest.h>

#include <type_traits>

namespace palladion::sim::check {
namespace {

template <int number>
concept Catalogued = requires { typename std::integral_constant<int, Code(number).number()>; };

static_assert(Catalogued<4309>);
static_assert(Catalogued<6304>);
static_assert(!Catalogued<4310 + 90>);
static_assert(!Catalogued<3080>);

TEST(Catalogue, EveryNumberHasItsText) {
  size_t entries = 0;
  for (const auto table : checker_codes()) entries += table.size();
  EXPECT_EQ(entries, std::size(catalogued));
  EXPECT_EQ(text_of(4309).number, 4309);
  EXPECT_EQ(Code(4309).name(), "PLD4309");
}

TEST(Catalogue, AFindingTakesRuleAndHelpFromItsCode) {
  Finding f;
  complete(f, 4309);
  EXPECT_EQ(f.code, "PLD4309");
  EXPECT_EQ(f.rule, text_of(4309).rule);
  EXPECT_EQ(f.help, text_of(4309).fix);
  EXPECT_EQ(f.severity, FindingSeverity::error);
}

TEST(Catalogue, WhatTheCaseSaysItselfStays) {
  Finding f;
  f.help = "give each role its own barrier id";
  complete(f, 4604);
  EXPECT_EQ(f.help, "give each role its own barrier id");
  EXPECT_EQ(f.rule, text_of(4604).rule);
}

TEST(Catalogue, CodesThatAreAlwaysStrictMakeTheFindingStrict) {
  Finding f;
  complete(f, 6301);
  EXPECT_EQ(f.severity, FindingSeverity::strict);
}

}  // namespace
}  // namespace palladion::sim::check
