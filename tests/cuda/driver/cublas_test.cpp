// cuBLAS' library: handles keep what is set, products are computed on the host, the rest answers by name.
#include <complex>
#include <fstream>
#include <numeric>
#include <vector>

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
  EXPECT_EQ(call("cublasSsyr2k_v2", handle), blas_not_supported);
  EXPECT_EQ(call("cublasLtLoggerSetLevel", 1), blas_not_supported);
  EXPECT_EQ(
      testing::internal::GetCapturedStderr(),
      "palladion exec: unsupported: cublasSsyr2k_v2\npalladion exec: unsupported: cublasLtLoggerSetLevel\n");
  EXPECT_EQ(call("cublasDestroy_v2", handle), success);
}

// 2x3 by 3x2, by columns, A with a leading dimension of 3.
TEST_F(Cublas, MultipliesByColumns) {
  void* handle = nullptr;
  ASSERT_EQ(call("cublasCreate_v2", &handle), success);
  const OfDevice<float> a(*this, {1, 4, -1, 2, 5, -1, 3, 6, -1}), b(*this, {7, 9, 11, 8, 10, 12}),
      c(*this, {1, 1, 1, 1});
  const float alpha = 1, beta = 10;
  EXPECT_EQ(call("cublasSgemm_v2", handle, 0, 0, 2, 2, 3, static_cast<const void*>(&alpha), a.pointer(), 3,
                 b.pointer(), 3, static_cast<const void*>(&beta), c.pointer(), 2),
            success);
  EXPECT_EQ(c.values(), (std::vector<float>{58 + 10, 139 + 10, 64 + 10, 154 + 10}));
  // B transposed by A transposed is the transpose.
  const OfDevice<double> x(*this, {1, 4, 2, 5, 3, 6}), y(*this, {7, 9, 11, 8, 10, 12}),
      z(*this, {0, 0, 0, 0});
  const double one = 1, zero = 0;
  EXPECT_EQ(call("cublasDgemm_v2_64", handle, 1, 1, int64_t{2}, int64_t{2}, int64_t{3},
                 static_cast<const void*>(&one), y.pointer(), int64_t{3}, x.pointer(), int64_t{2},
                 static_cast<const void*>(&zero), z.pointer(), int64_t{2}),
            success);
  EXPECT_EQ(z.values(), (std::vector<double>{58, 64, 139, 154}));
  EXPECT_EQ(call("cublasDestroy_v2", handle), success);
}

TEST_F(Cublas, ConjugatesAndTakesScalarsOfTheDevice) {
  using c64 = std::complex<double>;
  void* handle = nullptr;
  ASSERT_EQ(call("cublasCreate_v2", &handle), success);
  EXPECT_EQ(call("cublasSetPointerMode_v2", handle, 1), success);
  const OfDevice<c64> a(*this, {{1, 2}, {3, -1}}), b(*this, {{2, 0}, {0, 1}}), c(*this, {{NAN, NAN}}),
      scalars(*this, {{2, 0}, {0, 0}});
  EXPECT_EQ(call("cublasZgemm_v2", handle, 2, 0, 1, 1, 2, scalars.pointer(), a.pointer(), 2, b.pointer(), 2,
                 reinterpret_cast<void*>(scalars.at + sizeof(c64)), c.pointer(), 1),
            success);
  const c64 wanted = 2.0 * (std::conj(c64{1, 2}) * c64{2, 0} + std::conj(c64{3, -1}) * c64{0, 1});
  EXPECT_EQ(c.values(), std::vector<c64>{wanted}) << "with beta 0, C is not read";
  EXPECT_EQ(call("cublasDestroy_v2", handle), success);
}

// (2 0; 1 4) X = 2 B, and X^T by the transpose from the right; the upper triangle is not read.
TEST_F(Cublas, SolvesByTriangles) {
  void* handle = nullptr;
  ASSERT_EQ(call("cublasCreate_v2", &handle), success);
  const OfDevice<float> a(*this, {2, 1, NAN, 4}), b(*this, {2, 5});
  const float two = 2;
  EXPECT_EQ(call("cublasStrsm_v2", handle, 0, 0, 0, 0, 2, 1, static_cast<const void*>(&two), a.pointer(), 2,
                 b.pointer(), 2),
            success);
  EXPECT_EQ(b.values(), (std::vector<float>{2, 2}));
  const OfDevice<double> c(*this, {2, 1, NAN, 4}), row(*this, {2, 5});
  const double double_two = 2;
  EXPECT_EQ(call("cublasDtrsm_v2_64", handle, 1, 0, 1, 0, int64_t{1}, int64_t{2},
                 static_cast<const void*>(&double_two), c.pointer(), int64_t{2}, row.pointer(), int64_t{1}),
            success);
  EXPECT_EQ(row.values(), (std::vector<double>{2, 2}));
  EXPECT_EQ(call("cublasDestroy_v2", handle), success);
}

// The addresses lie in device memory: those of the matrices when the product is done count.
TEST_F(Cublas, MultipliesAndSolvesByArraysOfAddresses) {
  constexpr int type_f16 = 2, type_sum_f32 = 68;
  constexpr uint16_t one = 0x3c00, two = 0x4000, three = 0x4200, six = 0x4600;
  void* handle = nullptr;
  ASSERT_EQ(call("cublasCreate_v2", &handle), success);
  const OfDevice<float> a(*this, {1, 2}), b(*this, {3, 4}), c(*this, {0, 0}), d(*this, {0, 0});
  const OfDevice<Pointer> left(*this, {a.at, b.at}), right(*this, {b.at, b.at}), to(*this, {d.at, c.at});
  const float alpha = 1, beta = 0;
  EXPECT_EQ(call("cublasSgemmBatched", handle, 1, 0, 1, 1, 2, static_cast<const void*>(&alpha),
                 left.pointer(), 2, right.pointer(), 2, static_cast<const void*>(&beta), to.pointer(), 1, 2),
            success);
  EXPECT_EQ(d.values(), (std::vector<float>{11, 0}));
  EXPECT_EQ(c.values(), (std::vector<float>{25, 0}));
  const OfDevice<uint16_t> x(*this, {two}), y(*this, {three}), z(*this, {one});
  const OfDevice<Pointer> xs(*this, {x.at}), ys(*this, {y.at}), zs(*this, {z.at});
  EXPECT_EQ(call("cublasGemmBatchedEx", handle, 0, 0, 1, 1, 1, static_cast<const void*>(&alpha), xs.pointer(),
                 type_f16, 1, ys.pointer(), type_f16, 1, static_cast<const void*>(&beta), zs.pointer(),
                 type_f16, 1, 1, type_sum_f32, -1),
            success);
  EXPECT_EQ(z.values(), std::vector<uint16_t>{six});
  const OfDevice<float> triangle(*this, {2, 1, NAN, 4}), first(*this, {2, 5}), second(*this, {4, 10});
  const OfDevice<Pointer> triangles(*this, {triangle.at, triangle.at}), sides(*this, {first.at, second.at});
  EXPECT_EQ(call("cublasStrsmBatched", handle, 0, 0, 0, 0, 2, 1, static_cast<const void*>(&alpha),
                 triangles.pointer(), 2, sides.pointer(), 2, 2),
            success);
  EXPECT_EQ(first.values(), (std::vector<float>{1, 1}));
  EXPECT_EQ(second.values(), (std::vector<float>{2, 2}));
  EXPECT_EQ(call("cublasDestroy_v2", handle), success);
}

TEST_F(Cublas, AnAddressOfABatchThatIsNoneIsRefused) {
  void* handle = nullptr;
  ASSERT_EQ(call("cublasCreate_v2", &handle), success);
  constexpr Status illegal = 700;
  const OfDevice<float> a(*this, {1});
  const OfDevice<Pointer> good(*this, {a.at}), bad(*this, {Pointer{64}});
  const float alpha = 1, beta = 0;
  testing::internal::CaptureStderr();
  call("cublasSgemmBatched", handle, 0, 0, 1, 1, 1, static_cast<const void*>(&alpha), good.pointer(), 1,
       bad.pointer(), 1, static_cast<const void*>(&beta), good.pointer(), 1, 1);
  EXPECT_NE(testing::internal::GetCapturedStderr().find("cublasSgemmBatched: 4 bytes at"), std::string::npos);
  EXPECT_EQ(call("cuCtxSynchronize"), illegal);
  call("palladion_exec_clear_fault");
  EXPECT_EQ(call("cublasDestroy_v2", handle), success);
}

// Halves in batches, summed in f32; 8-bit integers in i32.
TEST_F(Cublas, MultipliesOtherTypesAndBatches) {
  constexpr int type_f16 = 2, i8 = 3, i32 = 10, type_sum_f32 = 68, sum_i32 = 72;
  constexpr uint16_t one = 0x3c00, two = 0x4000, three = 0x4200;
  void* handle = nullptr;
  ASSERT_EQ(call("cublasCreate_v2", &handle), success);
  const OfDevice<uint16_t> a(*this, {one, two}), b(*this, {three, three}), c(*this, {0, 0});
  const float alpha = 1, zero = 0;
  EXPECT_EQ(call("cublasGemmStridedBatchedEx", handle, 0, 0, 1, 1, 1, static_cast<const void*>(&alpha),
                 a.pointer(), type_f16, 1, 1LL, b.pointer(), type_f16, 1, 1LL,
                 static_cast<const void*>(&zero), c.pointer(), type_f16, 1, 1LL, 2, type_sum_f32, -1),
            success);
  EXPECT_EQ(c.values(), (std::vector<uint16_t>{three, 0x4600}));
  const OfDevice<int8_t> p(*this, {100, -100}), q(*this, {100, 50});
  const OfDevice<int32_t> r(*this, {7});
  const int32_t whole = 1;
  EXPECT_EQ(call("cublasGemmEx", handle, 1, 0, 1, 1, 2, static_cast<const void*>(&whole), p.pointer(), i8, 2,
                 q.pointer(), i8, 2, static_cast<const void*>(&whole), r.pointer(), i32, 1, sum_i32, -1),
            success);
  EXPECT_EQ(r.values(), std::vector<int32_t>{5007});
  EXPECT_EQ(call("cublasDestroy_v2", handle), success);
}

TEST_F(Cublas, RefusesWhatIsWrong) {
  void* handle = nullptr;
  ASSERT_EQ(call("cublasCreate_v2", &handle), success);
  constexpr Status blas_invalid_value = 7, blas_execution_failed = 13, illegal = 700;
  const float alpha = 1, beta = 0;
  const OfDevice<float> a(*this, {1, 2, 3, 4});
  const auto product = [&](int rows, int leading, void* to) {
    return call("cublasSgemm_v2", handle, 0, 0, rows, 2, 2, static_cast<const void*>(&alpha), a.pointer(),
                leading, a.pointer(), 2, static_cast<const void*>(&beta), to, leading);
  };
  EXPECT_EQ(product(2, 1, a.pointer()), blas_invalid_value);
  EXPECT_EQ(product(-1, 2, a.pointer()), blas_invalid_value);
  EXPECT_EQ(product(0, 2, nullptr), success);
  testing::internal::CaptureStderr();
  EXPECT_EQ(product(2, 2, nullptr), blas_execution_failed);
  EXPECT_NE(testing::internal::GetCapturedStderr().find("cublasSgemm_v2: 16 bytes at"), std::string::npos);
  EXPECT_EQ(call("cuCtxSynchronize"), illegal);
  call("palladion_exec_clear_fault");
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
