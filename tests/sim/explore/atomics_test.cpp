// What an atomic gives is a matter of the schedule, where something reads it.
#include <gtest/gtest.h>

#include "sim/check/observers.h"
#include "sim/explore/decide.h"
#include "tests/sim/ptx_runner.h"

namespace palladion::tests {
namespace {

using namespace sim::check;

// `body` stands behind an atomic of two words that gives %r2 and %r3.
bool decided(const std::string& body) {
  std::vector<uint32_t> out(4);
  sim::testing::PtxRunner runner(R"(.version 8.7
.target sm_90a
.address_size 64
.visible .entry k(.param .u64 out)
{
  .reg .pred %p<4>; .reg .b32 %r<4>; .reg .b64 %rd<2>;
  ld.param.u64 %rd0, [out];
  cvta.to.global.u64 %rd0, %rd0;
  mov.u32 %r1, 0;
  atom.global.gpu.acq_rel.add.v2.f32 {%r2, %r3}, [%rd0], {%r1, %r1};
)" + body + "  ret;\n}\n");
  runner.array(out).shape({1, 1, 1}, {64, 1, 1});
  Checker checker;
  SkeletonObserver recorder;
  Observers both({&checker, &recorder});
  EXPECT_TRUE(runner.run({.observer = &both}).completed);
  return decide_run(recorder.recorded(), checker.coverage()).decided;
}

TEST(Atomics, of_vectors_whose_results_nothing_reads_depend_on_no_time) {
  EXPECT_TRUE(decided(""));
  EXPECT_TRUE(decided("mov.u32 %r2, 1;\nmov.u32 %r3, %r2;\n")) << "overwritten before";
}

TEST(Atomics, any_register_of_a_vector_that_is_read_stays_open) {
  EXPECT_FALSE(decided("setp.eq.u32 %p0, %r2, 0;\n@%p0 bar.sync 0;\n"));
  EXPECT_FALSE(decided("setp.eq.u32 %p0, %r3, 0;\n@%p0 bar.sync 0;\n"));
  EXPECT_FALSE(decided("mov.u32 %r2, 1;\nst.global.u32 [%rd0+8], %r3;\n")) << "one of them is overwritten";
}

}  // namespace
}  // namespace palladion::tests
