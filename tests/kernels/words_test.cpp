// Words that exchange elements between lanes, masks and epilogues, under the checkers: no finding, whatever
// the schedule, and the right values.
#include <algorithm>
#include <numeric>

#include "kernels/frame/specs.h"
#include "kernels/frame/typed_spec.h"
#include "kernels/hopper/matmul_ws.h"
#include "tests/kernels/run_kernel.h"

namespace palladion::kernels {
namespace {

using palladion::test::test_name;
using test::run_clean;

constexpr const char* few_schedules[] = {"functional", "latest", "seeded:3"};

// Broadcasts and orders through the scratch, one after the other, in two Pallas threads.
TEST(Words, ExchangesThroughTheScratch) {
  const plgpu::Kernel kernel = plgpu::kernel(
      [](const plgpu::Ref& a, const plgpu::Ref& b, const plgpu::Ref& o) {
        const auto thread = pl::axis_index("wg");
        const plgpu::Array x = a.at(thread).load() + b.load();
        const plgpu::Array row = plgpu::sort(b.load());
        const plgpu::Array sums = plgpu::cumsum(row, -1, {.reverse = true});
        const auto [most, where] = plgpu::top_k(sums, 256);
        o.at(thread).store(x + plgpu::take(most, 255 - where));
      },
      {.in_types = {{pl::f32, {2, 16, 256}}, {pl::f32, {256}}},
       .out_type = {pl::f32, {2, 16, 256}},
       .num_threads = 2,
       .thread_name = "wg"});
  const std::vector<Array> in = {filled({pl::f32, {2, 16, 256}}, {.kind = Fill::Kind::iota}),
                                 filled({pl::f32, {256}}, {.kind = Fill::Kind::iota})};
  // Sorted 0..255; suffix sums fall, so that top_k keeps their order; take turns it around.
  std::vector<double> suffix(256);
  for (size_t i = 256, sum = 0; i-- > 0;) suffix[i] = double(sum += i);
  std::vector<double> want(2 * 16 * 256);
  for (size_t i = 0; i < want.size(); ++i) want[i] = double(i) + double(i % 256) + suffix[255 - i % 256];
  for (const char* schedule : few_schedules) {
    SCOPED_TRACE(schedule);
    EXPECT_EQ(to_doubles(run_clean(kernel, in, schedule).outputs[0]), want);
  }
  test::expect_assembles(kernel);
}

// A row of one element is held by all lanes alike; its numbers are one zero, in that layout, too.
TEST(Words, NumbersOfOneElementInTheLayoutOfASplat) {
  const plgpu::Kernel kernel = plgpu::kernel(
      [](const plgpu::Ref& a, const plgpu::Ref& o) {
        const plgpu::Array x = a.load();
        o.store(x + plgpu::broadcasted_iota(pl::f32, {1}, 0, x.layout()));
      },
      {.in_types = {{pl::f32, {1}}}, .out_type = {pl::f32, {1}}});
  const Array in = filled({pl::f32, {1}}, {.kind = Fill::Kind::constant, .value = 5});
  EXPECT_EQ(value_at(run_clean(kernel, {in}).outputs[0], 0), 5);
}

TEST(Words, MasksOfTilesOverTheEnd) {
  const plgpu::Kernel kernel = plgpu::kernel(
      [](const plgpu::Ref& a, const plgpu::Ref& o, plgpu::Scratch& s) {
        const plgpu::Ref window = a.at(pl::ds(pl::program_id(0) * 256, 256));
        const plgpu::Array inside = plgpu::in_bounds(window);
        plgpu::store(s["x"], plgpu::load(window, {.mask = inside}), {.mask = inside});
        const plgpu::Array back = plgpu::load(s["x"], {.mask = inside, .other = -1.0F});
        plgpu::store(o.at(pl::ds(pl::program_id(0) * 256, 256)), back, {.mask = inside});
      },
      {.in_types = {{pl::f32, {1000}}},
       .out_type = {pl::f32, {1000}},
       .scratch_types = {{"x", plgpu::SMEM({256}, pl::f32)}},
       .grid = {4}});
  const Array in = filled({pl::f32, {1000}}, {.kind = Fill::Kind::iota});
  for (const char* schedule : few_schedules) {
    SCOPED_TRACE(schedule);
    EXPECT_EQ(to_doubles(run_clean(kernel, {in}, schedule).outputs[0]), to_doubles(in));
  }
}

// The mask that is missing is found: the access leaves the array.
TEST(Words, AWindowOverTheEndWithoutItsMaskIsFound) {
  const plgpu::Kernel kernel =
      plgpu::kernel([](const plgpu::Ref& a,
                       const plgpu::Ref& o) { o.store(a.at(pl::ds(pl::program_id(0) * 100, 256)).load()); },
                    {.in_types = {{pl::f32, {300}}}, .out_type = {pl::f32, {256}}, .grid = {2}});
  sim::Machine machine(isa::default_arch());
  const SimOutcome out = run(kernel, {filled({pl::f32, {300}}, {})}, machine);
  EXPECT_FALSE(out.result.clean());
}

// A copy for which nobody waits: Pallas forbids it, and the end of the kernel reports it.
TEST(Words, ACompletionThatNobodyWaitsForIsFound) {
  for (const bool waits : {false, true}) {
    const plgpu::Kernel kernel = plgpu::kernel(
        [waits](const plgpu::Ref& a, const plgpu::Ref& o, plgpu::Scratch& s) {
          plgpu::copy_gmem_to_smem(a, s["x"], s.barrier("full"));
          if (waits) plgpu::barrier_wait(s.barrier("full"));
          o.store(plgpu::zeros({256}, pl::f32));
        },
        {.in_types = {{pl::f32, {256}}},
         .out_type = {pl::f32, {256}},
         .scratch_types = {{"x", plgpu::SMEM({256}, pl::f32)}, {"full", plgpu::Barrier()}}});
    for (const char* schedule : few_schedules) {
      SCOPED_TRACE(schedule);
      sim::Machine machine(isa::default_arch());
      sim::check::Checker checker;
      sim::RunOptions options;
      options.observer = &checker;
      options.schedule = *sim::schedule_named(schedule);
      const SimOutcome out = run(kernel, {filled({pl::f32, {256}}, {})}, machine, options);
      const auto found = std::ranges::find(out.result.findings, "PLD4118",
                                           [](const sim::Finding& f) { return f.code.name(); });
      EXPECT_EQ(found == out.result.findings.end(), waits) << test::text_of(out.result);
      if (!waits) {
        EXPECT_EQ(found->severity, sim::FindingSeverity::strict);
      }
    }
  }
}

// Every step of matmul_ws' epilogue, and several of them.
class Epilogues : public testing::TestWithParam<std::map<std::string, std::string>> {};

TEST_P(Epilogues, AreRight) {
  const KernelSpec spec = matmul_ws_spec();
  auto settings = GetParam();
  settings["tile_m"] = "128";
  const Choice choice = choose(spec, {{"m", "256"}, {"n", "256"}, {"k", "128"}}, settings);
  const plgpu::Kernel kernel = spec.build(choice);
  const std::vector<Array> inputs = inputs_of(spec, kernel, choice, 1);
  EXPECT_EQ(input_names(spec, choice).size(), inputs.size());
  const std::vector<double> want = to_doubles(spec.reference(choice, inputs)[0]);
  const Tolerance allowed = spec.tolerance(choice);
  const std::vector<double> is = to_doubles(run_clean(kernel, inputs).outputs[0]);
  for (size_t i = 0; i < want.size(); ++i)
    ASSERT_LE(std::abs(want[i] - is[i]), allowed.absolute + allowed.relative * std::abs(want[i])) << i;
  test::expect_assembles(kernel);
}

using Settings = std::map<std::string, std::string>;
INSTANTIATE_TEST_SUITE_P(
    OfMatmulWs, Epilogues,
    testing::Values(Settings{{"scaled", "1"}, {"alpha", "0.5"}}, Settings{{"bias", "1"}},
                    Settings{{"scaled", "1"}, {"alpha", "0.5"}, {"beta", "-2"}, {"add_c", "1"}},
                    Settings{{"bias", "1"}, {"activation", "gelu"}},
                    Settings{{"bias", "1"},
                             {"add_c", "1"},
                             {"activation", "relu"},
                             {"quantised", "1"},
                             {"out_dtype", "s8"},
                             {"scale", "3.5"}},
                    Settings{{"quantised", "1"}, {"out_dtype", "e4m3"}, {"scale", "0.25"}},
                    Settings{{"dtype", "s8"}, {"scaled", "1"}, {"alpha", "0.001"}, {"bias", "1"}},
                    Settings{{"dtype", "s8"},
                             {"scaled", "1"},
                             {"alpha", "0.01"},
                             {"quantised", "1"},
                             {"out_dtype", "s8"},
                             {"scale", "20"}}),
    [](const auto& c) {
      std::string name;
      for (const auto& [key, value] : c.param) name += "_" + key + "_" + value;
      return test_name(name);
    });

// alpha, beta and scale are numbers of the launch: one program.
TEST(Words, EpiloguesOfOneProgram) {
  const auto text = [](float alpha) {
    return isa::print(
        matmul_ws({.m = 256, .n = 128, .k = 64, .tile_m = 128, .scaled = true, .alpha = alpha}).module);
  };
  EXPECT_EQ(text(1), text(-3.25F));
  const std::string plain = isa::print(matmul_ws({.m = 256, .n = 128, .k = 64, .tile_m = 128}).module);
  EXPECT_EQ(plain.find("ld.param.f32"), std::string::npos);
}

TEST(Words, EpiloguesThatAreNotPossible) {
  const MatmulWs good{.m = 256, .n = 128, .k = 64, .tile_m = 128};
  const auto refused = [&](auto change) {
    MatmulWs c = good;
    change(c);
    EXPECT_THROW(matmul_ws(c), isa::Error);
  };
  refused([](MatmulWs& c) { c.quantised = true; });
  refused([](MatmulWs& c) { c.out_dtype = pl::s8; });
  refused([](MatmulWs& c) { c.dtype = pl::s8, c.tile_k = 128, c.out_dtype = pl::s32, c.bias = true; });
  refused([](MatmulWs& c) { c.scaled = true, c.out_dtype = pl::s32; });
}

// --- Spec
struct ScaleConfig {
  int64_t n = 256;
  double alpha = 1.5;
};
plgpu::Kernel scale_by_alpha(const ScaleConfig& c) {
  return plgpu::kernel(
      [](const plgpu::Ref& a, const plgpu::Ref& o) { o.store(a.load() * plgpu::launch_scalar("alpha")); },
      {.in_types = {{pl::f32, {c.n}}},
       .out_type = {pl::f32, {c.n}},
       .scalars = {{"alpha", pl::f32, c.alpha}}});
}

TEST(Words, SettingsThatAreNumbersAndChips) {
  const KernelSpec spec =
      Spec("scale", "out = alpha a", scale_by_alpha)
          .size("n", &ScaleConfig::n, "elements")
          .setting("alpha", &ScaleConfig::alpha, "the factor", RealRange{.min = -8, .max = 8})
          .arch("b200");
  EXPECT_EQ(chip_of(spec).name, "b200");
  EXPECT_EQ(spec.settings[0].fallback, "1.5");
  const auto bits = [&](const Settings& settings) {
    return std::get<plgpu::ScalarParam>(spec.build(choose(spec, {}, settings)).launch.params[0]).bits;
  };
  EXPECT_EQ(bits({}), std::bit_cast<uint32_t>(1.5F));
  EXPECT_EQ(bits({{"alpha", "-0.25"}}), std::bit_cast<uint32_t>(-0.25F));
  for (const char* wrong : {"nine", "9", "nan", "inf", ""})
    EXPECT_THROW(choose(spec, {}, {{"alpha", wrong}}), isa::Error) << wrong;
  EXPECT_THROW(Spec("scale", "", scale_by_alpha).arch("b2000"), isa::Error);
  const Job job = job_of(spec.build(choose(spec)), {filled({pl::f32, {256}}, {})});
  EXPECT_EQ(std::get<BytesValue>(job.params[0]).bytes, (std::vector<uint8_t>{0, 0, 0xC0, 0x3F}));
}

}  // namespace
}  // namespace palladion::kernels
