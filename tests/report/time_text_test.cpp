// A hand-made clock's report, as text and as JSON.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "report/run/run_json.h"
#include "report/run/time_text.h"
#include "report/text/numbers.h"
#include "tests/support/golden.h"
#include "tests/support/json_reading.h"

namespace palladion::report {
namespace {

using sim::Resource;
using sim::Stall;

template <class T>
T with(std::initializer_list<std::pair<Stall, uint64_t>> cycles) {
  T t;
  for (const auto& [stall, n] : cycles) t.cycles[size_t(stall)] = n;
  return t;
}

// A warp-specialised product: warps 0 to 7 multiply, warp 8 fetches.
TimeReport some_report() {
  TimeReport time;
  time.clock.cycles = 1234567;
  time.clock.sm_clock_mhz = 1980;
  time.clock.counters = {.instructions = 2'500'000,
                         .tensor_cycles = 100'000'000,
                         .smem_bank_conflicts = 12,
                         .l2_read_sectors = 1 << 20,
                         .l2_write_sectors = 1 << 15,
                         .l2_hit_sectors = 3 << 18,
                         .dram_read_bytes = 8 << 20,
                         .dram_write_bytes = 1 << 20};
  time.clock.busy[size_t(Resource::tensor)] = 0.84;
  time.clock.busy[size_t(Resource::smem)] = 0.5;
  time.clock.busy[size_t(Resource::hbm)] = 0.05;
  time.clock.busy[size_t(Resource::sfu)] = 0.001;
  time.where.warp_cycles = 1000;
  time.where.tensor_flops = 2.0 * 4096 * 4096 * 4096;
  time.array_bytes = 96 << 20;
  time.warps = 12;
  time.ctas_per_sm = 1;
  time.registers = {
      .from = Registers::From::ptxas,
      .count = 168,
      .ptxas = cuda::native::ResourceUse{.registers = 168, .spill_store_bytes = 8, .spill_load_bytes = 16}};
  auto multiplies = with<sim::RoleWhere>({{Stall::selected, 80}, {Stall::gmma, 500}, {Stall::mbarrier, 220}});
  multiplies.warps = 0xFF;
  multiplies.operations = "TMA stores, wgmma";
  auto fetches = with<sim::RoleWhere>({{Stall::mbarrier, 195}, {Stall::selected, 1}});
  fetches.warps = 0x100;
  fetches.operations = "TMA loads";
  auto all = with<sim::RoleWhere>({{Stall::wait, 4}});  // too little for a line
  all.warps = 0xFFF;
  time.where.roles = {multiplies, fetches, all};
  auto hot = with<sim::LineWhere>({{Stall::gmma, 500}, {Stall::selected, 60}});
  hot.source = {"/work/gemm.cpp", 131, 7};
  hot.ptx_line = 400;
  hot.instruction = "wgmma.wait_group.sync.aligned 1;";
  auto foreign = with<sim::LineWhere>({{Stall::mbarrier, 415}});
  foreign.ptx_line = 77;
  foreign.instruction = "mbarrier.try_wait.parity.shared.b64 %p1, [%r1], %r2;";
  auto rest = with<sim::LineWhere>({{Stall::wait, 25}});
  rest.instruction = "add.s32 %r1, %r1, 1;";
  time.where.lines = {hot, foreign, rest};
  return time;
}

TimeView view(size_t lines = 10) { return {.folder = "/work", .ptx_name = "k.ptx", .lines = lines}; }

TEST(TimeText, TellsWhereTheTimeWent) {
  const TimeReport time = some_report();
  EXPECT_TRUE(golden::compare("cli/time.txt", time_rows(time) + where_text(time, view())));
}

TEST(TimeText, LinesAreAsManyAsAskedFor) {
  EXPECT_THAT(where_text(some_report(), view(1)), testing::Not(testing::HasSubstr("k.ptx:77")));
}

TEST(TimeText, CallersOfALineHaveTheirShares) {
  TimeReport time = some_report();
  const auto at = [](uint32_t line, uint64_t cycles) {
    auto caller = with<sim::CallerWhere>({{Stall::gmma, cycles}});
    caller.at = {"/work/gemm.cpp", line, 1};
    return caller;
  };
  time.where.lines[0].callers = {at(200, 400), at(210, 160)};
  EXPECT_THAT(where_text(time, view()),
              testing::HasSubstr("         called at gemm.cpp:200 40 %, gemm.cpp:210 16 %\n"));
  const json::value clock = time_json(time);
  EXPECT_EQ(clock.at_pointer("/lines/0/callers/1/line"), 210);
  EXPECT_EQ(clock.at_pointer("/lines/0/callers/0/stalls/gmma"), 400);
  EXPECT_FALSE(clock.at_pointer("/lines/1").as_object().contains("callers"));
  for (uint32_t line = 300; line < 304; ++line) time.where.lines[0].callers.push_back(at(line, 1));
  EXPECT_THAT(where_text(time, view()), testing::HasSubstr(" and 2 more lines\n"));
}

TEST(TimeText, WhereNothingIsBusyTheLongestWaitIsNamed) {
  TimeReport time = some_report();
  time.clock.busy.fill(0.1);
  sim::LineTime line;
  line.cycles[size_t(Stall::long_scoreboard)] = 10;
  time.clock.lines = {line};
  EXPECT_THAT(where_text(time, view()),
              testing::HasSubstr(
                  "nothing is occupied for more than 10 %: the time goes in waiting, most of it for long "
                  "scoreboard"));
}

TEST(TimeText, JsonHoldsEverything) {
  TimeReport time = some_report();
  WhyReport& why = time.why.emplace();
  why.relaxed.gains = {{&sim::relaxations()[0], 900, 0.1}};
  const json::value clock = time_json(time);
  EXPECT_EQ(clock.at_pointer("/cycles"), 1234567);
  EXPECT_EQ(clock.at_pointer("/l2"), "cold");
  EXPECT_NEAR(number(clock.at_pointer("/microseconds")), 1234567 / 1980.0, 1e-9);
  EXPECT_EQ(clock.at_pointer("/power_throttling_modelled"), false);
  EXPECT_EQ(clock.at_pointer("/occupancy/registers"), 168);
  EXPECT_EQ(clock.at_pointer("/occupancy/ptxas/spill_load_bytes"), 16);
  EXPECT_NEAR(number(clock.at_pointer("/tflops")), 2.0 * 4096 * 4096 * 4096 / (1234567 / 1980.0) * 1e-6,
              1e-6);
  EXPECT_EQ(clock.at_pointer("/counters/smem_bank_conflicts"), 12);
  EXPECT_EQ(clock.at_pointer("/busy/tensor_core"), 0.84);
  EXPECT_EQ(clock.at_pointer("/critical"), "tensor core");
  EXPECT_EQ(clock.at_pointer("/roles/0/stalls/gmma"), 500);
  EXPECT_EQ(clock.at_pointer("/roles/0/warps"), 255);
  EXPECT_EQ(clock.at_pointer("/lines").as_array().size(), 3u);
  EXPECT_EQ(clock.at_pointer("/lines/0/file"), "/work/gemm.cpp");
  EXPECT_EQ(clock.at_pointer("/lines/0/cycles"), 560);
  EXPECT_EQ(clock.at_pointer("/why/gains/0/cycles"), 900);
}

TEST(TimeText, BarsAndNumbers) {
  EXPECT_EQ(bar(0.5, 10), "#####-----");
  EXPECT_EQ(bar(0, 4), "----");
  EXPECT_EQ(bar(1.5, 4), "####");
  EXPECT_EQ(grouped(0), "0");
  EXPECT_EQ(grouped(999), "999");
  EXPECT_EQ(grouped(1234567), "1 234 567");
}

}  // namespace
}  // namespace palladion::report
