// What a failed assertion of the kernel prints.
#include <fmt/format.h>
#include <gmock/gmock.h>

#include <sstream>

#include "tests/sim/ptx_runner.h"

namespace palladion::sim::testing {
namespace {

// Warps stop at their own assertion; the others go on (measured on an H200).
TEST(Assertions, AFailedOnePrintsALineForEachThread) {
  const std::string text = ptx(R"(
.extern .func __assertfail(.param .b64 m, .param .b64 f, .param .b32 l, .param .b64 n, .param .b64 c);
.global .b8 message[6] = {114, 32, 60, 32, 57, 0};
.global .b8 file[5] = {97, 46, 99, 117, 0};
.global .b8 name[9] = {118, 111, 105, 100, 32, 107, 40, 41, 0};
.visible .entry k(.param .u64 out) {
  .reg .pred %p<4>; .reg .b32 %r<8>; .reg .b64 %rd<8>;
  mov.u32 %r1, %tid.x;
  mov.u32 %r2, %tid.y;
  setp.lt.u32 %p1, %r1, 14;
  @%p1 bra END;
  mov.u64 %rd1, message;
  mov.u64 %rd2, file;
  mov.u64 %rd3, name;
  {
    .param .b64 m; .param .b64 f; .param .b32 l; .param .b64 n; .param .b64 c;
    st.param.b64 [m], %rd1;
    st.param.b64 [f], %rd2;
    st.param.b32 [l], 7;
    st.param.b64 [n], %rd3;
    st.param.b64 [c], 1;
    call.uni __assertfail, (m, f, l, n, c);
  }
END:
  ret;
}
)");
  std::string expected;
  for (const int y : {0, 1, 2, 3})
    for (const int x : {14, 15})
      expected += fmt::format(
          "a.cu:7: void k(): block: [0,0,0], thread: [{},{},0] Assertion `r < 9` failed.\n", x, y);
  std::vector<uint32_t> out(1);
  std::vector<RunOptions> schedules = every_schedule();
  schedules.emplace_back().schedule = *schedule_named("hardware");
  for (const RunOptions& o : schedules) {
    PtxRunner runner(text);
    runner.array(out).shape({1, 1, 1}, {16, 4, 1});
    const RunResult r = runner.run(o);
    ASSERT_EQ(r.findings.size(), 1u);
    EXPECT_EQ(r.findings[0].code, "PLD3012");
    EXPECT_TRUE(r.findings[0].fatal);
    std::vector<std::string> lines;
    std::stringstream in(r.asserted), wanted(expected);
    for (std::string line; std::getline(in, line);) lines.push_back(line);
    std::vector<std::string> all;
    for (std::string line; std::getline(wanted, line);) all.push_back(line);
    EXPECT_THAT(lines, ::testing::UnorderedElementsAreArray(all)) << name(o.schedule);
  }
}

}  // namespace
}  // namespace palladion::sim::testing
