// Scopes of the author: files, tracks, both sides next to one another.
#include "traces/scopes.h"

#include <gmock/gmock.h>

#include "tests/traces/driver.h"

namespace palladion::traces {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;

const char* const file = R"(# recorded once
what NVIDIA H200, driver 13000
kernel matmul_ws m=512
sm_clock_mhz 1755
lane 0 2 5 0
scope 40 90 prologue
scope 100 900 main loop
lane 7 0 6 3
scope 10 20 epilogue
)";

TEST(Scopes, AFileIsReadAndWrittenBack) {
  const auto times = scopes_from(file);
  ASSERT_TRUE(times) << times.error();
  EXPECT_EQ(times->what, "NVIDIA H200, driver 13000");
  EXPECT_EQ(times->sm_clock_mhz, 1755);
  ASSERT_EQ(times->lanes.size(), 2U);
  EXPECT_EQ(times->lanes[0].scopes[1].name, "main loop");
  EXPECT_EQ(times->lanes[1].lost, 3U);
  EXPECT_EQ("# recorded once\n" + to_text(*times), file);
}

TEST(Scopes, AWrongLineIsNamed) {
  for (const char* wrong : {"scope 1 2 before a lane", "what x\nlane 0 1", "lane 0 0 0\nscope 9 3 backwards",
                            "lane 0 0 0\nscope 1 2", "speed 5", "sm_clock_mhz fast"}) {
    const auto times = scopes_from(wrong);
    ASSERT_FALSE(times) << wrong;
    EXPECT_THAT(times.error(), HasSubstr("line "));
  }
}

TEST(Scopes, HaveATrackForEachWarpgroupOfTheChosenCtas) {
  testing::Recording recording;
  const Track process{.id = 9, .kind = TrackKind::process, .name = "device"};
  EXPECT_TRUE(add_scopes(recording, *scopes_from(file), process, 0, 3, 1000));
  EXPECT_THAT(recording.on("warpgroup 2, on SM 5"),
              ElementsAre("prologue 1040..1090", "main loop 1100..1900"));
  EXPECT_THAT(recording.on("warpgroup 0, on SM 6"), ElementsAre());
  for (const Track& t : recording.tracks) EXPECT_NE(t.parent, 0U);
}

TEST(Scopes, AreComparedByNameAndWarpgroup) {
  ScopeTimes simulated = *scopes_from(file);
  simulated.lanes[0].scopes[1].to = 1000;
  const std::string text = compare_scopes(simulated, *scopes_from(file));
  EXPECT_THAT(text, HasSubstr("main loop"));
  EXPECT_THAT(text, HasSubstr("+12.5 %"));
}

}  // namespace
}  // namespace palladion::traces
