// cublasLt's products: descriptions keep what is set, epilogues are computed, what is not there answers by
// name.
#include <array>
#include <cmath>
#include <string>
#include <vector>

#include "tests/cuda/driver/library.h"

namespace palladion::cuda::driver {
namespace {

constexpr int f32 = 0, f64 = 1, f16 = 2, e4m3 = 28, sum_f32 = 68, sum_f64 = 70;
constexpr Status light_invalid = 7, light_not_supported = 15;
enum Attribute : int {
  order = 1,
  batch = 5,
  stride = 6,
  batch_mode = 8,
  pointer_mode = 2,
  trans_a = 3,
  epilogue = 7,
  bias_pointer = 8,
  aux_pointer = 11,
  aux_leading = 12,
  scale_a = 17,
  scale_d = 20,
  largest_d = 21
};

class CublasLight : public Driver {
 protected:
  void SetUp() override {
    Driver::SetUp();
    if (IsSkipped() || HasFatalFailure()) return;
    library_ = dlopen((driver_folder + "/libcublasLt.so.13").c_str(), RTLD_NOW);
    ASSERT_NE(library_, nullptr) << dlerror();
    ASSERT_EQ(call("cublasLtCreate", &handle_), success);
  }
  void TearDown() override {
    if (handle_ != nullptr) {
      EXPECT_EQ(call("cublasLtDestroy", handle_), success);
    }
    Driver::TearDown();
  }
  void* layout(int type, uint64_t rows, uint64_t columns, int64_t leading) {
    void* made = nullptr;
    EXPECT_EQ(call("cublasLtMatrixLayoutCreate", &made, type, rows, columns, leading), success);
    return owned(made, "cublasLtMatrixLayoutDestroy");
  }
  void* product(int compute = sum_f32, int scale = f32) {
    void* made = nullptr;
    EXPECT_EQ(call("cublasLtMatmulDescCreate", &made, compute, scale), success);
    return owned(made, "cublasLtMatmulDescDestroy");
  }
  template <class T>
  void set(void* product, int attribute, T value) {
    EXPECT_EQ(call("cublasLtMatmulDescSetAttribute", product, attribute, static_cast<const void*>(&value),
                   sizeof value),
              success);
  }
  template <class T>
  void set_layout(void* of, int attribute, T value) {
    EXPECT_EQ(call("cublasLtMatrixLayoutSetAttribute", of, attribute, static_cast<const void*>(&value),
                   sizeof value),
              success);
  }
  template <class T = float>
  Status multiply(void* product, const void* a, void* of_a, const void* b, void* of_b, const void* c,
                  void* of_c, void* d, void* of_d, T alpha = 1, T beta = 0) {
    return call("cublasLtMatmul", handle_, product, static_cast<const void*>(&alpha), a, of_a, b, of_b,
                static_cast<const void*>(&beta), c, of_c, d, of_d, static_cast<const void*>(nullptr),
                static_cast<void*>(nullptr), size_t{0}, static_cast<void*>(nullptr));
  }
  // D of 2 x 2 with the epilogue, of A = (1 -2; 3 4) and B the identity: by columns.
  std::vector<float> finished(void* of, const std::vector<float>& a_values = {1, 3, -2, 4}) {
    const OfDevice<float> a(*this, a_values), b(*this, {1, 0, 0, 1}), d(*this, {9, 9, 9, 9});
    void* const l = layout(f32, 2, 2, 2);
    EXPECT_EQ(multiply(of, a.pointer(), l, b.pointer(), l, d.pointer(), l, d.pointer(), l), success);
    return d.values();
  }
  void* handle_ = nullptr;
};

TEST_F(CublasLight, DescriptionsKeepWhatIsSet) {
  void* const of = product();
  set(of, trans_a, 1);
  int value = 0;
  size_t written = 0;
  EXPECT_EQ(call("cublasLtMatmulDescGetAttribute", of, int{trans_a}, static_cast<void*>(&value), sizeof value,
                 &written),
            success);
  EXPECT_EQ(value, 1);
  EXPECT_EQ(written, sizeof value);
  EXPECT_EQ(
      call("cublasLtMatmulDescSetAttribute", of, int{trans_a}, static_cast<const void*>(&value), size_t{8}),
      light_invalid);
  EXPECT_EQ(call("cublasLtMatmulDescSetAttribute", of, 9, static_cast<const void*>(&value), sizeof value),
            light_invalid);
  std::array<uint64_t, 8> own{};  // cublasLtMatrixLayoutOpaque_t
  EXPECT_EQ(call("cublasLtMatrixLayoutInit_internal", own.data(), sizeof own, f16, uint64_t{3}, uint64_t{5},
                 int64_t{4}),
            success);
  uint64_t columns = 0;
  EXPECT_EQ(call("cublasLtMatrixLayoutGetAttribute", own.data(), 3, static_cast<void*>(&columns),
                 sizeof columns, &written),
            success);
  EXPECT_EQ(columns, 5U);
}

// A 2x3 by rows, B 3x2 by columns, in two batches that share B; C is scaled.
TEST_F(CublasLight, MultipliesBatchesOfBothOrders) {
  const OfDevice<float> a(*this, {1, 2, 3, 4, 5, 6, 0, 0, 1, 1, 0, 0}), b(*this, {7, 9, 11, 8, 10, 12}),
      c(*this, {1, 1, 1, 1, 2, 2, 2, 2}), d(*this, std::vector<float>(8));
  void *const of_a = layout(f32, 2, 3, 3), *const of_b = layout(f32, 3, 2, 3),
              *const of_d = layout(f32, 2, 2, 2);
  set_layout(of_a, order, 1);
  for (void* l : {of_a, of_b, of_d}) set_layout(l, batch, 2);
  set_layout(of_a, stride, int64_t{6});
  set_layout(of_d, stride, int64_t{4});
  EXPECT_EQ(multiply(product(), a.pointer(), of_a, b.pointer(), of_b, c.pointer(), of_d, d.pointer(), of_d,
                     1.0F, 10.0F),
            success);
  EXPECT_EQ(d.values(),
            (std::vector<float>{58 + 10, 139 + 10, 64 + 10, 154 + 10, 11 + 20, 7 + 20, 12 + 20, 8 + 20}));
}

// Each matrix of A and D where an array says, B at a distance of none.
TEST_F(CublasLight, MultipliesBatchesByArraysOfAddresses) {
  const OfDevice<float> first(*this, {1, 2}), second(*this, {3, 4}), b(*this, {10, 100}), d(*this, {0}),
      e(*this, {0});
  const OfDevice<Pointer> of_both(*this, {second.at, first.at}), to(*this, {d.at, e.at});
  void *const row = layout(f32, 1, 2, 1), *const column = layout(f32, 2, 1, 2),
              *const one = layout(f32, 1, 1, 1);
  for (void* l : {row, column, one}) set_layout(l, batch, 2);
  for (void* l : {row, one}) set_layout(l, batch_mode, uint32_t{1});
  EXPECT_EQ(
      multiply(product(), of_both.pointer(), row, b.pointer(), column, to.pointer(), one, to.pointer(), one),
      success);
  EXPECT_EQ(d.values(), std::vector<float>{430});
  EXPECT_EQ(e.values(), std::vector<float>{210});
}

TEST_F(CublasLight, TransposesAndTakesScalarsOfTheDevice) {
  const OfDevice<double> a(*this, {1, 2, 3, 4}), d(*this, {NAN}), scalars(*this, {2, 0});
  void *const column = layout(f64, 2, 1, 2), *const one = layout(f64, 1, 1, 1);
  void* const of = product(sum_f64, f64);
  set(of, trans_a, 1);
  set(of, pointer_mode, 1);
  EXPECT_EQ(call("cublasLtMatmul", handle_, of, static_cast<const void*>(scalars.pointer()),
                 static_cast<const void*>(a.pointer()), column, reinterpret_cast<const void*>(a.at + 16),
                 column, reinterpret_cast<const void*>(scalars.at + 8), static_cast<const void*>(d.pointer()),
                 one, d.pointer(), one, static_cast<const void*>(nullptr), static_cast<void*>(nullptr),
                 size_t{0}, static_cast<void*>(nullptr)),
            success);
  EXPECT_EQ(d.values(), std::vector<double>{2 * (1 * 3 + 2 * 4)}) << "with beta 0, C is not read";
}

TEST_F(CublasLight, AddsABiasAndActivates) {
  const OfDevice<float> bias(*this, {10, -20});
  void* const of = product();
  set(of, bias_pointer, bias.pointer());
  set(of, epilogue, 4);
  EXPECT_EQ(finished(of), (std::vector<float>{11, -17, 8, -16}));
  set(of, epilogue, 6);
  EXPECT_EQ(finished(of), (std::vector<float>{11, 0, 8, 0}));
  set(of, epilogue, 32);
  const std::vector<float> smooth = finished(of);
  for (size_t i = 0; i < 4; ++i) {
    const double x = std::vector<double>{1, 3, -2, 4}[i];
    EXPECT_NEAR(smooth[i], 0.5 * x * (1 + std::tanh(std::sqrt(2 / M_PI) * (x + 0.044715 * x * x * x))), 1e-6)
        << i;
  }
}

// The bits of ReLU go to its gradient, which adds up the rows for the bias' gradient.
TEST_F(CublasLight, TheGradientReadsWhatTheEpilogueKept) {
  const OfDevice<uint8_t> bits(*this, {0, 0, 0, 0});
  const OfDevice<float> gradient(*this, {7, 7});
  void* const of = product();
  set(of, epilogue, 2 | 128);
  set(of, aux_pointer, bits.pointer());
  set(of, aux_leading, int64_t{16});
  EXPECT_EQ(finished(of), (std::vector<float>{1, 3, 0, 4}));
  EXPECT_EQ(bits.values(), (std::vector<uint8_t>{3, 0, 2, 0}));
  set(of, epilogue, 8 | 128 | 16);
  set(of, bias_pointer, gradient.pointer());
  EXPECT_EQ(finished(of, {5, 6, 7, 8}), (std::vector<float>{5, 6, 0, 8}));
  EXPECT_EQ(gradient.values(), (std::vector<float>{5, 14}));
}

// e4m3: 0x38 is 1, 0x40 is 2, 0x48 is 4, 0x7e is 448.
TEST_F(CublasLight, ScalesMatricesOf8Bits) {
  const OfDevice<uint8_t> a(*this, {0x38, 0x40}), b(*this, {0x40, 0x48}), d(*this, {0});
  const OfDevice<float> scales(*this, {3, 100, 0});
  const OfDevice<float> c(*this, {0});
  void* const of = product();
  set(of, trans_a, 1);
  set(of, scale_a, scales.pointer());
  set(of, scale_d, reinterpret_cast<void*>(scales.at + 4));
  set(of, largest_d, reinterpret_cast<void*>(scales.at + 8));
  EXPECT_EQ(multiply(of, a.pointer(), layout(e4m3, 2, 1, 2), b.pointer(), layout(e4m3, 2, 1, 2), c.pointer(),
                     layout(f32, 1, 1, 1), d.pointer(), layout(e4m3, 1, 1, 1)),
            success);
  EXPECT_EQ(scales.values()[2], 30.0F) << "3 * (1 * 2 + 2 * 4), before the scale of D";
  EXPECT_EQ(d.values(), std::vector<uint8_t>{0x7e}) << "3000 saturates";
}

TEST_F(CublasLight, HasOneAlgorithm) {
  void *const of = product(), *const l = layout(f32, 2, 2, 2);
  void* preference = nullptr;
  ASSERT_EQ(call("cublasLtMatmulPreferenceCreate", &preference), success);
  owned(preference, "cublasLtMatmulPreferenceDestroy");
  std::array<std::array<char, 96>, 4> results{};  // cublasLtMatmulHeuristicResult_t
  int count = 0;
  EXPECT_EQ(
      call("cublasLtMatmulAlgoGetHeuristic", handle_, of, l, l, l, l, preference, 4, results.data(), &count),
      success);
  EXPECT_EQ(count, 1);
}

// C = 2 A^T + B, C by rows and in halves.
TEST_F(CublasLight, TransformsOrdersAndTypes) {
  void* made = nullptr;
  ASSERT_EQ(call("cublasLtMatrixTransformDescCreate", &made, f32), success);
  void* const transform = owned(made, "cublasLtMatrixTransformDescDestroy");
  const int transposed = 1;
  ASSERT_EQ(call("cublasLtMatrixTransformDescSetAttribute", transform, 2,
                 static_cast<const void*>(&transposed), sizeof transposed),
            success);
  void *const of_a = layout(f32, 3, 2, 3), *const of_b = layout(f32, 2, 3, 2),
              *const of_c = layout(f16, 2, 3, 3);
  set_layout(of_c, order, 1);
  const OfDevice<float> a(*this, {1, 2, 3, 4, 5, 6}), b(*this, {1, 0, 0, 0, 0, 1});
  const OfDevice<uint16_t> c(*this, {0, 0, 0, 0, 0, 0});
  const float two = 2, one = 1;
  const auto sum = [&](void* at_b, void* layout_of_c) {
    return call("cublasLtMatrixTransform", handle_, transform, static_cast<const void*>(&two), a.pointer(),
                of_a, static_cast<const void*>(&one), at_b, of_b, c.pointer(), layout_of_c,
                static_cast<void*>(nullptr));
  };
  EXPECT_EQ(sum(b.pointer(), of_c), success);
  EXPECT_EQ(c.values(), (std::vector<uint16_t>{0x4200, 0x4400, 0x4600, 0x4800, 0x4900, 0x4a80}));
  EXPECT_EQ(sum(nullptr, of_c), success) << "nothing is added";
  EXPECT_EQ(c.values(), (std::vector<uint16_t>{0x4000, 0x4400, 0x4600, 0x4800, 0x4900, 0x4a00}));
  EXPECT_EQ(sum(nullptr, of_a), light_invalid) << "the sizes do not agree";
  testing::internal::CaptureStderr();
  EXPECT_EQ(sum(nullptr, layout(e4m3, 2, 3, 2)), light_not_supported);
  EXPECT_EQ(testing::internal::GetCapturedStderr(),
            "palladion exec: unsupported: cublasLtMatrixTransform with these types of matrices\n");
}

TEST_F(CublasLight, WhatIsNotThereIsNamed) {
  void *const of = product(), *const l = layout(f32, 2, 2, 2), *const other = layout(f32, 3, 2, 3);
  const OfDevice<float> a(*this, {1, 2, 3, 4, 5, 6});
  const auto status = [&](void* of_a) {
    return multiply(of, a.pointer(), of_a, a.pointer(), l, a.pointer(), l, a.pointer(), l);
  };
  EXPECT_EQ(status(other), light_invalid) << "the sizes do not agree";
  testing::internal::CaptureStderr();
  set(of, pointer_mode, 3);
  EXPECT_EQ(status(l), light_not_supported);
  set_layout(other, order, 2);
  EXPECT_EQ(status(other), light_not_supported);
  EXPECT_EQ(
      testing::internal::GetCapturedStderr(),
      "palladion exec: unsupported: cublasLtMatmul with a vector of alphas\n"
      "palladion exec: unsupported: cublasLtMatmul with a matrix that is neither by columns nor by rows\n");
}

}  // namespace
}  // namespace palladion::cuda::driver
