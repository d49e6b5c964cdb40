// vmap: a batch is one more axis of the grid, which the body does not see.
#include "frontend/launch/vmap.h"

#include <gmock/gmock.h>

#include "tests/frontend/pipelines.h"

namespace palladion::test {
namespace {

using plgpu::Ref;
using testing::HasSubstr;

// out = x * scale + block number, in blocks of 128
pl::PallasCall scale_call() {
  return pl::pallas_call([](const Ref& x, const Ref& scale,
                            const Ref& o) { o.store(x.load() * scale.load() + pl::program_id(0)); },
                         {.out_shape = {pl::s32, {256}},
                          .grid = {2},
                          .in_specs = {pl::BlockSpec({128}, [](pl::Index i) { return i; }),
                                       pl::BlockSpec({128}, [](pl::Index) { return 0; })},
                          .out_specs = {pl::BlockSpec({128}, [](pl::Index i) { return i; })}});
}

TEST(Vmap, BatchesSomeInputsOfACall) {
  const auto call = pl::vmap(scale_call(), {.in_axes = {{0, -1}}});
  const auto k = call(pl::ShapeDtype{pl::s32, {3, 256}}, pl::ShapeDtype{pl::s32, {128}});
  EXPECT_EQ(k.launch.outputs[0].shape, (pl::Shape{3, 256}));
  EXPECT_EQ(k.launch.grid.x, 6u);
  const Values x = small_integers(3 * 256, 1), scale = small_integers(128, 2);
  Values expected = x;
  for (size_t i = 0; i < x.size(); ++i)
    expected[i] = x[i] * scale[i % 128] + static_cast<double>(i % 256 / 128);
  expect_everywhere(k, {x, scale}, {expected});
}

TEST(Vmap, Nests) {
  // Outer: both inputs; inner: x along its second dimension of two, scale shared.
  const auto call = pl::vmap(pl::vmap(scale_call(), {.in_axes = {{0, -1}}}), {.in_axes = {{1, 0}}});
  const auto k = call(pl::ShapeDtype{pl::s32, {4, 2, 256}}, pl::ShapeDtype{pl::s32, {2, 128}});
  EXPECT_EQ(k.launch.outputs[0].shape, (pl::Shape{2, 4, 256}));
  const Values x = small_integers(4 * 2 * 256, 3), scale = small_integers(2 * 128, 4);
  Values expected(x.size());
  for (size_t outer = 0; outer < 2; ++outer)
    for (size_t inner = 0; inner < 4; ++inner)
      for (size_t c = 0; c < 256; ++c)
        expected[(outer * 4 + inner) * 256 + c] =
            x[(inner * 2 + outer) * 256 + c] * scale[outer * 128 + c % 128] + static_cast<double>(c / 128);
  expect_everywhere(k, {x, scale}, {expected});
}

TEST(Vmap, BatchesKernelFunctions) {
  const auto one = plgpu::kernel_function(
      [](const Ref& x, const Ref& y, const Ref& o, plgpu::Scratch& s) {
        const auto part = pl::ds(pl::program_id(0) * 128, 128);
        plgpu::copy_gmem_to_smem(x.at(part), s["x"], s.barrier("ready"));
        plgpu::barrier_wait(s.barrier("ready"));
        o.at(part).store(s["x"].load() + y.at(part).load() * pl::num_programs(0));
      },
      {.in_types = {{pl::s32, {256}}, {pl::s32, {256}}},
       .out_type = {pl::s32, {256}},
       .scratch_types = {{"x", plgpu::SMEM({128}, pl::s32)}, {"ready", plgpu::Barrier()}},
       .grid = {2}});
  const Values x = small_integers(3 * 256, 5), y = small_integers(256, 6);
  Values expected = x;
  for (size_t i = 0; i < x.size(); ++i) expected[i] += 2 * y[i % 256];
  expect_everywhere(pl::vmap(one, {.in_axes = {{0, -1}}, .axis_size = 3})(), {x, y}, {expected});
  // A batch of batches; y is batched by the outer one, behind its own dimension.
  const auto twice = pl::vmap(pl::vmap(one, {.in_axes = {{0, -1}}, .axis_size = 3}),
                              {.in_axes = {{-1, 1}}, .axis_size = 2})();
  const Values y2 = small_integers(256 * 2, 7);
  Values expected2(2 * 3 * 256);
  for (size_t i = 0; i < expected2.size(); ++i) expected2[i] = x[i % 768] + 2 * y2[i % 256 * 2 + i / 768];
  expect_everywhere(twice, {x, y2}, {expected2});
}

TEST(Vmap, MistakesNameTheRule) {
  const auto record = [](const pl::VmapOptions& o, const pl::ShapeDtype& x, const pl::ShapeDtype& scale) {
    return error_of([&] { pl::vmap(scale_call(), o)(x, scale); });
  };
  EXPECT_THAT(record({}, {pl::s32, {3, 256}}, {pl::s32, {4, 128}}),
              HasSubstr("vmap got inconsistent sizes for array axes to be mapped: 3 and 4"));
  EXPECT_THAT(record({.in_axes = {{-1, -1}}}, {pl::s32, {256}}, {pl::s32, {128}}),
              HasSubstr("vmap must have at least one input with a batch axis"));
  EXPECT_THAT(record({.in_axes = {{0}}}, {pl::s32, {3, 256}}, {pl::s32, {128}}),
              HasSubstr("in_axes has 1 numbers for 2 inputs"));
}

}  // namespace
}  // namespace palladion::test
