// Kernels under the clock: the bits of every other schedule, and cycles that depend on nothing but the
// program.
#include "sim/check/checker.h"
#include "sim/clock/report/where.h"
#include "tests/kernels/run_kernel.h"

namespace palladion::kernels::test {
namespace {

struct Clocked {
  SimOutcome outcome;
  const sim::ClockReport& clock() const { return outcome.result.clock; }
};

Clocked run_clocked(const plgpu::Kernel& kernel, const std::vector<Array>& inputs, unsigned threads,
                    sim::L2Start l2 = sim::L2Start::cold, sim::Observer* observer = nullptr) {
  sim::Machine machine(*isa::chip_for(kernel.module.target));
  sim::RunOptions options;
  options.schedule = *sim::schedule_named("hardware");
  options.threads = threads;
  options.l2 = l2;
  options.observer = observer;
  return {run(kernel, inputs, machine, options)};
}

class ClockTest : public testing::TestWithParam<Case> {};

TEST_P(ClockTest, CyclesDependOnTheProgramAlone) {
  const KernelSpec* spec = find_kernel(GetParam().kernel);
  ASSERT_NE(spec, nullptr);
  const Choice choice = choose(*spec, GetParam().sizes, GetParam().settings);
  const plgpu::Kernel kernel = spec->build(choice);
  const std::vector<Array> inputs = spec->make_inputs(choice, 5);
  const Clocked one = run_clocked(kernel, inputs, 1), two = run_clocked(kernel, inputs, 2);
  ASSERT_TRUE(one.outcome.result.clean()) << text_of(one.outcome.result);
  sim::check::Checker checker(sim::check::Options{});
  const Clocked checked = run_clocked(kernel, inputs, 2, sim::L2Start::cold, &checker);
  for (const Clocked* other : {&two, &checked}) {
    EXPECT_EQ(one.clock().cycles, other->clock().cycles);
    EXPECT_EQ(one.clock().counters.instructions, other->clock().counters.instructions);
    EXPECT_EQ(one.clock().counters.dram_read_bytes, other->clock().counters.dram_read_bytes);
    ASSERT_EQ(one.outcome.outputs.size(), other->outcome.outputs.size());
    for (size_t i = 0; i < one.outcome.outputs.size(); ++i)
      EXPECT_EQ(hash(one.outcome.outputs[i]), hash(other->outcome.outputs[i]));
  }
}

TEST_P(ClockTest, BitsAreThoseOfTheFunctionalSchedule) {
  const KernelSpec* spec = find_kernel(GetParam().kernel);
  ASSERT_NE(spec, nullptr);
  const Choice choice = choose(*spec, GetParam().sizes, GetParam().settings);
  const plgpu::Kernel kernel = spec->build(choice);
  const std::vector<Array> inputs = spec->make_inputs(choice, 5);
  sim::Machine machine(*isa::chip_for(kernel.module.target));
  const SimOutcome functional = run(kernel, inputs, machine, {});
  const Clocked clocked = run_clocked(kernel, inputs, 2);
  ASSERT_EQ(functional.outputs.size(), clocked.outcome.outputs.size());
  for (size_t i = 0; i < functional.outputs.size(); ++i)
    EXPECT_EQ(hash(functional.outputs[i]), hash(clocked.outcome.outputs[i]));
}

TEST_P(ClockTest, AWarmL2ReadsLessFromHbm) {
  const KernelSpec* spec = find_kernel(GetParam().kernel);
  ASSERT_NE(spec, nullptr);
  const Choice choice = choose(*spec, GetParam().sizes, GetParam().settings);
  const plgpu::Kernel kernel = spec->build(choice);
  const std::vector<Array> inputs = spec->make_inputs(choice, 5);
  const Clocked cold = run_clocked(kernel, inputs, 2),
                warm = run_clocked(kernel, inputs, 2, sim::L2Start::warm);
  EXPECT_GT(cold.clock().counters.dram_read_bytes, 0U);
  EXPECT_EQ(warm.clock().counters.dram_read_bytes, 0U);
  EXPECT_LT(warm.clock().cycles, cold.clock().cycles);
}

INSTANTIATE_TEST_SUITE_P(
    Kernels, ClockTest,
    testing::Values(Case{"vector_add", {{"n", "32768"}}, {}},
                    Case{"matmul_pipelined", {{"m", "256"}, {"n", "256"}, {"k", "256"}}, {}},
                    Case{"matmul_ws", {{"m", "512"}, {"n", "256"}, {"k", "256"}}, {{"cluster", "m"}}},
                    Case{"transpose", {{"m", "256"}, {"n", "256"}}, {}},
                    Case{"reduce_sum", {{"n", "65536"}}, {{"dtype", "s32"}}},
                    Case{"blackwell_matmul_epilogue_warpgroup",
                         {{"m", "512"}, {"n", "512"}, {"k", "256"}},
                         {{"clusters", "2"}}}),
    name_of_param);

// What the report says of a kernel's tensor cores, and of the warps that give them work.
void expect_work(const char* name, const char* operation) {
  SCOPED_TRACE(name);
  const KernelSpec* spec = find_kernel(name);
  ASSERT_NE(spec, nullptr);
  const Choice choice = choose(*spec, {{"m", "512"}, {"n", "512"}, {"k", "256"}}, {});
  const plgpu::Kernel kernel = spec->build(choice);
  const Clocked run = run_clocked(kernel, spec->make_inputs(choice, 5), 1);
  const sim::Where where =
      sim::where_time_went(kernel.module, "", *isa::chip_for(kernel.module.target), run.clock());
  EXPECT_EQ(where.tensor_flops, 2.0 * 512 * 512 * 256);
  EXPECT_TRUE(std::ranges::any_of(where.roles, [&](const sim::RoleWhere& role) {
    return role.operations.find(operation) != std::string::npos;
  })) << operation;
}

TEST(ClockReport, CountsTheWorkOfTheTensorCores) {
  expect_work("matmul_ws", "wgmma");
  expect_work("blackwell_matmul_warp_specialized", "tcgen05.mma");
  expect_work("blackwell_matmul_two_cta", "tcgen05.mma");
}

}  // namespace
}  // namespace palladion::kernels::test
