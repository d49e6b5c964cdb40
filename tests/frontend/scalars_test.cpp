// Numbers given at launch: one program, other values.
#include "tests/frontend/run_in_sim.h"

namespace palladion::test {
namespace {

using plgpu::Array;
using plgpu::Ref;

plgpu::Kernel axpby(double alpha, float beta, int64_t most) {
  return plgpu::kernel(
      [](const Ref& x, const Ref& y, const Ref& o) {
        const Array i = plgpu::broadcasted_iota(pl::s32, {256}, 0);
        const auto length = plgpu::launch_scalar("length");
        const Array a = plgpu::load(x, {.mask = i < length, .other = 0.0F});
        o.store(a * plgpu::launch_scalar("alpha").astype(pl::f32) + y.load() * plgpu::launch_scalar("beta"));
      },
      {.in_types = {{pl::f32, {256}}, {pl::f32, {256}}},
       .out_type = {pl::f32, {256}},
       .scalars = {{"alpha", pl::f64, alpha}, {"beta", pl::f32, beta}, {"length", pl::s32, most}},
       .name = "axpby"});
}

TEST(LaunchScalars, OneProgramManyValues) {
  plgpu::Kernel kernel = axpby(2, 0.5F, 100);
  EXPECT_EQ(isa::print(kernel.module), isa::print(axpby(-1, 3, 7).module));
  const Values x = small_integers(256, 1), y = small_integers(256, 2);
  const auto check = [&](double alpha, double beta, size_t length) {
    const auto ran = run(kernel, {x, y});
    for (size_t i = 0; i < 256; ++i)
      ASSERT_EQ(ran.outputs[0][i], (i < length ? alpha * x[i] : 0) + beta * y[i]) << i;
  };
  check(2, 0.5, 100);
  plgpu::set_scalar(kernel.launch, "alpha", -4.0);
  plgpu::set_scalar(kernel.launch, "length", 256);
  check(-4, 0.5, 256);
}

// Of each dtype, as the bytes of a parameter; in loops, predicates and indices.
TEST(LaunchScalars, EachDtypeAndUse) {
  const auto kernel = plgpu::kernel(
      [](const Ref& o) {
        o.at(0).store(plgpu::launch_scalar("f16").astype(pl::f64));
        o.at(1).store(plgpu::launch_scalar("bf16").astype(pl::f32).astype(pl::f64));
        o.at(2).store(plgpu::launch_scalar("f32").astype(pl::f64));
        o.at(3).store(plgpu::launch_scalar("f64"));
        o.at(4).store(plgpu::launch_scalar("s32").astype(pl::f64));
        o.at(5).store(plgpu::launch_scalar("u32").astype(pl::f64));
        o.at(6).store(plgpu::launch_scalar("s64").astype(pl::f64));
        o.at(7).store(plgpu::launch_scalar("u64").astype(pl::f64));
        const auto turns = pl::fori_loop(
            0, plgpu::launch_scalar("u32"), [](const pl::Index&, const pl::Scalar& n) { return n + 1; },
            pl::Scalar::constant(pl::DType::s32, int64_t{0}));
        o.at(8).store(turns.astype(pl::f64));
        pl::when(plgpu::launch_scalar("s32") < 0, [&] { o.at(9).store(1.0); });
      },
      {.out_type = {pl::f64, {10}},
       .scalars = {{"f16", pl::f16, 1.5},
                   {"bf16", pl::bf16, -2.5},
                   {"f32", pl::f32, 0.25},
                   {"f64", pl::f64, 1e100},
                   {"s32", pl::s32, -7},
                   {"u32", pl::u32, 5},
                   {"s64", pl::s64, int64_t{-1} << 40},
                   {"u64", pl::u64, int64_t{1} << 50}}});
  const auto ran = run(kernel, {});
  EXPECT_EQ(ran.outputs[0],
            (Values{1.5, -2.5, 0.25, 1e100, -7, 5, -std::ldexp(1, 40), std::ldexp(1, 50), 5, 1}));
}

}  // namespace
}  // namespace palladion::test
