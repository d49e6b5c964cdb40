// Colour, numbers and codes in texts for people.
#include <gtest/gtest.h>

#include "report/text/codes.h"
#include "report/text/finding_text.h"
#include "report/text/numbers.h"
#include "report/text/paint.h"
#include "report/text/words.h"

namespace palladion::report {
namespace {

TEST(Style, PaintIsSilentWithoutColour) {
  EXPECT_EQ(paint("error", Style::red, false), "error");
  EXPECT_EQ(paint("error", Style::red, true), "\x1b[31merror\x1b[0m");
  EXPECT_EQ(paint("error", Style::plain, true), "error");
}

TEST(Numbers, HaveThreeDigitsForPeople) {
  EXPECT_EQ(human_seconds(0.000045), "45.0 us");
  EXPECT_EQ(human_seconds(0.3124), "312 ms");
  EXPECT_EQ(human_seconds(1.5), "1.50 s");
  EXPECT_EQ(human_bytes(17), "17 B");
  EXPECT_EQ(human_bytes(384ull << 20), "384 MiB");
  EXPECT_EQ(human_count(999), "999");
  EXPECT_EQ(human_count(1234567), "1.23 M");
}

TEST(Objects, BytesBehindAnArrayAreNamedAfterIt) {
  sim::Object object;
  object.kind = sim::Object::Kind::shared_memory;
  object.names = {{.name = "a", .index = {}, .bytes = {{32, 36}}}};
  object.past_end = true;
  EXPECT_EQ(text_of(object), "`a` bytes [32, 36), past its end");
}

TEST(Codes, RulesNameTheirManual) {
  EXPECT_EQ(manual_text("Proxies; membar/fence: fence.proxy.async"),
            "PTX, \"Proxies; membar/fence: fence.proxy.async\"");
  EXPECT_EQ(manual_text("CUDA programming guide: Compute Capabilities"),
            "CUDA programming guide: Compute Capabilities");
  EXPECT_EQ(manual_text(""), "");
}

TEST(Codes, AreFoundByTheirNameAndByItsBeginning) {
  EXPECT_EQ(find_code_text("PLD4307")->number, 4307);
  EXPECT_EQ(find_code_text("PLD3001")->number, 3001);
  EXPECT_NE(find_code_text("PLD43*"), nullptr);
  for (const char* word : {"PLD9999", "PLD99*", "4307", "PLD430", ""})
    EXPECT_EQ(find_code_text(word), nullptr) << word;
}

}  // namespace
}  // namespace palladion::report
