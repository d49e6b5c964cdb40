// What would help, and what an author would change, of hand-made reports.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>

#include "report/run/advice.h"
#include "report/run/run_json.h"
#include "report/run/time_text.h"

namespace palladion::report {
namespace {

using sim::Stall;
using testing::AllOf;
using testing::HasSubstr;
using testing::Not;

const sim::Relaxation& relaxation(std::string_view name) {
  return *std::ranges::find(sim::relaxations(), name, &sim::Relaxation::name);
}

// 100 us: 500 of 1000 TFLOP/s, 1000 of 4000 GB/s.
TimeReport half_of_the_peak() {
  TimeReport time;
  time.clock.cycles = 100'000;
  time.clock.sm_clock_mhz = 1000;
  time.clock.counters.dram_read_bytes = 100'000'000;
  time.clock.counters.l2_read_sectors = 10'000'000;
  time.clock.counters.l2_hit_sectors = 7'500'000;
  time.where.tensor_flops = 50e9;
  time.where.operand_bits = 16;
  time.warps = 12;
  WhyReport& why = time.why.emplace();
  why.cycles = 100'000;
  why.peak_tflops = 1000;
  why.hbm_gb_per_s = 4000;
  why.input_bytes = 40e6;
  why.runs = 7;
  why.plan = {.least = 7, .most = 15, .seconds = 1.5};
  return time;
}

std::vector<std::string_view> topics(const TimeReport& time) {
  std::vector<std::string_view> out;
  for (const Advice& a : advice_of(time, "/work")) out.push_back(a.about);
  return out;
}

Advice about(const TimeReport& time, std::string_view topic) {
  const auto all = advice_of(time, "/work");
  const auto at = std::ranges::find(all, topic, &Advice::about);
  return at == all.end() ? Advice{} : *at;
}

using Topics = std::vector<std::string_view>;

TEST(WhyText, TheThreeBestRelaxationsAreTold) {
  TimeReport time = half_of_the_peak();
  sim::Relaxed& relaxed = time.why->relaxed;
  const auto table = sim::relaxations();
  EXPECT_THAT(why_text(time, {}), HasSubstr("nothing that was tried saves 1 %"));
  for (size_t i = 0; i < 5; ++i) relaxed.gains.push_back({&table[i], 500 + 100 * i, 0.5 - 0.1 * double(i)});
  const std::string text = why_text(time, {});
  for (size_t i = 0; i < 5; ++i) {
    const auto named = HasSubstr(". " + std::string(table[i].name) + "  ");
    if (i < 3)
      EXPECT_THAT(text, named);
    else
      EXPECT_THAT(text, Not(named));
  }
  EXPECT_THAT(text, AllOf(HasSubstr("500 cycles, 50.0 % less"), HasSubstr("7 of at most 15 runs")));
  relaxed.gains = {{&table[0], 995, 0.005}};
  EXPECT_THAT(why_text(time, {}), HasSubstr("nothing that was tried saves 1 %"));
}

TEST(WhyText, WhatWasNotTriedAloneIsNamed) {
  TimeReport time = half_of_the_peak();
  time.why->relaxed.groups = {
      {{&relaxation("HBM without limit"), &relaxation("L2 without limit")}, 99'600, 0.004},
      {{&relaxation("branches free")}, 90'000, 0.1, true}};
  EXPECT_THAT(why_text(time, {}), AllOf(HasSubstr("0.4 % less: HBM without limit, L2 without limit"),
                                        Not(HasSubstr("branches free"))));
  const json::value why = time_json(time).at("why");
  EXPECT_EQ(why.at_pointer("/together/0/tried_alone"), false);
  EXPECT_EQ(why.at_pointer("/together/0/relaxations/1"), "L2 without limit");
  EXPECT_EQ(why.at_pointer("/runs"), 7);
  EXPECT_EQ(why.at_pointer("/most_runs"), 15);
}

TEST(WhyText, ThePlanSaysRunsAndTime) {
  EXPECT_EQ(plan_text({.least = 7, .most = 15, .seconds = 2}),
            "what would help: 7 to 15 runs of about 2.00 s each, 14.0 s to 30.0 s\n");
  EXPECT_EQ(plan_text({.least = 3, .most = 3, .seconds = 1}),
            "what would help: 3 runs of about 1.00 s each, 3.00 s to 3.00 s\n");
}

TEST(WhyText, WhereNothingWouldHelpOnlyThePeakIsStated) {
  EXPECT_EQ(topics(half_of_the_peak()), (Topics{"peak"}));
  EXPECT_EQ(about(half_of_the_peak(), "peak").text,
            "500 of 1000 TFLOP/s: 50 % of the tensor cores' peak with 16-bit operands");
  TimeReport memory = half_of_the_peak();
  memory.why->peak_tflops = 0;
  EXPECT_EQ(about(memory, "peak").text, "1000 of 4000 GB/s: 25 % of what HBM reads");
  EXPECT_EQ(time_json(memory).at("why").at_pointer("/advice/0/about"), "peak");
}

TEST(WhyText, ALastWaveThatIsNearlyEmptyIsNamed) {
  TimeReport time = half_of_the_peak();
  sim::Residency& r = time.why->residency;
  r = {.clusters = 64, .at_once = 30, .ctas_per_cluster = 4, .ctas_per_sm = 1, .sms = 132, .scarce = {}};
  EXPECT_EQ(about(time, "waves").text,
            "64 clusters of 4, 30 fit at a time: 3 waves, the last one with 4; 60 would need 2");
  r.clusters = 60;
  EXPECT_EQ(topics(time), (Topics{"peak"})) << "two full waves";
  r.clusters = 20;
  EXPECT_EQ(about(time, "waves").text, "20 clusters of 4: 52 of 132 SMs have none");
  r = {.clusters = 131, .at_once = 132, .ctas_per_cluster = 1, .ctas_per_sm = 1, .sms = 132, .scarce = {}};
  EXPECT_EQ(topics(time), (Topics{"peak"}));
}

TEST(WhyText, BytesThatAreReadAgainAreNamedWhereThatCosts) {
  TimeReport time = half_of_the_peak();
  auto& gains = time.why->relaxed.gains;
  EXPECT_EQ(topics(time), (Topics{"peak"})) << "it costs nothing";
  gains = {{&relaxation("HBM without limit"), 90'000, 0.1}, {&relaxation("L2 without limit"), 95'000, 0.05}};
  EXPECT_EQ(topics(time), (Topics{"peak", "grid order", "reuse"}));
  const Advice order = about(time, "grid order");
  EXPECT_THAT(order.text, AllOf(HasSubstr("each byte 2.5 times"), HasSubstr("L2 has 75 % of what SMs read")));
  EXPECT_EQ(order.from, "counters, and a run with HBM without limit: 90 000 cycles, 10 % less");
  EXPECT_THAT(about(time, "reuse").text, HasSubstr("each byte 8.0 times"));
  time.why->input_bytes = 100e6;
  EXPECT_EQ(topics(time), (Topics{"peak", "reuse"})) << "HBM reads each byte once";
}

TEST(WhyText, WhatAdmitsOneMoreCtaIsNamedWhereThatHelps) {
  TimeReport time = half_of_the_peak();
  time.why->residency.ctas_per_sm = 1;
  time.why->residency.scarce = {{sim::SmResource::shared, 200'000, 115'712},
                                {sim::SmResource::registers, 168, 128}};
  EXPECT_EQ(topics(time), (Topics{"peak"})) << "it was not tried";
  time.why->one_more = {.change = "one CTA more an SM", .fewer = false, .cycles = 99'900, .saved = 0.001};
  EXPECT_EQ(topics(time), (Topics{"peak"}));
  time.why->one_more = {.change = "one CTA more an SM", .fewer = false, .cycles = 92'000, .saved = 0.08};
  EXPECT_EQ(
      about(time, "occupancy").text,
      "1 CTA an SM, limited by shared memory and registers: at most 115 712 bytes a CTA instead of 200 000 "
      "and 128 registers a thread instead of 168 would admit one more");
  EXPECT_EQ(about(time, "occupancy").from, "a run with one CTA more an SM: 92 000 cycles, 8 % less");
}

void add_pipeline(TimeReport& time, uint64_t full, uint64_t free) {
  sim::RoleWhere multiplies, fetches;
  multiplies.warps = 0xFF;
  multiplies.operations = "wgmma";
  multiplies.cycles[size_t(Stall::mbarrier)] = full;
  multiplies.cycles[size_t(Stall::selected)] = 100 - full;
  fetches.warps = 0x100;
  fetches.operations = "TMA loads";
  fetches.cycles[size_t(Stall::mbarrier)] = free;
  fetches.cycles[size_t(Stall::selected)] = 100 - free;
  time.where.roles = {multiplies, fetches};
  sim::LineWhere line;
  line.warps = 0xFF;
  line.source = {"/work/gemm.cpp", 131, 7};
  line.cycles[size_t(Stall::mbarrier)] = full;
  time.where.lines = {line};
}

TEST(WhyText, StagesThatAreTooFewOrNeedlessAreNamed) {
  TimeReport time = half_of_the_peak();
  add_pipeline(time, 30, 20);
  EXPECT_EQ(topics(time), (Topics{"peak"})) << "nothing shows that it costs time";
  time.why->relaxed.gains = {{&relaxation("HBM latency hidden"), 97'000, 0.03}};
  EXPECT_EQ(
      about(time, "stages").text,
      "too few: waits of warps 0-7 for full stages: 30 % of their time (gemm.cpp:131); of warp 8 for free "
      "ones: 20 %");
  time.why->variants = {{.change = "stages=5", .fewer = false, .cycles = 99'990, .saved = 0.0001}};
  EXPECT_EQ(topics(time), (Topics{"peak"})) << "a run with one more shows that it does not help";
  time.why->variants = {{.change = "stages=5", .fewer = false, .cycles = 95'000, .saved = 0.05}};
  EXPECT_EQ(about(time, "stages").from, "a run with stages=5: 95 000 cycles, 5 % less");
  add_pipeline(time, 1, 60);
  time.why->variants = {{.change = "stages=3", .fewer = true, .cycles = 100'100, .saved = -0.001}};
  EXPECT_THAT(about(time, "stages").text, HasSubstr("stages=3 takes as long, nothing needs more: "));
  time.why->variants = {{.change = "stages=3", .fewer = true, .cycles = 110'000, .saved = -0.1}};
  EXPECT_EQ(topics(time), (Topics{"peak"}));
}

TEST(WhyText, WhatPtxasDoesIsNamed) {
  TimeReport time = half_of_the_peak();
  time.slower = {"PLD6205: spills"};
  EXPECT_EQ(about(time, "machine code").text, "PLD6205: spills");
}

}  // namespace
}  // namespace palladion::report
