// Launches through the driver API: cooperative grids, clusters, attributes, limits.
#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "tests/cuda/driver/library.h"

namespace {

using namespace palladion::cuda::driver;

// Each CTA (one thread) writes its slot, waits for all others at the barrier of the grid's workspace, and
// reads its neighbour's: what cooperative_groups' grid.sync() does, once.
const std::string grid_barrier = head + R"(
.visible .entry k(.param .u64 p) {
  .reg .pred %q<2>;
  .reg .b32 %r<12>;
  .reg .b64 %rd<8>;
  ld.param.u64 %rd1, [p];
  mov.u32 %r1, %envreg1;
  mov.u32 %r2, %envreg2;
  mov.b64 %rd2, {%r2, %r1};
  mov.u32 %r3, %ctaid.x;
  mov.u32 %r4, %nctaid.x;
  mul.wide.u32 %rd3, %r3, 4;
  add.s64 %rd4, %rd1, %rd3;
  add.u32 %r5, %r3, 1;
  st.global.u32 [%rd4], %r5;
  atom.add.release.gpu.u32 %r6, [%rd2+4], 1;
wait:
  ld.acquire.gpu.u32 %r7, [%rd2+4];
  setp.lt.u32 %q1, %r7, %r4;
  @%q1 bra wait;
  rem.u32 %r8, %r5, %r4;
  mul.wide.u32 %rd5, %r8, 4;
  add.s64 %rd6, %rd1, %rd5;
  ld.global.u32 %r9, [%rd6];
  mul.wide.u32 %rd7, %r4, 4;
  add.s64 %rd7, %rd4, %rd7;
  st.global.u32 [%rd7], %r9;
  ret;
})";

class Launches : public Driver {
 protected:
  Status cooperative(void* f, unsigned grid, unsigned block, void** params) {
    return call("cuLaunchCooperativeKernel", f, grid, 1U, 1U, block, 1U, 1U, 0U, static_cast<void*>(nullptr),
                params);
  }
  Status with(void* f, unsigned grid, std::vector<LaunchAttribute> attributes, void** params) {
    LaunchConfig c{{grid, 1, 1}, {32, 1, 1},        0,
                   nullptr,      attributes.data(), static_cast<uint32_t>(attributes.size())};
    return call("cuLaunchKernelEx", static_cast<const LaunchConfig*>(&c), f, params,
                static_cast<void**>(nullptr));
  }
  static LaunchAttribute cluster(uint32_t x) {
    LaunchAttribute a{.id = LaunchAttributeId::cluster_dimension, .padding = {}, .value = {}};
    a.value.cluster = {x, 1, 1};
    return a;
  }
  static LaunchAttribute flag(LaunchAttributeId id, int value) {
    LaunchAttribute a{.id = id, .padding = {}, .value = {}};
    a.value.flag = value;
    return a;
  }
};

TEST_F(Launches, the_ctas_of_a_cooperative_grid_wait_for_each_other) {
  void* const f = kernel(grid_barrier.c_str(), "k");
  constexpr unsigned n = 200;  // more than SMs
  Pointer p = memory(2 * n * 4);
  void* params[] = {&p};
  for (int i = 0; i < 2; ++i) EXPECT_EQ(cooperative(f, n, 1, params), success) << "each with a new barrier";
  std::vector<uint32_t> out(2 * n);
  EXPECT_EQ(call("cuMemcpyDtoH_v2", static_cast<void*>(out.data()), p, out.size() * 4), success);
  for (unsigned i = 0; i < n; ++i) ASSERT_EQ(out[n + i], (i + 1) % n + 1);
}

// The same by the calls of the device's library, as compilers without cooperative_groups.h write it.
const std::string called_barrier = head + R"(
.extern .func (.param .b64 result) cudaCGGetIntrinsicHandle(.param .b32 scope);
.extern .func (.param .b32 result) cudaCGSynchronize(.param .b64 handle, .param .b32 flags);
.visible .entry k(.param .u64 p) {
  .reg .b32 %r<12>;
  .reg .b64 %rd<8>;
  .param .b32 scope;
  .param .b64 handle;
  .param .b32 flags;
  .param .b32 error;
  ld.param.u64 %rd1, [p];
  mov.u32 %r1, %ctaid.x;
  mov.u32 %r2, %ntid.x;
  mov.u32 %r3, %tid.x;
  mad.lo.u32 %r1, %r1, %r2, %r3;
  mov.u32 %r4, %nctaid.x;
  mul.lo.u32 %r4, %r4, %r2;
  mul.wide.u32 %rd2, %r1, 4;
  add.s64 %rd3, %rd1, %rd2;
  add.u32 %r5, %r1, 1;
  st.global.u32 [%rd3], %r5;
  mov.b32 %r6, 1;
  st.param.b32 [scope], %r6;
  call.uni (handle), cudaCGGetIntrinsicHandle, (scope);
  ld.param.b64 %rd4, [handle];
  st.param.b64 [handle], %rd4;
  mov.b32 %r7, 0;
  st.param.b32 [flags], %r7;
  call.uni (error), cudaCGSynchronize, (handle, flags);
  ld.param.b32 %r10, [error];
  rem.u32 %r8, %r5, %r4;
  mul.wide.u32 %rd5, %r8, 4;
  add.s64 %rd6, %rd1, %rd5;
  ld.global.u32 %r9, [%rd6];
  add.u32 %r9, %r9, %r10;
  mul.wide.u32 %rd7, %r4, 4;
  add.s64 %rd7, %rd3, %rd7;
  st.global.u32 [%rd7], %r9;
  ret;
})";

TEST_F(Launches, the_device_library_synchronises_a_cooperative_grid) {
  void* const f = kernel(called_barrier.c_str(), "k");
  ASSERT_NE(f, nullptr);
  constexpr unsigned ctas = 40, threads = 64, n = ctas * threads;
  Pointer p = memory(2 * n * 4);
  void* params[] = {&p};
  for (int i = 0; i < 2; ++i) EXPECT_EQ(cooperative(f, ctas, threads, params), success);
  std::vector<uint32_t> out(2 * n);
  EXPECT_EQ(call("cuMemcpyDtoH_v2", static_cast<void*>(out.data()), p, out.size() * 4), success);
  for (unsigned i = 0; i < n; ++i) ASSERT_EQ(out[n + i], (i + 1) % n + 1);

  ASSERT_EQ(launch(f, 1, 1, params), success) << "not cooperative: no handle, and nobody waits";
  EXPECT_EQ(call("cuMemcpyDtoH_v2", static_cast<void*>(out.data()), p, size_t{8}), success);
  EXPECT_EQ(out[1], 1U + 1U) << "cudaErrorInvalidValue";
}

TEST_F(Launches, a_cooperative_grid_that_is_not_resident_as_a_whole_is_refused) {
  void* const f = kernel(grid_barrier.c_str(), "k");
  int per_sm = 0, sms = 0;
  ASSERT_EQ(call("cuOccupancyMaxActiveBlocksPerMultiprocessor", &per_sm, f, 1024, size_t{0}), success);
  ASSERT_EQ(call("cuDeviceGetAttribute", &sms, 16, 0), success);
  Pointer p = memory(1 << 20);
  void* params[] = {&p};
  const auto most = static_cast<unsigned>(per_sm * sms);
  EXPECT_EQ(cooperative(f, most + 1, 1024, params), cooperative_launch_too_large);
  const LaunchAttribute together = flag(LaunchAttributeId::cooperative, 1);
  EXPECT_EQ(with(f, 1 << 20, {together}, params), cooperative_launch_too_large);
}

const std::string cluster_rank = head + R"(
.visible .entry k(.param .u64 p) {
  .reg .b32 %r<4>;
  .reg .b64 %rd<4>;
  ld.param.u64 %rd1, [p];
  mov.u32 %r1, %ctaid.x;
  mov.u32 %r2, %cluster_ctarank;
  mul.wide.u32 %rd2, %r1, 4;
  add.s64 %rd3, %rd1, %rd2;
  st.global.u32 [%rd3], %r2;
  ret;
})";

TEST_F(Launches, clusters_are_those_of_the_launch) {
  void* const f = kernel(cluster_rank.c_str(), "k");
  Pointer p = memory(64);
  void* params[] = {&p};
  EXPECT_EQ(with(f, 16, {cluster(4)}, params), success);
  std::vector<uint32_t> out(16);
  EXPECT_EQ(call("cuMemcpyDtoH_v2", static_cast<void*>(out.data()), p, size_t{64}), success);
  for (unsigned i = 0; i < 16; ++i) ASSERT_EQ(out[i], i % 4);
  EXPECT_EQ(with(f, 16, {cluster(3)}, params), invalid_cluster) << "no divisor of the grid";
  EXPECT_EQ(with(f, 16, {cluster(16)}, params), invalid_cluster) << "not portable";
  EXPECT_EQ(call("cuFuncSetAttribute", f, 14, 1), success);
  EXPECT_EQ(with(f, 16, {cluster(16)}, params), success);

  LaunchAttribute a = cluster(2);
  LaunchConfig c{{16, 1, 1}, {32, 1, 1}, 0, nullptr, &a, 1};
  int clusters = 0;
  EXPECT_EQ(call("cuOccupancyMaxActiveClusters", &clusters, f, static_cast<const LaunchConfig*>(&c)),
            success);
  EXPECT_EQ(clusters, 132 * 32 / 2) << "32 CTAs an SM";
}

// What nvcc writes for __cluster_dims__: a launch without the attribute has the kernel's own clusters.
TEST_F(Launches, an_explicit_cluster_may_be_that_of_the_kernel) {
  std::string source = cluster_rank;
  source.insert(source.find("{", source.find(".entry")), ".explicitcluster .reqnctapercluster 2, 1, 1 ");
  void* const f = kernel(source.c_str(), "k");
  Pointer p = memory(16);
  void* params[] = {&p};
  EXPECT_EQ(with(f, 4, {}, params), success);
  std::vector<uint32_t> out(4);
  EXPECT_EQ(call("cuMemcpyDtoH_v2", static_cast<void*>(out.data()), p, size_t{16}), success);
  for (unsigned i = 0; i < 4; ++i) EXPECT_EQ(out[i], i % 2);
  EXPECT_EQ(with(f, 4, {cluster(4)}, params), invalid_cluster) << "not that of the kernel";
}

TEST_F(Launches, attributes_are_known_or_refused) {
  void* const f = kernel(cluster_rank.c_str(), "k");
  Pointer p = memory(64);
  void* params[] = {&p};
  void* event = nullptr;
  ASSERT_EQ(call("cuEventCreate", &event, 0U), success);
  LaunchAttribute done{.id = LaunchAttributeId::launch_completion_event, .padding = {}, .value = {}};
  done.value.event.event = event;
  EXPECT_EQ(with(f, 1,
                 {flag(LaunchAttributeId::priority, -1),
                  flag(LaunchAttributeId::programmatic_stream_serialization, 1), done},
                 params),
            success);
  float ms = -1;
  EXPECT_EQ(call("cuEventElapsedTime_v2", &ms, event, event), success) << "the launch recorded it";
  EXPECT_EQ(call("cuEventDestroy_v2", event), success);
  EXPECT_EQ(with(f, 1, {flag(static_cast<LaunchAttributeId>(99), 1)}, params), invalid_value);
  testing::internal::CaptureStderr();
  EXPECT_EQ(with(f, 1, {flag(LaunchAttributeId::device_updatable_kernel_node, 1)}, params), not_supported);
  EXPECT_NE(testing::internal::GetCapturedStderr().find("kernels update"), std::string::npos);
}

// A kernel that waits for the host ends as unsupported, by its name, and is not called a deadlock.
TEST_F(Launches, a_wait_for_the_host_is_unsupported) {
  const std::string text = head + R"(
.visible .entry k(.param .u64 p) {
  .reg .pred %q; .reg .b32 %r; .reg .b64 %rd;
  ld.param.u64 %rd, [p];
wait:
  ld.acquire.sys.u32 %r, [%rd];
  setp.eq.u32 %q, %r, 0;
  @%q bra wait;
  ret;
})";
  void* const f = kernel(text.c_str(), "k");
  Pointer flag = 0;
  ASSERT_EQ(call("cuMemAllocManaged", &flag, size_t{4}, 1U), success);
  void* params[] = {&flag};
  testing::internal::CaptureStderr();
  EXPECT_EQ(launch(f, 1, 32, params), success);
  EXPECT_EQ(call("cuCtxSynchronize"), not_supported);
  EXPECT_NE(testing::internal::GetCapturedStderr().find(
                "unsupported[PLD3081]: the kernel waits for a write of the host"),
            std::string::npos);
}

TEST_F(Launches, the_heap_is_as_large_as_the_limit_and_fixed_by_its_first_use) {
  const std::string text = head + R"(
.extern .func (.param .b64 result) malloc(.param .b64 bytes);
.visible .entry k(.param .u64 p) {
  .reg .b64 %rd<4>;
  ld.param.u64 %rd1, [p];
  mov.u64 %rd2, 4194304;
  {
    .param .b64 a;
    .param .b64 b;
    st.param.b64 [a], %rd2;
    call.uni (b), malloc, (a);
    ld.param.b64 %rd3, [b];
  }
  st.global.u64 [%rd1], %rd3;
  ret;
})";
  constexpr int heap = 2;
  ASSERT_EQ(call("cuCtxSetLimit", heap, size_t{1} << 20), success);
  void* const f = kernel(text.c_str(), "k");
  Pointer p = memory(8);
  void* params[] = {&p};
  EXPECT_EQ(launch(f, 1, 1, params), success);
  uint64_t block = 1;
  EXPECT_EQ(call("cuMemcpyDtoH_v2", static_cast<void*>(&block), p, size_t{8}), success);
  EXPECT_EQ(block, 0U) << "4 MiB of 1 MiB";
  EXPECT_EQ(call("cuCtxSetLimit", heap, size_t{16} << 20), invalid_value);
  size_t value = 0;
  EXPECT_EQ(call("cuCtxGetLimit", &value, heap), success);
  EXPECT_EQ(value, size_t{1} << 20);
  EXPECT_EQ(call("cuCtxSetLimit", 3, size_t{1}), unsupported_limit);
}

}  // namespace
