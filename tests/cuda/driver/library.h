#pragma once
// The driver API's library, called as a program calls it. Each test is a process of its own.
#include <dlfcn.h>
#include <gtest/gtest.h>

#include <cstdlib>
#include <filesystem>
#include <string>
#include <utility>
#include <vector>

#include "cuda/driver/abi.h"

namespace palladion::cuda::driver {

// The start of a PTX text.
inline const std::string head = ".version 8.7\n.target sm_90\n.address_size 64\n";
inline const std::string driver_folder = std::string(PLD_BINARY_DIR) + "/exec";

class Driver : public ::testing::Test {
 protected:
  void SetUp() override {
    if (!std::filesystem::exists(driver_folder + "/libcuda.so.1"))
      GTEST_SKIP() << "NOT TESTED: this build has no libcuda.so.1";
    library_ = dlopen((driver_folder + "/libcuda.so.1").c_str(), RTLD_NOW);
    ASSERT_NE(library_, nullptr) << dlerror();
    ASSERT_EQ(call("cuInit", 0U), success);
    ASSERT_EQ(call("cuDevicePrimaryCtxRetain", &context_, 0), success);
    use_context();
  }
  void TearDown() override {
    for (; !owned_.empty(); owned_.pop_back()) {
      const auto& [destroy, object] = owned_.back();
      EXPECT_EQ(call(destroy, object), success) << destroy;
    }
  }
  // The object, which the named function destroys at the test's end.
  void* owned(void* object, const char* destroy) {
    owned_.emplace_back(destroy, object);
    return object;
  }
  template <class... Arguments>
  Status call(const char* name, Arguments... arguments) {
    auto* const f = reinterpret_cast<Status (*)(Arguments...)>(dlsym(library_, name));
    EXPECT_NE(f, nullptr) << name;
    return f != nullptr ? f(arguments...) : unknown;
  }
  void* kernel(const char* ptx, const char* name) {
    void *module = nullptr, *function = nullptr;
    EXPECT_EQ(call("cuModuleLoadData", &module, static_cast<const void*>(ptx)), success);
    EXPECT_EQ(call("cuModuleGetFunction", &function, module, name), success);
    return function;
  }
  Status launch(void* f, unsigned grid, unsigned block, void** params, void* stream = nullptr) {
    return call("cuLaunchKernel", f, grid, 1U, 1U, block, 1U, 1U, 0U, stream, params,
                static_cast<void**>(nullptr));
  }
  Pointer memory(size_t bytes) {
    Pointer p = 0;
    EXPECT_EQ(call("cuMemAlloc_v2", &p, bytes), success);
    return p;
  }
  // Values in memory of the device.
  template <class T>
  class OfDevice {
   public:
    OfDevice(Driver& test, const std::vector<T>& values)
        : at(test.memory(values.size() * sizeof(T))), test_(test), n_(values.size()) {
      EXPECT_EQ(test.call("cuMemcpyHtoD_v2", at, static_cast<const void*>(values.data()), n_ * sizeof(T)),
                success);
    }
    ~OfDevice() { test_.call("cuMemFree_v2", at); }
    OfDevice(const OfDevice&) = delete;
    OfDevice& operator=(const OfDevice&) = delete;
    void* pointer() const { return reinterpret_cast<void*>(at); }
    std::vector<T> values() const {
      std::vector<T> out(n_);
      EXPECT_EQ(test_.call("cuMemcpyDtoH_v2", static_cast<void*>(out.data()), at, n_ * sizeof(T)), success);
      return out;
    }
    const Pointer at;

   private:
    Driver& test_;
    size_t n_;
  };
  // In this thread: each has its own current one.
  void use_context() { EXPECT_EQ(call("cuCtxSetCurrent", context_), success); }
  void *library_ = nullptr, *context_ = nullptr;

 private:
  std::vector<std::pair<const char*, void*>> owned_;  // destroyed in reverse order
};

// Where a CUDA toolkit is installed; empty: nowhere.
inline std::string toolkit() {
  const char* const home = std::getenv("CUDA_HOME");
  for (const std::string place : {home != nullptr ? home : "", "/usr/local/cuda"})
    if (!place.empty() && std::filesystem::exists(place + "/include/cuda.h")) return place;
  return {};
}

}  // namespace palladion::cuda::driver
