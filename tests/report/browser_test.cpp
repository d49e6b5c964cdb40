#include <gmock/gmock.h>

#include "tests/cuda/bundle/a_bundle.h"
#include "tests/report/page.h"

namespace palladion::cli {
namespace {

using testing::Contains;
using testing::HasSubstr;

struct Shown {
  const char* name;
  const char* command;
  int status;
  const char* views;  // in their order
};

class Browser : public Report, public testing::WithParamInterface<Shown> {};

TEST_P(Browser, EveryViewIsDrawnAndTheNumbersAgree) {
  if (!find_chromium()) GTEST_SKIP() << "chromium is absent";
  made(GetParam().command, GetParam().status);
  const Selftest page = selftest();
  ASSERT_FALSE(page.lines.empty()) << page.log;
  EXPECT_EQ(page.failures(), "");
  EXPECT_THAT(page.last(), HasSubstr(std::string(" checks, 0 failed, views: ") + GetParam().views));
}

INSTANTIATE_TEST_SUITE_P(
    Reports, Browser,
    testing::Values(
        Shown{"matmul", "run matmul_ws --shape m=512,n=512,k=512 --schedule hardware --why --check all", 0,
              "summary time timeline pipeline source memory errors"},
        Shown{"blackwell", "run blackwell_matmul_two_cta --shape m=512,n=512,k=512 --schedule hardware", 0,
              "summary time timeline pipeline source memory errors"},
        Shown{"scopes", "run matmul_ws --shape m=512,n=512,k=512 --set profile=1 --schedule hardware", 0,
              "summary time timeline pipeline source memory errors"},
        Shown{"deadlock", "check zoo/deadlock-wait-cycle", 1,
              "summary findings timeline pipeline source memory"},
        Shown{"trips", "check zoo/deadlock-trip-count", 1,
              "summary findings timeline pipeline source memory"},
        Shown{"registers", "check zoo/deadlock-register-pool", 1, "summary findings timeline source"},
        Shown{"race", "check zoo/async-store-no-proxy-fence", 1, "summary findings timeline source memory"},
        Shown{"sweep", "sweep matmul_ws --shape m=512,n=512,k=512 --set tile_n=64,128 --set stages=3..5", 0,
              "summary sweep"},
        Shown{"functional", "run vector_add", 0, "summary timeline source"}),
    [](const auto& suite) { return suite.param.name; });

// Each warp that waits when the run ends is shown, and each missing view says why.
TEST_F(Report, ADeadlockShowsWhatStillWaitsAndWhatIsNotShown) {
  if (!find_chromium()) GTEST_SKIP() << "chromium is absent";
  made("run zoo/deadlock-wait-cycle --check all --schedule hardware", 1);
  const Selftest page = selftest();
  EXPECT_EQ(page.failures(), "");
  for (const char* line :
       {"ok open: mbarrier there[0], phase 0, still waits when the run ends",
        "ok open: mbarrier there[1], phase 0, still waits when the run ends",
        "ok open: phase 0, parity 0: 0 arrivals; missing 32 arrivals",
        "ok absent: Where the time went: The run did not reach its end: there are no times of "
        "the whole kernel.",
        "ok absent: Tensor memory: h200 has none."})
    EXPECT_THAT(page.lines, Contains(line));
}

// A bundle that a device left with another value than the machine computes.
TEST_F(Report, ComparedWithADevice) {
  if (!find_chromium()) GTEST_SKIP() << "chromium is absent";
  cuda::bundle::testing::Axpy a;
  a.after[5] = 11.5;  // 11
  a.manifest.buffers[1].after.checksum = cuda::bundle::checksum(cuda::bundle::testing::bytes_of(a.after));
  a.write_to(file("bundle"));
  made("compare " + file("bundle"), 1);
  const Selftest page = selftest();
  EXPECT_EQ(page.failures(), "");
  EXPECT_THAT(page.lines, Contains("ok differences of buffer1"));
  EXPECT_THAT(page.last(), HasSubstr(" checks, 0 failed, views: summary timeline source errors"));
}

// The self-test sees a page whose data are wrong.
TEST_F(Report, ASwizzleThatIsNotTheMachinesIsSeen) {
  if (!find_chromium()) GTEST_SKIP() << "chromium is absent";
  std::string page = made("run matmul_ws --shape m=512,n=512,k=512");
  const std::string mask = "\"swizzle_mask\": 7";
  ASSERT_NE(page.find(mask), std::string::npos);
  page.replace(page.find(mask), mask.size(), "\"swizzle_mask\": 3");
  std::ofstream(file("report.html"), std::ios::binary) << page;
  EXPECT_THAT(selftest().failures(), HasSubstr("addresses of a tile, swizzle 128B"));
}

}  // namespace
}  // namespace palladion::cli
