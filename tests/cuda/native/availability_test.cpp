#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstdio>
#include <cstdlib>
#include <filesystem>

#include "cuda/native/device.h"

namespace palladion::cuda::native {
namespace {

using ::testing::HasSubstr;
using ::testing::IsEmpty;

constexpr const char* missing = "libpalladion_no_such_driver.so.1";

TEST(Availability, NamesAMissingDriver) {
  const Availability a = Device::available(missing);
  EXPECT_FALSE(a.usable());
  EXPECT_THAT(a.reason,
              HasSubstr("the CUDA driver library libpalladion_no_such_driver.so.1 cannot be loaded"));
  EXPECT_THAT(a.devices, IsEmpty());
}

TEST(Availability, OpeningWithoutADriverPointsToTheSimulator) {
  const auto device = Device::open(0, missing);
  ASSERT_FALSE(device);
  ASSERT_EQ(device.error().size(), 1u);
  EXPECT_EQ(device.error()[0].code, "PLD8001");
  EXPECT_THAT(device.error()[0].help, HasSubstr("--on sim"));
}

TEST(Availability, NamesWhatALibraryLacks) {
  // Any library that is not the driver.
  const auto api = driver::load("libm.so.6");
  ASSERT_FALSE(api);
  EXPECT_THAT(api.error(), HasSubstr("libm.so.6 has no cuInit: driver 525"));
}

TEST(Availability, EitherHasADeviceOrAReason) {
  const Availability a = Device::available();
  if (a.usable()) {
    ASSERT_FALSE(a.devices.empty());
    EXPECT_GT(a.devices[0].sm, 0);
    EXPECT_GT(a.devices[0].sm_count, 0);
  } else {
    EXPECT_THAT(a.reason, HasSubstr("no device: "));
  }
}

// The toolkit's link-time stub has every entry point and answers each call with an error. It calls itself
// libcuda.so.1 once loaded, so it is looked at in a process of its own.
TEST(Availability, KnowsTheToolkitsStub) {
  const char* stub = "/usr/local/cuda/lib64/stubs/libcuda.so";
  if (!std::filesystem::exists(stub)) GTEST_SKIP() << "the CUDA toolkit is absent";
  const auto says_so = [&] {
    const auto api = driver::load(stub);  // fails when we bind a name that CUDA does not have
    if (!api) std::fputs(api.error().c_str(), stderr);
    std::fputs(Device::available(stub).reason.c_str(), stderr);
    std::_Exit(api ? 0 : 1);
  };
  EXPECT_EXIT(says_so(), ::testing::ExitedWithCode(0), "link-time stub, not a driver");
}

TEST(Arguments, KeepCopiesAlignedForTensorMaps) {
  Arguments arguments;
  TensorMapHandle map{};
  map.opaque.words[15] = 42;
  arguments.add(uint32_t{7}).add(map).add(double{1.5});
  const auto pointers = arguments.pointers();
  ASSERT_EQ(pointers.size(), 3u);
  EXPECT_EQ(*static_cast<uint32_t*>(pointers[0]), 7u);
  EXPECT_EQ(static_cast<TensorMapHandle*>(pointers[1])->opaque.words[15], 42u);
  EXPECT_EQ(*static_cast<double*>(pointers[2]), 1.5);
  EXPECT_EQ(arguments.bytes(1), 128u);
  for (void* p : pointers) EXPECT_EQ(reinterpret_cast<uintptr_t>(p) % 64, 0u);
}

}  // namespace
}  // namespace palladion::cuda::native
