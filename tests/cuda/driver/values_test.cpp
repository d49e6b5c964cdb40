// Races under exec whose values nothing depends on: threads without an element of their own load what its
// owner stores, as Triton compiles them.
#include <filesystem>

#include "tests/cuda/driver/order_program.h"

namespace palladion::cuda::driver {
namespace {

using P = OrderProgram;

// out[i] = a[0] where `uses` says so; a[0] += 1 by thread 0.
std::string update(const char* uses) {
  return head + R"(
.visible .entry update(.param .u64 a, .param .u64 out) {
  .reg .pred %p<3>; .reg .b32 %r<6>; .reg .b64 %rd<5>;
  ld.param.u64 %rd1, [a];
  ld.param.u64 %rd2, [out];
  mov.u32 %r1, %tid.x;
  setp.eq.u32 %p1, %r1, 0;
  setp.ne.u32 %p2, %r1, 0;
  mul.wide.u32 %rd3, %r1, 4;
  add.u64 %rd4, %rd2, %rd3;
  ld.global.u32 %r2, [%rd1];
  add.u32 %r3, %r2, 1;
  @%p1 st.global.u32 [%rd1], %r3;
  )" + uses +
         R"(
  ret;
})";
}

std::string output_of_update(const char* uses, const char* settings) {
  return output_of(
      [&](P& p) {
        const std::string text = update(uses);
        void *module = nullptr, *f = nullptr;
        p.call("cuModuleLoadData", &module, static_cast<const void*>(text.c_str()));
        p.call("cuModuleGetFunction", &f, module, "update");
        Pointer a = p.memory(), out = p.memory();
        void* params[] = {&a, &out};
        for (int turn = 0; turn < 2; ++turn)
          p.call("cuLaunchKernel", f, 1U, 1U, 1U, 64U, 1U, 1U, 0U, static_cast<void*>(nullptr),
                 static_cast<void**>(params), static_cast<void**>(nullptr));
        uint32_t sum = 0;
        p.synchronize();
        p.call("cuMemcpyDtoH_v2", static_cast<void*>(&sum), a, sizeof sum);
        p.see(sum, 2);
      },
      false, settings);
}

class Values : public testing::Test {
  void SetUp() override {
    if (!std::filesystem::exists(driver_folder + "/libcuda.so.1"))
      GTEST_SKIP() << "NOT TESTED: this build has no libcuda.so.1";
  }
};

TEST_F(Values, OfWhichNothingIsStoredAreStrict) {
  const std::string told = output_of_update("", "v1;check=all");
  EXPECT_EQ(told.find("error["), std::string::npos) << told;
  EXPECT_NE(told.find("strict[PLD6001]"), std::string::npos) << told;
  EXPECT_EQ(told.find("UNEXPECTED"), std::string::npos) << told;
}

TEST_F(Values, OfWhichAnOutputIsMadeAreErrors) {
  const std::string told = output_of_update("@%p2 st.global.u32 [%rd4], %r2;", "v1;check=all");
  EXPECT_NE(told.find("error[PLD6001]"), std::string::npos) << told;
  EXPECT_EQ(told.find("UNEXPECTED"), std::string::npos) << told;
}

// Whether lane 1 of the other warp ends at once hangs on the value, and what the kernel prints or leaves does
// not.
TEST_F(Values, ThatDecideABranchWithoutOutputAreStrict) {
  const std::string told = output_of_update("setp.gt.u32 %p2, %r2, 5;\n  @%p2 ret;", "v1;check=all");
  EXPECT_EQ(told.find("error["), std::string::npos) << told;
}

// The experiment needs what the launch overwrote, which is kept for the checks of memory.
TEST_F(Values, AreNotTriedWithoutChecksOfMemory) {
  EXPECT_NE(output_of_update("", "v1;check=race").find("error[PLD6001]"), std::string::npos);
}

}  // namespace
}  // namespace palladion::cuda::driver
