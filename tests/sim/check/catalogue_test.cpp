// The catalogue of the checkers' codes, and what a finding takes from it.
#include "sim/check/catalogue/catalogue.h"

#include <gtest/gtest.h>

#include "report/text/finding_text.h"
#include "sim/launch/phrases/phrase.h"

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
  EXPECT_EQ(isa::CodeNumber(Code::read_without_proxy_fence).name(), "PLD4309");
}

TEST(Catalogue, AFindingTakesRuleAndHelpFromItsCode) {
  Finding f;
  complete(f, Code::read_without_proxy_fence);
  EXPECT_EQ(f.code, "PLD4309");
  EXPECT_EQ(report::rule_text(f), text_of(Code::read_without_proxy_fence).rule);
  EXPECT_EQ(report::help_text(f), text_of(Code::read_without_proxy_fence).fix);
  EXPECT_EQ(f.severity, FindingSeverity::error);
}

TEST(Catalogue, WhatTheCaseSaysItselfStays) {
  Finding f;
  f.help = say<Phrase::barrier_for_each_role>();
  complete(f, Code::barrier_of_two_groups);
  EXPECT_EQ(report::help_text(f), template_of(Phrase::barrier_for_each_role));
  EXPECT_EQ(report::rule_text(f), text_of(Code::barrier_of_two_groups).rule);
}

TEST(Catalogue, CodesThatAreAlwaysStrictMakeTheFindingStrict) {
  Finding f;
  complete(f, Code::narrow_overflow);
  EXPECT_EQ(f.severity, FindingSeverity::strict);
}

}  // namespace
}  // namespace palladion::sim::check
