#pragma once
// What the tests of pipelines share: a kernel is right under every schedule, and ptxas takes it.
#include <functional>
#include <string>

#include "frontend/launch/pallas_call.h"
#include "frontend/pipeline/pipeline.h"
#include "frontend/pipeline/warp_specialized.h"
#include "isa/core/diagnostic.h"
#include "tests/frontend/run_in_sim.h"
#include "tests/support/toolkit.h"

namespace palladion::test {

inline const std::vector<std::string> hostile_schedules = {"functional", "latest",   "earliest",
                                                           "seeded:1",   "seeded:2", "seeded:3"};

// Of a 16-bit array: tiles of 8 rows of 128 bytes.
inline const plgpu::Transforms tiled16 = {plgpu::TilingTransform({8, 64}), plgpu::SwizzleTransform(128)};

inline void expect_everywhere(const plgpu::Kernel& kernel, const std::vector<Values>& inputs,
                              const std::vector<Values>& expected) {
  for (const std::string& name : hostile_schedules) {
    SCOPED_TRACE(name);
    const Ran ran = run(kernel, inputs, *sim::schedule_named(name));
    ASSERT_EQ(ran.outputs.size(), expected.size());
    for (size_t i = 0; i < expected.size(); ++i) {
      const auto [got, wanted] = std::ranges::mismatch(ran.outputs[i], expected[i]);
      ASSERT_TRUE(wanted == expected[i].end())
          << "output " << i << " element " << (wanted - expected[i].begin()) << ": " << *got << " instead of "
          << *wanted;
    }
  }
}

inline void expect_assembles(const plgpu::Kernel& kernel) {
  PLD_NEEDS_TOOL("ptxas");
  const auto assembly = toolkit::assemble(isa::print(kernel.module));
  EXPECT_TRUE(assembly.ok) << assembly.log;
  EXPECT_FALSE(assembly.wgmma_serialized) << assembly.log;
  EXPECT_EQ(assembly.spill_bytes, 0) << assembly.log;
}

// The message and the code of the author's mistake.
inline std::string error_of(const std::function<void()>& record) {
  try {
    record();
  } catch (const isa::Error& e) {
    EXPECT_NE(e.diagnostics().front().loc.file.find("_test.cpp"), std::string::npos)
        << "the error is at " << e.diagnostics().front().loc.file;
    return e.diagnostics().front().code.name() + " " + e.diagnostics().front().message;
  }
  return "no error";
}

inline Values map_values(const Values& v, const std::function<double(double)>& f) {
  Values out = v;
  for (double& x : out) x = f(x);
  return out;
}

// (m, k) times (k, n)
inline Values matmul(const Values& a, const Values& b, int64_t m, int64_t n, int64_t k) {
  Values out(static_cast<size_t>(m * n));
  for (int64_t i = 0; i < m; ++i)
    for (int64_t l = 0; l < k; ++l)
      for (int64_t j = 0; j < n; ++j)
        out[static_cast<size_t>(i * n + j)] +=
            a[static_cast<size_t>(i * k + l)] * b[static_cast<size_t>(l * n + j)];
  return out;
}

}  // namespace palladion::test
