// Linking of PTX from several places: cuLink*, and images of several objects.
#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "tests/cuda/driver/library.h"

namespace {

using namespace palladion::cuda::driver;

// Calls `twice`, adds `base` and its own `local`, counts in `counter`: all but `local` are of other modules.
const std::string caller = head + R"(
.extern .func (.param .b32 result) twice(.param .b32 x);
.extern .global .align 4 .u32 base;
.weak .global .align 4 .u32 counter;
.global .align 4 .u32 local = 1;
.visible .entry k(.param .u64 p) {
  .reg .b32 %r<6>;
  .reg .b64 %rd<4>;
  ld.param.u64 %rd1, [p];
  mov.u32 %r1, %tid.x;
  {
    .param .b32 a;
    .param .b32 b;
    st.param.b32 [a], %r1;
    call.uni (b), twice, (a);
    ld.param.b32 %r2, [b];
  }
  ld.global.u32 %r3, [base];
  add.u32 %r2, %r2, %r3;
  ld.global.u32 %r3, [local];
  add.u32 %r2, %r2, %r3;
  mul.wide.u32 %rd2, %r1, 4;
  add.s64 %rd3, %rd1, %rd2;
  st.global.u32 [%rd3], %r2;
  red.global.add.u32 [counter], 1;
  ret;
})";
const std::string callee = head + R"(
.visible .global .align 4 .u32 base = 100;
.weak .global .align 4 .u32 counter;
.global .align 4 .u32 local = 1000;
.func (.param .b32 result) own(.param .b32 x) {
  .reg .b32 %r<4>;
  ld.param.b32 %r1, [x];
  ld.global.u32 %r2, [local];
  add.u32 %r1, %r1, %r2;
  st.param.b32 [result], %r1;
  ret;
}
.visible .func (.param .b32 result) twice(.param .b32 x) {
  .reg .b32 %r<4>;
  ld.param.b32 %r1, [x];
  add.u32 %r1, %r1, %r1;
  {
    .param .b32 a;
    .param .b32 b;
    st.param.b32 [a], %r1;
    call.uni (b), own, (a);
    ld.param.b32 %r2, [b];
  }
  st.param.b32 [result], %r2;
  ret;
})";

class Linking : public Driver {
 protected:
  Status add(void* link, const std::string& text) {
    return call("cuLinkAddData_v2", link, 1, const_cast<void*>(static_cast<const void*>(text.c_str())),
                text.size() + 1, "part", 0U, static_cast<int*>(nullptr), static_cast<void**>(nullptr));
  }
  void* link_of(unsigned count = 0, int* options = nullptr, void** values = nullptr) {
    void* link = nullptr;
    EXPECT_EQ(call("cuLinkCreate_v2", count, options, values, &link), success);
    return link;
  }
};

// Their first word says what they are.
TEST_F(Linking, images_shorter_than_a_word_are_none) {
  constexpr int cubin = 0, fatbin = 2;
  void* const link = link_of();
  const std::vector<uint8_t> bytes(3, 0x50);
  for (const int type : {cubin, fatbin})
    for (size_t n = 1; n <= bytes.size(); ++n)
      EXPECT_NE(call("cuLinkAddData_v2", link, type, const_cast<uint8_t*>(bytes.data()), n, "part", 0U,
                     static_cast<int*>(nullptr), static_cast<void**>(nullptr)),
                success);
  EXPECT_EQ(call("cuLinkDestroy", link), success);
}

TEST_F(Linking, a_kernel_calls_a_function_and_reads_a_variable_of_another_module) {
  for (const bool caller_first : {true, false}) {
    void *link = link_of(), *image = nullptr, *module = nullptr, *function = nullptr;
    EXPECT_EQ(add(link, caller_first ? caller : callee), success);
    EXPECT_EQ(add(link, caller_first ? callee : caller), success);
    size_t bytes = 0;
    ASSERT_EQ(call("cuLinkComplete", link, &image, &bytes), success);
    ASSERT_EQ(call("cuModuleLoadData", &module, static_cast<const void*>(image)), success);
    EXPECT_EQ(call("cuLinkDestroy", link), success);
    ASSERT_EQ(call("cuModuleGetFunction", &function, module, "k"), success);

    Pointer p = memory(128);
    void* params[] = {&p};
    EXPECT_EQ(launch(function, 1, 32, params), success);
    std::vector<uint32_t> out(32);
    EXPECT_EQ(call("cuMemcpyDtoH_v2", static_cast<void*>(out.data()), p, size_t{128}), success);
    for (uint32_t i = 0; i < 32; ++i)
      ASSERT_EQ(out[i], 2 * i + 1000 + 100 + 1) << "each part has its `local`";
    Pointer counter = 0;
    uint32_t count = 0;
    EXPECT_EQ(call("cuModuleGetGlobal_v2", &counter, static_cast<size_t*>(nullptr), module, "counter"),
              success);
    EXPECT_EQ(call("cuMemcpyDtoH_v2", static_cast<void*>(&count), counter, size_t{4}), success);
    EXPECT_EQ(count, 32U);
  }
}

TEST_F(Linking, what_does_not_fit_is_refused_and_logged) {
  char log[512] = "";
  int options[] = {5, 6};  // CU_JIT_ERROR_LOG_BUFFER and its size
  void* values[] = {log, reinterpret_cast<void*>(sizeof log)};
  void *twice = link_of(2, options, values), *image = nullptr;
  add(twice, callee);
  add(twice, callee);
  EXPECT_EQ(call("cuLinkComplete", twice, &image, static_cast<size_t*>(nullptr)), invalid_ptx);
  EXPECT_NE(std::string(log).find("`base` is defined in two"), std::string::npos) << log;
  EXPECT_EQ(call("cuLinkDestroy", twice), success);

  void* other = link_of();
  add(other, caller);
  add(other, head + ".visible .func (.param .b32 result) twice(.param .b64 x) { ret; }");
  EXPECT_EQ(call("cuLinkComplete", other, &image, static_cast<size_t*>(nullptr)), invalid_ptx);
  EXPECT_EQ(call("cuLinkDestroy", other), success);
}

// A module's own names stay its own, and an undefined function is refused when it is called, by name.
TEST_F(Linking, a_function_that_nobody_defines_is_told_at_the_launch) {
  void *module = nullptr, *function = nullptr;
  const std::string alone = caller + "\n.visible .global .align 4 .u32 dummy;";
  ASSERT_EQ(call("cuModuleLoadData", &module, static_cast<const void*>(alone.c_str())), success);
  ASSERT_EQ(call("cuModuleGetFunction", &function, module, "k"), success);
  Pointer p = memory(128);
  void* params[] = {&p};
  testing::internal::CaptureStderr();
  launch(function, 1, 32, params);
  EXPECT_NE(call("cuCtxSynchronize"), success);
  EXPECT_NE(testing::internal::GetCapturedStderr().find("twice"), std::string::npos);
}

}  // namespace
