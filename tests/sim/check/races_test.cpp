// Races of generic accesses that the zoo has no pair for.
#include <gmock/gmock.h>

#include <algorithm>
#include <set>

#include "report/text/finding_text.h"
#include "sim/check/checker.h"
#include "sim/launch/phrases/phrase.h"
#include "tests/sim/ptx_runner.h"

namespace palladion::sim::testing {
namespace {

using ::testing::ElementsAre;

// Two warps, without a barrier between them; `body` has a place of shared memory at [place].
RunResult races(const std::string& body, const RunOptions& how = {}) {
  std::vector<uint32_t> array(64);
  PtxRunner runner(ptx(R"(
.visible .entry k(.param .u64 array) {
  .shared .align 16 .b8 place[16];
  .reg .pred %p<3>; .reg .b32 %r<8>; .reg .b64 %rd<4>;
  ld.param.u64 %rd1, [array];
  mov.u32 %r1, %tid.x;
  shr.u32 %r2, %r1, 5;
)" + body + "\n  ret;\n}\n.file 1 \"kernel.py\"\n"));
  runner.array(array).shape({}, {64, 1, 1});
  check::Checker checker({.race = true, .barrier = false, .memory = true, .numerics = false});
  RunOptions options = how;
  options.observer = &checker;
  options.threads = 1;  // kernels that race would race in the host's memory, too
  return runner.run(options);
}

bool is_whole_place(const Object& object) {
  return object.names.size() == 1 && object.names[0].name == "place" &&
         (object.names[0].bytes.empty() || object.names[0].bytes == std::vector<Range>{{0, 16}});
}

TEST(Races, StoresOfOneValueAreStrict) {
  for (const RunOptions& how : every_schedule()) {
    const RunResult r = races("mov.u32 %r3, 7; st.shared.v2.u32 [place], {%r3, 8};", how);
    ASSERT_EQ(r.findings.size(), 1u);
    EXPECT_EQ(r.findings[0].code, "PLD4001");
    EXPECT_EQ(r.findings[0].severity, FindingSeverity::strict);
    EXPECT_TRUE(std::get<Race>(r.findings[0].what).equal_values);
  }
}

TEST(Races, StoresOfDifferentValuesAreErrors) {
  const RunResult r = races("st.shared.v2.u32 [place], {7, %r2};");
  ASSERT_EQ(r.findings.size(), 1u);
  EXPECT_EQ(r.findings[0].code, "PLD4001");
  EXPECT_EQ(r.findings[0].severity, FindingSeverity::error);
}

// The first round stores one value, the second two: the same pair of instructions is reported as both.
TEST(Races, OneValueDoesNotHideAnother) {
  const RunResult r = races(R"(
  mov.u32 %r3, 0;
AGAIN:
  mul.lo.u32 %r4, %r3, %r2;
  st.shared.u32 [place], %r4;
  bar.sync 0;
  add.u32 %r3, %r3, 1;
  setp.lt.u32 %p1, %r3, 2;
  @%p1 bra AGAIN;
)");
  ASSERT_EQ(r.findings.size(), 2u);
  EXPECT_EQ(r.findings[0].severity, FindingSeverity::error);
  EXPECT_EQ(r.findings[1].severity, FindingSeverity::strict);
}

TEST(Races, AReadOfTheValueIsAnError) {
  const RunResult r = races(R"(
  setp.eq.u32 %p1, %r2, 0;
  @%p1 st.shared.u32 [place], 0;
  @!%p1 ld.shared.u32 %r3, [place];
)");
  ASSERT_FALSE(r.findings.empty());
  for (const Finding& f : r.findings)
    EXPECT_EQ(f.severity, FindingSeverity::error) << report::finding_text(f);
}

// Of one code 200 findings are kept; they leave room for those of others.
TEST(Races, ManyOfOneKindDoNotHideAnother) {
  std::string body = "ld.shared.u32 %r4, [place+12];\n  st.global.u32 [%rd1], %r4;\n";
  for (int i = 0; i < 250; ++i) body += "  st.shared.u32 [place], 7;\n";
  const RunResult r = races(body);
  EXPECT_TRUE(std::ranges::any_of(r.findings, [](const Finding& f) { return f.code == "PLD6101"; }));
}

TEST(Races, InGlobalMemoryStoresOfOneValueAreStrict) {
  for (const RunOptions& how : every_schedule()) {
    const RunResult r = races("st.global.u32 [%rd1], 7;", how);
    ASSERT_EQ(r.findings.size(), 1u);
    EXPECT_EQ(r.findings[0].code, "PLD6001");
    EXPECT_EQ(r.findings[0].severity, FindingSeverity::strict);
    EXPECT_TRUE(std::get<Race>(r.findings[0].what).equal_values);
  }
}

// Two instructions have read each of the bytes that lanes store then: each finding has all of them.
TEST(Races, RangesAreWholeWhereSeveralEarlierAccessesTouchedAWord) {
  const RunResult r = races(R"(
  setp.ge.u32 %p1, %r1, 4;
  @%p1 ret;
  mov.u32 %r3, place;
  shl.b32 %r4, %r1, 2;
  add.u32 %r3, %r3, %r4;
  st.shared.u32 [%r3], %r1;
  bar.warp.sync 15;
  xor.b32 %r4, %r3, 4;
  ld.shared.u32 %r5, [%r4];
  xor.b32 %r4, %r3, 8;
  ld.shared.u32 %r6, [%r4];
  st.shared.u32 [%r3], %r5;)");
  ASSERT_EQ(r.findings.size(), 1U);
  EXPECT_EQ(r.findings[0].code, "PLD4611");
  ASSERT_EQ(r.findings[0].object.names.size(), 1U);
  EXPECT_TRUE(r.findings[0].object.names[0].bytes.empty()) << "all 16 bytes";
}

// Lane 0 writes, then all lanes read its word: the finding names a lane that did not write it.
TEST(Races, OfLanesThatReadOneWordTheOneThatWroteItIsNotNamed) {
  const RunResult r = races(R"(
  setp.ge.u32 %p1, %r1, 32;
  @%p1 ret;
  setp.eq.u32 %p2, %r1, 0;
  mov.u32 %r3, place;
  @%p2 st.shared.u32 [%r3], %r1;
  ld.shared.u32 %r4, [%r3];
  st.global.u32 [%rd1+4], %r4;)");
  const auto found = std::ranges::find(r.findings, isa::CodeNumber("PLD4611"), &Finding::code);
  ASSERT_NE(found, r.findings.end());
  EXPECT_EQ(found->sites[0].lanes & found->sites[1].lanes, 0U);
}

// The lanes of one store need no barrier between them where they store one value, or each has an address of
// its own. Of different values PTX leaves open which one stays.
TEST(Races, LanesOfOneStoreThatWriteDifferentValuesToOneAddressAreAnError) {
  const auto store = [](const std::string& stored) {
    return races(R"(
  setp.ge.u32 %p1, %r1, 32;
  @%p1 ret;
  shr.u32 %r3, %r1, 3;
  mul.wide.u32 %rd2, %r3, 4;
  add.u64 %rd1, %rd1, %rd2;
  mov.u32 %r4, place;
  shl.b32 %r5, %r3, 2;
  add.u32 %r4, %r4, %r5;
)" + stored);
  };
  for (const char* const space : {"global.u32 [%rd1], ", "shared.u32 [%r4], ", "shared.u32 [place], "}) {
    const RunResult r = store(std::string("st.") + space + "%r1;");
    ASSERT_EQ(r.findings.size(), 1u) << space;
    EXPECT_EQ(r.findings[0].code, "PLD4612");
    EXPECT_EQ(r.findings[0].severity, FindingSeverity::error);
    ASSERT_EQ(r.findings[0].sites.size(), 1u);
    ASSERT_EQ(r.findings[0].notes.size(), 1u);
    EXPECT_EQ(std::get<std::string>(r.findings[0].notes[0].values.at(2)), "0x00000000");
    EXPECT_EQ(std::get<std::string>(r.findings[0].notes[0].values.at(4)), "0x00000001");
    EXPECT_TRUE(store(std::string("st.volatile.") + space + "%r1;").findings.empty()) << "strong stores";
  }
  EXPECT_TRUE(store("st.global.u32 [%rd1], %r3;").findings.empty());
  EXPECT_TRUE(store("st.shared.u32 [%r4], %r3;").findings.empty());
  EXPECT_TRUE(store("st.shared.u32 [place], 5;").findings.empty());
  const RunResult vectors = store("st.shared.v2.u32 [place], {%r3, %r1};");
  ASSERT_EQ(vectors.findings.size(), 1u);
  ASSERT_EQ(vectors.findings[0].notes.size(), 1u);
  EXPECT_EQ(std::get<std::string>(vectors.findings[0].notes[0].values.at(4)), "0x0000000100000000");
}

// The lanes of a warp that took another way store their values later: four groups of eight, the first lane of
// each apart.
TEST(Races, InGlobalMemoryPartsOfAWarpThatStoreTheSameAreStrict) {
  const auto groups = [](const std::string& value) {
    return races(R"(
  setp.ge.u32 %p1, %r1, 32;
  @%p1 ret;
  shr.u32 %r3, %r1, 3;
  mul.wide.u32 %rd2, %r3, 4;
  add.u64 %rd1, %rd1, %rd2;
  and.b32 %r4, %r1, 7;
  setp.eq.u32 %p2, %r4, 0;
  @%p2 bra FIRST;
  st.global.u32 [%rd1], )" +
                 value + R"(;
  ret;
FIRST:
  st.global.u32 [%rd1], )" +
                 value + ";");
  };
  const RunResult same = groups("%r3");
  ASSERT_EQ(same.findings.size(), 1u);
  EXPECT_EQ(same.findings[0].code, "PLD4611");
  EXPECT_EQ(same.findings[0].severity, FindingSeverity::strict);
  const RunResult other = groups("%r4");
  ASSERT_FALSE(other.findings.empty());
  EXPECT_EQ(other.findings[0].severity, FindingSeverity::error);
}

TEST(Races, InGlobalMemoryStoresOfDifferentValuesAreErrors) {
  const RunResult r = races("st.global.u32 [%rd1], %r2;");
  ASSERT_EQ(r.findings.size(), 1u);
  EXPECT_EQ(r.findings[0].severity, FindingSeverity::error);
  EXPECT_EQ(r.findings[0].help.phrase, Phrase::barrier_or_owner);
}

// Eight instructions that read what the other warp writes: one finding with their ranges.
TEST(Races, OneMissingBarrierIsOneFinding) {
  std::string body =
      "setp.ne.u32 %p1, %r2, 0;\n  @%p1 bra READ;\n  st.shared.v4.u32 [place], {1, 2, 3, 4};\n  "
      "ret;\nREAD:\n";
  for (int i = 0; i < 4; ++i) body += "  ld.shared.u32 %r3, [place+" + std::to_string(4 * i) + "];\n";
  const RunResult r = races(body);
  const auto race = std::ranges::find(r.findings, isa::CodeNumber("PLD4001"), &Finding::code);
  ASSERT_NE(race, r.findings.end());
  EXPECT_EQ(std::ranges::count(r.findings, isa::CodeNumber("PLD4001"), &Finding::code), 1);
  EXPECT_EQ(race->object.names.at(0).name, "place");
  EXPECT_EQ(race->also.size(), 3u);
}

// One line of the author's became four stores, and another one four loads of the same words.
TEST(Races, TwoLinesOfTheSourceAreOneFinding) {
  std::string body = "setp.ne.u32 %p1, %r2, 0;\n  @%p1 bra READ;\n";
  for (int i = 0; i < 4; ++i)
    body += ".loc 1 7 0\n  setp.ne.u32 %p2, %r1, 77;\n" + std::string(i < 2 ? "  @%p2" : "  @!%p1") +
            " st.shared.u32 [place+" + std::to_string(4 * i) + "], " + std::to_string(i) + ";\n";
  body += "  ret;\nREAD:\n";
  for (int i = 0; i < 4; ++i)
    body += ".loc 1 9 0\n  ld.shared.u32 %r3, [place+" + std::to_string(4 * i) + "];\n";
  const RunResult r = races(body);
  ASSERT_EQ(std::ranges::count(r.findings, isa::CodeNumber("PLD4001"), &Finding::code), 1);
  const auto race = std::ranges::find(r.findings, isa::CodeNumber("PLD4001"), &Finding::code);
  EXPECT_TRUE(is_whole_place(race->object));
  EXPECT_EQ(race->also.size(), 3u);
}

// Four stores and the four loads of the other warp, each of its own word: one barrier between the stores and
// the loads is missing, or one for each pair.
TEST(Races, TwoStretchesOfTheTextAreOneFinding) {
  const auto findings_of = [](bool in_turns) {
    std::string stores, loads;
    std::string body = "setp.ne.u32 %p1, %r2, 0;\n";
    for (int i = 0; i < 4; ++i) {
      const std::string place = "[place+" + std::to_string(4 * i) + "]";
      stores += "  @!%p1 st.shared.u32 " + place + ", " + std::to_string(i) + ";\n";
      loads += "  @%p1 ld.shared.u32 %r3, " + place + ";\n";
      if (in_turns) body += std::exchange(stores, "") + std::exchange(loads, "");
    }
    return races(body + stores + loads).findings;
  };
  const std::vector<Finding> apart = findings_of(false);
  ASSERT_EQ(std::ranges::count(apart, isa::CodeNumber("PLD4001"), &Finding::code), 1);
  const auto race = std::ranges::find(apart, isa::CodeNumber("PLD4001"), &Finding::code);
  EXPECT_TRUE(is_whole_place(race->object));
  EXPECT_EQ(race->also.size(), 3u);
  const std::vector<Finding> in_turns = findings_of(true);
  EXPECT_EQ(std::ranges::count(in_turns, isa::CodeNumber("PLD4001"), &Finding::code), 4);
}

// Four stores that both warps execute: each races with itself.
TEST(Races, StoresThatRaceWithThemselvesAreOneFinding) {
  std::string body;
  for (int i = 0; i < 4; ++i) body += "  st.shared.u32 [place+" + std::to_string(4 * i) + "], %r2;\n";
  const RunResult r = races(body);
  ASSERT_EQ(r.findings.size(), 1u);
  EXPECT_EQ(r.findings[0].code, "PLD4001");
  EXPECT_TRUE(is_whole_place(r.findings[0].object));
  EXPECT_EQ(r.findings[0].also.size(), 3u);
}

// One warp stores what the other one adds to: no flag is meant.
TEST(Races, APlainStoreBesideAnAtomicIsNamed) {
  const RunResult r = races(R"(
  setp.ne.u32 %p1, %r2, 0;
  @%p1 bra ADD;
  st.global.u32 [%rd1], %r1;
  ret;
ADD:
  red.global.add.u32 [%rd1], 1;)");
  const auto found = std::ranges::find(r.findings, isa::CodeNumber("PLD6002"), &Finding::code);
  ASSERT_NE(found, r.findings.end());
  EXPECT_EQ(found->message.phrase, Phrase::store_and_atomic);
  EXPECT_EQ(found->help.phrase, Phrase::order_or_store_atomically);
}

// CTA 0 clears a counter by a plain store, and all CTAs add to it: the first one's own addition does not hide
// the store. Where the others wait for a flag behind the store, it is ordered.
TEST(Races, APlainStoreStaysBehindTheSameThreadsAtomic) {
  const auto codes_with = [](const std::string& behind, const std::string& before) {
    std::vector<uint32_t> array(64);
    PtxRunner runner(ptx(R"(
.visible .entry k(.param .u64 array) {
  .reg .pred %p<3>; .reg .b32 %r<8>; .reg .b64 %rd<4>;
  ld.param.u64 %rd1, [array];
  mov.u32 %r1, %ctaid.x;
  setp.ne.u32 %p1, %r1, 0;
  @%p1 bra ADD;
  st.global.u32 [%rd1], 0;
)" + behind + "  red.global.add.u32 [%rd1], 1;\n  ret;\nADD:\n" +
                         before + "  red.global.add.u32 [%rd1], 1;\n  ret;\n}\n"));
    runner.array(array).shape({4, 1, 1}, {1, 1, 1});
    check::Checker checker({.race = true, .barrier = false, .memory = true, .numerics = false});
    RunOptions options;
    options.observer = &checker;
    options.threads = 1;  // kernels that race would race in the host's memory, too
    std::vector<std::string> codes;
    for (const Finding& f : runner.run(options).findings) codes.push_back(f.code.name());
    return codes;
  };
  EXPECT_EQ(codes_with("", ""), std::vector<std::string>{"PLD6002"});
  EXPECT_EQ(
      codes_with("  st.release.gpu.global.u32 [%rd1+4], 1;\n",
                 "WAIT:\n  ld.acquire.gpu.global.u32 %r2, [%rd1+4];\n  setp.eq.u32 %p2, %r2, 0;\n  @%p2 bra "
                 "WAIT;\n"),
      std::vector<std::string>{});
}

// Two CTAs store overlapping windows of one array, by two instructions: element i holds i in both.
TEST(Races, StoresOfEqualValuesByDifferentInstructionsOfTwoCtasAreStrict) {
  const auto windows = [](const std::string& value, const RunOptions& how) {
    std::vector<uint32_t> array(64);
    PtxRunner runner(ptx(R"(
.visible .entry k(.param .u64 array) {
  .reg .pred %p<3>; .reg .b32 %r<8>; .reg .b64 %rd<4>;
  ld.param.u64 %rd1, [array];
  mov.u32 %r1, %tid.x;
  mov.u32 %r2, %ctaid.x;
  mad.lo.u32 %r3, %r2, 5, %r1;
  mul.wide.u32 %rd2, %r3, 4;
  add.u64 %rd1, %rd1, %rd2;
  setp.eq.u32 %p1, %r2, 0;
  @%p1 st.global.u32 [%rd1], %r3;
  @!%p1 st.global.u32 [%rd1], )" +
                         value + ";\n  ret;\n}\n"));
    runner.array(array).shape({2, 1, 1}, {32, 1, 1});
    check::Checker checker({.race = true, .barrier = false, .memory = true, .numerics = false});
    RunOptions options = how;
    options.observer = &checker;
    options.threads = 1;  // kernels that race would race in the host's memory, too
    return runner.run(options);
  };
  for (const RunOptions& how : every_schedule()) {
    const RunResult same = windows("%r3", how);
    ASSERT_EQ(same.findings.size(), 1u);
    EXPECT_EQ(same.findings[0].code, "PLD6001");
    EXPECT_EQ(same.findings[0].severity, FindingSeverity::strict);
    const RunResult other = windows("%r1", how);
    ASSERT_EQ(other.findings.size(), 1u);
    EXPECT_EQ(other.findings[0].severity, FindingSeverity::error);
  }
}

// PTX: try_wait may return before the phase is complete. A loop waits; one that nobody asks for the answer
// does not.
TEST(Races, ATryWaitWithoutALoopIsNoWait) {
  const auto waits_by = [](const std::string& wait) {
    return races(R"(
  .shared .align 8 .b64 full;
  setp.eq.u32 %p1, %r1, 0;
  @%p1 mbarrier.init.shared.b64 [full], 32;
  bar.sync 0;
  setp.eq.u32 %p1, %r2, 0;
  @%p1 bra WRITE;
AGAIN:
  mbarrier.try_wait.parity.shared.b64 %p2, [full], 0;
)" + wait + R"(
  ld.shared.u32 %r3, [place];
  st.global.u32 [%rd1], %r3;
  ret;
WRITE:
  setp.eq.u32 %p1, %r1, 0;
  @%p1 st.shared.u32 [place], 1;
  bar.warp.sync -1;
  mbarrier.arrive.shared.b64 _, [full];)");
  };
  const auto codes = [](const RunResult& r) {
    std::set<std::string> names;
    for (const Finding& f : r.findings)
      if (std::holds_alternative<Race>(f.what) && f.severity == FindingSeverity::error)
        names.insert(f.code.name());
    return names;
  };
  EXPECT_TRUE(codes(waits_by("@!%p2 bra AGAIN;")).empty());
  EXPECT_EQ(codes(waits_by("")), std::set<std::string>{"PLD4001"});
}

}  // namespace
}  // namespace palladion::sim::testing
