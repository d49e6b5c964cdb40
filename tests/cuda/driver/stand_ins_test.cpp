// Libraries in place of NVIDIA's: what programs start with is there, the rest answers by name.
#include "tests/cuda/driver/library.h"

namespace palladion::cuda::driver {
namespace {

class StandIns : public Driver {
 protected:
  void open(const char* file) {
    library_ = dlopen((driver_folder + "/" + file).c_str(), RTLD_NOW);
    ASSERT_NE(library_, nullptr) << dlerror();
  }
  void expect_by_name(const char* function, Status not_supported_status) {
    testing::internal::CaptureStderr();
    EXPECT_EQ(call(function), not_supported_status);
    EXPECT_EQ(testing::internal::GetCapturedStderr(),
              std::string("palladion exec: unsupported: ") + function + "\n");
  }
};

TEST_F(StandIns, NvmlTellsOfTheDevice) {
  open("libnvidia-ml.so.1");
  unsigned count = 0;
  void* device = nullptr;
  EXPECT_EQ(call("nvmlInit_v2"), success);
  EXPECT_EQ(call("nvmlDeviceGetCount_v2", &count), success);
  EXPECT_EQ(count, 1U);
  EXPECT_EQ(call("nvmlDeviceGetHandleByIndex_v2", 1U, &device), 2) << "there is no second device";
  ASSERT_EQ(call("nvmlDeviceGetHandleByIndex_v2", 0U, &device), success);
  char name[96] = {}, short_name[4] = {};
  EXPECT_EQ(call("nvmlDeviceGetName", device, static_cast<char*>(name), 96U), success);
  EXPECT_NE(std::string(name).find("NVIDIA"), std::string::npos);
  EXPECT_EQ(call("nvmlDeviceGetUUID", device, static_cast<char*>(short_name), 4U), 7) << "too short";
  EXPECT_EQ(call("nvmlDeviceGetUUID", device, static_cast<char*>(name), 96U), success);
  EXPECT_EQ(std::string(name).size(), 40U);
  int major = 0, minor = 0;
  EXPECT_EQ(call("nvmlDeviceGetCudaComputeCapability", device, &major, &minor), success);
  EXPECT_GE(major, 9);
  expect_by_name("nvmlDeviceGetTemperature", 3);
}

TEST_F(StandIns, NvmlTellsThatTheDeviceIsAlone) {
  open("libnvidia-ml.so.1");
  void* device = nullptr;
  ASSERT_EQ(call("nvmlDeviceGetHandleByIndex_v2", 0U, &device), success);
  unsigned answer = 9;
  EXPECT_EQ(call("nvmlDeviceGetNvLinkState", device, 17U, &answer), success);
  EXPECT_EQ(answer, 0U) << "a link to another device";
  EXPECT_EQ(call("nvmlDeviceGetNvLinkState", device, 18U, &answer), 2) << "there is no such link";
  EXPECT_EQ(call("nvmlDeviceGetCurrPcieLinkGeneration", device, &answer), success);
  EXPECT_EQ(answer, 5U);
  unsigned fabric[9] = {sizeof fabric | 2U << 24, 7, 7, 7, 7, 7, 7, 7, 7};
  EXPECT_EQ(call("nvmlDeviceGetGpuFabricInfoV", device, static_cast<unsigned*>(fabric)), success);
  EXPECT_EQ(fabric[0], sizeof fabric | 2U << 24);
  EXPECT_EQ(fabric[8], 0U);
  fabric[0] = 0;
  EXPECT_EQ(call("nvmlDeviceGetGpuFabricInfoV", device, static_cast<unsigned*>(fabric)), 2)
      << "of no version";
}

TEST_F(StandIns, CuptiHasAVersionAndMeasuresNothing) {
  open("libcupti.so.13");
  uint32_t version = 0;
  EXPECT_EQ(call("cuptiGetVersion", &version), success);
  EXPECT_EQ(version, 130000U);
  expect_by_name("cuptiActivityEnable", 27);
}

TEST_F(StandIns, CudnnHasHandles) {
  open("libcudnn.so.9");
  void *handle = nullptr, *stream = nullptr;
  int here = 0;
  ASSERT_EQ(call("cudnnCreate", &handle), success);
  EXPECT_EQ(call("cudnnSetStream", handle, static_cast<void*>(&here)), success);
  EXPECT_EQ(call("cudnnGetStream", handle, &stream), success);
  EXPECT_EQ(stream, &here);
  EXPECT_EQ(call("cudnnDestroy", handle), success);
  expect_by_name("cudnnConvolutionForward", 3000);
}

TEST_F(StandIns, TheRuntimeFreesNothingWhileThisThreadCaptures) {
  open("libcudart.so.13");
  constexpr int thread_local_mode = 1, unsupported_in_capture = 900;
  void* stream = nullptr;
  EXPECT_EQ(call("cudaFree", static_cast<void*>(nullptr)), success);
  ASSERT_EQ(call("cudaStreamCreate", &stream), success);
  ASSERT_EQ(call("cudaStreamBeginCapture", stream, thread_local_mode), success);
  EXPECT_EQ(call("cudaFree", static_cast<void*>(nullptr)), unsupported_in_capture);
}

TEST_F(StandIns, TheRuntimeMakesConditionsByTheNewNameToo) {
  open("libcudart.so.13");
  void* graph = nullptr;
  unsigned long long handle = 0;
  ASSERT_EQ(call("cudaGraphCreate", &graph, 0U), success);
  EXPECT_EQ(call("cudaGraphConditionalHandleCreate_v2", &handle, graph, static_cast<void*>(nullptr), 1U, 0U),
            success);
  EXPECT_NE(handle, 0U);
}

}  // namespace
}  // namespace palladion::cuda::driver
