// Gathers by index arrays, slices with strides, GMEM scratch, predicates on arrivals and prefetches.
#include <fmt/format.h>

#include "tests/frontend/run_in_sim.h"

namespace palladion::test {
namespace {

using plgpu::Array;
using plgpu::Ref;
using plgpu::Scratch;

TEST(Gathers, FromGmemAndSmem) {
  for (const pl::DType d : {pl::s8, pl::f16, pl::f32, pl::f64, pl::bool_}) {
    for (const int64_t n : {256, 50}) {
      SCOPED_TRACE(fmt::format("{} {}", pl::name(d), n));
      const auto kernel = plgpu::kernel(
          [&](const Ref& a, const Ref& i, const Ref& j, const Ref& o, const Ref& q, Scratch& s) {
            const Array row = i.load(), column = j.load();
            const Array x = plgpu::load(a, {row, column});
            o.store(x);
            s["x"].store(a.load());
            // Every place of q once: q[n - 1 - k] = x[k].
            const Array back = n - 1 - plgpu::broadcasted_iota(pl::s32, {n}, 0, row.layout());
            plgpu::store(q, {back}, plgpu::load(s["x"], {row, column}));
          },
          {.in_types = {{d, {7, 32}}, {pl::s32, {n}}, {pl::s32, {n}}},
           .out_type = {{d, {n}}, {d, {n}}},
           .scratch_types = {{"x", plgpu::SMEM({7, 32}, d)}}});
      const Values a = small_integers(7 * 32, 1, 0, 1), i = small_integers(n, 2, 0, 6),
                   j = small_integers(n, 3, 0, 31);
      const auto ran = run(kernel, {a, i, j});
      for (size_t k = 0; k < i.size(); ++k) {
        const double expected = a[static_cast<size_t>(i[k] * 32 + j[k])];
        ASSERT_EQ(ran.outputs[0][k], expected);
        ASSERT_EQ(ran.outputs[1][i.size() - 1 - k], expected);
      }
    }
  }
}

TEST(StridedSlices, LoadsAndStores) {
  const auto kernel = plgpu::kernel(
      [&](const Ref& a, const Ref& o, const Ref& q, Scratch& s) {
        const pl::Scalar first = pl::program_id(0);
        o.store(a.at(pl::ds(1, 16, 3), pl::ds(0, 32, 2)).load());
        s["x"].store(pl::run_scoped(
            [&](Ref r) {
              r.store(a.load());
              return plgpu::transpose_ref(r.at(pl::ds(first, 16, 2), pl::ds(first + 32, 32)), {1, 0}).load();
            },
            plgpu::SMEM({50, 64}, pl::s32)));
        q.at(pl::ds(first, 32, 2)).store(s["x"].load());
      },
      {.in_types = {{pl::s32, {50, 64}}},
       .out_type = {{pl::s32, {16, 32}}, {pl::s32, {63, 16}}},
       .scratch_types = {{"x", plgpu::SMEM({32, 16}, pl::s32)}},
       .grid = {1}});
  const Values a = iota(50 * 64);
  const auto ran = run(kernel, {a});
  for (size_t i = 0; i < 16; ++i)
    for (size_t j = 0; j < 32; ++j) ASSERT_EQ(ran.outputs[0][i * 32 + j], a[(1 + 3 * i) * 64 + 2 * j]);
  for (size_t j = 0; j < 32; ++j)
    for (size_t i = 0; i < 16; ++i) ASSERT_EQ(ran.outputs[1][2 * j * 16 + i], a[2 * i * 64 + 32 + j]);
}

// One row of each tile, and the reshape of what is left.
TEST(StridedSlices, OfTilesAndReshapes) {
  const auto kernel = plgpu::kernel(
      [&](const Ref& a, const Ref& o, const Ref& q, Scratch& s) {
        s["x"].store(a.load());
        o.store(s["x"].at(pl::ds(3, 8, 8), pl::all).load());
        q.store(a.at(pl::ds(0, 32, 2)).reshape({4, 8, 64}).load());
      },
      {.in_types = {{pl::f16, {64, 64}}},
       .out_type = {{pl::f16, {8, 64}}, {pl::f16, {4, 8, 64}}},
       .scratch_types = {{"x", plgpu::SMEM({64, 64}, pl::f16, tiles(128, pl::f16))}}});
  const Values a = small_integers(64 * 64, 4);
  const auto ran = run(kernel, {a});
  for (size_t i = 0; i < 8; ++i)
    for (size_t j = 0; j < 64; ++j) ASSERT_EQ(ran.outputs[0][i * 64 + j], a[(3 + 8 * i) * 64 + j]);
  for (size_t i = 0; i < 32; ++i)
    for (size_t j = 0; j < 64; ++j) ASSERT_EQ(ran.outputs[1][i * 64 + j], a[2 * i * 64 + j]);
}

// A dimension of one element ends behind it under another shape, too: rows behind the array are zeros.
TEST(Reshapes, OneRowEndsWhereTheArrayDoes) {
  const auto kernel = plgpu::kernel(
      [&](const Ref& a, const Ref& o, Scratch& s) {
        plgpu::copy_gmem_to_smem(a.reshape({1, 64}).at(pl::ds(pl::program_id(0), 8)), s["x"],
                                 s.barrier("full"));
        plgpu::barrier_wait(s.barrier("full"));
        o.store(s["x"].load());
      },
      {.in_types = {{pl::f16, {1, 1, 1, 64}}},
       .out_type = {pl::f16, {8, 64}},
       .scratch_types = {{"x", plgpu::SMEM({8, 64}, pl::f16, tiles(128, pl::f16))},
                         {"full", plgpu::Barrier()}},
       .grid = {1},
       .grid_names = {"x"}});
  Values a = iota(64, 1);
  const auto ran = run(kernel, {a});
  a.resize(8 * 64);
  EXPECT_EQ(ran.outputs[0], a);
}

// Rows by TMA, into tiles with a swizzle and out of them.
TEST(StridedSlices, Copies) {
  const auto kernel = plgpu::kernel(
      [&](const Ref& a, const Ref& o, Scratch& s) {
        const pl::Scalar p = pl::program_id(0);
        const auto full = s.barrier("full");
        plgpu::copy_gmem_to_smem(a.at(pl::ds(p, 16, 3), pl::ds(64, 64)), s["x"], full,
                                 {.oob_mode = plgpu::OOBFillMode::PROMISE_IN_BOUNDS});
        plgpu::barrier_wait(full);
        plgpu::copy_smem_to_gmem(s["x"], o.at(pl::ds(p, 16, 2)));
        plgpu::wait_smem_to_gmem(0);
      },
      {.in_types = {{pl::f16, {48, 128}}},
       .out_type = {pl::f16, {32, 64}},
       .scratch_types = {{"x", plgpu::SMEM({16, 64}, pl::f16, tiles(128, pl::f16))},
                         {"full", plgpu::Barrier()}},
       .grid = {2}});
  const Values a = small_integers(48 * 128, 5);
  const auto ran = run(kernel, {a});
  for (size_t p = 0; p < 2; ++p)
    for (size_t i = 0; i < 16; ++i)
      for (size_t j = 0; j < 64; ++j)
        ASSERT_EQ(ran.outputs[0][(p + 2 * i) * 64 + j], a[(p + 3 * i) * 128 + 64 + j]);
}

// Every element once, 16 bytes a lane wherever the swizzle allows, without bank conflicts.
TEST(CopyLayouts, MoveTilesBothWays) {
  for (const pl::DType d : {pl::s8, pl::f16, pl::f32}) {
    for (const int64_t swizzle : {32, 64, 128}) {
      for (const auto& [rows, columns] : {std::pair<int64_t, int64_t>{32, 1}, {16, 2}, {8, 4}, {64, 2}}) {
        const int64_t span = swizzle / pl::bytes(d);
        const pl::Shape shape{rows, columns * span};
        SCOPED_TRACE(fmt::format("{} {} {}", pl::name(d), swizzle, pl::to_string(shape)));
        const auto layout = plgpu::Layout::SMEM_GMEM_COPY(shape, d, swizzle);
        const auto kernel = plgpu::kernel(
            [&](const Ref& a, const Ref& o, Scratch& s) {
              s["x"].store(a.load(layout));
              o.store(plgpu::load(s["x"], {.layout = layout}));
            },
            {.in_types = {{d, shape}},
             .out_type = {d, shape},
             .scratch_types = {{"x", plgpu::SMEM(shape, d, tiles(swizzle, d))}}});
        const Values a = small_integers(pl::volume(shape), 8);
        EXPECT_EQ(run(kernel, {a}).outputs[0], a);
        if (rows * columns * swizzle >= 128 * 16) {
          EXPECT_EQ(layout.vector_length() * pl::bytes(d), 16);
        }
      }
    }
  }
}

// Numbers into single elements: once for each Pallas thread.
TEST(Atomics, OfNumbers) {
  const auto kernel = plgpu::kernel(
      [&](const Ref& a, const Ref& o) {
        const pl::Scalar p = pl::program_id(0);
        plgpu::atomic_add(o.at(0), p + 1);
        plgpu::atomic_max(o.at(1), p);
        plgpu::atomic_min(o.at(2), -p);
        plgpu::atomic_and(o.at(3), p);
        plgpu::atomic_or(o.at(4), p);
        plgpu::atomic_xor(o.at(5), p);
        (void)a;
      },
      {.in_types = {{pl::s32, {6}}},
       .out_type = {pl::s32, {6}},
       .grid = {7},
       .input_output_aliases = {{0, 0}}});
  EXPECT_EQ(run(kernel, {Values(6, 6)}).outputs[0], (Values{34, 6, -6, 0, 7, 1}));
}

// Two CTAs exchange rows through global scratch, by stores and by bulk copies.
TEST(GmemScratch, IsSharedByTheGrid) {
  const auto kernel = plgpu::kernel(
      [&](const Ref& a, const Ref& o, Scratch& s) {
        const pl::Scalar me = pl::axis_index("p"), other = 1 - me;
        const Ref sum = pl::get_global(plgpu::GMEM({256}, pl::s32));
        const Array mine = a.at(me).load();
        plgpu::atomic_add(sum, mine);  // it starts as zeros
        s["rows"].at(me).store(mine);
        plgpu::semaphore_signal(s["ready"].at(me));
        plgpu::semaphore_wait(s["ready"].at(other), 1, {.decrement = false});
        o.at(me).store(s["rows"].at(other).load() * 2 + sum.load());
      },
      {.in_types = {{pl::s32, {2, 256}}},
       .out_type = {pl::s32, {2, 256}},
       .scratch_types = {{"rows", plgpu::GMEM({2, 256}, pl::s32)},
                         {"ready", plgpu::SemaphoreType::REGULAR({2})}},
       .grid = {2},
       .grid_names = {"p"}});
  const Values a = small_integers(512, 6);
  const auto ran = run(kernel, {a});
  for (size_t p = 0; p < 2; ++p) {
    for (size_t i = 0; i < 256; ++i)
      ASSERT_EQ(ran.outputs[0][p * 256 + i], 2 * a[(1 - p) * 256 + i] + a[i] + a[256 + i]);
  }
}

TEST(GmemScratch, BulkCopiesAndScopes) {
  const auto kernel = plgpu::kernel(
      [&](const Ref& a, const Ref& o, Scratch& s) {
        s["x"].store(a.load());
        plgpu::commit_smem();
        o.store(pl::run_scoped(
            pl::collective("p"),
            [&](Ref kept) {
              plgpu::copy_smem_to_gmem(s["x"], kept);
              plgpu::wait_smem_to_gmem(0);
              plgpu::copy_gmem_to_smem(kept.at(pl::ds(8, 8)), s["y"], s.barrier("full"));
              plgpu::barrier_wait(s.barrier("full"));
              return s["y"].load();
            },
            plgpu::GMEM({16, 64}, pl::f32)));
      },
      {.in_types = {{pl::f32, {16, 64}}},
       .out_type = {pl::f32, {8, 64}},
       .scratch_types = {{"x", plgpu::SMEM({16, 64}, pl::f32)},
                         {"y", plgpu::SMEM({8, 64}, pl::f32)},
                         {"full", plgpu::Barrier()}},
       .grid = {1},
       .grid_names = {"p"}});
  const Values a = small_integers(16 * 64, 7);
  EXPECT_EQ(run(kernel, {a}).outputs[0], Values(a.begin() + 512, a.end()));
}

TEST(Predicates, ArrivalsAndPrefetches) {
  const auto kernel = plgpu::kernel(
      [&](const Ref& a, const Ref& o, Scratch& s) {
        const pl::Scalar me = pl::axis_index("wg"), p = pl::program_id(0);
        plgpu::async_prefetch(a, {.predicate = p == 0});
        // Only thread 0 arrives, by a predicate of run time and by a known one.
        plgpu::barrier_arrive(s.barrier("one"), {.predicate = me == 0});
        plgpu::barrier_wait(s.barrier("one"));
        plgpu::barrier_arrive(s.barrier("two"), {.predicate = true});
        plgpu::barrier_arrive(s.barrier("two"), {.predicate = false});
        plgpu::barrier_wait(s.barrier("two"));
        o.at(p, me).store(a.at(me).load());
      },
      {.in_types = {{pl::s32, {2, 128}}},
       .out_type = {pl::s32, {2, 2, 128}},
       .scratch_types = {{"one", plgpu::Barrier()}, {"two", plgpu::Barrier({.num_arrivals = 2})}},
       .grid = {2},
       .num_threads = 2,
       .thread_name = "wg"});
  const Values a = iota(256);
  const auto ran = run(kernel, {a});
  for (size_t i = 0; i < 512; ++i) ASSERT_EQ(ran.outputs[0][i], a[i % 256]);
}

// Each CTA of the cluster fetches half.
TEST(Predicates, PrefetchOfAClusterIsShared) {
  const auto kernel = plgpu::kernel(
      [&](const Ref& a, const Ref& o) {
        plgpu::async_prefetch(a, {.collective_axes = {"c"}});
        o.at(pl::axis_index("c")).store(a.at(pl::axis_index("c")).load());
      },
      {.in_types = {{pl::f32, {2, 128}}},
       .out_type = {pl::f32, {2, 128}},
       .cluster = {2},
       .cluster_names = {"c"}});
  int maps = 0;
  for (const auto& param : kernel.launch.params) {
    const auto* map = std::get_if<plgpu::TensorMapParam>(&param);
    if (map == nullptr) continue;
    ++maps;
    EXPECT_EQ(map->map.box[0] * map->map.box[1], 128u);
  }
  EXPECT_EQ(maps, 1);
  const Values a = iota(256);
  EXPECT_EQ(run(kernel, {a}).outputs[0], a);
}

}  // namespace
}  // namespace palladion::test
