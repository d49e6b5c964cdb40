// CUTLASS' pipeline classes: rings whose phases the author's states count.
#include "tests/frontend/pipelines.h"

namespace palladion::test {
namespace {

using plgpu::PipelineState;
using plgpu::Ref;
using plgpu::Scratch;

constexpr int64_t rows = 10, width = 256, stages = 3;

Values doubled() {
  return map_values(iota(rows * width), [](double v) { return 2 * v; });
}

plgpu::KernelOptions rows_of(int threads) {
  return {.in_types = {{pl::f32, {rows, width}}},
          .out_type = {pl::f32, {rows, width}},
          .scratch_types = {{"ring", plgpu::SMEM({stages, width}, pl::f32)}},
          .num_threads = threads,
          .thread_name = "wg"};
}

// A producer's copies and a consumer's loads; `tokens`: a try goes before each wait.
plgpu::Kernel doubling(bool tokens) {
  return plgpu::kernel(
      [=](const Ref& in, const Ref& out, Scratch& s) {
        const plgpu::PipelineTmaAsync pipe({.stages = stages});
        pl::when(pl::axis_index("wg") == 0, [&] {
          const PipelineState end = pl::fori_loop(
              0, rows,
              [&](const pl::Index& i, const PipelineState& state) {
                if (tokens)
                  pipe.producer_acquire(state, pipe.producer_try_acquire(state));
                else
                  pipe.producer_acquire(state);
                plgpu::copy_gmem_to_smem(in.at(i), s["ring"].at(state.index()),
                                         pipe.producer_get_barrier(state));
                pipe.producer_commit(state);
                return state.advance();
              },
              plgpu::make_producer_start_state(stages));
          pipe.producer_tail(end);
        });
        pl::when(pl::axis_index("wg") == 1, [&] {
          pl::fori_loop(
              0, rows,
              [&](const pl::Index& i, const PipelineState& state) {
                if (tokens)
                  pipe.consumer_wait(state, pipe.consumer_try_wait(state));
                else
                  pipe.consumer_wait(state);
                out.at(i).store(s["ring"].at(state.index()).load() * 2.0F);
                pipe.consumer_release(state);
                return state.advance();
              },
              PipelineState(stages));
        });
      },
      rows_of(2));
}

TEST(AsyncPipelines, CopiesRunAheadOfTheirConsumer) {
  for (const bool tokens : {false, true}) {
    const auto kernel = doubling(tokens);
    expect_everywhere(kernel, {iota(rows * width)}, {doubled()});
    expect_assembles(kernel);
  }
}

TEST(AsyncPipelines, ThreadsFillSlotsToo) {
  const auto kernel = plgpu::kernel(
      [](const Ref& in, const Ref& out, Scratch& s) {
        const plgpu::PipelineAsync pipe({.stages = stages});
        pl::when(pl::axis_index("wg") == 0, [&] {
          PipelineState state = plgpu::make_producer_start_state(stages);
          for (int64_t i = 0; i < rows; ++i, ++state) {
            pipe.producer_acquire(state);
            s["ring"].at(state.index()).store(in.at(i).load() + in.at(i).load());
            pipe.producer_commit(state);
          }
        });
        pl::when(pl::axis_index("wg") == 1, [&] {
          PipelineState state(stages);
          for (int64_t i = 0; i < rows; ++i, ++state) {
            pipe.consumer_wait(state);
            out.at(i).store(s["ring"].at(state.index()).load());
            pipe.consumer_release(state);
          }
        });
      },
      rows_of(2));
  expect_everywhere(kernel, {iota(rows * width)}, {doubled()});
}

// CTA (x, y) of four gets row x of A and column y of B; each row and column is copied once, for two CTAs.
TEST(AsyncPipelines, AMulticastSlotIsEmptyWhenAllItsReadersReleasedIt) {
  const auto kernel = plgpu::kernel(
      [](const Ref& a, const Ref& b, const Ref& out, Scratch& s) {
        const pl::Scalar x = pl::axis_index("x"), y = pl::axis_index("y");
        const plgpu::PipelineTmaAsync pipe({.stages = 2, .num_producers = 2, .collective_axes = {"x", "y"}});
        pl::when(pl::axis_index("wg") == 0, [&] {
          const PipelineState end = pl::fori_loop(
              0, rows,
              [&](const pl::Index& i, const PipelineState& state) {
                pipe.producer_acquire(state);
                const plgpu::BarrierRef full = pipe.producer_get_barrier(state);
                plgpu::copy_gmem_to_smem(a.at(x, i), s["a"].at(state.index()), full,
                                         {.collective_axes = {"y"}});
                plgpu::copy_gmem_to_smem(b.at(y, i), s["b"].at(state.index()), full,
                                         {.collective_axes = {"x"}});
                return state.advance();
              },
              plgpu::make_producer_start_state(2));
          pipe.producer_tail(end);
        });
        pl::when(pl::axis_index("wg") == 1, [&] {
          pl::fori_loop(
              0, rows,
              [&](const pl::Index& i, const PipelineState& state) {
                pipe.consumer_wait(state);
                out.at(x, y, i).store(s["a"].at(state.index()).load() + s["b"].at(state.index()).load());
                pipe.consumer_release(state);
                return state.advance();
              },
              PipelineState(2));
        });
      },
      {.in_types = {{pl::f32, {2, rows, width}}, {pl::f32, {2, rows, width}}},
       .out_type = {pl::f32, {2, 2, rows, width}},
       .scratch_types = {{"a", plgpu::SMEM({2, width}, pl::f32)}, {"b", plgpu::SMEM({2, width}, pl::f32)}},
       .cluster = {2, 2},
       .cluster_names = {"x", "y"},
       .num_threads = 2,
       .thread_name = "wg"});
  const Values a = small_integers(2 * rows * width, 1), b = small_integers(2 * rows * width, 2);
  Values expected;
  for (size_t x = 0; x < 2; ++x)
    for (size_t y = 0; y < 2; ++y)
      for (size_t i = 0; i < rows * width; ++i)
        expected.push_back(a[x * rows * width + i] + b[y * rows * width + i]);
  expect_everywhere(kernel, {a, b}, {expected});
}

// Two threads write in turn what the other one left.
TEST(AsyncPipelines, GroupsTakeTurns) {
  const auto kernel = plgpu::kernel(
      [](const Ref& in, const Ref& out, Scratch& s) {
        const pl::Scalar wg = pl::axis_index("wg");
        const plgpu::OrderedSequenceBarrier order(1, 2, wg);
        const plgpu::NamedBarrier all(2, 0);
        const Ref x = s["ring"].at(0);
        pl::when(wg == 0, [&] { x.store(in.at(0).load()); });
        all.arrive_and_wait();
        pl::fori_loop(
            0, 3,
            [&](const pl::Index&, const PipelineState& state) {
              order.wait(state);
              x.store(x.load() * 2.0F + wg.astype(pl::f32));
              order.arrive(state);
              return state.advance();
            },
            order.start_state());
        pl::when(wg == 0, [&] { all.arrive(); });
        pl::when(wg == 1, [&] {
          all.arrive_and_wait();
          out.at(0).store(x.load());
        });
      },
      {.in_types = {{pl::f32, {1, width}}},
       .out_type = {pl::f32, {1, width}},
       .scratch_types = {{"ring", plgpu::SMEM({1, width}, pl::f32)}},
       .num_threads = 2,
       .thread_name = "wg"});
  expect_everywhere(kernel, {iota(width)},
                    {map_values(iota(width), [](double v) { return 64 * v + 16 + 4 + 1; })});
}

// Each of three threads waits at the barrier of its own number, and lets the next one go.
TEST(AsyncPipelines, NamedBarriersHaveNumbersOfTheKernel) {
  constexpr int64_t threads = 3;
  const auto kernel = plgpu::kernel(
      [](const Ref& out, Scratch& s) {
        const pl::Scalar wg = pl::axis_index("wg");
        const plgpu::NamedBarrier turn(2, wg), next(2, (wg + 1) % threads);
        const Ref x = s["x"];
        pl::when(wg == threads - 1, [&] {
          x.store(plgpu::full({width}, 1.0F, pl::f32));
          next.arrive();
        });
        pl::fori_loop(0, 2, [&](const pl::Index&) {
          turn.arrive_and_wait();
          x.store(x.load() * 2.0F + wg.astype(pl::f32));
          next.arrive();
        });
        pl::when(wg == 0, [&] {
          turn.arrive_and_wait();
          out.at(0).store(x.load());
        });
      },
      {.out_type = {pl::f32, {1, width}},
       .scratch_types = {{"x", plgpu::SMEM({width}, pl::f32)}},
       .num_threads = threads,
       .thread_name = "wg"});
  // ((1 * 2 + 0) * 2 + 1) * 2 + 2 = 12; the same again.
  expect_everywhere(kernel, {}, {Values(width, ((12.0 * 2 + 0) * 2 + 1) * 2 + 2)});
}

TEST(AsyncPipelines, AStateGoesRoundTheRing) {
  const auto kernel = plgpu::kernel(
      [](const Ref& out) {
        const auto show = [&](int64_t row, const PipelineState& state) {
          out.at(row, 0).store(state.index());
          out.at(row, 1).store(state.phase());
          out.at(row, 2).store(state.count());
        };
        const PipelineState start = plgpu::make_producer_start_state(stages);
        const PipelineState counted = pl::fori_loop(
            0, 7, [](const pl::Index&, const PipelineState& state) { return state.advance(); }, start);
        show(0, counted);
        show(1, start.advance(7));
        show(2, counted.advance(pl::program_id(0) + 5));
      },
      {.out_type = {pl::s32, {3, 3}}, .grid = {1}});
  EXPECT_EQ(run(kernel, {}).outputs[0], (Values{1, 1, 7, 1, 1, 7, 0, 1, 12}));
}

TEST(AsyncPipelines, MistakesAreRefused) {
  const auto refused = [](const std::function<void(Scratch&)>& body) {
    return error_of([&] {
      plgpu::kernel([&](const Ref&, const Ref&, Scratch& s) { body(s); },
                    {.in_types = {{pl::f32, {4}}},
                     .out_type = {pl::f32, {4}},
                     .scratch_types = {{"b", plgpu::Barrier()}},
                     .num_threads = 2,
                     .thread_name = "wg"});
    });
  };
  EXPECT_EQ(refused([](Scratch& s) {
              plgpu::barrier_wait(s.barrier("b"));
              plgpu::barrier_wait(s.barrier("b"), 1);
            }),
            "PLD2201 barrier_wait: barrier \"b\" is waited for with a parity and without one");
  EXPECT_EQ(refused([](Scratch& s) { plgpu::barrier_wait(s.barrier("b"), 2); }),
            "PLD2201 barrier_wait: the parity is 2, it must be 0 or 1");
  EXPECT_EQ(refused([](Scratch&) { plgpu::PipelineTmaAsync({.stages = 2}).consumer_wait(PipelineState(3)); }),
            "PLD2701 a PipelineState of 3 stages is used in a pipeline of 2");
  EXPECT_EQ(refused([](Scratch&) { PipelineState(0); }),
            "PLD2701 PipelineState: 0 stages, it must be 1 to 32");
  EXPECT_EQ(refused([](Scratch&) { plgpu::NamedBarrier(2, 13); }),
            "PLD2201 NamedBarrier: id 13 is outside of [0, 13)");
  EXPECT_EQ(refused([](Scratch&) { plgpu::NamedBarrier(3, 0); }),
            "PLD2201 NamedBarrier: 3 Pallas threads meet, the kernel has 2");
}

}  // namespace
}  // namespace palladion::test
