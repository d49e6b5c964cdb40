// Barriers, clusters, semaphores, atomics, asynchronous copies with options.
#include "tests/frontend/run_in_sim.h"

namespace palladion::test {
namespace {

using plgpu::Array;
using plgpu::Layout;
using plgpu::Ref;
using plgpu::Scratch;

TEST(Sync, ThreadsExchangeThroughBarriers) {
  const auto k = plgpu::kernel(
      [](const Ref& a, const Ref& o, Scratch& s) {
        const pl::Index t = pl::axis_index("t");
        pl::when(t == 0, [&] {
          s["x"].store(a.load() + 1);
          plgpu::barrier_arrive(s.barrier("filled"));
          plgpu::barrier_wait(s.barrier("done"));
          o.store(s["x"].load());
        });
        pl::when(t == 1, [&] {
          plgpu::barrier_wait(s.barrier("filled"));
          s["x"].store(s["x"].load() * 2);
          plgpu::barrier_arrive(s.barrier("done"));
        });
      },
      {.in_types = {{pl::f32, {512}}},
       .out_type = {pl::f32, {512}},
       .scratch_types = {{"x", plgpu::SMEM({512}, pl::f32)},
                         {"filled", plgpu::Barrier()},
                         {"done", plgpu::Barrier()}},
       .num_threads = 2,
       .thread_name = "t"});
  Values expected = iota(512);
  for (double& v : expected) v = (v + 1) * 2;
  for (const auto kind :
       {sim::Schedule::Kind::functional, sim::Schedule::Kind::latest, sim::Schedule::Kind::seeded}) {
    EXPECT_EQ(run(k, {iota(512)}, {kind, 5}).outputs[0], expected);
  }
}

// A barrier at which copies and warpgroups arrive counts both.
TEST(Sync, MixedArrivals) {
  const auto k = plgpu::kernel(
      [](const Ref& a, const Ref& o, Scratch& s) {
        const pl::Index t = pl::axis_index("t");
        pl::when(t == 1, [&] {
          pl::fori_loop(0, 3, [&](pl::Index) {
            plgpu::copy_gmem_to_smem(a, s["x"], s.barrier("both"),
                                     {.oob_mode = plgpu::OOBFillMode::PROMISE_IN_BOUNDS});
            plgpu::barrier_wait(s.barrier("next"));
          });
        });
        pl::when(t == 0, [&] {
          pl::fori_loop(0, 3, [&](pl::Index) {
            plgpu::barrier_arrive(s.barrier("both"));
            plgpu::barrier_wait(s.barrier("both"));
            o.store(s["x"].load());
            plgpu::commit_smem();
            plgpu::barrier_arrive(s.barrier("next"));
          });
        });
      },
      {.in_types = {{pl::f32, {512}}},
       .out_type = {pl::f32, {512}},
       .scratch_types = {{"x", plgpu::SMEM({512}, pl::f32)},
                         {"both", plgpu::Barrier({.num_arrivals = 2})},
                         {"next", plgpu::Barrier()}},
       .num_threads = 2,
       .thread_name = "t"});
  EXPECT_EQ(run(k, {iota(512)}).outputs[0], iota(512));
}

TEST(Sync, BarrierTestSpins) {
  const auto k = plgpu::kernel(
      [](const Ref& a, const Ref& o, Scratch& s) {
        plgpu::copy_gmem_to_smem(a, s["x"], s.barrier("b"));
        pl::while_loop([&](pl::Scalar done) { return !done; },
                       [&](pl::Scalar) { return plgpu::barrier_test(s.barrier("b")); }, pl::Scalar(false));
        o.store(s["x"].load());
      },
      {.in_types = {{pl::f32, {256}}},
       .out_type = {pl::f32, {256}},
       .scratch_types = {{"x", plgpu::SMEM({256}, pl::f32)}, {"b", plgpu::Barrier()}}});
  EXPECT_EQ(run(k, {iota(256)}).outputs[0], iota(256));
  EXPECT_EQ(run(k, {iota(256)}, {sim::Schedule::Kind::seeded, 2}).outputs[0], iota(256));
}

TEST(Sync, ClusterReferencesAndRemoteStores) {
  const auto k = plgpu::kernel(
      [](const Ref& a, const Ref& o, Scratch& s) {
        const pl::Index c = pl::axis_index("c"), peer = pl::Index(1) - c;
        s["x"].store(a.at(c).load());
        plgpu::barrier_arrive(s.barrier("all"));
        plgpu::barrier_wait(s.barrier("all"));
        const Array theirs = plgpu::cluster_ref(s["x"], "c", peer).load(Layout::WG_STRIDED({256}, 2));
        plgpu::async_store_smem(theirs + 1, s["y"], s.barrier("landed"),
                                {.cluster_idx = peer, .cluster_dim = "c"});
        plgpu::barrier_wait(s.barrier("landed"));
        o.at(c).store(s["y"].load() + s["x"].load());
      },
      {.in_types = {{pl::s32, {2, 256}}},
       .out_type = {pl::s32, {2, 256}},
       .scratch_types = {{"x", plgpu::SMEM({256}, pl::s32)},
                         {"y", plgpu::SMEM({256}, pl::s32)},
                         {"all", plgpu::ClusterBarrier({.collective_axes = {"c"}})},
                         {"landed", plgpu::Barrier()}},
       .cluster = {2},
       .cluster_names = {"c"}});
  // y of CTA c is x of CTA c, plus one, after two trips.
  Values expected = iota(512);
  for (double& v : expected) v = 2 * v + 1;
  EXPECT_EQ(run(k, {iota(512)}).outputs[0], expected);
}

TEST(Sync, SemaphoresOrderCtas) {
  const auto k = plgpu::kernel(
      [](const Ref& o) {
        const Ref turn = pl::get_global(plgpu::SemaphoreType::REGULAR());
        const pl::Index me = pl::program_id(0);
        plgpu::semaphore_wait(turn, me, {.decrement = false, .memory_scope = "gpu"});
        // Each thread doubles what was there and adds one.
        o.store(pl::where(me == 0, 0, o.at(0).load_scalar()) * 2 + 1);
        plgpu::semaphore_signal(turn, 1, {.memory_scope = "gpu"});
      },
      {.out_type = {pl::s32, {1}}, .grid = {6}});
  EXPECT_EQ(run(k, {}).outputs[0], Values{63});
}

TEST(Sync, AtomicsAddUp) {
  const auto k = plgpu::kernel(
      [](const Ref& a, const Ref&, const Ref& o, Scratch& s) {
        s["x"].store(plgpu::zeros({256}, pl::f32));
        plgpu::atomic_add(s["x"], a.load());
        plgpu::atomic_add(s["x"], a.load());
        plgpu::commit_smem();
        plgpu::atomic_add(o, s["x"].load());
        plgpu::atomic_add(o.at(0), 100);
      },
      {.in_types = {{pl::f32, {256}}, {pl::f32, {256}}},
       .out_type = {pl::f32, {256}},
       .scratch_types = {{"x", plgpu::SMEM({256}, pl::f32)}},
       .grid = {3},
       .input_output_aliases = {{1, 0}}});
  Values expected = iota(256);
  for (double& v : expected) v = 6 * v + 1000;
  expected[0] += 300;
  EXPECT_EQ(run(k, {iota(256), Values(256, 1000)}).outputs[0], expected);
}

TEST(Sync, AtomicsAtIndicesCountWhatIsNamedTwice) {
  const auto k = plgpu::kernel(
      [](const Ref& bins, const Ref&, const Ref& o, Scratch& s) {
        s["counts"].store(plgpu::zeros({8}, pl::s32));
        plgpu::atomic_add(s["counts"], bins.load() % 8, plgpu::full({256}, 2, pl::s32));
        plgpu::commit_smem();
        plgpu::atomic_add(o, bins.load() % 8, plgpu::full({256}, 1, pl::s32));
        plgpu::atomic_add(o.at(7), s["counts"].at(3).load_scalar());
      },
      {.in_types = {{pl::s32, {256}}, {pl::s32, {8}}},
       .out_type = {pl::s32, {8}},
       .scratch_types = {{"counts", plgpu::SMEM({8}, pl::s32)}},
       .input_output_aliases = {{1, 0}}});
  Values expected(8, 32);
  expected[7] += 64;
  EXPECT_EQ(run(k, {iota(256), Values(8, 0)}).outputs[0], expected);
}

// A window that only its offset brings into the CTA's shared memory: mapa must see it whole.
TEST(Sync, ReferencesIntoAClusterCountBackwards) {
  const auto k = plgpu::kernel(
      [](const Ref& a, const Ref& o, Scratch& s) {
        const pl::Index c = pl::axis_index("c");
        s["x"].at(0).store(a.at(c).load());
        s["x"].at(1).store(a.at(c).load() + 1000);
        plgpu::barrier_arrive(s.barrier("all"));
        plgpu::barrier_wait(s.barrier("all"));
        const Ref theirs = plgpu::cluster_ref(s["x"].at(pl::Index(1) - c), "c", pl::Index(1) - c);
        o.at(c).store(theirs.load());
        plgpu::barrier_arrive(s.barrier("done"));
        plgpu::barrier_wait(s.barrier("done"));
      },
      {.in_types = {{pl::s32, {2, 256}}},
       .out_type = {pl::s32, {2, 256}},
       .scratch_types = {{"x", plgpu::SMEM({2, 256}, pl::s32)},
                         {"all", plgpu::ClusterBarrier({.collective_axes = {"c"}, .orders_memory = true})},
                         {"done", plgpu::ClusterBarrier({.collective_axes = {"c"}, .orders_memory = true})}},
       .cluster = {2},
       .cluster_names = {"c"}});
  Values expected;
  for (int i = 0; i < 256; ++i) expected.push_back(1256 + i);
  for (int i = 0; i < 256; ++i) expected.push_back(i);
  EXPECT_EQ(run(k, {iota(512)}).outputs[0], expected);
}

TEST(Copies, OutOfBoundsIsZero) {
  const auto k = plgpu::kernel(
      [](const Ref& a, const Ref& o, Scratch& s) {
        pl::fori_loop(0, 2, [&](pl::Index i) {
          plgpu::copy_gmem_to_smem(a.at(pl::ds(i * 64, 64), pl::ds(32, 32)), s["x"], s.barrier("b"));
          plgpu::barrier_wait(s.barrier("b"));
          plgpu::commit_smem();
          plgpu::copy_smem_to_gmem(s["x"], o.at(pl::ds(i * 64, 64), pl::ds(32, 32)));
          plgpu::copy_smem_to_gmem(s["x"], o.at(pl::ds(i * 64, 64), pl::ds(0, 32)), {.reduction_op = "add"});
          plgpu::wait_smem_to_gmem(0);
        });
      },
      {.in_types = {{pl::f32, {100, 64}}},
       .out_type = {pl::f32, {128, 64}},
       .scratch_types = {{"x", plgpu::SMEM({64, 32}, pl::f32)}, {"b", plgpu::Barrier()}},
       .input_output_aliases = {}});
  const Values in = small_integers(6400, 20);
  const Values out = run(k, {in}).outputs[0];
  for (size_t r = 0; r < 128; ++r)
    for (size_t c = 32; c < 64; ++c)
      ASSERT_EQ(out[r * 64 + c], r < 100 ? in[r * 64 + c] : 0) << r << " " << c;
}

// Every CTA of a 2 x 2 cluster fetches a part; along one axis, along both.
TEST(Copies, MulticastOverSubsetsOfAxes) {
  for (const std::vector<std::string>& axes :
       std::vector<std::vector<std::string>>{{"x"}, {"y"}, {"x", "y"}}) {
    SCOPED_TRACE(axes.front() + (axes.size() > 1 ? axes.back() : ""));
    const auto k = plgpu::kernel(
        [&](const Ref& a, const Ref& o, Scratch& s) {
          const pl::Index x = pl::axis_index("x"), y = pl::axis_index("y");
          // The source is the same for all threads that share it.
          pl::Index which = 0;
          if (axes == std::vector<std::string>{"x"}) which = y;
          if (axes == std::vector<std::string>{"y"}) which = x;
          plgpu::copy_gmem_to_smem(a.at(which), s["t"], s.barrier("b"), {.collective_axes = axes});
          plgpu::barrier_wait(s.barrier("b"));
          o.at(x, y).store(s["t"].load());
        },
        {.in_types = {{pl::f16, {2, 64, 64}}},
         .out_type = {pl::f16, {2, 2, 64, 64}},
         .scratch_types = {{"t", plgpu::SMEM({64, 64}, pl::f16,
                                             {.transforms = {plgpu::TilingTransform({8, 64}),
                                                             plgpu::SwizzleTransform(128)}})},
                           {"b", plgpu::Barrier()}},
         .cluster = {2, 2},
         .cluster_names = {"x", "y"}});
    const Values in = small_integers(2 * 4096, 30, 0, 100);
    const Values out = run(k, {in}, {sim::Schedule::Kind::latest}).outputs[0];
    for (size_t x = 0; x < 2; ++x) {
      for (size_t y = 0; y < 2; ++y) {
        const size_t which = axes.size() > 1 ? 0 : axes.front() == "x" ? y : x;
        for (size_t i = 0; i < 4096; ++i) ASSERT_EQ(out[(x * 2 + y) * 4096 + i], in[which * 4096 + i]);
      }
    }
  }
}

TEST(Copies, GroupsUnionsAndPrefetches) {
  const auto k = plgpu::kernel(
      [](const Ref& a, const Ref& o, Scratch& s) {
        const auto& both = s.ref_union("u");
        plgpu::async_prefetch(a);
        both[0][0].store(a.load() + 1);
        plgpu::commit_smem();
        plgpu::copy_smem_to_gmem(both[0][0], o.at(0), {.commit_group = false});
        plgpu::copy_smem_to_gmem(both[0][0], o.at(1), {.commit_group = false});
        plgpu::commit_smem_to_gmem_group();
        plgpu::wait_smem_to_gmem(0);
        both[1][1].store(a.load() + 2);
        plgpu::commit_smem();
        plgpu::copy_smem_to_gmem(both[1][1], o.at(2));
        plgpu::wait_smem_to_gmem(0);
      },
      {.in_types = {{pl::f32, {256}}},
       .out_type = {pl::f32, {3, 256}},
       .scratch_types = {
           {"u", plgpu::RefUnion({{plgpu::SMEM({256}, pl::f32)},
                                  {plgpu::SMEM({64}, pl::s8), plgpu::SMEM({256}, pl::f32)}})}}});
  EXPECT_EQ(k.launch.dynamic_smem_bytes,
            2048u);  // the larger group: one array, padded to 1024 bytes, and another
  Values expected = iota(768);
  for (size_t i = 0; i < 768; ++i) expected[i] = static_cast<double>(i % 256) + (i < 512 ? 1 : 2);
  EXPECT_EQ(run(k, {iota(256)}).outputs[0], expected);
}

TEST(Copies, PredicatesStillArrive) {
  const auto k = plgpu::kernel(
      [](const Ref& a, const Ref& o, Scratch& s) {
        s["x"].store(plgpu::full({128}, 7, pl::f32));
        plgpu::commit_smem();
        pl::fori_loop(0, 2, [&](pl::Index i) {
          plgpu::copy_gmem_to_smem(a, s["x"], s.barrier("b"), {.predicate = i == 1});
          plgpu::barrier_wait(s.barrier("b"));
          plgpu::copy_smem_to_gmem(s["x"], o.at(i), {.predicate = i == 0});
          plgpu::wait_smem_to_gmem(0, true);
          o.at(i + 2).store(s["x"].load());
        });
        plgpu::wait_smem_to_gmem(0);
      },
      {.in_types = {{pl::f32, {128}}},
       .out_type = {pl::f32, {4, 128}},
       .scratch_types = {{"x", plgpu::SMEM({128}, pl::f32)}, {"b", plgpu::Barrier()}}});
  const Values out = run(k, {iota(128)}).outputs[0];
  for (size_t i = 0; i < 128; ++i) {
    EXPECT_EQ(out[i], 7);
    EXPECT_NE(out[128 + i], static_cast<double>(i));
    EXPECT_EQ(out[256 + i], 7);
    EXPECT_EQ(out[384 + i], static_cast<double>(i));
  }
}

TEST(Debug, PrintsScalarsAndArrays) {
  const auto k = plgpu::kernel(
      [](const Ref& a, const Ref& o) {
        const Array x = a.load();
        pl::debug_print("program {} of {}: 100%, {}", pl::program_id(0), 2, a.at(1).load_scalar());
        pl::when(pl::program_id(0) == 1, [&] { pl::debug_print("x = {}", x); });
        o.store(x);
      },
      {.in_types = {{pl::f32, {128}}}, .out_type = {pl::f32, {128}}, .grid = {2}});
  const Ran ran = run(k, {iota(128)});
  EXPECT_NE(ran.result.printed.find("program 0 of 2: 100%, 1.000000\n"), std::string::npos)
      << ran.result.printed;
  EXPECT_NE(ran.result.printed.find("program 1 of 2: 100%, 1.000000\n"), std::string::npos);
  EXPECT_NE(ran.result.printed.find("[127]: x = 127.000000\n"), std::string::npos) << ran.result.printed;
}

TEST(Helpers, PlanarSnakeVisitsEveryTileOnce) {
  for (const int minor : {0, 1}) {
    for (const int64_t width : {1, 2, 3, 8}) {
      const int64_t m = 5, n = 7;
      const auto k = plgpu::kernel(
          [=](const Ref& o) {
            pl::fori_loop(0, m * n, [&](pl::Index i) {
              const auto [r, c] = plgpu::planar_snake(i, {m, n}, minor, width);
              o.at(r, c).store(i + 1);
            });
          },
          {.out_type = {pl::s32, {m, n}}});
      Values out = run(k, {}).outputs[0];
      // Steps go to a neighbour.
      std::vector<std::pair<int64_t, int64_t>> place(static_cast<size_t>(m * n));
      for (int64_t i = 0; i < m * n; ++i)
        place[static_cast<size_t>(out[static_cast<size_t>(i)]) - 1] = {i / n, i % n};
      for (size_t i = 1; i < place.size(); ++i) {
        const auto distance =
            std::abs(place[i].first - place[i - 1].first) + std::abs(place[i].second - place[i - 1].second);
        EXPECT_LE(distance, width) << "step " << i;
      }
      std::sort(out.begin(), out.end());
      EXPECT_EQ(out, iota(m * n, 1));
    }
  }
}

}  // namespace
}  // namespace palladion::test
