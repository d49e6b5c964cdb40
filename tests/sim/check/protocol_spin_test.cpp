// Loops that wait for memory: when they are given up, and what they are said to wait for.
#include "sim/launch/phrases/phrase.h"
#include "tests/sim/check/protocol_run.h"

namespace palladion::sim::testing {
namespace {

using ::testing::ElementsAre;

std::string spin(const std::string& load) {
  return with_mbarriers("$spin:\n  " + load + R"(
  setp.ne.u32 %p2, %r5, 1;
  @%p2 bra $spin;
  ret;)",
                        1, 1);
}

TEST(ProtocolSpin, SpinsAreRecognisedInLittleWork) {
  for (const char* load : {"ld.volatile.shared.u32 %r5, [tile];", "ld.acquire.gpu.global.u32 %r5, [%rd1];"}) {
    for (const RunOptions& o : every_schedule()) {
      const Checked c = run_checked(spin(load), {256, 1, 1}, {}, o);
      ASSERT_THAT(codes(c), ElementsAre("PLD3080")) << name(o.schedule) << ' ' << load;
      EXPECT_LT(c.result.instructions, 20'000'000U) << name(o.schedule) << ' ' << load;
    }
  }
}

TEST(ProtocolSpin, ALoopThatCouldSeeNoChangeIsNamedSo) {
  for (const char* body :
       {"$spin: bra.uni $spin;", "$spin:\n  ld.global.u32 %r5, [%rd1];\n  bra.uni $spin;"}) {
    for (const RunOptions& o : every_schedule()) {
      const Checked c = run_checked(with_mbarriers(body, 1, 1), {256, 1, 1}, {}, o);
      ASSERT_THAT(codes(c), ElementsAre("PLD3080")) << name(o.schedule) << ' ' << body;
      EXPECT_EQ(c.result.findings[0].message.phrase, Phrase::loop_without_look) << body;
      EXPECT_LT(c.result.instructions, 100'000U) << name(o.schedule) << ' ' << body;
    }
  }
}

// The finding says which word of memory lanes spin on, and what it holds.
TEST(ProtocolSpin, ASpinNamesItsAddressAndValue) {
  const Checked shared = run_checked(spin("ld.volatile.shared.u32 %r5, [tile+4];"), {32, 1, 1});
  ASSERT_THAT(codes(shared), ElementsAre("PLD3080"));
  const Finding& in_shared = shared.result.findings[0];
  EXPECT_EQ(in_shared.message.phrase, Phrase::spin_of_all);
  EXPECT_EQ(in_shared.help.phrase, Phrase::write_by_other);
  const BlockedWait& tile = *in_shared.sites.at(0).wait;
  EXPECT_EQ(tile.object.kind, Object::Kind::shared_memory);
  EXPECT_EQ(tile.object.names.at(0).name, "tile");
  EXPECT_EQ(tile.object.names[0].bytes, (std::vector<Range>{{4, 8}}));
  EXPECT_EQ(tile.value, 0U);

  const Checked polls = run_checked(spin("atom.global.or.b32 %r5, [%rd1+8], 0;"), {64, 1, 1});
  ASSERT_THAT(codes(polls), ElementsAre("PLD3080"));
  const BlockedWait& word = *polls.result.findings[0].sites.at(0).wait;
  EXPECT_EQ(word.kind, BlockedWait::Kind::memory);
  EXPECT_EQ(word.object.kind, Object::Kind::global_memory);
  EXPECT_EQ(word.object.names.at(0).bytes, (std::vector<Range>{{8, 12}}));
  EXPECT_EQ(word.alike, 2U);
}

// Pinned or managed memory, read at .sys scope: the host may write there, which is not simulated.
TEST(ProtocolSpin, AWaitForTheHostIsUnsupported) {
  const auto polls = [](const std::string& load, bool host_writes, check::Checker* checker) {
    std::vector<uint32_t> array(64);
    PtxRunner runner(ptx(spin(load)));
    runner.array(array).shape({1, 1, 1}, {64, 1, 1});
    runner.machine().memory().for_each([&](const Allocation& a) {
      if (host_writes) runner.machine().memory().share_with_host(a.base);
    });
    RunOptions options;
    options.observer = checker;
    RunResult r = runner.run(options);
    EXPECT_EQ(r.findings.size(), 1U);
    return r.findings.at(0);
  };
  check::Checker checker({.race = false, .barrier = true, .memory = false, .numerics = false});
  for (check::Checker* const c : {&checker, static_cast<check::Checker*>(nullptr)}) {
    for (const char* const load :
         {"ld.volatile.global.u32 %r5, [%rd1+12];", "atom.sys.global.or.b32 %r5, [%rd1+12], 0;"}) {
      const Finding host = polls(load, true, c);
      EXPECT_EQ(host.code, "PLD3081") << load;
      EXPECT_EQ(host.severity, FindingSeverity::unsupported);
      EXPECT_TRUE(std::get<Deadlock>(host.what).for_host);
      EXPECT_EQ(host.sites.at(0).wait->object.names.at(0).bytes, (std::vector<Range>{{12, 16}}));
      EXPECT_EQ(host.sites[0].wait->value, 0U);
      EXPECT_EQ(polls(load, false, c).code, "PLD3080") << "the device's own memory";
    }
    EXPECT_EQ(polls("ld.acquire.gpu.global.u32 %r5, [%rd1+12];", true, c).code, "PLD3080")
        << "not the host's scope";
  }
}

TEST(ProtocolSpin, WithoutACheckerASpinNamesItsAddressToo) {
  std::vector<uint32_t> array(64, 7);
  PtxRunner runner(ptx(spin("ld.acquire.gpu.global.u32 %r5, [%rd1+12];")));
  const RunResult r = runner.array(array).shape({1, 1, 1}, {32, 1, 1}).run();
  ASSERT_EQ(r.findings.size(), 1U);
  EXPECT_EQ(r.findings[0].code, "PLD3080");
  EXPECT_EQ(r.findings[0].sites.at(0).wait->object.names.at(0).bytes, (std::vector<Range>{{12, 16}}));
  EXPECT_EQ(r.findings[0].sites[0].wait->value, 7U);
}

// Lanes that only follow the spinning one to a barrier do not hold up the write: another thread would.
TEST(ProtocolSpin, LanesThatWriteNothingAreNotTheCauseOfASpin) {
  const auto spins_beside = [](const std::string& behind) {
    return run_checked(with_mbarriers(R"(
  mov.u32 %r3, %tid.x;
  setp.ne.u32 %p2, %r3, 0;
  @%p2 bra $met;
$spin:
  ld.acquire.gpu.global.u32 %r5, [%rd1];
  setp.ne.u32 %p3, %r5, 1000;
  @%p3 bra $spin;
$met:
  bar.warp.sync 0xffffffff;
)" + behind + "\n  ret;",
                                      1, 1),
                       {32, 1, 1});
  };
  EXPECT_THAT(codes(spins_beside("st.global.f64 [%rd1+8], 0d0000000000000000;")), ElementsAre("PLD3080"));
  EXPECT_THAT(codes(spins_beside("st.relaxed.gpu.global.u32 [%rd1], 1000;")), ElementsAre("PLD4908"));
}

// A barrier of the whole grid, made of a counter, in a grid that is larger than the device. What the waiting
// lanes do behind it is in another array.
TEST(ProtocolSpin, AGridBarrierOfTooManyCtasNamesThoseThatHaveNoRoom) {
  const auto barrier = [](const std::string& count, uint32_t ctas, const std::string& first = {}) {
    std::vector<uint32_t> array(64), output(1 << 16);
    PtxRunner runner(ptx(R"(
.visible .entry k(.param .u64 array, .param .u64 output) {
  .reg .pred %p<3>; .reg .b32 %r<8>; .reg .b64 %rd<8>;
  ld.param.u64 %rd1, [array];
  ld.param.u64 %rd2, [output];
  mov.u32 %r1, %tid.x;
  mov.u32 %r2, %nctaid.x;
)" + first + R"(
  setp.ne.u32 %p1, %r1, 0;
  @%p1 bra $met;
  fence.acq_rel.gpu;
  red.relaxed.gpu.global.add.u32 [%rd1], 1;
$spin:
  ld.volatile.global.u32 %r3, [%rd1];
  setp.lt.u32 %p2, %r3, )" +
                         count + R"(;
  @%p2 bra $spin;
  fence.acq_rel.gpu;
$met:
  bar.sync 0;
  mov.u32 %r4, %ctaid.x;
  mad.lo.u32 %r4, %r4, 32, %r1;
  mul.wide.u32 %rd3, %r4, 4;
  add.u64 %rd3, %rd2, %rd3;
  st.global.u32 [%rd3], %r1;
  ret;
}
)"));
    runner.array(array).array(output).shape({ctas, 1, 1}, {32, 1, 1});
    runner.launch.dynamic_shared = 200 << 10;  // one on each SM
    check::Checker checker;
    RunOptions options;
    options.observer = &checker;
    const RunResult r = runner.run(options);
    return r.findings;
  };
  const auto code = [](const std::vector<Finding>& f) { return f.size() == 1 ? f[0].code.name() : ""; };
  const auto exited = [](const Finding& f) {
    const auto note = std::ranges::find(f.notes, Phrase::clusters_exited, &Statement::phrase);
    return note == f.notes.end() ? int64_t{0} : std::get<int64_t>(note->values.at(0));
  };
  EXPECT_THAT(barrier("%r2", 100), ::testing::IsEmpty());
  EXPECT_EQ(code(barrier("%r2", 200)), "PLD4905");
  const std::vector<Finding> none = barrier("1000", 100);  // all run, and none can end it
  ASSERT_EQ(code(none), "PLD3080");
  EXPECT_EQ(exited(none[0]), 0);
  const std::vector<Finding> early =
      barrier("%r2", 100, "  mov.u32 %r5, %ctaid.x;\n  setp.eq.u32 %p1, %r5, 3;\n  @%p1 ret;\n");
  ASSERT_EQ(code(early), "PLD3080");
  EXPECT_EQ(exited(early[0]), 1);
}

// A spin that ends by itself, after far more polls than a spin that cannot end is given.
TEST(ProtocolSpin, ASpinThatCountsGoesOn) {
  const Checked c = run_checked(with_mbarriers(R"(
  mov.u32 %r6, 0;
$spin:
  ld.volatile.shared.u32 %r5, [tile];
  add.u32 %r6, %r6, 1;
  setp.lt.u32 %p2, %r6, 500000;
  @%p2 bra $spin;
  ret;)",
                                               1, 1),
                                {64, 1, 1});
  EXPECT_THAT(codes(c), ::testing::IsEmpty()) << PtxRunner::describe(c.result);
}

// CTAs that have not started cannot end it: shared memory belongs to one.
TEST(ProtocolSpin, ASpinOnSharedMemoryDoesNotWaitForCtasThatHaveNoRoom) {
  std::vector<uint32_t> array(64);
  PtxRunner runner(ptx(with_mbarriers(R"(
  st.volatile.shared.u32 [tile], 0;
$spin:
  ld.volatile.shared.u32 %r5, [tile];
  setp.eq.u32 %p2, %r5, 0;
  @%p2 bra $spin;
  ret;)",
                                      1, 1)));
  runner.array(array).shape({200, 1, 1}, {32, 1, 1});
  runner.launch.dynamic_shared = 200 << 10;  // one on each SM
  check::Checker checker;
  RunOptions options;
  options.observer = &checker;
  const RunResult r = runner.run(options);
  ASSERT_FALSE(r.findings.empty());
  EXPECT_EQ(r.findings[0].code, "PLD3080");
  EXPECT_EQ(r.findings[0].message.phrase, Phrase::spin_of_all);
}

}  // namespace
}  // namespace palladion::sim::testing
