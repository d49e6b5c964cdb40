// No kernel that is right gets an error from the checkers, under any schedule: every case that was recorded
// on a device, and every kernel under hostile schedules.
#include <gtest/gtest.h>

#include <cstdlib>
#include <set>
#include <sstream>

#include "kernels/frame/case.h"
#include "report/text/finding_text.h"
#include "sim/check/checker.h"
#include "tests/support/names.h"
#include "verify/check.h"
#include "verify/launch/job.h"
#include "verify/launch/runner.h"

namespace palladion::kernels {

void PrintTo(const Case& c, std::ostream* os) { *os << c.text; }

namespace test {
namespace {

// Errors of one run, as text; empty when there are none.
std::string errors_of(const Case& c, const sim::Schedule& schedule) {
  sim::Machine machine(*isa::find_arch("h200"));
  sim::check::Checker checker;
  sim::RunOptions options;
  options.observer = &checker;
  options.schedule = schedule;
  const SimOutcome out =
      run(c.spec->build(c.choice), c.spec->make_inputs(c.choice, c.seed), machine, options);
  std::string text = isa::render(out.result.errors);
  for (const sim::Finding& f : out.result.findings)
    if (f.severity != sim::FindingSeverity::strict) text += report::finding_text(f);
  return out.result.completed ? text : text + "did not end";
}

std::vector<Case> cases() { return read_cases(PLD_SOURCE_DIR "/tests/device/cases.txt"); }

class CorrectKernel : public testing::TestWithParam<Case> {};
TEST_P(CorrectKernel, HasNoErrors) { EXPECT_EQ(errors_of(GetParam(), {}), ""); }
INSTANTIATE_TEST_SUITE_P(Recorded, CorrectKernel, testing::ValuesIn(cases()),
                         palladion::test::numbered_name<Case>);

// The first case of each kernel; PLD_SEEDS says how many random schedules, 20 when it does not.
std::vector<Case> first_cases() {
  std::vector<Case> out;
  std::set<std::string> seen;
  for (Case& c : cases())
    if (seen.insert(c.spec->name).second) out.push_back(std::move(c));
  return out;
}

class HostileSchedules : public testing::TestWithParam<Case> {};
TEST_P(HostileSchedules, FindNoErrors) {
  using K = sim::Schedule::Kind;
  std::vector<sim::Schedule> schedules = {{K::latest, 0}, {K::earliest, 0}};
  const char* seeds = std::getenv("PLD_SEEDS");
  for (uint64_t s = 1; s <= (seeds != nullptr ? std::strtoull(seeds, nullptr, 10) : 20); ++s)
    schedules.push_back({K::seeded, s});
  for (const sim::Schedule& s : schedules) EXPECT_EQ(errors_of(GetParam(), s), "") << sim::name(s);
}
INSTANTIATE_TEST_SUITE_P(Kernels, HostileSchedules, testing::ValuesIn(first_cases()),
                         palladion::test::numbered_name<Case>);

// The wait of each phase follows from its arrivals alone, under a mask and with each number of consumers.
class DecidedAttention : public testing::TestWithParam<const char*> {};
TEST_P(DecidedAttention, IsDecidedByOneRun) {
  const Case c = parse_case(GetParam());
  const plgpu::Kernel kernel = c.spec->build(c.choice);
  const auto report =
      verify::check(job_of(kernel, c.spec->make_inputs(c.choice, c.seed)), isa::default_arch(), {});
  ASSERT_TRUE(report) << isa::render(report.error());
  EXPECT_TRUE(report->decided) << testing::PrintToString(report->incomplete);
  EXPECT_EQ(report->verdict.word, verify::Verdict::Word::clean) << report->verdict.reason;
}
INSTANTIATE_TEST_SUITE_P(
    Kernels, DecidedAttention,
    testing::Values("flash_attention heads=1 kv_heads=1 q=128 kv=720",
                    "flash_attention heads=2 kv_heads=1 q=264 kv=520 causal=1 block_kv=64",
                    "flash_attention heads=1 kv_heads=1 q=192 kv=520 head_dim=64 stages=3",
                    "flash_attention heads=1 kv_heads=1 q=64 kv=200 consumers=1 block_kv=48 stages=1",
                    "flash_attention heads=1 kv_heads=1 q=128 kv=248 head_dim=256 dtype=bf16"));

// Lanes of one warp do not run a whole phase apart: the lane that issues waits for the others.
class Blackwell : public testing::TestWithParam<const char*> {};
TEST_P(Blackwell, IsDecided) {
  const Case c = parse_case(GetParam());
  const plgpu::Kernel kernel = c.spec->build(c.choice);
  const Job job = job_of(kernel, c.spec->make_inputs(c.choice, c.seed));
  const auto report = verify::check(job, *isa::find_arch("b200"), {});
  ASSERT_TRUE(report) << isa::render(report.error());
  // One that asks for launches: by a run for each number of answers.
  const bool asks = c.spec->name == std::string_view("blackwell_matmul_dynamic");
  EXPECT_TRUE(report->decided) << testing::PrintToString(report->incomplete);
  EXPECT_EQ(report->answers_open.has_value(), asks);
  const auto under = report->assumptions();
  ASSERT_TRUE(under);
  EXPECT_FALSE(under->warps_together);
  EXPECT_FALSE(under->answers);
  EXPECT_EQ(report->verdict.word, verify::Verdict::Word::clean) << report->verdict.reason;
}
INSTANTIATE_TEST_SUITE_P(
    Kernels, Blackwell,
    testing::Values(
        "blackwell_matmul_warp_specialized m=128 n=256 k=448", "blackwell_matmul_two_cta m=512 n=256 k=320",
        "blackwell_matmul_persistent m=512 n=768 k=192 clusters=2",
        "blackwell_matmul_epilogue_warpgroup m=512 n=768 k=192 clusters=1",
        "blackwell_matmul_dynamic m=768 n=768 k=128 stages=3", "blackwell_matmul_mxfp8 m=512 n=512 k=512",
        "blackwell_ragged_dot m=512 n=512 k=128 groups=3 clusters=2",
        "blackwell_flash_attention heads=1 kv_heads=1 q=256 kv=512",
        "blackwell_flash_attention heads=1 kv_heads=1 q=256 kv=512 causal=1",
        "blackwell_flash_attention_backward heads=1 kv_heads=1 q=384 kv=384",
        "blackwell_flash_attention_backward heads=2 kv_heads=1 q=256 kv=384 causal=1 head_dim=64",
        "blackwell_flash_attention heads=1 kv_heads=1 q=256 kv=128 head_dim=64",
        "blackwell_flash_attention heads=1 kv_heads=1 q=256 kv=768 head_dim=64 causal=1 stages=3"));

}  // namespace
}  // namespace test
}  // namespace palladion::kernels
