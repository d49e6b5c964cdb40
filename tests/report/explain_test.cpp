#include "report/explain/codes.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <map>
#include <regex>
#include <set>
#include <string>
#include <vector>

#include "kernels/zoo/zoo.h"
#include "report/explain/stalls.h"
#include "report/text/finding_text.h"
#include "sim/check/catalogue/catalogue.h"

namespace palladion::report {
namespace {

namespace fs = std::filesystem;

const fs::path root = PLD_SOURCE_DIR;

void add_numbers(std::set<int>& numbers, const fs::path& file, const std::regex& pattern) {
  std::ifstream in(file);
  const std::string text{std::istreambuf_iterator<char>(in), {}};
  for (std::sregex_iterator at(text.begin(), text.end(), pattern), end; at != end; ++at)
    numbers.insert(std::stoi((*at)[1].str()));
}

// The catalogue itself: its tables, and the list of the checkers' numbers.
bool states_codes(const fs::path& file) {
  return file.stem() == "codes" || file.stem() == "parse_codes" ||
         file.parent_path() == root / "sim/check/catalogue";
}

// The enumerators of a `codes.h`, or of a list `codes.inc`.
std::map<std::string, int> enumerators_of(const fs::path& file) {
  std::map<std::string, int> named;
  const std::regex entry("  ([a-z0-9_]+) = ([0-9]{4}),|PLD_CODE\\(\\s*([0-9]{4}),\\s*([a-z0-9_]+)");
  std::ifstream in(file);
  const std::string text{std::istreambuf_iterator<char>(in), {}};
  for (std::sregex_iterator at(text.begin(), text.end(), entry), end; at != end; ++at) {
    const bool in_list = (*at)[3].matched;
    named[(*at)[in_list ? 4 : 1]] = std::stoi((*at)[in_list ? 3 : 2]);
  }
  EXPECT_FALSE(named.empty()) << file << " states no codes";
  return named;
}

// Those that files and folders name: `Code::shared_bounds`, `ParseCode::syntax`.
void add_enumerators(std::set<int>& numbers, const fs::path& list, const std::string& type,
                     const std::vector<const char*>& places) {
  const std::map<std::string, int> named = enumerators_of(list);
  const std::regex use("\\b" + type + "::([a-z0-9_]+)\\b");
  const auto add_used = [&](const fs::path& file) {
    std::ifstream source(file);
    const std::string text{std::istreambuf_iterator<char>(source), {}};
    for (std::sregex_iterator u(text.begin(), text.end(), use), end; u != end; ++u)
      if (const auto code = named.find((*u)[1]); code != named.end()) numbers.insert(code->second);
  };
  for (const char* place : places) {
    if (fs::is_regular_file(root / place)) add_used(root / place);
    if (!fs::is_directory(root / place)) continue;
    for (const auto& entry : fs::recursive_directory_iterator(root / place))
      if (entry.is_regular_file() && !states_codes(entry.path())) add_used(entry.path());
  }
}

// Those of check::Code that a file names.
void add_names(std::set<int>& numbers, const fs::path& file) {
  static const std::map<std::string, int, std::less<>> by_name = [] {
    std::map<std::string, int, std::less<>> all;
    for (const auto codes : sim::check::checker_codes())
      for (const CodeText& code : codes) all.emplace(code.name, code.number);
    return all;
  }();
  std::ifstream in(file);
  const std::string text{std::istreambuf_iterator<char>(in), {}};
  const std::regex pattern("Code::([a-z0-9_]+)");
  for (std::sregex_iterator at(text.begin(), text.end(), pattern), end; at != end; ++at)
    if (const auto known = by_name.find((*at)[1].str()); known != by_name.end())
      numbers.insert(known->second);
}

// Codes that something reports.
std::set<int> reported() {
  const std::regex quoted("\"PLD([0-9]{4})\"");
  std::set<int> numbers;
  add_numbers(numbers, root / "frontend/core/errors.h", std::regex("= (2[0-9]{3})\\b"));
  EXPECT_GT(numbers.size(), 10u) << "the codes of frontend/core/errors.h are not where they were";
  add_enumerators(numbers, root / "sim/launch/codes.h", "Code",
                  {"sim/machine.cpp", "sim/machine", "sim/schedule", "sim/program"});
  add_enumerators(numbers, root / "isa/core/parse_codes.inc", "ParseCode", {"isa"});
  add_enumerators(numbers, root / "isa/verify/codes.inc", "VerifyCode", {"isa/verify"});
  add_enumerators(numbers, root / "isa/arch/codes.inc", "ClockCode", {"isa/arch"});
  add_enumerators(numbers, root / "verify/arrays/codes.inc", "LaunchCode", {"verify", "kernels", "cli"});
  add_enumerators(numbers, root / "cuda/capture/codes.inc", "Code", {"cuda/capture"});
  add_enumerators(numbers, root / "cuda/native/codes.h", "Code", {"cuda/native", "verify/launch", "cli"});
  for (const char* folder : {"isa", "frontend", "sim", "verify", "kernels", "traces", "cuda/native",
                             "cuda/capture", "cuda/driver/order"})
    for (const auto& entry : fs::recursive_directory_iterator(root / folder)) {
      const fs::path& file = entry.path();
      if ((file.extension() != ".cpp" && file.extension() != ".h") || states_codes(file)) continue;
      add_numbers(numbers, file, quoted);
      const std::string folder_of = file.parent_path().string();
      if (folder_of.find("sim/check") != std::string::npos ||
          folder_of.find("sim/explore") != std::string::npos ||
          folder_of.find("verify/codegen") != std::string::npos ||
          folder_of.find("cuda/driver/order") != std::string::npos)
        add_names(numbers, file);
    }
  return numbers;
}

// Whatever code a user can meet, `explain` has a text for it. (Of the checkers' codes the compiler knows.)
TEST(Codes, EveryCodeOfTheSourcesIsExplained) {
  for (const int number : reported())
    if (number / 1000 != 4 && number / 1000 != 6) {
      EXPECT_NE(find_code(number), nullptr) << "PLD" << number << " has no text in any codes.cpp";
    }
}

TEST(Codes, EveryTextIsOfACodeThatSomethingReports) {
  const std::set<int> used = reported();
  for (const auto codes : all_codes())
    for (const CodeText& code : codes) {
      const int number = code.reported_as != 0 ? code.reported_as : code.number;
      EXPECT_TRUE(used.contains(number)) << "nothing reports PLD" << number << ": " << code.title;
      if (code.reported_as != 0) {
        EXPECT_NE(find_code(number), nullptr) << number;
      }
    }
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
      const int thousands = code.number / 1000;
      const bool of_checkers = thousands == 4 || thousands == 6 || thousands == 7;
      EXPECT_EQ(of_checkers, !code.rule.empty() && !code.effect.empty() && !code.fix.empty()) << code.number;
    }
}

TEST(Codes, EntriesOfTheTaxonomyNameCodes) {
  EXPECT_EQ(code_number("MB-13"), 4113);
  EXPECT_EQ(code_number("tm-08"), 4308);
  EXPECT_EQ(code_number("TC-12"), 4512);
  EXPECT_EQ(entry_of(4512), "TC-12");
  EXPECT_EQ(code_number("XX-08"), 0);
  EXPECT_EQ(entry_of(4113), "MB-13");
  EXPECT_EQ(entry_of(6304), "NU-04");
  EXPECT_EQ(entry_of(4001), "");
  EXPECT_EQ(entry_of(3080), "");
}

TEST(Codes, RulesNameTheirManual) {
  EXPECT_EQ(manual_text("Proxies; membar/fence: fence.proxy.async"),
            "PTX, \"Proxies; membar/fence: fence.proxy.async\"");
  EXPECT_EQ(manual_text("CUDA programming guide: Compute Capabilities"),
            "CUDA programming guide: Compute Capabilities");
  EXPECT_EQ(manual_text(""), "");
}

TEST(Codes, EveryPairOfTheZooHasItsText) {
  for (const kernels::zoo::Pair& pair : kernels::zoo::all_pairs())
    EXPECT_NE(find_code(code_number(pair.code)), nullptr) << pair.name << " " << pair.code;
}

TEST(Codes, WordsThatNameACode) {
  EXPECT_EQ(code_number("PLD3001"), 3001);
  EXPECT_EQ(code_number("pld3001"), 3001);
  EXPECT_EQ(code_number("3001"), 3001);
  for (const char* word : {"wgmma", "PLD30", "XLD3001", "", "30010", "bar."})
    EXPECT_EQ(code_number(word), 0) << word;
}

TEST(Stalls, EveryReasonIsExplainedUnderItsOwnName) {
  for (size_t i = 0; i < sim::stall_count; ++i) {
    const auto stall = static_cast<sim::Stall>(i);
    const StallText* text = find_stall(sim::name(stall));
    ASSERT_NE(text, nullptr) << sim::name(stall);
    EXPECT_EQ(text->stall, stall);
    EXPECT_EQ(text->fix.empty(), stall == sim::Stall::selected);
  }
  EXPECT_EQ(find_stall("long_scoreboard"), find_stall("long scoreboard"));
  EXPECT_EQ(find_stall("boredom"), nullptr);
}

}  // namespace
}  // namespace palladion::report
