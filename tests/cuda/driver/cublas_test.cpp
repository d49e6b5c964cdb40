// cuBLAS' library: handles keep what is set; what computes answers by name.
#include <fstream>

#include "tests/cuda/driver/library.h"

namespace palladion::cuda::driver {
namespace {

constexpr Status not_initialized_handle = 1, blas_not_supported = 15;

class Cublas : public Driver {
 protected:
  void SetUp() override {
    Driver::SetUp();
    if (IsSkipped() || HasFatalFailure()) return;
    library_ = dlopen((driver_folder + "/libcublas.so.13").c_str(), RTLD_NOW);
    ASSERT_NE(library_, nullptr) << dlerror();
  }
};

TEST_F(Cublas, AHandleKeepsWhatIsSet) {
  void *handle = nullptr, *stream = nullptr;
  int mode = 0, number = 0;
  ASSERT_EQ(call("cublasCreate_v2", &handle), success);
  EXPECT_EQ(call("cublasSetMathMode", handle, 3), success);
  EXPECT_EQ(call("cublasGetMathMode", handle, &mode), success);
  EXPECT_EQ(mode, 3);
  EXPECT_EQ(call("cublasGetPointerMode_v2", handle, &mode), success);
  EXPECT_EQ(mode, 0);  // of the host
  EXPECT_EQ(call("cublasSetStream_v2", handle, static_cast<void*>(&mode)), success);
  EXPECT_EQ(call("cublasGetStream_v2", handle, &stream), success);
  EXPECT_EQ(stream, &mode);
  EXPECT_EQ(call("cublasGetVersion_v2", handle, &number), success);
  EXPECT_EQ(number, 130100);
  EXPECT_EQ(call("cublasDestroy_v2", handle), success);
  EXPECT_EQ(call("cublasSetMathMode", static_cast<void*>(nullptr), 3), not_initialized_handle);
}

TEST_F(Cublas, WhatComputesAnswersByName) {
  void* handle = nullptr;
  ASSERT_EQ(call("cublasCreate_v2", &handle), success);
  testing::internal::CaptureStderr();
  EXPECT_EQ(call("cublasSgemm_v2", handle), blas_not_supported);
  EXPECT_EQ(call("cublasLtMatmul", handle), blas_not_supported);
  EXPECT_EQ(testing::internal::GetCapturedStderr(),
            "palladion exec: unsupported: cublasSgemm_v2\npalladion exec: unsupported: cublasLtMatmul\n");
  EXPECT_EQ(call("cublasDestroy_v2", handle), success);
}

// A program that is linked with cuBLAS starts, whatever it calls.
TEST_F(Cublas, HasEveryFunctionOfItsHeaders) {
  if (!std::filesystem::exists(toolkit() + "/include/cublas_v2.h"))
    GTEST_SKIP() << "cuBLAS headers are absent";
  const std::string names = testing::TempDir() + "/palladion_cublas_names";
  const std::string command =
      "printf '#include <cublas_v2.h>\\n#include <cublasLt.h>\\n' | g++ -E -P -x c++ -I" + toolkit() +
      "/include - | tr '\\n' ' ' | sed 's/inline cublasStatus_t//g' | "
      "grep -oE 'cublasStatus_t +cublas[A-Z][A-Za-z0-9_]*' | awk '{print $2}' | sort -u > " +
      names;
  ASSERT_EQ(std::system(command.c_str()), 0);
  std::ifstream in(names);
  size_t count = 0;
  for (std::string name; in >> name; ++count) EXPECT_NE(dlsym(library_, name.c_str()), nullptr) << name;
  EXPECT_GT(count, 500U);
}

}  // namespace
}  // namespace palladion::cuda::driver
