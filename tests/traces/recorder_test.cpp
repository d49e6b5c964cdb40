// Events in, slices and arrows out.
#include <gmock/gmock.h>

#include <algorithm>

#include "tests/traces/driver.h"

namespace palladion::traces {
namespace {

using testing::Driver;
using ::testing::ElementsAre;
using ::testing::IsEmpty;
using testing::Recording;
using A = isa::MbarrierAction;

const char* const copies = R"(
.visible .entry k(.param .u64 p)
{
  .shared .align 128 .b8 tile[256];
  .shared .align 8 .b64 full;
  .reg .b64 %rd<3>;
  .reg .b32 %r<3>;
  .reg .pred %p;
  ld.param.u64 %rd1, [p];
  mov.u32 %r1, tile;
  mov.u32 %r2, full;
  cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes [%r1], [%rd1], 256, [%r2];
  mbarrier.try_wait.parity.shared::cta.b64 %p, [%r2], 0;
  ld.shared.u32 %r1, [tile];
  ret;
}
)";
constexpr uint32_t copy_pc = 3, wait_pc = 4, load_pc = 5;

// The instruction issues now; its warp was stalled since `from`, for one reason.
void stalled(Driver& d, const sim::Origin& origin, sim::Stall reason, uint64_t from) {
  const sim::StallPart part{reason, d.cluster.now};
  d.events.emit(sim::Stalled{origin, sim::Cycle(from), {&part, 1}});
}

// One copy that fills the tile, completes a phase that warp 4 waits for, and is read.
void one_copy(Driver& d) {
  const auto tile = d.program->reserved_shared;
  const sim::SharedAddress full(tile + 256);
  const sim::Piece write{isa::Space::shared_cluster, tile, 256};
  const uint32_t bytes = 256;
  sim::MbarrierState phase{.pending = 0, .expected = 1, .tx = 256, .valid = true};
  d.cluster.now = sim::Cycle(5);
  d.mbarrier(copy_pc, 0, {.action = A::init, .address = full, .count = 1, .after = phase.encode()});
  d.cluster.now = sim::Cycle(100);
  d.events.emit(sim::AsyncIssue{.origin = d.at(copy_pc, 0, 1),
                                .id = 1,
                                .writes = {&write, 1},
                                .mbarriers = {&full, 1},
                                .mbarrier_bytes = {&bytes, 1},
                                .name = "cp.async.bulk"});
  d.cluster.now = sim::Cycle(700);
  d.mbarrier(copy_pc, 0,
             {.action = A::complete_tx,
              .address = full,
              .tx = -256,
              .before = phase.encode(),
              .completed = true,
              .async_id = 1});
  d.events.emit(sim::AsyncLanded{1});
  d.cluster.now = sim::Cycle(720);
  stalled(d, d.at(wait_pc, 4), sim::Stall::mbarrier, 90);
  d.mbarrier(wait_pc, 4, {.action = A::try_wait, .address = full, .succeeded = true});
  d.cluster.now = sim::Cycle(740);
  uint64_t addresses[32];
  std::fill_n(addresses, 32, tile);
  stalled(d, d.at(load_pc, 4), sim::Stall::wait, 721);
  d.events.emit(sim::Access{.origin = d.at(load_pc, 4),
                            .space = isa::Space::shared_cta,
                            .size = 4,
                            .addresses = addresses,
                            .lanes = ~0U});
  d.cluster.now = sim::Cycle(800);
}

TEST(Recorder, TellsACopyFromIssueToTheWarpThatWaitedForIt) {
  Recording recording;
  Driver d(copies, recording, {}, 8);
  one_copy(d);
  d.end();
  EXPECT_THAT(recording.on("copies in flight 0"), ElementsAre("load `tile` 100..700"));
  EXPECT_THAT(recording.on("`full`"), ElementsAre("phase, parity 0 5..700", "complete @700"));
  EXPECT_THAT(recording.on("warp 0"), ElementsAre("issues load `tile` @100"));
  EXPECT_THAT(recording.on("warp 4"),
              ElementsAre("sees `full` @720", "mbarrier `full` 90..720", "PTX line 16 720..721",
                          "wait 721..740", "PTX line 17 740..741"));
  EXPECT_THAT(recording.on("`tile`"), ElementsAre("filling 100..700", "full 700..740", "free 740..800"));
  EXPECT_THAT(recording.on("CTA slot 0"), ElementsAre("CTA (0,0,0) 0..800"));
}

// Issue, copy, completion and the waiting warp, one arrow after the other.
TEST(Recorder, DrawsArrowsFromIssueToConsumer) {
  Recording recording;
  Driver d(copies, recording, {}, 8);
  one_copy(d);
  d.end();
  const auto find = [&](const std::string& text) {
    const auto at = std::ranges::find(recording.events, text, [](const auto& e) { return e.text; });
    EXPECT_NE(at, recording.events.end()) << text;
    return *at;
  };
  EXPECT_EQ(find("issues load `tile`").flows, find("load `tile`").ends);
  EXPECT_EQ(find("load `tile`").flows, find("complete").ends);
  EXPECT_EQ(find("complete").flows, find("sees `full`").ends);
  EXPECT_THAT(find("complete").flows, ::testing::SizeIs(1));
}

TEST(Recorder, MergesWhatAWarpDoesByReasonAndLine) {
  Recording recording;
  Driver d(copies, recording);
  uint64_t last = 9;
  for (uint64_t t : {10, 14, 18, 60, 62, 110}) {  // two long waits at one line, little between
    d.cluster.now = sim::Cycle(t);
    stalled(d, d.at(t == 60 || t == 110 ? load_pc : wait_pc), sim::Stall::short_scoreboard, last);
    last = t + 1;
  }
  d.end();
  EXPECT_THAT(recording.on("warp 0"),
              ElementsAre("PTX line 16 9..19", "short scoreboard 19..110", "PTX line 17 110..111"));
}

// Each reason of a stall is a slice of its own, unless it is short; the one that waits for others names them.
TEST(Recorder, DividesAStallByItsReasons) {
  Recording recording;
  Driver d(copies, recording);
  const sim::SharedAddress full(d.program->reserved_shared + 256);
  const sim::MbarrierState phase{.pending = 1, .expected = 1, .valid = true};
  d.mbarrier(copy_pc, 0, {.action = A::init, .address = full, .count = 1, .after = phase.encode()});
  d.cluster.now = sim::Cycle(120);
  const std::vector<sim::StallPart> parts = {{sim::Stall::wait, sim::Cycle(14)},
                                             {sim::Stall::mbarrier, sim::Cycle(80)},
                                             {sim::Stall::not_selected, sim::Cycle(120)}};
  d.events.emit(sim::Stalled{d.at(wait_pc), sim::Cycle(10), parts});
  d.mbarrier(wait_pc, 0, {.action = A::try_wait, .address = full, .succeeded = true});
  d.end();
  EXPECT_THAT(recording.on("warp 0"), ElementsAre("PTX line 16 10..14", "mbarrier `full` 14..80",
                                                  "not selected 80..120", "PTX line 16 120..121"));
}

TEST(Recorder, NamesRolesByWhatTheirWarpsDid) {
  Recording recording;
  Driver d(copies, recording, {}, 8);
  one_copy(d);
  d.end();
  std::vector<std::string> roles;
  for (const Track& t : recording.tracks)
    if (t.kind == TrackKind::role) roles.push_back(t.name);
  EXPECT_THAT(roles, ElementsAre("warpgroup 0, issues bulk loads", "warpgroup 1"));
}

TEST(Recorder, CopiesThatOverlapHaveTracksOfTheirOwn) {
  Recording recording;
  Driver d(copies, recording);
  for (uint64_t id : {1, 2, 3}) {
    d.cluster.now = sim::Cycle(10 * id);
    d.events.emit(sim::AsyncIssue{.origin = d.at(copy_pc, 0, 1), .id = id, .name = "cp.async.bulk"});
    if (id == 2) d.events.emit(sim::AsyncLanded{1});
  }
  d.cluster.now = sim::Cycle(50);
  d.events.emit(sim::AsyncLanded{2});
  d.events.emit(sim::AsyncLanded{3});
  d.end();
  EXPECT_THAT(recording.on("copies in flight 0"),
              ElementsAre("cp.async.bulk 10..20", "cp.async.bulk 30..50"));
  EXPECT_THAT(recording.on("copies in flight 1"), ElementsAre("cp.async.bulk 20..50"));
}

TEST(Recorder, WithoutAClockTellsWaitsInInstructions) {
  Recording recording;
  Driver d(copies, recording, {.unit = TimeUnit::warp_instructions});
  const sim::SharedAddress full(d.program->reserved_shared + 256);
  for (bool succeeded : {false, false, true}) {
    d.cluster.instructions += 30;
    d.mbarrier(wait_pc, 0, {.action = A::try_wait, .address = full, .succeeded = succeeded});
  }
  d.end();
  EXPECT_THAT(recording.on("warp 0"), ElementsAre("mbarrier `full` 30..90"));
}

// Warp 0 waits for a phase that does not complete, warp 1 for a group of copies, warp 2 tests again and
// again.
void waits_for_ever(Driver& d, bool clocked) {
  const sim::SharedAddress full(d.program->reserved_shared + 256);
  const sim::MbarrierState phase{.pending = 1, .expected = 2, .tx = 256, .valid = true};
  d.mbarrier(copy_pc, 0, {.action = A::init, .address = full, .count = 2});
  d.mbarrier(copy_pc, 0, {.action = A::arrive, .address = full, .count = 1, .after = phase.encode()});
  d.cluster.ctas[0].warps.resize(3);
  for (sim::WarpState& warp : d.cluster.ctas[0].warps)
    warp.groups = {{.pc = sim::Pc(wait_pc), .mask = ~0U, .last_run = d.cluster.instructions}};
  d.cluster.ctas[0].warps[0].groups[0].wait = {.kind = sim::Wait::Kind::mbarrier, .object = full};
  d.cluster.ctas[0].warps[1].groups[0].wait = {.kind = sim::Wait::Kind::bulk_group};
  for (const uint16_t warp : {0, 2}) d.mbarrier(wait_pc, warp, {.action = A::test_wait, .address = full});
  d.cluster.now += 200;
  d.cluster.instructions += 20;
  for (const uint16_t warp : {0, 2}) {
    if (clocked) stalled(d, d.at(wait_pc, warp), sim::Stall::mbarrier, d.cluster.now - 199);
    d.mbarrier(wait_pc, warp, {.action = A::test_wait, .address = full});
  }
  d.cluster.now += 200;
  d.cluster.instructions += 30;
  d.recorder.retire(d.cluster);
}

uint64_t number_of(const Event& e, std::string_view key) {
  for (const Arg& a : e.args)
    if (const auto* number = std::get_if<uint64_t>(&a.value); number != nullptr && a.key == key)
      return *number;
  return ~0ULL;
}

TEST(Recorder, TellsWhatAWarpStillWaitsForWhenTheRunEnds) {
  for (const TimeUnit unit : {TimeUnit::sm_cycles, TimeUnit::warp_instructions}) {
    const bool clocked = unit == TimeUnit::sm_cycles;
    Recording recording;
    Driver d(copies, recording, {.unit = unit});
    d.cluster.now = sim::Cycle(99);
    for (const uint16_t warp : {0, 1, 2}) stalled(d, d.at(copy_pc, warp), sim::Stall::short_scoreboard, 50);
    d.cluster.now = sim::Cycle(100);
    d.cluster.instructions = 40;
    waits_for_ever(d, clocked);
    const std::string times = clocked ? " 100..500" : " 40..90", last = clocked ? " 301..500" : times;
    EXPECT_THAT(recording.on("warp 0"), ::testing::Contains("mbarrier `full`" + last));
    EXPECT_THAT(recording.on("warp 1"), ::testing::Contains("async group" + times));
    EXPECT_THAT(recording.on("warp 2"), ::testing::Contains("mbarrier `full`" + last));
    EXPECT_EQ(std::ranges::count(recording.on("warp 0"), "mbarrier `full` 101..300"), clocked ? 1 : 0);
    EXPECT_THAT(recording.on("`full`"), ElementsAre("phase, parity 0" + times));
    for (const auto& e : recording.events) {
      const bool phase = e.category == Category::phase;
      if (!phase && e.to != (clocked ? 500 : 90)) continue;
      if (e.category == Category::life) continue;
      EXPECT_EQ(e.open, phase ? "not complete" : "still waits when the run ends") << e.text;
      EXPECT_EQ(number_of(e, "phase"), e.text == "async group" ? ~0ULL : 0U) << e.text;
      EXPECT_EQ(number_of(e, "since"), phase ? ~0ULL : clocked ? 100U : 40U) << e.text;
      if (phase) {
        EXPECT_EQ(number_of(e, "missing arrivals"), 1U);
        EXPECT_EQ(number_of(e, "missing bytes"), 256U);
      }
    }
  }
}

TEST(Recorder, KeepsTheChosenWindowAndCtas) {
  Recording recording;
  Driver d(copies, recording, {.window = {650, 710}}, 8);
  one_copy(d);
  d.end();
  EXPECT_THAT(recording.on("copies in flight 0"), ElementsAre("load `tile` 650..700"));
  EXPECT_THAT(recording.on("warp 0"), IsEmpty());
  Recording nothing;
  EXPECT_TRUE(Driver(copies, nothing, {.ctas = *cta_choice("1..3")}).events.empty());
}

TEST(Recorder, StopsWhenTheSinkIsFull) {
  Recording recording;
  recording.room = 3;
  Driver d(copies, recording, {}, 8);
  one_copy(d);
  d.end();
  EXPECT_EQ(recording.events.size(), 3U);
  EXPECT_EQ(d.recorder.events(), 3U);
  ASSERT_TRUE(d.recorder.ended_at());
  EXPECT_GT(*d.recorder.ended_at(), 0U);
}

TEST(CtaChoice, IsReadFromText) {
  EXPECT_EQ(cta_choice("all")->kind, CtaChoice::Kind::all);
  EXPECT_EQ(cta_choice("2..5")->last, 5U);
  EXPECT_EQ(cta_choice("7")->first, 7U);
  EXPECT_EQ(cta_choice("sm:1")->kind, CtaChoice::Kind::sms);
  for (const char* wrong : {"", "x", "3..", "5..2", "sm:", "1,2", "-1"})
    EXPECT_FALSE(cta_choice(wrong)) << wrong;
}

}  // namespace
}  // namespace palladion::traces
