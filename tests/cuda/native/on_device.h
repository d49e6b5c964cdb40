#pragma once
// A test that needs a Hopper GPU; skipped, and says so, where there is none.
#include <gtest/gtest.h>

#include <optional>
#include <stdexcept>

#include "cuda/native/device.h"

namespace palladion::cuda::native {

class OnDevice : public ::testing::Test {
 protected:
  void SetUp() override {
    const Availability a = Device::available();
    if (!a.usable()) GTEST_SKIP() << a.reason;
    if (a.devices[0].sm != 90) GTEST_SKIP() << "the device is no Hopper: " << a.devices[0].name;
    auto opened = Device::open();
    ASSERT_TRUE(opened) << opened.error()[0].message;
    device_.emplace(std::move(*opened));
  }

  template <class T>
  T must(Result<T> result) {
    if (!result) throw std::runtime_error(result.error()[0].message + result.error()[0].help);
    return std::move(*result);
  }
  void must(const Result<void>& result) {
    if (!result) throw std::runtime_error(result.error()[0].message);
  }

  std::optional<Device> device_;
};

}  // namespace palladion::cuda::native
