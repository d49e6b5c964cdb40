// When would the memory pipe serve a warp's instruction?
#include "sim/clock/sm/memory_pipe.h"

#include <gtest/gtest.h>

#include "tests/sim/clock/one_warp.h"

namespace palladion::sim::hardware {
namespace {

class MemoryPipeTest : public testing::Test {
 protected:
  MemoryPipeTest() { stride(0, 4); }
  // Lane after lane.
  void stride(uint64_t first, uint64_t bytes) {
    access.lanes = ~0U;
    for (uint64_t lane = 0; lane < 32; ++lane) access.addresses[lane] = first + lane * bytes;
  }
  MemoryInstruction at(uint64_t now, Path path, uint32_t latency = 0) {
    one.instruction.path = path;
    one.instruction.latency = latency;
    one.instruction.bytes = 4;
    return {one.warp, one.instruction, access, Cycle(now), pipes, tensor, usage};
  }
  void answer(uint64_t time) {
    for (Request& r : requests.batch.requests) r.done = Cycle(time);
    pipe.answered(requests.batch);
    requests.answers.serve(requests.batch);
    one.warp.registers.resolve(requests.answers);
    requests.clear();
  }

  const isa::ClockParameters p = round_numbers();
  MemoryPipe pipe{p, 1, 64 << 10}, peer{p, 1, 64 << 10};
  const TensorCore tensor{p};
  Pipes pipes{p};
  Usage usage;
  Requests requests{0};
  OneWarp one{p};
  LaneAddresses access;
};

TEST_F(MemoryPipeTest, SharedMemoryServesOnePassACycle) {
  pipe.shared(at(100, Path::shared_load, 23));
  EXPECT_EQ(one.ready(), 123U);
  stride(0, 128);  // all of one bank
  pipe.shared(at(100, Path::shared_load, 23));
  EXPECT_EQ(one.ready(), 101U + 23 + 2 * 31);
  EXPECT_EQ(usage.bank_conflicts, 31U);
  stride(0, 4);
  pipe.shared(at(100, Path::shared_load, 23));
  EXPECT_EQ(one.ready(), 133U + 23);
  EXPECT_EQ(usage.of(Resource::smem), 34);
}

TEST_F(MemoryPipeTest, AFullQueueHoldsUpFurtherInstructions) {
  stride(0, 128);
  pipe.shared(at(100, Path::shared_load));  // until 132
  Opening later{.at = Cycle(101)};
  pipe.hold_up(one.instruction, later);
  EXPECT_EQ(later.free, 132U - 16);
  EXPECT_EQ(later.why, Stall::mio_throttle);
}

TEST_F(MemoryPipeTest, ALoadWaitsForL2AndIsAHitThen) {
  one.instruction.space = isa::Space::global;
  pipe.global(at(100, Path::global_load), requests);
  ASSERT_EQ(requests.batch.requests.size(), 1U);
  EXPECT_EQ(requests.batch.requests[0].time, 100U);
  EXPECT_EQ(one.ready(), never);
  answer(400);
  EXPECT_EQ(one.ready(), 400U);
  pipe.global(at(500, Path::global_load), requests);
  EXPECT_TRUE(requests.batch.requests.empty());
  EXPECT_EQ(one.ready(), 534U);
  pipe.acquire();
  pipe.global(at(600, Path::global_load), requests);
  EXPECT_EQ(one.ready(), never);
}

TEST_F(MemoryPipeTest, AFenceWaitsForStoresToBeInL2) {
  one.instruction.space = isa::Space::global;
  EXPECT_EQ(pipe.fence(one.warp, 200, Cycle(0)), 200U);
  pipe.global(at(100, Path::global_store), requests);  // has left at 104
  EXPECT_EQ(requests.writes.size(), 1U);
  EXPECT_EQ(pipe.fence(one.warp, 200, Cycle(102)), 384U + 200);
  EXPECT_EQ(pipe.fence(one.warp, 20, Cycle(102)), 122U);  // of the CTA's scope
}

TEST_F(MemoryPipeTest, AReleaseIssuesWhenItsFenceIsDone) {
  Cycle at(100);
  EXPECT_TRUE(pipe.release(one.warp, 200, at));
  EXPECT_EQ(at, 300U - 47);
  pipe.arrive(one.warp, SharedAddress(1 << cta_rank_shift), Cycle(250));  // known at 250 and dsm.arrive_done
  EXPECT_FALSE(pipe.release(one.warp, 200, at));
  EXPECT_EQ(at, 250U + whole_cycles(p.dsm_arrive_done) + 200);
  EXPECT_TRUE(one.warp.fenced);
}

TEST_F(MemoryPipeTest, ArrivalsAtAnotherCtasMbarrierTakeTheNetwork) {
  const SharedAddress remote(1 << cta_rank_shift);
  EXPECT_FALSE(pipe.arrive(one.warp, SharedAddress(0), Cycle(100)).has_value());
  EXPECT_EQ(pipe.arrive(one.warp, remote, Cycle(100)), 102U + 91);
  EXPECT_EQ(pipe.arrive(one.warp, remote, Cycle(200)), 200U + 91);
  EXPECT_EQ(one.warp.arrive_free, 206U);  // the same mbarrier again
}

TEST_F(MemoryPipeTest, APeerAnswersThroughTheNetwork) {
  one.instruction.interval = 4;
  pipe.cluster(at(100, Path::cluster_load, 23), peer);
  // A packet asks, in two cycles; four bring the answer, in eight; two cycles of the first are latency.
  EXPECT_EQ(one.ready(), 108U + 185 + 2);
  pipe.cluster(at(200, Path::cluster_load, 23), pipe);  // its own shared memory
  EXPECT_EQ(one.ready(), 223U);
}

TEST_F(MemoryPipeTest, AsynchronousStoresLandOnTheirOwn) {
  EXPECT_EQ(pipe.store_async(at(100, Path::async), peer), 108U + 145);  // four packets
  EXPECT_EQ(one.warp.last_async, 108U + 185);
}

TEST_F(MemoryPipeTest, OthersSeeStrongStoresLaterThanLoads) {
  EXPECT_EQ(pipe.visible(at(0, Path::global_load).cost, Cycle(100)), 100U);
  EXPECT_EQ(pipe.visible(at(0, Path::global_store).cost, Cycle(100)), 132U);
}

}  // namespace
}  // namespace palladion::sim::hardware
