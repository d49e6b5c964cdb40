// The same run with one and with two host threads, three times each: everything but wall time is the same.
#include <gtest/gtest.h>

#include <cstring>
#include <fstream>
#include <sstream>

#include "isa/text/parse.h"
#include "kernels/frame/case.h"
#include "report/text/finding_text.h"
#include "verify/launch/runner.h"

namespace palladion {
namespace {

struct Seen {
  std::string text;  // of the result
  std::vector<std::byte> bytes;
  friend bool operator==(const Seen&, const Seen&) = default;
};

std::string text_of(const sim::RunResult& r) {
  std::string text = isa::render(r.errors) + r.printed + std::to_string(r.instructions) + " " +
                     std::to_string(r.ctas) + " " + std::to_string(r.resident_ctas_per_sm) +
                     (r.completed ? " completed " : " ") + (r.interrupted ? "interrupted" : "");
  for (const sim::Finding& f : r.findings) text += report::finding_text(f);
  return text;
}

template <class Run>
void expect_repeats(Run run) {
  const Seen first = run(1U);
  for (int again = 0; again < 3; ++again)
    for (const unsigned threads : {1U, 2U}) {
      const Seen seen = run(threads);
      EXPECT_EQ(seen.text, first.text) << threads << " threads";
      EXPECT_TRUE(seen.bytes == first.bytes) << threads << " threads";
    }
}

Seen run_case(const std::string& line, unsigned threads, const char* schedule) {
  const kernels::Case c = kernels::parse_case(line);
  sim::Machine machine(*isa::find_arch("h200"));
  sim::RunOptions options;
  options.threads = threads;
  options.schedule = *sim::schedule_named(schedule);
  SimOutcome o = palladion::run(c.spec->build(c.choice), c.spec->make_inputs(c.choice, 5), machine, options);
  EXPECT_TRUE(o.result.clean());
  return {text_of(o.result), o.outputs.at(0).bytes};
}

TEST(Determinism, MatrixProductOfManyClusters) {
  for (const char* schedule : {"functional", "seeded:4"})
    expect_repeats([&](unsigned threads) {
      return run_case("matmul_ws m=512 n=512 k=128 cluster=m", threads, schedule);
    });
}

// f32 sums of CTAs by atomics: their order shows in the bits.
Seen run_sum(unsigned threads, int n) {
  std::ifstream in(PLD_SOURCE_DIR "/tests/isa/ptx/reduction.ptx");
  std::stringstream text;
  text << in.rdbuf();
  const auto module = isa::parse(text.str());
  if (!module) return {isa::render(module.error()), {}};
  std::vector<float> values(20'000), sum{0};
  for (size_t i = 0; i < values.size(); ++i) values[i] = 1.0F / static_cast<float>(i + 1);
  sim::Machine machine(*isa::find_arch("h200"));
  struct {
    uint64_t in, out;
    int n;
  } params{machine.memory().bind({reinterpret_cast<uint8_t*>(values.data()), values.size() * 4}, "in"),
           machine.memory().bind({reinterpret_cast<uint8_t*>(sum.data()), 4}, "out"), n};
  sim::Launch launch{.module = &*module, .entry = "sum", .grid = {64}, .block = {256}};
  launch.params.resize(20);
  std::memcpy(launch.params.data(), &params, 20);
  sim::RunOptions options;
  options.threads = threads;
  const sim::RunResult r = machine.run(launch, options);
  const auto* bytes = reinterpret_cast<const std::byte*>(sum.data());
  return {text_of(r), {bytes, bytes + 4}};
}

TEST(Determinism, FloatingAtomicsOfManyCtas) {
  const Seen s = run_sum(2, 20'000);
  float sum = 0;
  std::memcpy(&sum, s.bytes.data(), 4);
  EXPECT_NEAR(sum, 10.4807, 1e-3);  // the harmonic number
  expect_repeats([](unsigned threads) { return run_sum(threads, 20'000); });
}

// Reads past the array: the findings are the same ones, in the same order.
TEST(Determinism, FindingsOfAFaultyRun) {
  EXPECT_NE(run_sum(2, 21'000).text.find("PLD"), std::string::npos);
  expect_repeats([](unsigned threads) { return run_sum(threads, 21'000); });
}

}  // namespace
}  // namespace palladion
