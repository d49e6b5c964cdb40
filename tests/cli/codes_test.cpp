#include "cli/codes/codes.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <regex>
#include <set>
#include <string>

#include "zoo/zoo.h"

namespace palladion::cli {
namespace {

std::set<int> numbers_in(const std::filesystem::path& file, const std::regex& pattern) {
  std::ifstream in(file);
  const std::string text{std::istreambuf_iterator<char>(in), {}};
  std::set<int> numbers;
  for (std::sregex_iterator at(text.begin(), text.end(), pattern), end; at != end; ++at)
    numbers.insert(std::stoi((*at)[1].str()));
  return numbers;
}

// Whatever code a user can meet, `explain` has a text for it.
TEST(Codes, EveryCodeOfTheSourcesIsExplained) {
  const std::filesystem::path root = PLD_SOURCE_DIR;
  std::set<int> used = numbers_in(root / "frontend/core/errors.h", std::regex("= (2[0-9]{3})\\b"));
  EXPECT_GT(used.size(), 10u) << "the codes of frontend/core/errors.h are not where they were";
  for (const char* folder : {"isa", "frontend", "sim", "native", "kernels", "traces"}) {
    if (!std::filesystem::exists(root / folder)) continue;
    for (const auto& entry : std::filesystem::recursive_directory_iterator(root / folder)) {
      const auto extension = entry.path().extension();
      if (extension != ".cpp" && extension != ".h") continue;
      used.merge(numbers_in(entry.path(), std::regex("\"PLD([0-9]{4})\"")));
      // Checkers name their codes by number alone.
      if (entry.path().parent_path() == root / "sim/check")
        used.merge(
            numbers_in(entry.path(), std::regex("\\b(40(?!96)[0-9]{2}|4[1-9][0-9]{2}|6[0-3][0-9]{2})\\b")));
    }
  }
  for (const int number : used)
    EXPECT_NE(find_code(number), nullptr) << "PLD" << number << " has no text in cli/codes*.cpp";
}

TEST(Codes, NumbersAscendAndTitlesSaySomething) {
  int last = 0;
  for (const auto codes : all_codes())
    for (const CodeText& code : codes) {
      EXPECT_GT(code.number, last);
      EXPECT_FALSE(code.title.empty()) << code.number;
      EXPECT_EQ(code.wrong.empty(), code.right.empty()) << code.number;
      last = code.number;
    }
}

TEST(Codes, TextsOfCheckersSayRuleEffectAndFix) {
  for (const auto codes : all_codes())
    for (const CodeText& code : codes) {
      const bool of_checkers = code.number / 1000 == 4 || code.number / 1000 == 6;
      EXPECT_EQ(of_checkers, !code.rule.empty() && !code.effect.empty() && !code.fix.empty()) << code.number;
    }
}

TEST(Codes, EntriesOfTheTaxonomyNameCodes) {
  EXPECT_EQ(code_number("MB-13"), 4113);
  EXPECT_EQ(code_number("tm-08"), 4308);
  EXPECT_EQ(code_number("XX-08"), 0);
  EXPECT_EQ(entry_of(4113), "MB-13");
  EXPECT_EQ(entry_of(6304), "NU-04");
  EXPECT_EQ(entry_of(4001), "");
  EXPECT_EQ(entry_of(3080), "");
}

TEST(Codes, EveryPairOfTheZooHasItsText) {
  for (const zoo::Pair& pair : zoo::all_pairs())
    EXPECT_NE(find_code(code_number(pair.code)), nullptr) << pair.name << " " << pair.code;
}

TEST(Codes, WordsThatNameACode) {
  EXPECT_EQ(code_number("PLD3001"), 3001);
  EXPECT_EQ(code_number("pld3001"), 3001);
  EXPECT_EQ(code_number("3001"), 3001);
  for (const char* word : {"wgmma", "PLD30", "XLD3001", "", "30010", "bar."})
    EXPECT_EQ(code_number(word), 0) << word;
}

}  // namespace
}  // namespace palladion::cli
