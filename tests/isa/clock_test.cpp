// Files of the clock's parameters: what is wrong with one is named.
#include "isa/arch/clock.h"

#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>
#include <regex>
#include <sstream>

namespace palladion::isa {
namespace {

std::string replaced(std::string text, const std::string& what, const std::string& with) {
  const auto at = text.find(what);
  EXPECT_NE(at, std::string::npos) << what;
  return text.replace(at, what.size(), with);
}

Diagnostics errors_of(const std::string& text) {
  auto parsed = ClockParameters::parse(text, "my.clock");
  return parsed ? Diagnostics{} : parsed.error();
}

std::string h200() { return std::string(clock_file("h200")); }

TEST(ClockFile, OfTheH200IsWhole) {
  ASSERT_NE(find_clock("h200"), nullptr);
  EXPECT_EQ(find_clock("h200")->wgmma_macs_per_cycle, 2048);
  EXPECT_EQ(find_clock("z80"), nullptr);
}

TEST(ClockFile, NamesAMissingParameter) {
  std::string text = h200();
  const auto begin = text.find("\nl2.latency ");
  ASSERT_NE(begin, std::string::npos);
  text.erase(begin, text.find('\n', begin + 1) - begin);
  const Diagnostics errors = errors_of(text);
  ASSERT_EQ(errors.size(), 1U);
  EXPECT_EQ(errors[0].code, "PLD5803");
  EXPECT_NE(errors[0].message.find("`l2.latency`"), std::string::npos);
}

TEST(ClockFile, NamesAnUnknownParameterAndItsLine) {
  const Diagnostics errors = errors_of("l3.latency = 4 cycles | - | 2026-11-21 | nobody\n" + h200());
  ASSERT_EQ(errors.size(), 1U);
  EXPECT_EQ(errors[0].code, "PLD5802");
  EXPECT_NE(errors[0].message.find("`l3.latency`"), std::string::npos);
  EXPECT_EQ(errors[0].loc.line, 1U);
  EXPECT_EQ(errors[0].loc.file, "my.clock");
}

TEST(ClockFile, RefusesAnotherUnitANegativeNumberAndASecondValue) {
  for (const std::string line : {"sm.clock = 2 GHz | - | d | s", "sm.clock = -5 MHz | - | d | s"}) {
    const Diagnostics errors = errors_of(line + "\n" + h200());
    ASSERT_FALSE(errors.empty()) << line;
    EXPECT_EQ(errors[0].code, "PLD5804") << line;
  }
  const Diagnostics twice = errors_of(h200() + "sm.clock = 1980 MHz | 0 | d | s\n");
  ASSERT_EQ(twice.size(), 1U);
  EXPECT_NE(twice[0].message.find("twice"), std::string::npos);
  EXPECT_EQ(errors_of(replaced(h200(), "sm.clock = ", "sm.clock : "))[0].code, "PLD5801");
}

// Prices are looked up by the keys that isa/ops states.
TEST(ClockFile, HasEveryKeyOfTheOps) {
  const std::regex key(R"re((?:Unit::\w+,|\?|:|return)\s*"([a-z_0-9]+)")re");
  size_t seen = 0;
  for (const auto& file : std::filesystem::directory_iterator(PLD_SOURCE_DIR "/isa/ops")) {
    if (file.path().extension() != ".cpp") continue;
    std::ifstream in(file.path());
    for (std::string line; std::getline(in, line);) {
      if (line.find("Unit::") == std::string::npos) continue;
      for (std::sregex_iterator m(line.begin(), line.end(), key), end; m != end; ++m, ++seen)
        EXPECT_GE(op_key((*m)[1].str()), 0) << file.path() << ": " << line;
    }
  }
  EXPECT_GT(seen, 60U);
}

TEST(ClockFile, HbmKeepsItsTimeAtAnotherSmClock) {
  ClockParameters p = *find_clock("h200");
  p.sm_clock = p.sm_clock_measured / 2;
  const ClockParameters half = p.at_sm_clock();
  for (const ClockField& f : clock_fields()) {
    if (f.key == "sm.clock_measured") continue;
    const bool is_time_of_hbm = f.key.starts_with("hbm.") && f.unit == "cycles";
    EXPECT_DOUBLE_EQ(half.*f.member, p.*f.member / (is_time_of_hbm ? 2 : 1)) << f.key;
  }
}

}  // namespace
}  // namespace palladion::isa
