// Host threads that share jobs: each job once, no more threads than were asked for, nested work included.
#include "sim/schedule/worker_pool.h"

#include <gtest/gtest.h>

#include <atomic>
#include <chrono>
#include <stdexcept>
#include <thread>
#include <vector>

#include "tests/sim/ptx_runner.h"

namespace palladion::sim::testing {
namespace {

// Counts how many jobs run at the same time.
class Present {
 public:
  void enter() {
    const int now = ++inside_;
    for (int seen = most_; now > seen && !most_.compare_exchange_weak(seen, now);) {
    }
    std::this_thread::sleep_for(std::chrono::microseconds(200));
  }
  void leave() { --inside_; }
  // Until so many jobs have run at the same time, or ten seconds after the start: a busy host wakes threads
  // late.
  void await(int jobs) const {
    while (most_ < jobs && std::chrono::steady_clock::now() < end_) std::this_thread::yield();
  }
  int most() const { return most_; }

 private:
  std::atomic<int> inside_ = 0, most_ = 0;
  const std::chrono::steady_clock::time_point end_ =
      std::chrono::steady_clock::now() + std::chrono::seconds(10);
};

TEST(WorkerPool, EveryJobRunsOnce) {
  for (const unsigned threads : {1U, 2U, 3U, 8U}) {
    WorkerPool pool(threads);
    EXPECT_EQ(pool.workers(), threads);
    for (const size_t n : {0U, 1U, 2U, 7U, 500U}) {
      std::vector<std::atomic<int>> runs(n);
      pool.for_each(n, [&](size_t i, unsigned) { ++runs[i]; });
      for (const auto& r : runs) EXPECT_EQ(r, 1);
    }
  }
}

TEST(WorkerPool, ZeroThreadsAreAllOfTheHost) { EXPECT_EQ(WorkerPool(0).workers(), hardware_threads()); }

TEST(WorkerPool, AWorkerHasOneJobAtATime) {
  WorkerPool pool(4);
  std::vector<std::atomic<int>> busy(pool.workers());
  Present present;
  pool.for_each(100, [&](size_t, unsigned worker) {
    ASSERT_LT(worker, busy.size());
    EXPECT_EQ(busy[worker]++, 0);
    present.enter();
    present.await(2);
    present.leave();
    --busy[worker];
  });
  EXPECT_LE(present.most(), 4);
  EXPECT_GE(present.most(), 2) << "more threads than the host has are there when they are asked for";
}

TEST(WorkerPool, NestedPoolsShareTheThreadsOfTheOutermost) {
  WorkerPool outer(3);
  Present present;
  std::atomic<int> runs = 0;
  outer.for_each(6, [&](size_t, unsigned) {
    WorkerPool inner(8);
    EXPECT_EQ(inner.workers(), 3U);
    inner.for_each(10, [&](size_t, unsigned worker) {
      EXPECT_LT(worker, 3U);
      present.enter();
      ++runs;
      present.leave();
    });
  });
  EXPECT_EQ(runs, 60);
  EXPECT_LE(present.most(), 3);
}

TEST(WorkerPool, AWaitForNestedJobsDoesNotBeginAnotherOuterJob) {
  WorkerPool outer(2);
  std::atomic<bool> mixed = false;
  outer.for_each(8, [&](size_t, unsigned) {
    thread_local int depth = 0;
    if (++depth != 1) mixed = true;
    WorkerPool(2).for_each(
        4, [](size_t, unsigned) { std::this_thread::sleep_for(std::chrono::microseconds(100)); });
    --depth;
  });
  EXPECT_FALSE(mixed);
}

TEST(WorkerPool, OneThreadInsideAJobIsTheCallerItself) {
  WorkerPool outer(2);
  outer.for_each(4, [](size_t, unsigned) {
    const auto self = std::this_thread::get_id();
    WorkerPool(1).for_each(3, [&](size_t, unsigned worker) {
      EXPECT_EQ(worker, 0U);
      EXPECT_EQ(std::this_thread::get_id(), self);
    });
  });
}

TEST(WorkerPool, AnExceptionOfAJobReachesTheCaller) {
  for (const unsigned threads : {1U, 3U}) {
    WorkerPool pool(threads);
    const auto job = [](size_t i, unsigned) {
      if (i == 5) throw std::runtime_error("job 5");
    };
    EXPECT_THROW(pool.for_each(10, job), std::runtime_error);
    int runs = 0;
    pool.for_each(1, [&](size_t, unsigned) { ++runs; });
    EXPECT_EQ(runs, 1) << "the pool can be used again";
  }
}

// Each CTA spins a while that depends on its index, then stores it: SMs and clusters of uneven work.
const char* const uneven = R"(
.visible .entry k(.param .u64 out) {
  .reg .b32 %r<6>; .reg .b64 %rd<4>; .reg .pred %p<2>;
  ld.param.u64 %rd1, [out];
  mov.u32 %r1, %tid.x;
  mov.u32 %r2, %ctaid.x;
  mov.u32 %r4, 0;
again:
  add.u32 %r4, %r4, 1;
  setp.le.u32 %p1, %r4, %r2;
  @%p1 bra again;
  mad.lo.u32 %r3, %r2, 32, %r1;
  mul.wide.u32 %rd2, %r3, 4;
  add.s64 %rd3, %rd1, %rd2;
  st.global.u32 [%rd3], %r4;
  ret;
})";

TEST(WorkerPool, RunsInsideJobsGiveWhatTheyGiveAlone) {
  struct Ran {
    std::vector<uint32_t> out = std::vector<uint32_t>(32 * 40);
    uint64_t instructions = 0, cycles = 0;
    bool operator==(const Ran&) const = default;
  };
  for (const auto kind : {Schedule::Kind::functional, Schedule::Kind::hardware}) {
    const auto run = [&](unsigned threads) {
      Ran ran;
      RunOptions options;
      options.schedule.kind = kind;
      options.threads = threads;
      const RunResult r = PtxRunner(ptx(uneven)).array(ran.out).shape({40, 1, 1}, {32, 1, 1}).run(options);
      EXPECT_TRUE(r.completed);
      ran.instructions = r.instructions;
      ran.cycles = r.clock.cycles;
      return ran;
    };
    const Ran alone = run(1);
    std::vector<Ran> nested(6);
    WorkerPool(3).for_each(nested.size(), [&](size_t i, unsigned) { nested[i] = run(unsigned(i % 3) + 1); });
    for (const Ran& ran : nested) EXPECT_TRUE(ran == alone);
  }
}

}  // namespace
}  // namespace palladion::sim::testing
