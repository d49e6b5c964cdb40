// A producer warp fetches two tiles through one slot, another warp reads them: every mutant is caught or
// equivalent.
#include <gmock/gmock.h>

#include <algorithm>

#include "sim/check/checker.h"
#include "sim/mutate/equivalence.h"
#include "tests/sim/mutate/parsed.h"
#include "tests/sim/ptx_runner.h"

namespace palladion::sim::check {
namespace {

using sim::testing::PtxRunner;
using ::testing::IsEmpty;

constexpr const char* ring = R"(
.visible .entry k(.param .u64 in, .param .u64 out) .reqntid 64
{
  .reg .pred %p<8>;
  .reg .b32 %r<16>;
  .reg .b64 %rd<8>;
  .shared .align 8 .b64 full;
  .shared .align 8 .b64 empty;
  .shared .align 128 .b8 tile[128];
  ld.param.u64 %rd0, [in];
  ld.param.u64 %rd1, [out];
  cvta.to.global.u64 %rd0, %rd0;
  cvta.to.global.u64 %rd1, %rd1;
  mov.u32 %r0, %tid.x;
  mov.u32 %r1, tile;
  mov.u32 %r2, full;
  mov.u32 %r3, empty;
  mov.u32 %r4, 0;
  setp.eq.u32 %p0, %r0, 0;
  @%p0 mbarrier.init.shared::cta.b64 [%r2], 1;
  @%p0 mbarrier.init.shared::cta.b64 [%r3], 32;
  @%p0 fence.mbarrier_init.release.cluster;
  bar.sync 0;
  setp.ge.u32 %p1, %r0, 32;
  @%p1 bra $consumer;
$produce:
  setp.eq.u32 %p2, %r4, 0;
  @%p2 bra $issue;
$drained:
  mbarrier.try_wait.parity.shared::cta.b64 %p3, [%r3], 0;
  @!%p3 bra $drained;
$issue:
  @%p0 mbarrier.arrive.expect_tx.shared::cta.b64 _, [%r2], 128;
  @%p0 cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes [%r1], [%rd0], 128, [%r2];
  add.u64 %rd0, %rd0, 128;
  add.u32 %r4, %r4, 1;
  setp.lt.u32 %p4, %r4, 2;
  @%p4 bra $produce;
  bra $end;
$consumer:
  sub.u32 %r5, %r0, 32;
  mul.lo.u32 %r5, %r5, 4;
  add.u32 %r6, %r1, %r5;
  cvt.u64.u32 %rd2, %r5;
  add.u64 %rd1, %rd1, %rd2;
$consume:
  mbarrier.try_wait.parity.shared::cta.b64 %p5, [%r2], %r4;
  @!%p5 bra $consume;
  ld.shared.u32 %r7, [%r6];
  st.global.u32 [%rd1], %r7;
  fence.proxy.async.shared::cta;
  mbarrier.arrive.shared::cta.b64 _, [%r3];
  add.u64 %rd1, %rd1, 128;
  add.u32 %r4, %r4, 1;
  setp.lt.u32 %p6, %r4, 2;
  @%p6 bra $consume;
$end:
  ret;
}
)";

std::vector<std::string> errors_of(const isa::Module& module, Schedule::Kind kind) {
  std::vector<uint32_t> in(64), out(64);
  PtxRunner runner(ptx(ring));
  runner.array(in, "in").array(out, "out").shape({1, 1, 1}, {64, 1, 1});
  runner.launch.module = &module;
  Checker checker;
  RunOptions options;
  options.schedule.kind = kind;
  options.max_instructions = 100'000;
  options.observer = &checker;
  std::vector<std::string> codes;
  for (const Finding& f : runner.run(options).findings)
    if (f.severity == FindingSeverity::error) codes.push_back(f.code.name());
  return codes;
}

TEST(Mutation, OfARingIsCaughtOrEquivalent) {
  const isa::Module module = parsed(ptx(ring));
  ASSERT_THAT(errors_of(module, Schedule::Kind::functional), IsEmpty());
  std::vector<uint32_t> in(64), out(64);
  PtxRunner runner(ptx(ring));
  runner.array(in, "in").array(out, "out").shape({1, 1, 1}, {64, 1, 1});
  runner.launch.module = &module;
  RunFacts facts(module);
  RunOptions watched;
  watched.observer = &facts;
  ASSERT_TRUE(runner.run(watched).completed);
  std::vector<std::string> survivors;
  size_t caught = 0;
  for (const Mutant& m : mutants_of(module, h200)) {
    const isa::Module broken = apply(module, h200, m);
    bool found = false;
    for (const auto kind : {Schedule::Kind::functional, Schedule::Kind::latest, Schedule::Kind::earliest})
      found = found || !errors_of(broken, kind).empty();
    caught += found;
    if (!found && equivalent(module, h200, facts, m) == nullptr) survivors.push_back(m.description());
  }
  EXPECT_GT(caught, 15U);
  EXPECT_THAT(survivors, IsEmpty());
}

}  // namespace
}  // namespace palladion::sim::check
