// Shuffles, votes, matches, reductions over a warp, election, 8x8 matrices, as PTX programs see them.
#include <algorithm>
#include <bit>
#include <functional>
#include <numeric>

#include "tests/sim/ptx_runner.h"

namespace palladion::sim::testing {
namespace {

using Warp = std::vector<uint32_t>;

// One warp: %r1 the lane, %r2 in[lane], %r3 in[lane + 32]; what `body` leaves in %r10 and %r11 is returned.
std::string warp_kernel(const std::string& body) {
  return ptx(R"(
.visible .entry k(.param .u64 in, .param .u64 out) {
  .shared .align 128 .b8 buffer[4096];
  .reg .pred %p<8>; .reg .b32 %r<32>; .reg .b64 %rd<12>;
  ld.param.u64 %rd1, [in];
  ld.param.u64 %rd2, [out];
  mov.u32 %r1, %tid.x;
  mul.wide.u32 %rd3, %r1, 4;
  add.s64 %rd4, %rd1, %rd3;
  add.s64 %rd5, %rd2, %rd3;
  ld.global.u32 %r2, [%rd4];
  ld.global.u32 %r3, [%rd4+128];
  mov.u32 %r10, 0;
  mov.u32 %r11, 0;
)" + body + R"(
  st.global.u32 [%rd5], %r10;
  st.global.u32 [%rd5+128], %r11;
  ret;
})");
}

Warp iota(uint32_t first = 0) {
  Warp v(64);
  std::iota(v.begin(), v.end(), first);
  return v;
}

Warp run(const std::string& body, Warp in = iota()) {
  Warp out(64);
  in.resize(64);
  PtxRunner(warp_kernel(body)).array(in).array(out).run_clean();
  return out;
}

std::string warp_op_fault(const std::string& body) {
  Warp in = iota(), out(64);
  const RunResult r = PtxRunner(warp_kernel(body)).array(in).array(out).run();
  return r.findings.size() == 1 ? r.findings[0].code.name() : PtxRunner::describe(r);
}

// --- shfl -----------------------------------------------------------------------------------------
struct ShuffleCase {
  const char* mode;
  uint32_t distance, width;      // lanes of a segment
  std::function<int(int)> from;  // within the segment; outside [0, width) = out of range
};

TEST(Shuffle, EveryModeWithinSegments) {
  for (const uint32_t width : {32U, 16U, 8U, 2U}) {
    for (const uint32_t d : {0U, 1U, 3U, 7U}) {
      const auto n = static_cast<int>(d);
      const ShuffleCase cases[] = {{"up", d, width, [=](int i) { return i - n; }},
                                   {"down", d, width, [=](int i) { return i + n; }},
                                   {"bfly", d, width, [=](int i) { return i ^ n; }},
                                   {"idx", d, width, [=](int) { return n % static_cast<int>(width); }}};
      for (const ShuffleCase& c : cases) {
        const bool up = std::string(c.mode) == "up";
        if (std::string(c.mode) == "bfly" && d >= width) continue;  // below
        const uint32_t clamp = (32 - width) << 8 | (up ? 0 : 31);
        const Warp out = run("shfl.sync." + std::string(c.mode) + ".b32 %r10|%p1, %r2, " + std::to_string(d) +
                                 ", " + std::to_string(clamp) + ", 0xffffffff; selp.u32 %r11, 1, 0, %p1;",
                             iota(100));
        for (int lane = 0; lane < 32; ++lane) {
          const int w = static_cast<int>(width), base = lane / w * w, from = c.from(lane - base);
          const bool in_range = from >= 0 && from < w;
          EXPECT_EQ(out[lane], 100U + static_cast<uint32_t>(in_range ? base + from : lane))
              << c.mode << d << "/" << width << " lane " << lane;
          EXPECT_EQ(out[32 + lane], in_range ? 1U : 0U) << c.mode << d << "/" << width << " lane " << lane;
        }
      }
    }
  }
}

TEST(Shuffle, ButterflyReachesEarlierSegmentsButNotLaterOnes) {
  const Warp out = run("shfl.sync.bfly.b32 %r10|%p1, %r2, 3, 0x1e1f, -1; selp.u32 %r11, 1, 0, %p1;");
  for (uint32_t i = 0; i < 32; ++i) {
    EXPECT_EQ(out[i], i % 4 < 2 ? i : i ^ 3);
    EXPECT_EQ(out[32 + i], i % 4 < 2 ? 0U : 1U);
  }
}

TEST(Shuffle, EachLaneMayNameItsOwnSource) {
  Warp in = iota(500);
  for (uint32_t i = 0; i < 32; ++i) in[32 + i] = (i * 7 + 3) % 32;
  const Warp out = run("shfl.sync.idx.b32 %r10, %r2, %r3, 31, -1;", in);
  for (uint32_t i = 0; i < 32; ++i) EXPECT_EQ(out[i], 500 + (i * 7 + 3) % 32);
}

TEST(Shuffle, TheDestinationMayBeTheSource) {
  const Warp out = run("mov.u32 %r10, %r2; shfl.sync.bfly.b32 %r10, %r10, 31, 31, -1;");
  for (uint32_t i = 0; i < 32; ++i) EXPECT_EQ(out[i], 31 - i);
}

TEST(Shuffle, OnlyHalfOfADivergedWarp) {
  const Warp out = run(R"(
  setp.lt.u32 %p1, %r1, 16;
  @%p1 bra $low;
  bra $end;
$low:
  shfl.sync.bfly.b32 %r10, %r2, 1, 31, 0xffff;
$end:)");
  for (uint32_t i = 0; i < 32; ++i) EXPECT_EQ(out[i], i < 16 ? i ^ 1 : 0);
}

TEST(WarpOps, ALaneOutsideItsMaskIsAFault) {
  EXPECT_EQ(warp_op_fault("shfl.sync.bfly.b32 %r10, %r2, 1, 31, 0xffff;"), "PLD3065");
  EXPECT_EQ(warp_op_fault("bar.warp.sync 0x7fffffff;"), "PLD3065");
}

// --- vote, match, redux, elect --------------------------------------------------------------------
TEST(Vote, AllAnyUniBallot) {
  const char* const body = R"(
  setp.gt.u32 %p1, %r2, 9;
  vote.sync.ballot.b32 %r10, %p1, -1;
  vote.sync.all.pred %p2, %p1, -1;
  vote.sync.any.pred %p3, %p1, -1;
  vote.sync.uni.pred %p4, %p1, -1;
  vote.sync.all.pred %p5, !%p1, -1;
  selp.u32 %r4, 1, 0, %p2;
  selp.u32 %r5, 2, 0, %p3;
  selp.u32 %r6, 4, 0, %p4;
  selp.u32 %r7, 8, 0, %p5;
  or.b32 %r11, %r4, %r5;
  or.b32 %r11, %r11, %r6;
  or.b32 %r11, %r11, %r7;)";
  const Warp some = run(body), all = run(body, iota(50)), none = run(body, Warp(64, 3));
  for (int i = 0; i < 32; ++i) {
    EXPECT_EQ(some[i], 0xFFFFFC00U);
    EXPECT_EQ(some[32 + i], 2U);
    EXPECT_EQ(all[32 + i], 1U + 2 + 4);
    EXPECT_EQ(none[32 + i], 4U + 8);
  }
}

TEST(Match, AnyFindsTheLanesWithTheSameValue) {
  Warp in(64);
  for (uint32_t i = 0; i < 32; ++i) in[i] = i % 5;
  const Warp out = run("match.any.sync.b32 %r10, %r2, -1;", in);
  for (uint32_t i = 0; i < 32; ++i) {
    uint32_t same = 0;
    for (uint32_t k = 0; k < 32; ++k) same |= (in[k] == in[i] ? 1U : 0U) << k;
    EXPECT_EQ(out[i], same);
  }
}

TEST(Match, AllSaysWhetherEveryLaneAgrees) {
  const char* const body =
      "cvt.u64.u32 %rd6, %r2; shl.b64 %rd6, %rd6, 33; match.all.sync.b64 %r10|%p1, %rd6, -1; selp.u32 %r11, "
      "1, 0, %p1;";
  const Warp agree = run(body, Warp(64, 9));
  Warp odd(64, 9);
  odd[17] = 8;
  const Warp differ = run(body, odd);
  EXPECT_EQ(agree[3], ~0U);
  EXPECT_EQ(agree[35], 1U);
  EXPECT_EQ(differ[3], 0U);
  EXPECT_EQ(differ[35], 0U);
}

TEST(Redux, EveryOperation) {
  Warp in(64);
  for (uint32_t i = 0; i < 32; ++i) in[i] = (i * 2654435761U) ^ 0x80000000U;
  const auto fold = [&](auto f) { return std::accumulate(in.begin() + 1, in.begin() + 32, in[0], f); };
  const auto signed_less = [](uint32_t a, uint32_t b) {
    return static_cast<int32_t>(a) < static_cast<int32_t>(b);
  };
  const std::pair<const char*, uint32_t> cases[] = {
      {"add.u32", fold(std::plus<uint32_t>())},
      {"add.s32", fold(std::plus<uint32_t>())},
      {"min.u32", *std::min_element(in.begin(), in.begin() + 32)},
      {"max.u32", *std::max_element(in.begin(), in.begin() + 32)},
      {"min.s32", *std::min_element(in.begin(), in.begin() + 32, signed_less)},
      {"max.s32", *std::max_element(in.begin(), in.begin() + 32, signed_less)},
      {"and.b32", fold(std::bit_and<uint32_t>())},
      {"or.b32", fold(std::bit_or<uint32_t>())},
      {"xor.b32", fold(std::bit_xor<uint32_t>())},
  };
  for (const auto& [op, expected] : cases) {
    const Warp out = run("redux.sync." + std::string(op) + " %r10, %r2, -1;", in);
    for (int i = 0; i < 32; ++i) EXPECT_EQ(out[i], expected) << op;
  }
}

TEST(Redux, LanesWithDifferentMasksFormTeams) {
  const Warp out = run(R"(
  setp.lt.u32 %p1, %r1, 8;
  selp.b32 %r4, 0xff, 0xffffff00, %p1;
  redux.sync.add.u32 %r10, %r2, %r4;
  elect.sync %r11|%p2, %r4;)");
  for (uint32_t i = 0; i < 32; ++i) {
    EXPECT_EQ(out[i], i < 8 ? 28U : 496U - 28U);
    EXPECT_EQ(out[32 + i], i < 8 ? 0U : 8U);
  }
}

TEST(Elect, TheLowestMember) {
  const Warp out = run(R"(
  setp.lt.u32 %p1, %r1, 5;
  @%p1 bra $end;
  elect.sync _|%p2, 0xffffffe0;
  selp.u32 %r10, 7, 1, %p2;
$end:)");
  for (uint32_t i = 0; i < 32; ++i) EXPECT_EQ(out[i], i < 5 ? 0U : i == 5 ? 7U : 1U);
}

TEST(ActiveMask, TheLanesOfTheBranch) {
  const Warp out = run(R"(
  activemask.b32 %r11;
  setp.lt.u32 %p1, %r1, 12;
  @!%p1 bra $end;
  activemask.b32 %r10;
$end:)");
  EXPECT_EQ(out[3], 0xFFFU);
  EXPECT_EQ(out[20], 0U);
  EXPECT_EQ(out[32 + 20], ~0U);
}

// --- matrices -------------------------------------------------------------------------------------
// Shared memory holds element (matrix m, row r, column c) as the number 1000 m + 10 r + c, rows 48 bytes
// apart.
std::string fill_matrices() {
  std::string s =
      "mov.u32 %r20, buffer; mad.lo.u32 %r21, %r1, 48, %r20; shr.u32 %r22, %r1, 3; and.b32 %r23, %r1, 7;"
      "mul.lo.u32 %r22, %r22, 1000; mad.lo.u32 %r22, %r23, 10, %r22;";
  for (int c = 0; c < 8; ++c)
    s += "add.u32 %r24, %r22, " + std::to_string(c) + "; st.shared.u16 [%r21+" + std::to_string(2 * c) +
         "], %r24;";
  return s + "bar.warp.sync -1;";
}

uint32_t pair(uint32_t low, uint32_t high) { return low | high << 16; }

TEST(LoadMatrix, LaneHoldsTwoNeighboursOfARow) {
  const std::string body = fill_matrices();
  const Warp plain = run(body + "ldmatrix.sync.aligned.m8n8.x4.shared.b16 {%r4, %r10, %r5, %r11}, [%r21];");
  const Warp trans = run(body + "ldmatrix.sync.aligned.m8n8.x2.trans.shared.b16 {%r10, %r11}, [%r21];");
  const Warp one = run(body + "ldmatrix.sync.aligned.m8n8.x1.shared.b16 {%r10}, [%r21];");
  for (uint32_t i = 0; i < 32; ++i) {
    const uint32_t r = i / 4, c = i % 4 * 2, rc = 10 * r + c, cr = 10 * c + r;
    EXPECT_EQ(plain[i], pair(1000 + rc, 1001 + rc));
    EXPECT_EQ(plain[32 + i], pair(3000 + rc, 3001 + rc));
    EXPECT_EQ(trans[i], pair(cr, cr + 10));
    EXPECT_EQ(trans[32 + i], pair(1000 + cr, 1010 + cr));
    EXPECT_EQ(one[i], pair(rc, rc + 1));
  }
}

TEST(StoreMatrix, UndoesLoadMatrix) {
  for (const char* trans : {"", ".trans"}) {
    const std::string t = trans;
    const Warp out = run(fill_matrices() + "ldmatrix.sync.aligned.m8n8.x4" + t +
                         ".shared.b16 {%r4, %r5, %r6, %r7}, [%r21];" +
                         "mad.lo.u32 %r25, %r1, 16, %r20; add.u32 %r25, %r25, 2048;" +
                         "stmatrix.sync.aligned.m8n8.x4" + t + ".shared.b16 [%r25], {%r4, %r5, %r6, %r7};" +
                         "bar.warp.sync -1; ld.shared.u32 %r10, [%r25]; ld.shared.u32 %r11, [%r25+12];");
    for (uint32_t i = 0; i < 32; ++i) {
      const uint32_t row = 1000 * (i / 8) + 10 * (i % 8);
      EXPECT_EQ(out[i], pair(row, row + 1)) << t;
      EXPECT_EQ(out[32 + i], pair(row + 6, row + 7)) << t;
    }
  }
}

TEST(MoveMatrix, Transposes) {
  const Warp out = run(fill_matrices() +
                       "ldmatrix.sync.aligned.m8n8.x1.shared.b16 {%r4}, [%r21];"
                       "movmatrix.sync.aligned.m8n8.trans.b16 %r10, %r4;");
  for (uint32_t i = 0; i < 32; ++i) {
    const uint32_t cr = 10 * (i % 4 * 2) + i / 4;
    EXPECT_EQ(out[i], pair(cr, cr + 10));
  }
}

TEST(LoadMatrix, RowsMustBeAlignedAndInside) {
  EXPECT_EQ(
      warp_op_fault("mov.u32 %r4, buffer; add.u32 %r4, %r4, 8; ldmatrix.sync.aligned.m8n8.x1.shared.b16 "
                    "{%r10}, [%r4];"),
      "PLD3062");
  EXPECT_EQ(warp_op_fault("mov.u32 %r4, 1048576; ldmatrix.sync.aligned.m8n8.x1.shared.b16 {%r10}, [%r4];"),
            "PLD3020");
}

}  // namespace
}  // namespace palladion::sim::testing
