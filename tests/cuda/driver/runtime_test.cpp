// The runtime API's library without a toolkit: what nvcc's code calls before main is called here by hand.
#include <gtest/gtest.h>

#include <cstring>
#include <fstream>
#include <numeric>
#include <vector>

#include "cuda/driver/runtime/device_properties.h"
#include "tests/cuda/driver/library.h"

namespace palladion::cuda::runtime {
namespace {

namespace fs = std::filesystem;
using driver::driver_folder;
using driver::toolkit;

// A fatbin with one PTX text, not compressed (cuda/fatbin/fatbin.h), and the wrapper that names it.
struct Fatbin {
  explicit Fatbin(const std::string& ptx) {
    const uint64_t padded = (ptx.size() + 8) / 8 * 8;
    const auto put = [this](auto value) {
      const auto* const p = reinterpret_cast<const char*>(&value);
      bytes.insert(bytes.end(), p, p + sizeof value);
    };
    put(uint32_t{0xBA55ED50}), put(uint16_t{1}), put(uint16_t{16}), put(64 + padded);
    put(uint16_t{1}), put(uint16_t{0x101}), put(uint32_t{64}), put(padded), put(uint32_t{0}),
        put(uint32_t{0});
    put(uint16_t{7}), put(uint16_t{8}), put(uint32_t{90}), put(uint32_t{0}), put(uint32_t{0});
    put(uint64_t{0}), put(uint64_t{0}), put(uint64_t{0});
    bytes.insert(bytes.end(), ptx.begin(), ptx.end());
    bytes.resize(16 + 64 + padded);
    wrapper = {0x466243B1, 1, bytes.data(), nullptr};
  }
  std::vector<char> bytes;
  struct {
    uint32_t magic, version;
    const void* data;
    const void* objects;
  } wrapper{};
};

const std::string add_step = driver::head + R"(
.visible .global .align 4 .u32 step = 1;
.visible .entry add(.param .u64 p)
{
  .reg .b32 %r<4>;
  .reg .b64 %rd<4>;
  ld.param.u64 %rd1, [p];
  mov.u32 %r1, %tid.x;
  mul.wide.u32 %rd2, %r1, 4;
  add.s64 %rd3, %rd1, %rd2;
  ld.global.u32 %r2, [%rd3];
  ld.global.u32 %r3, [step];
  add.s32 %r2, %r2, %r3;
  st.global.u32 [%rd3], %r2;
  ret;
})";

class Runtime : public testing::Test {
 protected:
  void SetUp() override {
    if (!fs::exists(driver_folder + "/libcudart.so.13"))
      GTEST_SKIP() << "NOT TESTED: this build has no libcudart";
    library_ = dlopen((driver_folder + "/libcudart.so.13").c_str(), RTLD_NOW);
    ASSERT_NE(library_, nullptr) << dlerror();
    static Fatbin fatbin(add_step);
    auto* const begin = function<void**(void*)>("__cudaRegisterFatBinary");
    void** const handle = begin(&fatbin.wrapper);
    function<void(void**, const char*, char*, const char*, int, void*, void*, void*, void*, int*)>(
        "__cudaRegisterFunction")(handle, &add_, &add_, "add", -1, nullptr, nullptr, nullptr, nullptr,
                                  nullptr);
    function<void(void**, char*, char*, const char*, int, size_t, int, int)>("__cudaRegisterVar")(
        handle, &step_, &step_, "step", 0, 4, 0, 0);
    function<void(void**)>("__cudaRegisterFatBinaryEnd")(handle);
  }
  template <class F>
  F* function(const char* name) {
    auto* const f = reinterpret_cast<F*>(dlsym(library_, name));
    EXPECT_NE(f, nullptr) << name;
    return f;
  }
  template <class... Arguments>
  Error call(const char* name, Arguments... arguments) {
    return function<Error(Arguments...)>(name)(arguments...);
  }
  Error copy(void* to, const void* from, size_t bytes, int kind) {
    return call("cudaMemcpy", to, from, bytes, kind);
  }
  // As kernel<<<1, threads>>>(p) calls it.
  Error launch(const void* kernel, unsigned threads, void* p) {
    const Dim3 grid{1, 1, 1}, block{threads, 1, 1};
    EXPECT_EQ(call("__cudaPushCallConfiguration", grid, block, size_t{0}, Stream{nullptr}), 0);
    Dim3 g{}, b{};
    size_t shared = 1;
    Stream stream = &g;
    EXPECT_EQ(call("__cudaPopCallConfiguration", &g, &b, &shared, static_cast<void*>(&stream)), 0);
    EXPECT_TRUE(b.x == threads && shared == 0 && stream == nullptr);
    void* arguments[] = {static_cast<void*>(&p)};
    return call("cudaLaunchKernel", kernel, g, b, static_cast<void**>(arguments), shared, stream);
  }
  void* library_ = nullptr;
  static inline char add_ = 0, step_ = 0;  // their addresses name the kernel and the variable
};

TEST_F(Runtime, ARegisteredKernelRunsAndReadsARegisteredVariable) {
  std::vector<uint32_t> values(32);
  std::iota(values.begin(), values.end(), 0U);
  void* p = nullptr;
  ASSERT_EQ(call("cudaMalloc", &p, size_t{128}), 0);
  ASSERT_EQ(copy(p, values.data(), 128, host_to_device), 0);
  ASSERT_EQ(launch(&add_, 32, p), 0);
  const uint32_t ten = 10;
  ASSERT_EQ(call("cudaMemcpyToSymbol", static_cast<const void*>(&step_), static_cast<const void*>(&ten),
                 size_t{4}, size_t{0}, int{host_to_device}),
            0);
  ASSERT_EQ(launch(&add_, 32, p), 0);
  ASSERT_EQ(copy(values.data(), p, 128, device_to_host), 0);
  for (uint32_t i = 0; i < 32; ++i) EXPECT_EQ(values[i], i + 11);
}

TEST_F(Runtime, MistakesHaveTheRuntimesOwnErrors) {
  void* p = nullptr;
  ASSERT_EQ(call("cudaMalloc", &p, size_t{128}), 0);
  EXPECT_EQ(launch(&add_, 2048, p), driver::invalid_value);  // as an H100
  EXPECT_EQ(launch(static_cast<const void*>(&library_), 32, p), driver::invalid_handle);
  EXPECT_EQ(call("cudaPeekAtLastError"), driver::invalid_handle);
  EXPECT_EQ(call("cudaGetLastError"), driver::invalid_handle);
  EXPECT_EQ(call("cudaGetLastError"), 0);
  void* address = nullptr;
  EXPECT_EQ(call("cudaGetSymbolAddress", &address, static_cast<const void*>(&add_)), invalid_symbol);
  EXPECT_EQ(copy(p, p, 4, 7), invalid_memcpy_direction);
  EXPECT_EQ(call("cudaGetLastError"), invalid_memcpy_direction);
}

TEST_F(Runtime, AFaultStaysForTheProcess) {
  void* p = nullptr;
  ASSERT_EQ(call("cudaMalloc", &p, size_t{64}), 0);
  EXPECT_EQ(launch(&add_, 32, p), 0);  // 128 bytes
  EXPECT_EQ(call("cudaDeviceSynchronize"), driver::illegal_address);
  EXPECT_EQ(call("cudaMalloc", &p, size_t{64}), driver::illegal_address);
  EXPECT_EQ(call("cudaDeviceReset"), 0);
  constexpr int devices_unavailable = 46;
  EXPECT_EQ(call("cudaMalloc", &p, size_t{64}), devices_unavailable);
}

TEST_F(Runtime, AKernelCannotReachMemoryOfTheProcess) {
  std::vector<uint32_t> mine(32, 7);
  EXPECT_EQ(launch(&add_, 32, mine.data()), 0);
  EXPECT_EQ(call("cudaDeviceSynchronize"), driver::illegal_address);
  EXPECT_EQ(mine, std::vector<uint32_t>(32, 7));
}

TEST_F(Runtime, TheDeviceIsTheOneThatIsSimulated) {
  DeviceProperties p{};
  ASSERT_EQ(call("cudaGetDeviceProperties", &p, 0), 0);
  EXPECT_TRUE(p.major == 9 && p.minor == 0 && p.multiprocessors == 132 && p.max_threads_per_sm == 2048);
  EXPECT_EQ(p.shared_per_block_optin, 232448U);
  EXPECT_EQ(call("cudaGetDeviceProperties", &p, 1), driver::invalid_device);
}

// Each of the API's names is there: what we lack says so.
TEST_F(Runtime, WhatIsNotThereAnswersByName) {
  testing::internal::CaptureStderr();
  EXPECT_EQ(call("cudaIpcOpenEventHandle"), driver::not_supported);
  EXPECT_NE(testing::internal::GetCapturedStderr().find("unsupported: cudaIpcOpenEventHandle"),
            std::string::npos);
}

// The functions of a copy of the runtime library inside a program are directed to ours.
TEST(Preload, AProgramsOwnCopyIsDirectedToTheLibrary) {
  const std::string palladion = std::string(PLD_BINARY_DIR) + "/palladion";
  if (!fs::exists(palladion) || !fs::exists(driver_folder + "/libpalladion_exec.so"))
    GTEST_SKIP() << "NOT TESTED: palladion is not built";
  for (const std::string kind : {"-pie", "-no-pie"}) {
    const std::string program = testing::TempDir() + "/own_copy" + kind;
    const std::string compile = "g++ -O2 " + kind + " -o " + program + " " + PLD_SOURCE_DIR +
                                "/tests/cuda/driver/programs/own_copy.cpp";
    ASSERT_EQ(std::system(compile.c_str()), 0);
    const std::string run = palladion + " exec -- " + program + " 2> /dev/null";
    EXPECT_EQ(WEXITSTATUS(std::system(run.c_str())), 0) << kind;
  }
}

TEST(RuntimeAbi, IsThatOfCudaRuntimeApiH) {
  if (toolkit().empty()) GTEST_SKIP() << "the CUDA toolkit is absent";
  const std::string source = testing::TempDir() + "/palladion_runtime_abi.cpp";
  std::ofstream(source) << R"(#include <cuda_runtime_api.h>
#include "cuda/driver/runtime/device_properties.h"
#include <cstddef>
namespace r = palladion::cuda::runtime;
#define SAME(ours, theirs, a, b) static_assert(offsetof(r::ours, a) == offsetof(theirs, b), #a)
#define SIZE(ours, theirs) static_assert(sizeof(r::ours) == sizeof(theirs), #ours)
SIZE(DeviceProperties, cudaDeviceProp); SIZE(FunctionAttributes, cudaFuncAttributes);
SIZE(PointerAttributes, cudaPointerAttributes); SIZE(LaunchConfig, cudaLaunchConfig_t);
SIZE(Copy3D, cudaMemcpy3DParms); SIZE(PeerCopy3D, cudaMemcpy3DPeerParms); SIZE(KernelNodeParams, cudaKernelNodeParams);
SIZE(MemsetParams, cudaMemsetParams); SIZE(NodeParams, cudaGraphNodeParams); SIZE(ChannelDesc, cudaChannelFormatDesc);
SIZE(ResourceDesc, cudaResourceDesc); SIZE(TextureDesc, cudaTextureDesc); SIZE(Dim3, dim3); SIZE(Location, cudaMemLocation);
#define PROPERTY(a, b) SAME(DeviceProperties, cudaDeviceProp, a, b)
PROPERTY(uuid, uuid); PROPERTY(total_global_memory, totalGlobalMem); PROPERTY(shared_per_block, sharedMemPerBlock);
PROPERTY(max_threads_per_block, maxThreadsPerBlock); PROPERTY(major, major); PROPERTY(multiprocessors, multiProcessorCount);
PROPERTY(texture_2d_linear, maxTexture2DLinear); PROPERTY(texture_cubemap_layered, maxTextureCubemapLayered);
PROPERTY(surface_alignment, surfaceAlignment); PROPERTY(pci_bus, pciBusID); PROPERTY(l2_bytes, l2CacheSize);
PROPERTY(max_threads_per_sm, maxThreadsPerMultiProcessor); PROPERTY(shared_per_sm, sharedMemPerMultiprocessor);
PROPERTY(managed_memory, managedMemory); PROPERTY(cooperative_launch, cooperativeLaunch);
PROPERTY(shared_per_block_optin, sharedMemPerBlockOptin); PROPERTY(max_blocks_per_sm, maxBlocksPerMultiProcessor);
PROPERTY(reserved_shared_per_block, reservedSharedMemPerBlock); PROPERTY(memory_pools, memoryPoolsSupported);
PROPERTY(pool_handle_types, memoryPoolSupportedHandleTypes); PROPERTY(cluster_launch, clusterLaunch);
PROPERTY(unified_functions, unifiedFunctionPointers); PROPERTY(host_numa_ipc, hostNumaMultinodeIpcSupported);
SAME(FunctionAttributes, cudaFuncAttributes, registers, numRegs);
SAME(FunctionAttributes, cudaFuncAttributes, max_dynamic_shared, maxDynamicSharedSizeBytes);
SAME(FunctionAttributes, cudaFuncAttributes, nonportable_cluster, nonPortableClusterSizeAllowed);
SAME(FunctionAttributes, cudaFuncAttributes, cluster_policy, clusterSchedulingPolicyPreference);
SAME(LaunchConfig, cudaLaunchConfig_t, attributes, attrs); SAME(LaunchConfig, cudaLaunchConfig_t, stream, stream);
SAME(Copy3D, cudaMemcpy3DParms, dst, dstPtr); SAME(Copy3D, cudaMemcpy3DParms, kind, kind);
SAME(PeerCopy3D, cudaMemcpy3DPeerParms, dst, dstPtr); SAME(PeerCopy3D, cudaMemcpy3DPeerParms, extent, extent);
SAME(PointerAttributes, cudaPointerAttributes, host_pointer, hostPointer);
SAME(KernelNodeParams, cudaKernelNodeParams, params, kernelParams);
SAME(MemsetParams, cudaMemsetParams, width, width); SAME(MemsetParams, cudaMemsetParams, element_bytes, elementSize);
SAME(NodeParams, cudaGraphNodeParams, kernel, kernel); SAME(NodeParams, cudaGraphNodeParams, memcpy.copy, memcpy.copyParams);
SAME(ConditionalNodeParams, cudaConditionalNodeParams, graphs, phGraph_out); SAME(NodeParams, cudaGraphNodeParams, conditional, conditional);
SAME(NodeParams, cudaGraphNodeParams, allocate, alloc); SAME(NodeParams, cudaGraphNodeParams, release, free.dptr);
SAME(ResourceDesc, cudaResourceDesc, of.linear.bytes, res.linear.sizeInBytes);
SAME(ResourceDesc, cudaResourceDesc, of.pitch2d.pitch, res.pitch2D.pitchInBytes); SAME(ResourceDesc, cudaResourceDesc, flags, flags);
SAME(TextureDesc, cudaTextureDesc, border, borderColor); SAME(TextureDesc, cudaTextureDesc, most_level, maxMipmapLevelClamp);
SAME(TextureDesc, cudaTextureDesc, seamless_cubemap, seamlessCubemap); SAME(TextureDesc, cudaTextureDesc, normalized_read, readMode);
static_assert(r::invalid_symbol == cudaErrorInvalidSymbol);
static_assert(r::invalid_device_function == cudaErrorInvalidDeviceFunction && r::invalid_memcpy_direction == cudaErrorInvalidMemcpyDirection);
static_assert(r::invalid_pitch_value == cudaErrorInvalidPitchValue && r::missing_configuration == cudaErrorMissingConfiguration);
static_assert(r::invalid_channel_descriptor == cudaErrorInvalidChannelDescriptor);
static_assert(r::allocate_node == cudaGraphNodeTypeMemAlloc && r::release_node == cudaGraphNodeTypeMemFree && r::record_node == cudaGraphNodeTypeEventRecord);
)";
  const std::string command =
      "g++ -std=c++20 -fsyntax-only -I" + toolkit() + "/include -I" + PLD_SOURCE_DIR + " " + source;
  EXPECT_EQ(std::system(command.c_str()), 0);
}

}  // namespace
}  // namespace palladion::cuda::runtime
