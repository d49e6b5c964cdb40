// Scopes record what the author wrote, in the machine, and cost nothing when they are not asked for.
#include "frontend/core/profile.h"

#include <gmock/gmock.h>

#include "frontend/plgpu.h"
#include "isa/text/print.h"
#include "sim/machine.h"

namespace palladion {
namespace {

using ::testing::ElementsAre;

// Two warpgroups; the second runs a loop of three scopes in a scope.
plgpu::Kernel two_groups(int64_t space) {
  plgpu::KernelOptions o;
  o.out_type = plgpu::Types(pl::s32, {1});
  o.grid = {3};
  o.num_threads = 2;
  o.thread_name = "wg";
  o.compiler_params.profile_space = space;
  return plgpu::kernel(
      [](const plgpu::Ref&) {
        const pl::Scalar group = pl::axis_index("wg");
        pl::when(group == 0, [] { plgpu::profile_scope("first", [] {}); });
        pl::when(group == 1, [] {
          plgpu::profile_scope("all", [] {
            pl::fori_loop(0, 3, [](const pl::Scalar&) { plgpu::profile_scope("step", [] {}); });
          });
        });
      },
      o);
}

std::vector<plgpu::ProfiledWarpgroup> run(const plgpu::Kernel& kernel) {
  sim::Machine machine(*isa::find_arch("h200"));
  std::vector<std::byte> profile(static_cast<size_t>(kernel.launch.profile_bytes()));
  sim::Launch launch;
  launch.module = &kernel.module;
  launch.grid = kernel.launch.grid;
  launch.block = kernel.launch.block;
  launch.dynamic_shared = kernel.launch.dynamic_smem_bytes;
  for (const auto& param : kernel.launch.params) {
    EXPECT_TRUE(std::holds_alternative<plgpu::ProfileParam>(param));
    const uint64_t base =
        machine.memory().bind({reinterpret_cast<uint8_t*>(profile.data()), profile.size()}, "profile");
    launch.params.resize(8);
    std::memcpy(launch.params.data(), &base, 8);
  }
  const sim::RunResult r = machine.run(launch, {.schedule = *sim::schedule_named("hardware")});
  EXPECT_TRUE(r.clean()) << isa::render(r.errors);
  return plgpu::read_profile(*kernel.launch.profile, profile);
}

std::vector<std::string> story(const plgpu::Kernel& kernel, const plgpu::ProfiledWarpgroup& w) {
  std::vector<std::string> out;
  for (const auto& e : w.events)
    out.push_back(kernel.launch.profile->scopes[e.scope] + (e.exit ? " ends" : ""));
  return out;
}

TEST(Profile, RecordsEntriesAndExitsOfEveryWarpgroup) {
  const plgpu::Kernel kernel = two_groups(16);
  const auto all = run(kernel);
  ASSERT_EQ(all.size(), 6U);
  for (const auto& w : all) {
    if (w.warpgroup == 0)
      EXPECT_THAT(story(kernel, w), ElementsAre("first", "first ends"));
    else
      EXPECT_THAT(story(kernel, w), ElementsAre("all", "step", "step ends", "step", "step ends", "step",
                                                "step ends", "all ends"));
    uint64_t last = w.clock_start;
    for (const auto& e : w.events) {
      EXPECT_GT(e.clock, last);
      last = e.clock;
    }
    EXPECT_GT(w.clock_end, last);
    EXPECT_GE(w.time_end, w.time_start);
  }
  EXPECT_EQ(all[5].cta, 2U);
}

TEST(Profile, CountsWhatFoundNoRoom) {
  const auto all = run(two_groups(3));
  EXPECT_EQ(all[1].events.size(), 3U);
  EXPECT_EQ(all[1].lost, 5U);
  EXPECT_EQ(all[0].lost, 0U);
}

TEST(Profile, CostsNothingUnlessThereIsRoom) {
  const plgpu::Kernel kernel = two_groups(0);
  EXPECT_FALSE(kernel.launch.profile);
  EXPECT_TRUE(kernel.launch.params.empty());
  EXPECT_EQ(isa::print(kernel.module).find("clock64"), std::string::npos);
}

}  // namespace
}  // namespace palladion
