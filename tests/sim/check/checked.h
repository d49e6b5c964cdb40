#pragma once
// Runs a body of PTX under all checks, and the codes of its findings.
#include <gmock/gmock.h>

#include <algorithm>

#include "sim/check/checker.h"
#include "tests/sim/ptx_runner.h"

namespace palladion::sim::testing {

// A kernel with one array of 1024 words in %rd1; the thread's index and warp in %r1 and %r2. `functions` are
// those that it calls.
inline RunResult checked(const std::string& body, isa::Dim3 grid, isa::Dim3 block, uint32_t dynamic = 0,
                         const std::string& functions = {}) {
  std::vector<uint32_t> array(1024);
  PtxRunner runner(ptx(functions + R"(
.extern .shared .align 128 .b8 dynamic[];
.visible .entry k(.param .u64 array) {
  .shared .align 128 .b8 tile[512];
  .shared .align 8 .b64 full;
  .reg .pred %p<5>; .reg .b32 %r<12>; .reg .b64 %rd<8>;
  ld.param.u64 %rd1, [array];
  mov.u32 %r1, %tid.x;
  shr.u32 %r2, %r1, 5;
  mov.u32 %r9, %ctaid.x;
)" + body + "\n  ret;\n}\n"));
  runner.array(array).shape(grid, block);
  runner.launch.dynamic_shared = dynamic;
  check::Checker checker;
  RunOptions how;
  how.observer = &checker;
  how.threads = 1;  // kernels that race would race in the host's memory, too
  return runner.run(how);
}

// "PLD4315" or "PLD4315?" when strict.
inline std::vector<std::string> codes_of(const RunResult& r) {
  std::vector<std::string> out;
  for (const Finding& f : r.findings)
    out.push_back(f.code.name() + (f.severity == FindingSeverity::strict ? "?" : ""));
  EXPECT_TRUE(r.errors.empty()) << isa::render(r.errors);
  std::ranges::sort(out);
  out.erase(std::ranges::unique(out).begin(), out.end());
  return out;
}

using Codes = std::vector<std::string>;

}  // namespace palladion::sim::testing
