// Arrays: loads, stores, arithmetic, conversions, reductions, shapes; recorded, run in the machine and
// compared with the host.
#include <functional>

#include "isa/text/print.h"
#include "tests/frontend/run_in_sim.h"

namespace palladion::test {
namespace {

using plgpu::Array;
using plgpu::Layout;
using plgpu::Ref;
using plgpu::Scratch;

// One warpgroup, one input, one output.
plgpu::Kernel simple(pl::ShapeDtype in, pl::ShapeDtype out,
                     const std::function<void(const Ref&, const Ref&, Scratch&)>& body,
                     std::vector<plgpu::NamedScratch> scratch = {}, plgpu::CompilerParams params = {}) {
  return plgpu::kernel(
      [&](const Ref& a, const Ref& o, Scratch& s) { body(a, o, s); },
      {.in_types = {in}, .out_type = out, .scratch_types = std::move(scratch), .compiler_params = params});
}

TEST(Arrays, GmemElementwise) {
  const auto k = simple({pl::f32, {8, 128}}, {pl::f32, {8, 128}}, [](const Ref& a, const Ref& o, Scratch&) {
    const Array x = a.load();
    o.store(x * 2.0 + 1.0);
  });
  const Values in = iota(1024);
  Values expected = in;
  for (double& v : expected) v = v * 2 + 1;
  EXPECT_EQ(run(k, {in}).outputs[0], expected);
}

struct DtypeCase {
  pl::DType dtype;
  int low, high;
};

TEST(Arrays, ArithmeticOfEveryDtype) {
  for (const DtypeCase c : {DtypeCase{pl::s8, -5, 5},
                            {pl::u8, 0, 9},
                            {pl::s16, -9, 9},
                            {pl::u16, 0, 9},
                            {pl::s32, -9, 9},
                            {pl::u32, 0, 9},
                            {pl::s64, -9, 9},
                            {pl::u64, 0, 9},
                            {pl::f16, -9, 9},
                            {pl::bf16, -9, 9},
                            {pl::f32, -9, 9},
                            {pl::f64, -9, 9},
                            {pl::e4m3, -3, 3},
                            {pl::e5m2, -2, 2}}) {
    SCOPED_TRACE(pl::name(c.dtype));
    const auto k = simple({c.dtype, {512}}, {c.dtype, {512}}, [](const Ref& a, const Ref& o, Scratch&) {
      const Array x = a.load();
      o.store(plgpu::where(x > 1, x * x - x, plgpu::maximum(x, 0) + 1));
    });
    const Values in = small_integers(512, 3, c.low, c.high);
    Values expected = in;
    for (double& v : expected) v = v > 1 ? v * v - v : std::max(v, 0.0) + 1;
    EXPECT_EQ(run(k, {in}).outputs[0], expected);
  }
}

TEST(Arrays, EveryConversion) {
  const pl::DType all[] = {pl::s8,  pl::u8,  pl::s16,  pl::u16, pl::s32, pl::u32,  pl::s64,
                           pl::u64, pl::f16, pl::bf16, pl::f32, pl::f64, pl::e4m3, pl::e5m2};
  for (const pl::DType from : all) {
    for (const pl::DType to : all) {
      if (from == to) continue;
      SCOPED_TRACE(std::string(pl::name(from)) + " -> " + std::string(pl::name(to)));
      const auto k = simple({from, {512}}, {to, {512}}, [&](const Ref& a, const Ref& o, Scratch&) {
        o.store(a.load(Layout::WG_STRIDED({512}, 4)).astype(to));
      });
      // Whole numbers that all of them hold.
      const bool has_sign =
          (pl::is_float(from) || pl::is_signed(from)) && (pl::is_float(to) || pl::is_signed(to));
      const Values in = small_integers(512, 4, has_sign ? -8 : 0, 8);
      EXPECT_EQ(run(k, {in}).outputs[0], in);
    }
  }
}

TEST(Arrays, ConversionsRound) {
  for (const pl::DType to : {pl::f16, pl::bf16, pl::e4m3, pl::e5m2}) {
    SCOPED_TRACE(pl::name(to));
    const auto k = simple({pl::f32, {1024}}, {to, {1024}},
                          [&](const Ref& a, const Ref& o, Scratch&) { o.store(a.load().astype(to)); });
    const Values in = uniform(1024, 5, -100, 100);
    Values expected = in;
    for (double& v : expected) v = decode(to, encode(to, v));
    EXPECT_EQ(run(k, {in}).outputs[0], expected);
  }
}

TEST(Arrays, LayoutCastsWithinWarps) {
  const std::pair<const char*, Layout> layouts[] = {{"WGMMA", Layout::WGMMA},
                                                    {"WGMMA_8BIT", Layout::WGMMA_8BIT},
                                                    {"UPCAST_2X", Layout::WGMMA_UPCAST_2X},
                                                    {"UPCAST_4X", Layout::WGMMA_UPCAST_4X},
                                                    {"TRANSPOSED", Layout::WGMMA_TRANSPOSED}};
  for (const auto& [from_name, from] : layouts) {
    for (const auto& [to_name, to] : layouts) {
      for (const pl::DType d : {pl::u8, pl::f16, pl::f32, pl::s64}) {
        SCOPED_TRACE(std::string(from_name) + " -> " + to_name + " " + std::string(pl::name(d)));
        const auto k =
            simple({d, {64, 64}}, {d, {64, 64}}, [&, f = from, t = to](const Ref& a, const Ref& o, Scratch&) {
              o.store(plgpu::layout_cast(a.load(f), t) + 1);
            });
        const Values in = small_integers(64 * 64, 15, 0, 100);
        Values expected = in;
        for (double& v : expected) v += 1;
        ASSERT_EQ(run(k, {in}).outputs[0], expected);
      }
    }
  }
}

TEST(Arrays, LayoutsRoundTripThroughSwizzledSmem) {
  const std::pair<const char*, Layout> layouts[] = {{"WGMMA", Layout::WGMMA},
                                                    {"WGMMA_8BIT", Layout::WGMMA_8BIT},
                                                    {"UPCAST_2X", Layout::WGMMA_UPCAST_2X},
                                                    {"UPCAST_4X", Layout::WGMMA_UPCAST_4X},
                                                    {"TRANSPOSED", Layout::WGMMA_TRANSPOSED},
                                                    {"STRIDED", Layout::WG_STRIDED({64, 128}, 2)}};
  for (const auto& [label, layout] : layouts) {
    for (const pl::DType d : {pl::f32, pl::f16, pl::u8}) {
      for (const int64_t swizzle : {16, 32, 64, 128}) {
        for (const bool transposed : {false, true}) {
          // The trailing dimension must hold a whole span.
          if (transposed && swizzle / pl::bytes(d) > 64) continue;
          SCOPED_TRACE(std::string(label) + " " + std::string(pl::name(d)) + " " + std::to_string(swizzle) +
                       (transposed ? " transposed" : ""));
          const auto k = simple({d, {64, 128}}, {d, {64, 128}},
                                [&, l = layout](const Ref& a, const Ref& o, Scratch& s) {
                                  Ref smem = s["x"];
                                  if (transposed) smem = plgpu::transpose_ref(smem, {1, 0});
                                  smem.store(a.load(Layout::WG_STRIDED({64, 128}, 4)));
                                  smem.store(smem.load(l));
                                  o.store(smem.load(l));
                                },
                                {{"x", plgpu::SMEM(transposed ? pl::Shape{128, 64} : pl::Shape{64, 128}, d,
                                                   tiles(swizzle, d))}});
          const Values in = small_integers(64 * 128, 6, 0, 100);
          ASSERT_EQ(run(k, {in}).outputs[0], in);
        }
      }
    }
  }
}

TEST(Arrays, CopiesThroughEveryTransform) {
  for (const pl::DType d : {pl::f32, pl::bf16, pl::s8}) {
    for (const int64_t swizzle : {16, 32, 64, 128}) {
      SCOPED_TRACE(std::string(pl::name(d)) + " " + std::to_string(swizzle));
      const auto k =
          simple({d, {128, 256}}, {d, {128, 256}},
                 [](const Ref& a, const Ref& o, Scratch& s) {
                   pl::fori_loop(0, 2, [&](pl::Index i) {
                     const auto rows = pl::ds(i * 64, 64);
                     plgpu::copy_gmem_to_smem(a.at(rows, pl::ds(128, 128)), s["x"], s.barrier("b"));
                     plgpu::barrier_wait(s.barrier("b"));
                     s["x"].store(s["x"].load(Layout::WGMMA_8BIT) + 1);
                     plgpu::commit_smem();
                     plgpu::copy_smem_to_gmem(s["x"], o.at(rows, pl::ds(0, 128)));
                     plgpu::copy_smem_to_gmem(s["x"], o.at(rows, pl::ds(128, 128)));
                     plgpu::wait_smem_to_gmem(0);
                   });
                 },
                 {{"x", plgpu::SMEM({64, 128}, d, tiles(swizzle, d))}, {"b", plgpu::Barrier()}});
      const Values in = small_integers(128 * 256, 7, 0, 50);
      Values expected(in.size());
      for (size_t r = 0; r < 128; ++r)
        for (size_t c = 0; c < 256; ++c) expected[r * 256 + c] = in[r * 256 + 128 + c % 128] + 1;
      ASSERT_EQ(run(k, {in}).outputs[0], expected);
    }
  }
}

TEST(Arrays, Reductions) {
  const Values in = small_integers(128 * 64, 8, -9, 9);
  for (const pl::DType d : {pl::f32, pl::f16, pl::s32, pl::f64, pl::s8}) {
    SCOPED_TRACE(pl::name(d));
    const auto rows = simple({d, {128, 64}}, {d, {128}}, [](const Ref& a, const Ref& o, Scratch&) {
      o.store(a.load(Layout::WGMMA).max(1));
    });
    const auto columns = simple({d, {128, 64}}, {d, {64}}, [](const Ref& a, const Ref& o, Scratch&) {
      o.store(a.load(Layout::WGMMA).min(0));
    });
    Values row(128, -1e9), column(64, 1e9);
    for (size_t r = 0; r < 128; ++r) {
      for (size_t c = 0; c < 64; ++c) {
        row[r] = std::max(row[r], in[r * 64 + c]);
        column[c] = std::min(column[c], in[r * 64 + c]);
      }
    }
    EXPECT_EQ(run(rows, {in}).outputs[0], row);
    EXPECT_EQ(run(columns, {in}).outputs[0], column);
  }
  double sum = 0;
  for (double v : in) sum += v;
  const auto all = simple({pl::f32, {128, 64}}, {pl::f32, {2}}, [](const Ref& a, const Ref& o, Scratch&) {
    o.at(0).store(a.load().sum_all());
    o.at(1).store(a.load(Layout::WGMMA).sum_all());
  });
  EXPECT_EQ(run(all, {in}).outputs[0], (Values{sum, sum}));
}

TEST(Arrays, SoftmaxRowsBroadcastBack) {
  const auto k = simple({pl::f32, {64, 64}}, {pl::f32, {64, 64}}, [](const Ref& a, const Ref& o, Scratch&) {
    const Array x = a.load(Layout::WGMMA);
    const Array e = plgpu::exp(x - plgpu::broadcast_in_dim(x.max(1), {64, 64}, {0}));
    o.store(e / plgpu::broadcast_in_dim(e.sum(1), {64, 64}, {0}));
  });
  const Values in = uniform(64 * 64, 9, -4, 4);
  const Values out = run(k, {in}).outputs[0];
  for (size_t r = 0; r < 64; ++r) {
    double sum = 0;
    for (size_t c = 0; c < 64; ++c) sum += std::exp(in[r * 64 + c]);
    for (size_t c = 0; c < 64; ++c) ASSERT_NEAR(out[r * 64 + c], std::exp(in[r * 64 + c]) / sum, 1e-6);
  }
}

TEST(Arrays, Shapes) {
  const auto k = simple({pl::s32, {128, 32}}, {pl::s32, {192, 32}}, [](const Ref& a, const Ref& o, Scratch&) {
    const Array x = a.load(Layout::WGMMA);
    const Array top = plgpu::slice(x, {0, 0}, {64, 32}), bottom = plgpu::slice(x, {64, 0}, {128, 32});
    const Array rows = plgpu::broadcasted_iota(pl::s32, {64, 32}, 0, Layout::WGMMA),
                columns = plgpu::broadcasted_iota(pl::s32, {64, 32}, 1, Layout::WGMMA);
    o.store(plgpu::concatenate({bottom, top, rows * 100 + columns}, 0));
  });
  const Values in = iota(128 * 32);
  Values expected;
  for (size_t i = 0; i < 64 * 32; ++i) expected.push_back(in[64 * 32 + i]);
  for (size_t i = 0; i < 64 * 32; ++i) expected.push_back(in[i]);
  for (int r = 0; r < 64; ++r)
    for (int c = 0; c < 32; ++c) expected.push_back(r * 100 + c);
  EXPECT_EQ(run(k, {in}).outputs[0], expected);
}

TEST(Arrays, RefsSliceSqueezeReshape) {
  const auto k =
      simple({pl::f32, {4, 64, 32}}, {pl::f32, {64, 32}},
             [](const Ref& a, const Ref& o, Scratch& s) {
               const auto one = a.at(2);
               s["x"].at(1).store(one.load());
               const Ref flat = s["x"].at(1).reshape({2048});
               const Array half = flat.at(pl::ds(1024, 1024)).load();
               o.at(pl::ds(32, 32)).store(half.reshape({32, 32}));
               o.at(pl::ds(0, 32))
                   .store(a.reshape({256, 32}).at(pl::ds(128, 32)).load() + a.at(3, 63, 31).load_scalar());
             },
             {{"x", plgpu::SMEM({2, 64, 32}, pl::f32)}});
  const Values in = iota(4 * 64 * 32);
  Values expected(64 * 32);
  for (size_t i = 0; i < expected.size(); ++i) expected[i] = in[2 * 2048 + i] + (i < 1024 ? in.back() : 0);
  EXPECT_EQ(run(k, {in}).outputs[0], expected);
}

TEST(Arrays, SplatStoresOfAnySize) {
  const auto k = simple({pl::f32, {4}}, {pl::f32, {3, 100}}, [](const Ref& a, const Ref& o, Scratch&) {
    o.store(pl::Scalar(1.5));
    o.at(1).store(a.at(2).load_scalar());
    o.at(2, 7).store(9.0);
  });
  Values expected(300, 1.5);
  std::fill(expected.begin() + 100, expected.begin() + 200, 30.0);
  expected[207] = 9;
  EXPECT_EQ(run(k, {{10, 20, 30, 40}}).outputs[0], expected);
}

// Results below 2^-126 are zero then: without .ftz ptxas scales arguments and results, three instructions
// more.
TEST(Arrays, Exp2IsOneInstructionWithApproxMath) {
  for (const bool approximate : {false, true}) {
    const auto k = plgpu::kernel([](const Ref& a, const Ref& o) { o.store(plgpu::exp2(a.load())); },
                                 {.in_types = {{pl::f32, {128}}},
                                  .out_type = {pl::f32, {128}},
                                  .compiler_params = {.approx_math = approximate}});
    EXPECT_EQ(isa::print(k.module).find("ex2.approx.ftz.f32") != std::string::npos, approximate);
    Values in(128, -140.0), expected(128, approximate ? 0.0 : std::ldexp(1.0, -140));
    in[1] = 3, expected[1] = 8;
    EXPECT_EQ(run(k, {in}).outputs[0], expected);
  }
}

struct MathCase {
  const char* name;
  Array (*device)(plgpu::ArrayArg);
  double (*host)(double);
  double low, high, max_ulps;
};

TEST(Arrays, MathIsAccurate) {
  const MathCase cases[] = {
      {"exp", plgpu::exp, [](double x) { return std::exp(x); }, -87, 88, 2},
      {"exp2", plgpu::exp2, [](double x) { return std::exp2(x); }, -126, 127, 2},
      {"log", plgpu::log, [](double x) { return std::log(x); }, 1e-3, 1e3, 3},
      {"log2", plgpu::log2, [](double x) { return std::log2(x); }, 1e-3, 1e3, 4},
      {"log1p", plgpu::log1p, [](double x) { return std::log1p(x); }, -0.5, 10, 4},
      {"expm1", plgpu::expm1, [](double x) { return std::expm1(x); }, -5, 5, 4},
      {"sin", plgpu::sin, [](double x) { return std::sin(x); }, -20, 20, 4},
      {"cos", plgpu::cos, [](double x) { return std::cos(x); }, -20, 20, 4},
      {"tanh", plgpu::tanh, [](double x) { return std::tanh(x); }, -6, 6, 4},
      {"erf", plgpu::erf, [](double x) { return std::erf(x); }, -4, 4, 8},
      {"logistic", plgpu::logistic, [](double x) { return 1 / (1 + std::exp(-x)); }, -20, 20, 4},
      {"sqrt", plgpu::sqrt, [](double x) { return std::sqrt(x); }, 0, 1e6, 0.51},
      {"rsqrt", plgpu::rsqrt, [](double x) { return 1 / std::sqrt(x); }, 1e-6, 1e6, 3},
      {"reciprocal", plgpu::reciprocal, [](double x) { return 1 / x; }, 1e-3, 1e3, 0.51}};
  for (const MathCase& c : cases) {
    SCOPED_TRACE(c.name);
    const auto k = simple({pl::f32, {4096}}, {pl::f32, {4096}},
                          [&](const Ref& a, const Ref& o, Scratch&) { o.store(c.device(a.load())); });
    const Values in = uniform(4096, 10, c.low, c.high);
    const Values out = run(k, {in}).outputs[0];
    double worst = 0, at = 0;
    for (size_t i = 0; i < in.size(); ++i) {
      const double expected = c.host(in[i]);
      const auto f = static_cast<float>(std::fabs(expected));
      const double ulp = static_cast<double>(std::nextafter(f, INFINITY)) - f;
      // Around zero crossings of sin and cos an absolute error of 2^-24 is meant.
      const double unit = std::max(
          ulp, std::string(c.name) == "sin" || std::string(c.name) == "cos" ? std::ldexp(1.0, -25) : 0.0);
      const double error = std::fabs(out[i] - expected) / unit;
      if (!(error <= worst)) worst = error, at = in[i];
    }
    EXPECT_LE(worst, c.max_ulps) << "at " << at;
  }
}

TEST(Arrays, MathAtTheEdges) {
  const auto k = simple({pl::f32, {128}}, {pl::f32, {128}}, [](const Ref& a, const Ref& o, Scratch&) {
    const Array x = a.load();
    o.store(plgpu::exp(x));
  });
  Values in(128, 0);
  in[0] = INFINITY, in[1] = -INFINITY, in[2] = NAN, in[3] = 200, in[4] = -200, in[5] = -100;
  const Values out = run(k, {in}).outputs[0];
  EXPECT_EQ(out[0], INFINITY);
  EXPECT_EQ(out[1], 0);
  EXPECT_TRUE(std::isnan(out[2]));
  EXPECT_EQ(out[3], INFINITY);
  EXPECT_EQ(out[4], 0);
  EXPECT_NEAR(out[5], std::exp(-100.0), 2e-45);
  EXPECT_EQ(out[6], 1);
}

}  // namespace
}  // namespace palladion::test
