// Operators and rules of equivalence for tcgen05.
#include <gmock/gmock.h>

#include <algorithm>

#include "sim/mutate/equivalence.h"
#include "tests/sim/ptx_runner.h"

namespace palladion::sim::check {
namespace {

using sim::testing::PtxRunner;

// Each warp stores its lanes and loads them again; `body` is what follows.
std::string tensor_kernel(const std::string& body) {
  return R"(.version 8.7
.target sm_100a
.address_size 64
.visible .entry k(.param .u64 out)
{
  .reg .pred %p<4>;
  .reg .b32 %r<16>;
  .reg .b64 %rd<4>;
  .shared .align 4 .b32 base;
  ld.param.u64 %rd0, [out];
  mov.u32 %r0, %tid.x;
  shr.u32 %r1, %r0, 5;
  setp.eq.u32 %p0, %r1, 0;
  @%p0 tcgen05.alloc.cta_group::1.sync.aligned.shared::cta.b32 [base], 32;
  bar.sync 0;
  ld.shared.b32 %r2, [base];
  shl.b32 %r3, %r1, 21;
  add.u32 %r3, %r3, %r2;
)" + body +
         R"(
  @%p0 tcgen05.dealloc.cta_group::1.sync.aligned.b32 %r2, 32;
  ret;
}
)";
}

// The rule that calls the n-th mutant of the operator equivalent; empty: none does.
std::string tensor_rule_for(const std::string& body, Mutation mutation, size_t n = 0) {
  const isa::ArchSpec& b200 = *isa::find_arch("b200");
  std::vector<uint32_t> out(1024);
  PtxRunner runner(tensor_kernel(body), b200);
  runner.array(out, "out").shape({1, 1, 1}, {128, 1, 1});
  const isa::Module& module = *runner.launch.module;
  RunFacts facts(module);
  RunOptions options;
  options.observer = &facts;
  const RunResult result = runner.run(options);
  EXPECT_TRUE(result.completed) << PtxRunner::describe(result);
  std::vector<Mutant> all = mutants_of(module, b200);
  std::erase_if(all, [&](const Mutant& m) { return m.mutation != mutation; });
  if (n >= all.size()) return "no such mutant";
  const EquivalenceRule* rule = equivalent(module, b200, facts, all[n]);
  return rule == nullptr ? "" : std::string(rule->name);
}

const std::string tensor_store =
    "  tcgen05.st.sync.aligned.32x32b.x1.b32 [%r3], {%r0};\n  tcgen05.wait::st.sync.aligned;\n";
const std::string tensor_load =
    "  tcgen05.ld.sync.aligned.32x32b.x1.b32 {%r4}, [%r3];\n  tcgen05.wait::ld.sync.aligned;\n";
const std::string before = "  tcgen05.fence::before_thread_sync;\n";
const std::string after = "  tcgen05.fence::after_thread_sync;\n";
const std::string barrier = "  bar.sync 0;\n";

TEST(TensorEquivalence, AWaitForWhatTheKernelHasNot) {
  const std::string body = tensor_store + "  tcgen05.wait::ld.sync.aligned;\n" + before + barrier;
  EXPECT_EQ(tensor_rule_for(body, Mutation::delete_tensor_wait, 0), "");
  EXPECT_EQ(tensor_rule_for(body, Mutation::delete_tensor_wait, 1), "nothing to wait for");
}

TEST(TensorEquivalence, FencesBeforeTheEnd) {
  const std::string body = tensor_store + before + barrier + after + tensor_load + before + barrier + after;
  for (const size_t needed : {0U, 1U})
    EXPECT_EQ(tensor_rule_for(body, Mutation::delete_tensor_fence, needed), "") << needed;
  for (const size_t last : {2U, 3U})
    EXPECT_EQ(tensor_rule_for(body, Mutation::delete_tensor_fence, last), "no tensor access follows") << last;
}

// The first barrier is before the wait: it does not pass on what the wait completed. Here no warp needs that:
// each touches its own lanes.
TEST(TensorEquivalence, AWaitBetweenTwoBarriersNeedsTheSecond) {
  const std::string body = "  tcgen05.st.sync.aligned.32x32b.x1.b32 [%r3], {%r0};\n" + barrier +
                           "  tcgen05.wait::st.sync.aligned;\n" + before + barrier + after + tensor_load +
                           before + barrier;
  EXPECT_EQ(tensor_rule_for(body, Mutation::delete_barrier, 2), "ordered without the barrier");
}

TEST(TensorEquivalence, AFenceBeforeAnother) {
  const std::string body =
      tensor_store + before + barrier + after + barrier + after + tensor_load + before + barrier;
  EXPECT_EQ(tensor_rule_for(body, Mutation::delete_tensor_fence, 1), "later fence follows");
  EXPECT_EQ(tensor_rule_for(body, Mutation::delete_tensor_fence, 2), "");
}

// Each thread writes a word, and reads that of a thread of another warp.
TEST(TensorEquivalence, ABarrierThatAnotherOneReplaces) {
  const std::string write =
      "  .shared .align 16 .b32 words[128];\n  mov.u32 %r6, words;\n  shl.b32 %r7, %r0, 2;\n"
      "  add.u32 %r8, %r6, %r7;\n  st.shared.b32 [%r8], %r0;\n";
  const std::string read =
      "  xor.b32 %r9, %r7, 128;\n  add.u32 %r9, %r9, %r6;\n  ld.shared.b32 %r10, [%r9];\n";
  const std::string stored = tensor_store + write + barrier, loaded = tensor_load + before + barrier;
  EXPECT_EQ(tensor_rule_for(stored + loaded + read, Mutation::delete_barrier, 1),
            "ordered without the barrier");
  EXPECT_EQ(tensor_rule_for(stored + read + loaded, Mutation::delete_barrier, 1), "");
}

TEST(TensorEquivalence, ARelaxedWaitForCommitsAlone) {
  const auto wait_for = [](const std::string& arrival) {
    return "  .shared .align 8 .b64 done;\n  setp.eq.u32 %p1, %r0, 0;\n"
           "  @%p1 mbarrier.init.shared::cta.b64 [done], 1;\n" +
           tensor_store + before + barrier + after + "  @%p1 " + arrival +
           "WAIT:\n  mbarrier.try_wait.parity.shared::cta.b64 %p2, [done], 0;\n  @!%p2 bra WAIT;\n" + after +
           tensor_load + before + barrier;
  };
  EXPECT_EQ(tensor_rule_for(
                wait_for("tcgen05.commit.cta_group::1.mbarrier::arrive::one.shared::cluster.b64 [done];\n"),
                Mutation::relaxed_acquire),
            "commits alone");
  EXPECT_EQ(
      tensor_rule_for(wait_for("mbarrier.arrive.shared::cta.b64 _, [done];\n"), Mutation::relaxed_acquire),
      "");
}

TEST(TensorEquivalence, ACommitIsAnOperatorsOwn) {
  const std::string body = "  setp.eq.u32 %p1, %r0, 0;\n  mov.u32 %r5, 0;\n" + barrier;
  EXPECT_EQ(tensor_rule_for(body, Mutation::delete_tensor_commit), "no such mutant");
}

}  // namespace
}  // namespace palladion::sim::check
