// A run that is held in the middle goes on as if it had not been: the same bits, cycles and findings.
#include <gtest/gtest.h>

#include <algorithm>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "kernels/frame/registry.h"
#include "report/text/finding_text.h"
#include "sim/check/checker.h"
#include "sim/snapshot.h"
#include "tests/kernels/run_kernel.h"
#include "verify/launch/runner.h"

namespace palladion::kernels {
namespace {

// What a run has come to.
struct End {
  std::vector<uint64_t> hashes;  // of the outputs
  std::vector<std::string> findings;
  uint64_t instructions = 0, cycles = 0;
  friend bool operator==(const End&, const End&) = default;
};

End end_of(HeldJob& job) {
  while (job.run().advance()) {
  }
  const sim::RunResult& r = job.run().result();
  End end{.hashes = {}, .findings = {}, .instructions = r.instructions, .cycles = r.clock.cycles};
  for (const Array& output : job.outputs()) end.hashes.push_back(hash(output));
  for (const sim::Finding& f : r.findings) end.findings.push_back(report::finding_text(f));
  EXPECT_TRUE(r.completed) << test::text_of(r);
  return end;
}

void advance_to(sim::Run& run, uint64_t position) {
  while (run.position() < position && run.advance()) {
  }
}

// Some cluster stands between its first and its last instruction, with copies or products under way; under
// `functional` none are at a boundary, because the schedule advances them between the warps' instructions.
bool in_the_middle(const sim::Snapshot& snapshot, std::string_view schedule) {
  return std::ranges::any_of(snapshot.grid.resident, [&](uint32_t slot) {
    const sim::ClusterState& c = snapshot.grid.slots[slot];
    return c.instructions != 0 && !c.finished() && (schedule == "functional" || !c.pending.empty());
  });
}

// Everything that the machine remembers of its warps.
void expect_same_state(const sim::Snapshot& a, const sim::Snapshot& b) {
  ASSERT_EQ(a.position(), b.position());
  EXPECT_TRUE(a.memory == b.memory);
  ASSERT_EQ(a.grid.resident, b.grid.resident);
  for (const uint32_t slot : a.grid.resident) {
    const sim::ClusterState &c = a.grid.slots[slot], &d = b.grid.slots[slot];
    EXPECT_EQ(c.now, d.now);
    EXPECT_EQ(c.instructions, d.instructions);
    ASSERT_EQ(c.pending.size(), d.pending.size());
    for (size_t rank = 0; rank < c.ctas.size(); ++rank) {
      EXPECT_EQ(c.ctas[rank].shared, d.ctas[rank].shared);
      for (size_t w = 0; w < c.ctas[rank].warps.size(); ++w)
        EXPECT_EQ(c.ctas[rank].warps[w].registers, d.ctas[rank].warps[w].registers);
    }
  }
}

// A small grid. Without a clock not all clusters are resident at once, and quanta end inside their main
// loops.
class Held {
 public:
  explicit Held(const char* schedule, sim::Observer* observer = nullptr,
                sim::Values values = sim::Values::full)
      : kernel_(spec().build(choice())),
        job_(job_of(kernel_, spec().make_inputs(choice(), 3))),
        machine_(*isa::find_arch("h200")) {
    options_.schedule = *sim::schedule_named(schedule);
    options_.observer = observer;
    options_.values = values;
    options_.resident_clusters = 4;
    options_.quantum = 700;
    held_.emplace(job_, machine_, options_);
  }
  HeldJob& job() { return *held_; }
  sim::Run& run() { return held_->run(); }

 private:
  static const KernelSpec& spec() { return *find_kernel("matmul_ws"); }
  static Choice choice() { return choose(spec(), {{"m", "512"}, {"n", "256"}, {"k", "256"}}); }

  plgpu::Kernel kernel_;
  Job job_;
  sim::Machine machine_;
  sim::RunOptions options_;
  std::optional<HeldJob> held_;
};

// A boundary in the second half at which a cluster is in the middle of its work.
uint64_t middle_of(const char* schedule) {
  Held whole(schedule);
  end_of(whole.job());
  Held held(schedule);
  advance_to(held.run(), whole.run().position() / 2);
  while (!in_the_middle(held.run().snapshot(), schedule)) {
    if (held.run().advance()) continue;
    ADD_FAILURE() << "no cluster was in the middle at any boundary of the second half";
    break;
  }
  return held.run().position();
}

class Snapshots : public testing::TestWithParam<const char*> {};

TEST_P(Snapshots, GoOnTwiceAsTheUninterruptedRun) {
  const uint64_t middle = middle_of(GetParam());
  ASSERT_GT(middle, 0u);
  Held held(GetParam());
  advance_to(held.run(), middle);
  const sim::Snapshot snapshot = held.run().snapshot();
  const End whole = end_of(held.job());
  for (int again = 0; again < 2; ++again) {
    held.run().restore(snapshot);
    EXPECT_EQ(held.run().position(), middle);
    expect_same_state(held.run().snapshot(), snapshot);
    EXPECT_EQ(end_of(held.job()), whole);
  }
}

// A snapshot is a value: what runs on does not change it, and it can be taken before the first instruction.
TEST_P(Snapshots, OfTheLaunchBringAllOfTheRunBack) {
  Held held(GetParam());
  const sim::Snapshot launch = held.run().snapshot();
  const End whole = end_of(held.job());
  held.run().restore(launch);
  EXPECT_EQ(end_of(held.job()), whole);
}

// Observers are not part of a snapshot: with the checkers on, the run goes back to its launch, and from there
// to the same state, in which the checkers know again what they knew.
TEST_P(Snapshots, AreReachedAgainWithTheCheckersOn) {
  const uint64_t middle = middle_of(GetParam());
  sim::check::Checker checker;
  Held held(GetParam(), &checker);
  const sim::Snapshot launch = held.run().snapshot();
  advance_to(held.run(), middle);
  const sim::Snapshot snapshot = held.run().snapshot();
  const End whole = end_of(held.job());
  EXPECT_THROW(held.run().restore(snapshot), std::logic_error);
  for (int again = 0; again < 2; ++again) {
    held.run().restore(launch);
    advance_to(held.run(), middle);
    expect_same_state(held.run().snapshot(), snapshot);
    EXPECT_EQ(end_of(held.job()), whole);
  }
  EXPECT_EQ(whole, [&] {
    Held unwatched(GetParam());
    return end_of(unwatched.job());
  }());
}

INSTANTIATE_TEST_SUITE_P(Schedules, Snapshots,
                         testing::Values("functional", "seeded:7", "latest", "hardware"), [](const auto& p) {
                           const std::string name = p.param;
                           return name.substr(0, name.find(':'));
                         });

TEST(SnapshotsWithoutValues, KeepWhereTensorDataAreMissing) {
  Held held("hardware", nullptr, sim::Values::none);
  for (int i = 0; i < 8; ++i) held.run().advance();
  const sim::Snapshot snapshot = held.run().snapshot();
  const End whole = end_of(held.job());
  held.run().restore(snapshot);
  EXPECT_EQ(end_of(held.job()), whole);
}

}  // namespace
}  // namespace palladion::kernels
