// The text timeline of a small pipeline, built by hand: a producer, a consumer, two stages.
#include "traces/text.h"

#include <gmock/gmock.h>

#include <set>

#include "sim/launch/clock.h"
#include "tests/support/golden.h"
#include "traces/letters.h"

namespace palladion::traces {
namespace {

class Story {
 public:
  explicit Story(Header header = {.title = "a pipeline of two stages", .sm_clock_mhz = 1000}) {
    t.header = std::move(header);
    track(1, 0, TrackKind::process, 0, "simulator");
    track(2, 1, TrackKind::sm, 0, "SM 0");
    track(3, 2, TrackKind::cta, 0, "CTA slot 0");
  }
  void track(uint64_t id, uint64_t parent, TrackKind kind, int order, const std::string& name) {
    t.rows[id].track = {id, parent, kind, order, name};
  }
  void slice(uint64_t track, uint64_t from, uint64_t to, std::string_view name, std::string_view line = {}) {
    Event e{.track = track, .from = from, .to = to, .category = Category::issue, .name = name};
    if (!line.empty()) e.args = {{"reason", name}, {"line", line}};
    t.add(e);
  }
  TextTimeline t;
};

Story pipeline(Header header = {.title = "a pipeline of two stages", .sm_clock_mhz = 1000}) {
  Story s(std::move(header));
  s.track(4, 3, TrackKind::role, 0, "warpgroup 0, issues bulk loads");
  s.track(5, 4, TrackKind::warp, 0, "warp 0");
  s.track(6, 4, TrackKind::warp, 1, "warp 1");
  s.track(7, 3, TrackKind::tensor_core, 9, "tensor core");
  s.track(8, 3, TrackKind::group, 10, "copies in flight");
  s.track(9, 8, TrackKind::in_flight, 0, "copies in flight 0");
  s.track(10, 8, TrackKind::in_flight, 1, "copies in flight 1");
  s.track(11, 3, TrackKind::group, 20, "mbarriers");
  s.track(12, 11, TrackKind::mbarrier, 0, "`full`[0]");
  s.track(13, 3, TrackKind::group, 30, "shared memory");
  s.track(14, 13, TrackKind::stage, 0, "`tile`[0]");
  s.slice(3, 0, 1000, "CTA (0,0,0)");
  s.slice(5, 0, 100, "k.cpp:3");
  s.slice(5, 100, 900, "mbarrier", "k.cpp:4");
  s.slice(5, 900, 1000, "k.cpp:5");
  s.slice(6, 0, 1000, "barrier", "k.cpp:9");
  s.slice(7, 500, 600, "wgmma");
  s.slice(7, 600, 640, "wgmma");
  s.slice(9, 100, 500, "load `tile`[0]");
  s.slice(10, 300, 700, "load `tile`[1]");
  s.slice(12, 50, 500, "phase, parity 0");
  s.slice(12, 500, 700, "phase, parity 1");
  s.slice(14, 100, 500, "filling");
  s.slice(14, 500, 520, "full");
  s.slice(14, 520, 640, "reading");
  s.slice(14, 640, 1000, "free");
  return s;
}

TEST(Text, APipelineIsReadAtAGlance) {
  EXPECT_TRUE(golden::compare("traces/pipeline.txt", render(pipeline().t)));
}

TEST(Text, IsNarrowWhateverTheRunsLength) {
  Story s = pipeline();
  s.slice(5, 1000, 5'000'000'000, "mbarrier", "k.cpp:4");
  for (const std::string_view line : golden::lines_of(render(s.t))) EXPECT_LE(line.size(), 110U) << line;
}

TEST(Text, AWindowStartsAtItsFirstCycle) {
  const std::string text = render(pipeline({.title = "t", .from = 400}).t);
  EXPECT_THAT(text, ::testing::HasSubstr("400 to 1000 SM cycles"));
  EXPECT_THAT(text, ::testing::HasSubstr("'400"));
}

TEST(Text, SaysWhenItHasNoClockOrIsIncomplete) {
  const std::string text =
      render(pipeline({.title = "t", .unit = TimeUnit::warp_instructions}).t, "cut here");
  EXPECT_THAT(text, ::testing::HasSubstr("no clock"));
  EXPECT_THAT(text, ::testing::HasSubstr("incomplete: cut here"));
}

TEST(Letters, EveryStallReasonHasItsOwn) {
  std::set<char> letters;
  for (size_t i = 0; i < sim::stall_count; ++i)
    letters.insert(letter_of(TrackKind::warp, sim::name(static_cast<sim::Stall>(i))).letter);
  EXPECT_EQ(letters.size(), sim::stall_count);
}

}  // namespace
}  // namespace palladion::traces
