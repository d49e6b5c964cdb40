// The driver API's library, called as a program calls it. Each test is a process of its own.
#include <gtest/gtest.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <numeric>
#include <string>
#include <vector>

#include "tests/cuda/driver/exec_program.h"
#include "tests/cuda/driver/library.h"

namespace {

using namespace palladion::cuda::driver;
namespace fs = std::filesystem;

constexpr const char* add_one = R"(
.version 8.7
.target sm_90
.address_size 64
.global .align 4 .u32 step = 1;
.visible .entry add(.param .u64 p, .param .u32 n) {
  .reg .pred %q;
  .reg .b32 %r<8>;
  .reg .b64 %rd<5>;
  ld.param.u64 %rd1, [p];
  ld.param.u32 %r1, [n];
  mov.u32 %r2, %tid.x;
  mov.u32 %r3, %ctaid.x;
  mov.u32 %r4, %ntid.x;
  mad.lo.s32 %r5, %r3, %r4, %r2;
  setp.ge.u32 %q, %r5, %r1;
  @%q bra done;
  mul.wide.u32 %rd2, %r5, 4;
  add.s64 %rd3, %rd1, %rd2;
  ld.global.u32 %r6, [%rd3];
  ld.global.u32 %r7, [step];
  add.s32 %r6, %r6, %r7;
  st.global.u32 [%rd3], %r6;
done:
  ret;
})";

TEST_F(Driver, LaunchesAKernelOfPtxTextOnItsMemory) {
  void* const f = kernel(add_one, "add");
  std::vector<uint32_t> values(1000);
  std::iota(values.begin(), values.end(), 0U);
  Pointer p = memory(4000);
  EXPECT_EQ(call("cuMemcpyHtoD_v2", p, static_cast<const void*>(values.data()), size_t{4000}), success);
  uint32_t n = 1000;
  void* params[] = {&p, &n};
  EXPECT_EQ(launch(f, 4, 256, params), success);
  EXPECT_EQ(call("cuCtxSynchronize"), success);
  EXPECT_EQ(call("cuMemcpyDtoH_v2", static_cast<void*>(values.data()), p, size_t{4000}), success);
  for (uint32_t i = 0; i < n; ++i) ASSERT_EQ(values[i], i + 1);
}

// PTX of the first compilers: no address size, 16-bit special registers, `mad` without a rounding.
constexpr const char* scale_of_sm_10 = R"(
	.version 1.4
	.target sm_10, map_f64_to_f32
	.entry scale (
		.param .u64 __cudaparm_p,
		.param .f32 __cudaparm_a)
	{
	.reg .u32 %r<5>;
	.reg .u64 %rd<4>;
	.reg .f32 %f<5>;
$begin:
	cvt.s32.u16 	%r1, %ctaid.x;
	cvt.s32.u16 	%r2, %ntid.x;
	mul24.lo.s32 	%r3, %r1, %r2;
	cvt.u32.u16 	%r4, %tid.x;
	add.u32 	%r4, %r4, %r3;
	ld.param.u64 	%rd1, [__cudaparm_p];
	mul.wide.u32 	%rd2, %r4, 4;
	add.u64 	%rd3, %rd1, %rd2;
	ld.global.f32 	%f1, [%rd3+0];
	ld.param.f32 	%f2, [__cudaparm_a];
	mov.f32 	%f3, 0f3f800000;     	// 1
	mad.f32 	%f4, %f1, %f2, %f3;
	st.global.f32 	[%rd3+0], %f4;
	exit;
	} // scale
)";

TEST_F(Driver, PtxForSm10Runs) {
  void* const f = kernel(scale_of_sm_10, "scale");
  std::vector<float> values(256);
  std::iota(values.begin(), values.end(), 0.0f);
  Pointer p = memory(1024);
  EXPECT_EQ(call("cuMemcpyHtoD_v2", p, static_cast<const void*>(values.data()), size_t{1024}), success);
  float a = 0.5f;
  void* params[] = {&p, &a};
  EXPECT_EQ(launch(f, 4, 64, params), success);
  EXPECT_EQ(call("cuMemcpyDtoH_v2", static_cast<void*>(values.data()), p, size_t{1024}), success);
  for (size_t i = 0; i < values.size(); ++i) ASSERT_EQ(values[i], static_cast<float>(i) * 0.5f + 1.0f);
}

TEST_F(Driver, AVariableOfAModuleIsReadAndWritten) {
  void* module = nullptr;
  ASSERT_EQ(call("cuModuleLoadData", &module, static_cast<const void*>(add_one)), success);
  Pointer p = 0;
  size_t bytes = 0;
  ASSERT_EQ(call("cuModuleGetGlobal_v2", &p, &bytes, module, "step"), success);
  EXPECT_EQ(bytes, 4U);
  uint32_t value = 0;
  EXPECT_EQ(call("cuMemcpyDtoH_v2", static_cast<void*>(&value), p, size_t{4}), success);
  EXPECT_EQ(value, 1U);
  EXPECT_EQ(call("cuModuleGetGlobal_v2", &p, &bytes, module, "no_such"), not_found);
}

// The kernel is given memory of this process that was never registered.
TEST_F(Driver, AKernelCannotReachHostMemoryAndItsFaultStays) {
  void* const f = kernel(add_one, "add");
  std::vector<uint32_t> mine(32, 7);
  auto p = reinterpret_cast<Pointer>(mine.data());
  uint32_t n = 32;
  void* params[] = {&p, &n};
  EXPECT_EQ(launch(f, 1, 32, params), success);
  EXPECT_EQ(call("cuCtxSynchronize"), illegal_address);
  EXPECT_EQ(mine, std::vector<uint32_t>(32, 7));
  Pointer q = 0;
  EXPECT_EQ(call("cuMemAlloc_v2", &q, size_t{4}), illegal_address);
}

// The kernel is given a part of an array that was registered, and writes behind it.
TEST_F(Driver, AKernelCannotReachHostMemoryBesideAnAllocation) {
  void* const f = kernel(add_one, "add");
  std::vector<uint32_t> mine(256, 7);
  ASSERT_EQ(call("cuMemHostRegister_v2", static_cast<void*>(mine.data()), size_t{128}, 0U), success);
  auto p = reinterpret_cast<Pointer>(mine.data() + 16);
  uint32_t n = 32;
  void* params[] = {&p, &n};
  EXPECT_EQ(launch(f, 1, 32, params), success);
  EXPECT_EQ(call("cuCtxSynchronize"), illegal_address);
  EXPECT_EQ(std::vector<uint32_t>(mine.begin() + 32, mine.end()), std::vector<uint32_t>(224, 7));
}

TEST_F(Driver, RegisteredHostMemoryIsReached) {
  void* const f = kernel(add_one, "add");
  std::vector<uint32_t> mine(32, 7);
  ASSERT_EQ(call("cuMemHostRegister_v2", static_cast<void*>(mine.data()), size_t{128}, 0U), success);
  Pointer p = 0;
  ASSERT_EQ(call("cuMemHostGetDevicePointer_v2", &p, static_cast<void*>(mine.data()), 0U), success);
  uint32_t n = 32;
  void* params[] = {&p, &n};
  EXPECT_EQ(launch(f, 1, 32, params), success);
  EXPECT_EQ(call("cuCtxSynchronize"), success);
  EXPECT_EQ(mine, std::vector<uint32_t>(32, 8));
}

TEST_F(Driver, ACopyBeyondAnAllocationIsRefused) {
  const Pointer p = memory(100);
  std::vector<char> bytes(200);
  EXPECT_EQ(call("cuMemcpyDtoH_v2", static_cast<void*>(bytes.data()), p, size_t{101}), invalid_value);
  EXPECT_EQ(call("cuMemsetD8_v2", p, static_cast<unsigned char>(1), size_t{101}), invalid_value);
  EXPECT_EQ(call("cuMemFree_v2", p + 4), invalid_value);
  EXPECT_EQ(call("cuMemFree_v2", p), success);
  EXPECT_EQ(call("cuMemFree_v2", p), invalid_value);
}

TEST_F(Driver, ACapturedLaunchRunsWithItsGraph) {
  void* const f = kernel(add_one, "add");
  const Pointer p = memory(128);
  void *stream = nullptr, *graph = nullptr, *exec = nullptr;
  ASSERT_EQ(call("cuStreamCreate", &stream, 0U), success);
  ASSERT_EQ(call("cuStreamBeginCapture_v2", stream, 0), success);
  Pointer at = p;
  uint32_t n = 32;
  void* params[] = {&at, &n};
  EXPECT_EQ(call("cuMemsetD32Async", p, 5U, size_t{32}, stream), success);
  EXPECT_EQ(launch(f, 1, 32, params, stream), success);
  ASSERT_EQ(call("cuStreamEndCapture", stream, &graph), success);
  uint32_t value = 1;
  EXPECT_EQ(call("cuMemcpyDtoH_v2", static_cast<void*>(&value), p, size_t{4}), success);
  EXPECT_EQ(value, 0U) << "not yet";
  ASSERT_EQ(call("cuGraphInstantiateWithFlags", &exec, graph, uint64_t{0}), success);
  for (int i = 0; i < 2; ++i) EXPECT_EQ(call("cuGraphLaunch", exec, stream), success);
  EXPECT_EQ(call("cuMemcpyDtoH_v2", static_cast<void*>(&value), p, size_t{4}), success);
  EXPECT_EQ(value, 6U);
  EXPECT_EQ(call("cuGraphExecDestroy", exec), success);
  EXPECT_EQ(call("cuGraphDestroy", graph), success);
  EXPECT_EQ(call("cuStreamDestroy_v2", stream), success);
}

TEST_F(Driver, WhatIsNotThereAnswersByName) {
  void* f = nullptr;
  int status = 0;
  ASSERT_EQ(call("cuGetProcAddress_v2", "cuNoSuchCall", &f, 13000, uint64_t{0}, &status), success);
  ASSERT_NE(f, nullptr);
  testing::internal::CaptureStderr();
  EXPECT_EQ(reinterpret_cast<Status (*)()>(f)(), not_supported);
  EXPECT_NE(testing::internal::GetCapturedStderr().find("cuNoSuchCall"), std::string::npos);
}

TEST_F(Driver, BrokenImagesAreRefused) {
  void* module = nullptr;
  const char elf[64] = {0x7f, 'E', 'L', 'F', 2, 1, 1};
  EXPECT_EQ(call("cuModuleLoadData", &module, static_cast<const void*>(elf)), no_binary_for_gpu);
  EXPECT_EQ(
      call("cuModuleLoadData", &module, static_cast<const void*>(".version 8.7\n.target sm_90\nbroken")),
      invalid_ptx);
}

// ---- with a toolkit ----

TEST(DriverAbi, IsThatOfCudaH) {
  if (toolkit().empty()) GTEST_SKIP() << "the CUDA toolkit is absent";
  const std::string source = testing::TempDir() + "/palladion_abi.cpp";
  std::ofstream(source) << R"(#include <cuda.h>
#include "cuda/driver/abi.h"
#include <cstddef>
namespace d = palladion::cuda::driver;
#define SAME(ours, theirs, a, b) static_assert(offsetof(d::ours, a) == offsetof(theirs, b))
static_assert(sizeof(d::Memcpy2D) == sizeof(CUDA_MEMCPY2D) && sizeof(d::Memcpy3D) == sizeof(CUDA_MEMCPY3D));
static_assert(sizeof(d::KernelNode) == sizeof(CUDA_KERNEL_NODE_PARAMS) && sizeof(d::LaunchConfig) == sizeof(CUlaunchConfig));
static_assert(sizeof(d::MemsetNode) == sizeof(CUDA_MEMSET_NODE_PARAMS) && sizeof(d::LaunchAttribute) == sizeof(CUlaunchAttribute));
SAME(Memcpy3D, CUDA_MEMCPY3D, dst_pitch, dstPitch); SAME(Memcpy3D, CUDA_MEMCPY3D, src_device, srcDevice);
SAME(Memcpy3D, CUDA_MEMCPY3D, width, WidthInBytes); SAME(Memcpy2D, CUDA_MEMCPY2D, dst_device, dstDevice);
SAME(KernelNode, CUDA_KERNEL_NODE_PARAMS, params, kernelParams); SAME(KernelNode, CUDA_KERNEL_NODE_PARAMS, kernel, kern);
SAME(LaunchConfig, CUlaunchConfig, attributes, attrs); SAME(MemsetNode, CUDA_MEMSET_NODE_PARAMS, width, width);
static_assert(sizeof(d::ArrayDescriptor) == sizeof(CUDA_ARRAY_DESCRIPTOR) && sizeof(d::Array3DDescriptor) == sizeof(CUDA_ARRAY3D_DESCRIPTOR));
static_assert(sizeof(d::ResourceDescriptor) == sizeof(CUDA_RESOURCE_DESC) && sizeof(d::TextureDescriptor) == sizeof(CUDA_TEXTURE_DESC));
static_assert(sizeof(d::ResourceViewDescriptor) == sizeof(CUDA_RESOURCE_VIEW_DESC) && sizeof(d::ArrayMemoryRequirements) == sizeof(CUDA_ARRAY_MEMORY_REQUIREMENTS));
static_assert(sizeof(d::AllocationProperties) == sizeof(CUmemAllocationProp) && sizeof(d::AccessDescriptor) == sizeof(CUmemAccessDesc));
static_assert(sizeof(d::PoolProperties) == sizeof(CUmemPoolProps) && sizeof(d::MemAllocNode) == sizeof(CUDA_MEM_ALLOC_NODE_PARAMS));
static_assert(sizeof(d::ConditionalNode) == sizeof(CUDA_CONDITIONAL_NODE_PARAMS) && int(d::ConditionalType::choice) == CU_GRAPH_COND_TYPE_SWITCH);
SAME(ConditionalNode, CUDA_CONDITIONAL_NODE_PARAMS, size, size); SAME(ConditionalNode, CUDA_CONDITIONAL_NODE_PARAMS, graphs, phGraph_out);
static_assert(d::stream_capture_merge == CUDA_ERROR_STREAM_CAPTURE_MERGE && d::stream_capture_wrong_thread == CUDA_ERROR_STREAM_CAPTURE_WRONG_THREAD);
static_assert(d::captured_event == CUDA_ERROR_CAPTURED_EVENT && d::stream_capture_implicit == CUDA_ERROR_STREAM_CAPTURE_IMPLICIT);
static_assert(sizeof(d::NodeParams) == sizeof(CUgraphNodeParams) && sizeof(d::UpdateResult) == sizeof(CUgraphExecUpdateResultInfo));
static_assert(sizeof(d::MemcpyNode) == sizeof(CUDA_MEMCPY_NODE_PARAMS) && sizeof(d::Memcpy3D) == sizeof(CUDA_MEMCPY3D_PEER));
SAME(ResourceDescriptor, CUDA_RESOURCE_DESC, of.pitch2d.pitch, res.pitch2D.pitchInBytes); SAME(ResourceDescriptor, CUDA_RESOURCE_DESC, of.linear.bytes, res.linear.sizeInBytes);
SAME(TextureDescriptor, CUDA_TEXTURE_DESC, border, borderColor); SAME(TextureDescriptor, CUDA_TEXTURE_DESC, flags, flags);
SAME(Array3DDescriptor, CUDA_ARRAY3D_DESCRIPTOR, flags, Flags); SAME(NodeParams, CUgraphNodeParams, of, kernel);
SAME(MemAllocNode, CUDA_MEM_ALLOC_NODE_PARAMS, address, dptr); SAME(AllocationProperties, CUmemAllocationProp, flags, allocFlags);
static_assert(d::format_f16 == CU_AD_FORMAT_HALF && d::texture_srgb == CU_TRSF_SRGB && d::array_gather == CUDA_ARRAY3D_TEXTURE_GATHER);
static_assert(int(d::LaunchAttributeId::cooperative) == CU_LAUNCH_ATTRIBUTE_COOPERATIVE && int(d::LaunchAttributeId::cluster_dimension) == CU_LAUNCH_ATTRIBUTE_CLUSTER_DIMENSION);
static_assert(int(d::LaunchAttributeId::launch_completion_event) == CU_LAUNCH_ATTRIBUTE_LAUNCH_COMPLETION_EVENT && int(d::LaunchAttributeId::priority) == CU_LAUNCH_ATTRIBUTE_PRIORITY);
static_assert(int(d::NodeType::memset) == CU_GRAPH_NODE_TYPE_MEMSET && int(d::NodeType::batch_mem_op) == CU_GRAPH_NODE_TYPE_BATCH_MEM_OP && int(d::NodeType::conditional) == CU_GRAPH_NODE_TYPE_CONDITIONAL);
static_assert(d::invalid_cluster == CUDA_ERROR_INVALID_CLUSTER_SIZE && d::graph_exec_update_failure == CUDA_ERROR_GRAPH_EXEC_UPDATE_FAILURE);
static_assert(d::stream_capture_unsupported == CUDA_ERROR_STREAM_CAPTURE_UNSUPPORTED && d::not_permitted == CUDA_ERROR_NOT_PERMITTED);
static_assert(d::illegal_address == CUDA_ERROR_ILLEGAL_ADDRESS && d::assert_failed == CUDA_ERROR_ASSERT && d::invalid_ptx == CUDA_ERROR_INVALID_PTX);
static_assert(d::no_binary_for_gpu == CUDA_ERROR_NO_BINARY_FOR_GPU && d::cooperative_launch_too_large == CUDA_ERROR_COOPERATIVE_LAUNCH_TOO_LARGE);
static_assert(d::misaligned_address == CUDA_ERROR_MISALIGNED_ADDRESS && d::launch_failed == CUDA_ERROR_LAUNCH_FAILED);
)";
  const std::string command =
      "g++ -std=c++20 -fsyntax-only -I" + toolkit() + "/include -I" + PLD_SOURCE_DIR + " " + source;
  EXPECT_EQ(std::system(command.c_str()), 0);
}

// A program that is linked with libcuda.so.1 starts, whatever it calls: what is not there answers by name.
TEST_F(Driver, HasEveryFunctionOfCudaH) {
  if (toolkit().empty()) GTEST_SKIP() << "the CUDA toolkit is absent";
  const std::string names = testing::TempDir() + "/palladion_names";
  size_t count = 0;
  for (const std::string mode : {"", "-DCUDA_API_PER_THREAD_DEFAULT_STREAM"}) {
    const std::string command = "echo '#include <cuda.h>' | g++ -E -x c " + mode + " -I" + toolkit() +
                                "/include - | tr '\\n' ' ' | grep -oE 'CUresult +cu[A-Z][A-Za-z0-9_]*' | "
                                "awk '{print $2}' > " +
                                names;
    ASSERT_EQ(std::system(command.c_str()), 0);
    std::ifstream in(names);
    for (std::string name; in >> name; ++count) EXPECT_NE(dlsym(library_, name.c_str()), nullptr) << name;
  }
  EXPECT_GT(count, 800U);
}

// Programs that look functions up by dlsym still ask for the names of CUDA 3.
TEST_F(Driver, HasFirstVersionsOfTheSameInterface) {
  void* context = nullptr;
  EXPECT_EQ(call("cuCtxPopCurrent", &context), success);
  EXPECT_EQ(call("cuCtxPushCurrent", context), success);
  void *stream = nullptr, *event = nullptr;
  ASSERT_EQ(call("cuStreamCreate", &stream, 0U), success);
  ASSERT_EQ(call("cuEventCreate", &event, 0U), success);
  EXPECT_EQ(call("cuStreamDestroy", stream), success);
  EXPECT_EQ(call("cuEventDestroy", event), success);
  uint32_t address = 7;
  EXPECT_EQ(call("cuMemAlloc", &address, 16U), not_supported);  // of 32 bits
  EXPECT_EQ(address, 7U);
}

TEST_F(Exec, AProgramOfTheDriverApiRuns) {
  const std::string compile = "g++ -I" + toolkit() + "/include -o " + program("driver_api") + " " +
                              source("programs/driver_api.cpp") + " " + driver_folder + "/libcuda.so.1";
  ASSERT_EQ(std::system(compile.c_str()), 0);
  EXPECT_EQ(execute("--check all", program("driver_api")), 0);
  EXPECT_EQ(execute("", program("driver_api") + " fault"), 1);  // the program ends with 0
}

// nvcc links the runtime library statically without -cudart shared: such a program is directed to ours.
TEST_F(ExecRuntime, AProgramRunsHoweverItIsLinked) {
  const char* const subjects[] = {"launches", "errors", "host_memory", "symbols", "managed",
                                  "streams",  "graphs", "cooperative", "textures"};
  for (const std::string flags : {"", "-cudart shared", "--default-stream per-thread"}) {
    const std::string runtime = compiled(flags, "runs");
    for (const std::string subject : subjects) {
      // The exit code is 1 where a kernel had an error and the program ends with 0.
      const bool faults = subject == "errors" || subject == "host_memory";
      EXPECT_EQ(execute("", runtime + " " + subject + " 2> /dev/null"), faults ? 1 : 0)
          << flags << " " << subject;
    }
  }
}

// The settings of `exec` are in the environment, which the C library must have in spite of our early start.
TEST_F(ExecRuntime, AStaticallyLinkedProgramKeepsItsEnvironment) {
  const std::string json = program("environment.json");
  EXPECT_EQ(execute("--schedule latest --json " + json, compiled("", "environment") + " symbols"), 0);

  std::ifstream in(json);
  const std::string report{std::istreambuf_iterator<char>(in), {}};
  EXPECT_NE(report.find("\"schedule\": \"latest\""), std::string::npos) << report;
}

// A grid that synchronises needs all of its CTAs at once, whatever the order in which warps run.
TEST_F(ExecRuntime, AGridSynchronisesUnderEverySchedule) {
  const std::string grid_sync = compiled("", "grid_sync", {"programs/grid_sync.cu"});
  for (const std::string schedule : {"functional", "earliest", "latest", "seeded:3", "hardware"})
    EXPECT_EQ(execute("--check all --schedule " + schedule, grid_sync), 0) << schedule;
}

TEST_F(ExecRuntime, AGlobalDestructorLaunches) {
  EXPECT_EQ(execute("--check all", compiled("", "at_exit", {"programs/at_exit.cu"})), 0);
}

TEST_F(ExecRuntime, KernelsLaunchKernels) {
  const std::string nested = compiled("-rdc=true -lcudadevrt", "nested", {"programs/nested.cu"});
  for (const std::string options : {"", "--check all", "--schedule seeded:3", "--schedule hardware"})
    EXPECT_EQ(execute(options, nested), 0) << options;
}
TEST_F(ExecRuntime, KernelsDecideTheCourseOfAGraph) {
  for (const std::string flags : {"", "-rdc=true -lcudadevrt", "--default-stream per-thread"}) {
    const std::string graph = compiled(flags, "conditional", {"programs/conditional.cu"});
    for (const std::string options : {"", "--check all", "--schedule seeded:3", "--schedule hardware"})
      EXPECT_EQ(execute(options, graph), 0) << flags << ' ' << options;
  }
}
TEST_F(ExecRuntime, AKernelCallsAFunctionOfAnotherObject) {
  EXPECT_EQ(execute("", compiled("-rdc=true", "linked", {"programs/linked_a.cu", "programs/linked_b.cu"})),
            0);
}

TEST_F(ExecRuntime, WhatNvrtcCompilesForAnArchitectureRuns) {
  const std::string nvrtc =
      compiled("-Wno-deprecated-gpu-targets -L" + toolkit() + "/lib64/stubs -lnvrtc -lcuda", "nvrtc",
               {"programs/nvrtc.cpp"});
  EXPECT_EQ(execute("", "env LD_LIBRARY_PATH=" + driver_folder + ":" + toolkit() + "/lib64 " + nvrtc), 0);
}

TEST_F(ExecRuntime, PrintfOfTheDeviceIsShownByASynchronisation) {
  const std::string out = program("said");
  EXPECT_EQ(execute("", compiled("", "says") + " device > " + out), 0);
  std::ifstream in(out);
  const std::string said{std::istreambuf_iterator<char>(in), {}};
  EXPECT_EQ(said, "thread 0 of the device\nthread 1 of the device\n");
}

// The functions are found by the names that they tell profilers, and by an archive of the toolkit.
TEST_F(ExecRuntime, AStrippedProgramRuns) {
  const std::string stripped = compiled("-Xlinker -s", "stripped");
  EXPECT_EQ(execute("", stripped + " launches"), 0);
  // Its runtime is ours: another library in it asks the driver for what none but NVIDIA's has.
  const std::string said = program("asks") + ".said";
  EXPECT_EQ(execute("", stripped + " asks_driver 2> " + said), 0);
  std::ifstream in(said);
  const std::string text{std::istreambuf_iterator<char>(in), {}};
  EXPECT_EQ(text.find("unsupported"), std::string::npos) << text;
}

// As modules of Cython do, whose functions name the function of the API that they call in their errors.
TEST_F(ExecRuntime, FunctionsThatNameTheRuntimesAreNotItsOwn) {
  EXPECT_EQ(execute("", compiled("-cudart none -Xlinker -s", "bindings", {"programs/bindings.cpp"})), 0);
}

}  // namespace
