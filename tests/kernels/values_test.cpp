// Every kernel without values: the events of the run with them, in the same order.
#include "tests/kernels/run_kernel.h"
#include "tests/support/event_log.h"

namespace palladion::kernels::test {
namespace {

using EventRecorder = sim::testing::EventRecorder;

SimOutcome record(const plgpu::Kernel& kernel, std::vector<Array> inputs, const char* schedule,
                  sim::Values values, EventRecorder* seen) {
  sim::Machine machine(*isa::chip_for(kernel.module.target));
  sim::RunOptions options;
  options.schedule = *sim::schedule_named(schedule);
  options.threads = 1;
  options.values = values;
  options.observer = seen;
  return run(kernel, std::move(inputs), machine, options);
}

class ValuesTest : public testing::TestWithParam<Case> {};

TEST_P(ValuesTest, LeavesTheSameEvents) {
  const KernelSpec* spec = find_kernel(GetParam().kernel);
  ASSERT_NE(spec, nullptr);
  const Choice choice = choose(*spec, GetParam().sizes, GetParam().settings);
  const plgpu::Kernel kernel = spec->build(choice);
  for (const char* schedule : {"functional", "latest"}) {
    SCOPED_TRACE(schedule);
    EventRecorder full, none;
    const SimOutcome with = record(kernel, spec->make_inputs(choice, 3), schedule, sim::Values::full, &full);
    ASSERT_TRUE(with.result.clean()) << text_of(with.result);
    const SimOutcome without = record(kernel, blank_inputs(kernel), schedule, sim::Values::none, &none);
    ASSERT_TRUE(without.result.clean()) << text_of(without.result);
    EXPECT_EQ(with.result.instructions, without.result.instructions);
    EXPECT_TRUE(without.outputs.empty());
    EXPECT_TRUE(full.logs() == none.logs());
  }
}

class ValuesClockTest : public testing::TestWithParam<Case> {};

TEST_P(ValuesClockTest, TakesTheSameCycles) {
  const KernelSpec* spec = find_kernel(GetParam().kernel);
  ASSERT_NE(spec, nullptr);
  const Choice choice = choose(*spec, GetParam().sizes, GetParam().settings);
  const plgpu::Kernel kernel = spec->build(choice);
  const sim::RunResult with =
      record(kernel, spec->make_inputs(choice, 3), "hardware", sim::Values::full, nullptr).result;
  const sim::RunResult without =
      record(kernel, blank_inputs(kernel), "hardware", sim::Values::none, nullptr).result;
  ASSERT_TRUE(with.clean() && without.clean()) << text_of(with) << text_of(without);
  EXPECT_GT(with.clock.cycles, 0U);
  EXPECT_EQ(with.clock.cycles, without.clock.cycles);
  EXPECT_EQ(with.clock.counters.instructions, without.clock.counters.instructions);
  EXPECT_EQ(with.clock.counters.l2_read_sectors, without.clock.counters.l2_read_sectors);
  EXPECT_EQ(with.clock.counters.smem_bank_conflicts, without.clock.counters.smem_bank_conflicts);
}

INSTANTIATE_TEST_SUITE_P(
    Kernels, ValuesTest,
    testing::Values(
        Case{"vector_add", {{"n", "2048"}}, {}}, Case{"iota", {{"n", "1536"}}, {{"tile", "384"}}},
        Case{"transpose", {{"m", "96"}, {"n", "160"}}, {{"variant", "plain"}}},
        Case{"transpose", {{"m", "128"}, {"n", "192"}}, {{"variant", "swizzled"}}},
        Case{"transpose", {{"m", "256"}, {"n", "320"}}, {{"ctas", "3"}, {"stages", "2"}, {"band", "2"}}},
        Case{"matmul_pipelined", {{"m", "128"}, {"n", "128"}, {"k", "512"}}, {}},
        Case{"matmul_blockspec",
             {{"m", "64"}, {"n", "96"}, {"k", "320"}},
             {{"tile_m", "64"},
              {"tile_n", "32"},
              {"tile_k", "32"},
              {"stages", "2"},
              {"out_dtype", "f32"},
              {"activation", "gelu"}}},
        Case{"softmax", {{"m", "64"}, {"n", "512"}}, {}}, Case{"reduce_sum", {{"n", "65536"}}, {}},
        Case{"cluster_exchange", {{"clusters", "3"}, {"n", "256"}}, {}},
        Case{"matmul_split_k", {{"m", "128"}, {"n", "128"}, {"k", "512"}}, {}},
        Case{"matmul_ws", {{"m", "512"}, {"n", "512"}, {"k", "256"}}, {}},
        Case{"matmul_ws", {{"m", "512"}, {"n", "512"}, {"k", "256"}}, {{"cluster", "m"}}}),
    name_of_param);

INSTANTIATE_TEST_SUITE_P(
    Kernels, ValuesClockTest,
    testing::Values(Case{"transpose", {{"m", "96"}, {"n", "160"}}, {{"variant", "plain"}}},
                    Case{"softmax", {{"m", "64"}, {"n", "512"}}, {}},
                    Case{"cluster_exchange", {{"clusters", "3"}, {"n", "256"}}, {}},
                    Case{"matmul_split_k", {{"m", "128"}, {"n", "128"}, {"k", "512"}}, {}},
                    Case{"matmul_ws", {{"m", "512"}, {"n", "512"}, {"k", "256"}}, {{"cluster", "m"}}}),
    name_of_param);

// All kernels at their default shapes: one that cannot run without values says so. Short ones are compared
// event by event.
TEST(ValuesOfAll, EveryKernelRunsOrSaysWhyNot) {
  constexpr uint64_t few_instructions = 200'000;
  size_t ran = 0;
  for (const KernelSpec& spec : all_kernels()) {
    SCOPED_TRACE(spec.name);
    const Choice choice = choose(spec);
    const plgpu::Kernel kernel = spec.build(choice);
    const SimOutcome without = record(kernel, blank_inputs(kernel), "functional", sim::Values::none, nullptr);
    for (const isa::Diagnostic& d : without.result.errors) EXPECT_EQ(d.code, "PLD3120") << d.message;
    EXPECT_TRUE(without.result.findings.empty()) << text_of(without.result);
    if (!without.result.errors.empty()) continue;
    EXPECT_TRUE(without.result.completed);
    ++ran;
    if (without.result.instructions > few_instructions) continue;
    EventRecorder full, none;
    record(kernel, blank_inputs(kernel), "functional", sim::Values::none, &none);
    record(kernel, spec.make_inputs(choice, 3), "functional", sim::Values::full, &full);
    EXPECT_TRUE(full.logs() == none.logs());
  }
  EXPECT_GE(ran * 10, all_kernels().size() * 9);
}

}  // namespace
}  // namespace palladion::kernels::test
