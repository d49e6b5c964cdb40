// Cluster launch control in the frontend: every program's work is done once, whoever does it; what is
// refused.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "frontend/plgpu.h"
#include "kernels/frame/registry.h"
#include "sim/check/checker.h"
#include "tests/kernels/run_kernel.h"
#include "verify/arrays/arrays.h"
#include "verify/launch/runner.h"

namespace palladion::test::cluster_launch {
namespace {

using plgpu::BarrierRef;
using plgpu::NDLoopInfo;
using plgpu::Ref;
using ::testing::HasSubstr;

const isa::ArchSpec& b200() { return *isa::find_arch("b200"); }

constexpr const char* schedules[] = {"functional", "latest", "earliest", "seeded:1", "seeded:2"};

// With room for `room` clusters, and the checkers; nothing is found.
SimOutcome run_checked(const plgpu::Kernel& kernel, const std::vector<Array>& in, const char* schedule,
                       uint64_t room) {
  sim::Machine machine(b200());
  sim::check::Checker checker;
  sim::RunOptions options;
  options.observer = &checker;
  options.schedule = *sim::schedule_named(schedule);
  options.resident_clusters = room;
  options.threads = 1;
  SimOutcome out = run(kernel, in, machine, options);
  EXPECT_TRUE(out.result.clean()) << kernels::test::text_of(out.result);
  EXPECT_TRUE(out.result.completed);
  return out;
}

constexpr int64_t rows = 3, columns = 5;

struct Team {
  std::vector<int64_t> cluster;
  int threads = 1;
};

// counts[i, j, CTA, thread] is how often program (i, j) was done, steps[i, j, ...] how many steps the program
// did that began there.
plgpu::Kernel workers(const Team& team) {
  plgpu::KernelOptions o;
  const int64_t ctas = pl::volume(team.cluster);
  const pl::ShapeDtype counts{pl::s32, {rows, columns, ctas, team.threads, 128}};
  o.in_types = {counts};
  o.out_type = plgpu::Types{counts, {pl::s32, {rows, columns, ctas, team.threads}}};
  o.input_output_aliases = {{0, 0}};
  o.grid = {rows, columns};
  o.grid_names = {"i", "j"};
  plgpu::DynamicSchedulingOptions options;
  o.cluster = team.cluster;
  for (size_t i = 0; i < team.cluster.size(); ++i) o.cluster_names.push_back("c" + std::to_string(i));
  options.cluster_axes = o.cluster_names;
  o.num_threads = team.threads;
  if (team.threads > 1) options.thread_axis = o.thread_name = "wg";
  o.arch = &b200();
  return plgpu::kernel(
      [&](const Ref&, const Ref& done, const Ref& steps) {
        pl::Scalar cta(0);
        for (size_t i = 0; i < team.cluster.size(); ++i)
          cta = cta * team.cluster[i] + pl::axis_index("c" + std::to_string(i));
        const pl::Scalar thread = team.threads > 1 ? pl::axis_index("wg") : pl::Scalar(0);
        const pl::Scalar total = plgpu::dynamic_scheduling_loop(
            {"i", "j"}, options,
            [&](const NDLoopInfo& info, const pl::Scalar& sum) {
              EXPECT_FALSE(info.num_local_steps.has_value());
              plgpu::atomic_add(done.at(info.index[0], info.index[1], cta, thread),
                                plgpu::zeros({128}, pl::s32) + 1);
              return pl::where(info.local_index == sum, sum + 1, pl::Scalar(-1000));
            },
            pl::Scalar(0));
        steps.at(pl::axis_index("i"), pl::axis_index("j"), cta, thread).store(total);
      },
      o);
}

class Teams : public ::testing::TestWithParam<Team> {};

TEST_P(Teams, DoAllWorkOnceUnderEverySchedule) {
  const plgpu::Kernel kernel = workers(GetParam());
  const std::vector<Array> in = {filled(kernel.launch.inputs[0], {.kind = Fill::Kind::zeros})};
  const auto ctas = static_cast<uint64_t>(pl::volume(GetParam().cluster));
  for (const char* schedule : schedules)
    for (const uint64_t room : {1, 4, 15}) {
      SCOPED_TRACE(testing::Message() << schedule << ", room for " << room);
      const SimOutcome out = run_checked(kernel, in, schedule, room);
      EXPECT_EQ(out.result.ctas, room * ctas);
      const int64_t members = pl::volume(GetParam().cluster) * GetParam().threads;
      for (int64_t i = 0; i < rows * columns * members * 128; ++i)
        ASSERT_EQ(value_at(out.outputs[0], i), 1) << i;
      for (int64_t member = 0; member < members; ++member) {
        double sum = 0;  // programs that were taken over wrote nothing: -1
        for (int64_t i = 0; i < rows * columns; ++i)
          sum += std::max(0.0, value_at(out.outputs[1], i * members + member));
        EXPECT_EQ(sum, rows * columns);
      }
    }
}

INSTANTIATE_TEST_SUITE_P(ClusterLaunch, Teams,
                         ::testing::Values(Team{{1}, 1}, Team{{1}, 2}, Team{{2}, 1}, Team{{2}, 2},
                                           Team{{2, 2}, 1}, Team{{4}, 1}));

// Each program asks once, as the manual's first example does: out[i] is the program that did i.
plgpu::Kernel ask_once() {
  return plgpu::kernel(
      [](const Ref& out, plgpu::Scratch& s) {
        const BarrierRef& answered = s.barrier("answered");
        plgpu::try_cluster_cancel(s["answer"], answered);
        const pl::Scalar me = pl::axis_index("i");
        out.at(me).store(me);
        plgpu::barrier_wait(answered);
        const auto [index, success] = plgpu::query_cluster_cancel(s["answer"], {"i"});
        pl::when(success, [&] { out.at(index[0]).store(me); });
      },
      {.out_type = {pl::s32, {6}},
       .scratch_types = {{"answer", plgpu::TryClusterCancelResult()}, {"answered", plgpu::Barrier()}},
       .grid = {6},
       .grid_names = {"i"},
       .arch = &b200()});
}

TEST(ClusterLaunch, OneRequestTakesOneProgram) {
  const plgpu::Kernel kernel = ask_once();
  for (const char* schedule : schedules) {
    const SimOutcome out = run_checked(kernel, {}, schedule, 1);
    EXPECT_EQ(out.result.ctas, 3U);
    for (int64_t i = 0; i < 6; ++i) EXPECT_EQ(value_at(out.outputs[0], i), i / 2 * 2) << schedule;
  }
}

TEST(ClusterLaunch, AMatmulTakesOverTilesUnderEverySchedule) {
  const kernels::KernelSpec& spec = *kernels::find_kernel("blackwell_matmul_dynamic");
  const kernels::Choice choice =
      kernels::choose(spec, {{"m", "512"}, {"n", "1280"}, {"k", "128"}}, {{"stages", "2"}});
  const plgpu::Kernel kernel = spec.build(choice);
  const std::vector<Array> in = spec.make_inputs(choice, 3);
  const std::vector<Array> wanted = spec.reference(choice, in);
  for (const char* schedule : schedules)
    for (const uint64_t room : {1, 3}) {
      SCOPED_TRACE(testing::Message() << schedule << ", room for " << room);
      const SimOutcome out = run_checked(kernel, in, schedule, room);
      EXPECT_EQ(out.result.ctas, 2 * room);
      EXPECT_TRUE(compare(out.outputs[0], wanted[0], spec.tolerance(choice)).ok());
    }
}

// --- what is refused --------------------------------------------------------------------------------------
struct Setup {
  const char* arch = "b200";
  std::vector<int64_t> cluster;
  int threads = 1;
};

std::string refused(const std::function<void(plgpu::Scratch&)>& record, const Setup& setup = {}) {
  plgpu::KernelOptions o;
  o.out_type = {pl::s32, {6}};
  o.scratch_types = {
      {"answer", plgpu::TryClusterCancelResult()},  {"answers", plgpu::TryClusterCancelResult(2)},
      {"bytes", plgpu::SMEM({64}, pl::u8)},         {"one", plgpu::Barrier()},
      {"two", plgpu::Barrier({.num_arrivals = 2})}, {"several", plgpu::Barrier({.num_barriers = {2}})}};
  o.grid = {6};
  o.grid_names = {"i"};
  o.cluster = setup.cluster;
  if (!setup.cluster.empty()) {
    o.cluster_names = {"c"};
    o.scratch_types.push_back({"cluster", plgpu::ClusterBarrier({.collective_axes = {"c"}})});
  }
  o.num_threads = setup.threads;
  if (setup.threads > 1) o.thread_name = "wg";
  o.arch = isa::find_arch(setup.arch);
  try {
    plgpu::kernel([&](const Ref&, plgpu::Scratch& s) { record(s); }, o);
  } catch (const isa::Error& e) {
    const isa::Diagnostic& d = e.diagnostics().front();
    EXPECT_FALSE(d.help.empty()) << d.message;
    EXPECT_THAT(e.what(), HasSubstr("cluster_launch_test.cpp"));
    return d.message;
  }
  return "no Error";
}

TEST(ClusterLaunch, MisusesOfTheWordsAreNamed) {
  const auto ask = [](const char* answer, const char* barrier) {
    return [=](plgpu::Scratch& s) { plgpu::try_cluster_cancel(s[answer], s.barrier(barrier)); };
  };
  EXPECT_THAT(refused(ask("answer", "one"), {.arch = "h200"}),
              HasSubstr("try_cluster_cancel: h200 has no cluster launch control"));
  EXPECT_THAT(refused(ask("answers", "one")), HasSubstr("takes 16 contiguous bytes"));
  EXPECT_THAT(refused(ask("answer", "two")), HasSubstr("expects 2 arrivals, the kernel has 1 thread"));
  EXPECT_THAT(refused(ask("answer", "one"), {.threads = 2}),
              HasSubstr("expects 1 arrivals, the kernel has 2"));
  EXPECT_THAT(refused(ask("answer", "several")), HasSubstr("is an array of"));
  EXPECT_THAT(refused(ask("answer", "cluster"), {.cluster = {2}}), HasSubstr("is a ClusterBarrier"));
  EXPECT_THAT(refused([](plgpu::Scratch& s) {
                plgpu::try_cluster_cancel(s["bytes"].at(pl::ds(8, 16)), s.barrier("one"));
              }),
              HasSubstr("begins at byte 8"));
  EXPECT_THAT(
      refused([](plgpu::Scratch& s) {
        plgpu::warp_map([&](const pl::Scalar&) { plgpu::try_cluster_cancel(s["answer"], s.barrier("one")); });
      }),
      HasSubstr("it takes a whole warpgroup"));
  const auto query = [](const std::vector<std::string>& names) {
    return [=](plgpu::Scratch& s) { plgpu::query_cluster_cancel(s["answer"], names); };
  };
  EXPECT_THAT(refused(query({})), HasSubstr("grid_names is empty"));
  EXPECT_THAT(refused(query({"c"}), {.cluster = {2}}), HasSubstr("the grid has no axis named \"c\""));
  EXPECT_THAT(refused(query({"i", "i"})), HasSubstr("twice"));
}

TEST(ClusterLaunch, MisusesOfTheLoopAreNamed) {
  const auto loop = [](const std::vector<std::string>& names,
                       const plgpu::DynamicSchedulingOptions& options = {}) {
    return [=](plgpu::Scratch&) { plgpu::dynamic_scheduling_loop(names, options, [](const NDLoopInfo&) {}); };
  };
  EXPECT_THAT(refused(loop({"i"}), {.arch = "h200"}), HasSubstr("h200 has no cluster launch control"));
  EXPECT_THAT(refused(loop({})), HasSubstr("grid_names is empty"));
  EXPECT_THAT(refused(loop({"x"})), HasSubstr("no axis named \"x\""));
  EXPECT_THAT(refused(loop({"i"}), {.threads = 2}), HasSubstr("2 threads, and thread_axis is not given"));
  EXPECT_THAT(refused(loop({"i"}, {.thread_axis = "w"}), {.threads = 2}),
              HasSubstr("the threads have no axis named \"w\""));
  EXPECT_THAT(refused(loop({"i"}), {.cluster = {2}}), HasSubstr("cluster_axes leaves out \"c\""));
  EXPECT_THAT(refused(loop({"i"}, {.cluster_axes = {"x"}}), {.cluster = {2}}),
              HasSubstr("the cluster has no axis named \"x\""));
}

}  // namespace
}  // namespace palladion::test::cluster_launch
