// A captured launch, replayed by the program: memory at the device's addresses, compared with what it left.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cstdlib>
#include <string_view>

#include "tests/cli/program.h"
#include "tests/cuda/bundle/a_bundle.h"

namespace palladion::cli {
namespace {

using cuda::bundle::testing::Axpy;
using ::testing::HasSubstr;
using ::testing::Not;

class BundleProgram : public Program {
 protected:
  Ran run_on(const std::string& command, const Axpy& bundle, const std::string& more = "") const {
    bundle.write_to(file("b"));
    return run(command + " " + file("b") + " " + more);
  }
};

TEST_F(BundleProgram, EqualsTheDevice) {
  const Ran ran = run_on("compare", Axpy());
  EXPECT_EQ(ran.status, 0) << ran.err;
  EXPECT_THAT(ran.out, HasSubstr("entry axpy, captured on NVIDIA H200"));
  EXPECT_THAT(ran.out, HasSubstr("device      buffer1: equal bit by bit (400 elements)"));
  EXPECT_THAT(ran.out, HasSubstr("device      scale: equal bit by bit (4 elements)"));
}

TEST_F(BundleProgram, NamesTheFirstByteThatDiffers) {
  Axpy a;
  a.after[5] = 11.5;  // 11
  a.manifest.buffers[1].after.checksum = cuda::bundle::checksum(cuda::bundle::testing::bytes_of(a.after));
  const Ran ran = run_on("compare", a);
  EXPECT_EQ(ran.status, 1);
  EXPECT_THAT(ran.out, HasSubstr("buffer1: 1 of 400 elements differ"));
  EXPECT_THAT(ran.out, HasSubstr("first at [22]"));
  EXPECT_THAT(ran.out, HasSubstr("got    u32 0x41300000, f32 11,"));
  EXPECT_THAT(ran.out, HasSubstr("wanted u32 0x41380000, f32 11.5,"));
  EXPECT_THAT(ran.out, HasSubstr("buffer0: equal bit by bit"));
}

// Capture keeps what a program asked for, also where no driver launches it.
TEST_F(BundleProgram, SaysThatTheDriverRefusedALaunch) {
  Axpy a;
  a.manifest.complete = false;
  a.manifest.result = 1;
  a.manifest.grid = {0xFFFF'FFFF, 0, 1};
  for (const char* const command : {"compare", "check", "run"}) {
    const Ran ran = run_on(command, a);
    EXPECT_EQ(ran.status, 2) << command;
    EXPECT_THAT(ran.err, HasSubstr("nothing ran: the driver refused this launch with error 1 (grid "
                                   "4294967295,0,1, block "));
  }
}

// All threads add to one element; the sum depends on their order.
constexpr const char* sum_of_all = R"(.version 8.0
.target sm_90
.address_size 64
.global .align 4 .f32 scale;
.visible .entry axpy(.param .align 8 .b8 s[24]) {
  .reg .b32 %r<6>;
  .reg .b64 %rd<8>;
  .reg .f32 %f<2>;
  ld.param.u64 %rd1, [s];
  ld.param.u64 %rd2, [s+8];
  mov.u32 %r1, %tid.x;
  mul.wide.u32 %rd3, %r1, 4;
  add.u64 %rd4, %rd1, %rd3;
  ld.global.f32 %f1, [%rd4];
  red.global.add.f32 [%rd2], %f1;
  ret;
}
)";

Axpy with_ptx(std::string text) {
  Axpy a;
  a.ptx = std::move(text);
  a.manifest.ptx_checksum = cuda::bundle::checksum(cuda::bundle::testing::bytes_of(std::string_view(a.ptx)));
  return a;
}

void set_after(Axpy& a, std::vector<float> after) {
  a.after = std::move(after);
  a.manifest.buffers[1].after.checksum = cuda::bundle::checksum(cuda::bundle::testing::bytes_of(a.after));
}

TEST_F(BundleProgram, TellsWhetherTheOrderOfThreadsExplainsADifference) {
  Axpy sum = with_ptx(sum_of_all);
  for (int i = 0; i < cuda::bundle::testing::elements; ++i)
    sum.x[static_cast<size_t>(i)] = i % 2 != 0 ? 1.0F : i % 4 != 0 ? 3e7F : -3e7F;
  sum.manifest.buffers[0].before.checksum = cuda::bundle::checksum(cuda::bundle::testing::bytes_of(sum.x));
  std::vector<float> after(cuda::bundle::testing::elements, 1);
  after[0] = 0.25F;  // no order gives a fraction
  set_after(sum, after);
  const Ran ordered = run_on("compare", sum);
  EXPECT_EQ(ordered.status, 1);
  EXPECT_THAT(ordered.out, HasSubstr("words of 4 bytes that differ: 1; under 32 other schedules 1 vary and 0 "
                                     "get the device's bits: the order of threads decides them"));
  Axpy a;
  after = a.after;
  after[5] = 11.5;
  set_after(a, after);
  EXPECT_THAT(run_on("compare", a).out,
              HasSubstr("0 vary and 0 get the device's bits: no order that was tried explains them"));
}

class BundleWithToolkit : public BundleProgram {
 protected:
  // A toolkit whose ptxas makes nothing and whose nvdisasm prints `code` of the entry.
  void have_tools(const std::string& code) const {
    std::filesystem::create_directories(file("cuda/bin"));
    for (const auto& [name, prints] :
         {std::pair<std::string, std::string>{"ptxas", ""}, {"nvdisasm", code}}) {
      const std::string path = file("cuda/bin/" + name);
      std::ofstream(path) << "#!/bin/sh\ncat <<'END'\n.text.axpy:\n" << prints << "END\n";
      std::filesystem::permissions(path, std::filesystem::perms::owner_all);
    }
    ::setenv("CUDA_HOME", file("cuda").c_str(), 1);
  }
  void TearDown() override { ::unsetenv("CUDA_HOME"); }

  // Line 20 of the PTX is the product, 21 the sum.
  static Axpy contracted() {
    std::string text = cuda::bundle::testing::axpy;
    const std::string fma = "  fma.rn.f32 %f4, %f1, %f3, %f2;\n";
    text.replace(text.find(fma), fma.size(), "  mul.f32 %f4, %f1, %f3;\n  add.f32 %f4, %f4, %f2;\n");
    Axpy a = with_ptx(text);
    std::vector<float> after = a.after;
    after[5] = 11.5;
    set_after(a, after);
    return a;
  }
  static uint32_t line_of(const Axpy& a, std::string_view text) {
    return 1 + static_cast<uint32_t>(
                   std::count(a.ptx.begin(), a.ptx.begin() + static_cast<long>(a.ptx.find(text)), '\n'));
  }
};

TEST_F(BundleWithToolkit, SaysWhatPtxasContracts) {
  const Axpy a = contracted();
  const std::string place = "\t//## File \".nv_debug_ptx_txt\", line " +
                            std::to_string(line_of(a, "add.f32")) + "\n        /*0170*/     ";
  have_tools(place + "FFMA R5, R0, R4, R7 ;\n");
  EXPECT_THAT(run_on("compare", a).out,
              HasSubstr("decides all 1 as the machine: contraction is not the reason"));
  have_tools(place + "@!P0 FADD R5, R0, R4 ;\n");
  EXPECT_THAT(run_on("compare", a).out,
              HasSubstr("decides 0 as the machine, rounds 1 (PTX line " +
                        std::to_string(line_of(a, "add.f32")) + ") that the machine contracts"));
  have_tools(place + "FADD R5, R0, R4 ;\n" + place + "FFMA R5, R0, R4, R7 ;\n");
  EXPECT_THAT(run_on("compare", a).out, HasSubstr("contracts some copies of 1"));
  EXPECT_THAT(run_on("compare", a, "--fmad false").out, Not(HasSubstr("ptxas")));
}

TEST_F(BundleProgram, IsCheckedAndTimed) {
  const Ran checked = run_on("check", Axpy());
  EXPECT_EQ(checked.status, 0) << checked.err;
  EXPECT_THAT(checked.out, HasSubstr("verdict     clean"));
  const Ran timed = run_on("run", Axpy(), "--schedule hardware");
  EXPECT_EQ(timed.status, 0) << timed.err;
  EXPECT_THAT(timed.out, HasSubstr(" cycles, "));
  const Ran ptx = run_on("ptx", Axpy());
  EXPECT_THAT(ptx.out, HasSubstr(".visible .entry axpy("));
}

TEST_F(BundleProgram, AccessesOutsideRecordedMemoryAreFound) {
  Axpy a;
  a.manifest.buffers[1].bytes = 200;
  a.manifest.buffers[1].after = {};
  const Ran ran = run_on("run", a);
  EXPECT_EQ(ran.status, 1);
  EXPECT_THAT(ran.err, HasSubstr("buffer1"));
}

// An H200's driver gave a parameter of 128-byte alignment, alone in its kernel, the offset 112.
TEST_F(BundleProgram, ParametersAreAlignedAsInTheConstantBank) {
  Axpy a;
  a.ptx.replace(a.ptx.find(".align 8 .b8"), 12, ".align 128 .b8");
  a.manifest.ptx_checksum = cuda::bundle::checksum(cuda::bundle::testing::bytes_of(std::string_view(a.ptx)));
  a.manifest.parameters.insert(a.manifest.parameters.begin(), 112, 0);
  const Ran ran = run_on("compare", a);
  EXPECT_EQ(ran.status, 0) << ran.err;
  EXPECT_THAT(ran.out, HasSubstr("buffer1: equal bit by bit"));
}

// A table of functions as a device has it: 0x48 is a place in its code.
TEST_F(BundleProgram, CallsThroughFunctionAddressesOfVariables) {
  Axpy a;
  a.ptx = R"(.version 8.0
.target sm_90
.address_size 64
.visible .func (.param .b32 r) five(.param .b32 x) {
  .reg .b32 %r;
  mov.b32 %r, 5;
  st.param.b32 [r], %r;
  ret;
}
.global .align 8 .u64 scale[2] = {0, five};
.visible .entry axpy(.param .align 8 .b8 s[24]) {
  .reg .b64 %rd<3>;
  .reg .b32 %r<3>;
  ld.param.u64 %rd1, [s+8];
  ld.global.u64 %rd2, [scale+8];
  mov.b32 %r1, 0;
  { .param .b32 x; .param .b32 r;
  st.param.b32 [x], %r1;
  proto: .callprototype (.param .b32 _) _ (.param .b32 _);
  call (r), %rd2, (x), proto;
  ld.param.b32 %r2, [r]; }
  st.global.u32 [%rd1], %r2;
  ret;
}
)";
  a.manifest.ptx_checksum = cuda::bundle::checksum(cuda::bundle::testing::bytes_of(std::string_view(a.ptx)));
  const uint64_t table[2] = {0, 0x48};
  a.scale.resize(4);
  std::memcpy(a.scale.data(), table, sizeof table);
  a.manifest.buffers[2].bytes = 16;
  a.manifest.buffers[2].before.checksum = cuda::bundle::checksum(cuda::bundle::testing::bytes_of(a.scale));
  a.after.assign(100, 1);
  const uint32_t five = 5;
  std::memcpy(a.after.data(), &five, 4);
  a.manifest.buffers[1].after.checksum = cuda::bundle::checksum(cuda::bundle::testing::bytes_of(a.after));
  const Ran ran = run_on("compare", a);
  EXPECT_EQ(ran.status, 0) << ran.err << ran.out;
  EXPECT_THAT(ran.out, HasSubstr("scale: equal bit by bit (16 elements)"));
}

TEST_F(BundleProgram, AddressesOfTheMachinesWindowsAreUnsupported) {
  Axpy a;
  a.manifest.buffers[1].address = 0x0100'0000'0000;
  EXPECT_THAT(run_on("compare", a).err, HasSubstr("those of shared and local memory in the machine"));
}

TEST_F(BundleProgram, SaysWhatIsMissing) {
  Axpy a;
  a.manifest.complete = false;
  const Ran ended = run_on("compare", a);
  EXPECT_EQ(ended.status, 2);
  EXPECT_THAT(ended.err, HasSubstr("the launch did not end while it was captured"));
  Axpy machine_code;
  machine_code.manifest.ptx_file.clear();
  const Ran without = run_on("run", machine_code);
  EXPECT_EQ(without.status, 2);
  EXPECT_THAT(without.err, HasSubstr("no PTX of `axpy` was found when it was captured"));
  Axpy parameters;
  parameters.manifest.parameters.resize(16);
  EXPECT_THAT(run_on("run", parameters).err, HasSubstr("takes 24 bytes of parameters, 16 were recorded"));
  const Ran shaped = run_on("run", Axpy(), "--shape n=4");
  EXPECT_EQ(shaped.status, 2);
  EXPECT_THAT(shaped.err, HasSubstr("a bundle brings its launch and its arrays"));
}

}  // namespace
}  // namespace palladion::cli
