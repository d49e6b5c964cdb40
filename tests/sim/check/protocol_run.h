#pragma once
// Runs PTX under a checker of protocols alone.
#include <gmock/gmock.h>

#include "sim/check/checker.h"
#include "tests/sim/ptx_runner.h"

namespace palladion::sim::testing {

struct Checked {
  RunResult result;
  check::Coverage coverage;
};

inline Checked run_checked(const std::string& text, isa::Dim3 block, isa::Dim3 grid = {},
                           const RunOptions& how = {}) {
  std::vector<uint32_t> array(1024);
  PtxRunner runner(ptx(text));
  runner.array(array, "array").shape(grid, block, grid);
  check::Checker checker({.race = false, .barrier = true, .memory = false, .numerics = false});
  RunOptions options = how;
  options.observer = &checker;
  Checked out{runner.run(options), {}};
  out.coverage = checker.coverage();
  return out;
}

inline std::vector<std::string> codes(const Checked& c) {
  std::vector<std::string> out;
  for (const Finding& f : c.result.findings) out.push_back(f.code.name());
  EXPECT_TRUE(c.result.errors.empty()) << isa::render(c.result.errors);
  return out;
}

inline const Finding* find(const Checked& c, isa::CodeNumber code) {
  for (const Finding& f : c.result.findings)
    if (f.code == code) return &f;
  return nullptr;
}

// A kernel with one array parameter in %rd1, two mbarriers `full` and `empty` of the given counts that all
// threads know, and the thread's index and warp in %r1 and %r2.
inline std::string with_mbarriers(const std::string& body, int full, int empty) {
  return R"(
.visible .entry k(.param .u64 array) {
  .shared .align 8 .b64 full;
  .shared .align 8 .b64 empty;
  .shared .align 128 .b8 tile[256];
  .reg .pred %p<5>; .reg .b32 %r<12>; .reg .b64 %rd<8>;
  ld.param.u64 %rd1, [array];
  mov.u32 %r1, %tid.x;
  shr.u32 %r2, %r1, 5;
  setp.ne.u32 %p1, %r1, 0;
  @%p1 bra $ready;
  mbarrier.init.shared.b64 [full], )" +
         std::to_string(full) + R"(;
  mbarrier.init.shared.b64 [empty], )" +
         std::to_string(empty) + R"(;
  fence.mbarrier_init.release.cluster;
$ready:
  bar.sync 0;
)" + body +
         "\n}\n";
}

// `try_wait` of a parity in a loop.
inline std::string wait(const std::string& label, const std::string& mbarrier, const std::string& parity) {
  return label + ":\n  mbarrier.try_wait.parity.shared.b64 %p2, [" + mbarrier + "], " + parity +
         ";\n  @!%p2 bra " + label + ";\n";
}

}  // namespace palladion::sim::testing
