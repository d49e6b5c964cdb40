// Warp-level code: plgpu::warp_map and pl::core_map over a WarpMesh. Most are JAX's own cases
// (PallasCallWarpPrimitiveSemanticsTest), rewritten.
#include <functional>

#include "isa/text/print.h"
#include "tests/frontend/run_in_sim.h"

namespace palladion::test {
namespace {

using plgpu::Ref;
using plgpu::Scratch;

TEST(Warps, EachKnowsItsNumber) {
  const auto k = plgpu::kernel(
      [](const Ref& o) {
        plgpu::warp_map([&](pl::Scalar warp) { o.at(pl::axis_index("wg") * 4 + warp).store(warp); });
      },
      {.out_type = {pl::s32, {8}}, .num_threads = 2, .thread_name = "wg"});
  EXPECT_EQ(run(k, {}).outputs[0], (Values{0, 1, 2, 3, 0, 1, 2, 3}));
}

TEST(Warps, CopyFromSeveral) {
  const auto k = plgpu::kernel(
      [](const Ref& o, Scratch& s) {
        s["ones"].store(plgpu::full({1, 128}, 1, pl::s32));
        s["threes"].store(plgpu::full({1, 128}, 3, pl::s32));
        plgpu::commit_smem();
        pl::core_map(plgpu::WarpMesh{.axis_name = "warp"}, [&] {
          EXPECT_EQ(pl::axis_size("warp"), 4);
          const pl::Scalar warp = pl::axis_index("warp");
          pl::when(warp == 1, [&] {
            plgpu::async_prefetch(o.at(pl::ds(1, 1)));
            plgpu::copy_smem_to_gmem(s["ones"], o.at(pl::ds(0, 1)));
          });
          pl::when(warp == 3, [&] { plgpu::copy_smem_to_gmem(s["threes"], o.at(pl::ds(1, 1))); });
        });
        plgpu::wait_smem_to_gmem(0);
      },
      {.out_type = {pl::s32, {2, 128}},
       .scratch_types = {{"ones", plgpu::SMEM({1, 128}, pl::s32)},
                         {"threes", plgpu::SMEM({1, 128}, pl::s32)}}});
  Values expected(128, 1);
  expected.resize(256, 3);
  EXPECT_EQ(run(k, {}).outputs[0], expected);
}

TEST(Warps, ComputeWithScalars) {
  const auto k = plgpu::kernel(
      [](const Ref& a, const Ref& o) {
        plgpu::warp_map([&](pl::Scalar warp) {
          const pl::Scalar x = a.at(warp).load_scalar();
          const pl::Scalar sum = pl::fori_loop(
              0, warp + 1, [&](pl::Index i, pl::Scalar s) { return s + x * i; }, pl::Scalar(100));
          o.at(warp).store(pl::where(warp % 2 == 0, sum, -sum));
        });
      },
      {.in_types = {{pl::s32, {4}}}, .out_type = {pl::s32, {4}}});
  EXPECT_EQ(run(k, {{5, 6, 7, 8}}).outputs[0], (Values{100, -106, 121, -148}));
}

TEST(Warps, OneLoopsOverCopies) {
  const auto k = plgpu::kernel(
      [](const Ref& o, Scratch& s) {
        for (int i = 0; i < 10; ++i) s["x"].at(i).store(plgpu::full({128}, i, pl::s32));
        plgpu::commit_smem();
        plgpu::warp_map([&](pl::Scalar warp) {
          pl::when(warp == 2, [&] {
            pl::fori_loop(0, 10, [&](pl::Index i) {
              plgpu::copy_smem_to_gmem(s["x"].at(pl::ds(i, 1)), o.at(pl::ds(i, 1)));
            });
          });
        });
        plgpu::wait_smem_to_gmem(0);
      },
      {.out_type = {pl::s32, {10, 128}}, .scratch_types = {{"x", plgpu::SMEM({10, 128}, pl::s32)}}});
  Values expected;
  for (int i = 0; i < 10; ++i) expected.resize(expected.size() + 128, i);
  EXPECT_EQ(run(k, {}).outputs[0], expected);
}

TEST(Warps, OneCopiesAnotherWaits) {
  for (const bool waits_in_warp : {false, true}) {
    const auto k = plgpu::kernel(
        [&](const Ref& a, const Ref& o, Scratch& s) {
          plgpu::warp_map([&](pl::Scalar warp) {
            pl::when(warp == 0,
                     [&] { plgpu::copy_gmem_to_smem(a.at(pl::ds(32, 32)), s["x"], s.barrier("full")); });
            pl::when(warp == 1, [&] {
              plgpu::barrier_wait(s.barrier("full"));
              plgpu::copy_smem_to_gmem(s["x"], o);
              if (waits_in_warp) plgpu::wait_smem_to_gmem(0);
            });
          });
          if (!waits_in_warp) plgpu::wait_smem_to_gmem(0);
        },
        {.in_types = {{pl::f32, {64, 32}}},
         .out_type = {pl::f32, {32, 32}},
         .scratch_types = {{"x", plgpu::SMEM({32, 32}, pl::f32)}, {"full", plgpu::Barrier()}}});
    EXPECT_EQ(run(k, {iota(64 * 32)}).outputs[0], iota(32 * 32, 32 * 32)) << waits_in_warp;
  }
}

// Four stages of one buffer: warp 0 fills it, warp 1 empties it, without the warpgroup.
TEST(Warps, ProducerAndConsumerInOneWarpgroup) {
  for (const uint64_t seed : {1, 2, 3, 4, 5}) {
    const auto k = plgpu::kernel(
        [&](const Ref& a, const Ref& o, Scratch& s) {
          plgpu::warp_map([&](pl::Scalar warp) {
            pl::when(warp == 0, [&] {
              pl::fori_loop(0, 8, [&](pl::Index i) {
                pl::when(i >= 2, [&] { plgpu::barrier_wait(s.barrier("empty").at(i % 2)); });
                plgpu::copy_gmem_to_smem(a.at(i), s["x"].at(i % 2), s.barrier("full").at(i % 2));
              });
            });
            pl::when(warp == 1, [&] {
              pl::fori_loop(0, 8, [&](pl::Index i) {
                plgpu::barrier_wait(s.barrier("full").at(i % 2));
                plgpu::copy_smem_to_gmem(s["x"].at(i % 2), o.at(7 - i));
                plgpu::wait_smem_to_gmem(0);
                pl::when(i < 6, [&] { plgpu::barrier_arrive(s.barrier("empty").at(i % 2)); });
              });
            });
          });
        },
        {.in_types = {{pl::f32, {8, 64}}},
         .out_type = {pl::f32, {8, 64}},
         .scratch_types = {{"x", plgpu::SMEM({2, 64}, pl::f32)},
                           {"full", plgpu::Barrier({.num_barriers = {2}})},
                           {"empty", plgpu::Barrier({.num_barriers = {2}})}}});
    Values expected;
    for (int i = 7; i >= 0; --i)
      for (int j = 0; j < 64; ++j) expected.push_back(64 * i + j);
    EXPECT_EQ(run(k, {iota(512)}, {.seed = seed}).outputs[0], expected);
  }
}

TEST(Warps, BarrierTestFlipsOnSuccess) {
  for (const bool single_warp : {false, true}) {
    const auto k = plgpu::kernel(
        [&](const Ref& o, Scratch& s) {
          const auto test = [&] {
            const auto& b = s.barrier("b");
            const auto seen = [&](int i) { return plgpu::barrier_test(b.at(i)).astype(pl::s32); };
            o.at(0).store(seen(0));
            o.at(1).store(seen(1));
            plgpu::barrier_arrive(b.at(0));
            o.at(2).store(seen(0));
            o.at(3).store(seen(1));
            plgpu::barrier_arrive(b.at(1));
            o.at(4).store(seen(1));
          };
          if (single_warp)
            plgpu::warp_map([&](pl::Scalar warp) { pl::when(warp == 0, test); });
          else
            test();
        },
        {.out_type = {pl::s32, {5}}, .scratch_types = {{"b", plgpu::Barrier({.num_barriers = {2}})}}});
    EXPECT_EQ(run(k, {}).outputs[0], (Values{0, 0, 1, 0, 1})) << single_warp;
  }
}

// An arrival by a warp counts as one of the warpgroup, and as a copy that arrives at the same barrier.
TEST(Warps, ArrivalsCountAsTheWarpgroups) {
  const auto k = plgpu::kernel(
      [](const Ref& a, const Ref& o, Scratch& s) {
        const auto& b = s.barrier("b");
        plgpu::warp_map([&](pl::Scalar warp) {
          pl::when(warp == 1, [&] { plgpu::copy_gmem_to_smem(a, s["x"], b); });
          pl::when(warp == 2, [&] { plgpu::barrier_arrive(b); });
        });
        plgpu::barrier_arrive(b);
        plgpu::barrier_wait(b);
        o.store(s["x"].load());
      },
      {.in_types = {{pl::f32, {128}}},
       .out_type = {pl::f32, {128}},
       .scratch_types = {{"x", plgpu::SMEM({128}, pl::f32)}, {"b", plgpu::Barrier({.num_arrivals = 3})}}});
  EXPECT_EQ(run(k, {iota(128)}).outputs[0], iota(128));
}

// One warp alone waits; then the whole warpgroup waits for the next completion of the same barrier.
TEST(Warps, TheGroupGoesOnFromTheWarpsPhase) {
  for (const int waits : {1, 2, 3}) {
    const auto k = plgpu::kernel(
        [&](const Ref& a, const Ref& o, Scratch& s) {
          const auto b = s.barrier("b").at(1);
          plgpu::warp_map([&](pl::Scalar warp) {
            pl::when(warp == 2, [&] {
              for (int i = 0; i < waits; ++i) {
                plgpu::copy_gmem_to_smem(a.at(i), s["x"], b);
                plgpu::barrier_wait(b);
              }
            });
          });
          plgpu::copy_gmem_to_smem(a.at(waits), s["x"], b);
          plgpu::barrier_wait(b);
          o.store(s["x"].load());
        },
        {.in_types = {{pl::f32, {4, 128}}},
         .out_type = {pl::f32, {128}},
         .scratch_types = {{"x", plgpu::SMEM({128}, pl::f32)},
                           {"b", plgpu::Barrier({.num_barriers = {2}})}}});
    EXPECT_EQ(run(k, {iota(512)}).outputs[0], iota(128, 128.0 * waits)) << waits;
    // Two barriers of the array, one reduction each.
    const std::string ptx = isa::print(k.module);
    const auto first = ptx.find("barrier.cta.red"), second = ptx.find("bar.red");
    EXPECT_TRUE(first != std::string::npos || second != std::string::npos) << ptx;
  }
}

TEST(Warps, NoJoinWhereTheGroupNeverWaits) {
  const auto k = plgpu::kernel(
      [](const Ref& a, Scratch& s) {
        plgpu::warp_map([&](pl::Scalar warp) {
          pl::when(warp == 0, [&] {
            plgpu::copy_gmem_to_smem(a, s["x"], s.barrier("b"));
            plgpu::barrier_wait(s.barrier("b"));
          });
        });
      },
      {.in_types = {{pl::f32, {128}}},
       .scratch_types = {{"x", plgpu::SMEM({128}, pl::f32)}, {"b", plgpu::Barrier()}}});
  run(k, {iota(128)});
  EXPECT_EQ(isa::print(k.module).find("red.or"), std::string::npos);
}

TEST(Warps, NdLoopUnderAWarp) {
  const auto k = plgpu::kernel(
      [](const Ref& a, const Ref& o, Scratch& s) {
        plgpu::copy_gmem_to_smem(a, s["x"], s.barrier("b"));
        plgpu::barrier_wait(s.barrier("b"));
        plgpu::warp_map([&](pl::Scalar warp) {
          pl::when(warp == 0, [&] {
            plgpu::nd_loop({2}, {.collective_axes = {"sm"}}, [&](const plgpu::NDLoopInfo& info) {
              plgpu::copy_smem_to_gmem(s["x"], o.at(info.index[0]));
              plgpu::wait_smem_to_gmem(0);
            });
          });
        });
      },
      {.in_types = {{pl::s32, {32}}},
       .out_type = {pl::s32, {2, 32}},
       .scratch_types = {{"x", plgpu::SMEM({32}, pl::s32)}, {"b", plgpu::Barrier()}},
       .grid = {2},
       .grid_names = {"sm"}});
  Values expected = iota(32);
  for (int i = 0; i < 32; ++i) expected.push_back(i);
  EXPECT_EQ(run(k, {iota(32)}).outputs[0], expected);
}

TEST(Warps, SignalAndWaitForSemaphores) {
  const auto k = plgpu::kernel(
      [](const Ref& o, Scratch& s) {
        const Ref sem = s["sem"];
        plgpu::warp_map([&](pl::Scalar warp) {
          pl::when(warp > 0, [&] { plgpu::semaphore_signal(sem.at(0), warp); });
          pl::when(warp == 0, [&] {
            plgpu::semaphore_wait(sem.at(0), 5);
            o.at(0).store(1);
          });
        });
        plgpu::semaphore_wait(sem.at(0), 1, {.decrement = false});
        o.at(1).store(plgpu::semaphore_read(sem.at(0)));
      },
      {.out_type = {pl::s32, {2}}, .scratch_types = {{"sem", plgpu::SemaphoreType::REGULAR({1})}}});
  EXPECT_EQ(run(k, {}).outputs[0], (Values{1, 1}));
}

TEST(Warps, DependentGrids) {
  const auto k = plgpu::kernel(
      [](const Ref& a, const Ref& o) {
        pl::core_map(plgpu::WarpMesh{"warp"}, [&] {
          const pl::Scalar warp = pl::axis_index("warp");
          pl::when(warp == 0, [] { plgpu::griddepcontrol_wait(); });
          o.at(warp).store(a.at(warp).load_scalar() * 2);
          pl::when(warp == 0, [] { plgpu::griddepcontrol_launch_dependents(); });
        });
      },
      {.in_types = {{pl::f32, {4}}}, .out_type = {pl::f32, {4}}});
  EXPECT_TRUE(k.launch.programmatic_serialization);
  EXPECT_EQ(run(k, {{1, 2, 3, 4}}).outputs[0], (Values{2, 4, 6, 8}));
}

// A warp writes single elements and copies them: the fence and the lanes of that warp suffice.
TEST(Warps, CommitWhatTheyStored) {
  const auto k = plgpu::kernel(
      [](const Ref& o, Scratch& s) {
        plgpu::warp_map([&](pl::Scalar warp) {
          pl::fori_loop(0, 32, [&](pl::Index i) { s["x"].at(warp, i).store(warp * 100 + i); });
          plgpu::commit_smem();
          plgpu::copy_smem_to_gmem(s["x"].at(warp), o.at(warp));
          plgpu::wait_smem_to_gmem(0);
        });
      },
      {.out_type = {pl::s32, {4, 32}},
       .scratch_types = {{"x", plgpu::SMEM({4, 32}, pl::s32)}},
       .compiler_params = {.unsafe_no_auto_barriers = true}});
  Values expected;
  for (int warp = 0; warp < 4; ++warp)
    for (int i = 0; i < 32; ++i) expected.push_back(100 * warp + i);
  EXPECT_EQ(run(k, {}).outputs[0], expected);
}

}  // namespace
}  // namespace palladion::test
