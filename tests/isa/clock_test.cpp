// Files of the clock's parameters: what is wrong with one is named.
#include "isa/arch/clock.h"

#include <gtest/gtest.h>

#include <algorithm>
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
  const Diagnostics errors = errors_of("l3.latency = 4 cycles | - | 2026-11-21 | no source\n" + h200());
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

// ---- files that inherit --------------------------------------------------------------------------
ClockParameters parsed_clock(const std::string& text) {
  auto p = ClockParameters::parse(text, "my.clock");
  EXPECT_TRUE(p.has_value()) << render(p.error());
  return p ? *p : ClockParameters{};
}

TEST(ClockFile, InheritsAnotherOneAndChangesAKey) {
  const ClockParameters p = parsed_clock("inherit h200  # all of it\nl2.latency = 300 cycles | - | d | s\n");
  const ClockParameters& parent = *find_clock("h200");
  EXPECT_EQ(p.l2_latency, 300);
  for (const ClockField& f : clock_fields()) {
    if (f.key != "l2.latency") {
      EXPECT_EQ(p.*f.member, parent.*f.member) << f.key;
    }
  }
  EXPECT_EQ(p.cost("alu").latency, parent.cost("alu").latency);
  EXPECT_EQ(p.absent, parent.absent);
}

// Two files deep; the nearest line holds.
std::string_view family(std::string_view name) {
  return name == "parent"
             ? "inherit h200\nl2.latency = 310 cycles | - | d | s\nl2.spread = 3 cycles | - | d | s\n"
         : name == "wheel" ? "inherit wheel\n"
         : name == "left"  ? "inherit right\n"
         : name == "right" ? "inherit left\n"
         : name == "bare"  ? "inherit h200\nwithout tma\n"
         : name == "h200"  ? clock_file("h200")
                           : "";
}

TEST(ClockFile, InheritsThroughSeveralFiles) {
  const auto p =
      ClockParameters::parse("inherit parent\nl2.latency = 320 cycles | - | d | s\n", "my.clock", family);
  ASSERT_TRUE(p.has_value());
  EXPECT_EQ(p->l2_latency, 320);
  EXPECT_EQ(p->l2_spread, 3);
  EXPECT_EQ(p->hbm_read, find_clock("h200")->hbm_read);
}

std::string only_error(const std::string& text, const std::string& code) {
  const auto p = ClockParameters::parse(text, "my.clock", family);
  if (p) return "no error";
  for (const Diagnostic& d : p.error())
    if (d.code.name() == code) return d.message;
  return "another code: " + p.error()[0].code.name();
}

TEST(ClockFile, RefusesWhatCannotBeInherited) {
  EXPECT_NE(only_error("inherit z80\n", "PLD5805").find("no file `z80`"), std::string::npos);
  EXPECT_NE(only_error("inherit wheel\n", "PLD5805").find("wheel -> wheel"), std::string::npos);
  EXPECT_NE(only_error("inherit left\n", "PLD5805").find("left -> right -> left"), std::string::npos);
  EXPECT_NE(only_error("inherit h200\ninherit h200\n", "PLD5805").find("once"), std::string::npos);
  EXPECT_NE(only_error("sm.clock = 1 MHz | - | d | s\ninherit h200\n", "PLD5805").find("before all"),
            std::string::npos);
}

TEST(ClockFile, LeavesOutUnitsThatTheChipDoesNotHave) {
  const ClockParameters p = parsed_clock("inherit h200\nwithout wgmma\nwithout dsm\n");
  EXPECT_EQ(p.absent_unit_of("wgmma_commit"), "wgmma");
  EXPECT_EQ(p.absent_unit_of("ld_cluster"), "dsm");
  EXPECT_EQ(p.absent_unit_of("alu"), "");
  EXPECT_EQ(p.wgmma_macs_per_cycle, 0);
  EXPECT_EQ(find_clock("h200")->absent_unit_of("wgmma"), "");
}

TEST(ClockFile, AnAbsentUnitHasNoParameters) {
  const auto of_dsm = [](const std::string& line) {
    const auto& ops = std::ranges::find(clock_units(), "dsm", &ClockUnit::name)->ops;
    return line.starts_with("dsm.") || std::ranges::any_of(ops, [&](std::string_view op) {
             return line.starts_with("op." + std::string(op) + ".");
           });
  };
  std::string text = "without dsm\n", dsm;
  std::istringstream lines(h200());
  for (std::string line; std::getline(lines, line);) (of_dsm(line) ? dsm : text) += line + "\n";
  EXPECT_EQ(parsed_clock(text).absent_unit_of("ld_cluster"), "dsm");
  const Diagnostics errors = errors_of(text + dsm);
  EXPECT_EQ(errors.size(), size_t(std::ranges::count(dsm, '\n')));
  for (const Diagnostic& d : errors)
    EXPECT_NE(d.message.find("the chip is without dsm"), std::string::npos) << d.message;
}

TEST(ClockFile, AParameterBringsAnInheritedUnitBack) {
  EXPECT_NE(only_error("inherit bare\ntma.queue = 4 copies | - | d | s\n", "PLD5803").find("tensor_"),
            std::string::npos);
  EXPECT_EQ(only_error("without tea\ninherit h200\n", "PLD5802"), "unknown unit `tea`");
}

TEST(ClockFile, EveryUnitsOpsAreKeys) {
  for (const ClockUnit& unit : clock_units())
    for (const std::string_view op : unit.ops) EXPECT_GE(op_key(op), 0) << unit.name << " " << op;
}

}  // namespace
}  // namespace palladion::isa
