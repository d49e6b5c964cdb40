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

TEST_F(Runtime, AThreadWhoseContextWasTakenGetsThePrimaryOneAgain) {
  void* const driver_library = dlopen((driver_folder + "/libcuda.so.1").c_str(), RTLD_NOW);
  ASSERT_NE(driver_library, nullptr) << dlerror();
  auto* const set = reinterpret_cast<Error (*)(void*)>(dlsym(driver_library, "cuCtxSetCurrent"));
  void* p = nullptr;
  ASSERT_EQ(call("cudaMalloc", &p, size_t{64}), 0);
  ASSERT_EQ(set(nullptr), 0);
  EXPECT_EQ(call("cudaMalloc", &p, size_t{64}), 0);
  ASSERT_EQ(set(nullptr), 0);
  EXPECT_EQ(call("cudaDeviceReset"), 0);
  EXPECT_EQ(call("cudaMalloc", &p, size_t{64}), 0) << "the device is not lost";
}

TEST_F(Runtime, AVolumeThatLeavesItsMemoryIsNotFilled) {
  constexpr size_t all = ~size_t{0}, bytes = 4096;
  void* p = nullptr;
  ASSERT_EQ(call("cudaMalloc", &p, bytes), 0);
  ASSERT_EQ(call("cudaMemset", p, 7, bytes), 0);
  const auto fill = [&](size_t pitch, size_t ysize, size_t width, size_t height, size_t depth) {
    return call("cudaMemset3D", PitchedPtr{p, pitch, width, ysize}, 1, Extent{width, height, depth});
  };
  EXPECT_EQ(fill(16, 4, 16, 2, 65), driver::invalid_value) << "the last slice lies outside";
  EXPECT_EQ(fill(16, 4, 16, 4, 65), driver::invalid_value);
  EXPECT_EQ(fill(size_t{1} << 32, size_t{1} << 32, 16, 2, 3), driver::invalid_value) << "a slice of 2^64";
  EXPECT_EQ(fill(16, all / 16 + 1, 16, 2, 3), driver::invalid_value);
  EXPECT_EQ(fill(16, 1, 16, 2, all), driver::invalid_value);
  EXPECT_EQ(fill(all, 2, 16, 2, 2), driver::invalid_value);
  EXPECT_EQ(fill(16, 2, all, 2, 2), driver::invalid_value);
  EXPECT_EQ(fill(16, all, 16, all, all), driver::invalid_value);
  std::vector<uint8_t> now(bytes);
  ASSERT_EQ(copy(now.data(), p, bytes, device_to_host), 0);
  EXPECT_EQ(now, std::vector<uint8_t>(bytes, 7));
  EXPECT_EQ(fill(16, 4, 8, 2, 64), 0);
  EXPECT_EQ(fill(0, 0, 8, 1, all), 0) << "a slice again and again";
  ASSERT_EQ(copy(now.data(), p, bytes, device_to_host), 0);
  for (size_t i = 0; i < bytes; ++i) ASSERT_EQ(now[i], i % 16 < 8 && i / 16 % 4 < 2 ? 1 : 7) << i;
}

TEST_F(Runtime, PlacesInArraysDoNotOverflow) {
  constexpr size_t all = ~size_t{0};
  void *array = nullptr, *p = nullptr;
  const ChannelDesc floats{32, 0, 0, 0, 2};
  ASSERT_EQ(call("cudaMallocArray", &array, &floats, size_t{16}, size_t{4}, 0U), 0);
  ASSERT_EQ(call("cudaMalloc", &p, size_t{4096}), 0);
  std::vector<uint8_t> host(4096, 5);
  const void* const from = host.data();
  const int kind = host_to_device;
  for (const size_t y :
       {size_t{4}, all / 64 + 1, all, size_t{1} << 58})  // rows of 64 bytes: some are 0 again
    EXPECT_EQ(call("cudaMemcpyToArray", array, size_t{0}, y, from, size_t{16}, kind), driver::invalid_value)
        << y;
  EXPECT_EQ(call("cudaMemcpyToArray", array, all - 15, size_t{0}, from, size_t{32}, kind),
            driver::invalid_value);
  Copy3D c{};
  c.src = {host.data(), 64, 64, 4};
  c.dst_array = array;
  c.extent = {4, 1, 1};
  c.kind = kind;
  EXPECT_EQ(call("cudaMemcpy3D", static_cast<const Copy3D*>(&c)), 0);
  for (const size_t x : {all / 4 + 1, all, size_t{1} << 62}) {
    c.dst_pos = {x, 0, 0};
    EXPECT_EQ(call("cudaMemcpy3D", static_cast<const Copy3D*>(&c)), driver::invalid_value) << x;
    c.dst_pos = {0, 0, 0}, c.extent.width = x;
    EXPECT_EQ(call("cudaMemcpy3D", static_cast<const Copy3D*>(&c)), driver::invalid_value) << x;
    c.extent.width = 4;
  }
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

// What is opened later is seen before its constructors run: a copy of the runtime library in it, and a
// library of NVIDIA's by its path.
TEST(Preload, WhatAProgramOpensIsDirectedToTheLibrary) {
  const std::string palladion = std::string(PLD_BINARY_DIR) + "/palladion";
  if (!fs::exists(palladion) || !fs::exists(driver_folder + "/libpalladion_exec.so"))
    GTEST_SKIP() << "NOT TESTED: palladion is not built";
  const std::string folder = testing::TempDir() + "/opened",
                    programs = std::string(PLD_SOURCE_DIR) + "/tests/cuda/driver/programs/";
  fs::create_directories(folder);
  const auto compile = [&](const std::string& flags, const std::string& source, const std::string& out) {
    ASSERT_EQ(
        std::system(("g++ -O2 " + flags + " -o " + folder + "/" + out + " " + programs + source).c_str()), 0);
  };
  compile("-shared -fPIC", "opened_copy.cpp", "libplugin.so");
  compile("-shared -fPIC", "opened_copy.cpp", "libcudart.so.13");
  compile("-shared -fPIC -s -Wl,--version-script=" + programs + "opened_copy.map", "opened_copy.cpp",
          "libhidden.so");
  fs::copy_file(folder + "/libhidden.so", folder + "/libcute.so", fs::copy_options::overwrite_existing);
  compile("", "opens.cpp", "opens");
  const auto run = [&](const std::string& before, const std::string& library) {
    return WEXITSTATUS(
        std::system((before + folder + "/opens " + folder + "/" + library + " > /dev/null 2>&1").c_str()));
  };
  for (const char* const library : {"libplugin.so", "libcudart.so.13", "libhidden.so", "libcute.so"}) {
    EXPECT_NE(run("", library), 0) << library << " without exec";
    EXPECT_EQ(run(palladion + " exec -- ", library), 0) << library;
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
