// A plain access, then strong ones of the same thread: others race with the first, whatever came behind it.
#include <gmock/gmock.h>

#include "tests/sim/check/checked.h"

namespace palladion::sim::testing {
namespace {

using ::testing::IsEmpty;
using ::testing::Not;

// Warp 0 executes `first`, then warp 1 `then`, each on a word of its lane at [PLACE]; `between` stands
// between the two for both warps.
Codes two_warps(const std::string& first, const std::string& then, bool global,
                const std::string& between = "") {
  std::string body = R"(
  and.b32 %r3, %r1, 31;
  shl.b32 %r3, %r3, 2;
  mov.u32 %r4, tile;
  add.u32 %r4, %r4, %r3;
  cvt.u64.u32 %rd2, %r3;
  add.u64 %rd2, %rd1, %rd2;
  setp.ne.u32 %p1, %r2, 0;
  @!%p1 st.SPACE.u32 [PLACE], 0;
  bar.sync 0;
  @%p1 bra SECOND;
)" + first + between +
                     R"(
  bra.uni END;
SECOND:
)" + between + then + "\nEND:\n";
  const auto replace_all = [&](const std::string& word, const std::string& by) {
    for (size_t at; (at = body.find(word)) != std::string::npos;) body.replace(at, word.size(), by);
  };
  replace_all("SPACE", global ? "global" : "shared");
  replace_all("PLACE", global ? "%rd2" : "%r4");
  return codes_of(checked(body, {1, 1, 1}, {64, 1, 1}));
}

const std::string plain_store = "st.SPACE.u32 [PLACE], 7;\n", plain_load = "ld.SPACE.u32 %r5, [PLACE];\n",
                  volatile_store = "st.volatile.SPACE.u32 [PLACE], 5;\n",
                  volatile_load = "ld.volatile.SPACE.u32 %r5, [PLACE];\n",
                  add = "red.relaxed.gpu.SPACE.add.u32 [PLACE], 1;\n";

std::string times(size_t n, const std::string& one) {
  std::string out;
  for (size_t i = 0; i < n; ++i) out += one;
  return out;
}

TEST(HiddenAccesses, APlainStoreBeforeStrongOnesRaces) {
  for (const bool global : {false, true})
    for (const size_t n : {1, 2, 3})
      for (const std::string& strong : {volatile_store, add}) {
        EXPECT_THAT(two_warps(plain_store + times(n, strong), add, global), Not(IsEmpty())) << n << strong;
        EXPECT_THAT(two_warps(plain_store + times(n, strong), volatile_load, global), Not(IsEmpty()))
            << n << strong;
        EXPECT_THAT(two_warps(add + plain_store + times(n, strong), volatile_store, global), Not(IsEmpty()))
            << n;
      }
}

TEST(HiddenAccesses, APlainLoadBeforeStrongAccessesRaces) {
  for (const bool global : {false, true})
    for (const size_t n : {1, 2, 3}) {
      EXPECT_THAT(two_warps(plain_load + times(n, add), add, global), Not(IsEmpty())) << n;
      EXPECT_THAT(two_warps(plain_load + times(n, volatile_load), add, global), Not(IsEmpty())) << n;
    }
}

TEST(HiddenAccesses, ABarrierOrdersThemToo) {
  for (const bool global : {false, true}) {
    EXPECT_THAT(two_warps(plain_store + times(2, add), add + plain_load, global, "bar.sync 1, 64;\n"),
                IsEmpty());
    EXPECT_THAT(two_warps(plain_load + times(2, add), add + plain_store, global, "bar.sync 1, 64;\n"),
                IsEmpty());
  }
}

TEST(HiddenAccesses, StrongOnesAloneAgree) {
  for (const bool global : {false, true}) {
    EXPECT_THAT(two_warps(times(3, add), volatile_load, global), IsEmpty());
    EXPECT_THAT(two_warps(times(2, volatile_load) + add, volatile_store, global), IsEmpty());
  }
}

// An addition hides nothing of what others did from the plain load behind it.
TEST(HiddenAccesses, APlainLoadBehindAReductionRaces) {
  for (const bool global : {false, true}) {
    EXPECT_THAT(two_warps(add, add + plain_load, global), Not(IsEmpty()));
    EXPECT_THAT(two_warps(add, volatile_store + plain_load, global), Not(IsEmpty()));
    EXPECT_THAT(two_warps(volatile_load, add + plain_store, global), Not(IsEmpty()));
  }
}

// An exchange whose result nothing reads tells the program nothing of the order.
TEST(HiddenAccesses, APlainStoreBehindAnExchangeOfNoUseRaces) {
  const std::string exchange = "atom.relaxed.gpu.SPACE.exch.b32 %r6, [PLACE], 1;\n";
  for (const bool global : {false, true})
    EXPECT_THAT(two_warps(add, exchange + plain_store + exchange, global), Not(IsEmpty()));
}

// Whoever takes the last ticket comes behind all tickets, and may reset their counter by a plain store.
TEST(HiddenAccesses, AReadModifyWriteComesBehindTheOthers) {
  const auto with = [](const std::string& take) {
    return codes_of(checked(take + R"(
  setp.ne.u32 %p1, %r4, 3;
  @%p1 ret;
  st.global.u32 [%rd1], 0;
)",
                            {4, 1, 1}, {1, 1, 1}));
  };
  EXPECT_THAT(with("atom.relaxed.gpu.global.add.u32 %r4, [%rd1], 1;"), IsEmpty());
  EXPECT_THAT(with("red.relaxed.gpu.global.add.u32 [%rd1], 1; mov.u32 %r4, %r9;"), Not(IsEmpty()));
}

// Another CTA's threads are not in the scope of the first addition.
TEST(HiddenAccesses, AStrongAccessOfNarrowScopeRaces) {
  const auto two_ctas = [](const std::string& first) {
    return codes_of(checked(R"(
  setp.ne.u32 %p1, %r9, 0;
  @%p1 bra SECOND;
)" + first + R"(
  red.relaxed.gpu.global.add.u32 [%rd1], 1;
  ret;
SECOND:
  red.relaxed.gpu.global.add.u32 [%rd1], 1;
)",
                            {2, 1, 1}, {1, 1, 1}));
  };
  EXPECT_THAT(two_ctas("red.relaxed.gpu.global.add.u32 [%rd1], 1;"), IsEmpty());
  EXPECT_THAT(two_ctas("red.relaxed.cta.global.add.u32 [%rd1], 1;"), Not(IsEmpty()));
}

// Who polls the word may read it before the release, too: the acquire orders what lies behind it.
TEST(HiddenAccesses, AnAcquireDoesNotHideThePlainStoreInFrontOfItsRelease) {
  const auto polled = [](const std::string& space, const std::string& word, const std::string& first) {
    const bool shared = space == "shared";
    const std::string scope = shared ? "cta" : "gpu";
    return codes_of(
        checked((shared ? "  setp.eq.u32 %p1, %r1, 0;\n  @%p1 st.shared.u32 [tile], 0;\n  bar.sync 0;\n"
                          "  setp.eq.u32 %p1, %r2, 1;\n"
                        : "  setp.eq.u32 %p1, %r9, 1;\n") +
                    std::string("  @%p1 bra READER;\n") + first + "  st.release." + scope + "." + space +
                    ".u32 [" + word + "], 6;\n  ret;\nREADER:\n  ld.acquire." + scope + "." + space +
                    ".u32 %r3, [" + word + "];\n  setp.ne.u32 %p2, %r3, 6;\n  @%p2 bra READER;\n",
                {shared ? 1U : 2U, 1, 1}, {shared ? 64U : 1U, 1, 1}));
  };
  EXPECT_EQ(polled("global", "%rd1", "  st.global.u32 [%rd1], 5;\n"), Codes{"PLD6002"});
  EXPECT_EQ(polled("global", "%rd1", "  st.relaxed.gpu.global.u32 [%rd1], 5;\n"), Codes{});
  EXPECT_EQ(polled("global", "%rd1", "  st.global.u32 [%rd1+4], 5;\n"), Codes{}) << "data behind the flag";
  EXPECT_EQ(polled("shared", "tile", ""), Codes{}) << "the store in front of the barrier";
  EXPECT_THAT(polled("shared", "tile", "  st.shared.u32 [tile], %r1;\n"), ::testing::Contains("PLD4001"));
}

}  // namespace
}  // namespace palladion::sim::testing
