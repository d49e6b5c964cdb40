// What only a GPU can answer; skipped, and says so, where there is none.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstdio>
#include <cstdlib>
#include <numeric>

#include "tests/cuda/native/on_device.h"

namespace palladion::cuda::native {
namespace {

using ::testing::HasSubstr;

constexpr const char* double_it = R"(.version 8.0
.target sm_90a
.address_size 64
.visible .entry double_it(.param .u64 data, .param .u32 n) {
  .reg .b64 %rd<4>; .reg .b32 %r<8>; .reg .pred %p;
  ld.param.u64 %rd0, [data];
  ld.param.u32 %r0, [n];
  mov.u32 %r1, %ctaid.x;
  mov.u32 %r2, %ntid.x;
  mov.u32 %r3, %tid.x;
  mad.lo.u32 %r4, %r1, %r2, %r3;
  setp.ge.u32 %p, %r4, %r0;
  @%p bra END;
  cvta.to.global.u64 %rd0, %rd0;
  mul.wide.u32 %rd1, %r4, 4;
  add.u64 %rd2, %rd0, %rd1;
  ld.global.u32 %r5, [%rd2];
  add.u32 %r5, %r5, %r5;
  st.global.u32 [%rd2], %r5;
END:
  ret;
}
.visible .entry spin() {
L: bra L;
}
)";

TEST_F(OnDevice, RunsAKernel) {
  const Module module = must(device_->load(double_it));
  const Function kernel = must(module.function("double_it"));
  std::vector<uint32_t> data(1000), back(1000);
  std::iota(data.begin(), data.end(), 5);
  Buffer buffer = must(device_->allocate(4000));
  must(buffer.upload(std::as_bytes(std::span(data))));
  Arguments arguments;
  arguments.add(buffer.address()).add(uint32_t{1000});
  const LaunchShape shape{.grid = {8}, .block = {128}};
  must(kernel.launch(shape, arguments));
  must(device_->wait({.limit = std::chrono::seconds(5)}));
  must(buffer.download(std::as_writable_bytes(std::span(back))));
  for (size_t i = 0; i < data.size(); ++i) ASSERT_EQ(back[i], 2 * data[i]);
  EXPECT_GT(must(kernel.attributes()).registers, 0);
  const Timing timing = must(device_->time([&] { return kernel.launch(shape, arguments); }));
  EXPECT_EQ(timing.samples_us.size(), 20u);
  EXPECT_GT(timing.median_us, 0);
}

TEST_F(OnDevice, RefusesWrongLaunches) {
  const Module module = must(device_->load(double_it));
  const Function kernel = must(module.function("double_it"));
  Arguments one;
  one.add(uint64_t{0});
  EXPECT_THAT(kernel.launch({}, one).error()[0].message, HasSubstr("has 2 parameters, 1 were given"));
  Arguments wide;
  wide.add(uint64_t{0}).add(uint64_t{0});
  EXPECT_THAT(kernel.launch({}, wide).error()[0].message,
              HasSubstr("parameter 1 of `double_it` has 4 bytes, 8"));
  Arguments right;
  right.add(uint64_t{0}).add(uint32_t{0});
  EXPECT_THAT(kernel.launch({.dynamic_shared_bytes = 300000}, right).error()[0].message,
              HasSubstr("300000 bytes"));
  EXPECT_EQ(kernel.launch({.block = {2000}}, right).error()[0].code, "PLD8004");
  EXPECT_THAT(module.function("nothing").error()[0].message, HasSubstr("entry `nothing`"));
}

TEST_F(OnDevice, NamesTheLineOfBrokenPtx) {
  const auto broken =
      device_->load(".version 8.0\n.target sm_90a\n.address_size 64\n.entry k() {\n  foo.u32 %r;\n}\n");
  ASSERT_FALSE(broken);
  EXPECT_EQ(broken.error()[0].code, "PLD8005");
  EXPECT_EQ(broken.error()[0].loc.line, 5u);
}

// Last: a kernel that never ends takes the device from this process.
TEST_F(OnDevice, ZGivesUpOnAKernelThatNeverEnds) {
  if (!std::getenv("PLD_TEST_HANG"))
    GTEST_SKIP() << "set PLD_TEST_HANG=1: it leaves a kernel running until exit";
  const Module module = must(device_->load(double_it));
  must(must(module.function("spin")).launch({}, {}));
  const auto late = device_->wait({.limit = std::chrono::milliseconds(200)});
  ASSERT_FALSE(late);
  EXPECT_EQ(late.error()[0].code, "PLD8007");
  std::printf("ends here, without the driver's end: %s\n", HasFailure() ? "failed" : "passed");
  std::fflush(nullptr);
  std::_Exit(HasFailure() ? 1 : 0);
}

}  // namespace
}  // namespace palladion::cuda::native
