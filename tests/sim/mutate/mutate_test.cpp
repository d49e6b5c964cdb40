// Operators, and the rules of equivalence.
#include <gmock/gmock.h>

#include <algorithm>

#include "isa/text/print.h"
#include "sim/check/checker.h"
#include "sim/mutate/equivalence.h"
#include "tests/sim/mutate/parsed.h"
#include "tests/sim/ptx_runner.h"

namespace palladion::sim::check {
namespace {

using sim::testing::PtxRunner;
using ::testing::Contains;
using ::testing::ElementsAre;
using ::testing::IsEmpty;
using ::testing::Not;

std::string kernel(const std::string& body) {
  return ptx(R"(
.visible .entry k(.param .u64 out) .reqntid 128
{
  .reg .pred %p<8>;
  .reg .b32 %r<16>;
  .reg .b64 %rd<8>;
  .shared .align 8 .b64 full;
  .shared .align 8 .b64 empty;
  .shared .align 128 .b8 tile[1024];
  ld.param.u64 %rd0, [out];
  mov.u32 %r0, %tid.x;
  mov.u32 %r1, 0;
  setp.eq.u32 %p0, %r0, 0;
)" + body + R"(
  ret;
}
)");
}

std::vector<std::string> changes(const isa::Module& module) {
  std::vector<std::string> out;
  for (const Mutant& m : mutants_of(module, h200))
    out.push_back(std::string(name(m.mutation)) + ": " + (m.after.empty() ? "-" : m.after));
  return out;
}

std::string printed(const isa::Module& module) { return isa::print(module); }

// --- operators --------------------------------------------------------------------------------------------
TEST(Mutants, AreNoneWithoutSynchronisation) {
  EXPECT_THAT(mutants_of(parsed(kernel("  st.global.u32 [%rd0], %r0;\n")), h200), IsEmpty());
}

TEST(Mutants, OfABarrier) {
  EXPECT_THAT(changes(parsed(kernel("  bar.sync 0;\n"))),
              ElementsAre("delete bar: -", "bar threads + 32: bar.sync 0, 160;",
                          "bar threads - 32: bar.sync 0, 96;", "bar id + 1: bar.sync 1;"));
}

TEST(Mutants, OfABarrierInARegisterComputeBeforeIt) {
  const isa::Module module = parsed(kernel("  mov.u32 %r2, 3;\n  bar.sync %r2, 128;\n"));
  const auto all = mutants_of(module, h200);
  const auto at = std::ranges::find(all, Mutation::next_barrier_id, &Mutant::mutation);
  ASSERT_NE(at, all.end());
  const std::string text = printed(apply(module, h200, *at));
  EXPECT_NE(text.find("add.s32"), std::string::npos) << text;
}

TEST(Mutants, OfMbarriers) {
  const auto all = changes(parsed(kernel(R"(
  @%p0 mbarrier.init.shared::cta.b64 [full], 1;
  @%p0 mbarrier.arrive.expect_tx.shared::cta.b64 _, [full], 512;
$wait:
  mbarrier.try_wait.parity.shared::cta.b64 %p1, [full], %r1;
  @!%p1 bra $wait;
)")));
  EXPECT_THAT(all, Contains("init count + 1: @%p0 mbarrier.init.shared::cta.b64 [full], 2;"));
  EXPECT_THAT(all, Contains("tx bytes - 16: @%p0 mbarrier.arrive.expect_tx.shared::cta.b64 _, [full], 496;"));
  EXPECT_THAT(all, Contains("forget expect_tx: @%p0 mbarrier.arrive.shared::cta.b64 _, [full];"));
  EXPECT_THAT(all, Contains("delete wait: setp.eq.u32 %p1, 0, 0;"));
  EXPECT_THAT(all, Contains("acquire to relaxed: mbarrier.try_wait.parity.relaxed.cta.shared::cta.b64 %p1, "
                            "[full], %r1;"));
}

TEST(Mutants, KeepLabelsBeforeTheirInstructions) {
  const isa::Module module = parsed(kernel(R"(
  bar.sync 0;
$wait:
  mbarrier.try_wait.parity.shared::cta.b64 %p1, [full], %r1;
  @!%p1 bra $wait;
)"));
  for (const Mutant& m : mutants_of(module, h200)) {
    const isa::Module changed = apply(module, h200, m);
    const isa::Function& f = changed.functions.front();
    const uint32_t target = f.labels.front().target;
    ASSERT_LT(target, f.body.size()) << m.description();
    const std::string first = isa::print(changed, f, f.body[target]);
    const bool wait = first.find("try_wait") != std::string::npos ||
                      first.find("setp.eq") != std::string::npos || first.find("xor") != std::string::npos;
    EXPECT_TRUE(wait) << m.description() << ": " << first;
  }
}

TEST(Mutants, AreValidAndPrintable) {
  const isa::Module module = parsed(kernel(R"(
  @%p0 mbarrier.init.shared::cta.b64 [full], 1;
  @%p0 mbarrier.init.shared::cta.b64 [empty], 4;
  fence.mbarrier_init.release.cluster;
  barrier.cluster.arrive.release.aligned;
  barrier.cluster.wait.acquire.aligned;
  mapa.shared::cluster.u32 %r3, %r2, %r1;
  mbarrier.arrive.shared::cluster.b64 _, [%r3];
  fence.acq_rel.gpu;
  ld.acquire.sys.global.u32 %r4, [%rd0];
  st.release.gpu.global.u32 [%rd0], %r4;
  atom.acq_rel.gpu.global.add.u32 %r4, [%rd0], 1;
  cp.async.commit_group;
  cp.async.wait_group 1;
  cp.async.wait_all;
  cp.async.bulk.commit_group;
  cp.async.bulk.wait_group 0;
  fence.proxy.async.shared::cta;
  bar.warp.sync -1;
  bar.red.popc.u32 %r5, 0, %p0;
  bar.arrive 1, 64;
)"));
  const auto all = changes(module);
  for (const Mutant& m : mutants_of(module, h200)) {
    const std::string text = printed(apply(module, h200, m));
    EXPECT_NE(text, printed(module)) << m.description();
    EXPECT_TRUE(isa::parse(text).has_value()) << m.description();
  }
  EXPECT_THAT(all, Contains("scope narrowed: ld.acquire.gpu.global.u32 %r4, [%rd0];"));
  EXPECT_THAT(all, Contains("release to relaxed: st.relaxed.gpu.global.u32 [%rd0], %r4;"));
  EXPECT_THAT(all, Contains("release to relaxed: barrier.cluster.arrive.relaxed.aligned;"));
  EXPECT_THAT(all, Contains(".read added: cp.async.bulk.wait_group.read 0;"));
  EXPECT_THAT(all, Contains("wait_group n + 1: cp.async.wait_group 1;"));
  EXPECT_THAT(all, Contains("swap mbarriers: @%p0 mbarrier.init.shared::cta.b64 [empty], 1;"));
  EXPECT_THAT(all, Contains("delete barrier.cluster: -"));
}

TEST(Mutants, OfWhatTheEntryCalls) {
  const isa::Module module = parsed(ptx(R"(
.func meet() { bar.sync 0; ret; }
.func alone() { bar.sync 0; ret; }
.visible .entry k() { call.uni meet; ret; }
)"));
  const auto all = mutants_of(module, h200, "k");
  ASSERT_FALSE(all.empty());
  for (const Mutant& m : all) EXPECT_EQ(module.functions[m.function].name, "meet");
}

// --- the rules
// ---------------------------------------------------------------------------------------------- The rule
// that calls the only mutant of this operator equivalent; of several, that of the n-th.
std::string rule_for(const std::string& body, Mutation mutation, size_t n = 0) {
  std::vector<uint32_t> out(1024);
  PtxRunner runner(kernel(body));
  runner.array(out, "out").shape({1, 1, 1}, {128, 1, 1});
  const isa::Module& module = *runner.launch.module;
  RunFacts facts(module);
  RunOptions options;
  options.observer = &facts;
  const RunResult result = runner.run(options);
  EXPECT_TRUE(result.completed) << PtxRunner::describe(result);
  std::vector<Mutant> all = mutants_of(module, h200);
  std::erase_if(all, [&](const Mutant& m) { return m.mutation != mutation; });
  if (n >= all.size()) return "no such mutant";
  const EquivalenceRule* rule = equivalent(module, h200, facts, all[n]);
  return rule == nullptr ? "" : std::string(rule->name);
}

const std::string mine = "  mul.lo.u32 %r2, %r0, 4;\n  mov.u32 %r3, tile;\n  add.u32 %r3, %r3, %r2;\n";
const std::string store = "  st.shared.u32 [%r3], %r0;\n";
const std::string load =
    "  mov.u32 %r5, tile;\n  ld.shared.u32 %r4, [%r5+64];\n  st.global.u32 [%rd0], %r4;\n";

TEST(Equivalence, ABarrierBetweenAccessesIsNeeded) {
  EXPECT_EQ(rule_for(mine + store + "  bar.sync 0;\n" + load, Mutation::delete_barrier), "");
}

TEST(Equivalence, OneOfTwoBarriersIsEnough) {
  const std::string body = mine + store + "  bar.sync 0;\n  add.u32 %r6, %r0, 1;\n  bar.sync 0;\n" + load;
  EXPECT_EQ(rule_for(body, Mutation::delete_barrier, 0), "barrier follows");
  EXPECT_EQ(rule_for(body, Mutation::delete_barrier, 1), "barrier precedes");
}

TEST(Equivalence, NotWithAnAccessBetween) {
  const std::string body =
      mine + store + "  bar.sync 0;\n" + load + "  bar.sync 0;\n" + mine + store + "  bar.sync 0;\n" + load;
  for (size_t n = 0; n < 3; ++n) EXPECT_EQ(rule_for(body, Mutation::delete_barrier, n), "") << n;
}

TEST(Equivalence, AFenceOfOneThreadNeedsTheBarrierBeforeIt) {
  const std::string body =
      mine + store + "  bar.sync 0;\n  @%p0 fence.proxy.async.shared::cta;\n  bar.sync 0;\n" + load;
  EXPECT_EQ(rule_for(body, Mutation::delete_barrier, 0), "");
  EXPECT_EQ(rule_for(body, Mutation::delete_barrier, 1), "");
}

TEST(Equivalence, FreshMemory) {
  EXPECT_EQ(
      rule_for("  bar.sync 0;\n" + mine + store + "  bar.sync 0;\n" + load, Mutation::delete_barrier, 0),
      "fresh memory");
}

TEST(Equivalence, NothingFollows) {
  EXPECT_EQ(rule_for(mine + store + "  bar.sync 0;\n", Mutation::delete_barrier), "nothing follows");
}

TEST(Equivalence, NotExecuted) {
  EXPECT_EQ(rule_for("  setp.ne.u32 %p1, %r1, 0;\n  @%p1 bar.sync 0;\n" + load, Mutation::delete_barrier),
            "not executed");
}

TEST(Equivalence, AnUnknownName) {
  const std::string used = mine + store + "  bar.sync 0;\n" + load;
  EXPECT_EQ(rule_for(used, Mutation::next_barrier_id), "only renamed");
  const std::string taken = "$again:\n" + mine + store + "  bar.sync 1;\n  bar.sync 0;\n" + load +
                            "  add.u32 %r1, %r1, 1;\n  setp.lt.u32 %p1, %r1, 2;\n  @%p1 bra $again;\n";
  EXPECT_EQ(rule_for(taken, Mutation::next_barrier_id, 1), "");
}

TEST(Equivalence, OfWarpSync) {
  EXPECT_EQ(rule_for("  add.u32 %r6, %r0, 1;\n  bar.warp.sync -1;\n" + load, Mutation::delete_warp_sync),
            "members alone");
  EXPECT_EQ(rule_for(mine + store + "  bar.warp.sync -1;\n" + load, Mutation::delete_warp_sync), "");
}

TEST(Equivalence, AWaitForNothing) {
  EXPECT_EQ(rule_for("  cp.async.bulk.wait_group 0;\n" + load, Mutation::delete_wait_group),
            "nothing pending");
  EXPECT_EQ(
      rule_for("  cp.async.commit_group;\n  cp.async.wait_group 0;\n" + load, Mutation::delete_wait_group),
      "");
  EXPECT_EQ(
      rule_for("  cp.async.commit_group;\n  cp.async.wait_group 1;\n" + load, Mutation::delete_wait_group),
      "nothing pending");
}

TEST(Equivalence, AStrongerWaitBehind) {
  EXPECT_EQ(rule_for("  cp.async.commit_group;\n  cp.async.commit_group;\n  cp.async.wait_group 1;\n"
                     "  cp.async.wait_group 0;\n" +
                         load,
                     Mutation::delete_wait_group, 0),
            "stronger wait follows");
}

TEST(Equivalence, AProxyFenceWithNothingToPassOn) {
  EXPECT_EQ(
      rule_for("  fence.proxy.async.shared::cta;\n  bar.sync 0;\n" + load, Mutation::delete_proxy_fence),
      "nothing to pass on");
  const std::string late = mine + store + "  fence.proxy.async.shared::cta;\n  bar.sync 0;\n" + load;
  EXPECT_EQ(rule_for(late, Mutation::delete_proxy_fence), "");
}

TEST(Equivalence, TwoFencesAreOne) {
  const std::string body =
      mine + store + "  fence.proxy.async.shared::cta;\n  fence.proxy.async;\n  bar.sync 0;\n" + load;
  EXPECT_EQ(rule_for(body, Mutation::delete_proxy_fence, 0), "fence beside");
  EXPECT_EQ(rule_for(body, Mutation::delete_proxy_fence, 1),
            "");  // the narrow one does not cover the wide one
}

TEST(Equivalence, InitsOfOneKind) {
  const auto inits = [](const char* second) {
    return std::string(
               "  @%p0 mbarrier.init.shared::cta.b64 [full], 1;\n  @%p0 mbarrier.init.shared::cta.b64 "
               "[empty], ") +
           second + ";\n  fence.mbarrier_init.release.cluster;\n  bar.sync 0;\n" + load;
  };
  EXPECT_EQ(rule_for(inits("1"), Mutation::swap_mbarriers), "order alone");
  EXPECT_EQ(rule_for(inits("2"), Mutation::swap_mbarriers), "");
  EXPECT_EQ(rule_for(inits("2"), Mutation::delete_init_fence), "init published");
}

// One thread signals to all that their data are there, by an arrival whose announced bytes do not matter.
std::string signalled(const std::string& data) {
  return "  @%p0 mbarrier.init.shared::cta.b64 [full], 1;\n  bar.sync 0;\n" + mine +
         "  setp.ne.u32 %p2, %r0, 0;\n" + "  @%p2 bra $wait;\n" + data + R"(
  mbarrier.arrive.expect_tx.shared::cta.b64 _, [full], 0;
$wait:
  mbarrier.try_wait.parity.shared::cta.b64 %p1, [full], 0;
  @!%p1 bra $wait;
  mov.u32 %r5, tile;
  ld.shared.u32 %r4, [%r5];
)";
}

TEST(Equivalence, AnArrivalThatAnnouncesMayStillPublish) {
  EXPECT_EQ(rule_for(signalled(store), Mutation::relaxed_release), "");
  EXPECT_EQ(rule_for(signalled("  add.u32 %r6, %r0, 1;\n"), Mutation::relaxed_release), "nothing to release");
}

}  // namespace
}  // namespace palladion::sim::check
