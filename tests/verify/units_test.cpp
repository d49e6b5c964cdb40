#include "isa/host/units.h"

#include <gtest/gtest.h>

#include "verify/arrays/words.h"

namespace palladion::host {
namespace {

using std::chrono::milliseconds;

TEST(Units, BytesAreDecimalOrBinary) {
  EXPECT_EQ(bytes_in("4096"), 4096U);
  EXPECT_EQ(bytes_in("40K"), 40'000U);
  EXPECT_EQ(bytes_in("500MB"), 500'000'000U);
  EXPECT_EQ(bytes_in("4GiB"), uint64_t{4} << 30);
  EXPECT_EQ(bytes_in("4 GiB"), uint64_t{4} << 30) << "as it is printed";
  EXPECT_EQ(bytes_in("1.5kib"), 1536U);
  EXPECT_EQ(bytes_in("9007199254740993"), 9007199254740993U) << "more than a double holds";
  for (const char* text : {"", "GiB", "-1", "4X", "4GiBs", "nan", "inf", "1e30", "4  GiB"})
    EXPECT_EQ(bytes_in(text), std::nullopt) << text;
}

TEST(Units, TimesAndFrequencies) {
  EXPECT_EQ(time_in("10"), milliseconds(10'000));
  EXPECT_EQ(time_in("500ms"), milliseconds(500));
  EXPECT_EQ(time_in("2min"), milliseconds(120'000));
  EXPECT_EQ(time_in("0.5h"), milliseconds(1'800'000));
  EXPECT_EQ(time_in("soon"), std::nullopt);
  EXPECT_EQ(megahertz_in("1755"), 1755);
  EXPECT_EQ(megahertz_in("1.98GHz"), 1980);
  EXPECT_EQ(megahertz_in("2THz"), std::nullopt);
}

TEST(Words, OfYesAndNo) {
  for (const char* text : {"true", "yes", "on", "1"}) EXPECT_EQ(boolean_in(text), true) << text;
  for (const char* text : {"false", "no", "off", "0"}) EXPECT_EQ(boolean_in(text), false) << text;
  EXPECT_EQ(boolean_in("maybe"), std::nullopt);
}

TEST(Words, TwoLettersThatAreExchangedAreOneMistake) {
  EXPECT_EQ(nearest("rnu", {"list", "run"}), "run");
  EXPECT_EQ(nearest("shcedule", {"schedule", "check"}), "schedule");
  EXPECT_EQ(nearest("xyz", {"list", "run"}), "");
}

}  // namespace
}  // namespace palladion::host
