// A wait that subtracts takes what it waited for: one signal lets one waiter pass.
#include "tests/pallas/judge.h"

namespace palladion::test {
namespace {

using plgpu::Ref;
using plgpu::Scratch;

// Two CTAs wait for two units each; one signals them one by one, behind the data that both may read.
TEST(Semaphores, EachUnitIsTakenOnce) {
  const auto k = plgpu::kernel(
      [](Ref data, Ref left, Scratch&) {
        const Ref semaphore = pl::get_global(plgpu::SemaphoreType::REGULAR({1})).at(0);
        const pl::Scalar cta = pl::axis_index("cta");
        pl::when(cta == 0, [&] {
          data.store(plgpu::full({128}, 5, pl::s32));
          for (int i = 0; i < 5; ++i) plgpu::semaphore_signal(semaphore);
        });
        pl::when(cta > 0, [&] {
          plgpu::semaphore_wait(semaphore, 2);
          left.at(cta).store(data.load());
        });
        pl::when(cta == 0, [&] {
          plgpu::semaphore_wait(semaphore, 1);
          left.at(0).store(plgpu::full({128}, 1, pl::s32));
        });
      },
      {.out_type = plgpu::Types{{pl::s32, {128}}, {pl::s32, {3, 128}}}, .grid = {3}, .grid_names = {"cta"}});
  const Judged judged = judge(k, {});
  EXPECT_TRUE(judged.races.empty() && judged.other.empty()) << judged.text;
  for (size_t i = 128; i < 3 * 128; ++i) ASSERT_EQ(judged.outputs.at(1).as<int32_t>()[i], 5);
}

// Too few signals for both: one of the two waits for ever, where both used to see the same units.
TEST(Semaphores, TwoWaitersDoNotShareAUnit) {
  const auto k = plgpu::kernel(
      [](Ref out, Scratch&) {
        const Ref semaphore = pl::get_global(plgpu::SemaphoreType::REGULAR({1})).at(0);
        pl::when(pl::axis_index("cta") == 0, [&] { plgpu::semaphore_signal(semaphore); });
        plgpu::semaphore_wait(semaphore);
        out.at(pl::axis_index("cta")).store(plgpu::full({128}, 1, pl::s32));
      },
      {.out_type = {pl::s32, {2, 128}}, .grid = {2}, .grid_names = {"cta"}});
  for (const char* schedule : {"functional", "latest", "seeded:1", "seeded:2"}) {
    sim::Machine machine(*isa::find_arch("h200"));
    sim::RunOptions options;
    options.schedule = *sim::schedule_named(schedule);
    options.threads = 1;
    options.max_instructions = 200'000;
    const SimOutcome out = run(k, {}, machine, options);
    EXPECT_FALSE(out.result.completed) << schedule;
  }
}

}  // namespace
}  // namespace palladion::test
