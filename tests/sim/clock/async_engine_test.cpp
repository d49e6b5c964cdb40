// When would an asynchronous operation land?
#include "sim/clock/group/async_engine.h"

#include <gtest/gtest.h>

#include "tests/sim/clock/parameters.h"

namespace palladion::sim::hardware {
namespace {

using Family = isa::AsyncFamily;

class AsyncEngineTest : public testing::Test {
 protected:
  AsyncEngineTest() {
    for (uint32_t i = 0; i < 2; ++i)
      sms.emplace_back(10 + i, p, Sm::Shape{.sub_cores = 4, .fence_interval = 1, .l1_bytes = 64 << 10});
  }
  AsyncEngine::Started start(const Traffic& t, uint64_t now) {
    return engine.start(warp, ++id, t, Cycle(now), sms, requests);
  }
  static Traffic load() {
    return {.family = Family::tensor,
            .source = isa::Space::global,
            .destination = isa::Space::shared_cta,
            .bytes = 512,
            .rows = 4,
            .ctas = 1,
            .tensor_map = 0x1000,
            .global = {{.address = 0, .bytes = 512}}};
  }
  static Traffic store() {
    return {.family = Family::bulk,
            .source = isa::Space::shared_cta,
            .destination = isa::Space::global,
            .bytes = 512,
            .ctas = 1,
            .global = {{.address = 0, .bytes = 512}}};
  }

  const isa::ClockParameters p = round_numbers();
  AsyncEngine engine{p};
  std::vector<Sm> sms;
  Requests requests{10};
  Warp warp;
  uint64_t id = 0;
};

TEST_F(AsyncEngineTest, ALoadLandsAfterL2HasAnswered) {
  const AsyncEngine::Started s = start(load(), 100);
  EXPECT_EQ(s.land, never);
  ASSERT_TRUE(s.work.has_value());
  EXPECT_EQ(s.work->unit, Resource::tma);
  EXPECT_EQ(s.work->to, 104U);  // four lines
  ASSERT_EQ(requests.batch.requests.size(), 1U);
  EXPECT_EQ(requests.batch.requests[0].time, 250U);  // the descriptor is fetched first
  EXPECT_EQ(requests.batch.requests[0].sm, 10U);
  const Pending copy = requests.answers.pending()[0];
  EXPECT_EQ(engine.landed(copy, Cycle(600), sms), 612U);
  start(load(), 200);
  EXPECT_EQ(engine.landed(copy, Cycle(600), sms), 612U + 48);  // another one's lines come between
}

TEST_F(AsyncEngineTest, WhatLiesOutsideTheTensorLandsWithoutL2) {
  Traffic t = load();
  t.global.clear();
  t.ctas = 0b11;
  EXPECT_EQ(start(t, 100).land, 250U + 4 + 280 + 12 + 4);
  EXPECT_TRUE(requests.batch.requests.empty());
}

TEST_F(AsyncEngineTest, AStoreReadsItsSourceAndLandsWhenL2HasTakenIt) {
  engine.begin();
  const AsyncEngine::Started s = start(store(), 100);
  EXPECT_EQ(s.read, 116U);  // 512 bytes, 32 a cycle
  EXPECT_EQ(s.land, never);
  ASSERT_EQ(requests.writes.size(), 1U);
  EXPECT_EQ(requests.writes[0].not_before, 116U + 33);
}

TEST_F(AsyncEngineTest, LanesOfOneInstructionIssueOneStoreTogether) {
  engine.begin();
  const AsyncEngine::Started first = start(store(), 100), second = start(store(), 100);
  EXPECT_EQ(second.read, first.read);
  EXPECT_FALSE(second.work.has_value());
  EXPECT_EQ(requests.batch.requests.size(), 1U);
  EXPECT_EQ(requests.writes.size(), 2U);
  engine.begin();  // another instruction
  EXPECT_GT(start(store(), 100).read, first.read);
  EXPECT_EQ(requests.batch.requests.size(), 2U);
}

TEST_F(AsyncEngineTest, ACopyToAPeerTakesTheNetwork) {
  const Traffic t{.family = Family::bulk,
                  .source = isa::Space::shared_cta,
                  .destination = isa::Space::shared_cluster,
                  .bytes = 320,
                  .ctas = 0b10};
  const AsyncEngine::Started s = start(t, 100);
  EXPECT_EQ(s.read, 120U);  // ten packets
  EXPECT_EQ(s.land, 120U + 145);
  EXPECT_EQ(warp.next, 140U);
}

TEST_F(AsyncEngineTest, LanesCopyThroughTheLoadStoreUnit) {
  Traffic t = load();
  t.family = Family::cp_async;
  EXPECT_EQ(start(t, 100).land, never);
  EXPECT_EQ(requests.batch.requests[0].time, 100U);
  t.global.clear();
  EXPECT_EQ(start(t, 100).land, 101U);  // zeros
}

TEST_F(AsyncEngineTest, ProductsLandOneAfterTheOther) {
  const Traffic t{.family = Family::wgmma, .source = isa::Space::shared_cta, .rows = 64, .columns = 128};
  EXPECT_EQ(start(t, 100).land, 105U + 64 + 25);
  EXPECT_EQ(start(t, 100).land, 169U + 64 + 25);
  EXPECT_EQ(sms[0].usage.of(Resource::tensor), 128);
}

TEST_F(AsyncEngineTest, APairOfSmsBeginsTogether) {
  sms[1].tensor.run({.cycles = 50}, 100);
  const Traffic t{.family = Family::tcgen05, .rows = 256, .columns = 64, .products = 7, .ctas = 0b11};
  const AsyncEngine::Started s = start(t, 120);
  EXPECT_EQ(s.work->from, 150U);
  EXPECT_EQ(s.land, 150U + 32 + 10 + 5);
  EXPECT_EQ(sms[0].usage.tcgen05_products, 7U);
}

}  // namespace
}  // namespace palladion::sim::hardware
