#pragma once
// Kernels that run without values: those that do as they did with them, and those that are refused.
#include <gmock/gmock.h>

#include <algorithm>

#include "tests/sim/ptx_runner.h"
#include "tests/support/event_log.h"

namespace palladion::sim::testing::values {

inline RunOptions without_values() {
  RunOptions o;
  o.values = Values::none;
  o.threads = 1;
  return o;
}

inline std::string values_kernel(const std::string& body, const std::string& before = "") {
  return ptx(before + ".visible .entry k(.param .u64 a, .param .u64 b) {\n" + body + "\nret;\n}\n");
}

inline constexpr const char* prologue = R"(
  .reg .pred %p<9>; .reg .b32 %r<40>; .reg .b64 %rd<20>; .reg .f32 %f<20>;
  ld.param.u64 %rd1, [a];
  ld.param.u64 %rd2, [b];
  mov.u32 %r1, %tid.x;
  mul.wide.u32 %rd3, %r1, 4;
  add.u64 %rd4, %rd1, %rd3;
  add.u64 %rd5, %rd2, %rd3;
)";

// Both arrays as 64 words: `a` counts from 0, `b` is all 7.
class Subject {
 public:
  explicit Subject(const std::string& text) : runner_(text) {
    for (uint32_t i = 0; i < 64; ++i) a[i] = i;
    runner_.array(a, "a").array(b, "b");
  }
  RunResult run(const RunOptions& options) { return runner_.run(options); }
  PtxRunner& runner() { return runner_; }

  std::vector<uint32_t> a = std::vector<uint32_t>(64), b = std::vector<uint32_t>(64, 7);

 private:
  PtxRunner runner_;
};

// The run without values is clean and leaves the events of the one with them.
inline void expect_same_events(const std::string& text, isa::Dim3 grid = {}, isa::Dim3 block = {32, 1, 1}) {
  for (const char* schedule : {"functional", "latest", "earliest", "seeded:1"}) {
    SCOPED_TRACE(schedule);
    Subject full(text), none(text);
    EventRecorder seen_full, seen_none;
    RunOptions o;
    o.schedule = *schedule_named(schedule);
    o.threads = 1;
    o.observer = &seen_full;
    full.runner().shape(grid, block).run_clean(o);
    o.values = Values::none;
    o.observer = &seen_none;
    none.runner().shape(grid, block).run_clean(o);
    EXPECT_EQ(seen_full.logs(), seen_none.logs());
  }
}

// Refused before the run, with one diagnostic that says all of `words`.
inline void expect_refused(const std::string& text, const std::vector<std::string>& words) {
  const RunResult r = Subject(text).run(without_values());
  ASSERT_FALSE(r.errors.empty()) << "was not refused";
  EXPECT_EQ(r.instructions, 0U);
  EXPECT_EQ(r.errors.front().code, "PLD3120");
  for (const std::string& w : words) EXPECT_THAT(r.errors.front().message, ::testing::HasSubstr(w));
}

// "line 12": of the first `words` in the text
inline std::string line_of(const std::string& text, const std::string& words) {
  const auto at = text.find(words);
  EXPECT_NE(at, std::string::npos);
  return "line " + std::to_string(1 + std::count(text.begin(), text.begin() + ptrdiff_t(at), '\n'));
}

// Stopped at an `opcode` that reads tensor data.
inline void expect_stopped(const std::string& text, const Statement& why, const std::string& opcode) {
  const RunResult r = Subject(text).run(without_values());
  EXPECT_TRUE(r.errors.empty()) << isa::render(r.errors);
  ASSERT_EQ(r.findings.size(), 1U);
  EXPECT_EQ(r.findings.front().code, "PLD3120");
  EXPECT_EQ(r.findings.front().severity, FindingSeverity::unsupported);
  EXPECT_EQ(r.findings.front().message, why);
  EXPECT_TRUE(r.findings.front().sites.front().instruction.starts_with(opcode));
}

// On which the branch `words` depends.
inline void expect_stopped_for(const std::string& text, const std::string& words, const std::string& opcode) {
  expect_stopped(text, say<Phrase::values_decide>("the branch at " + line_of(text, words)), opcode);
}

inline constexpr const char* tile_variables = ".shared .align 4 .b32 tile;\n.shared .align 4 .b32 values;\n";

}  // namespace palladion::sim::testing::values
