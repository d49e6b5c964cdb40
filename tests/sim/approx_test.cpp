// The approximate instructions, from their PTX words to the bits that an H200 gave.
#include "sim/program/approx.h"

#include <fstream>
#include <map>
#include <sstream>

#include "tests/isa/ops_harness.h"

namespace palladion::sim {
namespace {

using isa::test::Bench;
using isa::test::Lanes;

Lanes run(Bench& bench, uint32_t mask = ~0U) {
  const auto* approx = std::get_if<isa::Approx>(&bench.effect());
  const isa::LanesFn fn = approx == nullptr ? nullptr : approx_lanes(*approx);
  if (fn == nullptr) {
    ADD_FAILURE() << "not modelled";
    return Lanes(32);
  }
  isa::LaneArgs a{};
  a.d[0] = bench.destinations[0].bytes;
  for (size_t k = 0; k < bench.sources.size(); ++k) a.s[k] = bench.sources[k].bytes;
  a.mask = mask;
  fn(a);
  return bench.destinations[0].get();
}

TEST(Approx, InstructionsGiveTheDevicesBits) {
  std::ifstream in(std::string(PLD_SOURCE_DIR) + "/tests/device/special/special_values_approx.csv");
  std::map<std::string, int> rows;
  for (std::string line; std::getline(in, line);) {
    if (line.empty() || line[0] == '#' || line.starts_with("instruction")) continue;
    std::istringstream fields(line);
    std::string name, field;
    std::getline(fields, name, ',');
    std::vector<uint64_t> values;
    while (std::getline(fields, field, ','))
      if (!field.empty()) values.push_back(std::stoull(field, nullptr, 16));
    Bench bench(name);
    ASSERT_EQ(bench.sources.size() + 1, values.size()) << name;
    for (size_t k = 0; k < bench.sources.size(); ++k) bench.sources[k].set(Lanes(32, values[k]));
    EXPECT_EQ(run(bench)[31], values.back()) << line;
    ++rows[name];
  }
  EXPECT_GE(rows.size(), 20U);
}

TEST(Approx, EveryFormOfTheInstructionSetIsModelled) {
  for (const std::string name :
       {"rcp.approx.f32",       "rcp.approx.ftz.f32",  "rcp.approx.ftz.f64",    "rsqrt.approx.f32",
        "rsqrt.approx.ftz.f32", "rsqrt.approx.f64",    "rsqrt.approx.ftz.f64",  "sqrt.approx.f32",
        "sqrt.approx.ftz.f32",  "ex2.approx.f32",      "ex2.approx.ftz.f32",    "ex2.approx.f16",
        "ex2.approx.f16x2",     "ex2.approx.ftz.bf16", "ex2.approx.ftz.bf16x2", "lg2.approx.f32",
        "lg2.approx.ftz.f32",   "sin.approx.f32",      "sin.approx.ftz.f32",    "cos.approx.f32",
        "cos.approx.ftz.f32",   "tanh.approx.f32",     "tanh.approx.f16",       "tanh.approx.f16x2",
        "tanh.approx.bf16",     "tanh.approx.bf16x2",  "div.approx.f32",        "div.approx.ftz.f32",
        "div.full.f32",         "div.full.ftz.f32"}) {
    const Bench bench(name);
    const auto* approx = std::get_if<isa::Approx>(&bench.effect());
    ASSERT_NE(approx, nullptr) << name;
    EXPECT_NE(approx_lanes(*approx), nullptr) << name;
  }
}

TEST(Approx, InactiveLanesKeepTheirValue) {
  Bench bench("ex2.approx.ftz.f32");
  bench.sources[0].set(Lanes(32, 0x40000000));
  bench.destinations[0].set(Lanes(32, 7));
  const Lanes got = run(bench, 0x0000FFFF);
  for (size_t i = 0; i < 32; ++i) EXPECT_EQ(got[i], i < 16 ? 0x40800000U : 7U);
}

}  // namespace
}  // namespace palladion::sim
