// A run is the same on every number of host threads and in every repetition, races included; and without
// checkers as with them.
#include <filesystem>
#include <fstream>
#include <numeric>

#include "sim/check/checker.h"
#include "tests/sim/ptx_runner.h"

namespace palladion::sim::testing {
namespace {

constexpr size_t words = 4096;

struct Racy {
  std::string name, ptx;
};

// One array of `words` words, 24 CTAs of 64 threads.
std::vector<Racy> racy_kernels() {
  std::vector<Racy> all;
  for (const auto& file : std::filesystem::directory_iterator(PLD_SOURCE_DIR "/tests/same_runs")) {
    if (file.path().extension() != ".ptx") continue;
    std::ifstream in(file.path());
    all.push_back({file.path().stem(), std::string(std::istreambuf_iterator<char>(in), {})});
  }
  EXPECT_GE(all.size(), 6U);
  return all;
}

std::string outcome(const RunResult& r, const std::vector<uint32_t>& left) {
  std::string out = fmt::format("{} {} {} ", r.completed, r.instructions, r.clock.cycles);
  for (const uint32_t word : left) out += fmt::format("{:x} ", word);
  return out + PtxRunner::describe(r);
}

std::string run_once(const Racy& racy, RunOptions options, unsigned threads, bool checked,
                     std::vector<uint32_t>* left = nullptr) {
  std::vector<uint32_t> memory(words);
  std::iota(memory.begin(), memory.end(), 0);
  memory[0] = 0;
  check::Checker checker;
  options.threads = threads;
  if (checked) options.observer = &checker;
  const RunResult r = PtxRunner(racy.ptx).array(memory).shape({24, 1, 1}, {64, 1, 1}).run(options);
  if (left != nullptr) *left = memory;
  return outcome(r, memory);
}

std::vector<RunOptions> schedules_and_the_clock() {
  std::vector<RunOptions> all = every_schedule();
  RunOptions clocked;
  clocked.schedule = *schedule_named("hardware");
  all.push_back(clocked);
  return all;
}

TEST(SameRuns, OnEveryNumberOfThreads) {
  for (const Racy& racy : racy_kernels())
    for (const RunOptions& o : schedules_and_the_clock())
      for (const bool checked : {false, true}) {
        const std::string first = run_once(racy, o, 1, checked);
        EXPECT_EQ(checked, first.find("PLD60") != std::string::npos) << racy.name;
        for (int repeat = 0; repeat < 3; ++repeat)
          for (const unsigned threads : {2U, 3U, 7U})
            EXPECT_EQ(first, run_once(racy, o, threads, checked))
                << racy.name << ", " << name(o.schedule) << ", " << threads << " threads";
      }
}

TEST(SameRuns, WithCheckersAndWithout) {
  for (const Racy& racy : racy_kernels())
    for (const RunOptions& o : every_schedule()) {
      std::vector<uint32_t> without, with;
      run_once(racy, o, 2, false, &without);
      run_once(racy, o, 2, true, &with);
      EXPECT_EQ(without, with) << racy.name << ", " << name(o.schedule);
    }
}

// A CTA that stores more than its buffer holds ends its quantum there.
TEST(SameRuns, WhenTheBufferOfStoresIsFull) {
  const std::string much = ptx(R"(
.visible .entry k(.param .u64 a) {
  .reg .pred %p<8>; .reg .b32 %r<32>; .reg .b64 %rd<16>;
  ld.param.u64 %rd1, [a];
  mov.u32 %r2, %ctaid.x;
  mov.u32 %r3, %tid.x;
  mad.lo.u32 %r1, %r2, 64, %r3;
  mov.u32 %r4, 0;
  mul.wide.u32 %rd3, %r3, 256;
  add.u64 %rd3, %rd1, %rd3;
$loop:
  ld.global.u32 %r5, [%rd3];
  mad.lo.u32 %r5, %r5, 3, %r1;
  st.global.u32 [%rd3], %r5;
  add.u64 %rd3, %rd3, 16384;
  add.u32 %r4, %r4, 1;
  setp.lt.u32 %p1, %r4, 100;
  @%p1 bra $loop;
  ret;
})");
  std::string first;
  for (const unsigned threads : {1U, 2U, 7U}) {
    std::vector<uint32_t> memory(100 * 4096);
    RunOptions o;
    o.threads = threads;
    const RunResult r = PtxRunner(much).array(memory).shape({6, 1, 1}, {64, 1, 1}).run_clean(o);
    const std::string now = outcome(r, memory);
    if (first.empty()) first = now;
    EXPECT_EQ(first, now) << threads;
    EXPECT_EQ(memory[0], 320U) << "each CTA reads what was there before, and the last one's store stays";
  }
}

}  // namespace
}  // namespace palladion::sim::testing
